"""Whole kernels in the language against plain NumPy: threads, tiles, shared memory, atomics."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from phobos_nb.diagnostics import PhobosError
from tests.meaning.programs import meant

RNG = np.random.default_rng(5)


def test_per_thread_saxpy() -> None:
    """The CUDA style: one element per thread, masked at the end of the array."""
    text = """
    @launch(64)
    kernel k(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
      let i = ctx.block.x * 64 + ctx.thread
      Y[i] = a * X[i] + Y[i]
    }"""
    x, y = RNG.standard_normal((2, 150)).astype(np.float32)
    expected = np.float32(2) * x + y
    meant(text, (3, 1, 1), X=x, Y=y, a=2.0)
    assert np.array_equal(y, expected)


def test_a_histogram_by_atomics() -> None:
    """Every thread counts one value; values outside the table are dropped."""
    text = """
    @launch(128)
    kernel k(V: tensor<i32>[N], H: tensor<i32>[B]) {
      let i = ctx.block.x * 128 + ctx.thread
      if i < N {
        atomic_add(H, V[i], 1)
      }
    }"""
    v = RNG.integers(-1, 9, 500).astype(np.int32)
    h = np.zeros(8, np.int32)
    meant(text, (4, 1, 1), V=v, H=h)
    assert np.array_equal(h, np.bincount(v[(v >= 0) & (v < 8)], minlength=8))


def test_a_tree_reduction_in_shared_memory() -> None:
    """Halving strides with barriers sum 128 values to the first."""
    text = """
    @launch(128)
    kernel k(X: tensor<f32>[N], S: tensor<f32>[B]) {
      var s: shared<f32>[128]
      let t = ctx.thread
      s[t] = X[ctx.block.x * 128 + t]
      barrier()
      var half = 64
      while half > 0 {
        if t < half {
          s[t] += s[t + half]
        }
        barrier()
        half = half / 2
      }
      if t == 0 {
        S[ctx.block.x] = s[0]
      }
    }"""
    x, s = RNG.integers(-9, 9, 300).astype(np.float32), np.zeros(3, np.float32)
    meant(text, (3, 1, 1), X=x, S=s)
    assert s.tolist() == [x[:128].sum(), x[128:256].sum(), x[256:].sum()]


def test_mandelbrot_counts_per_thread() -> None:
    """A while loop with break: each thread has its own number of steps."""
    text = """
    @launch(32)
    kernel k(C: tensor<i32>[N]) {
      let t = ctx.thread
      let x = f32(t) / 16.0 - 1.5
      var a = 0.0
      var b = 0.4
      var n = 0
      while n < 50 {
        let next = a * a - b * b + x
        b = 2.0 * a * b + 0.4
        a = next
        if a * a + b * b > 4.0 { break }
        n += 1
      }
      C[t] = i32(n)
    }"""
    c = np.zeros(32, np.int32)
    meant(text, (1, 1, 1), C=c)

    def steps(t: int) -> int:
        x, a, b = np.float32(t) / np.float32(16) - np.float32(1.5), np.float32(0), np.float32(0.4)
        for n in range(50):
            a, b = a * a - b * b + x, np.float32(2) * a * b + np.float32(0.4)
            if a * a + b * b > 4:
                return n
        return 50

    assert c.tolist() == [steps(t) for t in range(32)]


def test_views_read_at_the_use_and_copies_at_the_declaration() -> None:
    """`let` sees a later store to the tensor, `var` does not."""
    text = """
    kernel k(A: tensor<f32>[8], B: tensor<f32>[8], C: tensor<f32>[8]) {
      let view = A[0 :+ 8]
      var copy = A[0 :+ 8]
      A[0 :+ 8] = view + 1.0
      B[0 :+ 8] = view
      C[0 :+ 8] = copy
    }"""
    a, b, c = np.arange(8, dtype=np.float32), *np.zeros((2, 8), np.float32)
    meant(text, (1, 1, 1), A=a, B=b, C=c)
    assert b.tolist() == list(range(1, 9))
    assert c.tolist() == list(range(8))


def test_pad_and_until() -> None:
    """`pad` fills what lies outside, `until` ends a slice at a run-time position."""
    text = """
    kernel k(A: tensor<f32>[N], B: tensor<f32>[M], e: i32) {
      var p = pad(A[2 :+ 4], -1.0)
      var u = A[0 :+ 4 until e]
      B[0 :+ 4] = p
      B[4 :+ 4] = u
    }"""
    b = np.zeros(8, np.float32)
    meant(text, (1, 1, 1), A=np.array([1, 2, 3, 4], np.float32), B=b, e=3)
    assert b.tolist() == [3, 4, -1, -1, 1, 2, 3, 0]


def test_reductions_of_warps_and_blocks() -> None:
    """lane_sum, block_max and shuffle_xor on per-thread values."""
    text = """
    @launch(64)
    kernel k(A: tensor<f32>[N], B: tensor<f32>[3, 64]) {
      let t = ctx.thread
      let x = A[t]
      B[0, t] = lane_sum(x)
      B[1, t] = block_max(x)
      B[2, t] = shuffle_xor(x, 1)
    }"""
    a, b = RNG.integers(-99, 99, 64).astype(np.float32), np.zeros((3, 64), np.float32)
    meant(text, (1, 1, 1), A=a, B=b)
    assert np.array_equal(b[0], np.repeat([a[:32].sum(), a[32:].sum()], 32))
    assert np.array_equal(b[1], np.full(64, a.max()))
    assert np.array_equal(b[2], a.reshape(-1, 2)[:, ::-1].ravel())


def test_functions_and_generics() -> None:
    """A function is inlined at its call; a bool parameter decides a branch when compiling."""
    text = """
    fn square(x: f32) -> f32 {
      return x * x
    }
    kernel k<TWICE: bool = false>(A: tensor<f32>[N]) {
      let i = ctx.thread
      if TWICE {
        A[i] = square(square(A[i]))
      } else {
        A[i] = square(A[i])
      }
    }"""
    a = np.array([1, 2, 3], np.float32)
    meant(text, (1, 1, 1), A=a)
    assert a.tolist() == [1, 4, 9]
    meant(text, (1, 1, 1), {"TWICE": 1}, A=a)
    assert a.tolist() == [1, 256, 6561]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_narrow_accumulators_round_each_step(dtype: type) -> None:
    """An accumulator declared f16 or bf16 rounds the f32 sum of each dot where they meet."""
    name = "f16" if dtype is np.float16 else "bf16"
    text = f"""
    kernel k(A: tensor<{name}>[8, K], C: tensor<{name}>[8, 8]) {{
      var acc: tile<{name}>[8, 8] = 0.0
      for k in range(0, K, 8) {{
        acc += dot_t(A[0 :+ 8, k :+ 8], A[0 :+ 8, k :+ 8])
      }}
      C[0 :+ 8, 0 :+ 8] = acc
    }}"""
    a, c = RNG.standard_normal((8, 20)).astype(dtype), np.zeros((8, 8), dtype)
    meant(text, (1, 1, 1), A=a, C=c)
    acc = np.zeros((8, 8), dtype)
    for k in range(0, 20, 8):
        part = np.zeros((8, 8), np.float32)
        part[:, : min(8, 20 - k)] = a[:, k : k + 8].astype(np.float32)
        acc = (acc.astype(np.float32) + part @ part.T).astype(dtype)
    assert np.array_equal(acc, c)


def test_uniform_stores_and_atomics_differ() -> None:
    """`A[0] += 1` with uniform operands is one addition, atomic_add one per thread."""
    text = """
    @launch(32)
    kernel k(A: tensor<i32>[2]) {
      A[0] += 1
      atomic_add(A, 1, 1)
    }"""
    a = np.zeros(2, np.int32)
    meant(text, (3, 1, 1), A=a)
    assert a.tolist() == [3, 96]


def test_a_tile_atomic_adds_each_element_once() -> None:
    """Column sums over CTAs by an atomic on a tile, past the end skipped."""
    text = """
    kernel k(A: tensor<f32>[M, N], S: tensor<f32>[N]) {
      let r = ctx.block.x * 4
      atomic_add(S, 0, flat(colsum(A[r :+ 4, 0 :+ 8])))
    }"""
    a, s = RNG.integers(-5, 5, (10, 6)).astype(np.float32), np.zeros(6, np.float32)
    meant(text, (3, 1, 1), A=a, S=s)
    assert np.array_equal(s, a.sum(axis=0))


def test_integer_semantics_in_a_kernel() -> None:
    """Truncating division, dividend's sign, arithmetic shift, wrapping product."""
    text = """
    @launch(32)
    kernel k(A: tensor<i32>[N], B: tensor<i32>[4, N]) {
      let t = ctx.thread
      if t < N {
        B[0, t] = A[t] / 3
        B[1, t] = A[t] % 3
        B[2, t] = A[t] >> 1
        B[3, t] = A[t] * 1000000007
      }
    }"""
    a, b = np.array([7, -7, 2**31 - 1, -(2**31), 0], np.int32), np.zeros((4, 5), np.int32)
    meant(text, (1, 1, 1), A=a, B=b)
    quotient = [int(x / 3) for x in a.tolist()]
    assert b[0].tolist() == quotient
    assert b[1].tolist() == [x - 3 * q for x, q in zip(a.tolist(), quotient, strict=True)]
    assert b[2].tolist() == [x >> 1 for x in a.tolist()]
    assert b[3].tolist() == ((a.astype(object) * 1000000007 + 2**31) % 2**32 - 2**31).tolist()


