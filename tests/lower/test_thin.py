"""Thin extents, products with a vector, and thin edges: right, without races, and said in a note."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.arguments.array import describe_numpy
from phobos_nb.arguments.variant import choose_variant, suits
from phobos_nb.compilation.module import load_with
from phobos_nb.contract import Variant
from phobos_nb.diagnostics import PhobosError
from phobos_nb.options import CompileOptions
from phobos_nb.target import get

EXAMPLES = Path(__file__).parents[2] / "examples"
ANY = (EXAMPLES / "gemm_fp32_any.ph").read_text("utf-8")
TURNED = ANY.replace("B: tensor<f32>[K, N]", "B: tensor<f32>[N, K]")
TURNED = TURNED.replace(
    "B[kt :+ TILE_K, pn * TILE_N :+ TILE_N]", "B[pn * TILE_N :+ TILE_N, kt :+ TILE_K]"
).replace("dot(a, b)", "dot_t(a, b)")
TILE = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 8}
H200 = get("sm_90a")


def gemm(text=ANY, **constants):
    return ph.compile(text, name="cell", **constants).gemm


def arrays(m, n, k, turned=False):
    rng = np.random.default_rng(m * n + k)
    shapes = (m, k), ((n, k) if turned else (k, n)), (m, n)
    return [rng.standard_normal(s, dtype=np.float32) for s in shapes]


def agrees(kernel, size, turned=False):
    """Simulated with races on and as its meaning on the CPU, both against float64."""
    m, n, k = size
    a, b, c = arrays(m, n, k, turned)
    wide = a.astype(np.float64) @ (b.T if turned else b)
    answer, bound = 0.5 * wide + 2.0 * c, 1e-5 * np.sqrt(k)
    result = kernel.simulate(a, b, c, 0.5, 2.0)
    again = kernel.simulate(a, b, c, 0.5, 2.0, seed=5)
    kernel(a, b, c, 0.5, 2.0)
    assert result.clean
    assert np.array_equal(result.outputs["C"], again.outputs["C"])
    assert np.abs(result.outputs["C"] - answer).max() < bound
    assert np.abs(c - answer).max() < bound


SIZES = [
    (m, n, k)
    for m, n, k in (
        (1, 33, 9), (1, 1, 7), (33, 1, 100), (2, 40, 5), (3, 3, 3), (40, 4, 30), (5, 65, 8), (6, 1, 1),
        (7, 7, 70), (8, 33, 17), (9, 9, 9), (1, 64, 513), (70, 1, 260),
    )
]  # fmt: skip


@pytest.mark.parametrize("turned", [False, True], ids=["dot", "dot_t"])
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_untuned_thin_calls(size, turned):
    """With what the heuristic chooses, extents of 1 to 9 are right for both forms of dot, no races."""
    agrees(gemm(TURNED if turned else ANY), size, turned)


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("slices", [1, 4])
def test_products_with_a_vector_in_slices_and_parts(slices, parts):
    """Any number of slices an iteration and of CTAs a tile gives the product, with k ragged."""
    agrees(gemm(**TILE, MOST_X=1, SLICES=slices, SPLIT_K=parts), (1, 45, 203))
    agrees(gemm(**TILE, MOST_Y=1, SLICES=slices, SPLIT_K=parts), (45, 1, 203))


def test_a_loop_that_ends_before_the_tensor_reads_no_further():
    """Several slices as one stop where the author's loop ends, not where the tensor does."""
    short = ANY.replace("range(0, K, TILE_K)", "range(0, K / 2, TILE_K)")
    kernel = gemm(short, **TILE, MOST_X=1, SLICES=4)
    a, b, c = arrays(1, 20, 96)
    result = kernel.simulate(a, b, c, 1.0, 0.0)
    assert np.abs(result.outputs["C"] - a[:, :48] @ b[:48]).max() < 1e-4


