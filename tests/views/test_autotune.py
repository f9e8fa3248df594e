"""The view of a search: its model, its text, its static html."""

import itertools
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from phobos_nb.tune.outcome import Measured
from phobos_nb.tune.records import conclude
from phobos_nb.tune.replay import open_record, replay
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.search import Plan
from phobos_nb.views.autotune import view_of, view_of_record
from phobos_nb.views.autotune_html import page
from phobos_nb.views.autotune_text import text
from phobos_nb.views.display import show_tuning
from tests.tune.recorded import record

RECORDS = sorted((Path(__file__).parents[2] / "results" / "records").glob("*.json"))
RECORD = replace(
    record(),
    peers={"cublasSgemm": tuple(0.95 + 0.001 * i for i in range(25))},
    settings={"cache": "cold"},
)
FOUND = Tuning(conclude(RECORD, RECORD.outcomes, ""), recorded="Example GPU, 2026-11-29")


class Cells(HTMLParser):
    """Collects table cells and checks that tags nest."""

    def __init__(self, html):
        super().__init__()
        self.stack, self.cells = [], []
        self.feed(html)
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.stack.append(tag)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if "td" in self.stack:
            self.cells[-1] += data


def test_every_configuration_is_a_point_with_failures_in_place():
    """64 points: one winner, failures last with their reasons, fastest first before them."""
    view = view_of(FOUND)
    assert len(view.points) == view.total == 64
    assert [p.status for p in view.points].count("winner") == 1
    assert view.points[0].label == "K=8 M=128 N=256"
    assert [p.failed for p in view.points[-4:]] == [True] * 4
    assert view.failures == {"constraint": 4}
    assert all(p.reason == "256 registers" for p in view.points[-4:])
    assert view.to_plain()["points"][0]["constants"] == {"M": 128, "N": 256, "K": 8}


def test_the_text_says_what_was_measured_where_and_what_failed():
    """Deterministic text with the peer's interval, the recorded card, a reason per kind of failure."""
    shown = text(view_of(FOUND))
    assert shown == text(view_of(FOUND))
    assert "gemm M=512, N=512, K=512 on Example GPU" in shown
    assert "recorded on Example GPU, 2026-11-29" in shown
    assert "64 of 64 configurations, 60 measured (cold cache); failed: 4 constraint" in shown
    assert "cublasSgemm: 0.962 ms [" in shown
    assert "* K=8 M=128 N=256: " in shown
    assert "x K=4 M=256 N=256: constraint: 256 registers" in shown


def test_the_html_has_a_map_cell_for_every_configuration():
    """Four maps of 4 x 4 for the values of K; failures say their kind and why; no script, no id."""
    html = page(view_of(FOUND))
    assert html.count("<figcaption>K=") == 4
    assert Cells(html).cells.count("x constraint") == 4
    assert html.count("title='256 registers'") == 4
    assert "<script" not in html
    assert " id=" not in html
    assert len(html) < 150_000


def test_the_html_has_the_pictures_of_all_points():
    """A symbol each by rank, four of them crosses, a line each in the parallel coordinates."""
    html = page(view_of(FOUND))
    assert html.count("<circle") == 59
    assert html.count("l6 6m-6 0l6-6") == 4
    assert "cublasSgemm 0.962 ms" in html
    parallel = html[html.index("Parallel coordinates") :]
    assert parallel.count('fill="none" opacity') == 60


def test_the_pictures_of_a_big_space_stay_small():
    """A space of 4096: 150 points are drawn, the page says so and stays below 150 KB."""
    space = {"M": tuple(range(16)), "N": tuple(range(16)), "K": tuple(range(16))}
    values = itertools.product(*space.values())
    made = [Measured(dict(zip(space, v, strict=True)), (1.0 + sum(v),)) for v in values]
    html = page(view_of_record(replace(RECORD, space=space, outcomes={o.label: o for o in made})))
    assert "the first 150 of 4096" in html
    assert "the 2 of 16 maps with the best configurations" in html
    assert html.count("<figcaption>K=") == 2
    assert len(html) < 150_000


def test_other_precisions_are_named_and_never_compared():
    """TF32 for an f32 product: its line is marked, the page does not call the winner slower."""
    peers = {"cublasSgemm": (1.1,) * 25, "cublas TF32 (other precision)": (0.2,) * 25}
    view = view_of(Tuning(replace(RECORD, peers=peers)))
    assert [p.other_precision for p in view.peers] == [False, True]
    html = page(view)
    assert "not alike: another precision" in html
    assert "cublas TF32 (other precision) 0.2 ms, off this scale" in html


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_every_shipped_record_is_shown(path):
    """As text, as html below 150 KB, as three figures; rates never above the card's peak."""
    found = open_record(path)
    view = view_of(found)
    assert f"recorded on {view.device}, 2026-" in text(view)
    assert len(page(view)) < 150_000
    wide = [n for n, values in view.axes.items() if len(values) > 1]
    for name in ("points", "parallel", *(["map"] if len(wide) > 1 else [])):
        found.plot(view=name).draw_without_rendering()
    for measure in view.measures:
        if measure.more_is_better and measure.peak is not None:
            assert measure.of(view.winner.ms) < measure.peak


