"""What a notebook shows of a comparison: the wrong element, why, and the lines of the source."""

from __future__ import annotations

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.simulate.difference import Differences
from phobos_nb.views.comparison import view_of
from phobos_nb.views.comparison_html import page
from phobos_nb.views.display import show_comparison
from tests.simulate.planted_texts import KERNELS
from tests.simulate.planted_users import SETS


@pytest.fixture(scope="module")
def wrong() -> Differences:
    """A bias that is added by rows."""
    return SETS["first"]["bias by rows"].differences(function=False)


@pytest.fixture(scope="module")
def raced() -> Differences:
    """A barrier that is missing, on a schedule that gives the right values."""
    return SETS["first"]["no barrier before the products"].differences(function=False)


def test_the_change_stands_below_its_line(wrong: Differences) -> None:
    """The source as written and as it should be, line below line."""
    html = page(view_of(wrong))
    before, after = html.index("<span class='change'>-  11"), html.index("<span class='new'>+")
    assert before < after
    assert "tmax(acc + B[j :+ 32], 0.0)" in html[after:]


def test_who_stored_the_element_is_a_row_of_facts(wrong: Differences) -> None:
    """Element, both values, CTA, thread, line and step."""
    html = page(view_of(wrong))
    for name, value in (
        ("first wrong element", "Y[0, 33]"),
        ("stored by CTA", "0, 1, 0"),
        ("line", "11"),
    ):
        assert f"<dt>{name}</dt><dd>{value}</dd>" in html
    assert f"<dt>step of its CTA</dt><dd>{wrong[0].step}</dd>" in html


def test_lines_far_apart_are_shown_with_a_gap(raced: Differences) -> None:
    """Both lines of a race are marked, and only what is around them is shown."""
    (view,) = view_of(raced).differences
    assert [line.number for line in view.source if line.mark] == [11, 14]
    assert {line.number for line in view.source} == set(range(9, 17))


def test_right_values_with_a_race_are_no_agreement(raced: Differences) -> None:
    """The head says both, in text and in html."""
    bundle = show_comparison(raced)
    assert "C right, but a race was seen" in bundle["text/html"]
    assert bundle["text/plain"].startswith("C right, but a race was seen\nthe values agree")


def test_an_agreement_is_one_line() -> None:
    """Nothing but which tensors are right."""
    case = KERNELS["sincos"]
    kernel = ph.compile(case.text)["sincos"]
    found = kernel.compare(**case.arguments(np.random.default_rng(1)), ref=case.right)
    assert repr(found) == "S, C right"
    assert "<section>" not in page(view_of(found))


def test_text_of_the_source_is_escaped(wrong: Differences) -> None:
    """Nothing of a kernel's text is taken for html."""
    wrong.source = ("x" * 3 + "\n" * 10 + "if a < b { <script> }", 1)
    html = page(view_of(wrong))
    assert "<script>" not in html
