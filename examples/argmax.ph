// argmax: Y[m] <- the first column of the largest element in row m of X
// Shapes:  X [M, N] f32, Y [M] i32; any extents, any strides
// Launch:  grid (ceil(M/ROWS)), 256 threads; a CTA walks its rows in chunks of COLS
// Numerics: exact; 0 where a row holds nothing above -inf; a NaN only counts in the first chunk it leads
// Work:    M*N comparisons; M*N * 4 bytes read
// Errors:  PH704 when X and Y differ in M

@autotune(ROWS in [4, 16], COLS in [128, 512])
@launch(256)
kernel argmax(X: tensor<f32>[M, N], Y: tensor<i32>[M]) {
  let row = ctx.block.x * ROWS

  var best: tile<f32>[ROWS, 1] = -inf
  var place: tile<i32>[ROWS, 1] = 0
  for col in range(0, N, COLS) {
    var x = pad(X[row :+ ROWS, col :+ COLS], -inf)
    let top: tile<f32>[ROWS, 1] = rowmax(x)
    place = where(top > best, i32(rowargmax(x) + col), place)
    best = tmax(best, top)
  }
  Y[row :+ ROWS] = flat(place)
}
