"""Which boxes bulk copies can move: the rules found on an H200, each with what is told."""

import pytest

from phobos_nb.diagnostics import PhobosError
from tests.async_kernels import box_load, box_store

HALVES = ("f16", (40, 72), (16, 32))


def faults(kernel):
    """Kinds and messages of what is wrong with the copy itself."""
    return {(f.kind, f.message) for f in kernel.run().faults if f.kind != "deadlock"}


@pytest.mark.parametrize("make", [box_load, box_store])
@pytest.mark.parametrize("column", [1, 4, 7])
def test_first_coordinates(make, column):
    """Rows are entered at multiples of 16 bytes, with a swizzle or without."""
    text = f"needs a first coordinate at a multiple of 16 bytes, found byte {2 * column}"
    assert faults(make(*HALVES, (2, column))) == {("misaligned", text)}
    assert faults(make(*HALVES, (2, column), 64)) == {("misaligned", text)}


@pytest.mark.parametrize("corner", [(-3, 0), (0, -8), (-3, -8), (-40, 8)])
def test_before_the_tensor(corner):
    """A load may begin before the tensor, a store may not."""
    assert not faults(box_load(*HALVES, corner, 64))
    text = f"stores a box that begins at {list(corner)}, before the tensor"
    assert faults(box_store(*HALVES, corner, 64)) == {("out_of_bounds", text)}


@pytest.mark.parametrize("corner", [(1000000, 0), (0, 8000000), (2147483000, 0)])
def test_far_behind_the_tensor(corner):
    """Loads bring zeros from there and stores write nothing."""
    assert not faults(box_load(*HALVES, corner, 64))
    stored = box_store(*HALVES, corner, 64).run()
    assert stored.clean
    assert (stored.outputs["dst"] == 1).all()


@pytest.mark.parametrize(
    ("dtype", "extent", "gap", "box", "behind"),
    [("f16", 61, 6, 32, 6), ("i8", 83, 45, 48, 13), ("f32", 33, 12, 32, 12), ("f16", 3, 10, 8, 10)],
)
def test_ends_of_rows(dtype, extent, gap, box, behind):
    """A store over the end of a row goes on to the next multiple of 16 bytes, which is a fault."""
    size = {"f16": 2, "i8": 1, "f32": 4}[dtype]
    column = extent * size // 16 * 16 // size
    made = box_store(dtype, (40, extent), (16, box), (2, column), gap=gap)
    text = f"writes {behind} bytes behind the ends of rows of {extent * size} bytes: "
    assert faults(made) == {("out_of_bounds", text + "a store is cut off at a multiple of 16")}


def test_ends_of_rows_that_a_store_does_not_reach():
    """Inside the rows, and where no row of the tensor is, nothing is written behind them."""
    assert not faults(box_store("f16", (40, 61), (16, 32), (2, 8), gap=6))
    assert not faults(box_store("f16", (40, 61), (16, 32), (40, 32), gap=6))


@pytest.mark.parametrize("make", [box_load, box_store])
def test_rows_narrower_than_the_swizzle(make):
    """They would lie farther apart than an array of the box has room for, so the map is refused."""
    with pytest.raises(PhobosError, match="narrower than the swizzle: they would lie 128 bytes apart"):
        make(*HALVES, (2, 8), 128).run()
