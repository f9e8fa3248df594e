"""Masked elements: what accesses name outside their tensors, in every form of access."""

import itertools
import math

import numpy as np
import pytest

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

@launch(64)
kernel uneven(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * 12
  let j = ctx.block.y * 20
  Y[i :+ 12, j :+ 20] = X[i :+ 12, j :+ 20]
}

@launch(64)
kernel known(X: tensor<f32>[40], Y: tensor<f32>[40]) { Y[0 :+ 48] = X[0 :+ 48] }

@launch(64)
kernel narrow(X: tensor<f32>[N, 3], Y: tensor<f32>[N, 3]) {
  let i = ctx.block.x * 64
  Y[i :+ 64, 0 :+ 4] = X[i :+ 64, 0 :+ 4]
}

@launch(64)
kernel segment(X: tensor<f32>[N], Y: tensor<f32>[N], END: i32) {
  let i = ctx.block.x * 48
  Y[i :+ 48 until END] = X[i :+ 48 until END]
}

@launch(64)
kernel rows(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], S: tensor<f32>[M, 1]) {
  let i = ctx.block.x * 4
  Y[i :+ 4, :] = X[i :+ 4, :] * 2.0
  S[i :+ 4, 0 :+ 1] = rowsum(X[i :+ 4, :])
}

@launch(64)
kernel never(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<f32>[3, 16, 40], H: tensor<i32>[M]) {
  let t = ctx.thread
  Y[t] = X[N]
  if t == 0 { Y[N] = X[0] }
  Z[0, 0 :+ 16, 0 :+ 32] = Z[3, 0 :+ 16, 0 :+ 32]
  atomic_add(H, M, 1)
}

@launch(32)
kernel shared_outside(X: tensor<f32>[32], n: i32) {
  var s: shared<f32>[32]
  s[ctx.thread] = X[ctx.thread]
  barrier()
  X[ctx.thread] = s[ctx.thread + n]
}

@launch(64)
kernel looked_up(T: tensor<f32>[N], I: tensor<i32>[48], Y: tensor<f32>[48]) {
  Y[0 :+ 48] = gather(T, I[0 :+ 48] - 5)
}

