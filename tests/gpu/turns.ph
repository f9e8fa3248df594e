// turn: Y <- X after TURNS multiply-adds that change nothing where a = 1 and b = 0
// The time is proportional to TURNS and the answer does not depend on it: differences of speed to order.

@autotune(TURNS in [4000, 4040, 4080, 4120, 4160, 4200, 4240, 4280, 4320])
kernel turn(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32, b: f32) {
  let i = ctx.block.x
  var y = X[i * 1024 :+ 1024]
  for k in range(0, TURNS) {
    y = y * a + b
  }
  Y[i * 1024 :+ 1024] = y
}
