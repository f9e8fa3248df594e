"""Lowered modules compute what NumPy computes, without races or faults, in the simulator."""

import numpy as np
import pytest
from xdsl.dialects.builtin import f16, f64, i8, i32

from phobos_nb.contract import GridRule, LaunchContract, Variant, entry_arguments
from phobos_nb.ir.dialects import tile
from phobos_nb.lower.pipeline import KernelFacts, lower
from phobos_nb.options import CompileOptions
from phobos_nb.simulate.launch import simulate
from phobos_nb.target import get
from tests.lower.kernels import (
    arg_max,
    attention,
    block_total,
    column_sums,
    fixed_operand,
    flat,
    gated,
    gemm,
    running_sum,
    saxpy,
    softmax,
    summed_product,
    transposed,
    two_sums,
)


def run(kernel, arrays, grid, variant=None, target="sm_80", seed=0, **options):
    """Simulate and return the outputs; races and faults fail the test."""
    result = simulated(kernel, arrays, grid, variant, target, seed, **options)
    assert [str(f) for f in result.faults] == []
    assert [str(r) for r in result.races] == []
    return result.outputs


def simulated(kernel, arrays, grid, variant=None, target="sm_80", seed=0, **options):
    """Lower and simulate."""
    variant = variant or variant_of(arrays)
    facts = KernelFacts(kernel.parameters)
    made = lower(kernel.module, facts, get(target), variant, CompileOptions(**options))
    name = kernel.kernel.sym_name.data
    contract = LaunchContract(
        kernel=name,
        entry=name,
        parameters=kernel.parameters,
        arguments=entry_arguments(kernel.parameters, variant),
        grid=GridRule(),
        threads=made.threads,
        body_threads=made.threads,
        shared_bytes=made.shared_bytes,
        dynamic_shared=made.dynamic_shared,
        variant=variant,
        target=target,
    )
    return simulate(made.module, contract, arrays, grid=grid, seed=seed)


