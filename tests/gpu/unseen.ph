// Kernels that no model of the time was made with: for judging the order of a guided search.

@autotune(TILE_M in [4, 64], TILE_N in [32, 256])
@launch(256)
kernel bias_gelu(X: tensor<f32>[M, N], B: tensor<f32>[N], Y: tensor<f32>[M, N]) {
  let i = ctx.block.x * TILE_M
  let j = ctx.block.y * TILE_N
  let x = X[i :+ TILE_M, j :+ TILE_N] + B[j :+ TILE_N]
  Y[i :+ TILE_M, j :+ TILE_N] = 0.5 * x * (1.0 + erf(x * 0.70710678))
}

@autotune(ROWS in [2, 32], COLS in [64, 1024])
@launch(256)
kernel unit_rows(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let row = ctx.block.x * ROWS
  var total: tile<f32>[ROWS, 1] = 0.0
  for col in range(0, N, COLS) {
    let x = X[row :+ ROWS, col :+ COLS]
    total += rowsum(x * x)
  }
  let scale = rsqrt(total)
  for col in range(0, N, COLS) {
    Y[row :+ ROWS, col :+ COLS] = X[row :+ ROWS, col :+ COLS] * scale
  }
}

@autotune(ROWS in [8, 128], COLS in [16, 256])
@launch(256)
kernel column_means(X: tensor<f32>[M, N], Y: tensor<f32>[N]) {
  let col = ctx.block.x * COLS
  var total: tile<f32>[1, COLS] = 0.0
  for row in range(0, M, ROWS) {
    var x = X[row :+ ROWS, col :+ COLS]
    total += colsum(x)
  }
  Y[col :+ COLS] = flat(total / f32(M))
}

@autotune(TILE_M in [32, 128], TILE_N in [32, 128], TILE_K in [8, 32])
@launch(256)
kernel two_products(A: tensor<f32>[M, K], B: tensor<f32>[K, N], G: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  let i = ctx.block.x * TILE_M
  let j = ctx.block.y * TILE_N
  var up: tile<f32>[TILE_M, TILE_N] = 0.0
  var gate: tile<f32>[TILE_M, TILE_N] = 0.0
  for k in range(0, K, TILE_K) {
    var a = A[i :+ TILE_M, k :+ TILE_K]
    var b = B[k :+ TILE_K, j :+ TILE_N]
    var g = G[k :+ TILE_K, j :+ TILE_N]
    up += dot(a, b)
    gate += dot(a, g)
  }
  C[i :+ TILE_M, j :+ TILE_N] = up * sigmoid(gate)
}
