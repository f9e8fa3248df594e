// scan: each column of Y <- the running sums of that column of X, from the top
// Shapes:  X [M, N] f32, Y [M, N] f32; any extents, any strides
// Launch:  grid (ceil(N/COLS)), 256 threads; a CTA walks down its columns ROWS at a time
// Numerics: f32; error of a sum of m elements at most m * 2^-24 * sum of |x|
// Work:    about 2*M*N flop; 2*M*N * 4 bytes minimum traffic
// Errors:  PH704 when X and Y differ in shape

@autotune(ROWS in [16, 64], COLS in [32, 128])
@launch(256)
kernel scan(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let col = ctx.block.x * COLS

  var carry: tile<f32>[1, COLS] = 0.0
  for row in range(0, M, ROWS) {
    var x = X[row :+ ROWS, col :+ COLS]
    Y[row :+ ROWS, col :+ COLS] = carry + cumsum(x)
    carry += colsum(x)
  }
}
