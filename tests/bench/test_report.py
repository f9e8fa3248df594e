"""Rows of the benchmark: their figures, their files, their place in the table."""

import csv
import json
import math

import pytest

from phobos_nb.bench.place import Cpu
from phobos_nb.bench.report import Report, read, report
from phobos_nb.bench.row import OURS, Row, from_plain, timed
from phobos_nb.bench.text import format_row
from phobos_nb.diagnostics import PhobosError

ROW = Row("saxpy_fp32", "1024", OURS, "TILE=256", 1e-8, True, "f32", chosen="default")
TIMES = [2.0, 2.1, 1.9, 2.0, 2.2, 2.0, 2.0]


def test_figures_follow_from_times():
    """8 GFLOP and 4 GB in 2 ms are 4 TFLOP/s, 2000 GB/s, 50 % of 8; a peer at 3 ms makes 1.5x."""
    row = timed(ROW, TIMES, [1.5 * t for t in TIMES], 8e9, 4e9, 8.0)
    assert (row.median, row.fastest) == (2.0, 1.9)
    assert (row.low, row.high) == (1.9, 2.2)
    assert row.tflops == pytest.approx(4.0)
    assert row.gbps == pytest.approx(2000.0)
    assert row.peak_percent == pytest.approx(50.0)
    assert row.ratio == pytest.approx(1.5)


def test_figures_that_say_nothing_are_nan():
    """No flops, no traffic, no peak, no peer."""
    row = timed(ROW, TIMES, [], 0, 0, math.nan)
    assert all(map(math.isnan, (row.tflops, row.gbps, row.peak_percent, row.ratio)))
    assert "%" not in format_row(row)


def test_rows_say_percent_of_peak_and_other_precisions():
    """A peer of another precision is never called wrong, one of ours is; arithmetic and peak show."""
    peer = Row("gemm_fp32", "64", "cublas_fast_tf32", "", 1e-3, False, "TF32", same_precision=False)
    assert "TF32" in format_row(peer)
    assert "other precision" in format_row(peer)
    assert "WRONG" not in format_row(peer)
    words = "f32 FMA, no tensor cores"
    ours = Row("gemm_fp16", "64", OURS, "", 1e-3, False, words, peak_percent=71.25)
    assert "71.2 % of peak" in format_row(ours)
    assert words in format_row(ours)
    assert "WRONG" in format_row(ours)
    assert "not timed" in format_row(ours)


def test_csv_holds_what_repeats_a_figure(tmp_path):
    """Device, versions, date and command stand in every row."""
    found = report([timed(ROW, TIMES, [], 0, 1e9, math.nan)] * 2, Cpu(), 4, "phobos-nb bench")
    found.write_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2
    assert rows[0]["device"].startswith("CPU")
    assert rows[0]["command"] == "phobos-nb bench"
    assert rows[0]["inner"] == "4"
    assert float(rows[0]["median"]) == 2.0
    assert {"date", "phobos_nb", "torch", "driver_cuda"} <= set(rows[0])


def test_json_comes_back_as_it_went(tmp_path):
    """Every time of every round, numbers that are none included."""
    rows = [timed(ROW, TIMES, [], 0, 1e9, math.nan), Row("a", "1", OURS, "", math.inf, False)]
    found = report(rows, Cpu(), 4, "phobos-nb bench")
    path = tmp_path / "out.json"
    found.write_json(path)
    json.loads(path.read_text(), parse_constant=pytest.fail)
    again = read(path)
    assert again.conditions == found.conditions
    assert repr(list(again.rows)) == repr(rows)
    assert again.rows[1].error == math.inf


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "cut short"),
        ('{"kind": "phobos-nb bench", "format": 1, "rows": [', "cut short"),
        ('{"kind": "something"}', "not written by"),
        ('{"kind": "phobos-nb bench", "format": 99}', "format 99"),
        (
            '{"kind": "phobos-nb bench", "format": 1, "conditions": {}, "facts": {}, "rows": [{}]}',
            "times",
        ),
        ("[1, 2]", "damaged"),
    ],
)
def test_foreign_and_damaged_files_are_refused(tmp_path, text, why):
    """Each with its reason and the file's name."""
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(PhobosError, match=why) as caught:
        read(path)
    assert caught.value.diagnostics[0].code == "PH402"
    assert "baseline.json" in str(caught.value)


def test_rows_of_newer_versions_are_read_by_what_is_known():
    """A field that this version has not is left out."""
    data = {**ROW.to_plain(), "colour": "blue"}
    assert from_plain(data).workload == "saxpy_fp32"
    assert Report([], {}, {}).rows == []
