"""Line numbers of a cell are those of the editor's gutter."""

from __future__ import annotations

import linecache

import pytest

from phobos_nb.magic.cell import cell_source, first_line

BODY = "kernel k() {\n\n  let x = 1\n}\n"


@pytest.mark.parametrize("above", [0, 1, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_above_the_magic_count(above: int, end: str) -> None:
    """IPython drops them before the magic sees the cell, the gutter does not (C51)."""
    raw = ("\n" * above + "%%phobos --quiet\n" + BODY).replace("\n", end)
    assert first_line(BODY.replace("\n", end), raw) == above + 2


def test_a_magic_below_another_magic_counts_its_line() -> None:
    """`%%time` above `%%phobos` is line 1."""
    assert first_line(BODY, "%%time\n%%phobos\n" + BODY) == 3


@pytest.mark.parametrize("raw", [None, "", "get_ipython().run_cell_magic('phobos', '', text)"])
def test_without_the_raw_cell_the_magic_is_line_1(raw: str | None) -> None:
    """The body of a call from Python starts at line 2, as below a magic at the top."""
    assert first_line(BODY, raw) == 2


def test_the_source_is_known_to_linecache() -> None:
    """Tracebacks and profilers find the text under its name and the gutter's number (C53)."""
    source = cell_source(BODY, "\n%%phobos\n" + BODY)
    assert linecache.getline(source.name, 5) == "  let x = 1\n"
    assert source.position(BODY.index("x")) == (5, 7)


def test_the_name_of_a_source_depends_on_its_text_alone() -> None:
    """Run again, a cell has the same name, so caches hit and saved outputs do not change."""
    assert cell_source(BODY, None).name == cell_source(BODY, "\n\n%%phobos\n" + BODY).name
    assert cell_source(BODY, None).name != cell_source(BODY + " ", None).name
