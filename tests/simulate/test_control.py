"""Control flow where lanes, warps or CTAs go different ways."""

import numpy as np
import pytest

OUT = [("out", "i32", True)]


def out(n, value=-7):
    return np.full(n, value, np.int32)


STORE = """
  %r = arith.index_cast %v : index to i32
  %at = arith.muli %b, %c64 : index
  %where = arith.addi %at, %t : index
  memref.store %r, %out[%where] : memref<?xi32>
"""
C64 = "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c64 = arith.constant 64 : index"


@pytest.mark.parametrize("seed", [0, 1])
def test_if_chooses_per_lane(make, seed):
    """A condition on the thread id runs both branches, each for its own lanes."""
    k = make(
        C64
        + """
  %c3 = arith.constant 3 : index
  %p = arith.cmpi ult, %t, %c3 : index
  %v = scf.if %p -> (index) {
    %x = arith.addi %t, %c64 : index
    scf.yield %x : index
  } else {
    scf.yield %c1 : index
  }"""
        + STORE,
        OUT,
    )
    result = k.run(out=out(64), seed=seed)
    assert result.outputs["out"].tolist() == [64, 65, 66] + [1] * 61
    assert result.clean


def test_loops_of_different_length(make):
    """Each lane leaves at its own trip count and keeps what it carried then; uniform counts stay so."""
    k = make(
        C64
        + """
  %v = scf.for %i = %c0 to %t step %c1 iter_args(%s = %c0) -> (index) {
    %n = arith.addi %s, %i : index
    scf.yield %n : index
  }"""
        + STORE,
        OUT,
    )
    result = k.run(out=out(64))
    assert result.outputs["out"].tolist() == [t * (t - 1) // 2 for t in range(64)]


def test_loops_of_different_length_per_cta(make):
    """A barrier in a loop whose count differs by CTA is passed by each CTA its own number of times."""
    k = make(
        C64
        + """
  %v = scf.for %i = %c0 to %b step %c1 iter_args(%s = %c0) -> (index) {
    "gpu.barrier"() : () -> ()
    %n = arith.addi %s, %t : index
    scf.yield %n : index
  }"""
        + STORE,
        OUT,
    )
    result = k.run(grid=(4, 1, 1), out=out(256))
    assert result.clean
    assert result.outputs["out"].tolist() == [b * t for b in range(4) for t in range(64)]
    assert [r.executions for r in result.barriers] == [0 + 1 + 2 + 3]


@pytest.mark.parametrize("seed", [0, 5])
def test_while_with_different_exits(make, seed):
    """Collatz steps of each thread: every lane keeps the state with which its condition failed."""
    k = make(
        C64
        + """
  %c2 = arith.constant 2 : index %c3 = arith.constant 3 : index
  %n0 = arith.addi %t, %c1 : index
  %n1, %v = scf.while (%n = %n0, %s = %c0) : (index, index) -> (index, index) {
    %go = arith.cmpi ugt, %n, %c1 : index
    scf.condition(%go) %n, %s : index, index
  } do {
  ^bb0(%n: index, %s: index):
    %odd = arith.remui %n, %c2 : index
    %is = arith.cmpi eq, %odd, %c1 : index
    %half = arith.divui %n, %c2 : index
    %m3 = arith.muli %n, %c3 : index
    %up = arith.addi %m3, %c1 : index
    %next = arith.select %is, %up, %half : index
    %s1 = arith.addi %s, %c1 : index
    scf.yield %next, %s1 : index, index
  }"""
        + STORE,
        OUT,
    )

    def steps(n):
        count = 0
        while n > 1:
            n, count = (3 * n + 1 if n % 2 else n // 2), count + 1
        return count

    result = k.run(out=out(64), seed=seed)
    assert result.outputs["out"].tolist() == [steps(t + 1) for t in range(64)]


@pytest.mark.parametrize("limit", [32, 40])
@pytest.mark.parametrize("seed", [0, 3])
def test_barrier_in_divergent_code(make, limit, seed):
    """A barrier that only some threads reach is a fault, for part of a warp and for a whole one."""
    k = make(
        C64
        + f"""
  %lim = arith.constant {limit} : index
  %p = arith.cmpi ult, %t, %lim : index
  scf.if %p {{
    "gpu.barrier"() : () -> ()
  }}
  %v = arith.addi %t, %c0 : index"""
        + STORE,
        OUT,
    )
    result = k.run(out=out(64), seed=seed)
    assert {f.kind for f in result.faults} == {"barrier_divergence"}
    assert result.faults[0].place.op == "gpu.barrier"


def test_prints_come_in_order(make):
    """Prints are sorted by CTA and thread, whatever the order in which warps ran."""
    k = make(
        """
  %c31 = arith.constant 31 : index %c1 = arith.constant 1 : index
  %l = arith.andi %t, %c31 : index
  %p = arith.cmpi eq, %l, %c1 : index
  scf.if %p {
    "gpu.printf"(%b, %t) <{format = "b %lld t %3lld"}> : (index, index) -> ()
  }""",
        OUT,
    )
    wanted = ["b 0 t   1", "b 0 t  33", "b 1 t   1", "b 1 t  33"]
    assert k.run(grid=(2, 1, 1), out=out(4)).printed == wanted
    assert k.run(grid=(2, 1, 1), out=out(4), seed=9).printed == wanted


def test_a_trap_is_a_fault(make):
    """A trap names the CTA and thread that ran into it; others go on."""
    k = make(
        """
  %c5 = arith.constant 5 : index
  %p = arith.cmpi eq, %t, %c5 : index
  scf.if %p {
    llvm.intr.trap
  }""",
        OUT,
    )
    (fault,) = k.run(out=out(4)).faults
    assert (fault.kind, fault.thread, fault.count) == ("trap", 5, 1)
