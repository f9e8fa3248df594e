"""Right kernels with awkward numbers: long sums, cancellation, narrow types, sums in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from tests.simulate.planted_texts import KERNELS, Values, softmax_of


@dataclass(frozen=True)
class Awkward:
    """A kernel, its arrays and what is right in float64. said: whether rounding is told all the
    same.
    """

    text: str
    arguments: Callable[[np.random.Generator], Values]
    right: Callable[[Values], Values]
    grid: tuple[int, int, int] | None = None
    said: bool = False


def _wide(x: Any) -> Any:
    return np.asarray(x, np.float64)


THREAD_SUM = """\
@launch(32)
kernel k(X: tensor<f32>[M, N], Y: tensor<f32>[M]) {
  let row = ctx.block.x * 32 + ctx.thread
  var s = 0.0
  for j in range(0, N) {
    s += X[row, j]
  }
  Y[row] = s
}
"""

VARIANCE = """\
@launch(128)
kernel k(X: tensor<f32>[M, N], Y: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  var s: tile<f32>[8, 1] = 0.0
  var q: tile<f32>[8, 1] = 0.0
  for j in range(0, N, 64) {
    var x = X[i :+ 8, j :+ 64]
    s += rowsum(x)
    q += rowsum(x * x)
  }
  let mean: tile<f32>[8, 1] = s / f32(N)
  Y[i :+ 8] = flat(q / f32(N) - mean * mean)
}
"""

PRODUCT = """\
@launch(128)
kernel k(A: tensor<{of}>[M, K], B: tensor<{of}>[K, N], C: tensor<{to}>[M, N]) {{
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 32) {{
    acc += dot(A[i :+ 32, k :+ 32], B[k :+ 32, j :+ 32])
  }}
  C[i :+ 32, j :+ 32] = acc
}}
"""

BINS = """\
@launch(256)
kernel k(X: tensor<f32>[N], H: tensor<f32>[B]) {
  let i = ctx.block.x * 256 + ctx.thread
  if i < N {
    atomic_add(H, i % 4, X[i])
  }
}
"""

EXPONENTIALS = """\
@launch(64)
kernel k(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 64
  Y[i :+ 64] = exp(X[i :+ 64])
}
"""

DIFFERENCES = """\
@launch(64)
kernel k(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64]
  Y[i :+ 64] = sqrt(x + 1.0) - sqrt(x)
}
"""

HALVES = """\
@launch(64)
kernel k(X: tensor<f16>[N], Y: tensor<f16>[N]) {
  let i = ctx.block.x * 64
  let x = X[i :+ 64]
  Y[i :+ 64] = f16(f32(x) * f32(x) * 3.0 - f32(x))
}
"""

BRAIN = """\
@launch(64)
kernel k(X: tensor<bf16>[N], Y: tensor<bf16>[N]) {
  let i = ctx.block.x * 64
  let x = f32(X[i :+ 64])
  Y[i :+ 64] = bf16(x / (1.0 + abs(x)))
}
"""

ROUNDED = """\
@launch(64)
kernel k(X: tensor<f32>[N], Y: tensor<u8>[N]) {
  let i = ctx.block.x * 64
  Y[i :+ 64] = u8(floor(X[i :+ 64] * 255.0 + 0.5))
}
"""

NORM = """\
@launch(128)
kernel k(X: tensor<f16>[M, N], Y: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  var q: tile<f32>[8, 1] = 0.0
  for j in range(0, N, 64) {
    var x = f32(X[i :+ 8, j :+ 64])
    q += rowsum(x * x)
  }
  Y[i :+ 8] = flat(sqrt(q))
}
"""


def _f32(x: Any) -> Any:
    return np.asarray(x, np.float32)


def _product(of: Any, to: Any, offset: float = 0.0) -> Callable[[np.random.Generator], Values]:
    def arrays(r: np.random.Generator) -> Values:
        a, b = r.standard_normal((32, 768)) + offset, r.standard_normal((768, 32))
        return {"A": a.astype(of), "B": b.astype(of), "C": np.zeros((32, 32), to)}

    return arrays


CASES = {
    "a long sum in one thread": Awkward(
        THREAD_SUM,
        lambda r: {"X": _f32(r.random((32, 3000))), "Y": np.zeros(32, np.float32)},
        lambda v: {"Y": _wide(v["X"]).sum(axis=1)},
        (1, 1, 1),
    ),
    "a long sum of both signs": Awkward(
        THREAD_SUM,
        lambda r: {"X": _f32(1000 * r.standard_normal((32, 3000))), "Y": np.zeros(32, np.float32)},
        lambda v: {"Y": _wide(v["X"]).sum(axis=1)},
        (1, 1, 1),
    ),
    "a sum that cancels": Awkward(
        THREAD_SUM,
        lambda r: {"X": _cancelling(r), "Y": np.zeros(32, np.float32)},
        lambda v: {"Y": _wide(v["X"]).sum(axis=1)},
        (1, 1, 1),
        said=True,
    ),
    "a variance from squares, a mean of 3": Awkward(
        VARIANCE,
        lambda r: {"X": _f32(3 + r.standard_normal((16, 640))), "Y": np.zeros(16, np.float32)},
        lambda v: {"Y": _wide(v["X"]).var(axis=1)},
    ),
    "a variance from squares, a mean of 1000": Awkward(
        VARIANCE,
        lambda r: {"X": _f32(1000 + r.standard_normal((16, 640))), "Y": np.zeros(16, np.float32)},
        lambda v: {"Y": _wide(v["X"]).var(axis=1)},
        said=True,
    ),
    "a product of halves": Awkward(
        PRODUCT.format(of="f16", to="f16"),
        _product(np.float16, np.float16),
        lambda v: {"C": _wide(v["A"]) @ _wide(v["B"])},
    ),
    "a product of bf16": Awkward(
        PRODUCT.format(of="bf16", to="bf16"),
        _product(ml_dtypes.bfloat16, ml_dtypes.bfloat16),
        lambda v: {"C": _wide(v["A"]) @ _wide(v["B"])},
    ),
    "a product with a large offset": Awkward(
        PRODUCT.format(of="f32", to="f32"),
        _product(np.float32, np.float32, 10000.0),
        lambda v: {"C": _wide(v["A"]) @ _wide(v["B"])},
    ),
    "a histogram of floats in any order": Awkward(
        BINS,
        lambda r: {
            "X": _f32(r.random(3000) * 10.0 ** r.integers(0, 6, 3000)),
            "H": np.zeros(4, np.float32),
        },
        lambda v: {"H": np.bincount(np.arange(len(v["X"])) % 4, _wide(v["X"]))},
        (12, 1, 1),
    ),
    "exponentials over many orders": Awkward(
        EXPONENTIALS,
        lambda r: {"X": _f32(r.uniform(-80, 80, 500)), "Y": np.zeros(500, np.float32)},
        lambda v: {"Y": np.exp(_wide(v["X"]))},
    ),
    "a difference of roots": Awkward(
        DIFFERENCES,
        lambda r: {"X": _f32(r.uniform(1e3, 1e4, 500)), "Y": np.zeros(500, np.float32)},
        lambda v: {"Y": np.sqrt(_wide(v["X"]) + 1) - np.sqrt(_wide(v["X"]))},
    ),
    "elements of halves": Awkward(
        HALVES,
        lambda r: {"X": r.standard_normal(500).astype(np.float16), "Y": np.zeros(500, np.float16)},
        lambda v: {"Y": 3 * _wide(v["X"]) ** 2 - _wide(v["X"])},
    ),
    "elements of bf16": Awkward(
        BRAIN,
        lambda r: {
            "X": r.standard_normal(500).astype(ml_dtypes.bfloat16),
            "Y": np.zeros(500, ml_dtypes.bfloat16),
        },
        lambda v: {"Y": _wide(v["X"]) / (1 + np.abs(_wide(v["X"])))},
    ),
    "a softmax of large scores": Awkward(
        KERNELS["row_softmax"].text,
        lambda r: {"X": _f32(300 * r.standard_normal((4, 200))), "Y": np.zeros((4, 200), np.float32)},
        lambda v: {"Y": softmax_of(_wide(v["X"]))},
        (4, 1, 1),
    ),
    "bytes from floats": Awkward(
        ROUNDED,
        lambda r: {"X": _f32(r.integers(0, 510, 2000) / 510), "Y": np.zeros(2000, np.uint8)},
        lambda v: {"Y": np.floor(_wide(v["X"]) * 255 + 0.5).astype(np.uint8)},
        said=True,
    ),
    "a scan that grows": Awkward(
        KERNELS["running_sum"].text,
        lambda r: {"X": _f32(r.random((900, 16))), "Y": np.zeros((900, 16), np.float32)},
        lambda v: {"Y": np.cumsum(_wide(v["X"]), axis=0)},
    ),
    "lengths of halves beyond their range": Awkward(
        NORM,
        lambda r: {
            "X": (500 * r.standard_normal((8, 512))).astype(np.float16),
            "Y": np.zeros(8, np.float32),
        },
        lambda v: {"Y": np.sqrt((_wide(v["X"]) ** 2).sum(axis=1))},
    ),
}


def _cancelling(r: np.random.Generator) -> Any:
    half = _f32(1e4 * r.standard_normal((32, 500)))
    rest = _f32(r.standard_normal((32, 8)))
    return np.concatenate([half, rest, -half[:, ::-1]], axis=1)
