// histogram: H[v] <- H[v] + how often v occurs in X
// Shapes:  X [N] u8, H [BINS] i32; BINS constant, 256 if not set; any N, any strides
// Launch:  grid=(CTAs) by the caller, 256 threads; neighbouring threads take neighbouring elements
// Numerics: exact, wraps past 2^31; values from BINS on count nowhere
// Work:    N additions; N bytes read, one atomic each
// Errors:  PH708 without grid=, since no store says how many CTAs there are

@launch(256)
kernel histogram<BINS: int = 256>(X: tensor<u8>[N], H: tensor<i32>[BINS]) {
  for i in range(ctx.block.x * 256 + ctx.thread, N, ctx.blocks.x * 256) {
    atomic_add(H, i32(X[i]), 1)
  }
}
