"""The figures of the README's GEMM table follow from the file that it names."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
ROWS = re.findall(
    r"^\| (\d[\dx ]*?)(?: cubed)? \| ([\d.]+)( us)?[^|]* \| ([\d.]+) \| ([\d.]+) \|$", README, re.M
)
HALF = 0.5 + 1e-6


def rows_of(name):
    return [r for run in json.loads((ROOT / "results" / name).read_text())["runs"] for r in run["rows"]]


def test_the_table_is_found():
    """The pattern reads the table: a change of its form shall not leave this file without rows."""
    assert len(ROWS) > 10


@pytest.mark.parametrize(("size", "figure", "micro", "ratio", "to_best"), ROWS)
def test_a_row_is_what_the_run_says(size, figure, micro, ratio, to_best):
    """Rate or time, and both ratios, are the run's medians, rounded as printed."""
    numbers = [int(n) for n in size.split("x")]
    wanted = numbers * 3 if len(numbers) == 1 else numbers
    rows = rows_of("h200_gemm_default.json")
    (row,) = [r for r in rows if r["size"] == wanted and r["name"].startswith("phobos")]
    assert row["ok"]
    value = row["median_ms"] * 1000 if micro else row["tflops"]
    assert abs(value - float(figure)) <= 0.1 * HALF
    assert abs(row["ratio"] - float(ratio)) <= 0.01 * HALF
    assert abs(row["ratio_to_best_peer"] - float(to_best)) <= 0.01 * HALF


def test_as_many_configurations_were_searched():
    """The README counts our configurations at 1024, 2048 and 4096, not the peers beside them."""
    counts = re.search(r"best of (\d+), (\d+) and (\d+) configurations at 1024, 2048 and 4096", README)
    assert counts is not None
    rows = [r for r in rows_of("h200_gemm_search.json") if "TILE_M" in r["name"]]
    found = [sum(r["size"] == [n] * 3 for r in rows) for n in (1024, 2048, 4096)]
    assert found == [int(n) for n in counts.groups()]


def test_every_size_that_is_behind_is_named():
    """Sizes slower than the faster peer, with the ratio, and those whose check failed."""
    rows = [r for r in rows_of("h200_gemm_default.json") if r["name"].startswith("phobos")]
    text = re.sub(r"\s+", " ", README)
    assert f"Of the {len(rows)} sizes in that file two are slower" in text
    behind = [r for r in rows if r["ratio_to_best_peer"] < 1]
    assert len(behind) == 2
    for row in behind:
        size = " x ".join(map(str, row["size"]))
        assert re.search(rf"{size} \({row['ratio_to_best_peer']:.2f}\)", text), size
    failed = [" x ".join(map(str, r["size"])) for r in rows if not r["ok"]]
    assert [f"Of one, {size}, the check of the error failed" in text for size in failed] == [True]


def test_errors_over_many_draws_are_as_stated():
    """1 x 1 x 4096: what one draw and what a hundred draws err beside cuBLAS."""
    text = re.sub(r"\s+", " ", README)
    one, many = re.search(
        r"one draw erred ([\d.]+) times .*? it is ([\d.]+) times as much", text
    ).groups()
    drawn = {
        r["name"][:6]: r["errors"]
        for r in rows_of("h200_gemm_default.json")
        if r["size"] == [1, 1, 4096]
    }
    assert round(drawn["phobos"][0] / drawn["cublas"][0], 1) == float(one)
    rows = json.loads((ROOT / "results" / "h200_gemm_errors.json").read_text())["rows"]
    (row,) = [r for r in rows if r["size"] == [1, 1, 4096]]
    errors = {name[:6]: found["error"] for name, found in row["found"].items()}
    assert row["draws"] == 100
    assert round(errors["phobos"] / errors["cublas"], 2) == float(many)
