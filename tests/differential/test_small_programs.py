"""Small programs that went wrong once: the meaning and the simulator give the written values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.diagnostics import PhobosError


def both(text: str, grid: int | tuple[int, ...] | None = None, **arguments: Any) -> tuple[Any, Any]:
    """What the meaning leaves in the arguments, and a simulation without faults and races."""
    kernel = next(iter(ph.compile(text)))
    result = kernel.simulate(**arguments, grid=grid)
    assert [str(f) for f in result.faults] == []
    assert [str(r) for r in result.races] == []
    kernel(**arguments, grid=grid)
    return arguments, result


def agree(text: str, expected: Any, grid: Any = None, **arguments: Any) -> None:
    """Both give `expected` in the argument `O`."""
    meant, result = both(text, grid, **arguments)
    assert meant["O"].tolist() == expected
    assert result.outputs["O"].tolist() == expected


def test_an_update_by_uniform_operands_is_read_and_stored_by_one_thread() -> None:
    """`O[i] -= s` once per CTA: no thread reads the element while another stores it."""
    text = """
    @launch(96)
    kernel k(X: tensor<f32>[N], O: tensor<f32>[N]) {
      O[ctx.block.x] -= 2.0 * X[ctx.block.x] + f32(block_sum(1))
      O[ctx.block.x] *= 2.0
    }"""
    one = np.array([1, 2], np.float32)
    agree(text, [-194.0, -194.0], 2, X=one, O=one + one - 1)


def test_an_update_of_a_shared_element_is_made_by_one_thread() -> None:
    """The same for a shared array, between the author's barriers."""
    text = """
    @launch(64)
    kernel k(O: tensor<i32>[N]) {
      var s: shared<i32>[4]
      s[1] = 5
      s[1] += i32(ctx.block.x)
      barrier()
      O[ctx.block.x * 64 + ctx.thread] = s[1]
    }"""
    agree(text, [5] * 64 + [6] * 64, 2, O=np.zeros(128, np.int32))


ALIGNED = """
@aligned(M = 4, N = 4)
@launch(32)
kernel k(X: tensor<i32>[M], O: tensor<i32>[N]) {
  O[ctx.block.x * 4 :+ 4] = X[ctx.block.x * 4 :+ 4] + 1
}"""


def test_a_promise_does_not_say_that_every_block_lies_inside() -> None:
    """The grid follows the larger output: reads of the promised shorter input stay masked."""
    agree(ALIGNED, [1] * 4 + [1] * 4, X=np.zeros(4, np.int32), O=np.zeros(8, np.int32))


def test_a_larger_grid_than_a_promise_covers_is_refused() -> None:
    """Blocks past the promised extent: an error before anything runs."""
    kernel = next(iter(ph.compile(ALIGNED)))
    arrays = {"X": np.zeros(4, np.int32), "O": np.zeros(4, np.int32)}
    for call in (kernel, kernel.simulate):
        with pytest.raises(PhobosError) as error:
            call(**arrays, grid=2)
        assert [d.code for d in error.value.diagnostics] == ["PH708"]


ODD_ROWS = """
@launch(96)
kernel k(X: tensor<i32>[K, N], Y: tensor<i32>[M, K], O: tensor<i32>[M, N]) {
  var acc: tile<i32>[16, 64] = 0
  for k in range(0, K, 8) {
    let a = Y[ctx.block.x * 16 :+ 16, k :+ 8]
    let b = X[k :+ 8, ctx.block.y * 64 :+ 64]
    acc += dot(a, b)
  }
  O[ctx.block.x * 16 :+ 16, ctx.block.y * 64 :+ 64] = acc
}"""


@pytest.mark.parametrize("pads", [{}, {"PAD_B": 1}, {"PAD_A": 1, "PAD_B": 2}])
def test_asynchronous_copies_keep_to_the_alignment_of_shared_rows(pads: dict[str, int]) -> None:
    """96 threads overhang a 64-wide tile to 66 columns; 16-byte copies need rows of whole 16 bytes."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(-9, 9, (24, 64), np.int32), rng.integers(-9, 9, (32, 24), np.int32)
    kernel = next(iter(ph.compile(ODD_ROWS, chip="sm_80"))).specialize(**pads)
    result = kernel.simulate(x, y, np.zeros((32, 64), np.int32))
    assert [str(f) for f in (*result.faults, *result.races)] == []
    assert np.array_equal(result.outputs["O"], y @ x)


def test_a_running_sum_of_a_product_leaves_the_accumulator_as_it_is() -> None:
    """`acc + cumsum(acc)`: the sum needs whole columns per thread, the accumulator has thread tiles."""
    text = """
    @launch(64)
    kernel k(X: tensor<f32>[M, K], Y: tensor<f32>[K, N], O: tensor<f32>[M, N]) {
      let acc = dot(X[0 :+ 32, 0 :+ 8], Y[0 :+ 8, 0 :+ 16])
      O[ctx.block.x * 32 :+ 32, ctx.block.y * 16 :+ 16] = acc + cumsum(acc)
    }"""
    rng = np.random.default_rng(2)
    x, y = (rng.integers(-3, 4, s).astype(np.float32) for s in ((32, 8), (8, 16)))
    wanted = (x @ y + np.cumsum(x @ y, 0)).tolist()
    agree(text, wanted, X=x, Y=y, O=np.zeros((32, 16), np.float32))


def test_a_division_that_few_lanes_make() -> None:
    """A uniform dividend by per-lane divisors, some of them zero where `&&` keeps the lane out."""
    text = """
    @launch(32)
    kernel k(X: tensor<u8>[N], s: u8, O: tensor<bool>[N]) {
      let d = X[ctx.thread]
      O[ctx.block.x * 32 + ctx.thread] = d != 0 && (s + 1) % d > 1 || d != 0 && s << d > 100
    }"""
    x = np.arange(32, dtype=np.uint8) % 7
    wanted = [bool(d and (8 % d > 1 or 7 << int(d) & 255 > 100)) for d in x.tolist()]
    agree(text, wanted, X=x, s=7, O=np.zeros(32, bool))


def test_a_product_that_is_stretched_is_not_the_accumulator() -> None:
    """`t + dot(a, b)` with a [1, 16] product and a [4, 16] tile adds the row to every row."""
    text = """
    @launch(32)
    kernel k(X: tensor<i32>[M, N], O: tensor<i32>[M, N]) {
      let t = X[0 :+ 4, 0 :+ 16] * 2
      O[ctx.block.x * 4 :+ 4, ctx.block.y * 16 :+ 16] = t + dot(X[0 :+ 1, 0 :+ 4], X[0 :+ 4, 0 :+ 16])
    }"""
    x = np.arange(64, dtype=np.int32).reshape(4, 16)
    agree(text, (2 * x + x[:1, :4] @ x).tolist(), X=x, O=np.zeros((4, 16), np.int32))


def test_an_open_dtype_that_only_one_type_suits() -> None:
    """A kernel for i64 alone loads without a default and runs on i64 arrays."""
    text = """
    @launch(32)
    kernel k<T: dtype>(X: tensor<T>[N], O: tensor<T>[N]) {
      O[ctx.block.x * 4 :+ 4] = bits(f64(1.0) * from_bits(X[0 :+ 4] | 0) * f64(1.0))
    }"""
    x = np.array([0, 1, 2, 1 << 60], np.int64)
    agree(text, x.tolist(), X=x, O=np.zeros(4, np.int64))
