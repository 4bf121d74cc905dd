func.func @f(%a: tensor<f32>) {
  return
}
func.func @g(%a: tensor<i32>) {
  call @f(%a) : (tensor<i32>) -> ()
  return
}
