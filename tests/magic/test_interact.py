"""`%%phobos --interact` in a shell: sliders below the compilation, and what stands there instead."""

from __future__ import annotations

import numpy as np
import pytest

from tests.magic.shell import Cells

pytestmark = pytest.mark.nvrtc

SCALE = """@autotune(T in [128, 256])
kernel scale(A: tensor<f32>[N], s: f32) {
  let i = ctx.block.x * T
  A[i :+ T] = A[i :+ T] * s
}"""
WIDGET = "application/vnd.jupyter.widget-view+json"


def test_sliders_stand_below_the_compilation(cells: Cells) -> None:
    """Two outputs: the compilation, then the sliders with their forms for a saved notebook."""
    compiled, sliders = cells.run(f"%%phobos --interact --chip sm_80\n{SCALE}")
    assert WIDGET not in compiled.data
    assert WIDGET in sliders.data
    assert "A 1048576" in sliders.data["text/plain"]
    assert "[256]" in sliders.data["text/plain"] or "[128]" in sliders.data["text/plain"]
    assert "<script" not in sliders.data["text/html"]


def test_variables_named_as_the_parameters_are_the_arguments(cells: Cells) -> None:
    """A and s of the notebook; A stays as it is."""
    cells.names |= {"A": np.ones(4096, np.float32), "s": 2.0}
    (sliders,) = cells.run(f"%%phobos --interact --quiet --chip sm_80\n{SCALE}")
    assert "A 4096" in sliders.data["text/plain"]
    assert (cells.names["A"] == 1).all()


def test_what_keeps_a_kernel_from_sliders_is_shown(cells: Cells) -> None:
    """Arrays that do not fit: the kernel is defined, and the reason stands where sliders would."""
    cells.names |= {"A": np.ones(4096, np.float64), "s": 2.0}
    (shown,) = cells.run(f"%%phobos --interact --quiet --chip sm_80\n{SCALE}")
    assert "scale has no sliders" in shown.data["text/plain"]
    assert "wanted tensor<f32>[N], got dtype f64" in shown.data["text/plain"]
    assert cells.names["scale"].name == "scale"
