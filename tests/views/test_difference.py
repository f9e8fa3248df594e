"""What differs between two compilations."""

from pathlib import Path

import pytest

import phobos_nb as ph
from phobos_nb.views.difference import differences, pane

ROOT = Path(__file__).parents[2]


def test_lines_are_marked_by_whose_they_are():
    """A unified difference, with the counts in words."""
    found = pane("CUDA", ["a", "b", "c"], ["a", "x", "y", "c"])
    assert found.summary == "1 line only in A, 2 only in B"
    assert list(found.lines) == ["@@ -1,3 +1,4 @@", " a", "-b", "+x", "+y", " c"]


def test_names_that_are_only_numbered_anew_do_not_differ():
    """One value more renumbers all that follow; the lines shown are the second's own."""
    found = pane("Thread MLIR", ["%1 = a", "%2 = b %1"], ["%1 = a", "%2 = new", "%3 = b %1"])
    assert list(found.lines) == ["@@ -1,2 +1,3 @@", " %1 = a", "+%2 = new", " %3 = b %1"]
    assert pane("CUDA", ["v_12 = v_3 + 4;"], ["v_13 = v_4 + 4;"]).summary == "the same"
    assert pane("CUDA", ["v_12 = v_3 + 4;"], ["v_12 = v_3 + 5;"]).summary != "the same"


def test_equal_texts_are_said_to_be_the_same():
    """No lines at all."""
    found = pane("CUDA", ["a"], ["a"])
    assert (found.summary, found.lines) == ("the same", ())


def test_a_long_difference_is_cut_and_counted():
    """600 lines, then how many more."""
    found = pane("PTX", [f"a{i}" for i in range(500)], [f"b{i}" for i in range(500)])
    assert len(found.lines) == 601
    assert found.lines[-1] == "@ 401 more lines"


@pytest.mark.nvrtc
def test_every_stage_of_two_tile_sizes_differs():
    """All five stages; the first says which tile the operands have."""
    gemm = ph.load(ROOT / "examples" / "gemm_fp32.ph").gemm
    one, other = (gemm.compile(chip="sm_80", TILE_M=32, TILE_N=32, TILE_K=k) for k in (4, 8))
    found = {d.title: d for d in differences(one, other)}
    assert list(found) == ["Tile MLIR", "Thread MLIR", "CUDA", "PTX", "SASS"]
    assert any("tensor<32x4xf32>" in line for line in found["Tile MLIR"].lines if line[0] == "-")
    assert not any("loc(" in line for line in found["Thread MLIR"].lines)
    assert not any("/*0" in line for line in found["SASS"].lines)
    same = {d.title: d.summary for d in differences(one, one)}
    assert set(same.values()) == {"the same"}


TEXT = """
@launch(128)
kernel scale(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  Y[i * 256 :+ 256] = 2.0 * X[i * 256 :+ 256]
}
"""


@pytest.mark.nvrtc
def test_diff_tells_what_one_attribute_changed():
    """Twice the threads: one line of source, the figure of threads, half the elements per thread."""
    (one,) = ph.compile(TEXT)
    (other,) = ph.compile(TEXT.replace("@launch(128)", "@launch(256)"))
    found = ph.diff(one, other)
    assert list(found.pane("Source").lines)[-4:] == [
        "-@launch(128)",
        "+@launch(256)",
        " kernel scale(X: tensor<f32>[N], Y: tensor<f32>[N]) {",
        "   let i = ctx.block.x",
    ]
    threads = next(f for f in found.facts if f.name == "threads")
    assert (threads.one, threads.other) == ("128 (4 warps)", "256 (8 warps)")
    shown = str(found)
    assert "threads: 128 (4 warps) -> 256 (8 warps)" in shown
    assert "SASS: " in shown
    assert any(line.startswith("-") for line in found.pane("SASS").lines)


def test_a_kernel_does_not_differ_from_itself():
    """Every pane says so; the page has no script and folds nothing."""
    (kernel,) = ph.compile(TEXT)
    found = ph.diff(kernel, kernel.compile())
    assert all(f.one == f.other for f in found.facts)
    html = found._repr_html_()
    assert "<details>" not in html
    assert "<script" not in html


def test_markup_in_the_source_is_text():
    """Comments of the source are shown, not interpreted."""
    (one,) = ph.compile(TEXT)
    (other,) = ph.compile(f"// <b>&\n{TEXT}")
    html = ph.diff(one, other)._repr_html_()
    assert "+// &lt;b&gt;&amp;" in html
