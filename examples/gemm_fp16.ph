// gemm: C <- alpha * A @ B + beta * C, f16 in memory
// Shapes:  A [M, K] f16, B [K, N] f16, C [M, N] f16; any extents, any strides
// Launch:  grid (ceil(M/TILE_M), ceil(N/TILE_N)), 256 threads
// Numerics: f32 accumulate, one rounding to f16; error at most
//          (K + 4) * 2^-24 * (|alpha| * |A| @ |B| + |beta * C|) + 2^-11 * |C| + 2^-25
// Work:    2*M*N*K flop; (M*K + K*N + 2*M*N) * 2 bytes minimum traffic
// Errors:  PH704 when the extents of A, B and C disagree

@autotune(TILE_M in [32, 256], TILE_N in [32, 256], TILE_K in [16, 64])
@launch(256)
@pipeline
@tensorcore
kernel gemm(A: tensor<f16>[M, K],
            B: tensor<f16>[K, N],
            C: tensor<f16>[M, N],
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
