"""More kernels as users write them: matrices, neighbours, tables, integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.simulate.planted_texts import Values, empty, f32, softmax_of, written

# ---------------------------------------------------------------- products

written(
    "tiled_product",
    """\
@launch(256)
kernel tiled_product(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var a: shared<f32>[16, 16]
  var b: shared<f32>[16, 16]
  let tx = ctx.thread % 16
  let ty = ctx.thread / 16
  let row = ctx.block.y * 16 + ty
  let col = ctx.block.x * 16 + tx
  var acc = 0.0
  for k in range(0, (K + 15) / 16) {
    a[ty, tx] = A[row, k * 16 + tx]
    b[ty, tx] = B[k * 16 + ty, col]
    barrier()
    for q in range(0, 16) {
      acc += a[ty, q] * b[q, tx]
    }
    barrier()
  }
  C[row, col] = acc
}
""",
    lambda r: {"A": f32(r, 40, 37), "B": f32(r, 37, 30), "C": empty(40, 30)},
    lambda v: {"C": v["A"] @ v["B"]},
    grid=(2, 3, 1),
)

written(
    "half_product",
    """\
@launch(128)
kernel half_product(A: tensor<f16>[M, K], B: tensor<f16>[K, N], C: tensor<f32>[M, N]) {
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 16) {
    var a = A[i :+ 32, k :+ 16]
    var b = B[k :+ 16, j :+ 32]
    acc += dot(a, b)
  }
  C[i :+ 32, j :+ 32] = acc
}
""",
    lambda r: {
        "A": f32(r, 64, 128).astype(np.float16),
        "B": f32(r, 128, 64).astype(np.float16),
        "C": empty(64, 64),
    },
    lambda v: {"C": v["A"] @ v["B"]},
)

written(
    "linear_relu",
    """\
@launch(128)
kernel linear_relu(X: tensor<f32>[M, K], W: tensor<f32>[N, K], B: tensor<f32>[N], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 16) {
    var x = X[i :+ 32, k :+ 16]
    var w = W[j :+ 32, k :+ 16]
    acc += dot_t(x, w)
  }
  Y[i :+ 32, j :+ 32] = tmax(acc + B[j :+ 32], 0.0)
}
""",
    lambda r: {"X": f32(r, 50, 44), "W": f32(r, 50, 44), "B": f32(r, 50), "Y": empty(50, 50)},
    lambda v: {"Y": np.maximum(v["X"] @ v["W"].T + v["B"], 0)},
)

written(
    "grouped_heads",
    """\
@launch(128)
kernel grouped_heads(Q: tensor<f32>[H, M, D], K: tensor<f32>[G, N, D], S: tensor<f32>[H, M, N]) {
  let h = ctx.block.z
  let g = h / 2
  let i = ctx.block.x * 16
  let j = ctx.block.y * 16
  var acc: tile<f32>[16, 16] = 0.0
  for d in range(0, D, 16) {
    var q = Q[h, i :+ 16, d :+ 16]
    var k = K[g, j :+ 16, d :+ 16]
    acc += dot_t(q, k)
  }
  S[h, i :+ 16, j :+ 16] = 0.25 * acc
}
""",
    lambda r: {"Q": f32(r, 4, 24, 32), "K": f32(r, 2, 40, 32), "S": empty(4, 24, 40)},
    lambda v: {"S": 0.25 * np.einsum("hmd,hnd->hmn", v["Q"], np.repeat(v["K"], 2, axis=0))},
)

written(
    "causal_attention",
    """\
