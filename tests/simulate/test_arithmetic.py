"""Floating-point work: by kind and number, of scalar code and of products on tensor cores."""

import math

import numpy as np
import pytest

import phobos_nb as ph
from tests.simulate.test_wgmma import Operands
from tests.simulate.test_wmma import operands
from tests.tensor_core_kernels import Wgmma, Wmma, mma_kernel, mma_shapes, wgmma_kernel, wmma_kernel

FUNCTIONS = """@launch(128)
kernel f(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<f64>[N]) {
  let i = ctx.block.x * 128
  let x = X[i :+ 128]
  Y[i :+ 128] = max(exp(x) / 3.0, fma(x, x, -x)) - abs(x)
  Z[i :+ 128] = f64(x) * f64(x)
}"""


def test_each_operation_has_its_kind():
    """exp, div, max, fma (two), a subtraction, an f64 product; negation, abs, conversions are free."""
    (kernel,) = ph.compile(FUNCTIONS, chip="sm_80")
    x = np.ones(256, np.float32)
    found = kernel.simulate(x, x.copy(), np.ones(256)).flops
    assert found == {
        "f32 add": 256,
        "f32 div": 256,
        "f32 exp": 256,
        "f32 fma": 512,
        "f32 max": 256,
        "f64 mul": 256,
    }


@pytest.mark.parametrize("operand", ["f16", "f32"])
def test_a_warps_product_is_two_mnk(operand):
    """mma.sync of one warp: 2mnk operations; f32 operands are tf32's."""
    mnk = (16, 8, 16 if operand == "f16" else 8)
    sizes = [32 * math.prod(s) for s in mma_shapes(mnk, operand)]
    dtype = {"f16": np.float16, "f32": np.float32}[operand]
    a, b = (np.ones(n, dtype) for n in sizes[:2])
    c = np.ones(sizes[2], np.float32)
    found = mma_kernel(mnk, operand, "f32").run(a=a, b=b, c=c, out=c * 0).flops
    assert found == {f"{'tf32' if operand == 'f32' else operand} tensor": 2 * math.prod(mnk)}


def test_a_matrix_of_a_warp_counts_the_same():
    """WMMA: 2mnk for each block's warp; integers are no floating-point work."""
    case = Wmma((16, 16, 16), "f16", "f32")
    found = wmma_kernel(case).run(grid=2, **operands(case)[1]).flops
    assert found == {"f16 tensor": 2 * 2 * 16**3}
    whole = Wmma((16, 16, 16), "i8", "i32")
    assert wmma_kernel(whole).run(grid=2, **operands(whole)[1]).flops == {}


def test_a_warpgroups_product_counts_once_for_its_four_warps():
    """A wgmma of 64 x 64 x 16: 2mnk, not four times that."""
    case = Wgmma(64, "bf16", "f32")
    laid = Operands(case)
    found = wgmma_kernel(case, len(laid.image)).run(**laid.arguments(case)).flops
    assert found == {"bf16 tensor": 2 * 64 * 64 * 16}