def test_a_point_says_in_words_what_its_numbers_mean():
    """How it was timed, what limits its CTAs, that it spills, how exact its answer is."""
    facts = {"registers": 128.0, "shared_bytes": 37248.0, "threads": 256.0, "spills": 16.0}
    best = Measured({"M": 128, "N": 256, "K": 8}, (1.0,) * 5, (1.0,) * 25, 1e-6, facts)
    (point,) = view_of_record(replace(RECORD, outcomes={best.label: best}, ties=())).points
    assert point.notes == (
        "timed in 25 interleaved rounds with the other finalists",
        "16 bytes spilled to local memory",
        "CTAs per SM limited by registers",
        "relative error of its answer 1.0e-06",
    )


def test_a_search_under_way_shows_what_it_has():
    """Five trials of 64: the rest are dots on the maps, and the headline says that it was stopped."""
    view = view_of(replay(record(), plan=Plan(trials=5)))
    assert len(view.points) == 5
    assert "stopped: budget" in text(view)
    assert Cells(page(view)).cells.count(".") == 59


def test_markup_in_names_and_reasons_is_text():
    """Nothing of a record reaches the page as markup."""
    outcomes = {n: replace(o, reason="<b>&'") if hasattr(o, "reason") else o
                for n, o in RECORD.outcomes.items()}  # fmt: skip
    html = page(view_of(Tuning(replace(RECORD, outcomes=outcomes))))
    assert "<b>&" not in html.replace("<b>gemm", "")
    assert "&lt;b&gt;&amp;" in html


def test_a_notebook_shows_html_and_text():
    """The bundle of a result."""
    assert set(show_tuning(FOUND)) == {"text/plain", "text/html"}


SEED = open_record(Path(__file__).parents[2] / "results" / "tune_seed.json")
"""A recorded search with finals: 8 finalists, 52 first looks, 4 failures."""


def faster_at_first(part: float) -> Tuning:
    """The same with all first looks in that part of their time."""
    outcomes = {
        n: replace(o, times=tuple(t * part for t in o.times)) if isinstance(o, Measured) else o
        for n, o in SEED.record.outcomes.items()
    }
    return Tuning(replace(SEED.record, outcomes=outcomes))


def test_finals_come_before_first_looks_each_with_its_stage():
    """A first look that beats the winner's rounds stands behind all finalists, and says what it is."""
    view = view_of(faster_at_first(0.5))
    stages = [p.stage for p in view.points]
    assert stages == ["finals"] * 8 + ["first look"] * 52 + [""] * 4
    assert view.points[8].ms < view.points[0].ms
    assert view.points[8].times_of(view.points[0]) > 1
    assert "first look only" in " ".join(view.points[8].notes)


def test_text_and_html_never_show_a_first_look_as_if_of_the_finals():
    """A sign in the text, a column in the table, open circles, italic cells, and a sentence."""
    found = faster_at_first(0.5)
    shown, html = text(view_of(found)), page(view_of(found))
    said = "first looks took less time than the winner in its rounds"
    assert said in shown
    assert said in html
    rows = [line for line in shown.splitlines() if line.startswith("  ~ TILE")]
    assert len(rows) == 4  # of twelve that are shown, eight are of the finals
    assert "  ~ a first look only; finals took 2.00x the finalists' first looks" in shown
    factors = [float(line.rsplit(", ", 1)[1].removesuffix("x")) for line in rows]
    assert min(factors) > 1
    assert html.count('r="3" fill="none"') == 52
    assert html.count("<i>") == 52
    assert Cells(html).cells.count("first look") == 32  # of 40 rows
    assert "italic: a first look only" in html


def test_without_a_contradiction_nothing_is_said_of_it():
    """The search as it was recorded: stages are marked, the sentence is not there."""
    shown = text(view_of(SEED))
    assert "took less time" not in shown
    assert "finals took 1.00x the finalists' first looks" in shown


def test_a_search_before_its_finals_has_one_kind_of_time():
    """Nothing is open, dashed or italic while there are only first looks."""
    view = view_of(FOUND)
    assert not view.two_stages
    assert "~" not in text(view)
    assert "<i>" not in page(view)
