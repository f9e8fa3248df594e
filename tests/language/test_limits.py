"""How large tiles and shared arrays may be."""

from __future__ import annotations

import pytest

import phobos_nb as ph
from tests.language.programs import body_errors, errors, failure


@pytest.mark.parametrize("threads", [32, 256, 1024])
def test_a_tile_has_at_most_512_elements_a_thread(threads: int) -> None:
    """512 elements a thread are taken; twice as many are PH208 at the first tile of that shape."""
    text = "@launch({})\nkernel k(x: tensor<f32>[N]) {{\nx[0 :+ {}] = x[1 :+ {}] + 1.0\n}}"
    most = 512 * threads
    assert errors(text.format(threads, most, most)) == []
    assert errors(text.format(threads, 2 * most, 2 * most)) == [("PH208", 3, 12 + len(str(2 * most)))]


def test_the_size_and_the_limit_are_named() -> None:
    """The message says how many elements and how many are allowed."""
    error = failure("kernel k(x: tensor<f32>[N]) {\nx[0 :+ 1073741824] = 0.0\n}")
    assert error is not None
    assert "1073741824 elements" in str(error)
    assert "at most 131072" in str(error)


def test_intermediate_tiles_count() -> None:
    """A column stretched along a row is as large as what it makes."""
    column = "let c = A[0 :+ 1024, 0 :+ 1] + x[0 :+ 1024]\nA[0 :+ 1024, 0 :+ 1] = rowsum(c)"
    assert body_errors(column) == [("PH208", 2, 9)]


def test_shared_arrays_have_a_size() -> None:
    """A shared array that no GPU has room for is refused where it is declared."""
    assert body_errors("var s: shared<i8>[232448]\ns[0] = 1") == []
    assert body_errors("var s: shared<f32>[1073741824]\ns[0] = 1.0") == [("PH510", 2, 5)]


@pytest.mark.parametrize(
    ("chip", "said"),
    [
        (None, "no GPU allows more than 232448 per CTA"),
        ("sm_75", "sm_75 allows 65536 per CTA"),
        ("sm_90", "sm_90a allows 232448 per CTA"),
    ],
)
def test_the_limit_is_that_of_the_chip(chip: str | None, said: str) -> None:
    """Where a chip was asked for, the message of PH510 has its own limit."""
    text = "kernel k(x: tensor<f32>[N]) {\n  var s: shared<f32>[80000]\n  s[0] = x[0]\n}"
    with pytest.raises(ph.PhobosError) as caught:
        ph.compile(text, chip=chip)
    (found,) = caught.value.diagnostics
    assert found.code == "PH510"
    assert found.message == f"`s` takes 320000 bytes of shared memory, {said}"
