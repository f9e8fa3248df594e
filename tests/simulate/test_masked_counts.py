"""Masked elements: what accesses name outside their tensors, in every form of access."""

import numpy as np

import phobos_nb as ph

KERNELS = ph.compile(
    """
@launch(64)
kernel far(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 64 + ctx.thread
  Y[i] = X[i] + X[i + 1000000]
}

@launch(64)
kernel chosen(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 64 + ctx.thread
  if i < N { Y[i] = X[i] }
  if ctx.thread < 10 { Y[i] = 2.0 * X[i] }
}

@launch(64)
kernel once(Y: tensor<f32>[N], AT: i32) { Y[AT] = 1.0 }

@launch(64)
kernel halves(X: tensor<f32>[N], Y: tensor<f32>[1]) {
  var s: shared<f32>[64]
  let t = ctx.thread
  s[t] = X[t]
  barrier()
  if t < 32 { s[t] = s[t] + s[t + 32] }
  barrier()
  if t == 0 { Y[0] = s[0] }
}

@launch(64)
kernel bins(X: tensor<i32>[N], H: tensor<i32>[64]) {
  let i = ctx.block.x * 64 + ctx.thread
  if i < N { atomic_add(H, X[i], 1) }
}

@launch(64)
kernel tiles(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let first = ctx.block.x * 128
  Y[first :+ 128] = X[first :+ 128]
}
"""
)


def masked(result):
    return [(a.kind, a.tensor, a.elements, a.masked) for a in result.accesses]


def test_lanes_outside_the_tensor_are_masked():
    """Single elements: 20 lanes of the last CTA; an access that is outside as a whole has its row."""
    x = np.ones(300, np.float32)
    result = KERNELS.far.simulate(x, np.zeros_like(x), grid=5)
    assert masked(result) == [("load", "X", 300, 20), ("load", "X", 0, 320), ("store", "Y", 300, 20)]
    assert result.masked == 360


def test_lanes_that_the_author_leaves_out_are_not():
    """Lanes off by a condition of the text name no element, whatever else the condition guards."""
    x = np.ones(300, np.float32)
    result = KERNELS.chosen.simulate(x, np.zeros_like(x), grid=5)
    assert result.masked == 0
    assert KERNELS.halves.simulate(x, np.zeros(1, np.float32)).masked == 0


def test_what_happens_once_is_one_element():
    """A store once per CTA leaves nothing out inside its tensor, one element outside."""
    y = np.zeros(8, np.float32)
    assert KERNELS.once.simulate(y, 3, grid=1).masked == 0
    assert masked(KERNELS.once.simulate(y, 9, grid=1)) == [("store", "Y", 0, 1)]


def test_atomics_outside_are_masked():
    """Two of four updates lie outside the bins."""
    x, h = np.array([1, 2, 64, -1], np.int32), np.zeros(64, np.int32)
    result = KERNELS.bins.simulate(x, h, grid=1)
    assert masked(result) == [("load", "X", 4, 0), ("atomic", "H", 2, 2)]


def test_tiles_count_what_lies_outside():
    """A tile of 128 over the end of 300 elements: 84 of the last one, each way."""
    x = np.ones(300, np.float32)
    result = KERNELS.tiles.simulate(x, np.zeros_like(x), grid=3)
    for kind in ("load", "store"):
        rows = [a for a in result.accesses if a.kind == kind]
        assert sum(a.elements for a in rows) == 300
        assert sum(a.masked for a in rows) == 84
