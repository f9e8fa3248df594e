"""The reason of a barrier names two lanes that meet at an element of the tile, and their lines."""

import itertools
import re

import pytest

import phobos_nb as ph
from phobos_nb.lower.layouts import blocked
from phobos_nb.lower.meetings import Lines, Meeting, Share, example, meeting
from tests.examples_cases import CASES

NAMED = re.compile(
    r"(?P<tile>.+) (?:is|are) written by lane (\d+) of warp (\d+) at line (?P<first>\d+) "
    r"and read by lane (\d+) of warp (\d+) at line (?P<then>\d+)"
)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "gemm_fp32_any",
            "a for dot is written by lane 0 of warp 0 at line 22 "
            "and read by lane 0 of warp 1 at line 24",
        ),
        (
            "softmax",
            "partial results of x are written by lane 0 of warp 0 at line 21 "
            "and read by lane 0 of warp 1 at line 21",
        ),
    ],
)
def test_lanes_and_lines_of_a_reason(name, reason):
    """The line of the load that fills the tile, the line that reads it, and who meets there."""
    case = CASES[name]
    kept = [b for b in case.load().compile(**dict(case.configurations[0])).barriers if b.kept]
    assert kept[0].reason == reason


def test_the_lanes_meet():
    """Of blocked layouts of one tile, the farthest meeting and the example are those of the elements."""
    layouts = [
        blocked((16, 32), 64, 4),
        blocked((16, 32), 64, 2, fastest=0),
        blocked((16, 32), 64, 1, cap=8),
        blocked((16, 16), 64, 1),
        blocked((3, 5), 64, 1),
    ]
    for first, second in itertools.product(layouts, repeat=2):
        once = first.replication > 1
        a = Share(first, first.axes, first.shape, once=once), Lines((40, 1))
        b = Share(second, second.axes, second.shape), Lines((40, 1))
        held = {t: set(first.elements(t)) if first.is_first(t) or not once else set() for t in range(64)}
        read = {t: set(second.elements(t)) for t in range(64)}
        pairs = [(i, j) for i in range(64) for j in range(64) if held[i] & read[j]]
        farthest = max(1 + (i != j) + (i // 32 != j // 32) for i, j in pairs)
        assert meeting(a, b) == Meeting(farthest)
        apart = [(i, j) for i, j in pairs if i // 32 != j // 32] or [(i, j) for i, j in pairs if i != j]
        assert example(a, b) == (apart[0] if apart else None)


@pytest.mark.parametrize("name", ["layer_norm", "linear_attention", "flash_attention_fp32"])
def test_two_warps_are_named_where_two_meet(name):
    """A barrier is for lanes of different warps; where a reason names lanes, they are such."""
    case = CASES[name]
    barriers = case.load().compile(**dict(case.configurations[0])).barriers
    found = [m for b in barriers if b.kept and (m := NAMED.match(b.reason))]
    assert found
    assert all(m[3] != m[6] for m in found)


@pytest.mark.parametrize(
    ("place", "barriers"), [("t :+ ROWS, h, 1, :", 0), ("t + 1 :+ ROWS, h, 0, :", 1)]
)
def test_stores_to_constant_places_apart_need_no_barrier(place, barriers):
    """The two halves of a rotated pair never meet; rows stored again one further do."""
    case = CASES["rotary"]
    text = case.path.read_text("utf-8")
    assert "Y[t :+ ROWS, h, 1, :]" in text
    kernel = ph.compile(text.replace("Y[t :+ ROWS, h, 1, :]", f"Y[{place}]")).rotary
    found = kernel.compile(**dict(case.configurations[0])).barriers
    assert len([b for b in found if b.kept and b.reason.startswith("Y is written")]) == barriers