def test_a_fault_points_at_its_line_and_column() -> None:
    """Division by a zero read from memory: code, line, column of the divisor, the CTA."""
    text = "kernel k(A: tensor<i32>[N]) {\n  let i = ctx.block.x\n  A[i] = 8 / A[i]\n}"
    with pytest.raises(PhobosError) as error:
        meant(text, (2, 1, 1), A=np.array([2, 0], np.int32))
    assert error.value.diagnostics[0].code == "PH802"
    assert "k.ph:3:14" in str(error.value)
    assert "in CTA (1, 0, 0)" in str(error.value)


def test_print_formats_values_in_order() -> None:
    """Each CTA prints its threads in order; braces are kept where doubled."""
    text = """
    @launch(32)
    kernel k(A: tensor<f32>[N]) {
      if ctx.thread < 2 {
        print("{{{}}} holds {}", ctx.thread, A[ctx.thread])
      }
    }"""
    result = meant(text, (1, 1, 1), A=np.array([0.1, 2.0], np.float32))
    assert [p.text for p in result.printed] == ["{0} holds 0.1", "{1} holds 2.0"]


def test_print_shows_floats_and_bools_as_numpy_does() -> None:
    """2.0 and True, as the simulator and the device show them."""
    text = """
    @launch(32)
    kernel k(A: tensor<f32>[N], B: tensor<bool>[N]) {
      print("{} {}", A[0], B[0])
    }"""
    result = meant(text, (1, 1, 1), A=np.array([2.0], np.float32), B=np.array([True]))
    assert [p.text for p in result.printed] == ["2.0 True"]
