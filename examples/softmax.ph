// softmax: each row of Y <- exp(x - max) / sum(exp(x - max)) of that row of X
// Shapes:  X [M, N] f32, Y [M, N] f32; any extents, any strides
// Launch:  grid (ceil(M/ROWS)), 256 threads; a CTA walks its rows in chunks of COLS, twice
// Numerics: f32, running maximum and sum; relative error at most about (N + 4*|x - max| + 64) * 2^-24.
//          A row with a NaN, a +inf, or nothing but -inf gives NaN, as the formula does
// Work:    about 8*M*N flop and 2*M*N exp; 3*M*N * 4 bytes traffic
// Errors:  PH704 when X and Y differ in shape

@autotune(ROWS in [4, 16], COLS in [128, 512])
@launch(256)
kernel softmax(X: tensor<f32>[M, N], Y: tensor<f32>[M, N]) {
  let row = ctx.block.x * ROWS

  var highest: tile<f32>[ROWS, 1] = -inf
  var base: tile<f32>[ROWS, 1] = 0.0
  var total: tile<f32>[ROWS, 1] = 0.0

  for col in range(0, N, COLS) {
    var x = pad(X[row :+ ROWS, col :+ COLS], -inf)
    let previous: tile<f32>[ROWS, 1] = highest
    highest = tmax(highest, rowmax(x))
    base = where(highest == -inf, 0.0, highest)  // -inf - -inf would be NaN
    total = total * exp(previous - base) + rowsum(exp(x - base))
  }

  for col in range(0, N, COLS) {
    let x = X[row :+ ROWS, col :+ COLS]
    Y[row :+ ROWS, col :+ COLS] = exp(x - base) / total
  }
}
