// transpose: B <- A transposed
// Shapes:  A [M, N] f32, B [N, M] f32; any extents, any strides
// Launch:  grid (ceil(M/TILE_M), ceil(N/TILE_N)), 256 threads
// Numerics: exact
// Work:    0 flop; 2*M*N * 4 bytes minimum traffic
// Errors:  PH704 when B is not [N, M]

@autotune(TILE_M in [32, 64], TILE_N in [32, 64])
@launch(256)
kernel transpose(A: tensor<f32>[M, N], B: tensor<f32>[N, M]) {
  let m = ctx.block.x * TILE_M
  let n = ctx.block.y * TILE_N
  var t = A[m :+ TILE_M, n :+ TILE_N]
  B[n :+ TILE_N, m :+ TILE_M] = transpose(t)
}
