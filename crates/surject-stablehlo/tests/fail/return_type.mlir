func.func @f(%a: tensor<f32>) -> tensor<i32> {
  return %a : tensor<f32>
}
