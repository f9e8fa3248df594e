// reduce_shared: P[b] <- sum of the 512 elements of X from 512*b on, by a tree in shared memory
// Shapes:  X [N] f32, P [B] f32; any extents, any strides; B = ceil(N/512) covers X
// Launch:  grid (B), 256 threads; each thread adds two elements, then half of the threads go on
// Numerics: f32, pairwise; error at most 9 * 2^-24 * sum of |X|
// Work:    N flop; N * 4 bytes minimum traffic
// Errors:  none beside those of every call

@launch(256)
kernel reduce_shared(X: tensor<f32>[N], P: tensor<f32>[B]) {
  var s: shared<f32>[256]
  let t = ctx.thread
  let i = ctx.block.x * 512 + t

  s[t] = X[i] + X[i + 256]
  barrier()
  var half = 128
  while half > 0 {
    if t < half {
      s[t] = s[t] + s[t + half]
    }
    barrier()
    half = half / 2
  }
  if t == 0 {
    P[ctx.block.x] = s[0]
  }
}
