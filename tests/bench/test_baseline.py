"""`--against`: what is called slower, over noise as two processes on one GPU have it."""

import math
import random
from dataclasses import replace

import pytest

from phobos_nb.bench.baseline import MARGIN, change, changes, differences, format_change
from phobos_nb.bench.report import Report
from phobos_nb.bench.row import OURS, Row, timed

ROW = Row("gemm_fp32", "4096x4096x4096", OURS, "TILE_M=128", 1e-7, True)


def one_run(seed: int, scale: float = 1.0, rounds: int = 28, *, placed: float = 0.004) -> Row:
    """Times of one process: its own level (0.3 %), that of each of four sets of arrays, a drift of 1 %.

    Each call has skewed noise, one in 20 takes 20 % longer. placed: how much sets of arrays differ.
    """
    rng = random.Random(seed)
    level, phase = scale * (1 + rng.gauss(0, 0.003)), rng.random() * 6
    levels = [level * (1 + rng.gauss(0, placed)) for _ in range(4)]
    times = [
        levels[i * 4 // rounds]
        * (1 + 0.005 * math.sin(phase + i / 8))
        * (1 + abs(rng.gauss(0, 0.004)) + (0.2 if rng.random() < 0.05 else 0.0))
        for i in range(rounds)
    ]
    return timed(replace(ROW, sittings=4), times, [], 1e9, 0, math.nan)


def test_a_slowdown_of_five_percent_is_caught():
    """In at least 19 of 20 pairs of runs (here of 200)."""
    found = [change(one_run(2 * i, 1.05), one_run(2 * i + 1)).verdict for i in range(200)]
    assert found.count("slower") >= 190


def test_an_unchanged_kernel_is_hardly_ever_flagged():
    """At most 1 in 20 pairs of runs is not called the same (here of 400)."""
    found = [change(one_run(2 * i), one_run(2 * i + 1)).verdict for i in range(400)]
    assert found.count("same") >= 380
    assert found.count("slower") <= 4


def test_where_arrays_lie_may_matter_more():
    """With sets of arrays that differ by 1 %, so that rounds are added: as sure as without."""
    runs = [one_run(i, rounds=112, placed=0.01) for i in range(400)]
    slower = [one_run(1000 + i, 1.05, 112, placed=0.01) for i in range(200)]
    caught = [change(now, then).verdict for now, then in zip(slower, runs, strict=False)]
    assert caught.count("slower") >= 190
    again = [change(runs[i], runs[i + 200]).verdict for i in range(200)]
    assert again.count("same") >= 190
    assert again.count("slower") <= 4


def test_slower_means_slower_in_every_sitting():
    """One set of arrays as fast as before, three 5 % slower: not called slower."""
    then = timed(replace(ROW, sittings=4), [1.0] * 28, [], 0, 0, math.nan)
    now = timed(replace(ROW, sittings=4), [1.0] * 7 + [1.05] * 21, [], 0, 0, math.nan)
    assert now.levels == [1.0, 1.05, 1.05, 1.05]
    assert change(now, then).verdict == "same"
    all_slower = timed(replace(ROW, sittings=4), [1.05] * 28, [], 0, 0, math.nan)
    assert change(all_slower, then).verdict == "slower"


def test_a_speedup_of_five_percent_is_named():
    """Faster is not a failure."""
    found = [change(one_run(2 * i), one_run(2 * i + 1, 1.05)) for i in range(40)]
    assert sum(c.verdict == "faster" for c in found) >= 38
    assert not any(c.fails for c in found)


def test_differences_inside_the_margin_are_none():
    """1 % slower without any noise is the same by default, and slower with a margin of 0.5 %."""
    now, then = (timed(ROW, [t] * 25, [], 0, 0, math.nan) for t in (1.01, 1.0))
    assert MARGIN == 0.02
    assert change(now, then).verdict == "same"
    assert change(now, then, 0.005).verdict == "slower"


def test_too_few_rounds_cannot_tell():
    """Three rounds have no interval, so nothing separates."""
    now, then = (timed(ROW, [t] * 3, [], 0, 0, math.nan) for t in (2.0, 1.0))
    found = change(now, then)
    assert (found.verdict, found.low, found.high) == ("same", -math.inf, math.inf)


def test_a_wrong_answer_is_no_time():
    """A kernel that has become wrong fails, whatever its speed."""
    wrong = Row("gemm_fp32", "4096x4096x4096", OURS, "TILE_M=128", math.inf, False)
    (found,) = changes([wrong], [one_run(1)])
    assert found.verdict == "wrong"
    assert found.fails
    assert "WRONG" in format_change(found)


def test_a_slower_peer_is_shown_and_fails_nothing():
    """It says that the machine is another one today."""
    peer = Row("gemm_fp32", "64", "cublasSgemm", "", 1e-7, True)
    now, then = (timed(peer, [t] * 25, [], 0, 0, math.nan) for t in (1.1, 1.0))
    (found,) = changes([now], [then])
    assert found.verdict == "slower"
    assert not found.fails


def test_rows_are_matched_by_benchmark_size_and_contender():
    """Only what both runs have is compared; other constants are said."""
    other = Row("gemm_fp32", "4096x4096x4096", OURS, "TILE_M=64", 1e-7, True)
    other = timed(other, [1.0] * 25, [], 0, 0, math.nan)
    small = timed(Row("gemm_fp32", "64", OURS, "", 1e-7, True), [1.0] * 25, [], 0, 0, math.nan)
    (found,) = changes([other, small], [one_run(1)])
    assert found.row is other
    assert "TILE_M=128 then" in format_change(found)


def test_conditions_that_differ_are_named():
    """One line per condition, an absent one too."""
    now = Report([], {"device": "NVIDIA H200", "driver": "580"}, {})
    then = Report([], {"device": "NVIDIA A100", "driver": "580", "nvrtc": "13.0"}, {})
    assert differences(now, now) == []
    assert differences(now, then) == [
        "device: NVIDIA A100 then, NVIDIA H200 now",
        "nvrtc: 13.0 then, unknown now",
    ]


@pytest.mark.parametrize("verdict", ["slower", "faster", "same"])
def test_lines_hold_the_interval(verdict):
    """Every line has the ratio and both ends."""
    scale = {"slower": 1.2, "faster": 0.8, "same": 1.0}[verdict]
    now, then = (timed(ROW, [t] * 25, [], 0, 0, math.nan) for t in (scale, 1.0))
    line = format_change(change(now, then))
    assert verdict in line
    assert f"{scale:.4f}x the time [{scale:.4f}, {scale:.4f}]" in line
