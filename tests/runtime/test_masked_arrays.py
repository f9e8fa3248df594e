"""Arrays of `numpy.ma` are refused: a kernel would read what their mask hides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import phobos_nb as ph

TEXT = """
kernel k<T: dtype = f32>(X: tensor<T>[N], Y: tensor<T>[N], a: f32) {
  Y[ctx.block.x] = X[ctx.block.x]
}
"""
MASKED = np.ma.masked_array(np.ones(4, np.float32), [0, 1, 0, 0])


def plain() -> Any:
    return np.zeros(4, np.float32)


@pytest.mark.parametrize("dtypes", [{}, {"T": "f32"}])
@pytest.mark.parametrize("method", ["__call__", "bind", "simulate", "compare", "profile", "tune"])
def test_a_masked_array_is_refused(method: str, dtypes: dict[str, str]) -> None:
    """PH702 for what is read and what is written, with the way to fill what is masked."""
    kernel = ph.compile(TEXT, **dtypes).k
    for arguments, name in (((MASKED, plain(), 1.0), "X"), ((plain(), MASKED, 1.0), "Y")):
        with pytest.raises(TypeError) as caught:
            getattr(kernel, method)(*arguments)
        assert isinstance(caught.value, ph.PhobosError)
        (found,) = caught.value.diagnostics
        assert found.code == "PH702"
        assert found.message == f"k: {name}: wanted tensor<f32>[N], got MaskedArray"
        assert found.help == f"kernels know no mask: fill what is masked, `{name}.filled(0)`"


def test_a_masked_scalar_is_refused() -> None:
    """`np.ma.masked` is no number."""
    with pytest.raises(TypeError, match="a: wanted a scalar f32, got"):
        ph.compile(TEXT).k(plain(), plain(), np.ma.masked)


@pytest.mark.parametrize("ref", [{"Y": MASKED}, MASKED, lambda _: {"Y": MASKED}])
def test_a_masked_reference_is_refused(ref: Any | Callable[..., Any]) -> None:
    """Neither is a mask of the right values known: PH715."""
    with pytest.raises(TypeError, match="ref: wanted an array for Y, got one with a mask") as caught:
        ph.compile(TEXT).k.compare(plain(), plain(), 1.0, ref=ref)
    assert isinstance(caught.value, ph.PhobosError)
    assert caught.value.diagnostics[0].code == "PH715"
