"""Warps that go their own ways: a producer and two consumer warps over a ring of two stages."""

import numpy as np
import pytest

TENSORS = [("a", "i32", False), ("out", "i32", True)]
TILES = 5
RING = """
  %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index %c5 = arith.constant 5 : index %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index %c160 = arith.constant 160 : index %zero = arith.constant 0 : i32
  %ticks = arith.constant 1000000 : index %true = arith.constant true
  %s = memref.view %smem[%c0][] : memref<256xi8, S> to memref<2x32xi32, S>
  %full = "nvgpu.mbarrier.create"() : () -> GROUP
  %empty = "nvgpu.mbarrier.create"() : () -> GROUP
  %first = arith.cmpi eq, %t, %c0 : index
  scf.if %first {
    "nvgpu.mbarrier.init"(%full, %c32, %c0) : (GROUP, index, index) -> ()
    "nvgpu.mbarrier.init"(%full, %c32, %c1) : (GROUP, index, index) -> ()
    "nvgpu.mbarrier.init"(%empty, %c64, %c0) : (GROUP, index, index) -> ()
    "nvgpu.mbarrier.init"(%empty, %c64, %c1) : (GROUP, index, index) -> ()
  }
  "gpu.barrier"() : () -> ()
  %lane = arith.remui %t, %c32 : index
  %mine = arith.muli %b, %c160 : index
  %producer = arith.cmpi ult, %t, %c32 : index
  scf.if %producer {
    scf.for %i = %c0 to %c5 step %c1 {
      %stage = arith.remui %i, %c2 : index
      %round = arith.divui %i, %c2 : index
      %r2 = arith.remui %round, %c2 : index
      %par = arith.cmpi eq, %r2, %c0 : index
      "nvgpu.mbarrier.try_wait.parity"(%empty, %par, %ticks, %stage) : (GROUP, i1, index, index) -> ()
      %at = arith.muli %i, %c32 : index
      %at2 = arith.addi %at, %lane : index
      %at3 = arith.addi %at2, %mine : index
      %x = memref.load %a[%at3] : memref<?xi32>
      memref.store %x, %s[%stage, %lane] : memref<2x32xi32, S>
      %k = "nvgpu.mbarrier.arrive"(%full, %stage) : (GROUP, index) -> !nvgpu.mbarrier.token
    }
  } else {
    %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%acc = %zero) -> (i32) {
      %stage = arith.remui %i, %c2 : index
      %round = arith.divui %i, %c2 : index
      %r2 = arith.remui %round, %c2 : index
      %par = arith.cmpi ne, %r2, %c0 : index
      "nvgpu.mbarrier.try_wait.parity"(%full, %par, %ticks, %stage) : (GROUP, i1, index, index) -> ()
      %o0 = arith.addi %t, %i : index
      %o = arith.remui %o0, %c32 : index
      %x = memref.load %s[%stage, %o] : memref<2x32xi32, S>
      %n = arith.addi %acc, %x : i32
      %k = "nvgpu.mbarrier.arrive"(%empty, %stage) : (GROUP, index) -> !nvgpu.mbarrier.token
      scf.yield %n : i32
    }
    %c64b = arith.muli %b, %c64 : index
    %w0 = arith.subi %t, %c32 : index
    %w = arith.addi %w0, %c64b : index
    memref.store %sum, %out[%w] : memref<?xi32>
  }
""".replace(
    "GROUP", "!nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 2>"
)


def run(make, text, ctas=3, seed=0):
    k = make(text, TENSORS, threads=96, shared=256)
    a = np.arange(ctas * TILES * 32, dtype=np.int32)
    return k.run(grid=(ctas, 1, 1), a=a, out=np.zeros(ctas * 64, np.int32), seed=seed), a


def wanted(a, ctas):
    tiles = a.reshape(ctas, TILES, 32)
    t = np.arange(32, 96)
    return sum(tiles[:, i, (t + i) % 32] for i in range(TILES)).ravel()


def without(text, operation, barrier):
    """The text without the lines of an operation on one group of barriers."""
    lines = text.splitlines()
    kept = [x for x in lines if f'"nvgpu.mbarrier.{operation}"(%{barrier}' not in x]
    assert len(kept) < len(lines)
    return "\n".join(kept)


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_the_ring_is_right_and_clean(make, seed):
    """Producer and consumers meet only at memory barriers; any order of warps gives the same sums."""
    result, a = run(make, RING, seed=seed)
    assert result.races == []
    assert result.faults == []
    assert (result.outputs["out"] == wanted(a, 3)).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_consumer_that_does_not_wait(make, seed):
    """Reading a stage without waiting for it to be full races with the producer's store."""
    result, _ = run(make, without(RING, "try_wait.parity", "full"), seed=seed)
    pairs = {frozenset((r.first.op, r.second.op)) for r in result.races}
    assert frozenset(("memref.store", "memref.load")) in pairs


def test_consumers_that_never_hand_back(make):
    """Without arrivals at `empty` the producer waits for ever: the report names every waiter."""
    result, _ = run(make, without(RING, "arrive", "empty"), ctas=1)
    (fault,) = [f for f in result.faults if f.kind == "deadlock"]
    assert "warps [0] of CTA (0, 0, 0) wait for barrier 0 parity 0" in fault.message
    assert "warps [1, 2] of CTA (0, 0, 0) wait for barrier 0 parity 1" in fault.message
    assert "64 of 64 arrivals" in fault.message


def test_a_producer_that_does_not_wait(make):
    """Overwriting a stage that is still read races, or overtakes a phase so that nobody goes on."""
    result, _ = run(make, without(RING, "try_wait.parity", "empty"))
    assert result.races or {f.kind for f in result.faults} & {"deadlock", "mbarrier"}


def test_a_producer_that_does_not_arrive(make):
    """Consumers that wait for a stage that never fills are a deadlock."""
    result, _ = run(make, without(RING, "arrive", "full"))
    assert {f.kind for f in result.faults} == {"deadlock"}


def test_initialisation_must_be_seen(make):
    """Without the barrier after `init`, other warps use barriers that they cannot know to be set."""
    text = RING.replace('  "gpu.barrier"() : () -> ()\n', "")
    result, _ = run(make, text)
    assert {(r.first.op.split(".")[-1], r.tensor) for r in result.races} == {("init", "mbarrier")}


def test_one_arrival_too_many(make):
    """A phase that is arrived at more often than its count is reported."""
    text = RING.replace('init"(%full, %c32, %c0)', 'init"(%full, %c3, %c0)')
    result, _ = run(make, text, ctas=1)
    assert "mbarrier" in {f.kind for f in result.faults}