def test_no_barrier_in_the_loop_and_one_behind_it():
    """Threads meet once, to add up across warps; without that barrier the simulator reports a race."""
    a, b, c = arrays(1, 40, 300)
    kernel = gemm(**TILE, MOST_X=1)
    kept = [x for x in kernel.compile(chip="sm_90a").barriers if x.kept]
    assert ["partial results" in x.reason for x in kept] == [True, False]
    assert "C is read" in kept[1].reason
    assert not kernel.simulate(a, b, c, 1.0, 0.0, drop_barrier=kept[0].number).clean


def test_no_shared_copies_and_wide_loads_for_a_column():
    """A column is exempt from alignment, so the matrix beside it is read by 16 bytes, without copies."""
    rows, column = np.zeros((64, 64), np.float32), np.zeros((64, 1), np.float32)
    described = {n: describe_numpy(x) for n, x in zip("ABC", (rows, column, column), strict=True)}
    variant = choose_variant(described, 64)
    if variant.aligned:  # NumPy gave the matrix an address that is a multiple of 16
        assert variant.thin == ("B", "C")
        assert suits(variant, described)
        assert not suits(Variant(), described)
    text = load_with(EXAMPLES / "gemm_fp32_any.ph", CompileOptions("sm_90a"))["gemm"]
    made = text.compile_variant(Variant(thin=("B", "C")), **TILE, MOST_Y=1)
    assert "nvgpu.device_async_copy" not in made.thread_mlir
    assert "vector<4xf32>" in made.thread_mlir
    assert [loop.mode for loop in made.loops] == ["direct"]


def test_what_was_chosen_is_noted():
    """PH515 names the cut tiles, the loop without shared memory, and the edges."""
    notes = [n.message for n in gemm(**TILE, MOST_X=1).compile(chip="sm_90a").notes if n.code == "PH515"]
    assert "M is at most 1: of tiles of 32 only 1 are computed" in notes
    assert any("runs without shared memory" in n and "64 k-slices" in n for n in notes)
    wide = {"TILE_M": 64, "TILE_N": 64, "TILE_K": 8}
    notes = [n.message for n in gemm(**wide, EDGE_X=8).compile(chip="sm_90a").notes if n.code == "PH515"]
    assert notes == ["CTAs with at most 8 of 64 positions of M left run code of their own, cut to 8"]


def test_a_call_above_the_bound_is_refused():
    """PH714 for an extent that MOST_X does not allow, before anything runs."""
    a, b, c = arrays(3, 40, 30)
    with pytest.raises(PhobosError) as caught:
        gemm(**TILE, MOST_X=2)(a, b, c, 1.0, 0.0)
    assert [d.code for d in caught.value.diagnostics] == ["PH714"]
    assert "M = 3" in str(caught.value)


def test_a_launch_above_the_bound_traps():
    """The entry checks the bound as well, for launches past the checks of a call."""
    assert "llvm.intr.trap" in gemm(**TILE, MOST_X=2).compile(chip="sm_90a").thread_mlir
    assert "llvm.intr.trap" not in gemm(**TILE).compile(chip="sm_90a").thread_mlir


@pytest.mark.parametrize("size", [(65, 67, 30), (65, 140, 33), (129, 60, 9), (80, 80, 33), (64, 65, 8)])
def test_thin_edges(size):
    """CTAs at the end of one axis, of both, and full ones agree with float64 and do not race."""
    agrees(gemm(TILE_M=64, TILE_N=64, TILE_K=8, EDGE_X=8, EDGE_Y=8), size)


def test_thin_edges_share_memory_and_the_sm():
    """Bodies of which a CTA runs one overlay their buffers and count once for CTAs an SM."""
    tile = {"TILE_M": 64, "TILE_N": 128, "TILE_K": 8}
    whole = gemm(**tile).compile(chip="sm_90a")
    edged = gemm(**tile, EDGE_X=8, EDGE_Y=8).compile(chip="sm_90a")
    bodies = [x for x in edged.shared_memory.buffers if x.name == "a for dot"]
    assert len(bodies) == len(edged.loops) == 3
    assert edged.contract.shared_bytes < 1.1 * whole.contract.shared_bytes
    blocks = "phobos.min_blocks = 2"
    assert blocks in edged.thread_mlir
    assert blocks in whole.thread_mlir


