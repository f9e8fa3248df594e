"""Kernels for the later sets of planted faults: sparse rows, images, statistics, halves, segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.simulate.planted_texts import Random, Values, empty, f32, softmax_of, written

# ---------------------------------------------------------------- sparse and irregular


def _csr(r: Random) -> Values:
    counts = r.integers(0, 7, 40)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    columns = r.integers(0, 50, start[-1]).astype(np.int32)
    return {"A": f32(r, start[-1]), "C": columns, "S": start, "X": f32(r, 50), "Y": empty(40)}


def _csr_product(v: Values) -> Values:
    rows = len(v["S"]) - 1
    y = [
        sum(v["A"][k] * v["X"][v["C"][k]] for k in range(v["S"][i], v["S"][i + 1])) for i in range(rows)
    ]
    return {"Y": np.array(y)}


written(
    "sparse_rows",
    """\
@launch(32)
kernel sparse_rows(A: tensor<f32>[NNZ], C: tensor<i32>[NNZ], S: tensor<i32>[P],
                   X: tensor<f32>[N], Y: tensor<f32>[M]) {
  let row = ctx.block.x
  let first = S[row]
  let last = S[row + 1]
  var acc = 0.0
  for k in range(first + ctx.lane, last, 32) {
    acc += A[k] * X[C[k]]
  }
  let total = lane_sum(acc)
  if ctx.lane == 0 {
    Y[row] = total
  }
}
""",
    _csr,
    _csr_product,
    grid=(40, 1, 1),
)

written(
    "scatter_gradient",
    """\
@launch(64)
kernel scatter_gradient(G: tensor<f32>[N, D], I: tensor<i32>[N], W: tensor<f32>[V, D]) {
  let n = ctx.block.x
  for d in range(ctx.thread, D, 64) {
    atomic_add(W, I[n], d, G[n, d])
  }
}
""",
    lambda r: {"G": f32(r, 24, 40), "I": r.integers(0, 9, 24).astype(np.int32), "W": empty(9, 40)},
    lambda v: {"W": np.stack([v["G"][np.asarray(v["I"]) == k].sum(axis=0) for k in range(len(v["W"]))])},
    grid=(24, 1, 1),
)

# ---------------------------------------------------------------- rows and statistics

written(
    "gated",
    """\
@launch(128)
kernel gated(X: tensor<f32>[M, W], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * 8
  let j = ctx.block.y * 32
  let gate: tile<f32>[8, 32] = X[i :+ 8, j :+ 32]
  let value: tile<f32>[8, 32] = X[i :+ 8, N + j :+ 32]
  Y[i :+ 8, j :+ 32] = gate * sigmoid(gate) * value
}
""",
    lambda r: {"X": f32(r, 16, 128), "Y": empty(16, 64)},
    lambda v: {"Y": v["X"][:, :64] / (1 + np.exp(-v["X"][:, :64])) * v["X"][:, 64:]},
)

written(
    "distances",
    """\
@launch(128)
kernel distances(A: tensor<f32>[M, D], B: tensor<f32>[N, D], S: tensor<f32>[M, N]) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 16
  var ab: tile<f32>[16, 16] = 0.0
  var aa: tile<f32>[16, 1] = 0.0
  var bb: tile<f32>[16, 1] = 0.0
  for d in range(0, D, 16) {
    var a = A[i :+ 16, d :+ 16]
    var b = B[j :+ 16, d :+ 16]
    ab += dot_t(a, b)
    aa += rowsum(a * a)
    bb += rowsum(b * b)
  }
  S[i :+ 16, j :+ 16] = aa + transpose(bb) - 2.0 * ab
}
""",
    lambda r: {"A": f32(r, 40, 24), "B": f32(r, 40, 24), "S": empty(40, 40)},
    lambda v: {"S": ((v["A"][:, None] - v["B"][None]) ** 2).sum(axis=2)},
)

written(
    "standardise",
    """\
