// batched_gemm: C[z] <- A[z] @ B[z] for every z, one plane of the grid each
// Shapes:  A [Z, M, K] f32, B [Z, K, N] f32, C [Z, M, N] f32; any extents, any strides
// Launch:  grid (ceil(M/TILE_M), ceil(N/TILE_N), Z), 256 threads
// Numerics: f32 accumulate; error at most (K + 1) * 2^-24 * |A| @ |B|
// Work:    2*Z*M*N*K flop; Z*(M*K + K*N + M*N) * 4 bytes minimum traffic
// Errors:  PH704 when the extents of A, B and C disagree

@autotune(TILE_M in [32, 128], TILE_N in [32, 128], TILE_K in [8, 16])
@launch(256)
kernel batched_gemm(A: tensor<f32>[Z, M, K], B: tensor<f32>[Z, K, N], C: tensor<f32>[Z, M, N]) {
  let i = ctx.block.x * TILE_M
  let j = ctx.block.y * TILE_N
  let z = ctx.block.z

  var acc: tile<f32>[TILE_M, TILE_N] = 0.0
  for k in range(0, K, TILE_K) {
    var a = A[z, i :+ TILE_M, k :+ TILE_K]
    var b = B[z, k :+ TILE_K, j :+ TILE_N]
    acc += dot(a, b)
  }
  C[z, i :+ TILE_M, j :+ TILE_N] = acc
}
