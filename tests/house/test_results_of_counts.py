"""What results/ keeps of ncu and racecheck beside the simulator, explained to the last one."""

import json
from pathlib import Path

from tests.examples_cases import CASES

RESULTS = Path(__file__).parents[2] / "results"
AT_LEAST = 6
PLANTED = 20


def kept(name):
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def test_every_example_is_counted():
    """Counts by ncu of every bundled example are kept, at least six of them equal in every counter."""
    cases = kept("h200_ncu_counts")["cases"]
    assert {c["case"] for c in cases} == set(CASES)
    assert sum(not c["different"] for c in cases) >= AT_LEAST


def test_every_difference_adds_up():
    """Each count that differs has reasons with numbers, and their sum is the difference."""
    for case in kept("h200_ncu_counts")["cases"]:
        for counter, (gpu, simulator) in case["different"].items():
            assert sum(amount for amount, _ in case["why"][counter]) == gpu - simulator, case["case"]
            assert all(reason for _, reason in case["why"][counter])
        assert set(case["why"]) == set(case["different"])


def test_what_is_called_equal_is():
    """The counters that are compared differ where `different` says so and nowhere else."""
    for case in kept("h200_ncu_counts")["cases"]:
        for counter, gpu in case["gpu"].items():
            simulated = case["simulator"].get(counter)
            if simulated is not None and counter not in case["different"]:
                assert gpu == simulated, (case["case"], counter)


def test_planted_races_agree():
    """20 planted races and more have one verdict of racecheck and the simulator, at the same lines."""
    found = kept("h200_racecheck")
    planted = [row for row in found["rows"] if row["deleted"]]
    assert len(planted) == found["planted"] >= PLANTED
    assert all(row["racecheck"] and row["simulator"] and row["lines_agree"] for row in planted)
    assert all(row["racecheck"] == row["simulator"] == 0 for row in found["rows"] if not row["deleted"])
