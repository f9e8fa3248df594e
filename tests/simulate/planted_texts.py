"""Small kernels as users write them, right as they stand, each with its right answer in NumPy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Values = dict[str, Any]
Random = np.random.Generator


@dataclass(frozen=True)
class Written:
    """A kernel's text, a call's arguments by name, and the right outputs as a function of those."""

    text: str
    arguments: Callable[[Random], Values]
    right: Callable[[Values], Values]
    options: Mapping[str, Any]


def f32(rng: Random, *shape: int) -> Any:
    """Normal numbers."""
    return rng.standard_normal(shape).astype(np.float32)


def empty(*shape: int, dtype: Any = np.float32) -> Any:
    """An output that the kernel must fill."""
    return np.zeros(shape, dtype)


def wide(values: Values) -> Values:
    """The arrays of floats in float64."""
    return {
        name: np.asarray(x, np.float64) if np.asarray(x).dtype.kind not in "iub" else x
        for name, x in values.items()
    }


def softmax_of(x: Any) -> Any:
    """Along the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


KERNELS: dict[str, Written] = {}


def written(
    name: str,
    text: str,
    arguments: Callable[[Random], Values],
    right: Callable[[Values], Values],
    **options: Any,
) -> None:
    """Add a kernel to `KERNELS`; the options are those of its call."""
    KERNELS[name] = Written(text, arguments, lambda v: right(wide(v)), options)


# ---------------------------------------------------------------- elementwise

written(
    "guarded",
    """\
@launch(128)
kernel guarded(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 128 + ctx.thread
  if i < N {
    Y[i] = 2.0 * X[i] + 1.0
  }
}
""",
    lambda r: {"X": f32(r, 300), "Y": empty(300)},
    lambda v: {"Y": 2 * v["X"] + 1},
    grid=(3, 1, 1),
)

written(
    "gelu",
    """\
@launch(128)
kernel gelu(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 256
  let x = X[i :+ 256]
  let inner: tile<f32>[256] = 0.7978845608 * (x + 0.044715 * x * x * x)
  Y[i :+ 256] = 0.5 * x * (1.0 + tanh(inner))
}
""",
    lambda r: {"X": 2 * f32(r, 700), "Y": empty(700)},
    lambda v: {"Y": 0.5 * v["X"] * (1 + np.tanh(0.7978845608 * (v["X"] + 0.044715 * v["X"] ** 3)))},
)

written(
    "scale_both",
    """\
@launch(128)
kernel scale_both(X: tensor<f32>[M, N], R: tensor<f32>[M], C: tensor<f32>[N], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 16
  let x = X[i :+ 16, j :+ 16]
  let r: tile<f32>[16, 1] = transpose(R[i :+ 16])
  let c = C[j :+ 16]
  Y[i :+ 16, j :+ 16] = (x - c) * r
}
""",
    lambda r: {"X": f32(r, 48, 48), "R": f32(r, 48), "C": f32(r, 48), "Y": empty(48, 48)},
    lambda v: {"Y": (v["X"] - v["C"]) * v["R"][:, None]},
)

written(
    "complex_product",
    """\
@launch(64)
kernel complex_product(A: tensor<f32>[N, 2], B: tensor<f32>[N, 2], C: tensor<f32>[N, 2]) {
  let i = ctx.block.x * 64 + ctx.thread
  let re = A[i, 0] * B[i, 0] - A[i, 1] * B[i, 1]
  let im = A[i, 0] * B[i, 1] + A[i, 1] * B[i, 0]
  C[i, 0] = re
  C[i, 1] = im
}
""",
    lambda r: {"A": f32(r, 200, 2), "B": f32(r, 200, 2), "C": empty(200, 2)},
    lambda v: {
        "C": np.stack(
            [
                v["A"][:, 0] * v["B"][:, 0] - v["A"][:, 1] * v["B"][:, 1],
                v["A"][:, 0] * v["B"][:, 1] + v["A"][:, 1] * v["B"][:, 0],
            ],
            axis=1,
        )
    },
    grid=(4, 1, 1),
)