@launch(64)
kernel standardise(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let row = ctx.block.x
  var s = 0.0
  for j in range(ctx.thread, N, 64) {
    s += X[row, j]
  }
  let mean = block_sum(s) / f32(N)
  var q = 0.0
  for j in range(ctx.thread, N, 64) {
    let d = X[row, j] - mean
    q += d * d
  }
  let deviation = sqrt(block_sum(q) / f32(N - 1))
  for j in range(ctx.thread, N, 64) {
    Y[row, j] = (X[row, j] - mean) / deviation
  }
}
""",
    lambda r: {"X": 2 + 3 * f32(r, 7, 90), "Y": empty(7, 90)},
    lambda v: {
        "Y": (v["X"] - v["X"].mean(axis=1, keepdims=True)) / v["X"].std(axis=1, ddof=1, keepdims=True)
    },
    grid=(7, 1, 1),
)

written(
    "smoothed",
    """\
@launch(32)
kernel smoothed(X: tensor<f32>[C, N], Y: tensor<f32>[C, N], keep: f32) {
  let c = ctx.block.x * 32 + ctx.thread
  if c < C {
    var state = X[c, 0]
    Y[c, 0] = state
    for t in range(1, N) {
      state = keep * state + (1.0 - keep) * X[c, t]
      Y[c, t] = state
    }
  }
}
""",
    lambda r: {"X": f32(r, 50, 40), "Y": empty(50, 40), "keep": 0.75},
    lambda v: {"Y": _smoothed(v["X"], float(v["keep"]))},
    grid=(2, 1, 1),
)


def _smoothed(x: Any, keep: float) -> Any:
    y = x.copy()
    for t in range(1, x.shape[1]):
        y[:, t] = keep * y[:, t - 1] + (1 - keep) * x[:, t]
    return y


# ---------------------------------------------------------------- images

written(
    "depthwise",
    """\
@launch(128)
kernel depthwise(X: tensor<f32>[C, H, W], F: tensor<f32>[C, 3, 3], Y: tensor<f32>[C, H, W]) {
  let c = ctx.block.z
  let h = ctx.block.y
  let w = ctx.block.x * 128 + ctx.thread
  var acc = 0.0
  for dy in range(0, 3) {
    for dx in range(0, 3) {
      acc += F[c, dy, dx] * X[c, h + dy - 1, w + dx - 1]
    }
  }
  Y[c, h, w] = acc
}
""",
    lambda r: {"X": f32(r, 3, 12, 40), "F": f32(r, 3, 3, 3), "Y": empty(3, 12, 40)},
    lambda v: {"Y": _depthwise(v["X"], v["F"])},
    grid=(1, 12, 3),
)


def _depthwise(x: Any, f: Any) -> Any:
    h, w = x.shape[1:]
    p = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    shifted = [(dy, dx, p[:, dy : dy + h, dx : dx + w]) for dy in range(3) for dx in range(3)]
    return sum(f[:, dy, dx][:, None, None] * part for dy, dx, part in shifted)


written(
    "grey",
    """\
@launch(128)
kernel grey(P: tensor<u8>[H, W, 3], G: tensor<u8>[H, W]) {
  let h = ctx.block.y
  let w = ctx.block.x * 128 + ctx.thread
  if w < W {
    let r = f32(P[h, w, 0])
    let g = f32(P[h, w, 1])
    let b = f32(P[h, w, 2])
    G[h, w] = u8(floor(0.299 * r + 0.587 * g + 0.114 * b + 0.5))
  }
}
""",
    lambda r: {
        "P": r.integers(0, 256, (6, 150, 3)).astype(np.uint8), "G": empty(6, 150, dtype=np.uint8)
    },
    lambda v: {
        "G": np.floor(v["P"].astype(np.float32) @ np.array([0.299, 0.587, 0.114]) + 0.5).astype(np.uint8)
    },
    grid=(2, 6, 1),
)  # fmt: skip

# ---------------------------------------------------------------- shared memory

written(
    "block_scan",
    """\
