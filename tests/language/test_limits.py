"""How large tiles and shared arrays may be."""

from __future__ import annotations

import pytest

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