def variant_of(arrays) -> Variant:
    """The variant that a launch would choose for dense arrays."""
    rows = [a.strides[:-1] for a in arrays.values() if isinstance(a, np.ndarray)]
    return Variant(aligned=all(s % 16 == 0 for row in rows for s in row))


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.mark.parametrize(("threads", "tile"), [(64, 256), (32, 1), (128, 513), (64, 48), (96, 100)])
@pytest.mark.parametrize("variant", [Variant(), Variant(aligned=False), Variant(False, False)])
def test_saxpy(threads, tile, variant):
    """Every tile extent, thread count and variant gives the same bits as NumPy."""
    n = 200
    x, y = normal(n), normal(n, seed=1)
    out = run(saxpy(threads, tile), {"x": x, "y": y, "a": 2.0}, (-(-n // tile), 1, 1), variant)
    assert (out["y"] == np.float32(2) * x + y).all()


@pytest.mark.parametrize(
    ("shape", "threads"),
    [((32, 32, 8), 64), ((5, 7, 3), 64), ((48, 96, 24), 96), ((64, 64, 16), 256), ((1, 1, 1), 32)],
)
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("aligned", [True, False])
def test_ragged_gemm(shape, threads, transpose_b, stages, aligned):
    """Any tile on extents that it does not divide, pipelined or not, aligned rows or not."""
    m, n, k = (13, 15, 11) if shape == (1, 1, 1) else (70, 100, 52 if aligned else 51)
    n = n if aligned else n - 1
    a, b = normal(m, k), normal(k, n, seed=1)
    arrays = {"A": a, "B": b.T.copy() if transpose_b else b, "C": np.full((m, n), np.nan, np.float32)}
    kernel = gemm(shape, threads, transpose_b=transpose_b)
    grid = (-(-n // shape[1]), -(-m // shape[0]), 1)
    out = run(kernel, arrays, grid, constants={"STAGES": stages})["C"]
    np.testing.assert_allclose(out, a @ b, atol=2e-5)


@pytest.mark.parametrize("stages", [1, 3])
def test_any_strides(stages):
    """Operands with swapped, padded and negative strides, in the variant without unit strides."""
    a, b = normal(70, 52).T.copy().T, normal(52, 100, seed=1)[:, ::-1]
    arrays = {"A": a, "B": b, "C": np.full((70, 100), np.nan, np.float32)}
    variant = Variant(unit_stride=False, aligned=False)
    out = run(gemm((32, 32, 8), 64), arrays, (4, 3, 1), variant, constants={"STAGES": stages})["C"]
    np.testing.assert_allclose(out, a @ b, atol=2e-5)


def scaled_sum(k, acc):
    """2 acc + 3 C + a row vector: what a GEMM's last statement may be."""
    row, column = k.block("y", 128), k.block("x", 64)
    old = k.load(2, [row, column], [128, 64])
    bias = k.load(3, [column], [64])
    both = k.b.addf(k.b.mulf(k.splat(2.0, [128, 64]), acc), k.b.mulf(k.splat(3.0, [128, 64]), old))
    return k.b.addf(both, k.b.value(tile.BroadcastOp(bias, [128, 64])))


def test_epilogue_in_chunks():
    """A store of 128 elements a thread reads C a few rows at a time, masked, and is right."""
    a, b, c, v = normal(150, 24), normal(24, 100, seed=1), normal(150, 100, seed=2), normal(100, seed=3)
    kernel = gemm((128, 64, 8), 64, epilogue=scaled_sum, more=[("V", ("N",))])
    out = run(kernel, {"A": a, "B": b, "C": c, "V": v}, (2, 2, 1))["C"]
    np.testing.assert_allclose(out, 2 * (a @ b) + 3 * c + v, atol=2e-5)
    facts = KernelFacts(kernel.parameters)
    made = lower(kernel.module, facts, get("sm_80"), Variant()).module
    widest = max(
        op.results[0].type.element_count()
        for op in made.walk()
        if op.name in ("arith.mulf", "arith.addf")
    )
    assert widest <= 32


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
@pytest.mark.parametrize("stages", [1, 2])
def test_two_accumulators_share_an_operand(target, stages):
    """A is copied once per slice for both dots, and both sums are right."""
    a, b, d = normal(40, 20), normal(20, 36, seed=1), normal(20, 36, seed=2)
    arrays = {"A": a, "B": b, "D": d, "C": np.zeros((40, 36), np.float32)}
    out = run(gated(), arrays, (2, 2, 1), target=target, constants={"STAGES": stages})["C"]
    np.testing.assert_allclose(out, (a @ b) * (a @ d), atol=1e-4)
    made = lower(gated().module, KernelFacts(gated().parameters), get(target), Variant())
    assert [b.name for b in made.shared_plan.buffers].count("A for dot") == 1


@pytest.mark.parametrize("stages", [1, 3])
def test_operand_outside_the_loop(stages):
    """An operand that does not change is written once, in front of the loop, and read in all slices."""
    a, b = normal(40, 8), normal(24, 36, seed=1)
    arrays = {"A": a, "B": b, "C": np.zeros((40, 36), np.float32)}
    out = run(fixed_operand(), arrays, (3, 2, 1), constants={"STAGES": stages})["C"]
    np.testing.assert_allclose(out, sum(a @ b[i : i + 8] for i in (0, 8, 16)), atol=1e-4)


@pytest.mark.parametrize("k", [0, 1, 8, 9, 24])
@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_few_slices(k, target):
    """Fewer k-slices than stages, none included, on both ways of copying."""
    a, b = normal(16, k), normal(k, 16, seed=1)
    arrays = {"A": a, "B": b, "C": np.full((16, 16), np.nan, np.float32)}
    out = run(gemm((16, 16, 8), 64), arrays, (1, 1, 1), target=target)["C"]
    np.testing.assert_allclose(out, a @ b, atol=1e-5)


def test_promised_gemm_with_running_warps():
    """Without masks, with every warp running on its own: no races, right sums."""
    a, b = normal(64, 32), normal(32, 64, seed=1)
    arrays = {"A": a, "B": b, "C": np.full((64, 64), np.nan, np.float32)}
    promises = {"M": 32, "N": 32, "K": 8}
    out = run(gemm((32, 32, 8), 64, promises=promises), arrays, (2, 2, 1), seed=7)["C"]
    np.testing.assert_allclose(out, a @ b, atol=1e-5)


@pytest.mark.parametrize(
    ("element", "name", "dtype"),
    [(f16, "f16", np.float16), (f64, "f64", np.float64), (i8, "i8", np.int8), (i32, "i32", np.int32)],
)
def test_operand_types(element, name, dtype):
    """f16 sums in f32, f64 in f64, integers in i32."""
    sums, out_type = {"f64": (f64, np.float64), "i8": (i32, np.int32), "i32": (i32, np.int32)}.get(
        name, (None, np.float32)
    )
    a = (normal(40, 24) * 5).astype(dtype)
    b = (normal(24, 40, seed=1) * 5).astype(dtype)
    arrays = {"A": a, "B": b, "C": np.zeros((40, 40), out_type)}
    kernel = gemm((32, 16, 8), 64, element=element, name=name, sums=sums)
    out = run(kernel, arrays, (3, 2, 1))["C"]
    np.testing.assert_allclose(out, a.astype(out_type) @ b.astype(out_type), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    ("shape", "threads"),
    [((8, 256), 256), ((1, 1000), 256), ((64, 64), 256), ((5, 7), 64), ((3, 130), 96)],
)
def test_softmax(shape, threads):
    """Rows inside warps, across warps, and with dead slots."""
    x = normal(shape[0] * 2, shape[1])
    out = run(softmax(shape, threads), {"X": x, "Y": np.zeros_like(x)}, (2, 1, 1))["Y"]
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True), rtol=1e-5)


def one_tile(kernel, x, y_shape):
    return run(kernel, {"X": x, "Y": np.zeros(y_shape, np.float32)}, (1, 1, 1))["Y"]


def test_shape_changes():
    """Transpose and flat move every element to its place."""
    x = normal(32, 48)
    assert (one_tile(transposed(), x, (48, 32)) == x.T).all()
    x = normal(6, 10)
    assert (one_tile(flat(), x, (1, 60)) == x.reshape(1, 60)).all()


def test_sums_down_the_rows():
    """Running and whole sums along axis 0."""
    x = normal(16, 40)
    assert (one_tile(running_sum(), x, x.shape) == x.cumsum(0)).all()
    x = normal(50, 70)
    out = one_tile(column_sums(), x, x.shape)
    np.testing.assert_allclose(out, np.broadcast_to(x.sum(0), x.shape), atol=1e-5)


@pytest.mark.parametrize("shape", [(12, 300), (1, 1000)])
def test_argmax_takes_the_first(shape):
    """The first NaN wins, else the first of equal maxima."""
    x = np.round(normal(*shape) * 2)
    x[0, 7] = x[0, 200] = np.nan
    out = one_tile(arg_max(shape), x, x.shape)
    assert (out == x.argmax(1)[:, None]).all()


def test_block_total():
    """A CTA-wide sum of one scalar per thread, stored once."""
    x = normal(3, 128)
    out = run(block_total(), {"X": x, "Y": np.zeros((3, 4), np.float32)}, (3, 1, 1))["Y"]
    np.testing.assert_allclose(out[:, 0], x.sum(1), atol=1e-5)


@pytest.mark.parametrize("size", [(32, 32, 16, 128), (16, 40, 24, 64), (64, 64, 64, 128)])
def test_attention(size):
    """Flash attention with ragged keys and queries."""
    queries, _, width, _ = size
    q, k, v = normal(40, width), normal(70, width, seed=1), normal(70, width, seed=2)
    arrays = {"Q": q, "K": k, "V": v, "O": np.zeros_like(q)}
    out = run(attention(*size), arrays, (-(-40 // queries), 1, 1))["O"]
    e = np.exp(q @ k.T - (q @ k.T).max(1, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(1, keepdims=True) @ v, atol=1e-5)


@pytest.mark.parametrize("shape", [(12, 20), (32, 32), (5, 200)])
def test_sums_along_both_axes_of_one_tile(shape):
    """Two scans whose results are added run along different lines, and move to meet."""
    x = normal(*shape)
    assert (one_tile(two_sums(shape), x, x.shape) == x.cumsum(0) + x.cumsum(1)).all()


def test_scan_of_an_accumulator():
    """A running sum that is added to the dot that it sums leaves the accumulator its thread tile."""
    a, b = normal(32, 24), normal(24, 32, seed=1)
    kernel = gemm((32, 32, 8), 64, epilogue=summed_product)
    out = run(kernel, {"A": a, "B": b, "C": np.zeros((32, 32), np.float32)}, (1, 1, 1))["C"]
    np.testing.assert_allclose(out, (a @ b) + (a @ b).cumsum(0), atol=1e-4)
