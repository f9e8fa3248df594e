// varlen_attention: softmax attention in each of B - 1 sequences that lie one behind the other
// Shapes:  Q [N, H, D] f32, K [N, H, D] f32, V [N, H, D] f32, S [B] i32, O [N, H, D] f32; D constant,
//          32 if not set; sequence b has the rows S[b] .. S[b + 1] - 1
// Launch:  grid=(ceil(longest/BR), H, B - 1) by the caller, 256 threads
// Numerics: f32, running maximum and sum, as in flash_attention; rows of no sequence stay as they are
// Work:    4*H*D flop and H exp per pair of rows of a sequence; 4*N*H*D * 4 bytes minimum traffic
// Errors:  PH708 without grid=; PH704 when the arrays disagree in N, H or D

@autotune(BR in [32, 64], BC in [32, 64])
@launch(256)
kernel varlen_attention<D: int = 32>(Q: tensor<f32>[N, H, D],
                                     K: tensor<f32>[N, H, D],
                                     V: tensor<f32>[N, H, D],
                                     S: tensor<i32>[B],
                                     O: tensor<f32>[N, H, D],
                                     scale: f32) {
  let h = ctx.block.y
  let start = S[ctx.block.z]
  let end = S[ctx.block.z + 1]
  let i = start + ctx.block.x * BR
  if i >= end {
    return
  }

  var q = Q[i :+ BR until end, h, :]
  var highest: tile<f32>[BR, 1] = -inf
  var total: tile<f32>[BR, 1] = 0.0
  var acc: tile<f32>[BR, D] = 0.0

  for j in range(start, end, BC) {
    var k = K[j :+ BC until end, h, :]
    var v = V[j :+ BC until end, h, :]
    let s: tile<f32>[BR, BC] = where(iota(BC) < end - j, scale * dot_t(q, k), -inf)
    let previous: tile<f32>[BR, 1] = highest
    highest = tmax(highest, rowmax(s))
    let p: tile<f32>[BR, BC] = exp(s - highest)
    let shrink: tile<f32>[BR, 1] = exp(previous - highest)
    total = total * shrink + rowsum(p)
    acc = acc * shrink + dot(p, v)
  }

  O[i :+ BR until end, h, :] = acc / total
}
