// linear_attention: O[t] <- q[t] @ S[t] with S[t] = exp(g[t]) * S[t-1] + k[t] outer v[t], per head
// Shapes:  Q [H, T, D] f32, K [H, T, D] f32, V [H, T, E] f32, G [H, T] f32, O [H, T, E] f32; D and E
//          constants, 32 if not set
// Launch:  grid (H), 256 threads; a CTA keeps the state of a head and walks time C steps at once
// Numerics: f32; log gates g <= 0, whose sums decay within a chunk. Inside a chunk the recurrence is
//          a triangle of products, between chunks one product with the state
// Work:    2*H*T*(C*D + C*E + 2*D*E) flop and H*T*(C + 2) exp; H*T*(2*D + 2*E + 1) * 4 bytes traffic
// Errors:  PH704 when the arrays disagree in H, T, D or E

@autotune(C in [16, 64])
@launch(256)
kernel linear_attention<D: int = 32, E: int = 32>(Q: tensor<f32>[H, T, D],
                                                  K: tensor<f32>[H, T, D],
                                                  V: tensor<f32>[H, T, E],
                                                  G: tensor<f32>[H, T],
                                                  O: tensor<f32>[H, T, E]) {
  let h = ctx.block.x
  var state: tile<f32>[D, E] = 0.0

  for t in range(0, T, C) {
    var q = Q[h, t :+ C, :]
    var k = K[h, t :+ C, :]
    var v = V[h, t :+ C, :]
    var g = transpose(G[h, t :+ C])
    let b: tile<f32>[C, 1] = cumsum(g)
    let end: tile<f32>[1, 1] = colsum(g)

    let inside: tile<f32>[C, C] = tril(dot_t(q, k) * exp(b - transpose(b)))
    let before: tile<f32>[C, E] = exp(b) * dot(q, state)
    O[h, t :+ C, :] = before + dot(inside, v)
    state = exp(end) * state + dot(transpose(k * exp(end - b)), v)
  }
}
