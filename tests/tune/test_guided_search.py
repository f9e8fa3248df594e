"""The guided search on recorded searches, recomputed: what results/guided_search.json says is so."""

import json

import pytest

from phobos_nb.tune.model import RATES, Rates
from tools.guided_search import (
    GRID,
    KERNELS,
    LATER,
    LATEST,
    OUT,
    PART,
    SIZES,
    cases,
    fitted,
    row_of,
    summary,
)

STATED = json.loads(OUT.read_text("utf-8"))
SEEDS = 3


@pytest.fixture(scope="module")
def kernels():
    return {case.path.name: case for case in cases(KERNELS)}


@pytest.fixture(scope="module")
def scores(kernels):
    return {case.path: [case.score(rates) for rates in GRID] for case in kernels.values()}


@pytest.mark.parametrize("row", STATED["rows of kernels"], ids=lambda row: row["record"])
def test_a_kernel_that_the_rates_were_fitted_without(row, kernels, scores):
    """Fitted anew on the other kernels' records; a quarter of the trials reach what is stated."""
    case = kernels[row["record"]]
    rates = fitted(scores, [o for o in kernels.values() if o.name != case.name])
    assert rates == Rates(**row["rates"])
    again = row_of(case, rates, SEEDS)
    assert again["trials"] <= again["configurations"] / PART
    assert again["reached"] == pytest.approx(row["reached"], abs=0.02)


def test_sizes_that_were_not_used():
    """A GEMM at eight other sizes, split loops among its configurations."""
    found = {case.path.name: row_of(case, RATES, SEEDS) for case in cases(SIZES)}
    stated = {row["record"]: row for row in STATED["rows of sizes"]}
    assert found.keys() == stated.keys()
    for name, row in found.items():
        assert row["reached"] == pytest.approx(stated[name]["reached"], abs=0.02)


@pytest.mark.parametrize(("rows", "folder"), [("rows of later", LATER), ("rows of latest", LATEST)])
def test_kernels_and_sizes_recorded_afterwards(rows, folder):
    """Recomputed as stated, with the rates as they are: every record, those that fall short too."""
    found = {case.path.name: row_of(case, RATES, SEEDS) for case in cases(folder)}
    stated = {row["record"]: row for row in STATED[rows]}
    assert found.keys() == stated.keys()
    for name, row in found.items():
        assert row["trials"] <= row["configurations"] / PART
        assert row["reached"] == pytest.approx(stated[name]["reached"], abs=0.02)


def test_the_summary_follows_from_the_rows():
    """At least 98 % of the exhaustive winner on every record of the first two sets; counts of all."""
    left_out = [r for r in STATED["rows of kernels"] if not r["estimate of tile_shape.py"]]
    assert summary(left_out) == STATED["kernels left out of the fit"]
    assert summary(STATED["rows of sizes"]) == STATED["sizes not used"]
    assert summary(STATED["rows of later"]) == STATED["later: the correction was chosen by them"]
    assert summary(STATED["rows of latest"]) == STATED["latest: not used for anything"]
    assert STATED["kernels left out of the fit"]["least"] >= 0.98
    assert STATED["sizes not used"]["least"] >= 0.98
