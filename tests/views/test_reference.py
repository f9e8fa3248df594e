"""The generated reference is current, and its examples do what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb import attributes, builtins
from phobos_nb.codes import CODES
from phobos_nb.diagnostics import PhobosError
from phobos_nb.views.reference import PAGES, Page, brief, pages, program

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
PHOBOS = [p for p in pages().values() if p.wrong and not p.kernel]
PYTHON = [p for p in pages().values() if p.kernel]


UNDONE = {"PH119", "PH213"}
"""What short examples leave undone: they use few parameters of the kernel around them."""


def codes_of(text: str) -> set[str]:
    """The codes of the errors, or else of the warnings and notes of checking."""
    try:
        (kernel,) = ph.compile(text)
    except PhobosError as error:
        return {d.code for d in error.diagnostics}
    return {d.code for d in kernel.typed({}).findings}


def codes_of_call(page: Page, line: str) -> set[str]:
    """The codes of what the Python example raises."""
    (kernel,) = ph.compile(page.kernel)
    try:
        exec(line, {"k": kernel, "np": np})
    except PhobosError as error:
        return {d.code for d in error.diagnostics}
    return set()


@pytest.mark.parametrize("name", PAGES)
def test_the_pages_are_current(name: str) -> None:
    """`python -m phobos_nb.views.reference docs/reference` would change nothing."""
    assert (FOLDER / name).read_text("utf-8") == PAGES[name]()


@pytest.mark.parametrize("page", PHOBOS, ids=lambda p: p.code)
def test_a_phobos_example_has_the_fault_and_the_mended_one_has_none(page: Page) -> None:
    """The wrong text gives the page's code and no other; the mended one gives nothing."""
    shared = UNDONE - {page.code}
    assert codes_of(program(page.wrong)) - shared == {page.code}
    assert codes_of(program(page.mended)) - shared == set()


@pytest.mark.parametrize("page", PYTHON, ids=lambda p: p.code)
def test_a_python_example_has_the_fault_and_the_mended_one_has_none(page: Page) -> None:
    """The wrong line raises the page's code and no other; the mended one runs."""
    assert codes_of_call(page, page.wrong) == {page.code}
    assert codes_of_call(page, page.mended) == set()


def test_every_code_has_a_page() -> None:
    """Codes and pages are the same set, and each page says something beyond the title."""
    assert set(pages()) == set(CODES)
    assert all(page.means != CODES[code] for code, page in pages().items())


def test_the_short_form_names_everything() -> None:
    """Every built-in and attribute stands in the help of the cell magic."""
    words = brief().replace("(", " ").replace(":", " ").split()
    assert set(builtins.table()) <= set(words)
    assert {f"@{name}" for name in attributes.table()} <= set(words)
