// saxpy: Y <- a * X + Y
// Shapes:  X [N] f32, Y [N] f32; any N, any strides
// Launch:  grid (ceil(N/TILE)), 256 threads
// Numerics: one product and one sum, each rounded: error at most 2^-24 * (|a*x| + |a*x + y|)
// Work:    2*N flop; 3*N * 4 bytes minimum traffic
// Errors:  PH704 when X and Y differ in length

@autotune(TILE in [256, 2048])
@launch(256)
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x * TILE
  let x = X[i :+ TILE]
  let y = Y[i :+ TILE]
  Y[i :+ TILE] = a * x + y
}
