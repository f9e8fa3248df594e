"""How a faulty cell's error reads."""

from __future__ import annotations

import re

from IPython.core.interactiveshell import InteractiveShell

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.magic.faults import CellError
from phobos_nb.source import Source, Span

SOURCE = Source("kernel k() {\n  let x = y\n}", "cell-1234", first_line=2)
FAULT = Diagnostic("PH101", "unknown name y", Span(23, 24), help="did you mean x?")

WANTED = """error[PH101]: unknown name y
 --> cell:3:11
  |
3 |   let x = y
  |           ^
  help: did you mean x?"""


def test_the_error_names_the_cells_own_line() -> None:
    """The text has the line and column of the gutter, the source line, a caret and the help."""
    assert str(CellError(PhobosError([FAULT], SOURCE))) == WANTED


def test_the_coloured_form_says_the_same() -> None:
    """Colour is an addition: without the escape codes the two forms are one text."""
    shown = "\n".join(CellError(PhobosError([FAULT], SOURCE))._render_traceback_())
    assert re.sub("\x1b\\[\\d+m", "", shown) == WANTED
    assert "\x1b[31m^" in shown


def test_ipython_shows_no_python_frames(capsys) -> None:
    """The notebook shows the diagnostics alone."""
    shell = InteractiveShell.instance()
    shell.showtraceback((CellError, CellError(PhobosError([FAULT], SOURCE)), None))
    shown = re.sub("\x1b\\[\\d+m", "", capsys.readouterr().out)
    assert shown.strip() == WANTED
