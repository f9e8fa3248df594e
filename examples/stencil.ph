// stencil: Y <- centre * x + side * (sum of the four neighbours of x), zero around X
// Shapes:  X [M, N] f32, Y [M, N] f32; any extents, any strides
// Launch:  grid (ceil(M/TILE_M), ceil(N/TILE_N)), 256 threads
// Numerics: f32, six roundings: error at most 6 * 2^-24 * (|centre * x| + |side| * sum of |neighbours|)
// Work:    6*M*N flop; 2*M*N * 4 bytes minimum traffic
// Errors:  PH704 when X and Y differ in shape

@autotune(TILE_M in [8, 32], TILE_N in [32, 128])
@launch(256)
kernel stencil(X: tensor<f32>[M, N], Y: tensor<f32>[M, N], centre: f32, side: f32) {
  let i = ctx.block.x * TILE_M
  let j = ctx.block.y * TILE_N
  let x = X[i :+ TILE_M, j :+ TILE_N]
  let north = X[i - 1 :+ TILE_M, j :+ TILE_N]
  let south = X[i + 1 :+ TILE_M, j :+ TILE_N]
  let west = X[i :+ TILE_M, j - 1 :+ TILE_N]
  let east = X[i :+ TILE_M, j + 1 :+ TILE_N]
  Y[i :+ TILE_M, j :+ TILE_N] = centre * x + side * (north + south + west + east)
}
