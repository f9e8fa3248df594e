"""The records in results/records: every bundled kernel, measured on a card, replayed without one."""

from pathlib import Path

import pytest

import phobos_nb as ph
from phobos_nb.tune.outcome import Failed, Kind, label
from phobos_nb.tune.records import Record, read
from phobos_nb.tune.replay import open_record, replay
from phobos_nb.tune.search import Plan
from phobos_nb.views.display import show_tuning
from tools.guided_search import kernel_of

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "results" / "records").glob("*.json"))


def records() -> dict[str, Record]:
    """All of them, by file name."""
    return {path.stem: read(path) for path in FILES}


def test_every_bundled_kernel_has_a_record():
    """By the meaning of its text; an example that has changed since counts as missing."""
    examples = {path.stem for path in (ROOT / "examples").glob("*.ph")}
    found = {kernel_of(record) for record in records().values()}
    assert {known[0] for known in found if known is not None} == examples


def test_together_they_are_small():
    """What everybody clones."""
    assert sum(path.stat().st_size for path in FILES) < 1_000_000


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_record_replays_and_names_its_card_and_date(path):
    """Read, shown and searched again without a GPU: winner, card, date, in text and html alike."""
    record = read(path)
    assert record.best is not None
    assert record.stopped == ""
    assert record.checked == "the given reference"
    failures = [o for o in record.outcomes.values() if isinstance(o, Failed)]
    assert {f.kind for f in failures} <= {Kind.CONSTRAINT}
    shown = show_tuning(open_record(path))
    again = replay(record, plan=Plan(rounds=15))
    for text in (*shown.values(), *show_tuning(again).values()):
        assert "NVIDIA H200" in text
        assert record.date in text
        assert "recorded" in text
    assert again.best in (dict(record.best), *(dict(record.outcomes[n].constants) for n in record.ties))
    assert label(record.best) in record.outcomes


def test_the_widget_names_card_and_date():
    """The state that the browser is sent."""
    pytest.importorskip("anywidget")
    widget = ph.AutotuneWidget(open_record(FILES[0]))
    record = read(FILES[0])
    assert record.date in str(widget.get_state())
    assert "NVIDIA H200" in str(widget.get_state())
