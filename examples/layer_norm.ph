// layer_norm: each row of Y <- (x - mean) / sqrt(variance + eps) * W + B, over that row of X
// Shapes:  X [M, N] f32, W [N] f32, B [N] f32, Y [M, N] f32; any extents, any strides
// Launch:  grid (ceil(M/ROWS)), 256 threads; a CTA walks its rows in chunks of COLS, three times
// Numerics: f32; the variance is summed from centred values, so a large mean does no harm
// Work:    about 9*M*N flop; 4*M*N * 4 bytes traffic
// Errors:  PH704 when X and Y differ in shape, or W or B in length

@autotune(ROWS in [4, 16], COLS in [128, 512])
@launch(256)
kernel layer_norm(X: tensor<f32>[M, N],
                  W: tensor<f32>[N],
                  B: tensor<f32>[N],
                  Y: tensor<f32>[M, N],
                  eps: f32) {
  let row = ctx.block.x * ROWS

  var mean: tile<f32>[ROWS, 1] = 0.0
  for col in range(0, N, COLS) {
    let x = X[row :+ ROWS, col :+ COLS]
    mean += rowsum(x)
  }
  mean = mean / f32(N)

  var variance: tile<f32>[ROWS, 1] = 0.0
  for col in range(0, N, COLS) {
    let x = X[row :+ ROWS, col :+ COLS]
    let d: tile<f32>[ROWS, COLS] = where(iota(COLS) < N - col, x - mean, 0.0)
    variance += rowsum(d * d)
  }
  let scale: tile<f32>[ROWS, 1] = rsqrt(variance / f32(N) + eps)

  for col in range(0, N, COLS) {
    let x = X[row :+ ROWS, col :+ COLS]
    let w = W[col :+ COLS]
    let b = B[col :+ COLS]
    Y[row :+ ROWS, col :+ COLS] = (x - mean) * scale * w + b
  }
}
