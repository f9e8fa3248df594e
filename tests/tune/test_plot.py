"""The figures of a search: what is drawn, and what names they refuse."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import phobos_nb as ph
from phobos_nb.tune.records import read
from phobos_nb.tune.replay import open_record, provenance
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.ticks import ticks
from tests.tune.recorded import record

ROOT = Path(__file__).parents[2]
SEED = ROOT / "results" / "tune_seed.json"


@pytest.fixture(scope="module")
def seed():
    """The recorded H200 search with its kernel, which makes rates known."""
    kernel = ph.load(ROOT / "examples" / "gemm_fp32.ph").gemm
    return replace(open_record(SEED), kernel=kernel)


def texts(figure):
    """All that is written in a figure."""
    figure.draw_without_rendering()
    return [t.get_text() for t in figure.findobj(lambda a: hasattr(a, "get_text")) if t.get_text()]


def test_points_have_peers_the_peak_and_the_failures(seed):
    """Throughput by rank: cuBLAS in f32 and the peak as lines, TF32 in words, four crosses."""
    figure = seed.plot()
    (axes,) = figure.axes
    assert axes.get_ylabel().startswith("TFLOP/s")
    shown = texts(figure)
    assert any(t.startswith("cublasSgemm 50.7") for t in shown)
    assert "nominal peak, FP32 units 66.91" in shown
    assert any("cublas TF32 (other precision) 336" in t and "off this scale" in t for t in shown)
    assert "failed: 4 constraint" in shown
    assert f"recorded on {provenance(seed.record)}" in axes.get_title()
    crosses = [c for c in axes.collections if len(c.get_offsets()) == 4]
    assert [x for x, _ in crosses[0].get_offsets()] == [60, 61, 62, 63]


def test_points_over_a_fact_in_another_measure(seed):
    """Times over registers: 60 points where they belong, logarithmic."""
    (axes,) = seed.plot("registers", y="time").axes
    places = [c.get_offsets()[0][0] for c in axes.collections if len(c.get_offsets()) == 1]
    assert sorted(places) == sorted(m.facts["registers"] for m in seed.measured)
    assert axes.get_yscale() == "log"


def test_a_map_has_a_panel_for_each_value_of_the_third(seed):
    """Four panels of 4 x 4 and a colour bar; the winner's cell has a star, failures a cross."""
    figure = seed.plot(view="map")
    titles = [a.get_title() for a in figure.axes[:4]]
    assert titles == [f"TILE_K = {k}" for k in (4, 8, 16, 32)]
    shown = texts(figure)
    assert "\u2605 52.8" in shown
    assert shown.count("\u2715") == 4


def test_a_map_takes_its_rows_and_columns(seed):
    """The names given; the other parameter makes the panels."""
    figure = seed.plot(view="map", rows="TILE_K", columns="TILE_M")
    assert figure.axes[0].get_ylabel() == "TILE_K"
    assert figure.axes[0].get_title() == "TILE_N = 32"


def test_parallel_coordinates_have_a_line_for_each(seed):
    """60 lines to the measure and 4 that end before; axes only for what varies."""
    figure = seed.plot(view="parallel")
    (axes,) = figure.axes
    names = [t.get_text() for t in axes.get_xticklabels()]
    assert names[:4] == ["TILE_M", "TILE_N", "TILE_K", "registers"]
    assert "threads" not in names
    lengths = [len(line.get_xdata()) for line in axes.lines]
    assert lengths.count(len(names)) == 60
    assert lengths.count(3) == 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"x": "TILE_Q"}, "no parameter or fact 'TILE_Q'; there are M, N, K, registers"),
        ({"y": "joy"}, "no measure 'joy'; there are time"),
        ({"view": "pie"}, "no view 'pie'; there are points, map, parallel"),
        ({"view": "map", "rows": "Q"}, "no parameter 'Q'; there are M, N, K"),
    ],
)
def test_a_name_that_there_is_not_is_refused(options, words):
    """With those that there are."""
    with pytest.raises(ValueError, match=words.replace("'", ".")):
        Tuning(record()).plot(**options)


def test_without_counted_work_there_are_times_only():
    """A record that nobody counted for, and no kernel: milliseconds."""
    (axes,) = Tuning(replace(record(), work={})).plot().axes
    assert axes.get_ylabel().startswith("ms")


def test_every_view_of_a_search_without_a_right_answer_can_be_drawn(tmp_path):
    """All failed: nothing is divided by nothing."""
    data = json.loads(SEED.read_text())
    data["outcomes"] = [o for o in data["outcomes"] if "failed" in o]
    data["best"], data["ties"] = None, []
    (tmp_path / "failed.json").write_text(json.dumps(data))
    found = Tuning(read(tmp_path / "failed.json"))
    for view in ("points", "map", "parallel"):
        found.plot(view=view).draw_without_rendering()


@pytest.mark.parametrize(("low", "high"), [(0, 66.9), (2.05, 2.06), (62, 253), (1e-6, 3e-6)])
def test_ticks_are_round_and_inside(low, high):
    """Between 3 and 8 of them."""
    found = ticks(low, high)
    assert 3 <= len(found) <= 8
    assert low - 1e-12 <= found[0] < found[-1] <= high + 1e-12


def test_a_notebook_shows_every_figure_as_a_picture():
    """Without pyplot and without `%matplotlib inline`, through IPython's own formatter."""
    core = pytest.importorskip("IPython.core.formatters")
    found = open_record(SEED)
    for figure in (found.plot(), found.plot(view="map"), found.plot(view="parallel")):
        data, _ = core.DisplayFormatter().format(figure)
        assert data["image/png"].startswith(b"\x89PNG")
