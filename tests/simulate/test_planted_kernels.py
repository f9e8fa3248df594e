"""`compare` on faults in the text of whole kernels: the kind of every one is told."""

import pytest

from tests.simulate.planted_kernels import OPEN, TOLD


@pytest.mark.parametrize("name", TOLD)
def test_the_kind_of_a_planted_fault_is_told(name):
    """The right answer given as a function, all kinds are exactly what was planted."""
    found = TOLD[name].differences(function=True)
    assert found, "nothing differs"
    assert {difference.kind for difference in found} == {TOLD[name].kind}, "\n".join(map(str, found))


@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_told_is_called_a_wrong_operation(name):
    """Without a better explanation the diagnosis says so, and that the source means these values."""
    (found,) = OPEN[name].differences(function=True)
    assert found.kind == "wrong operation"
    assert "what the source means" in found.explanation


def test_arrays_tell_a_tail_of_the_reduction():
    """A k loop that leaves out its tail is told from arrays too: the end of A has no influence."""
    (found,) = TOLD["the k loop leaves out its tail"].differences(function=False)
    assert found.kind == "tail"
    assert "along axis 1 of A" in found.explanation or "outside" in found.explanation
