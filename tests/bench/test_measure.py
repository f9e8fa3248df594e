"""Measuring from Python."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phobos_nb.bench.arithmetic import uses_tensor_cores
from phobos_nb.bench.harness import is_narrow
from phobos_nb.bench.measure import load, measure, named
from phobos_nb.bench.place import Cpu
from phobos_nb.bench.row import OURS
from phobos_nb.bench.table import ALIASES, WORKLOADS
from phobos_nb.diagnostics import PhobosError

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_any_function_joins_as_a_peer():
    """It is verified, timed in the same rounds, and ours is compared with it."""

    def right(values):
        values["Y"] += values["a"] * values["X"]

    def wrong(values):
        values["Y"] += 1

    peers = {"numpy": right, "hasty": wrong}
    rows = measure(
        "saxpy_fp32", examples=EXAMPLES, sizes=[4096], place=Cpu(), peers=peers, rounds=9, warm=0.0
    )
    by_name = {row.contender: row for row in rows}
    assert list(by_name) == [OURS, "numpy", "hasty"]
    assert by_name["numpy"].passed
    assert by_name["numpy"].ratio == 1.0
    assert not by_name["hasty"].passed
    assert by_name[OURS].ratio < 1  # tile by tile is slower than one NumPy expression
    assert len(by_name[OURS].times) == len(by_name["numpy"].times)


def test_a_wrong_kernel_is_not_timed():
    """A benchmark whose answer is another one: the error shows and there are no times."""
    saxpy = WORKLOADS["saxpy_fp32"]
    doubled = replace(saxpy, answer=lambda v: {"Y": 2 * v["a"] * v["X"].astype("f8") + v["Y"]})
    (row,) = measure(doubled, examples=EXAMPLES, sizes=[1024], place=Cpu(), rounds=3, warm=0.0)
    assert not row.passed
    assert row.times == ()
    assert math.isnan(row.median)


def test_every_name_of_the_original_is_a_benchmark():
    """The eight benchmarks, the two short names."""
    original = [
        *("saxpy_fp32", "gemm_fp32", "gemm_fp16tc_fp32acc", "gemm_fp16", "flash_fp32", "flash_fp16"),
        *("flash_attention_fp32", "flash_attention_fp16", "softmax", "layer_norm"),
    ]
    assert all(named(name).file for name in original)
    assert named("flash_fp16") is WORKLOADS["flash_attention_fp16"]
    assert not ALIASES.keys() & WORKLOADS.keys()
    with pytest.raises(PhobosError, match="no benchmark 'nothing'"):
        named("nothing")


@pytest.mark.nvrtc
def test_code_is_asked_whether_it_uses_tensor_cores():
    """A kernel of f32 multiply-adds has no matrix instruction for any constants."""
    kernel = load(WORKLOADS["gemm_fp32"], EXAMPLES, {})
    assert not uses_tensor_cores(kernel, {"TILE_M": 64, "SOMETHING": 1}, "sm_80")


def test_every_sitting_has_arrays_of_its_own():
    """Four sets, of which two are alive at any time at least, all verified to hold the same values."""
    seen = []

    def peer(values):
        seen.append((id(values["X"]), float(values["X"].sum())))

    plan = {"rounds": 8, "inner": 1, "warm": 0.0, "peers": {"peer": peer}}
    rows = measure("saxpy_fp32", examples=EXAMPLES, sizes=[4096], place=Cpu(), **plan)
    assert rows[0].sittings == 4
    assert len(rows[0].levels) == 4
    assert len({address for address, _ in seen}) == 4
    assert len({total for _, total in seen}) == 1


def test_sittings_are_as_many_as_memory_allows():
    """Where there is room for one more set, two; the rounds asked for are still made."""

    class Small(Cpu):
        def room(self, values):
            return 1

    (row,) = measure(
        "saxpy_fp32", examples=EXAMPLES, sizes=[64], place=Small(), rounds=9, inner=1, warm=0.0
    )
    assert row.sittings == 2
    assert len(row.times) % 10 == 0


def test_rounds_are_added_until_intervals_are_narrow():
    """Steady times are narrow at 25; those that vary by 10 % are not."""
    rng = np.random.default_rng(0)
    steady, wild = 1 + 0.001 * rng.random(25), 1 + 0.1 * rng.random(25)
    assert is_narrow(list(steady))
    assert not is_narrow(list(wild))
    assert not is_narrow([1.0, 1.0])
