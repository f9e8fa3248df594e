// gemm: C <- alpha * A @ B + beta * C
// Shapes:  A [M, K] f32, B [K, N] f32, C [M, N] f32; M, N and K are multiples of their tiles
// Launch:  grid (ceil(M/TILE_M), ceil(N/TILE_N)), 256 threads
// Numerics: f32 accumulate; error at most (K + 4) * 2^-24 * (|alpha| * |A| @ |B| + |beta * C|)
// Work:    2*M*N*K flop; (M*K + K*N + 2*M*N) * 4 bytes minimum traffic
// Errors:  PH705 when an extent is not a multiple of its tile

@autotune(TILE_M in [32, 256], TILE_N in [32, 256], TILE_K in [4, 32])
@launch(256)
@pipeline
@aligned(M = TILE_M, N = TILE_N, K = TILE_K)
kernel gemm(A: tensor<f32>[M, K],
              B: tensor<f32>[K, N],
              C: tensor<f32>[M, N],
              alpha: f32,
              beta: f32) {
  let pm = ctx.block.x
  let pn = ctx.block.y

  var acc: tile<f32>[TILE_M, TILE_N] = 0.0

  for kt in range(0, K, TILE_K) {
    var a = A[pm * TILE_M :+ TILE_M, kt :+ TILE_K]
    var b = B[kt :+ TILE_K, pn * TILE_N :+ TILE_N]
    acc += dot(a, b)
  }

  let c_old = C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N]
  C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N] = alpha * acc + beta * c_old
}
