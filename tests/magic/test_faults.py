"""How a faulty cell's error reads."""

from __future__ import annotations

import pydoc
import re
import sys
import traceback

import pytest
from IPython.core.interactiveshell import InteractiveShell

from phobos_nb.cuda import nvrtc
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.magic.faults import CellError
from phobos_nb.source import Source, Span
from tests.magic.shell import SCALE, Cells

SOURCE = Source("kernel k() {\n  let x = y\n}", "cell-12345678", first_line=2)
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


CALLS = {
    "scale(numpy.zeros(4), 1.0)": "PH702",
    "scale()": "PH701",
    "scale.simulate(numpy.zeros((2, 2), numpy.float32), 1.0)": "PH703",
    "scale.bind(numpy.zeros(4), 1.0)": "PH702",
    "scale.compile(chip='sm_42')": "PH408",
    "scale.specialize(WRONG=1)": "PH404",
    "phobos_nb.compile('kernel k() {\\n  let x = y\\n}')": "PH101",
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_shows_the_callers_frames_alone(cells: Cells, capsys, call: str) -> None:
    """The cell and the function in it that called are named, nothing of the compiler's own code is."""
    cells.run(f"%%phobos --quiet\n{SCALE}")
    cells.shell.run_cell(f"import numpy, phobos_nb\ndef mine():\n    {call}\nmine()")
    shown = re.sub("\x1b\\[\\d+m", "", capsys.readouterr().out)
    first, *rest = shown.split("\n\n")
    assert re.fullmatch(r"Cell In\[\d+\], line 4\n----> 4 mine\(\)", first)
    assert re.match(r"Cell In\[\d+\], line 3, in mine\n----> 3 ", rest[0])
    assert rest[1].startswith(f"error[{CALLS[call]}]: ")
    assert ".py" not in shown


def test_a_fault_of_a_cpu_call_has_no_frames_of_the_interpreter(cells: Cells, capsys) -> None:
    """A division by zero is reported at the kernel's line, below the cell's."""
    cells.run("%%phobos --quiet\nkernel k(A: tensor<i32>[N], s: i32) {\n  A[0] = 1 / s\n}")
    cells.shell.run_cell("import numpy\nk(numpy.zeros(4, numpy.int32), 0, grid=1)")
    shown = re.sub("\x1b\\[\\d+m", "", capsys.readouterr().out)
    assert shown.startswith("Cell In[")
    assert "error[PH802]" in shown
    assert " --> cell:3:14" in shown
    assert "3 |   A[0] = 1 / s" in shown
    assert ".py" not in shown


def test_a_missing_library_is_no_chain_of_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without NVRTC the error is PH601 alone: the import that failed is in its text."""
    monkeypatch.setitem(sys.modules, "cuda.bindings.nvrtc", None)
    nvrtc.library.cache_clear()
    with pytest.raises(PhobosError, match="PH601") as caught:
        nvrtc.library()
    nvrtc.library.cache_clear()
    text = "".join(traceback.format_exception(caught.value))
    assert "direct cause" not in text
    assert "another exception" not in text


def test_an_error_shows_its_first_twenty_diagnostics() -> None:
    """All of them are in `diagnostics`; the text, plain and in colour, counts those it leaves out."""
    error = PhobosError([FAULT] * 25, SOURCE)
    for text in (str(error), "\n".join(CellError(error)._render_traceback_())):
        assert text.count("PH101") == 20
        assert text.endswith("\n\nand 5 more")
    assert len(error.diagnostics) == 25


def test_help_names_the_kernel_and_its_cell(cells: Cells) -> None:
    """The digest that tells cells apart in caches is not shown."""
    cells.run(f"%%phobos --quiet\n{SCALE}")
    text = pydoc.render_doc(cells.names["scale"], renderer=pydoc.plaintext)
    assert "scale(A: tensor<f32>[N], s: f32)" in text
    assert "A Phobos kernel of a notebook cell." in text
    assert "cell-" not in text