written(
    "adam",
    """\
@launch(128)
kernel adam(P: tensor<f32>[N], G: tensor<f32>[N], M: tensor<f32>[N], V: tensor<f32>[N], lr: f32) {
  let i = ctx.block.x * 128
  var g = G[i :+ 128]
  var m = 0.9 * M[i :+ 128] + 0.1 * g
  var v = 0.999 * V[i :+ 128] + 0.001 * g * g
  M[i :+ 128] = m
  V[i :+ 128] = v
  P[i :+ 128] = P[i :+ 128] - lr * m / (sqrt(v) + 1e-6)
}
""",
    lambda r: {
        "P": f32(r, 300), "G": f32(r, 300), "M": f32(r, 300), "V": f32(r, 300) ** 2, "lr": 0.01
    },
    lambda v: _adam(v),
)  # fmt: skip


def _adam(v: Values) -> Values:
    m = 0.9 * v["M"] + 0.1 * v["G"]
    s = 0.999 * v["V"] + 0.001 * v["G"] ** 2
    return {"P": v["P"] - v["lr"] * m / (np.sqrt(s) + 1e-6), "M": m, "V": s}


written(
    "clipped_log",
    """\
@launch(128)
kernel clipped_log(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 128
  let x = X[i :+ 128]
  Y[i :+ 128] = where(x > 0.0, log(x), -10.0)
}
""",
    lambda r: {"X": f32(r, 300), "Y": empty(300)},
    lambda v: {"Y": np.where(v["X"] > 0, np.log(np.where(v["X"] > 0, v["X"], 1)), -10.0)},
)

written(
    "dequantise",
    """\
@launch(128)
kernel dequantise(Q: tensor<i8>[M, N], S: tensor<f32>[M, G],
                  Z: tensor<f32>[M, G], Y: tensor<f32>[M, N]) {
  let row = ctx.block.x
  for j in range(ctx.thread, N, 128) {
    let g = j / 32
    Y[row, j] = (f32(Q[row, j]) - Z[row, g]) * S[row, g]
  }
}
""",
    lambda r: {
        "Q": r.integers(-128, 128, (5, 256)).astype(np.int8),
        "S": f32(r, 5, 8), "Z": np.round(8 * f32(r, 5, 8)), "Y": empty(5, 256),
    },
    lambda v: {
        "Y": (v["Q"].astype(float) - np.repeat(v["Z"], 32, 1)) * np.repeat(v["S"], 32, 1)
    },
    grid=(5, 1, 1),
)  # fmt: skip

written(
    "sincos",
    """\
@launch(64)
kernel sincos(X: tensor<f32>[N], S: tensor<f32>[N], C: tensor<f32>[N]) {
  let i = ctx.block.x * 128
  let x = X[i :+ 128]
  S[i :+ 128] = sin(x)
  C[i :+ 128] = cos(x)
}
""",
    lambda r: {"X": f32(r, 200), "S": empty(200), "C": empty(200)},
    lambda v: {"S": np.sin(v["X"]), "C": np.cos(v["X"])},
)

# ---------------------------------------------------------------- rows and reductions

written(
    "row_softmax",
    """\
@launch(64)
kernel row_softmax(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let row = ctx.block.x
  var m = -inf
  for j in range(ctx.thread, N, 64) {
    m = max(m, X[row, j])
  }
  let top = block_max(m)
  var s = 0.0
  for j in range(ctx.thread, N, 64) {
    s += exp(X[row, j] - top)
  }
  let total = block_sum(s)
  for j in range(ctx.thread, N, 64) {
    Y[row, j] = exp(X[row, j] - top) / total
  }
}
""",
    lambda r: {"X": 3 * f32(r, 6, 150), "Y": empty(6, 150)},
    lambda v: {"Y": softmax_of(v["X"])},
    grid=(6, 1, 1),
)

written(
    "row_max",
    """\
@launch(128)
kernel row_max(X: tensor<f32>[M, N], Y: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  var best: tile<f32>[8, 1] = -inf
  for j in range(0, N, 32) {
    var x = pad(X[i :+ 8, j :+ 32], -inf)
    best = tmax(best, rowmax(x))
  }
  Y[i :+ 8] = flat(best)
}
""",
    lambda r: {"X": -1 - np.abs(f32(r, 20, 90)), "Y": empty(20)},
    lambda v: {"Y": v["X"].max(axis=1)},
)