@launch(128)
kernel causal_attention(Q: tensor<f32>[T, 32], K: tensor<f32>[T, 32],
                        V: tensor<f32>[T, 32], O: tensor<f32>[T, 32]) {
  let i = ctx.block.x * 16
  var q = Q[i :+ 16, :]
  var highest: tile<f32>[16, 1] = -inf
  var total: tile<f32>[16, 1] = 0.0
  var acc: tile<f32>[16, 32] = 0.0
  for j in range(0, T, 16) {
    var k = K[j :+ 16, :]
    var v = V[j :+ 16, :]
    let ahead: tile<i32>[16, 16] = iota(16) + i32(j) - (transpose(iota(16)) + i32(i))
    let s: tile<f32>[16, 16] = where(ahead <= 0, 0.17677669 * dot_t(q, k), -inf)
    let before: tile<f32>[16, 1] = highest
    highest = tmax(highest, rowmax(s))
    let p: tile<f32>[16, 16] = exp(s - highest)
    let shrink: tile<f32>[16, 1] = exp(before - highest)
    total = total * shrink + rowsum(p)
    acc = acc * shrink + dot(p, v)
  }
  O[i :+ 16, :] = acc / total
}
""",
    lambda r: {"Q": f32(r, 40, 32), "K": f32(r, 40, 32), "V": f32(r, 40, 32), "O": empty(40, 32)},
    lambda v: {"O": _causal(v)},
)


def _causal(v: Values) -> Any:
    scores = v["Q"] @ v["K"].T / np.sqrt(32)
    return softmax_of(np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)) @ v["V"]


# ---------------------------------------------------------------- moving and neighbours

written(
    "tile_transpose",
    """\
@launch(128)
kernel tile_transpose(A: tensor<f32>[M, N], B: tensor<f32>[N, M]) {
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  B[j :+ 32, i :+ 32] = transpose(A[i :+ 32, j :+ 32])
}
""",
    lambda r: {"A": f32(r, 64, 96), "B": empty(96, 64)},
    lambda v: {"B": v["A"].T},
)

written(
    "convolve",
    """\
@launch(128)
kernel convolve(X: tensor<f32>[N], W: tensor<f32>[R], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 128 + ctx.thread
  var acc = 0.0
  for k in range(0, R) {
    acc += W[k] * X[i + k - R / 2]
  }
  Y[i] = acc
}
""",
    lambda r: {"X": f32(r, 300), "W": f32(r, 5), "Y": empty(300)},
    lambda v: {"Y": np.convolve(v["X"], v["W"][::-1], "same")},
    grid=(3, 1, 1),
)

written(
    "relax",
    """\
@launch(128)
kernel relax(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * 8
  let j = ctx.block.y * 32
  let up = X[i - 1 :+ 8, j :+ 32]
  let down = X[i + 1 :+ 8, j :+ 32]
  let left = X[i :+ 8, j - 1 :+ 32]
  let right = X[i :+ 8, j + 1 :+ 32]
  Y[i :+ 8, j :+ 32] = 0.25 * (up + down + left + right)
}
""",
    lambda r: {"X": f32(r, 24, 64), "Y": empty(24, 64)},
    lambda v: {"Y": _relaxed(v["X"])},
)


def _relaxed(x: Any) -> Any:
    p = np.pad(x, 1)
    return 0.25 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:])


written(
    "pool",
    """\
@launch(128)
kernel pool(X: tensor<f32>[M, N], Y: tensor<f32>[P, Q]) {
  let i = ctx.block.y
  for j in range(ctx.thread, Q, 128) {
    let top = X[2 * i, 2 * j] + X[2 * i, 2 * j + 1]
    let bottom = X[2 * i + 1, 2 * j] + X[2 * i + 1, 2 * j + 1]
    Y[i, j] = (top + bottom) / 4.0
  }
}
""",
    lambda r: {"X": f32(r, 20, 60), "Y": empty(10, 30)},
    lambda v: {"Y": v["X"].reshape(10, 2, 30, 2).mean(axis=(1, 3))},
    grid=(1, 10, 1),
)

written(
    "interleave",
    """\
@launch(64)
kernel interleave(A: tensor<f32>[N], B: tensor<f32>[N], C: tensor<f32>[M]) {
  let i = ctx.block.x * 64 + ctx.thread
  if i < N {
    C[2 * i] = A[i]
    C[2 * i + 1] = B[i]
  }
}
""",
    lambda r: {"A": f32(r, 150), "B": f32(r, 150), "C": empty(300)},
    lambda v: {"C": np.stack([v["A"], v["B"]], axis=1).reshape(-1)},
    grid=(3, 1, 1),
)

# ---------------------------------------------------------------- tables

written(
    "pick_rows",
    """\
