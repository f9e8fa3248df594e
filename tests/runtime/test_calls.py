"""Kernels as users hold them, on NumPy arrays: calls, binding, modules, errors."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph

EXAMPLES = Path(__file__).parents[2] / "examples"
TWO = """
@autotune(TILE in [32, 64])
kernel twice(X: tensor<f32>[N]) {
  let i = ctx.block.x * TILE
  X[i :+ TILE] = 2.0 * X[i :+ TILE]
}
@autotune(WIDTH in [32, 64])
kernel fill(X: tensor<f32>[N], value: f32) {
  X[ctx.block.x * WIDTH :+ WIDTH] = value
}
"""


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def saxpy():
    return ph.load(EXAMPLES / "saxpy_fp32.ph").saxpy


def test_gemm_on_numpy_arrays():
    """A call computes into C in place and returns nothing; keywords name parameters."""
    gemm = ph.load(EXAMPLES / "gemm_fp32.ph").gemm
    a, b, c = normal(64, 32), normal(32, 96), normal(64, 96)
    wanted = 1.5 * a.astype("f8") @ b - 0.5 * c
    assert gemm(a, b, c, alpha=1.5, beta=-0.5) is None
    np.testing.assert_allclose(c, wanted, atol=1e-4)


def test_ragged_sizes_and_strides():
    """C14, C15: transposed and broadcast inputs are read at their strides."""
    transpose = ph.load(EXAMPLES / "transpose.ph").transpose
    base = np.array([[1, 3], [2, 4]], np.float32)
    out = np.zeros((2, 2), np.float32)
    transpose(base.T, out)
    np.testing.assert_array_equal(out, base)
    x, y = np.broadcast_to(np.ones(1, np.float32), (1000,)), np.zeros(1000, np.float32)
    saxpy()(x, y, 1.0)
    np.testing.assert_array_equal(y, np.ones(1000))


def test_empty_calls():
    """C11: n = 0 does nothing, before and after a call with elements; K = 0 scales C."""
    run = saxpy()
    empty = np.zeros(0, np.float32)
    run(empty, empty.copy(), 2.0)
    y = np.ones(8, np.float32)
    run(np.ones(8, np.float32), y, 2.0)
    run(empty, empty.copy(), 2.0)
    np.testing.assert_array_equal(y, np.full(8, 3.0))
    c = np.ones((64, 64), np.float32)
    zero = np.zeros((64, 0), np.float32)
    ph.load(EXAMPLES / "gemm_fp32.ph").gemm(zero, zero.T.copy(), c, 1.0, 0.5)
    np.testing.assert_array_equal(c, np.full((64, 64), 0.5))


def test_same_array_for_x_and_y():
    """C20: saxpy in place gives a*y + y; a shifted view of the same buffer raises."""
    y = normal(1000)
    wanted = 2 * y + y
    saxpy()(y, y, 2.0)
    np.testing.assert_array_equal(y, wanted)
    with pytest.raises(ValueError, match="X and Y overlap"):
        saxpy()(y[:-1], y[1:], 2.0)


def test_broken_promise_raises_before_anything_runs():
    """@aligned: a ragged extent is named with the multiple, and C keeps its values."""
    gemm = ph.load(EXAMPLES / "gemm_fp32.ph", TILE_M=32).gemm
    c = normal(33, 32)
    kept = c.copy()
    with pytest.raises(ValueError, match="M = 33 is not a multiple of 32"):
        gemm(normal(33, 8), normal(8, 32), c, 1.0, 0.0)
    np.testing.assert_array_equal(c, kept)


def test_binding_checks_once_and_reads_the_arrays_anew():
    """A bound call takes nothing and sees what the arrays hold when it is called."""
    x, y = normal(100), np.zeros(100, np.float32)
    run = saxpy().bind(x, y, 1.0)
    assert "saxpy.bind" in repr(run)
    run()
    x[:] = 1
    run()
    np.testing.assert_array_equal(y, normal(100) + 1)
    with pytest.raises(TypeError, match="X: wanted"):
        saxpy().bind(x.astype("f8"), y, 1.0)


def test_modules_hold_kernels_by_name():
    """Attributes, brackets, iteration; an unknown name lists the known ones."""
    module = ph.compile(TWO, name="two.ph", TILE=64)
    assert [k.name for k in module] == ["twice", "fill"]
    assert module["fill"] is module.fill
    assert "twice" in dir(module)
    with pytest.raises(AttributeError, match="no kernel 'thrice'; there are: twice, fill"):
        _ = module.thrice
    assert module.twice.signature == "twice(X: tensor<f32>[N])"
    assert "0x" not in repr(module) + repr(module.twice)


def test_constants_go_to_the_kernels_that_know_them():
    """TILE is twice's alone; a name that no kernel has is an error."""
    module = ph.compile(TWO, TILE=64)
    assert module.twice.options.constants == {"TILE": 64}
    assert module.fill.options.constants == {}
    with pytest.raises(ph.PhobosError, match="WIDHT"):
        ph.compile(TWO, WIDHT=64)


def test_same_text_and_options_give_the_same_kernels():
    """A cell run again finds its kernels, compilations and plans as they were."""
    assert ph.compile(TWO, TILE=64).twice is ph.compile(TWO, TILE=64).twice
    assert ph.compile(TWO, TILE=32).twice is not ph.compile(TWO, TILE=64).twice


def test_arrays_on_no_known_place_are_refused():
    """A list is no array: the message names the parameter."""
    with pytest.raises(TypeError, match="Y: wanted tensor<f32>"):
        saxpy()(normal(3), [1.0, 2.0, 3.0], 1.0)


def test_a_constant_in_a_call_says_where_it_belongs():
    """Tuning names are set before a call; the error has the words."""
    twice = ph.compile(TWO).twice
    with pytest.raises(TypeError, match="has no parameter TILE") as caught:
        twice(np.ones(4, np.float32), TILE=64)
    assert "`twice.specialize(TILE=64)` is the kernel with it" in str(caught.value)
    with pytest.raises(TypeError, match="its parameters: X"):
        twice(np.ones(4, np.float32), TAIL=64)
