// matmul_shared: C <- A @ B by threads that share tiles of A and B, with the author's own barriers
// Shapes:  A [M, K] f32, B [K, N] f32, C [M, N] f32; any extents, any strides
// Launch:  grid (ceil(M/16), ceil(N/16)), 256 threads; each thread computes one element of C
// Numerics: f32, one fma per term in order; error at most (K + 1) * 2^-24 * |A| @ |B|
// Work:    2*M*N*K flop; every element of A and B is read N/16 and M/16 times
// Errors:  PH704 when the extents of A, B and C disagree

@launch(256)
kernel matmul_shared(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var a: shared<f32>[16, 16]
  var b: shared<f32>[16, 16]
  let row = ctx.thread / 16
  let column = ctx.thread % 16
  let i = ctx.block.x * 16 + row
  let j = ctx.block.y * 16 + column

  var sum: f32 = 0.0
  for k in range(0, K, 16) {
    a[row, column] = A[i, k + column]  // zero outside, so that ragged ends add nothing
    b[row, column] = B[k + row, j]
    barrier()
    for d in range(16) {
      sum = fma(a[row, d], b[d, column], sum)
    }
    barrier()
  }
  C[i, j] = sum
}