@launch(64)
kernel pick_rows(T: tensor<f32>[V, D], I: tensor<i32>[N], Y: tensor<f32>[N, D]) {
  let n = ctx.block.x
  let v = I[n]
  for d in range(ctx.thread, D, 64) {
    Y[n, d] = T[v, d]
  }
}
""",
    lambda r: {
        "T": f32(r, 30, 70), "I": r.permutation(30)[:20].astype(np.int32), "Y": empty(20, 70)
    },
    lambda v: {"Y": v["T"][v["I"]]},
    grid=(20, 1, 1),
)  # fmt: skip

written(
    "permute",
    """\
@launch(64)
kernel permute(X: tensor<f32>[N], I: tensor<i32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 64 + ctx.thread
  if i < N {
    Y[I[i]] = X[i]
  }
}
""",
    lambda r: {"X": f32(r, 200), "I": r.permutation(200).astype(np.int32), "Y": empty(200)},
    lambda v: {"Y": v["X"][np.argsort(v["I"])]},
    grid=(4, 1, 1),
)

written(
    "weighted_bins",
    """\
@launch(128)
kernel weighted_bins(X: tensor<f32>[N], W: tensor<f32>[N], H: tensor<f32>[B]) {
  let i = ctx.block.x * 128 + ctx.thread
  if i < N {
    atomic_add(H, i32(floor(X[i] * 16.0)), W[i])
  }
}
""",
    lambda r: {
        "X": r.random(500).astype(np.float32), "W": f32(r, 500), "H": empty(16)
    },
    lambda v: {
        "H": np.bincount((v["X"] * 16).astype(int), v["W"], minlength=16)[:16]
    },
    grid=(4, 1, 1),
)  # fmt: skip

# ---------------------------------------------------------------- integers

written(
    "wide_products",
    """\
@launch(128)
kernel wide_products(A: tensor<i32>[N], B: tensor<i32>[N], P: tensor<i64>[N]) {
  let i = ctx.block.x * 128
  P[i :+ 128] = i64(A[i :+ 128]) * i64(B[i :+ 128])
}
""",
    lambda r: {
        "A": r.integers(-(2**20), 2**20, 300).astype(np.int32),
        "B": r.integers(-(2**20), 2**20, 300).astype(np.int32),
        "P": empty(300, dtype=np.int64),
    },
    lambda v: {"P": v["A"].astype(np.int64) * v["B"].astype(np.int64)},
)

written(
    "midpoint",
    """\
@launch(128)
kernel midpoint(A: tensor<i32>[N], B: tensor<i32>[N], C: tensor<i32>[N]) {
  let i = ctx.block.x * 128
  C[i :+ 128] = (A[i :+ 128] + B[i :+ 128]) >> 1
}
""",
    lambda r: {
        "A": r.integers(-1000, 1000, 300).astype(np.int32),
        "B": r.integers(-1000, 1000, 300).astype(np.int32),
        "C": empty(300, dtype=np.int32),
    },
    lambda v: {"C": (v["A"] + v["B"]) // 2},
)

written(
    "byte_product",
    """\
@launch(128)
kernel byte_product(A: tensor<i8>[M, K], B: tensor<i8>[K, N], C: tensor<i32>[M, N]) {
  let i = ctx.block.x * 16
  let j = ctx.block.y * 16
  var acc: tile<i32>[16, 16] = 0
  for k in range(0, K, 32) {
    acc += dot(A[i :+ 16, k :+ 32], B[k :+ 32, j :+ 16])
  }
  C[i :+ 16, j :+ 16] = acc
}
""",
    lambda r: {
        "A": r.integers(-128, 128, (32, 70)).astype(np.int8),
        "B": r.integers(-128, 128, (70, 32)).astype(np.int8),
        "C": empty(32, 32, dtype=np.int32),
    },
    lambda v: {"C": v["A"].astype(np.int32) @ v["B"].astype(np.int32)},
)
