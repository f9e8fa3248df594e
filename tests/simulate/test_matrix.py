"""Tensor-core fragments: layouts against the PTX ISA's formulas, products against NumPy."""

import numpy as np
import pytest

from phobos_nb.simulate.fragments import accumulator, operand_a, operand_b

SHAPES = [(16, 8, 16, 2), (16, 8, 8, 2), (16, 8, 8, 1), (16, 8, 4, 1), (16, 8, 32, 4), (16, 8, 16, 4)]


@pytest.mark.parametrize(("m", "n", "k", "per"), SHAPES)
def test_every_element_has_one_place(m, n, k, per):
    """The lanes of a warp hold each element of both operands and of the accumulator exactly once."""
    for fragment, rows, columns in (
        (operand_a(m, k, per), m, k),
        (operand_b(k, per), k, n),
        (accumulator(m), m, n),
    ):
        places = sorted(
            zip(fragment.rows.ravel().tolist(), fragment.columns.ravel().tolist(), strict=True)
        )
        assert places == [(r, c) for r in range(rows) for c in range(columns)]


def test_m16n8k16_as_the_ptx_isa_writes_it():
    """Row and column of a0..a7, b0..b3, c0..c3 for every lane, PTX ISA 9.7.14.5.8."""
    a, b, c = operand_a(16, 16, 2), operand_b(16, 2), accumulator(16)
    for lane in range(32):
        group, thread = lane >> 2, lane % 4
        for i in range(8):
            row = group if i < 2 or 4 <= i < 6 else group + 8
            column = thread * 2 + (i & 1) + (8 if i >= 4 else 0)
            assert (a.rows[i // 2, i % 2, lane], a.columns[i // 2, i % 2, lane]) == (row, column)
        for i in range(4):
            row = thread * 2 + (i & 1) + (8 if i >= 2 else 0)
            assert (b.rows[i // 2, i % 2, lane], b.columns[i // 2, i % 2, lane]) == (row, group)
            row = group if i < 2 else group + 8
            found = (c.rows[i // 2, i % 2, lane], c.columns[i // 2, i % 2, lane])
            assert found == (row, thread * 2 + (i & 1))


TENSORS = [("a", "f16", False), ("w", "f16", False), ("out", "f32", True)]
MMA = """
  %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index %c16 = arith.constant 16 : index %c32 = arith.constant 32 : index
  %c4 = arith.constant 4 : index %c2 = arith.constant 2 : index %c512 = arith.constant 512 : index
  %sa = memref.view %smem[%c0][] : memref<1024xi8, S> to memref<16x16xf16, S>
  %sb = memref.view %smem[%c512][] : memref<1024xi8, S> to memref<16x8xf16, S>
  %at = arith.muli %t, %c8 : index
  %row = arith.divui %at, %c16 : index
  %col = arith.remui %at, %c16 : index
  %va = vector.load %a[%at] {alignment = 16 : i64} : memref<?xf16>, vector<8xf16>
  vector.store %va, %sa[%row, %col] {alignment = 16 : i64} : memref<16x16xf16, S>, vector<8xf16>
  %p = arith.cmpi ult, %t, %c16 : index
  scf.if %p {
    %vb = vector.load %w[%at] {alignment = 16 : i64} : memref<?xf16>, vector<8xf16>
    vector.store %vb, %sb[%t, %c0] {alignment = 16 : i64} : memref<16x8xf16, S>, vector<8xf16>
  }
  "gpu.barrier"() : () -> ()
  %lr = arith.remui %t, %c16 : index
  %lh = arith.divui %t, %c16 : index
  %lc = arith.muli %lh, %c8 : index
  %fa = "nvgpu.ldmatrix"(%sa, %lr, %lc) <{transpose = false, numTiles = 4 : i32}>
    : (memref<16x16xf16, S>, index, index) -> vector<4x2xf16>
  %fb = "nvgpu.ldmatrix"(%sb, %lr, %c0) <{transpose = true, numTiles = 2 : i32}>
    : (memref<16x8xf16, S>, index, index) -> vector<2x2xf16>
  %zero = arith.constant dense<0.0> : vector<2x2xf32>
  %d = "nvgpu.mma.sync"(%fa, %fb, %zero) <{mmaShape = [16 : i64, 8 : i64, 16 : i64]}>
    : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
  %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
  %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
  %g = arith.divui %t, %c4 : index
  %th = arith.remui %t, %c4 : index
  %c = arith.muli %th, %c2 : index
  %g8 = arith.muli %g, %c8 : index
  %o0 = arith.addi %g8, %c : index
  %c64 = arith.constant 64 : index
  %o1 = arith.addi %o0, %c64 : index
  vector.store %d0, %out[%o0] {alignment = 8 : i64} : memref<?xf32>, vector<2xf32>
  vector.store %d1, %out[%o1] {alignment = 8 : i64} : memref<?xf32>, vector<2xf32>
"""


def test_ldmatrix_and_mma_multiply(make):
    """Row-major A and B through ldmatrix (B transposed) and one m16n8k16 give A @ B in f32."""
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((16, 16), (16, 8)))
    k = make(MMA, TENSORS, threads=32, shared=1024)
    result = k.run(a=a.ravel(), w=b.ravel(), out=np.zeros(128, np.float32))
    assert result.clean
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    bound = 16 * 2.0**-23 * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
    assert (np.abs(result.outputs["out"].reshape(16, 8) - wanted) <= bound).all()


def test_ldmatrix_wavefronts(make):
    """Rows of 32 bytes: each 8-row tile of A takes 2 wavefronts; rows of 16 bytes: one per tile."""
    k = make(MMA, TENSORS, threads=32, shared=1024)
    zeros = np.zeros(256, np.float16)
    result = k.run(a=zeros, w=zeros[:128], out=np.zeros(128, np.float32))
    matrix = [a for a in result.accesses if a.kind == "matrix"]
    assert [(a.wavefronts, a.fewest_wavefronts) for a in matrix] == [(8, 4), (2, 2)]


def test_a_missing_barrier_before_ldmatrix(make):
    """Ldmatrix reads what other lanes stored, so without the barrier it races."""
    text = MMA.replace('"gpu.barrier"() : () -> ()', "")
    k = make(text, TENSORS, threads=32, shared=1024)
    zeros = np.zeros(256, np.float16)
    races = k.run(a=zeros, w=zeros[:128], out=np.zeros(128, np.float32)).races
    assert {(r.first.op, r.second.op) for r in races} == {("vector.store", "nvgpu.ldmatrix")}
