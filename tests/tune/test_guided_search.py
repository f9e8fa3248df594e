"""The guided search on recorded searches, recomputed: what results/guided_search.json says is so."""

import json

import pytest

from phobos_nb.tune.records import read
from tools.guided_search import LATER, OUT, PART, row_of, summary

STATED = json.loads(OUT.read_text("utf-8"))
SEEDS = 3


@pytest.mark.parametrize("row", STATED["rows of later records"], ids=lambda row: row["record"])
def test_a_record_measured_after_the_model_was_fixed(row):
    """With a quarter of the configurations tried, what the search picks is what is stated."""
    path = LATER / row["record"]
    again = row_of(path, read(path), SEEDS)
    assert again is not None
    assert again["trials"] <= again["configurations"] / PART
    assert again["reached"] == pytest.approx(row["reached"], abs=0.02)


def test_the_summary_follows_from_the_rows():
    """At least 98 % of the exhaustive winner in the middle of sizes and kernels the model never saw."""
    later = STATED["rows of later records"]
    assert summary(later) == STATED["later"]
    assert {row["record"] for row in later} <= {path.name for path in LATER.glob("*.json")}
    assert STATED["later"]["median"] >= 0.98