@pytest.mark.parametrize("edges", [{"EDGE_X": 8}, {"EDGE_Y": 8}, {"EDGE_X": 8, "EDGE_Y": 8}])
def test_thin_edges_come_last(edges):
    """Of 3 x 5 CTAs each takes one tile, those with code of their own after all others."""
    kernel = gemm(TILE_M=32, TILE_N=32, TILE_K=8, **edges)
    a, b, c = arrays(65, 130, 8)
    order: list[tuple[int, int]] = []
    for number in range(15):
        out = kernel.simulate(a, b, np.full_like(c, 1e30), 1.0, 0.0, ctas=[number], races=False).outputs[
            "C"
        ]
        rows, columns = np.nonzero(out < 1e20)
        order.append((rows[0] // 32, columns[0] // 32))
    assert sorted(order) == [(i, j) for i in range(3) for j in range(5)]
    last = [("EDGE_X" in edges and i == 2) or ("EDGE_Y" in edges and j == 4) for i, j in order]
    assert last == sorted(last)


CHOSEN = [
    ((4096, 4096, 4096), {"TILE_M": 128, "TILE_N": 256}),
    ((1024, 1024, 1024), {"TILE_M": 64, "TILE_N": 128}),
    ((1, 4096, 4096), {"TILE_N": 32, "MOST_X": 1, "SLICES": 16}),
    ((4096, 1, 4096), {"TILE_M": 32, "MOST_Y": 1, "SLICES": 16}),
    ((3, 4096, 4096), {"MOST_X": 4, "K_GROUPS": 4}),
    ((4097, 4099, 4093), {"TILE_M": 128, "TILE_N": 256, "EDGE_X": 8, "EDGE_Y": 8}),
]


@pytest.mark.parametrize(("size", "wanted"), CHOSEN, ids=lambda x: str(x)[:24])
def test_what_the_heuristic_chooses(size, wanted):
    """The measured winners by shape; nothing thin is promised where nothing is thin; always the same."""
    extents = dict(zip("MNK", size, strict=True))
    chosen = gemm().constants_for(extents, H200)
    assert wanted.items() <= chosen.items()
    thin = [name for name in chosen if name.startswith(("MOST", "EDGE"))]
    assert thin == [name for name in wanted if name.startswith(("MOST", "EDGE"))]
    assert chosen == gemm().constants_for(extents, H200)


def test_a_split_loop_with_a_rest_is_right_in_the_simulator():
    """CTAs whose loop runs not at all keep what they carry while others work in place."""
    even = ph.load(EXAMPLES / "gemm_fp32.ph", **TILE, SPLIT_K=4, SLICES=4, STAGES=4).gemm
    a, b, c = arrays(32, 64, 104)
    result = even.simulate(a, b, c, 1.0, 0.0)
    assert np.abs(result.outputs["C"] - a.astype(np.float64) @ b).max() < 1e-4


def test_what_follows_from_extents_joins_any_constants():
    """Used configurations get bounds and edges by the extents of a call; with SPLIT_K no edges."""
    kernel = gemm()
    kernel.use(TILE_M=64, TILE_N=64, TILE_K=8)
    chosen = kernel.constants_for({"M": 2, "N": 65, "K": 64}, H200)
    assert chosen["MOST_X"] == 2
    assert chosen["EDGE_Y"] == 8
    split = gemm(TILE_M=64, TILE_N=64, TILE_K=8, SPLIT_K=2)
    assert "EDGE_Y" not in split.constants_for({"M": 64, "N": 65, "K": 64}, H200)


def test_columns_whose_names_end_in_a_number_are_thin_too():
    """No wide access to `X_1`, which xDSL calls X, as its 8-byte rows would make it misaligned."""
    text = """
@launch(96)
kernel k(O_5: tensor<f64>[12, N], X_1: tensor<f64>[12, N]) {
  let w = X_1[ctx.block.x * 4 :+ 4, :]
  O_5[ctx.block.x * 4 :+ 4, :] = w * rowsum(w)
}
"""
    column = np.arange(12.0).reshape(12, 1)
    result = ph.compile(text).k.simulate(column.copy(), column.copy(), grid=3)
    assert result.clean
    assert (result.outputs["O_5"] == column * column).all()
