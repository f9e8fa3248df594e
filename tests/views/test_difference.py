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
    same = {d.title: d.summary for d in differences(one, one)}
    assert set(same.values()) == {"the same"}
