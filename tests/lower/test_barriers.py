"""Every barrier that is kept is needed: without it the simulator finds a race."""

import numpy as np
import pytest

from tests.lower.kernels import (
    attention,
    column_sums,
    flat,
    gated,
    gemm,
    running_sum,
    softmax,
    transposed,
)
from tests.lower.test_modules import lowered
from tests.lower.test_runs import normal, simulated, variant_of


def square(make, n=64, k=24, **given):
    arrays = {"A": normal(n, k), "B": normal(k, n), "C": np.zeros((n, n), np.float32)}
    return make, arrays, given


CASES = {
    "gemm, one stage": square(lambda: gemm((32, 32, 8), 64), constants={"STAGES": 1}),
    "gemm, three stages": square(lambda: gemm((32, 32, 8), 64)),
    "gemm, registers": square(lambda: gemm((32, 32, 8), 64), target="sm_75"),
    "gemm, in place": square(lambda: gemm((32, 32, 8), 64, epilogue=in_place_transpose), n=32),
    "softmax": (lambda: softmax((1, 1000)), {"X": normal(1, 1000), "Y": normal(1, 1000)}, {}),
    "transpose": (transposed, {"X": normal(32, 48), "Y": normal(48, 32)}, {}),
    "cumsum": (running_sum, {"X": normal(16, 40), "Y": normal(16, 40)}, {}),
    "colsum": (lambda: column_sums((50, 72)), {"X": normal(50, 72), "Y": normal(50, 72)}, {}),
    "flat": (flat, {"X": normal(6, 10), "Y": normal(1, 60)}, {}),
    "attention": (
        lambda: attention(32, 32, 16, 128),
        {n: normal(70, 16, seed=i) for i, n in enumerate("QKVO")},
        {},
    ),
    "attention, shared bytes": (
        lambda: attention(64, 64, 64, 128),
        {n: normal(130, 64, seed=i) for i, n in enumerate("QKVO")},
        {},
    ),
    "two dots": (
        gated,
        {n: normal(*s) for n, s in {"A": (32, 24), "B": (24, 32), "D": (24, 32), "C": (32, 32)}.items()},
        {},
    ),
}


def in_place_transpose(k, acc):
    """Acc + transpose(C), stored to C: reads what other threads are about to store."""
    from phobos_nb.ir.dialects import tile

    zero = k.b.index(0)
    old = k.b.value(tile.TransposeOp(k.load(2, [zero, zero], [32, 32])))
    return k.b.addf(acc, old)


@pytest.mark.parametrize("name", CASES)
def test_each_kept_barrier_is_needed(name):
    """Leaving out any one kept barrier gives a race or a fault; with all of them there is none."""
    make, arrays, given = CASES[name]
    chosen = {k: v for k, v in given.items() if k == "constants"}
    kept = [b for b in lowered(make(), variant_of(arrays), **chosen).barriers if b.kept]
    assert kept
    whole = simulated(make(), arrays, (1, 1, 1), **given)
    assert not whole.faults
    assert not whole.races
    for barrier in kept:
        broken = simulated(make(), arrays, (1, 1, 1), drop_barrier=barrier.number, **given)
        assert broken.races or broken.faults, f"{name}: barrier {barrier.number} ({barrier.reason})"
