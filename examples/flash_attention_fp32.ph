// flash_attention: O <- softmax(scale * Q @ K transposed) @ V, for every head
// Shapes:  Q [H, NQ, D] f32, K [H, NK, D] f32, V [H, NK, D] f32, O [H, NQ, D] f32; D constant, 64 if not set
// Launch:  grid (ceil(NQ/BR), H), 256 threads; a CTA holds BR queries and walks the keys BC at a time
// Numerics: f32, running maximum and sum; error near (D * |scale| * |q| . |k| + NK) * 2^-24 of the
//          mean of |V|. No keys at all (NK = 0) give NaN, as the formula does
// Work:    4*H*NQ*NK*D flop and H*NQ*NK exp; 2*H*(NQ + NK)*D * 4 bytes minimum traffic
// Errors:  PH704 when the arrays disagree in H, NQ, NK or D

@autotune(BR in [32, 64], BC in [32, 64])
@launch(256)
kernel flash_attention<D: int = 64>(Q: tensor<f32>[H, NQ, D],
                                    K: tensor<f32>[H, NK, D],
                                    V: tensor<f32>[H, NK, D],
                                    O: tensor<f32>[H, NQ, D],
                                    scale: f32) {
  let i = ctx.block.x * BR
  let h = ctx.block.y

  var q = Q[h, i :+ BR, :]
  var highest: tile<f32>[BR, 1] = -inf
  var total: tile<f32>[BR, 1] = 0.0
  var acc: tile<f32>[BR, D] = 0.0

  for j in range(0, NK, BC) {
    var k = K[h, j :+ BC, :]
    var v = V[h, j :+ BC, :]
    let s: tile<f32>[BR, BC] = where(iota(BC) < NK - j, scale * dot_t(q, k), -inf)
    let previous: tile<f32>[BR, 1] = highest
    highest = tmax(highest, rowmax(s))
    let p: tile<f32>[BR, BC] = exp(s - highest)
    let shrink: tile<f32>[BR, 1] = exp(previous - highest)
    total = total * shrink + rowsum(p)
    acc = acc * shrink + dot(p, v)
  }

  O[h, i :+ BR, :] = acc / total
}
