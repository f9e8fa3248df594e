"""`%%phobos` in a real IPython shell."""

from __future__ import annotations

import numpy as np
import pytest
from IPython.core.error import UsageError

from phobos_nb.diagnostics import PhobosError
from phobos_nb.magic.faults import CellError
from tests.magic.shell import SCALE, Cells


def test_a_kernel_of_a_cell_is_a_python_name(cells: Cells) -> None:
    """The kernel runs on NumPy arrays and writes into them."""
    cells.run(f"%%phobos --quiet\n{SCALE}")
    array = np.arange(5, dtype=np.float32)
    cells.names["scale"](array, 2.0)
    assert array.tolist() == [0, 2, 4, 6, 8]


def test_quiet_shows_nothing(cells: Cells) -> None:
    """`--quiet` defines the kernel without output."""
    assert cells.run(f"%%phobos --quiet\n{SCALE}") == []


def test_quiet_shows_warnings(cells: Cells) -> None:
    """A misspelled attribute is reported whether or not the compilation is shown, as is a lost name."""
    cells.names["scale"] = 1
    (shown,) = cells.run(f"%%phobos --quiet\n@lunch(256)\n{SCALE}")
    lines = shown.data["text/plain"].split("\n")
    assert [line.partition(": ")[2].partition(": ")[0] for line in lines] == [
        "warning (line 2)",
        "warning",
    ]
    assert "lunch" in lines[0]
    assert "held a value of type int" in lines[1]


BAD = ["let q = nowhere", "", "let i = 1", "", "let r = nowhere", "let s = 2", "let t = nowhere"]


@pytest.mark.parametrize("above", [0, 1, 3])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_errors_have_the_lines_of_the_gutter(cells: Cells, above: int, end: str) -> None:
    """Faults on body lines 2, 6 and 8 are reported together, at the lines the editor shows (C51)."""
    body = ["kernel k(A: tensor<f32>[N]) {", *(f"  {line}" for line in BAD), "}"]
    error = cells.fail(end.join([*[""] * above, "%%phobos", *body]))
    assert isinstance(error, CellError)
    assert error.source is not None
    places = [error.source.position(d.span.start) for d in error.diagnostics if d.span]
    assert places == [(above + n, 11) for n in (3, 7, 9)]
    assert f"cell:{above + 3}:11" in str(error)


def test_a_faulty_cell_raises_and_defines_nothing(cells: Cells) -> None:
    """One bad kernel of two: the cell raises and the good one is not defined either."""
    error = cells.fail(f"%%phobos --quiet\n{SCALE}\nkernel bad() {{ nowhere() }}")
    assert isinstance(error, PhobosError)
    assert "scale" not in cells.names


def test_a_comment_of_python_is_explained(cells: Cells) -> None:
    """`#` inside a cell suggests `//` (C52)."""
    error = cells.fail(f"%%phobos\n# NBVAL_SKIP\n{SCALE}")
    assert "//" in str(error)


def test_the_last_definition_wins_and_the_old_kernel_works(cells: Cells) -> None:
    """Two kernels in one cell; a second cell redefines one with another signature."""
    cells.run(f"%%phobos --quiet\n{SCALE}\n{SCALE.replace('scale', 'other')}")
    old = cells.names["scale"]
    cells.run("%%phobos --quiet\n" + SCALE.replace(", s: f32", "").replace("* s", "* 10.0"))
    one, two = np.ones(2, dtype=np.float32), np.ones(2, dtype=np.float32)
    old(one, 2.0)
    cells.names["scale"](two)
    assert (one.tolist(), two.tolist()) == ([2, 2], [10, 10])
    assert cells.names["other"] is not old


def test_run_takes_variables_by_the_parameters_names(cells: Cells) -> None:
    """`--run` calls the kernel with the notebook's variables `A` and `s`."""
    cells.names.update(A=np.ones(2, dtype=np.float32), s=5.0)
    cells.run(f"%%phobos --quiet --run\n{SCALE}")
    assert cells.names["A"].tolist() == [5, 5]
    del cells.names["s"]
    assert "there is no s" in str(cells.fail(f"%%phobos --quiet --run\n{SCALE}"))


@pytest.mark.parametrize(
    "line", ["--nothing", "-D TILE", "-D TILE=many", "--show ptx,nothing", "--index-bits x"]
)
def test_a_wrong_option_is_a_usage_error(cells: Cells, line: str) -> None:
    """One line, no traceback."""
    assert isinstance(cells.fail(f"%%phobos {line}\n{SCALE}"), UsageError)


def test_the_help_of_the_magic_shows_the_tables(cells: Cells) -> None:
    """`%%phobos?` names every built-in and attribute once, below the options."""
    text = cells.shell.magics_manager.magics["cell"]["phobos"].__doc__
    assert text.index("--debug") < text.index("Built-ins") < text.index("Attributes")
    assert text.count("rowargmax") == 1
    assert "@launch(threads" in text


def test_dtypes_and_bools_are_values_too(cells: Cells) -> None:
    """`-D T=f32 ON=true` fix a dtype and a flag."""
    text = (
        "kernel g<T: dtype = f16, ON: bool = false>(X: tensor<T>[N]) { if ON { X[ctx.block.x] = 1.0 } }"
    )
    cells.run(f"%%phobos --quiet -D T=f32 ON=true\n{text}")
    x = np.zeros(3, np.float32)
    cells.shell.user_ns["g"](x)
    assert x.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("options", ["", " --quiet"])
def test_a_cell_of_comments_says_that_it_has_no_kernel(cells: Cells, options: str) -> None:
    """Nothing is defined, and the cell tells why, quiet or not."""
    (shown,) = cells.run(f"%%phobos{options}\n// to be written\n")
    assert shown.data["text/plain"] == "no kernel in this text"
