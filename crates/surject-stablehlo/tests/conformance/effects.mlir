// Written by generate.py.
func.func @worker() -> (tensor<f32>, tensor<f32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[]]}> : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) <{infeed_config = "", layout = [[]]}> : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  %s = stablehlo.add %a#0, %b#0 : tensor<f32>
  %o = "stablehlo.outfeed"(%s, %b#1) <{outfeed_config = "queue"}> : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  %p = "stablehlo.outfeed"(%o) <{outfeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
  return %a#0, %s : tensor<f32>, tensor<f32>
}
func.func @first() -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}
func.func @second() -> tensor<f32> {
  %0 = stablehlo.constant dense<2.0> : tensor<f32>
  return %0 : tensor<f32>
}
func.func @queues() {
  %r:2 = "interpreter.run_parallel"() {programs = [[@worker]], infeed = [@first, @second]} : () -> (tensor<f32>, tensor<f32>)
  %w0 = stablehlo.constant dense<0x3F800000> : tensor<f32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  %w1 = stablehlo.constant dense<0x40400000> : tensor<f32>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @worker() -> (tensor<2x3xi8>, tensor<2x3xi8>) {
  %t = stablehlo.create_token : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<2x3xi8>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) <{infeed_config = "", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<2x3xi8>, !stablehlo.token)
  %s = stablehlo.add %a#0, %b#0 : tensor<2x3xi8>
  %o = "stablehlo.outfeed"(%s, %b#1) <{outfeed_config = "queue"}> : (tensor<2x3xi8>, !stablehlo.token) -> !stablehlo.token
  %p = "stablehlo.outfeed"(%o) <{outfeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
  return %a#0, %s : tensor<2x3xi8>, tensor<2x3xi8>
}
func.func @first() -> tensor<2x3xi8> {
  %0 = stablehlo.constant dense<1> : tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
func.func @second() -> tensor<2x3xi8> {
  %0 = stablehlo.constant dense<2> : tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
func.func @queues_2() {
  %r:2 = "interpreter.run_parallel"() {programs = [[@worker]], infeed = [@first, @second]} : () -> (tensor<2x3xi8>, tensor<2x3xi8>)
  %w0 = stablehlo.constant dense<[[1, 1, 1], [1, 1, 1]]> : tensor<2x3xi8>
  check.expect_eq %r#0, %w0 : tensor<2x3xi8>
  %w1 = stablehlo.constant dense<[[3, 3, 3], [3, 3, 3]]> : tensor<2x3xi8>
  check.expect_eq %r#1, %w1 : tensor<2x3xi8>
  return
}
// -----
func.func @worker() -> (tensor<0x2xui16>, tensor<0x2xui16>) {
  %t = stablehlo.create_token : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<0x2xui16>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) <{infeed_config = "", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<0x2xui16>, !stablehlo.token)
  %s = stablehlo.add %a#0, %b#0 : tensor<0x2xui16>
  %o = "stablehlo.outfeed"(%s, %b#1) <{outfeed_config = "queue"}> : (tensor<0x2xui16>, !stablehlo.token) -> !stablehlo.token
  %p = "stablehlo.outfeed"(%o) <{outfeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
  return %a#0, %s : tensor<0x2xui16>, tensor<0x2xui16>
}
func.func @first() -> tensor<0x2xui16> {
  %0 = stablehlo.constant dense<1> : tensor<0x2xui16>
  return %0 : tensor<0x2xui16>
}
func.func @second() -> tensor<0x2xui16> {
  %0 = stablehlo.constant dense<2> : tensor<0x2xui16>
  return %0 : tensor<0x2xui16>
}
func.func @queues_3() {
  %r:2 = "interpreter.run_parallel"() {programs = [[@worker]], infeed = [@first, @second]} : () -> (tensor<0x2xui16>, tensor<0x2xui16>)
  %w0 = stablehlo.constant dense<> : tensor<0x2xui16>
  check.expect_eq %r#0, %w0 : tensor<0x2xui16>
  %w1 = stablehlo.constant dense<> : tensor<0x2xui16>
  check.expect_eq %r#1, %w1 : tensor<0x2xui16>
  return
}
// -----
func.func @worker() -> (tensor<4xf64>, tensor<4xf64>) {
  %t = stablehlo.create_token : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) <{infeed_config = "", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf64>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) <{infeed_config = "", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf64>, !stablehlo.token)
  %s = stablehlo.add %a#0, %b#0 : tensor<4xf64>
  %o = "stablehlo.outfeed"(%s, %b#1) <{outfeed_config = "queue"}> : (tensor<4xf64>, !stablehlo.token) -> !stablehlo.token
  %p = "stablehlo.outfeed"(%o) <{outfeed_config = ""}> : (!stablehlo.token) -> !stablehlo.token
  return %a#0, %s : tensor<4xf64>, tensor<4xf64>
}
func.func @first() -> tensor<4xf64> {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf64>
  return %0 : tensor<4xf64>
}
func.func @second() -> tensor<4xf64> {
  %0 = stablehlo.constant dense<2.0> : tensor<4xf64>
  return %0 : tensor<4xf64>
}
func.func @queues_4() {
  %r:2 = "interpreter.run_parallel"() {programs = [[@worker]], infeed = [@first, @second]} : () -> (tensor<4xf64>, tensor<4xf64>)
  %w0 = stablehlo.constant dense<[0x3FF0000000000000, 0x3FF0000000000000, 0x3FF0000000000000, 0x3FF0000000000000]> : tensor<4xf64>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<4xf64>, tensor<4xf64>
  %w1 = stablehlo.constant dense<[0x4008000000000000, 0x4008000000000000, 0x4008000000000000, 0x4008000000000000]> : tensor<4xf64>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<4xf64>, tensor<4xf64>
  return
}
// -----
func.func @sender(%x: tensor<f32>) -> tensor<f32> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.send"(%x, %x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (tensor<f32>, tensor<f32>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<f32>
}
func.func @receiver() -> tensor<f32> {
  %t = stablehlo.create_token : !stablehlo.token
  %a:3 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<f32>, tensor<f32>, !stablehlo.token)
  %s = stablehlo.add %a#0, %a#1 : tensor<f32>
  return %s : tensor<f32>
}
func.func @channels() {
  %0 = stablehlo.constant dense<0xC0CEF55A> : tensor<f32>
  %r:2 = "interpreter.run_parallel"(%0) {programs = [[@sender], [@receiver]]} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %w0 = stablehlo.constant dense<0xC0CEF55A> : tensor<f32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  %w1 = stablehlo.constant dense<0xC14EF55A> : tensor<f32>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @sender(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.send"(%x, %x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (tensor<2x3xi8>, tensor<2x3xi8>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<2x3xi8>
}
func.func @receiver() -> tensor<2x3xi8> {
  %t = stablehlo.create_token : !stablehlo.token
  %a:3 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<2x3xi8>, tensor<2x3xi8>, !stablehlo.token)
  %s = stablehlo.add %a#0, %a#1 : tensor<2x3xi8>
  return %s : tensor<2x3xi8>
}
func.func @channels_2() {
  %0 = stablehlo.constant dense<[[-3, 3, -4], [7, -9, -7]]> : tensor<2x3xi8>
  %r:2 = "interpreter.run_parallel"(%0) {programs = [[@sender], [@receiver]]} : (tensor<2x3xi8>) -> (tensor<2x3xi8>, tensor<2x3xi8>)
  %w0 = stablehlo.constant dense<[[-3, 3, -4], [7, -9, -7]]> : tensor<2x3xi8>
  check.expect_eq %r#0, %w0 : tensor<2x3xi8>
  %w1 = stablehlo.constant dense<[[-6, 6, -8], [14, -18, -14]]> : tensor<2x3xi8>
  check.expect_eq %r#1, %w1 : tensor<2x3xi8>
  return
}
// -----
func.func @sender(%x: tensor<0x2xui16>) -> tensor<0x2xui16> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.send"(%x, %x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (tensor<0x2xui16>, tensor<0x2xui16>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<0x2xui16>
}
func.func @receiver() -> tensor<0x2xui16> {
  %t = stablehlo.create_token : !stablehlo.token
  %a:3 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<0x2xui16>, tensor<0x2xui16>, !stablehlo.token)
  %s = stablehlo.add %a#0, %a#1 : tensor<0x2xui16>
  return %s : tensor<0x2xui16>
}
func.func @channels_3() {
  %0 = stablehlo.constant dense<> : tensor<0x2xui16>
  %r:2 = "interpreter.run_parallel"(%0) {programs = [[@sender], [@receiver]]} : (tensor<0x2xui16>) -> (tensor<0x2xui16>, tensor<0x2xui16>)
  %w0 = stablehlo.constant dense<> : tensor<0x2xui16>
  check.expect_eq %r#0, %w0 : tensor<0x2xui16>
  %w1 = stablehlo.constant dense<> : tensor<0x2xui16>
  check.expect_eq %r#1, %w1 : tensor<0x2xui16>
  return
}
// -----
func.func @sender(%x: tensor<4xf64>) -> tensor<4xf64> {
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.send"(%x, %x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (tensor<4xf64>, tensor<4xf64>, !stablehlo.token) -> !stablehlo.token
  return %x : tensor<4xf64>
}
func.func @receiver() -> tensor<4xf64> {
  %t = stablehlo.create_token : !stablehlo.token
  %a:3 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, is_host_transfer = false}> : (!stablehlo.token) -> (tensor<4xf64>, tensor<4xf64>, !stablehlo.token)
  %s = stablehlo.add %a#0, %a#1 : tensor<4xf64>
  return %s : tensor<4xf64>
}
func.func @channels_4() {
  %0 = stablehlo.constant dense<[0x3FF190C05B27260B, 0xC0186CA4FCCEC345, 0x401A694414529C84, 0x3FE3C1444EB2A680]> : tensor<4xf64>
  %r:2 = "interpreter.run_parallel"(%0) {programs = [[@sender], [@receiver]]} : (tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  %w0 = stablehlo.constant dense<[0x3FF190C05B27260B, 0xC0186CA4FCCEC345, 0x401A694414529C84, 0x3FE3C1444EB2A680]> : tensor<4xf64>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<4xf64>, tensor<4xf64>
  %w1 = stablehlo.constant dense<[0x400190C05B27260B, 0xC0286CA4FCCEC345, 0x402A694414529C84, 0x3FF3C1444EB2A680]> : tensor<4xf64>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<4xf64>, tensor<4xf64>
  return
}
// -----
func.func @async_gather() {
  %0 = stablehlo.constant dense<[[0xBFC63735, 0x4101DC52, 0xBE39E6B4], [0xC0B9AFD7, 0xBFCF7A07, 0xC11273C1]]> : tensor<2x3xf32>
  %f = "stablehlo.async_start"(%0) ({
  ^bb0(%a: tensor<2x3xf32>):
    %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    stablehlo.return %g : tensor<2x3xf32>
  }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<2x3xf32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2x3xf32>>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0xBFC63735, 0x4101DC52, 0xBE39E6B4], [0xC0B9AFD7, 0xBFCF7A07, 0xC11273C1]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @async_permute() {
  %0 = stablehlo.constant dense<[[0xBFC63735, 0x4101DC52, 0xBE39E6B4], [0xC0B9AFD7, 0xBFCF7A07, 0xC11273C1]]> : tensor<2x3xf32>
  %f = "stablehlo.async_start"(%0) ({
  ^bb0(%a: tensor<2x3xf32>):
    %g = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    stablehlo.return %g : tensor<2x3xf32>
  }) : (tensor<2x3xf32>) -> !stablehlo.future<tensor<2x3xf32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2x3xf32>>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0xBFC63735, 0x4101DC52, 0xBE39E6B4], [0xC0B9AFD7, 0xBFCF7A07, 0xC11273C1]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @async_gather_2() {
  %0 = stablehlo.constant dense<> : tensor<1x0xi8>
  %f = "stablehlo.async_start"(%0) ({
  ^bb0(%a: tensor<1x0xi8>):
    %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<1x0xi8>) -> tensor<1x0xi8>
    stablehlo.return %g : tensor<1x0xi8>
  }) : (tensor<1x0xi8>) -> !stablehlo.future<tensor<1x0xi8>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<1x0xi8>>) -> tensor<1x0xi8>
  %w0 = stablehlo.constant dense<> : tensor<1x0xi8>
  check.expect_eq %r, %w0 : tensor<1x0xi8>
  return
}
// -----
func.func @async_permute_2() {
  %0 = stablehlo.constant dense<> : tensor<1x0xi8>
  %f = "stablehlo.async_start"(%0) ({
  ^bb0(%a: tensor<1x0xi8>):
    %g = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<1x0xi8>) -> tensor<1x0xi8>
    stablehlo.return %g : tensor<1x0xi8>
  }) : (tensor<1x0xi8>) -> !stablehlo.future<tensor<1x0xi8>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<1x0xi8>>) -> tensor<1x0xi8>
  %w0 = stablehlo.constant dense<> : tensor<1x0xi8>
  check.expect_eq %r, %w0 : tensor<1x0xi8>
  return
}
// -----
func.func @async_gather_3() {
  %0 = stablehlo.constant dense<[0x4010CA54093F6EB6, 0xBFFAA783E66AB623, 0xC007C2FF9C490F67]> : tensor<3xf64>
  %f = "stablehlo.async_start"(%0) ({
  ^bb0(%a: tensor<3xf64>):
    %g = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<3xf64>) -> tensor<3xf64>
    stablehlo.return %g : tensor<3xf64>
  }) : (tensor<3xf64>) -> !stablehlo.future<tensor<3xf64>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<3xf64>>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x4010CA54093F6EB6, 0xBFFAA783E66AB623, 0xC007C2FF9C490F67]> : tensor<3xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf64>, tensor<3xf64>
  return
}
// -----
func.func @async_permute_3() {
  %0 = stablehlo.constant dense<[0x4010CA54093F6EB6, 0xBFFAA783E66AB623, 0xC007C2FF9C490F67]> : tensor<3xf64>
  %f = "stablehlo.async_start"(%0) ({
  ^bb0(%a: tensor<3xf64>):
    %g = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<0> : tensor<1x2xi64>}> : (tensor<3xf64>) -> tensor<3xf64>
    stablehlo.return %g : tensor<3xf64>
  }) : (tensor<3xf64>) -> !stablehlo.future<tensor<3xf64>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<3xf64>>) -> tensor<3xf64>
  %w0 = stablehlo.constant dense<[0x4010CA54093F6EB6, 0xBFFAA783E66AB623, 0xC007C2FF9C490F67]> : tensor<3xf64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<3xf64>, tensor<3xf64>
  return
}
// -----
func.func @replica(%x: tensor<f32>) -> tensor<f32> {
  %r = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
func.func @collective_reduce() {
  %0 = stablehlo.constant dense<0x408946B4> : tensor<f32>
  %1 = stablehlo.constant dense<0xC0D35672> : tensor<f32>
  %r:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@replica], [@replica]]} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  %w0 = stablehlo.constant dense<0xC0141F7C> : tensor<f32>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  %w1 = stablehlo.constant dense<0x0> : tensor<f32>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @replica(%x: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %r = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %s = stablehlo.add %a, %b : tensor<i8>
    stablehlo.return %s : tensor<i8>
  }) : (tensor<2x3xi8>) -> tensor<2x3xi8>
  return %r : tensor<2x3xi8>
}
func.func @collective_reduce_2() {
  %0 = stablehlo.constant dense<[[-6, -8, -6], [-8, -5, -8]]> : tensor<2x3xi8>
  %1 = stablehlo.constant dense<[[-4, 0, 8], [-7, -6, 2]]> : tensor<2x3xi8>
  %r:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@replica], [@replica]]} : (tensor<2x3xi8>, tensor<2x3xi8>) -> (tensor<2x3xi8>, tensor<2x3xi8>)
  %w0 = stablehlo.constant dense<[[0, 0, 0], [0, 0, 0]]> : tensor<2x3xi8>
  check.expect_eq %r#0, %w0 : tensor<2x3xi8>
  %w1 = stablehlo.constant dense<[[-10, -8, 2], [-15, -11, -6]]> : tensor<2x3xi8>
  check.expect_eq %r#1, %w1 : tensor<2x3xi8>
  return
}
// -----
func.func @replica(%x: tensor<0x2xui16>) -> tensor<0x2xui16> {
  %r = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<ui16>, %b: tensor<ui16>):
    %s = stablehlo.add %a, %b : tensor<ui16>
    stablehlo.return %s : tensor<ui16>
  }) : (tensor<0x2xui16>) -> tensor<0x2xui16>
  return %r : tensor<0x2xui16>
}
func.func @collective_reduce_3() {
  %0 = stablehlo.constant dense<> : tensor<0x2xui16>
  %1 = stablehlo.constant dense<> : tensor<0x2xui16>
  %r:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@replica], [@replica]]} : (tensor<0x2xui16>, tensor<0x2xui16>) -> (tensor<0x2xui16>, tensor<0x2xui16>)
  %w0 = stablehlo.constant dense<> : tensor<0x2xui16>
  check.expect_eq %r#0, %w0 : tensor<0x2xui16>
  %w1 = stablehlo.constant dense<> : tensor<0x2xui16>
  check.expect_eq %r#1, %w1 : tensor<0x2xui16>
  return
}
// -----
func.func @replica(%x: tensor<4xf64>) -> tensor<4xf64> {
  %r = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %s = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<4xf64>) -> tensor<4xf64>
  return %r : tensor<4xf64>
}
func.func @collective_reduce_4() {
  %0 = stablehlo.constant dense<[0x4001223CBED7A500, 0x3FF13E0A478C60D7, 0xC000C98FA07507AF, 0x401E97A11730D01F]> : tensor<4xf64>
  %1 = stablehlo.constant dense<[0x3FEE5FE82B4B27D8, 0x3FD9F793E12FD47B, 0x3FF02A3BCE7A19CF, 0xBFE0F1BC6B24931B]> : tensor<4xf64>
  %r:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@replica], [@replica]]} : (tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>)
  %w0 = stablehlo.constant dense<[0x4001223CBED7A500, 0x3FF13E0A478C60D7, 0xC000C98FA07507AF, 0x401E97A11730D01F]> : tensor<4xf64>
  check.expect_close %r#0, %w0, max_ulp_difference = 0 : tensor<4xf64>, tensor<4xf64>
  %w1 = stablehlo.constant dense<[0x3FEE5FE82B4B27D8, 0x3FD9F793E12FD47B, 0x3FF02A3BCE7A19CF, 0xBFE0F1BC6B24931B]> : tensor<4xf64>
  check.expect_close %r#1, %w1, max_ulp_difference = 0 : tensor<4xf64>, tensor<4xf64>
  return
}
// -----
func.func @set_dimension_size() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = stablehlo.constant dense<3> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 0 : (tensor<4xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<4>>
  %r = stablehlo.get_dimension_size %s, dim = 0 : (tensor<?xi32, #stablehlo.bounds<4>>) -> tensor<i32>
  %w0 = stablehlo.constant dense<3> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @set_dimension_size_sum() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %1 = stablehlo.constant dense<3> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 0 : (tensor<4xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<4>>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0] : (tensor<?xi32, #stablehlo.bounds<4>>, tensor<i32>) -> tensor<i32>
  %w0 = stablehlo.constant dense<6> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @set_dimension_size_2() {
  %0 = stablehlo.constant dense<[[0x3F800000, 0x40000000, 0x40400000], [0x40800000, 0x40A00000, 0x40C00000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  %r = stablehlo.get_dimension_size %s, dim = 1 : (tensor<2x?xf32, #stablehlo.bounds<?, 3>>) -> tensor<i32>
  %w0 = stablehlo.constant dense<0> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @set_dimension_size_sum_2() {
  %0 = stablehlo.constant dense<[[0x3F800000, 0x40000000, 0x40400000], [0x40800000, 0x40A00000, 0x40C00000]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x?xf32, #stablehlo.bounds<?, 3>>, tensor<f32>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0x0> : tensor<f32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @set_dimension_size_3() {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %1 = stablehlo.constant dense<3> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 0 : (tensor<3x2xi8>, tensor<i32>) -> tensor<?x2xi8, #stablehlo.bounds<3, ?>>
  %r = stablehlo.get_dimension_size %s, dim = 0 : (tensor<?x2xi8, #stablehlo.bounds<3, ?>>) -> tensor<i32>
  %w0 = stablehlo.constant dense<3> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @set_dimension_size_sum_3() {
  %0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>
  %1 = stablehlo.constant dense<3> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 0 : (tensor<3x2xi8>, tensor<i32>) -> tensor<?x2xi8, #stablehlo.bounds<3, ?>>
  %z = stablehlo.constant dense<0> : tensor<i8>
  %r = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<?x2xi8, #stablehlo.bounds<3, ?>>, tensor<i8>) -> tensor<i8>
  %w0 = stablehlo.constant dense<21> : tensor<i8>
  check.expect_eq %r, %w0 : tensor<i8>
  return
}
// -----
func.func @set_dimension_size_4() {
  %0 = stablehlo.constant dense<> : tensor<0x5xf64>
  %1 = stablehlo.constant dense<4> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 1 : (tensor<0x5xf64>, tensor<i32>) -> tensor<0x?xf64, #stablehlo.bounds<?, 5>>
  %r = stablehlo.get_dimension_size %s, dim = 1 : (tensor<0x?xf64, #stablehlo.bounds<?, 5>>) -> tensor<i32>
  %w0 = stablehlo.constant dense<4> : tensor<i32>
  check.expect_eq %r, %w0 : tensor<i32>
  return
}
// -----
func.func @set_dimension_size_sum_4() {
  %0 = stablehlo.constant dense<> : tensor<0x5xf64>
  %1 = stablehlo.constant dense<4> : tensor<i32>
  %s = stablehlo.set_dimension_size %0, %1, dim = 1 : (tensor<0x5xf64>, tensor<i32>) -> tensor<0x?xf64, #stablehlo.bounds<?, 5>>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %r = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<0x?xf64, #stablehlo.bounds<?, 5>>, tensor<f64>) -> tensor<f64>
  %w0 = stablehlo.constant dense<0x0> : tensor<f64>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f64>, tensor<f64>
  return
}
// -----
func.func @uniform_dequantize() {
  %0 = stablehlo.constant dense<-22> : tensor<i8>
  %q = stablehlo.bitcast_convert %0 : (tensor<i8>) -> tensor<!quant.uniform<i8:f32, 0.5:3>>
  %r = stablehlo.uniform_dequantize %q : (tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<f32>
  %w0 = stablehlo.constant dense<0xC1480000> : tensor<f32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  return
}
// -----
func.func @uniform_dequantize_2() {
  %0 = stablehlo.constant dense<[[106, 152, 249], [131, 184, 200]]> : tensor<2x3xui8>
  %q = stablehlo.bitcast_convert %0 : (tensor<2x3xui8>) -> tensor<2x3x!quant.uniform<u8:f32, 0.25:128>>
  %r = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<u8:f32, 0.25:128>>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0xC0B00000, 0x40C00000, 0x41F20000], [0x3F400000, 0x41600000, 0x41900000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @uniform_dequantize_3() {
  %0 = stablehlo.constant dense<[[-22, 24, 121], [3, 56, 72]]> : tensor<2x3xi8>
  %q = stablehlo.bitcast_convert %0 : (tensor<2x3xi8>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:0, 2.0:-4, 0.125:7}>>
  %r = stablehlo.uniform_dequantize %q : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5:0, 2.0:-4, 0.125:7}>>) -> tensor<2x3xf32>
  %w0 = stablehlo.constant dense<[[0xC1300000, 0x42600000, 0x41640000], [0x3FC00000, 0x42F00000, 0x41020000]]> : tensor<2x3xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<2x3xf32>, tensor<2x3xf32>
  return
}
// -----
func.func @uniform_dequantize_4() {
  %0 = stablehlo.constant dense<> : tensor<0x2xi8>
  %q = stablehlo.bitcast_convert %0 : (tensor<0x2xi8>) -> tensor<0x2x!quant.uniform<i8:f32:1, {1.5:1, 4.0:0}>>
  %r = stablehlo.uniform_dequantize %q : (tensor<0x2x!quant.uniform<i8:f32:1, {1.5:1, 4.0:0}>>) -> tensor<0x2xf32>
  %w0 = stablehlo.constant dense<> : tensor<0x2xf32>
  check.expect_close %r, %w0, max_ulp_difference = 0 : tensor<0x2xf32>, tensor<0x2xf32>
  return
}
// -----
func.func @rng_three_fry_ui32() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775818]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<1266608034> : tensor<ui32>
  check.expect_eq %r#1, %w1 : tensor<ui32>
  return
}
// -----
func.func @rng_three_fry_ui64() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui64>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775823]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[[9156515331651332002, 14473002710868311693, 3975237605302824522], [15760520813938449143, 12156541528004238007, 10381012187178274515]]> : tensor<2x3xui64>
  check.expect_eq %r#1, %w1 : tensor<2x3xui64>
  return
}
// -----
func.func @rng_three_fry_ui32_2() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<0x2xui32>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<> : tensor<0x2xui32>
  check.expect_eq %r#1, %w1 : tensor<0x2xui32>
  return
}
// -----
func.func @rng_three_fry_ui32_3() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775820]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[1266608034, 2131917358, 3331473037, 3369758536, 1373204042]> : tensor<5xui32>
  check.expect_eq %r#1, %w1 : tensor<5xui32>
  return
}
// -----
func.func @rng_three_fry_ui16() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui16>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775819]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[59298, 31278, 16013]> : tensor<3xui16>
  check.expect_eq %r#1, %w1 : tensor<3xui16>
  return
}
// -----
func.func @rng_three_fry_ui8() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui8>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775821]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[162, 46, 141, 72, 74, 138, 247]> : tensor<7xui8>
  check.expect_eq %r#1, %w1 : tensor<7xui8>
  return
}
// -----
func.func @rng_philox_ui32() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775818]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<2636613805> : tensor<ui32>
  check.expect_eq %r#1, %w1 : tensor<ui32>
  return
}
// -----
func.func @rng_philox_ui64() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui64>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775820]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[[9541930210512308397, 8054571199376547337, 3033886044987660840], [2137530386881704276, 1462534421895433722, 7949939292845185473]]> : tensor<2x3xui64>
  check.expect_eq %r#1, %w1 : tensor<2x3xui64>
  return
}
// -----
func.func @rng_philox_ui32_2() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<0x2xui32>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<> : tensor<0x2xui32>
  check.expect_eq %r#1, %w1 : tensor<0x2xui32>
  return
}
// -----
func.func @rng_philox_ui32_3() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775819]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[2636613805, 2221653752, 3035520521, 1875350996, 2692815400]> : tensor<5xui32>
  check.expect_eq %r#1, %w1 : tensor<5xui32>
  return
}
// -----
func.func @rng_philox_ui16() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui16>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775818]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[34989, 48888, 24073]> : tensor<3xui16>
  check.expect_eq %r#1, %w1 : tensor<3xui16>
  return
}
// -----
func.func @rng_philox_ui8() {
  %0 = stablehlo.constant dense<[5, 9223372036854775817]> : tensor<2xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui8>)
  %w0 = stablehlo.constant dense<[5, 9223372036854775819]> : tensor<2xui64>
  check.expect_eq %r#0, %w0 : tensor<2xui64>
  %w1 = stablehlo.constant dense<[173, 248, 9, 212, 40, 72, 84]> : tensor<7xui8>
  check.expect_eq %r#1, %w1 : tensor<7xui8>
  return
}
// -----
func.func @rng_philox_ui32_4() {
  %0 = stablehlo.constant dense<[7, 18446744073709551615, 3]> : tensor<3xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<ui32>)
  %w0 = stablehlo.constant dense<[7, 0, 4]> : tensor<3xui64>
  check.expect_eq %r#0, %w0 : tensor<3xui64>
  %w1 = stablehlo.constant dense<2585095611> : tensor<ui32>
  check.expect_eq %r#1, %w1 : tensor<ui32>
  return
}
// -----
func.func @rng_philox_ui64_2() {
  %0 = stablehlo.constant dense<[7, 18446744073709551615, 3]> : tensor<3xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui64>)
  %w0 = stablehlo.constant dense<[7, 2, 4]> : tensor<3xui64>
  check.expect_eq %r#0, %w0 : tensor<3xui64>
  %w1 = stablehlo.constant dense<[[3748456328194256315, 9697704261712575694, 12809640667975843801], [16741703274381837770, 3471041859550381407, 6322300612361494852]]> : tensor<2x3xui64>
  check.expect_eq %r#1, %w1 : tensor<2x3xui64>
  return
}
// -----
func.func @rng_philox_ui32_5() {
  %0 = stablehlo.constant dense<[7, 18446744073709551615, 3]> : tensor<3xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<0x2xui32>)
  %w0 = stablehlo.constant dense<[7, 18446744073709551615, 3]> : tensor<3xui64>
  check.expect_eq %r#0, %w0 : tensor<3xui64>
  %w1 = stablehlo.constant dense<> : tensor<0x2xui32>
  check.expect_eq %r#1, %w1 : tensor<0x2xui32>
  return
}
// -----
func.func @rng_philox_ui32_6() {
  %0 = stablehlo.constant dense<[7, 18446744073709551615, 3]> : tensor<3xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)
  %w0 = stablehlo.constant dense<[7, 1, 4]> : tensor<3xui64>
  check.expect_eq %r#0, %w0 : tensor<3xui64>
  %w1 = stablehlo.constant dense<[2585095611, 872755499, 942374094, 2257922725, 3004760025]> : tensor<5xui32>
  check.expect_eq %r#1, %w1 : tensor<5xui32>
  return
}
// -----
func.func @rng_philox_ui16_2() {
  %0 = stablehlo.constant dense<[7, 18446744073709551615, 3]> : tensor<3xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<3xui16>)
  %w0 = stablehlo.constant dense<[7, 0, 4]> : tensor<3xui64>
  check.expect_eq %r#0, %w0 : tensor<3xui64>
  %w1 = stablehlo.constant dense<[28091, 12587, 31950]> : tensor<3xui16>
  check.expect_eq %r#1, %w1 : tensor<3xui16>
  return
}
// -----
func.func @rng_philox_ui8_2() {
  %0 = stablehlo.constant dense<[7, 18446744073709551615, 3]> : tensor<3xui64>
  %r:2 = stablehlo.rng_bit_generator %0, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<7xui8>)
  %w0 = stablehlo.constant dense<[7, 1, 4]> : tensor<3xui64>
  check.expect_eq %r#0, %w0 : tensor<3xui64>
  %w1 = stablehlo.constant dense<[187, 43, 206, 165, 217, 81, 202]> : tensor<7xui8>
  check.expect_eq %r#1, %w1 : tensor<7xui8>
  return
}
