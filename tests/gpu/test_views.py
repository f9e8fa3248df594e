"""Roofline and sliders on the GPU: roofs measured, calls timed, the caller's arrays kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import phobos_nb as ph
from phobos_nb.views.roofline_roofs import DRAM, FMA, L2
from phobos_nb.views.sliders_session import Sliders

pytestmark = pytest.mark.gpu

EXAMPLES = Path(__file__).parents[2] / "examples"
SIDE = 1024
LONG = 180.0


@pytest.fixture
def cp() -> Any:
    return pytest.importorskip("cupy")


def arrays(cp: Any) -> list[Any]:
    random = cp.random.default_rng(0)
    return [random.standard_normal((SIDE, SIDE), dtype="f4") for _ in range(3)]


def test_a_call_is_timed_under_measured_roofs(cp: Any) -> None:
    """Roofs in a plausible order, a rate below them, and C as it was."""
    a, b, c = arrays(cp)
    before = c.copy()
    found = ph.load(EXAMPLES / "gemm_fp32.ph").gemm.roofline(a, b, c, 1.0, 0.5)
    roofs = found.view.roofs
    assert roofs.measured
    rates = [roofs.rate(name) or 0 for name in (DRAM, L2)]
    assert 0 < rates[0] < rates[1]
    (shown,) = found.points
    assert 0 < shown.rate < (roofs.rate(FMA) or 0)
    assert 0 < (shown.fraction or 0) <= 1.1
    assert (c == before).all()


def test_sliders_time_and_compare_with_cublas(cp: Any) -> None:
    """A move gives another time, both beside cuBLAS; Use changes the call; C is as it was."""
    a, b, c = arrays(cp)
    before = c.copy()
    gemm = ph.load(EXAMPLES / "gemm_fp32.ph").gemm.specialize()
    named = {"A": a, "B": b, "C": c, "alpha": 1.0, "beta": 0.5}
    sliders = Sliders(gemm, named)
    first = sliders.wait(LONG)
    sliders.move({"TILE_M": 32, "TILE_N": 32})
    second = sliders.wait(LONG)
    for view in (first, second):
        assert view.timing.ms is not None, view.timing.missing
        assert "cublasSgemm" in view.timing.peers
        assert view.roofline is not None
        assert view.roofline.points[-1].microseconds == view.timing.ms * 1e3
    assert first.timing.ms != second.timing.ms
    assert second.roofline is not None
    assert second.roofline.roofs.measured
    assert (c == before).all()
    sliders.use()
    gemm(a, b, c, 1.0, 0.5)
    assert cp.allclose(c, a @ b + 0.5 * before, rtol=1e-3, atol=1e-3)
    sliders.close()