@launch(128)
kernel block_scan(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var s: shared<f32>[2, 128]
  let t = ctx.thread
  let i = ctx.block.x * 128 + t
  var now = 0
  s[0, t] = X[i]
  barrier()
  var step = 1
  while step < 128 {
    if t >= step {
      s[1 - now, t] = s[now, t] + s[now, t - step]
    } else {
      s[1 - now, t] = s[now, t]
    }
    barrier()
    now = 1 - now
    step = step * 2
  }
  Y[i] = s[now, t]
}
""",
    lambda r: {"X": f32(r, 384), "Y": empty(384)},
    lambda v: {"Y": np.cumsum(v["X"].reshape(-1, 128), axis=1).reshape(-1)},
    grid=(3, 1, 1),
)

written(
    "halo_mean",
    """\
@launch(64)
kernel halo_mean(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var s: shared<f32>[66]
  let t = ctx.thread
  let i = ctx.block.x * 64 + t
  s[t + 1] = X[i]
  if t == 0 {
    s[0] = X[i - 1]
  }
  if t == 63 {
    s[65] = X[i + 1]
  }
  barrier()
  Y[i] = (s[t] + s[t + 1] + s[t + 2]) / 3.0
}
""",
    lambda r: {"X": f32(r, 256), "Y": empty(256)},
    lambda v: {"Y": np.convolve(v["X"], np.ones(3) / 3, "same")},
    grid=(4, 1, 1),
)

# ---------------------------------------------------------------- products

written(
    "batched_softmax_product",
    """\
@launch(128)
kernel batched_softmax_product(S: tensor<f32>[B, M, N], V: tensor<f32>[B, N, D],
                               O: tensor<f32>[B, M, D]) {
  let b = ctx.block.z
  let i = ctx.block.x * 16
  let d = ctx.block.y * 16
  var top: tile<f32>[16, 1] = -inf
  for j in range(0, N, 16) {
    var s = pad(S[b, i :+ 16, j :+ 16], -inf)
    top = tmax(top, rowmax(s))
  }
  var total: tile<f32>[16, 1] = 0.0
  var acc: tile<f32>[16, 16] = 0.0
  for j in range(0, N, 16) {
    var s = pad(S[b, i :+ 16, j :+ 16], -inf)
    var v = V[b, j :+ 16, d :+ 16]
    let p: tile<f32>[16, 16] = exp(s - top)
    total += rowsum(p)
    acc += dot(p, v)
  }
  O[b, i :+ 16, d :+ 16] = acc / total
}
""",
    lambda r: {"S": 2 * f32(r, 2, 20, 50), "V": f32(r, 2, 50, 24), "O": empty(2, 20, 24)},
    lambda v: {"O": softmax_of(v["S"]) @ v["V"]},
)

written(
    "split_sums",
    """\
@launch(128)
kernel split_sums(X: tensor<f32>[M, K], Y: tensor<f32>[M]) {
  let i = ctx.block.x * 16
  let k = ctx.block.y * 64
  var x = X[i :+ 16, k :+ 64]
  atomic_add(Y, i, flat(rowsum(x)))
}
""",
    lambda r: {"X": f32(r, 40, 200), "Y": empty(40)},
    lambda v: {"Y": v["X"].sum(axis=1)},
    grid=(3, 4, 1),
)

written(
    "bf16_residual",
    """\
@launch(128)
kernel bf16_residual(X: tensor<bf16>[N], R: tensor<bf16>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x * 256
  Y[i :+ 256] = f32(X[i :+ 256]) * a + f32(R[i :+ 256])
}
""",
    lambda r: {"X": _bf16(f32(r, 600)), "R": _bf16(f32(r, 600)), "Y": empty(600), "a": 0.3},
    lambda v: {"Y": v["X"] * float(np.float32(v["a"])) + v["R"]},
)


def _bf16(x: Any) -> Any:
    import ml_dtypes

    return x.astype(ml_dtypes.bfloat16)
