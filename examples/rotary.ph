// rotary: rotate each pair (X[t, h, 0, d], X[t, h, 1, d]) by the angle t * F[d], into Y
// Shapes:  X [T, H, 2, D] f32, F [D] f32, Y [T, H, 2, D] f32; D constant, 32 if not set
// Launch:  grid (ceil(T/ROWS), H), 256 threads
// Numerics: f32; the angle is rounded once, so large t * F[d] are off by 2^-24 of themselves
// Work:    7*T*H*D flop and 2*T*H*D of sine and cosine; 4*T*H*D * 4 bytes minimum traffic
// Errors:  PH704 when X and Y differ in shape, or F in length

@autotune(ROWS in [16, 64])
@launch(256)
kernel rotary<D: int = 32>(X: tensor<f32>[T, H, 2, D], F: tensor<f32>[D], Y: tensor<f32>[T, H, 2, D]) {
  let t = ctx.block.x * ROWS
  let h = ctx.block.y

  let angle: tile<f32>[ROWS, D] = f32(transpose(iota(ROWS)) + t) * F[:]
  let c: tile<f32>[ROWS, D] = cos(angle)
  let s: tile<f32>[ROWS, D] = sin(angle)
  let a = X[t :+ ROWS, h, 0, :]
  let b = X[t :+ ROWS, h, 1, :]
  Y[t :+ ROWS, h, 0, :] = a * c - b * s
  Y[t :+ ROWS, h, 1, :] = a * s + b * c
}
