func.func @f(%a: tensor<f32>) {
  %0 = stablehlo.negate %a : tensor<f32>
}
