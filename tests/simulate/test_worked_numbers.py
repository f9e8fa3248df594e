"""Numbers worked out by hand, as a user's own kernel shows them in the simulator's records."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.diagnostics import PhobosError
from tests.examples_cases import CASES

TILE = """
@autotune(TM in [16], TN in [32], C in [0])
kernel tile(A: tensor<{dtype}>[M, N], B: tensor<{dtype}>[TM, TN]) {{
    B[0 :+ TM, 0 :+ TN] = A[0 :+ TM, C :+ TN]
}}
"""
RUN = """
kernel run(A: tensor<f32>[N], B: tensor<f32>[N]) {
    B[0 :+ 1024] = A[0 :+ 1024]
}
"""
COLUMN = """
@autotune(PITCH in [32])
@launch(32)
kernel column(B: tensor<{dtype}>[N]) {{
    var s: shared<{dtype}>[32, PITCH]
    for i in range(32) {{
        s[i, ctx.lane] = 0.0
    }}
    barrier()
    B[ctx.lane] = s[ctx.lane, 0]
}}
"""
NUMPY = {"f16": np.float16, "f32": np.float32}


def loaded(kernel, *arguments):
    """The tile that the first CTA loads."""
    result = kernel.simulate(*arguments, trace=1)
    assert result.clean
    (access,) = [a for a in result.tile_accesses() if a.kind == "load"]
    return access


@pytest.mark.parametrize(
    ("dtype", "tile", "columns", "at", "lines", "extra"),
    [
        ("f16", (16, 32), 1000, 0, 22, 6),
        ("f16", (16, 64), 1024, 0, 16, 0),
        ("f32", (8, 24), 1000, 16, 12, 4),
    ],
)
def test_lines_under_a_tile(dtype, tile, columns, at, lines, extra):
    """128-byte lines of a tile, and how many its rows need beyond the fewest."""
    kernel = ph.compile(TILE.format(dtype=dtype), chip="sm_90a").tile
    kernel = kernel.specialize(TM=tile[0], TN=tile[1], C=at)
    access = loaded(kernel, np.zeros((tile[0], columns), NUMPY[dtype]), np.zeros(tile, NUMPY[dtype]))
    assert (access.lines, access.extra) == (lines, extra)
    assert access.elements == tile[0] * tile[1]


@pytest.mark.parametrize("row", range(16))
def test_rows_that_need_two_lines(row):
    """Of 16 rows of 32 f16 at a pitch of 2000 bytes, rows 1, 3, 6, 9, 11 and 14 lie on two lines."""
    kernel = ph.compile(TILE.format(dtype="f16"), chip="sm_90a").tile.specialize(TM=1)
    tall = np.zeros((16, 1000), np.float16)
    access = loaded(kernel, tall[row : row + 1], np.zeros((1, 32), np.float16))
    assert (access.lines, access.extra) == ((2, 1) if row in (1, 3, 6, 9, 11, 14) else (1, 0))


@pytest.mark.parametrize(("shift", "lines", "extra"), [(0, 32, 0), (1, 33, 1)])
def test_lines_under_a_run(shift, lines, extra):
    """1024 f32 lie on 32 lines, from base + 4 bytes on 33."""
    base = np.zeros(1024 + shift, np.float32)
    access = loaded(ph.compile(RUN, chip="sm_90a").run, base[shift:], np.zeros(1024, np.float32))
    assert (access.lines, access.extra) == (lines, extra)


def test_masked_elements_touch_no_line():
    """A tile of 16 x 32 at the corner of 10 x 20 elements: 10 rows of 20, a line each, and no more."""
    kernel = ph.compile(TILE.format(dtype="f32"), chip="sm_90a").tile
    access = loaded(kernel, np.zeros((10, 32), np.float32)[:, :20], np.zeros((16, 32), np.float32))
    assert (access.elements, access.lines, access.extra) == (200, 10, 0)


def test_a_loop_loads_a_tile_each_time():
    """Three steps of a loop over K are three accesses, in whatever order the warps run."""
    text = TILE.replace("B[0 :+ TM, 0 :+ TN] = A[0 :+ TM, C :+ TN]", LOOP).format(dtype="f32")
    kernel = ph.compile(text, chip="sm_90a").tile
    a, b = np.ones((16, 96), np.float32), np.zeros((16, 32), np.float32)
    for seed in (0, 5):
        result = kernel.simulate(a, b, trace=1, seed=seed)
        tiles = [x for x in result.tile_accesses() if x.kind == "load"]
        assert [(x.lines, x.extra, x.elements) for x in tiles] == [(16, 0, 512)] * 3
        assert (result.outputs["B"] == 3).all()


LOOP = """var acc: tile<f32>[TM, TN] = 0.0
    for k in range(3) {{
        acc += A[0 :+ TM, k * TN :+ TN]
    }}
    B[0 :+ TM, 0 :+ TN] = acc"""


@pytest.mark.parametrize(
    ("dtype", "pitch", "ways"),
    [("f32", 32, 32), ("f32", 33, 1), ("f16", 64, 32), ("f16", 72, 4), ("f16", 66, 1)],
)
def test_reading_a_column(dtype, pitch, ways):
    """A warp that reads a column of 32 rows: the wavefronts of one load, by the pitch in elements."""
    kernel = ph.compile(COLUMN.format(dtype=dtype), chip="sm_90a").column.specialize(PITCH=pitch)
    result = kernel.simulate(np.zeros(32, NUMPY[dtype]), grid=(1, 1, 1))
    assert result.clean
    (read,) = [a for a in result.accesses if a.space == "shared" and a.kind == "load"]
    assert (read.executions, read.wavefronts, read.conflicts) == (1, ways, ways - 1)


ARRAYS = """
@autotune(S in [1, 2])
@launch(256)
kernel tiles(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[N]) {
    var a: shared<f32>[S * 256, 32]
    var b: shared<f32>[S * 32, 256]
    a[ctx.thread, 0] = A[ctx.thread, 0]
    b[0, ctx.thread] = B[0, ctx.thread]
    barrier()
    C[ctx.thread] = a[255 - ctx.thread, 0] + b[0, 255 - ctx.thread]
}
"""
FITS_NOT = ("sm_86", "sm_89", "sm_120")
"""Targets with 99 KB of shared memory for a CTA; those with 227 KB take 131072 bytes."""


@pytest.mark.parametrize(("stages", "bytes_"), [(1, 65536), (2, 131072)])
def test_shared_memory_of_big_tiles(stages, bytes_):
    """Tiles 256 x 32 and 32 x 256 of f32: 65536 bytes, twice that with two buffers."""
    kernel = ph.compile(ARRAYS, chip="sm_90a").tiles.specialize(S=stages)
    assert kernel.compile().contract.shared_bytes == bytes_


@pytest.mark.parametrize("chip", FITS_NOT)
def test_big_tiles_do_not_fit_99_kb(chip):
    """Two buffers of them need 131072 bytes where 101376 are allowed."""
    tiles = ph.compile(ARRAYS, chip=chip).tiles
    with pytest.raises(PhobosError, match=f"needs 131072 bytes, {chip} allows 101376") as caught:
        _ = tiles.specialize(S=2).compile().contract
    assert [d.code for d in caught.value.diagnostics] == ["PH510"]
    assert tiles.specialize(S=1).compile().contract.shared_bytes == 65536


def test_shared_memory_of_a_gemm():
    """A GEMM of such tiles takes 131072 bytes and, for a without bank conflicts, 4 words a row of k."""
    text = CASES["gemm_fp32"].path.read_text("utf-8").replace("@launch(256)", "@launch(512)")
    sizes = {"TILE_M": 256, "TILE_N": 256, "TILE_K": 32, "STAGES": 2}
    gemm = ph.compile(text, chip="sm_90a").gemm.specialize(**sizes)
    assert gemm.compile().contract.shared_bytes == 131072 + 2 * 32 * 4 * 4
    with pytest.raises(PhobosError, match="needs 132096 bytes, sm_86 allows 101376"):
        _ = ph.compile(text, chip="sm_86").gemm.specialize(**sizes).compile().contract


@pytest.mark.parametrize(
    ("extent", "tile", "live", "masked"), [(1001, 32, 9, 23), (296, 128, 40, 88), (1000, 128, 104, 24)]
)
def test_masked_columns_of_the_last_slice(extent, tile, live, masked):
    """The last slice of K alone: live and masked columns."""
    text = TILE.replace("B[0 :+ TM, 0 :+ TN] = A[0 :+ TM, C :+ TN]", COPY).format(dtype="f32")
    kernel = ph.compile(text, chip="sm_90a").tile.specialize(TM=8, TN=tile)
    last = -(-extent // tile) - 1
    a, b = np.zeros((8, extent), np.float32), np.zeros((8, tile), np.float32)
    result = kernel.simulate(a, b, grid=(last + 1, 1, 1), ctas=[last])
    loads = [a for a in result.accesses if a.kind == "load"]
    assert sum(a.elements for a in loads) == 8 * live
    assert sum(a.masked for a in loads) == 8 * masked


COPY = """let k = ctx.block.x * TN
    B[0 :+ TM, 0 :+ TN] = A[0 :+ TM, k :+ TN]"""
