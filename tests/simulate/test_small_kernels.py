"""Kernels in the language, each with one fault or none: told apart for two targets, in any warp order.

They were tried after the thread-level programs had been mended: 37 of 39 faults were found or refused at
first sight, and all right kernels were clean. Missed were an assert, which only `debug` had compiled in,
and a store by the thread whose atomic on that element came last.
"""

from functools import cache

import numpy as np
import pytest

import phobos_nb as ph
from tests.simulate.small_programs import Small, programs
from tests.simulate.test_small_programs import lines, name

FAULTY = programs("kernels_faulty")
RIGHT = programs("kernels_right")
HEAD = (
    "@launch(64) kernel k(A: tensor<f32>[N], O: tensor<f32>[N], I: tensor<i32>[N], H: tensor<f16>[N]) "
    "{ let t = ctx.thread\n"
)


@cache
def compiled(text, chip):
    """The kernel of a body, whose first line is line 2."""
    body = "\n".join(line.rstrip(" !") for line in text.splitlines())
    return ph.compile(HEAD + body + "\n}\n", chip=chip).k


def simulated(small, chip, seed):
    """Simulate a kernel on numbers 0, 1, 2, ..."""
    arrays = {
        n: np.arange(256).astype(d) for n, d in (("A", "f4"), ("O", "f4"), ("I", "i4"), ("H", "f2"))
    }
    arrays.update(dict.fromkeys(small.alias, arrays["A"]))
    return compiled(small.text, chip).simulate(**arrays, grid=small.grid, seed=seed)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("small", FAULTY, ids=name)
def test_every_fault_is_found(small, chip):
    """The compiler refuses it, or whatever the order of the warps a finding names the marked lines."""
    try:
        results = [simulated(small, chip, seed) for seed in (0, 1, 2)]
    except ph.PhobosError:
        assert small.refused
        return
    assert small.kinds
    marked = {n + 1 for n in small.marked}
    for result in results:
        found = [x for x in (*result.races, *result.faults) if x.kind in small.kinds]
        assert any(lines(x) <= marked for x in found), [str(x) for x in found]


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("small", RIGHT, ids=name)
def test_nothing_is_said_of_what_is_right(small, chip):
    """No order of the warps makes a right kernel look wrong."""
    for seed in range(4):
        result = simulated(small, chip, seed)
        assert [str(x) for x in (*result.races, *result.faults)] == []


def test_asserts_are_checked():
    """The simulator checks asserts without `debug`: a fault at the line, with text and threads."""
    failing = next(x for x in FAULTY if x.name == "an assertion that fails")
    (fault,) = simulated(failing, "sm_80", 0).faults
    assert (fault.kind, fault.message) == ("assert", "assert failed: too large")
    assert (fault.place.line, fault.threads) == (2, (60, 61, 62, 63))
    assert "trap" not in compiled(failing.text, "sm_80").compile().cuda


READERS = """var s: shared<f32>[1]
s[0] = 1.0
barrier()
let x = s[0]
if t == 63 {
  s[0] = x + A[t]
}"""
ATOMICS = """let old = atomic_add(I, 0, 1)
if old == 63 {
  I[0] = 0
}"""


def test_readers_and_the_writer_among_them():
    """Where several threads read what one of them overwrites, that one alone is not accused."""
    (race,) = simulated(Small("", READERS), "sm_80", 0).races
    assert (race.kind, race.several) == ("write after read", True)
    assert "by several threads, the last of them thread 63" in str(race)


def test_a_store_after_atomics_of_many():
    """The thread whose atomic came last races with the others' when it stores."""
    (race,) = simulated(Small("", ATOMICS), "sm_80", 0).races
    assert (race.kind, race.several, race.second.line) == ("write after write", True, 4)
