"""Kernels for the last set of planted faults: nearest points, resampling, rows by warps, bits."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.simulate.planted_texts import Random, Values, empty, f32, written

written(
    "nearest",
    """\
@launch(64)
kernel nearest(P: tensor<f32>[N, 2], C: tensor<f32>[K, 2], Which: tensor<i32>[N], Far: tensor<f32>[N]) {
  let n = ctx.block.x * 64 + ctx.thread
  if n < N {
    var best = inf
    var which = 0
    for k in range(0, K) {
      let dx = P[n, 0] - C[k, 0]
      let dy = P[n, 1] - C[k, 1]
      let d = dx * dx + dy * dy
      if d < best {
        best = d
        which = k
      }
    }
    Which[n] = i32(which)
    Far[n] = sqrt(best)
  }
}
""",
    lambda r: {
        "P": f32(r, 150, 2), "C": f32(r, 9, 2), "Which": empty(150, dtype=np.int32), "Far": empty(150)
    },
    lambda v: _nearest(v),
    grid=(3, 1, 1),
)  # fmt: skip


def _nearest(v: Values) -> Values:
    d = np.sqrt(((v["P"][:, None] - v["C"][None]) ** 2).sum(axis=2))
    return {"Which": d.argmin(axis=1).astype(np.int32), "Far": d.min(axis=1)}


written(
    "warp_rows",
    """\
@launch(128)
kernel warp_rows(A: tensor<f32>[M, K], X: tensor<f32>[K], Y: tensor<f32>[M], alpha: f32) {
  let row = ctx.block.x * 4 + ctx.warp
  var acc = 0.0
  for k in range(ctx.lane, K, 32) {
    acc = fma(A[row, k], X[k], acc)
  }
  let total = lane_sum(acc)
  if ctx.lane == 0 {
    Y[row] = alpha * total + Y[row]
  }
}
""",
    lambda r: {"A": f32(r, 22, 75), "X": f32(r, 75), "Y": f32(r, 22), "alpha": 0.5},
    lambda v: {"Y": 0.5 * v["A"] @ v["X"] + v["Y"]},
    grid=(6, 1, 1),
)

written(
    "resample",
    """\
@launch(64)
kernel resample(X: tensor<f32>[N], Y: tensor<f32>[M], step: f32) {
  let i = ctx.block.x * 64 + ctx.thread
  if i < M {
    let at = f32(i) * step
    let left = i32(floor(at))
    let part = at - floor(at)
    Y[i] = (1.0 - part) * X[left] + part * X[left + 1]
  }
}
""",
    lambda r: {"X": f32(r, 100), "Y": empty(250), "step": 0.375},
    lambda v: {"Y": np.interp(np.arange(250) * 0.375, np.arange(100), v["X"])},
    grid=(4, 1, 1),
)

written(
    "strided_window",
    """\
@launch(128)
kernel strided_window(X: tensor<f32>[H, W], F: tensor<f32>[3, 3], Y: tensor<f32>[P, Q]) {
  let p = ctx.block.y
  let q = ctx.block.x * 128 + ctx.thread
  if q < Q {
    var acc = 0.0
    for i in range(0, 3) {
      for j in range(0, 3) {
        acc += F[i, j] * X[2 * p + i, 2 * q + j]
      }
    }
    Y[p, q] = max(acc, 0.1 * acc)
  }
}
""",
    lambda r: {"X": f32(r, 21, 41), "F": f32(r, 3, 3), "Y": empty(10, 20)},
    lambda v: {"Y": _window(v["X"], v["F"])},
    grid=(1, 10, 1),
)


def _window(x: Any, f: Any) -> Any:
    parts = [f[i, j] * x[i : i + 19 : 2, j : j + 39 : 2] for i in range(3) for j in range(3)]
    y = sum(parts)
    return np.where(y > 0, y, 0.1 * y)


written(
    "norm_gradient",
    """\
@launch(128)
kernel norm_gradient(X: tensor<f32>[M, N], G: tensor<f32>[M, N], D: tensor<f32>[M, N]) {
  let i = ctx.block.x * 8
  var s: tile<f32>[8, 1] = 0.0
  var t: tile<f32>[8, 1] = 0.0
  for j in range(0, N, 32) {
    var x = X[i :+ 8, j :+ 32]
    var g = G[i :+ 8, j :+ 32]
    s += rowsum(x * x)
    t += rowsum(x * g)
  }
  let r: tile<f32>[8, 1] = rsqrt(s / f32(N) + 1e-5)
  for j in range(0, N, 32) {
    let x = X[i :+ 8, j :+ 32]
    let g = G[i :+ 8, j :+ 32]
    D[i :+ 8, j :+ 32] = r * g - x * (t * r * r * r / f32(N))
  }
}
""",
    lambda r: {"X": f32(r, 20, 80), "G": f32(r, 20, 80), "D": empty(20, 80)},
    lambda v: {"D": _norm_gradient(v["X"], v["G"])},
)


def _norm_gradient(x: Any, g: Any) -> Any:
    n = x.shape[1]
    r = 1 / np.sqrt((x * x).sum(axis=1, keepdims=True) / n + 1e-5)
    return r * g - x * ((x * g).sum(axis=1, keepdims=True) * r**3 / n)


written(
    "mixed_bits",
    """\
