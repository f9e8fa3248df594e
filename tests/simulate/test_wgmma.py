"""Asynchronous products of warpgroups: values by every layout, and what each fence and wait is for."""

import ml_dtypes
import numpy as np
import pytest

from phobos_nb.ir.dialects import gpu, nvvm_sync, nvvm_wgmma
from phobos_nb.ir.dialects.wgmma import WgmmaFenceOp, WgmmaWaitOp
from phobos_nb.simulate.descriptors import WIDTHS, Descriptor, addresses
from tests.tensor_core_kernels import DEPTH, Wgmma, wgmma_kernel

NUMPY = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "i8": np.int8,
    "i32": np.int32,
}
MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def descriptor(start, leading, stride, swizzle):
    """The bits of a descriptor as a signed integer."""
    bits = start >> 4 | (leading >> 4) << 16 | (stride >> 4) << 32 | MODES[swizzle] << 62
    return bits - (1 << 64) if bits >> 63 else bits


def strides(swizzle, rows, size, mn_major):
    """Leading and stride offset of an operand that is packed as tightly as its swizzle allows."""
    group = 8 * WIDTHS[MODES[swizzle]] * 16
    if not swizzle:
        return (128, 256) if not mn_major else (rows * size // 16 * 128, 128)
    return (group, -(-rows * size // (group // 8)) * group) if mn_major else (16, group)


class Operands:
    """Small random matrices in an image of shared memory, and the descriptors that find them."""

    def __init__(self, case, swizzles=(128, 128), seed=0):
        rng = np.random.default_rng(seed)
        k, dtype = DEPTH[case.operand], NUMPY[case.operand]
        self.a = rng.integers(-4, 5, (64, k)).astype(dtype)
        self.b = rng.integers(-4, 5, (k, case.columns)).astype(dtype)
        self.image = np.zeros(48 * 1024, np.uint8)
        self.descriptors = []
        sides = ((self.a, 64, 0), (self.b.T, case.columns, 8 * 1024))
        for (values, rows, start), swizzle, mn in zip(sides, swizzles, case.mn_major, strict=True):
            leading, stride = strides(swizzle, rows, values.itemsize, mn)
            bits = descriptor(start, leading, stride, swizzle)
            at = addresses(Descriptor.of(bits), (rows, k), values.itemsize, mn_major=mn)
            self.image.view(dtype)[at // values.itemsize] = values
            self.descriptors.append(np.array([bits]))

    def arguments(self, case):
        """The tensors of a `wgmma_kernel`; c is all ones."""
        count = 128 * case.columns // 2
        da, db = self.descriptors
        c = np.ones(count, NUMPY[case.sums])
        found = {"image": self.image.view(np.int32), "da": da, "db": db, "c": c, "out": c * 0}
        if case.in_registers:
            found["a"] = fragments(self.a)
        return found


def fragments(a):
    """The left operand by threads: PTX ISA, register fragments of wgmma."""
    per = 4 // a.itemsize
    out = np.zeros((128, 4, per), a.dtype)
    for thread in range(128):
        warp, group, lane = thread // 32, thread % 32 // 4, thread % 4
        for r in range(4):
            row = 16 * warp + group + 8 * (r % 2)
            column = per * lane + 4 * per * (r // 2)
            out[thread, r] = a[row, column : column + per]
    return out


def matrix(out, columns):
    """The accumulators of 128 threads as a matrix [64, columns]."""
    held = out.reshape(128, columns // 8, 2, 2)
    made = np.zeros((64, columns), out.dtype)
    for thread in range(128):
        row = 16 * (thread // 32) + thread % 32 // 4
        for eight in range(columns // 8):
            column = 8 * eight + 2 * (thread % 4)
            made[row : row + 9 : 8, column : column + 2] = held[thread, eight]
    return made


CASES = [
    *(Wgmma(n, "f16", "f32") for n in (8, 64, 128, 256)),
    *(Wgmma(64, "f16", "f16", mn_major=m) for m in ((True, False), (False, True), (True, True))),
    Wgmma(64, "f16", "f32", mn_major=(True, True)),
    Wgmma(48, "bf16", "f32", mn_major=(False, True)),
    Wgmma(128, "f32", "f32"),
    Wgmma(96, "i8", "i32"),
    Wgmma(32, "f16", "f32", in_registers=True),
    Wgmma(32, "f32", "f32", in_registers=True, negate=(True, False)),
    Wgmma(32, "i8", "i32", in_registers=True),
    Wgmma(64, "bf16", "f32", negate=(False, True), fresh=True),
]


@pytest.mark.parametrize("swizzle", [0, 32, 64, 128])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_products(case, swizzle):
    """Every type, direction and swizzle: a @ b + 1, with signs, exactly, without a finding."""
    operands = Operands(case, (swizzle, swizzle))
    result = wgmma_kernel(case, len(operands.image)).run(**operands.arguments(case))
    assert result.clean
    sign = -1 if case.negate[0] != case.negate[1] else 1
    exact = operands.a.astype(np.float64) @ operands.b.astype(np.float64)
    wanted = sign * exact + (0 if case.fresh else 1)
    assert (matrix(result.outputs["out"], case.columns) == wanted).all()


def test_warps_one_after_the_other():
    """With a seed every warp runs on its own; waits meet, and the product is the same."""
    case = Wgmma(64, "f16", "f32")
    operands = Operands(case)
    made = wgmma_kernel(case, len(operands.image))
    whole = made.run(**operands.arguments(case))
    for seed in range(1, 5):
        result = made.run(seed=seed, **operands.arguments(case))
        assert result.clean
        assert (result.outputs["out"] == whole.outputs["out"]).all()


def without(kernel_, kind):
    """The kernel with an operation deleted; what passes through it goes on unchanged."""
    op = next(o for o in kernel_.module.walk() if isinstance(o, kind))
    for result, operand in zip(op.results, op.operands, strict=True):
        result.replace_all_uses_with(operand)
    op.detach()
    op.erase()
    return kernel_


DELETED = {
    WgmmaFenceOp: ("missing wgmma fence", "vector.shape_cast", "phobos.wgmma"),
    nvvm_sync.FenceProxyOp: ("missing proxy fence", "vector.store", "phobos.wgmma"),
    gpu.BarrierOp: ("read after write", "vector.store", "phobos.wgmma"),
    nvvm_wgmma.WgmmaCommitOp: ("registers in flight", "phobos.wgmma", "vector.shape_cast"),
    WgmmaWaitOp: ("registers in flight", "phobos.wgmma", "vector.shape_cast"),
}


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", DELETED)
def test_each_of_them_is_needed(kind, seed):
    """Without one fence, barrier, commit or wait the race is named by its kind and both operations."""
    case = Wgmma(64, "f16", "f32")
    operands = Operands(case)
    made = without(wgmma_kernel(case, len(operands.image)), kind)
    races = made.run(seed=seed, **operands.arguments(case)).races
    assert DELETED[kind] in {(r.kind, r.first.op, r.second.op) for r in races}
    assert {r.kind for r in races} <= {DELETED[kind][0], "read in flight"}
