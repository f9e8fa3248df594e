// turn: Y <- X after TURNS multiply-adds that change nothing where a = 1 and b = 0
// The time is proportional to TURNS and the answer does not depend on it: differences of speed to order.

@autotune(TURNS in [
    4000, 4100, 4104, 4108, 4112, 4116, 4120, 4124, 4128, 4132, 4136, 4140, 4144, 4148,
    4152, 4156, 4160, 4164, 4168, 4172, 4176, 4180, 4184, 4188, 4192, 4196, 4200, 4204,
    4208, 4212, 4216, 4220, 4224, 4228, 4232, 4236, 4240, 4244, 4248, 4252, 4256
])
kernel turn(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32, b: f32) {
  let i = ctx.block.x
  var y = X[i * 1024 :+ 1024]
  for k in range(0, TURNS) {
    y = y * a + b
  }
  Y[i * 1024 :+ 1024] = y
}
