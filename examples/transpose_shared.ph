// transpose_shared: B <- A transposed, through shared memory with a pad against bank conflicts
// Shapes:  A [M, N] f32, B [N, M] f32; any extents, any strides
// Launch:  grid (ceil(M/32), ceil(N/32)), 256 threads; a warp reads rows and writes rows
// Numerics: exact
// Work:    0 flop; 2*M*N * 4 bytes minimum traffic
// Errors:  PH704 when B is not [N, M]

@launch(256)
kernel transpose_shared(A: tensor<f32>[M, N], B: tensor<f32>[N, M]) {
  var s: shared<f32>[32, 33]  // 33: the lanes of a warp read a column from 32 different banks
  let m = ctx.block.x * 32
  let n = ctx.block.y * 32

  for r in range(0, 32, 8) {
    s[r + ctx.warp, ctx.lane] = A[m + r + ctx.warp, n + ctx.lane]
  }
  barrier()
  for r in range(0, 32, 8) {
    B[n + r + ctx.warp, m + ctx.lane] = s[ctx.lane, r + ctx.warp]
  }
}
