// segmented_scan: in each segment S[s] .. S[s + 1] - 1 of X, Y <- the running sums from its start
// Shapes:  X [N] f32, S [L] i32, Y [N] f32; any extents, any strides; L - 1 segments
// Launch:  grid=(L - 1) by the caller, 256 threads; a CTA walks a segment TILE elements at a time
// Numerics: f32; error of a sum of m elements at most m * 2^-24 * sum of |x|; the rest of Y stays
// Work:    about 2*N flop; 2*N * 4 bytes minimum traffic
// Errors:  PH708 without grid=; PH704 when X and Y differ in length

@autotune(TILE in [32, 128])
@launch(256)
kernel segmented_scan(X: tensor<f32>[N], S: tensor<i32>[L], Y: tensor<f32>[N]) {
  let end = S[ctx.block.x + 1]

  var carry: tile<f32>[1, 1] = 0.0
  for i in range(S[ctx.block.x], end, TILE) {
    var x = transpose(X[i :+ TILE until end])
    Y[i :+ TILE until end] = flat(carry + cumsum(x))
    carry += colsum(x)
  }
}
