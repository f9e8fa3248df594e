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
