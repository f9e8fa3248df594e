"""Groups of warps that share the k-steps of a slice: right, free of races, told where they cannot be."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.lower.layouts import ThreadGrid, held_in_stack, one_of_stack, stacked, thread_tile

EXAMPLES = Path(__file__).parents[2] / "examples"


def gemm(chip="sm_90a", **constants):
    return ph.load(EXAMPLES / "gemm_fp32_any.ph", chip=chip, **constants).gemm


def agrees(kernel, size, bound=1e-4):
    """Simulated in two orders of warps with races on, and as its meaning, against float64."""
    m, n, k = size
    rng = np.random.default_rng(m * n + k)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((m, k), (k, n), (m, n)))
    answer = 0.5 * (a.astype(np.float64) @ b) + 2.0 * c
    results = [kernel.simulate(a, b, c, 0.5, 2.0, seed=seed) for seed in (0, 5)]
    kernel(a, b, c, 0.5, 2.0)
    assert all(r.clean for r in results)
    assert np.array_equal(results[0].outputs["C"], results[1].outputs["C"])
    assert np.abs(results[0].outputs["C"] - answer).max() < bound
    assert np.abs(c - answer).max() < bound


CASES = [
    ("sm_90a", {"TILE_M": 64, "TILE_N": 128, "TILE_K": 32, "K_GROUPS": 4}),
    ("sm_90a", {"TILE_M": 64, "TILE_N": 128, "TILE_K": 16, "K_GROUPS": 2}),
    ("sm_90a", {"TILE_M": 32, "TILE_N": 32, "TILE_K": 8, "K_GROUPS": 8}),
    ("sm_90a", {"TILE_M": 32, "TILE_N": 64, "TILE_K": 32, "K_GROUPS": 4, "SPLIT_K": 3}),
    ("sm_90a", {"TILE_M": 32, "TILE_N": 128, "TILE_K": 32, "K_GROUPS": 4, "MOST_X": 8}),
    ("sm_90a", {"TILE_M": 64, "TILE_N": 64, "TILE_K": 32, "K_GROUPS": 4, "EDGE_X": 8, "EDGE_Y": 8}),
    ("sm_80", {"TILE_M": 64, "TILE_N": 64, "TILE_K": 16, "K_GROUPS": 2, "RING": 1, "ADDRESS": 1}),
    ("sm_75", {"TILE_M": 32, "TILE_N": 64, "TILE_K": 16, "K_GROUPS": 2}),
]


@pytest.mark.parametrize(("chip", "constants"), CASES)
def test_groups_add_up(chip, constants):
    """Ragged extents, few and many slices, with split loops, thin tiles and thin edges."""
    kernel = gemm(chip, **constants)
    for size in ((70, 130, 100), (8, 65, 9), (64, 128, 64)):
        if size[0] <= constants.get("MOST_X", size[0]):
            agrees(kernel, size)
    assert [n for n in kernel.compile().notes if "share the k-steps" in n.message] == []


def test_a_start_value_and_two_products_are_added_once():
    """What the accumulator starts from is added behind the loop; two dots share a stack."""
    text = """
@launch(128)
kernel two(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc = C[ctx.block.x * 32 :+ 32, ctx.block.y * 32 :+ 32]
  for k in range(0, K, 16) {
    let a = A[ctx.block.x * 32 :+ 32, k :+ 16]
    let b = B[k :+ 16, ctx.block.y * 32 :+ 32]
    acc += dot(a, b)
    acc -= dot(a * 1.0, b)
    acc += dot(a, b)
  }
  C[ctx.block.x * 32 :+ 32, ctx.block.y * 32 :+ 32] = acc
}
""".replace("a * 1.0", "a")
    kernel = ph.compile(text, name="cell", chip="sm_90a", K_GROUPS=4).two
    rng = np.random.default_rng(3)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((40, 50), (50, 33), (40, 33)))
    result = kernel.simulate(a, b, c)
    assert result.clean
    assert np.abs(result.outputs["C"] - (c + a.astype(np.float64) @ b)).max() < 1e-4


@pytest.mark.parametrize(("dtype", "kind"), [("i8", np.int8), ("f16", np.float16), ("f64", np.float64)])
def test_other_dtypes_are_grouped_too(dtype, kind):
    """Integers are added as integers, halves in f32, doubles in f64."""
    wide = {"i8": "i32", "f16": "f32", "f64": "f64"}[dtype]
    text = f"""
