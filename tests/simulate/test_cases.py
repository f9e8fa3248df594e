"""Cases that users of other kits hit: grid orders, views as arguments, masked parts of tiles."""

import numpy as np
import pytest

import phobos_nb as ph

COPY = """
@autotune(TM in [8], TN in [8])
kernel copy(A: tensor<f32>[M, N], B: tensor<f32>[M, N]) {
    let i = ctx.block.y * TM
    let j = ctx.block.x * TN
    B[i :+ TM, j :+ TN] = A[i :+ TM, j :+ TN]
}
"""
SAXPY = """
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
    let i = ctx.block.x * 256
    Y[i :+ 256] = a * X[i :+ 256] + Y[i :+ 256]
}
"""


def copy(**constants):
    return ph.compile(COPY, chip="sm_80").copy.specialize(**constants)


@pytest.mark.parametrize("columns", [16, 24, 32])
@pytest.mark.parametrize("order", ["given", "reversed", "shuffled"])
def test_every_block_is_written_in_every_order(columns, order):
    """Three and more blocks along an axis: no NaN is left, whatever the order of the CTAs."""
    numbers = list(range(columns // 8))
    if order == "reversed":
        numbers.reverse()
    elif order == "shuffled":
        np.random.default_rng(1).shuffle(numbers)
    a = np.random.default_rng(0).standard_normal((8, columns)).astype(np.float32)
    result = copy().simulate(a, np.full_like(a, np.nan), ctas=numbers)
    assert result.clean
    assert (result.outputs["B"] == a).all()


@pytest.mark.parametrize(("extent", "tile", "masked"), [(1001, 32, 23), (296, 128, 88), (1000, 128, 24)])
def test_masked_columns_of_the_last_tile(extent, tile, masked):
    """The last tile of 1001 columns in tiles of 32 has 9 live and 23 masked ones, and so on."""
    a = np.ones((8, extent), np.float32)
    result = copy(TN=tile).simulate(a, np.zeros_like(a))
    assert result.clean
    for kind in ("load", "store"):
        accesses = [r for r in result.accesses if r.kind == kind]
        assert sum(r.elements for r in accesses) == 8 * extent
        assert sum(r.masked for r in accesses) == 8 * masked


def test_a_broadcast_array_is_read_in_bounds():
    """An operand of stride 0 has 4 bytes; only those are read."""
    x, y = np.broadcast_to(np.ones(1, np.float32), (1000,)), np.zeros(1000, np.float32)
    result = ph.compile(SAXPY, chip="sm_80").saxpy.simulate(x, y, 1.0)
    assert result.clean
    assert (result.outputs["Y"] == 1).all()


def test_an_array_passed_twice():
    """X is Y: the same memory, so y = 2 y + y."""
    y = np.arange(1000, dtype=np.float32)
    result = ph.compile(SAXPY, chip="sm_80").saxpy.simulate(y, y, 2.0)
    assert result.clean
    assert (result.outputs["Y"] == 3 * y).all()


@pytest.mark.parametrize("shift", [0, 1])
def test_a_sliced_base(shift):
    """1024 elements from base + 4 bytes: right, and every warp touches one line more."""
    base = np.arange(1025, dtype=np.float32)
    x, y = base[shift : 1024 + shift], np.zeros(1024, np.float32)
    result = ph.compile(SAXPY, chip="sm_80").saxpy.simulate(x, y, 1.0)
    assert result.clean
    assert (result.outputs["Y"] == x).all()
    reads = [r for r in result.accesses if r.kind == "load" and r.tensor == "X"]
    assert (sum(r.lines for r in reads) > sum(r.fewest_lines for r in reads)) == bool(shift)
