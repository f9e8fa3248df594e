"""A few programs of each kind in every run of the tests; `make mutations` takes many."""

import re

import pytest

from tests.examples_cases import CASES
from tests.fuzz.barriers import compiled, examine
from tests.fuzz.sharing import sharing_program

QUICK = {2: "sm_75", 3: "sm_80", 9: "sm_90a", 21: "sm_75", 27: "sm_80"}
"""Seeds of small programs with loops, windows and CTAs of one warp."""

LANE = r"by lane \d+ of warp \d+"
IS = r"(?P<name>.+) (is|are)"
DONE = r"(read|written|updated atomically)"
TURN = r"( in the next iteration of the loop at line \d+)?"
SENTENCES = {
    True: (
        rf"{IS} {DONE} {LANE} at line \d+ and {DONE} {LANE} at line \d+{TURN}"
        r"(, always in one warp)?",
        rf"{IS} {DONE} {LANE} at line \d+ and .+ (is|are) {DONE}, in the same bytes, "
        rf"{LANE} at line \d+{TURN}(, always in one warp)?",
        rf"{IS} {DONE} at line \d+, (each lane|by lane 0).*, and {DONE} at line \d+{TURN}, "
        r"(each lane|by lane 0).*: one lane may meet what is another's",
        r"barrier\(\) in the source",
    ),
    False: (
        rf"{IS} {DONE} at line \d+ and ({DONE}|.+ (is|are) {DONE}, in the same bytes,) "
        rf"at line \d+{TURN}: "
        r"(each lane meets only its own elements again|no element is touched by both)",
    ),
}


@pytest.mark.parametrize("seed", QUICK)
def test_barriers_of_generated_programs(seed):
    """Clean in every order; each deleted one is reported, elided ones change nothing, none too many."""
    assert examine(seed, QUICK[seed]).problems == []


def test_a_seed_gives_one_program():
    """The same text and arrays every time."""
    for seed in range(5):
        one, two = sharing_program(seed), sharing_program(seed)
        assert one.text == two.text
        for a, b in zip(one.launches, two.launches, strict=True):
            assert all(str(a[name]) == str(b[name]) for name in a)


def barriers_of_programs():
    """Examples in their first configuration and forty generated programs."""
    for case in CASES.values():
        yield case.load().compile(**dict(case.configurations[0])).barriers
    for seed in range(20):
        yield compiled(sharing_program(seed), "sm_80").barriers


def test_every_reason_is_a_sentence_of_ours():
    """Each names a variable, who touches it how, and the lines; none speaks of "a tile"."""
    for barriers in barriers_of_programs():
        for barrier in barriers:
            found = [re.fullmatch(s, barrier.reason) for s in SENTENCES[barrier.kept]]
            matches = [m for m in found if m]
            assert matches, barrier
            assert "line 0" not in barrier.reason
            assert all(m.groupdict().get("name", "x") not in ("a tile", "a tensor", "") for m in matches)