@launch(128)
kernel mm(A: tensor<{dtype}>[M, K], B: tensor<{dtype}>[K, N], C: tensor<{wide}>[M, N]) {{
  var acc: tile<{wide}>[32, 32] = 0
  for k in range(0, K, 32) {{
    acc += dot(A[ctx.block.x * 32 :+ 32, k :+ 32], B[k :+ 32, ctx.block.y * 32 :+ 32])
  }}
  C[ctx.block.x * 32 :+ 32, ctx.block.y * 32 :+ 32] = acc
}}
"""
    kernel = ph.compile(text, name="cell", chip="sm_80", K_GROUPS=4).mm
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-9, 9, s).astype(kind) for s in ((40, 70), (70, 33)))
    c = np.zeros((40, 33), {"i32": np.int32, "f32": np.float32, "f64": np.float64}[wide])
    result = kernel.simulate(a, b, c)
    assert result.clean
    assert np.array_equal(
        result.outputs["C"], (a.astype(np.float64) @ b.astype(np.float64)).astype(c.dtype)
    )
    assert not [n for n in kernel.compile().notes if n.code == "PH517"]


def test_every_barrier_is_needed():
    """Without any of the kept barriers, the one between groups and their sum too, there is a race."""
    kernel = gemm(TILE_M=32, TILE_N=64, TILE_K=16, K_GROUPS=2)
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((32, 80), (80, 64), (32, 64)))
    kept = [x for x in kernel.compile().barriers if x.kept]
    assert any("of all groups" in x.reason for x in kept)
    for barrier in kept:
        assert kernel.simulate(a, b, c, 1.0, 0.0, drop_barrier=barrier.number).races


def test_groups_read_less_from_shared_memory():
    """64 x 128: 8 x 4 sums a thread read 8 wavefronts for 32 multiply-adds, 16 x 8 read 16 for 128."""
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((64, 128), (128, 128), (64, 128)))
    loads: list[int] = []
    for groups, depth in ((1, 8), (4, 32)):
        kernel = gemm(TILE_M=64, TILE_N=128, TILE_K=depth, K_GROUPS=groups)
        found = kernel.simulate(a, b, c, 1.0, 0.0).accesses
        copies = [x for x in found if x.kind == "async" and x.space == "shared"]
        assert all(x.wavefronts == x.executions for x in copies if x.wavefronts)
        loads.append(sum(x.wavefronts or 0 for x in found if (x.kind, x.space) == ("load", "shared")))
    assert loads[1] < 0.7 * loads[0]


@pytest.mark.parametrize("constants", [{}, {"SPLIT_K": 3}, {"EDGE_X": 8, "EDGE_Y": 8}, {"STAGES": 4}])
def test_spread_sums_are_the_same(constants):
    """SPREAD moves sums between threads and changes none of their bits."""
    tile = {"TILE_M": 64, "TILE_N": 64, "TILE_K": 8} | constants
    agrees(gemm(**tile, SPREAD=1), (70, 131, 50))
    rng = np.random.default_rng(1)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((70, 51), (51, 131), (70, 131)))
    found = [gemm(**tile, SPREAD=s).simulate(a, b, c, 0.5, 2.0) for s in (0, 1)]
    assert np.array_equal(found[0].outputs["C"], found[1].outputs["C"])
    sectors = [
        sum(x.sectors or 0 for x in r.accesses if x.kind == "store" and x.space == "global")
        for r in found
    ]
    assert "SPLIT_K" in constants or sectors[1] < 0.5 * sectors[0]


@pytest.mark.parametrize(
    ("constants", "reason"),
    [
        ({"K_GROUPS": 3}, "256 threads are no 3 groups of whole warps"),
        ({"K_GROUPS": 8, "TILE_K": 4}, "a slice of 4 k-steps is not 8 times as long as another"),
        ({"K_GROUPS": 8, "TILE_M": 128, "TILE_N": 128}, "their sums take 524288 bytes of shared memory"),
    ],
)
def test_groups_that_cannot_be_are_noted(constants, reason):
    """PH517 names the loop's line and the reason; the kernel is as without."""
    sizes = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 32}
    compiled = gemm(**(sizes | constants)).compile()
    notes = [n.message for n in compiled.notes if n.code == "PH517"]
    assert any(
        m.startswith("line 21: no groups of warps share the k-steps") and reason in m for m in notes
    )


def test_a_stack_of_layouts():
    """Each element of each group's tile has one owner, and a group's layout comes out as it went in."""
    own = thread_tile((32, 64), 64, ThreadGrid((1, 2), (4, 8), (4, 4)))
    stack = stacked(own, 4, 256)
    owners = {place: t for t in range(256) for place in stack.elements(t)}
    assert sorted(owners) == [(i, j) for i in range(128) for j in range(64)]
    assert {place[0] // 32 for place, t in owners.items() if t // 64 == 2} == {2}
    assert one_of_stack(stack, 4) == own
    assert held_in_stack(own, 2).slots == (2 * own.slots[0], own.slots[1])
