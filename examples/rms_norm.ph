// rms_norm: R <- R + X, then each row of Y <- r / sqrt(mean(r * r) + eps) * W
// Shapes:  X [M, N] f32, R [M, N] f32, W [N] f32, Y [M, N] f32; any extents, any strides
// Launch:  grid (ceil(M/ROWS)), 256 threads; a CTA walks its rows in chunks of COLS, twice
// Numerics: f32; relative error of the root at most about (N + 8) * 2^-24
// Work:    about 5*M*N flop; 5*M*N * 4 bytes traffic
// Errors:  PH704 when X, R and Y differ in shape, or W in length

@autotune(ROWS in [4, 16], COLS in [128, 512])
@launch(256)
kernel rms_norm(X: tensor<f32>[M, N],
                R: tensor<f32>[M, N],
                W: tensor<f32>[N],
                Y: tensor<f32>[M, N],
                eps: f32) {
  let row = ctx.block.x * ROWS

  var squares: tile<f32>[ROWS, 1] = 0.0
  for col in range(0, N, COLS) {
    var r: tile<f32>[ROWS, COLS] = R[row :+ ROWS, col :+ COLS] + X[row :+ ROWS, col :+ COLS]
    R[row :+ ROWS, col :+ COLS] = r
    squares += rowsum(r * r)
  }
  let scale: tile<f32>[ROWS, 1] = rsqrt(squares / f32(N) + eps)

  for col in range(0, N, COLS) {
    let r = R[row :+ ROWS, col :+ COLS]
    Y[row :+ ROWS, col :+ COLS] = r * scale * W[col :+ COLS]
  }
}
