// attention: O <- softmax(scale * Q @ K transposed) @ V per head, for any float type, causal or not
// Shapes:  Q [H, NQ, D] f, K [H, NK, D] f, V [H, NK, D] f, O [H, NQ, D] f; D constant, 64 if not set
// Launch:  grid (ceil(NQ/BR), H), 256 threads; a CTA holds BR queries and walks the keys BC at a time
// Numerics: scores, maximum and sums in f32, probabilities rounded to T; CAUSAL lets query i see the
//          keys 0 .. i. No keys at all (NK = 0) give NaN, as the formula does
// Work:    4*H*NQ*NK*D flop and H*NQ*NK exp, half of it if causal; 2*H*(NQ + NK)*D elements of traffic
// Errors:  PH702 when the arrays differ in dtype; PH704 when they disagree in H, NQ, NK or D

@autotune(BR in [32, 128], BC in [32, 64])
@launch(256)
@tensorcore
kernel attention<T: dtype = f16, CAUSAL: bool = false, D: int = 64>(
    Q: tensor<T>[H, NQ, D], K: tensor<T>[H, NK, D], V: tensor<T>[H, NK, D], O: tensor<T>[H, NQ, D],
    scale: f32) {
  let i = ctx.block.x * BR
  let h = ctx.block.y

  var q = Q[h, i :+ BR, :]
  var highest: tile<f32>[BR, 1] = -inf
  var total: tile<f32>[BR, 1] = 0.0
  var acc: tile<f32>[BR, D] = 0.0

  var end = NK
  if CAUSAL {
    end = min(NK, i + BR)
  }
  for j in range(0, end, BC) {
    var k = K[h, j :+ BC, :]
    var v = V[h, j :+ BC, :]
    var s: tile<f32>[BR, BC] = where(iota(BC) < NK - j, scale * dot_t(q, k), -inf)
    if CAUSAL {
      s = where(iota(BC) + j <= transpose(iota(BR)) + i, s, -inf)
    }
    let previous: tile<f32>[BR, 1] = highest
    highest = tmax(highest, rowmax(s))
    let p: tile<f32>[BR, BC] = exp(s - highest)
    let shrink: tile<f32>[BR, 1] = exp(previous - highest)
    total = total * shrink + rowsum(p)
    acc = acc * shrink + dot(T(p), v)
  }

  O[h, i :+ BR, :] = acc / total
}
