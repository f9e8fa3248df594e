"""Matrices of a warp: products by rows and columns, and what may not be mixed."""

import numpy as np
import pytest
from xdsl.dialects.builtin import f16

from phobos_nb.ir.dialects.subgroup_mma import MatrixType, SubgroupMmaLoadOp
from tests.cuda.test_tensor_core_rows import WMMA
from tests.tensor_core_kernels import Wmma, kernel, wmma_kernel

NUMPY = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32}


def operands(case, blocks=2):
    """Small random matrices: a, b and c by rows, and the tensors of a `wmma_kernel`."""
    rng = np.random.default_rng(3)
    m, n, k = case.mnk
    a, b = (rng.integers(-4, 5, (blocks, *s)).astype(NUMPY[case.operand]) for s in ((m, k), (k, n)))
    c = rng.integers(-9, 9, (blocks, m, n)).astype(NUMPY[case.sums])
    laid = [
        np.ascontiguousarray(x.swapaxes(1, 2)) if turned else x
        for x, turned in zip((a, b), case.transposed, strict=True)
    ]
    return (a, b, c), {"a": laid[0], "b": laid[1], "c": c, "out": np.zeros_like(c)}


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("case", WMMA, ids=str)
def test_products(case, seed):
    """Every shape, type and direction: c + a @ b, exactly, without a finding."""
    (a, b, c), tensors = operands(case)
    result = wmma_kernel(case).run(grid=2, seed=seed, **tensors)
    assert result.clean
    wanted = a.astype(np.float64) @ b.astype(np.float64) + c
    assert (result.outputs["out"].reshape(c.shape) == wanted).all()


def test_a_missing_barrier_before_the_load():
    """Other lanes stored what the warp loads, so without the barrier it races."""
    case = Wmma((16, 16, 16), "f16", "f32")
    made = wmma_kernel(case)
    next(op for op in made.module.walk() if op.name == "gpu.barrier").detach()
    races = made.run(grid=2, **operands(case)[1]).races
    ops = {(r.kind, r.first.op, r.second.op) for r in races}
    assert ops == {("read after write", "vector.store", "gpu.subgroup_mma_load_matrix")}


def test_rows_and_columns_do_not_mix():
    """An operand that was loaded by columns cannot be used as one by rows: the message says which."""
    case = Wmma((16, 16, 16), "f16", "f32", (False, True))
    made = wmma_kernel(case)
    compute = next(op for op in made.module.walk() if op.name == "gpu.subgroup_mma_compute")
    compute.b_transpose = None
    (fault,) = made.run(grid=2, **operands(case)[1]).faults
    assert fault.kind == "fragment"
    assert "operand b was loaded by columns and is used as one by rows" in fault.message


def test_a_matrix_that_begins_anywhere():
    """Its address has to be a multiple of 32 bytes."""

    def build(t):
        type_ = MatrixType(16, 16, f16, "AOp")
        t.b.insert(SubgroupMmaLoadOp(t.tensors["a"], [t.b.index(8)], type_, 16))

    made = kernel(build, [("a", "f16", False)], threads=32)
    (fault,) = made.run(a=np.zeros(512, np.float16)).faults
    assert fault.kind == "misaligned"
    assert "a[8], byte 16 of its memory, which is no multiple of 32" in fault.message


def test_a_store_outside_is_reported():
    """The tensor is one row too short for the store of the last block."""
    case = Wmma((16, 16, 8), "f32", "f32")
    _, tensors = operands(case)
    tensors["out"] = tensors["out"].reshape(-1)[:-16]
    (fault,) = wmma_kernel(case).run(grid=2, **tensors).faults
    assert (fault.kind, fault.tensor) == ("out_of_bounds", "out")
