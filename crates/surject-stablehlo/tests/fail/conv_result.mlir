module {
  func.func @main(%a: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x6xf32>) {
    %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x6xf32>) -> tensor<1x6x6x6xf32>
    return
  }
}
