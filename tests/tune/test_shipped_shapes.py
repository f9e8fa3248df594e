"""results/h200_shapes.json: 8 GEMM shapes tuned together on a card, 8 others dispatched, recomputed."""

import json
from pathlib import Path

import pytest

from phobos_nb.compilation.dispatch_table import DispatchTable
from phobos_nb.tune.outcome import label
from phobos_nb.tune.pick import pick

STATED = json.loads((Path(__file__).parents[2] / "results" / "h200_shapes.json").read_text("utf-8"))
TABLE = DispatchTable.from_json(json.dumps(STATED["table"]))
TIMES = {tuple(sorted(t["extents"].items())): t["ms"] for t in STATED["times"]}


def times_at(extents):
    return TIMES[tuple(sorted(extents.items()))]


@pytest.mark.parametrize("row", STATED["held_out"], ids=lambda r: f"{r['M']}x{r['N']}x{r['K']}")
def test_a_held_out_shape_is_within_a_tenth_of_its_own_winner(row):
    """The table never saw it: what it sends there, over the best of an exhaustive search there."""
    extents = {n: row[n] for n in "MNK"}
    assert all(dict(p.extents) != extents for p in TABLE.points)
    times = times_at(extents)
    chosen = label(TABLE.choose(extents))
    assert chosen == row["chosen"]
    behind = times[chosen] / min(times.values()) - 1
    assert behind <= 0.10
    assert behind == pytest.approx(row["behind"], abs=0.002)


def test_the_set_is_the_one_with_least_regret():
    """Picked again from the times at the tuned shapes: the same mean regret with as many members."""
    rows = [times_at(p.extents) for p in TABLE.points]
    names = sorted({name for row in rows for name in row})
    found = pick([[row.get(n) for n in names] for row in rows], [p.weight for p in TABLE.points], 4)
    assert len(found) == len(TABLE.members)
    regrets = [
        min(row[names[i]] for i in found if names[i] in row) / min(row.values()) - 1 for row in rows
    ]
    assert sum(regrets) / len(regrets) == pytest.approx(STATED["mean_regret"], abs=0.001)


def test_calls_of_held_out_shapes_compiled_nothing():
    """Neither in the session that tuned nor in a new one, once its first call had loaded the table."""
    during = STATED["compiled_during_calls"]
    assert during["tuning session"] == 0
    assert during["new session"]["compiled"] == 0