written(
    "column_sums",
    """\
@launch(128)
kernel column_sums(X: tensor<f32>[M, N], Y: tensor<f32>[N]) {
  let j = ctx.block.x * 32
  var acc: tile<f32>[1, 32] = 0.0
  for i in range(0, M, 32) {
    var x = X[i :+ 32, j :+ 32]
    acc += colsum(x)
  }
  Y[j :+ 32] = flat(acc)
}
""",
    lambda r: {"X": f32(r, 80, 80), "Y": empty(80)},
    lambda v: {"Y": v["X"].sum(axis=0)},
)

written(
    "moments",
    """\
@launch(128)
kernel moments(X: tensor<f32>[M, N], Mean: tensor<f32>[M], Var: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  var s: tile<f32>[8, 1] = 0.0
  var q: tile<f32>[8, 1] = 0.0
  for j in range(0, N, 64) {
    var x = X[i :+ 8, j :+ 64]
    s += rowsum(x)
    q += rowsum(x * x)
  }
  let mean: tile<f32>[8, 1] = s / f32(N)
  Mean[i :+ 8] = flat(mean)
  Var[i :+ 8] = flat(q / f32(N) - mean * mean)
}
""",
    lambda r: {"X": f32(r, 20, 200), "Mean": empty(20), "Var": empty(20)},
    lambda v: {"Mean": v["X"].mean(axis=1), "Var": v["X"].var(axis=1)},
)

written(
    "rms_bf16",
    """\
@launch(128)
kernel rms_bf16(X: tensor<f16>[M, N], W: tensor<f32>[N], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * 4
  var q: tile<f32>[4, 1] = 0.0
  for j in range(0, N, 64) {
    var x = f32(X[i :+ 4, j :+ 64])
    q += rowsum(x * x)
  }
  let r: tile<f32>[4, 1] = rsqrt(q / f32(N) + 1e-5)
  for j in range(0, N, 64) {
    Y[i :+ 4, j :+ 64] = f32(X[i :+ 4, j :+ 64]) * r * W[j :+ 64]
  }
}
""",
    lambda r: {"X": f32(r, 10, 256).astype(np.float16), "W": f32(r, 256), "Y": empty(10, 256)},
    lambda v: {"Y": v["X"] / np.sqrt((v["X"] ** 2).mean(axis=1, keepdims=True) + 1e-5) * v["W"]},
)

written(
    "cross_entropy",
    """\
@launch(64)
kernel cross_entropy(X: tensor<f32>[M, N], T: tensor<i32>[M], L: tensor<f32>[M]) {
  let row = ctx.block.x
  var m = -inf
  for j in range(ctx.thread, N, 64) {
    m = max(m, X[row, j])
  }
  let top = block_max(m)
  var s = 0.0
  for j in range(ctx.thread, N, 64) {
    s += exp(X[row, j] - top)
  }
  let total = block_sum(s)
  if ctx.thread == 0 {
    L[row] = log(total) + top - X[row, T[row]]
  }
}
""",
    lambda r: {
        "X": 2 * f32(r, 12, 100), "T": r.integers(0, 100, 12).astype(np.int32), "L": empty(12)
    },
    lambda v: {
        "L": -np.log(softmax_of(v["X"])[np.arange(len(v["T"])), v["T"]])
    },
    grid=(12, 1, 1),
)  # fmt: skip

written(
    "running_sum",
    """\
@launch(64)
kernel running_sum(X: tensor<f32>[N, C], Y: tensor<f32>[N, C]) {
  let c = ctx.block.x * 16
  var carry: tile<f32>[1, 16] = 0.0
  for i in range(0, N, 32) {
    var x = X[i :+ 32, c :+ 16]
    Y[i :+ 32, c :+ 16] = carry + cumsum(x)
    carry += colsum(x)
  }
}
""",
    lambda r: {"X": f32(r, 90, 32), "Y": empty(90, 32)},
    lambda v: {"Y": np.cumsum(v["X"], axis=0)},
)
