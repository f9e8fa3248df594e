"""Traces, stopping early, counts per line: what one CTA did, step by step."""

import numpy as np
import pytest

TENSORS = [("a", "f32", False), ("out", "f32", True)]
BODY = """
  %c0 = arith.constant 0 : index %c63 = arith.constant 63 : index %c64 = arith.constant 64 : index
  %s = memref.view %smem[%c0][] : memref<256xi8, S> to memref<64xf32, S>
  %at = arith.muli %b, %c64 : index
  %i = arith.addi %at, %t : index
  %x = memref.load %a[%i] : memref<?xf32> loc("cell":4:3)
  memref.store %x, %s[%t] : memref<64xf32, S> loc("cell":4:3)
  "gpu.barrier"() : () -> () loc("cell":5:1)
  %o = arith.subi %c63, %t : index
  %y = memref.load %s[%o] : memref<64xf32, S> loc("cell":6:9)
  memref.store %y, %out[%i] : memref<?xf32> loc("cell":6:1)
"""


def run(make, **options):
    k = make(BODY, TENSORS, shared=256)
    a = np.arange(192, dtype=np.float32)
    return k.run(grid=(3, 1, 1), a=a, out=np.zeros(192, np.float32), **options)


def test_accesses_of_the_first_cta(make):
    """Level 1: each access with the byte address of every thread, and the barrier between."""
    events = run(make, trace=1).trace
    assert [e.kind for e in events] == ["load", "store", "barrier", "load", "store"]
    assert {e.cta for e in events} == {(0, 0, 0)}
    assert events[3].addresses == tuple(4 * (63 - t) for t in range(64))
    assert events[3].threads == tuple(range(64))
    assert (events[3].tensor, events[3].bytes, events[3].place.line) == ("shared", 4, 6)


def test_another_cta_can_be_traced(make):
    """The first of the chosen CTAs is the one."""
    events = run(make, trace=1, ctas=[2, 0]).trace
    assert {e.cta for e in events} == {(2, 0, 0)}
    assert events[0].addresses[0] == 2 * 64 * 4


def test_every_operation(make):
    """Level 2 adds each operation that ran; level 0 records nothing."""
    assert len(run(make, trace=2).trace) > 10
    assert run(make).trace == []


@pytest.mark.parametrize("seed", [0, 4])
def test_counts_per_line(make, seed):
    """Line 4: a global load and a shared store by 6 warps; sums do not depend on the order of warps."""
    lines = {r.line: r for r in run(make, seed=seed).lines}
    assert set(lines) == {4, 5, 6}
    assert (lines[4].instructions, lines[4].lines, lines[4].sectors) == (12, 6, 24)
    assert (lines[4].wavefronts, lines[6].wavefronts, lines[5].instructions) == (6, 6, 6)
    assert lines[6].bytes == 2 * 192 * 4


def test_frames(make):
    """Records are available as pandas frames, one row per access and per line."""
    result = run(make)
    assert result.frame()["kind"].tolist() == ["load", "store", "load", "store"]
    assert result.line_frame()["line"].tolist() == [4, 5, 6]


def test_stop_at_the_first_finding(make):
    """With a race in it, the run ends there and the rest is not executed."""
    text = BODY.replace('"gpu.barrier"() : () -> () loc("cell":5:1)', "")
    k = make(text, TENSORS, shared=256)
    a = np.arange(64, dtype=np.float32)
    result = k.run(a=a, out=np.zeros(64, np.float32), stop_at_first=True)
    assert len(result.races) == 1
    assert not result.outputs["out"].any()


def test_an_interrupt_leaves_the_arrays_alone(make, monkeypatch):
    """Ctrl-C in the middle of a launch is raised, and the caller's arrays are as before."""
    from phobos_nb.simulate import schedule

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(schedule, "run_strand", interrupted)
    k = make(BODY, TENSORS, shared=256)
    out = np.zeros(64, np.float32)
    with pytest.raises(KeyboardInterrupt):
        k.run(a=np.ones(64, np.float32), out=out, in_place=True)
    assert not out.any()
