"""`compare` on faults in the text of whole kernels: the kind of every one is told."""

import pytest

from tests.simulate.planted_kernels import TOLD


@pytest.mark.parametrize("name", TOLD)
def test_the_kind_of_a_planted_fault_is_told(name):
    """The right answer given as a function, all kinds are exactly what was planted."""
    found = TOLD[name].differences(function=True)
    assert found, "nothing differs"
    assert {difference.kind for difference in found} == {TOLD[name].kind}, "\n".join(map(str, found))


def test_arrays_tell_a_tail_of_the_reduction():
    """A k loop that leaves out its tail is told from arrays too, at its line."""
    (found,) = TOLD["the k loop leaves out its tail"].differences(function=False)
    assert found.kind == "tail"
    assert found.explanation.startswith("line 21: right with `K` in place of `K - TILE_K + 1`")
