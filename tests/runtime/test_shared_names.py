"""How an index outside a shared array is reported, on the CPU and by the simulator."""

from __future__ import annotations

import numpy as np
import pytest

import phobos_nb as ph

OUTSIDE = """\
@launch(128)
kernel k(A: tensor<f32>[N]) {
  var s: shared<f32>[8, 8]
  s[ctx.thread / 8, ctx.thread % 8] = 1.0
  barrier()
  A[ctx.thread] = s[0, 0]
}
"""


def test_the_simulator_names_array_and_element() -> None:
    """Thread 64 writes s[8, 0] of an 8 x 8 array."""
    (kernel,) = ph.compile(OUTSIDE)
    (fault,) = kernel.simulate(np.zeros(128, np.float32)).faults
    assert fault.message == "writes s[8, 0], outside `s` of 8 x 8 elements"
    assert (fault.thread, fault.count) == (64, 64)


def test_the_meaning_names_the_access() -> None:
    """PH805 underlines `s[...]` and says which index, thread and extent."""
    (kernel,) = ph.compile(OUTSIDE)
    with pytest.raises(ph.PhobosError, match="axis 0 takes 0 to 7") as caught:
        kernel(np.zeros(128, np.float32))
    (found,) = caught.value.diagnostics
    assert found.code == "PH805"
    assert "s[8, 0]" in found.message
    assert "(thread 64)" in found.message
    assert found.span is not None
    assert OUTSIDE[found.span.start : found.span.stop] == "s[ctx.thread / 8, ctx.thread % 8]"


ONE = """\
@launch(128)
kernel k(A: tensor<f32>[N], n: i32) {{
  var s: shared<f32>[64]
  let t = ctx.thread
  s[t % 64] = 0.0
  barrier()
  {}
  A[t] = s[t % 64]
}}
"""
PAST = "axis 0 of `s` has 64 elements, 0 to 63, and {} is past the last whichever thread comes: "
BEFORE = "axis 0 of `s` has 64 elements, 0 to 63, and {} is before the first whichever thread comes: "
CORRECT, LARGER = "correct the index", ", or make the array larger"
MASKED = {
    "one thread, one index": ("if t == 127 { s[n] = 1.0 }", 127, PAST.format(200) + CORRECT + LARGER),
    "one warp, one index": ("if ctx.warp == 2 { s[n] = 1.0 }", 64, PAST.format(200) + CORRECT + LARGER),
    "a read": ("if t > 100 { A[t] = s[-n] }", 101, BEFORE.format(-200) + CORRECT),
    "equal by value": ("if t > 99 { s[n + t * 0] = 1.0 }", 100, PAST.format(200) + CORRECT + LARGER),
    "behind `&&`": ("if t > 9 && s[n] > 0.0 { A[t] = 1.0 }", 10, PAST.format(200) + CORRECT + LARGER),
    "everyone": ("s[n] = 1.0", 0, PAST.format(200) + CORRECT + LARGER),
    "no condition": ("s[t] = 1.0", 64, "axis 0 takes 0 to 63: guard the access with `if`" + LARGER),
    "no condition, before": ("s[t - 9] = 1.0", 0, "axis 0 takes 0 to 63: guard the access with `if`"),
    "a condition too wide": (
        "if t < 70 { s[t] = 1.0 }",
        64,
        "axis 0 takes 0 to 63: narrow the condition that lets thread 64 come" + LARGER,
    ),
}
"""The statement, the first thread that leaves the array with n = 200, and the help."""


@pytest.mark.parametrize("case", MASKED)
def test_the_meaning_names_a_thread_that_does_it(case: str) -> None:
    """PH805 names the first active thread outside; an `if` is proposed where one helps and none is."""
    statement, thread, help = MASKED[case]
    (kernel,) = ph.compile(ONE.format(statement))
    with pytest.raises(ph.PhobosError) as caught:
        kernel(np.zeros(128, np.float32), 200)
    (found,) = caught.value.diagnostics
    assert f"(thread {thread})" in found.message
    assert found.help == help


@pytest.mark.parametrize("case", MASKED)
def test_the_simulator_names_the_same_thread_and_help(case: str) -> None:
    """Fault and PH805 agree on the first thread, and on whether a condition by thread mends it."""
    statement, thread, help = MASKED[case]
    (kernel,) = ph.compile(ONE.format(statement))
    faults = kernel.simulate(np.zeros(128, np.float32), 200).faults
    (fault,) = [f for f in faults if f.kind == "out_of_bounds"]
    assert fault.thread == thread
    if "whichever" in help:
        side = "past the last element" if "past" in help else "before the first element"
        larger = LARGER if "past" in help else ""
        assert fault.help == f"the index is {side} whichever thread comes: correct it{larger}"
    else:
        assert fault.help.startswith("guard the access by the extent")
