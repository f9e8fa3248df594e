"""Sequences, groups and segments leave what lies between them alone and do not look at it."""

from __future__ import annotations

import numpy as np
import pytest

import phobos_nb as ph
from tests.examples.case import Arguments, ExampleCase
from tests.examples.ragged import stretches
from tests.examples_cases import CASES, copied

PACKED = {"varlen_attention": "QKVO", "grouped_gemm": "AC", "segmented_scan": "XY"}
"""The arrays whose first axis the stretches divide."""


def run(kernel: ph.Kernel, case: ExampleCase, where: str, arguments: Arguments) -> Arguments:
    """The arguments after a run on the CPU or in the simulator."""
    after = copied(arguments)
    grid = case.grid(case.configurations[0], arguments)
    if where == "cpu":
        kernel(**after, grid=grid)
        return after
    result = kernel.simulate(**after, grid=grid)
    assert result.clean
    return {**after, **result.outputs}


def bits(array: np.ndarray) -> bytes:
    return array.tobytes()


@pytest.mark.parametrize("where", ["cpu", "simulator"])
@pytest.mark.parametrize("name", PACKED)
def test_neighbours_are_neither_read_nor_written(name: str, where: str) -> None:
    """With all but one stretch poisoned by NaNs of any payload: the same bits, others kept."""
    case = CASES[name]
    kernel = case.load().specialize(**case.configurations[0])
    shape = case.shapes(case.configurations[0])[0]
    rng = np.random.default_rng(3)
    plain = case.arrays(shape, rng)
    right = run(kernel, case, where, plain)
    (out,) = case.outputs
    number, rows = max(stretches(plain["S"]), key=lambda s: s[1].stop - s[1].start)
    others = np.ones(len(plain[out]), bool)
    others[rows] = False
    assert others.any()
    poisoned = copied(plain)
    for array in PACKED[name]:
        noise = rng.integers(0, 2**22, poisoned[array].shape).astype(np.uint32) | 0x7FC00000
        poisoned[array][others] = noise.view(np.float32)[others]
    alone = np.full_like(plain["S"], rows.stop)
    alone[: number + 1] = rows.start
    poisoned["S"] = alone
    if name == "grouped_gemm":
        poisoned["B"][np.arange(shape["G"]) != number] = np.nan
    after = run(kernel, case, where, poisoned)
    assert bits(after[out][rows]) == bits(right[out][rows])
    assert bits(after[out][others]) == bits(poisoned[out][others])
