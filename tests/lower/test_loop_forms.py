"""Every form of a pipelined loop computes the same, without races, and upstream takes it."""

import itertools

import numpy as np
import pytest

from phobos_nb.lower.loop_form import ADDRESSES, GUARDS, ORDERS, RINGS
from tests.lower.kernels import gemm
from tests.lower.test_modules import lowered
from tests.lower.test_runs import normal, run

FORMS = list(itertools.product(range(len(ADDRESSES)), range(len(GUARDS)), range(len(RINGS))))


@pytest.mark.parametrize(("address", "guard", "ring"), FORMS)
@pytest.mark.parametrize(("stages", "slices"), [(2, 1), (3, 2), (4, 4), (3, 4)])
def test_forms_agree(address, guard, ring, stages, slices):
    """Any address, guard, ring, depth and unrolling gives NumPy's product, ragged depths too."""
    constants = {"ADDRESS": address, "GUARD": guard, "RING": ring, "STAGES": stages, "SLICES": slices}
    for k in (52, 8, 3):
        a, b = normal(70, k), normal(k, 100, seed=1)
        arrays = {"A": a, "B": b, "C": np.full((70, 100), np.nan, np.float32)}
        out = run(gemm((32, 32, 8), 64), arrays, (4, 3, 1), constants=constants)["C"]
        np.testing.assert_allclose(out, a @ b, atol=2e-5)


@pytest.mark.parametrize("order", range(len(ORDERS)))
@pytest.mark.parametrize("group", [0, 1, 2, 3])
def test_orders_and_rasters_agree(order, group):
    """The order of the multiply-adds and of the tiles changes no result."""
    a, b = normal(170, 20), normal(20, 100, seed=1)
    arrays = {"A": a, "B": b, "C": np.full((170, 100), np.nan, np.float32)}
    constants = {"ORDER": order, "GROUP": group}
    out = run(gemm((32, 32, 8), 64), arrays, (4, 6, 1), constants=constants)["C"]
    np.testing.assert_allclose(out, a @ b, atol=2e-5)


@pytest.mark.parametrize(("address", "guard", "ring"), FORMS)
def test_upstream_takes_every_form(address, guard, ring):
    """mlir-opt verifies the module of every form."""
    constants = {"ADDRESS": address, "GUARD": guard, "RING": ring, "SLICES": 2}
    assert len(lowered(gemm(), constants=constants).loops) == 1