@launch(64)
kernel mixed_bits(X: tensor<i32>[N], Y: tensor<i32>[N], P: tensor<i32>[N]) {
  let i = ctx.block.x * 64 + ctx.thread
  if i < N {
    var h = X[i]
    h = h ^ (h >> 7)
    h = h * 40503
    h = h ^ (h << 5)
    Y[i] = h & 65535
    P[i] = popcount(h)
  }
}
""",
    lambda r: {
        "X": r.integers(0, 2**15, 200).astype(np.int32),
        "Y": empty(200, dtype=np.int32),
        "P": empty(200, dtype=np.int32),
    },
    lambda v: _mixed(v["X"]),
    grid=(4, 1, 1),
)


def _mixed(x: Any) -> Values:
    with np.errstate(over="ignore"):
        h = np.asarray(x, np.int32)
        h = h ^ (h >> np.int32(7))
        h = h * np.int32(40503)
        h = h ^ (h << np.int32(5))
    bits = np.array([bin(n & 0xFFFFFFFF).count("1") for n in h.tolist()], np.int32)
    return {"Y": h & np.int32(65535), "P": bits}


def _ragged(r: Random) -> Values:
    ends = np.array([0, 7, 7 + 20, 27 + 3, 30 + 40, 70 + 1], np.int32)
    return {"X": f32(r, 71, 24), "S": ends, "Mean": empty(5, 24)}


written(
    "ragged_means",
    """\
@launch(64)
kernel ragged_means(X: tensor<f32>[T, D], S: tensor<i32>[P], Mean: tensor<f32>[B, D]) {
  let b = ctx.block.x
  let first = S[b]
  let last = S[b + 1]
  for d in range(ctx.thread, D, 64) {
    var sum = 0.0
    for t in range(first, last) {
      sum += X[t, d]
    }
    Mean[b, d] = sum / f32(last - first)
  }
}
""",
    _ragged,
    lambda v: {
        "Mean": np.stack(
            [v["X"][a:b].mean(axis=0) for a, b in zip(v["S"][:-1], v["S"][1:], strict=True)]
        )
    },
    grid=(5, 1, 1),
)

written(
    "triangle_update",
    """\
@launch(128)
kernel triangle_update(A: tensor<f32>[N, K], C: tensor<f32>[N, N], alpha: f32) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 16
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    var a = A[i :+ 16, k :+ 16]
    var b = A[j :+ 16, k :+ 16]
    acc += dot_t(a, b)
  }
  let c = C[i :+ 16, j :+ 16]
  let low: tile<i32>[16, 16] = transpose(iota(16)) + i32(i) - iota(16) - i32(j)
  C[i :+ 16, j :+ 16] = where(low >= 0, c - alpha * acc, c)
}
""",
    lambda r: {"A": f32(r, 40, 20), "C": f32(r, 40, 40), "alpha": 0.7},
    lambda v: {"C": v["C"] - np.tril(float(np.float32(0.7)) * v["A"] @ v["A"].T)},
)

written(
    "oscillator",
    """\
@launch(64)
kernel oscillator(X: tensor<f32>[N], V: tensor<f32>[N], K: tensor<f32>[N], dt: f32, steps: i32) {
  let i = ctx.block.x * 64 + ctx.thread
  if i < N {
    var x = X[i]
    var v = V[i]
    for s in range(0, steps) {
      v = v - dt * K[i] * x
      x = x + dt * v
    }
    X[i] = x
    V[i] = v
  }
}
""",
    lambda r: {"X": f32(r, 100), "V": f32(r, 100), "K": f32(r, 100) ** 2, "dt": 0.05, "steps": 12},
    lambda v: _oscillated(v),
    grid=(2, 1, 1),
)


def _oscillated(v: Values) -> Values:
    x, speed, dt = v["X"], v["V"], float(np.float32(v["dt"]))
    for _ in range(int(v["steps"])):
        speed = speed - dt * v["K"] * x
        x = x + dt * speed
    return {"X": x, "V": speed}
