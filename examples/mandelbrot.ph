// mandelbrot: Y[r, c] <- how many of z <- z * z + p stay within |z| <= 2, from z = 0, at most `limit`
// Shapes:  Y [R, C] i32; pixel (r, c) stands for p = (left + c * step) + (top + r * step) * i
// Launch:  grid (ceil(C/256), R), 256 threads; each thread goes on until its own point escapes
// Numerics: f32, every operation rounded; counts near the border differ from exact arithmetic
// Work:    10 flop per step of a point; R*C * 4 bytes written
// Errors:  none beside those of every call

@launch(256)
kernel mandelbrot(Y: tensor<i32>[R, C], left: f32, top: f32, step: f32, limit: i32) {
  let r = ctx.block.y
  let c = ctx.block.x * 256 + ctx.thread
  let p = left + f32(c) * step
  let q = top + f32(r) * step

  var x: f32 = 0.0
  var y: f32 = 0.0
  var count: i32 = 0
  while count < limit && x * x + y * y <= 4.0 {
    let next = x * x - y * y + p
    y = 2.0 * x * y + q
    x = next
    count += 1
  }
  Y[r, c] = count
}
