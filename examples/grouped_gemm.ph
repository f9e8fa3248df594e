// grouped_gemm: the rows S[g] .. S[g + 1] - 1 of C <- those rows of A @ B[g], for every group g
// Shapes:  A [M, K] f32, B [G, K, N] f32, S [L] i32, C [M, N] f32; any extents and strides; L = G + 1
// Launch:  grid=(ceil(longest/TILE_M), ceil(N/TILE_N), G) by the caller, 256 threads
// Numerics: f32 accumulate; error at most (K + 1) * 2^-24 * |A| @ |B[g]|; rows of no group stay
// Work:    2*M*N*K flop; (M*K + G*K*N + M*N) * 4 bytes minimum traffic
// Errors:  PH708 without grid=; PH704 when the extents of A, B and C disagree

@autotune(TILE_M in [32, 64], TILE_N in [32, 64], TILE_K in [8, 16])
@launch(256)
kernel grouped_gemm(A: tensor<f32>[M, K], B: tensor<f32>[G, K, N], S: tensor<i32>[L], C: tensor<f32>[M, N]) {
  let g = ctx.block.z
  let end = S[g + 1]
  let i = S[g] + ctx.block.x * TILE_M
  let j = ctx.block.y * TILE_N
  if i >= end {
    return
  }

  var acc: tile<f32>[TILE_M, TILE_N] = 0.0
  for k in range(0, K, TILE_K) {
    var a = A[i :+ TILE_M until end, k :+ TILE_K]
    var b = B[g, k :+ TILE_K, j :+ TILE_N]
    acc += dot(a, b)
  }
  C[i :+ TILE_M until end, j :+ TILE_N] = acc
}
