// Probes of a GPU's roofs. Each thread of multiply_add has eight independent chains.
@autotune(TILE in [2048])
@launch(256)
kernel multiply_add(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32, b: f32, steps: i32) {
  let i = ctx.block.x
  var x = X[i * TILE :+ TILE]
  for k in range(0, steps) {
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
    x = fma(x, a, b)
  }
  Y[i * TILE :+ TILE] = x
}

@autotune(TILE in [4096])
@launch(256)
@aligned(N = TILE)
kernel copy(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = X[i * TILE :+ TILE]
}

// Each CTA adds up 32 rows that no other reads.
@launch(256)
kernel read(X: tensor<f32>[ROWS, 4096], Y: tensor<f32>[CTAS, 4096]) {
  let i = ctx.block.x
  var sum: tile<f32>[1, 4096] = 0.0
  for k in range(0, 32) {
    sum += X[i * 32 + k :+ 1, 0 :+ 4096]
  }
  Y[i :+ 1, 0 :+ 4096] = sum
}

// Every CTA walks the rows in an order of its own, so that L1 caches seldom hold what they need.
@launch(256)
kernel walk(X: tensor<f32>[ROWS, 4096], Y: tensor<f32>[CTAS, 4096], steps: i32) {
  let i = ctx.block.x
  var sum: tile<f32>[1, 4096] = 0.0
  for k in range(0, steps) {
    let row = (i * 7 + k * 131) % ROWS
    sum += X[row :+ 1, 0 :+ 4096]
  }
  Y[i :+ 1, 0 :+ 4096] = sum
}