@launch(64)
kernel binned(H: tensor<i32>[N], V: tensor<i32>[48]) { atomic_add(H, 0, V[0 :+ 48]) }
"""
)

PRODUCT = """
@launch(128)
kernel product(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {{
  let i = ctx.block.y * {rows}
  let j = ctx.block.x * {columns}
  var sums: tile<f32>[{rows}, {columns}] = 0.0
  for k in range(0, K, {depth}) {{
    sums += dot(A[i :+ {rows}, k :+ {depth}], B[k :+ {depth}, j :+ {columns}])
  }}
  C[i :+ {rows}, j :+ {columns}] = sums
}}
"""
"""Rows and columns of a tile of C, depth of a slice."""


def outside(shape, first, sizes):
    """Elements of a box that lie outside a tensor."""
    inside = [
        max(0, min(f + n, extent) - max(f, 0)) for extent, f, n in zip(shape, first, sizes, strict=True)
    ]
    return math.prod(sizes) - math.prod(inside)


def by_tensor(result):
    """Masked elements of every tensor."""
    found = {a.tensor: 0 for a in result.accesses if a.space == "global"}
    for a in result.accesses:
        if a.space == "global":
            found[a.tensor] += a.masked
    return found


def outside_product(extents, tile):
    """What the text of `PRODUCT` names outside A, B and C."""
    (m, n, k), (rows, columns, depth) = extents, tile
    found = {"A": 0, "B": 0, "C": 0}
    for i, j in itertools.product(range(0, m, rows), range(0, n, columns)):
        found["C"] += outside((m, n), (i, j), (rows, columns))
        for s in range(0, k, depth):
            found["A"] += outside((m, k), (i, s), (rows, depth))
            found["B"] += outside((k, n), (s, j), (depth, columns))
    return found


def simulate_product(extents, tile, **choices):
    (m, n, k), (rows, columns, depth) = extents, tile
    text = PRODUCT.format(rows=rows, columns=columns, depth=depth)
    arrays = [np.ones(s, np.float32) for s in ((m, k), (k, n), (m, n))]
    grid = -(-n // columns), -(-m // rows)
    return ph.compile(text, **choices).product.simulate(*arrays, grid=grid)


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


@pytest.mark.parametrize("extents", [(24, 40), (25, 41), (11, 19), (12, 60)])
def test_slots_past_the_end_of_a_tile_name_nothing(extents):
    """Tiles of 12 x 20, which 64 threads do not divide: what lies outside the tensor, and no more."""
    grid = -(-extents[0] // 12), -(-extents[1] // 20)
    result = KERNELS.uneven.simulate(
        np.ones(extents, np.float32), np.ones(extents, np.float32), grid=grid
    )
    places = itertools.product(range(0, grid[0] * 12, 12), range(0, grid[1] * 20, 20))
    wanted = sum(outside(extents, place, (12, 20)) for place in places)
    assert by_tensor(result) == {"X": wanted, "Y": wanted}


def test_known_extents_are_counted_alike():
    """A tile of 48 over 40 elements: 8, also where the compiler knows both ends; rows of 3 read by 4."""
    x = np.ones(40, np.float32)
    assert by_tensor(KERNELS.known.simulate(x, x.copy(), grid=1)) == {"X": 8, "Y": 8}
    x = np.ones((100, 3), np.float32)
    wanted = 100 + 28 * 4
    assert by_tensor(KERNELS.narrow.simulate(x, x.copy(), grid=2)) == {"X": wanted, "Y": wanted}


@pytest.mark.parametrize(("end", "wanted"), [(96, 0), (90, 6), (48, 48), (-3, 96), (1000, 0)])
def test_until_is_an_end(end, wanted):
    """What a tile names past `until` counts as past the tensor; slots past the tile do not."""
    x = np.ones(96, np.float32)
    result = KERNELS.segment.simulate(x, x.copy(), end, grid=2)
    assert by_tensor(result) == {"X": wanted, "Y": wanted}


@pytest.mark.parametrize("columns", [1, 100, 512, 1000, 3000])
def test_a_whole_extent_names_nothing_past_its_end(columns):
    """`:` ends where the tensor does, however the compiler walks it; rows past the end count whole."""
    for rows, past in ((8, 0), (6, 2)):
        x = np.ones((rows, columns), np.float32)
        result = KERNELS.rows.simulate(x, x.copy(), np.ones((rows, 1), np.float32), grid=2)
        found = by_tensor(result)
        assert found["Y"] == past * columns
        assert found["X"] % max(1, past * columns) == 0
        assert bool(found["X"]) == bool(past)


def test_what_is_known_to_lie_outside_is_counted():
    """An access that never moves anything names its elements all the same, lane by lane."""
    x, z = np.ones(64, np.float32), np.ones((3, 16, 40), np.float32)
    result = KERNELS.never.simulate(x, x.copy(), z, np.zeros(5, np.int32), grid=1)
    assert by_tensor(result) == {"X": 64, "Y": 1, "Z": 16 * 32, "H": 64}


def test_shared_arrays_are_not_masked():
    """An index past a shared array is a fault, not an element that a mask leaves out."""
    result = KERNELS.shared_outside.simulate(np.ones(32, np.float32), 1)
    assert [f.kind for f in result.faults] == ["out_of_bounds"]
    assert result.masked == 0


def test_a_gather_by_a_tile_looks_up_its_elements_alone():
    """48 positions by 64 threads: two of them before the table, and 46 elements of it read."""
    table, positions = np.ones(100, np.float32), np.arange(3, 51, dtype=np.int32)
    result = KERNELS.looked_up.simulate(table, positions, np.zeros(48, np.float32), grid=1)
    (row,) = [a for a in result.accesses if a.tensor == "T"]
    assert (row.elements, row.masked) == (46, 2)


@pytest.mark.parametrize(("bins", "wanted"), [(48, 0), (64, 0), (40, 8)])
def test_atomics_of_a_tile_count_its_elements(bins, wanted):
    """48 updates by 64 threads."""
    result = KERNELS.binned.simulate(np.zeros(bins, np.int32), np.ones(48, np.int32), grid=1)
    assert by_tensor(result)["H"] == wanted


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a"])
@pytest.mark.parametrize("extents", [(64, 64, 64), (45, 37, 51), (70, 100, 24)])
@pytest.mark.parametrize("tile", [(32, 32, 16), (48, 24, 12)])
def test_a_pipelined_product_masks_what_its_text_names_outside(chip, extents, tile):
    """Slices made ready behind the last one name nothing, copied by registers or asynchronously."""
    result = simulate_product(extents, tile, chip=chip)
    assert by_tensor(result) == outside_product(extents, tile)


@pytest.mark.parametrize(
    "choices", [{"SPLIT_K": 3}, {"K_GROUPS": 2}, {"STAGES": 2}, {"GUARD": 1, "ADDRESS": 1, "RING": 1}]
)
def test_how_a_loop_is_run_changes_no_masked_element(choices):
    """Shared by CTAs or warps, in more or fewer stages: 70 x 100 x 200 names the same."""
    extents, tile = (70, 100, 200), (32, 32, 16)
    result = simulate_product(extents, tile, chip="sm_80", **choices)
    assert by_tensor(result) == outside_product(extents, tile)


@pytest.mark.parametrize("depth", [7, 16, 64, 100])
def test_a_product_with_a_vector_masks_by_the_slices_of_its_text(depth):
    """One iteration takes many slices of 16; those past the last one of the text name nothing."""
    extents, tile = (1, 100, depth), (32, 32, 16)
    result = simulate_product(extents, tile)
    assert by_tensor(result)["B"] == outside_product(extents, tile)["B"]
    assert (by_tensor(result)["A"] == 0) == (depth % 16 == 0)
