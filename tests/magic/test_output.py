"""What a `%%phobos` cell shows."""

from __future__ import annotations

import numpy as np
import pytest

from tests.magic.shell import SCALE, Cells


def test_a_cell_shows_text_and_html(cells: Cells) -> None:
    """Both forms name the kernel; the text has no memory address."""
    (shown,) = cells.run(f"%%phobos --chip sm_75\n{SCALE}")
    assert shown.data["text/plain"].startswith("scale(A: tensor<f32>[N], s: f32)\n  target sm_75 ")
    assert shown.data["text/html"].startswith("<div class='ph'>")
    assert "0x" not in shown.data["text/plain"]


def test_a_cell_run_again_shows_the_same(cells: Cells) -> None:
    """The second run of a cell has the output of the first, and its kernel works (C54)."""
    first, again = (cells.run(f"%%phobos\n{SCALE}")[0].data for _ in range(2))
    assert first == again
    array = np.ones(3, dtype=np.float32)
    cells.names["scale"](array, 3.0)
    assert array.tolist() == [3, 3, 3]


def test_show_opens_the_panes_it_names(cells: Cells) -> None:
    """`--show ptx,smem` opens these two and no other."""
    (shown,) = cells.run(f"%%phobos --show ptx,smem\n{SCALE}")
    html = shown.data["text/html"]
    assert html.count("<details open>") == 2
    for title in ("PTX", "Shared memory"):
        assert f"<details open><summary>{title}</summary>" in html


@pytest.mark.parametrize(
    ("name", "says"), [("x", "x held a value of type int"), ("print", "`del print`")]
)
def test_taking_a_name_that_is_no_kernel_warns(cells: Cells, name: str, says: str) -> None:
    """The kernel replaces the name, and the cell says so."""
    cells.names["x"] = 3
    (shown,) = cells.run("%%phobos\n" + SCALE.replace("scale", name))
    assert says in shown.data["text/plain"]
    assert cells.names[name].name == name


def test_python_values_reach_the_option_line(cells: Cells) -> None:
    """`-D T={tile}` and `$tile` take a Python variable's value."""
    kernel = SCALE.replace("256", "T").replace("kernel", "@autotune(T in [64, 256])\nkernel")
    cells.names["tile"] = 128
    for line in ("-D T={tile}", "-D T=$tile", "--define T=0x80"):
        cells.run(f"%%phobos --quiet {line}\n{kernel}")
        assert cells.names["scale"].compile().typed.constants["T"] == 128


def test_a_compilation_shows_itself_without_the_magic(cells: Cells) -> None:
    """`import phobos_nb as ph` is enough: a compilation shows its page, a plan its picture."""
    cells.names["text"] = SCALE
    formatter = cells.shell.display_formatter.mimebundle_formatter
    formatter.type_printers.clear()
    formatter.deferred_printers.clear()
    cells.run("import phobos_nb as ph\nc = ph.compile(text).scale.compile(chip='sm_75')")
    (page,) = cells.run("display(c)")
    assert page.data["text/html"].startswith("<div class='ph'>")
    assert page.data["text/plain"].startswith("scale(A: tensor<f32>[N], s: f32)\n")
    (plan,) = cells.run("display(c.shared_memory)")
    assert plan.data["text/plain"] == "Shared memory: no shared memory"


def test_a_simulation_is_shown_in_a_few_lines(cells: Cells) -> None:
    """How much ran, what was found, and the outputs' shapes; no contents."""
    cells.run(f"%%phobos --quiet\n{SCALE}")
    result = cells.shell.run_cell(
        "import numpy; scale.simulate(numpy.ones(256, numpy.float32), 2.0)"
    ).result
    lines = repr(result).split("\n")
    assert lines[0] == f"simulated 1 CTA, {result.instructions} operations"
    assert lines[-1] == "A: float32[256]"
    assert len(lines) < 6
