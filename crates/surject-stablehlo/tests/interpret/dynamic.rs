//! Programs whose sizes are values, and quantized programs.

use surject_stablehlo::interpret::{ErrorKind, Tensor, Value, run};
use surject_stablehlo::{ElementType, parse};

fn check(text: &str) {
    let text = format!("func.func @main() {{\n{text}\nreturn\n}}");
    let module = parse(&text).unwrap_or_else(|e| panic!("{}", e.render("text", &text)));
    if let Err(error) = run(&module, "main", Vec::new()) {
        panic!("{}", error.diagnostic().render("text", &text));
    }
}

#[test]
fn sizes_are_values() {
    check(
        "%x = stablehlo.iota dim = 1 : tensor<2x3xi32>
         %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>
         %six = stablehlo.constant dense<[6]> : tensor<1xi32>
         %flat = stablehlo.dynamic_reshape %x, %six : (tensor<2x3xi32>, tensor<1xi32>) -> tensor<?xi32>
         %w = stablehlo.constant dense<[0, 1, 2, 0, 1, 2]> : tensor<6xi32>
         %s = stablehlo.constant dense<[1]> : tensor<1xi64>
         %e = stablehlo.constant dense<[6]> : tensor<1xi64>
         %by = stablehlo.constant dense<[2]> : tensor<1xi64>
         %cut = stablehlo.real_dynamic_slice %flat, %s, %e, %by : (tensor<?xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi32>
         %k1 = tensor.cast %cut : tensor<?xi32> to tensor<3xi32>
         check.expect_eq_const %k1, dense<[1, 0, 2]> : tensor<3xi32>
         %two = stablehlo.constant dense<2> : tensor<i32>
         %short = stablehlo.set_dimension_size %x, %two, dim = 1 : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x?xi32, #stablehlo.bounds<?, 3>>
         %m = stablehlo.get_dimension_size %short, dim = 1 : (tensor<2x?xi32, #stablehlo.bounds<?, 3>>) -> tensor<i32>
         check.expect_eq_const %m, dense<2> : tensor<i32>
         %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
         %i = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi32>) -> tensor<?x?xi32>
         %k2 = tensor.cast %i : tensor<?x?xi32> to tensor<2x3xi32>
         check.expect_eq_const %k2, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
         %b = stablehlo.dynamic_broadcast_in_dim %two, %shape, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x?xi32>
         %k3 = tensor.cast %b : tensor<?x?xi32> to tensor<2x3xi32>
         check.expect_eq_const %k3, dense<2> : tensor<2x3xi32>
         %low = stablehlo.constant dense<[1]> : tensor<1xi32>
         %zero = stablehlo.constant dense<[0]> : tensor<1xi32>
         %p = stablehlo.dynamic_pad %cut, %two, %low, %zero, %low : (tensor<?xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xi32>
         %k4 = tensor.cast %p : tensor<?xi32> to tensor<6xi32>
         check.expect_eq_const %k4, dense<[2, 1, 2, 0, 2, 2]> : tensor<6xi32>",
    );
}

#[test]
fn shapes_of_other_dialects_are_computed() {
    check(
        "%x = stablehlo.iota dim = 0 : tensor<4x1xi32>
         %s = shape.shape_of %x : tensor<4x1xi32> -> tensor<2xindex>
         %c3 = arith.constant 3 : index
         %c1 = arith.constant 1 : index
         %d = tensor.extract %s[%c1] : tensor<2xindex>
         %m = arith.muli %d, %c3 : index
         %t = tensor.from_elements %c1, %m : tensor<2xindex>
         %u = shape.broadcast %s, %t : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
         %y = stablehlo.dynamic_broadcast_in_dim %x, %u, dims = [0, 1] : (tensor<4x1xi32>, tensor<2xindex>) -> tensor<?x?xi32>
         %n = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?xi32>) -> tensor<i32>
         check.expect_eq_const %n, dense<3> : tensor<i32>",
    );
}

#[test]
fn assertions_say_what_they_say() {
    let text = "func.func @main(%x: tensor<?xf32>) {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %ok = stablehlo.compare EQ, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%ok, %n) {api_version = 2 : i32, error_message = \"wanted 2, found {0}\", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
      return
    }";
    let module = parse(text).unwrap();
    let of =
        |n: usize| vec![Value::Tensor(Tensor::from_f64s(ElementType::F32, &[n], &vec![0.0; n]).unwrap())];
    run(&module, "main", of(2)).unwrap();
    let error = run(&module, "main", of(3)).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Assertion, "wanted 2, found 3"));
}

#[test]
fn quantized_operations_are_those_of_what_is_expressed() {
    check(
        "%x = stablehlo.constant dense<[-1.0, 0.0, 0.24, 0.25, 0.75, 100.0]> : tensor<6xf32>
         %q = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5:3>>
         %i = stablehlo.bitcast_convert %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xi8>
         check.expect_eq_const %i, dense<[1, 3, 3, 4, 4, 127]> : tensor<6xi8>
         %d = stablehlo.uniform_dequantize %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6xf32>
         check.expect_eq_const %d, dense<[-1.0, 0.0, 0.0, 0.5, 0.5, 62.0]> : tensor<6xf32>
         %s = stablehlo.add %q, %q : (tensor<6x!quant.uniform<i8:f32, 0.5:3>>, tensor<6x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<6x!quant.uniform<i8:f32, 1.0:0>>
         %j = stablehlo.bitcast_convert %s : (tensor<6x!quant.uniform<i8:f32, 1.0:0>>) -> tensor<6xi8>
         check.expect_eq_const %j, dense<[-2, 0, 0, 1, 1, 124]> : tensor<6xi8>
         %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
         %c = stablehlo.uniform_quantize %a : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {1.0:0, 0.5:1}>>
         %k = stablehlo.bitcast_convert %c : (tensor<2x2x!quant.uniform<i8:f32:1, {1.0:0, 0.5:1}>>) -> tensor<2x2xi8>
         check.expect_eq_const %k, dense<[[1, 5], [3, 9]]> : tensor<2x2xi8>
         %l = stablehlo.uniform_quantize %a : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32, 1.0:0>>
         %p = stablehlo.dot_general %l, %c, contracting_dims = [1] x [0] : (tensor<2x2x!quant.uniform<i8:f32, 1.0:0>>, tensor<2x2x!quant.uniform<i8:f32:1, {1.0:0, 0.5:1}>>) -> tensor<2x2x!quant.uniform<i32:f32:1, {1.0:0, 0.5:0}>>
         %o = stablehlo.bitcast_convert %p : (tensor<2x2x!quant.uniform<i32:f32:1, {1.0:0, 0.5:0}>>) -> tensor<2x2xi32>
         check.expect_eq_const %o, dense<[[7, 20], [15, 44]]> : tensor<2x2xi32>",
    );
}

/// Elements below a byte whose number fills no whole bytes.
#[test]
fn bits_of_small_elements_are_as_many_elements() {
    check(
        "%x = stablehlo.constant dense<[[true, false, true], [false, false, true]]> : tensor<2x3xi1>
         %y = stablehlo.bitcast_convert %x : (tensor<2x3xi1>) -> tensor<2x3xi1>
         check.expect_eq %y, %x : tensor<2x3xi1>
         %a = stablehlo.constant dense<[-1, 5, -8]> : tensor<3xi4>
         %b = stablehlo.bitcast_convert %a : (tensor<3xi4>) -> tensor<3xui4>
         check.expect_eq_const %b, dense<[15, 5, 8]> : tensor<3xui4>
         %c = stablehlo.bitcast_convert %a : (tensor<3xi4>) -> tensor<3x2xui2>
         check.expect_eq_const %c, dense<[[3, 3], [1, 1], [0, 2]]> : tensor<3x2xui2>",
    );
}

#[test]
fn loops_over_slices_carry() {
    check(
        "%x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
         %z = stablehlo.constant dense<0> : tensor<i32>
         %r:2 = \"chlo.scan\"(%x, %z) <{dimension = 0 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
         ^bb0(%a: tensor<i32>, %c: tensor<i32>):
           %s = stablehlo.add %a, %c : tensor<i32>
           stablehlo.return %s, %s : tensor<i32>, tensor<i32>
         }) : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
         check.expect_eq_const %r#0, dense<[10, 9, 7, 4]> : tensor<4xi32>
         check.expect_eq_const %r#1, dense<10> : tensor<i32>
         %f = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
         %w = stablehlo.constant dense<[[[1.0], [0.0]], [[0.0], [1.0]]]> : tensor<2x2x1xf32>
         %g = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
         %d = \"chlo.ragged_dot\"(%f, %w, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<4x1xf32>
         check.expect_eq_const %d, dense<[[1.0], [4.0], [6.0], [0.0]]> : tensor<4x1xf32>
         %b = stablehlo.constant dense<[[1.0, 5.0, 3.0]]> : tensor<1x3xf32>
         %v:2 = chlo.top_k(%b, k = 2) : tensor<1x3xf32> -> (tensor<1x2xf32>, tensor<1x2xi32>)
         check.expect_eq_const %v#1, dense<[[1, 2]]> : tensor<1x2xi32>
         %t = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
         %h = chlo.broadcast_add %t, %b {broadcast_dimensions = array<i64: 0>} : (tensor<2xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
         check.expect_eq_const %h, dense<[[2.0, 6.0, 4.0], [3.0, 7.0, 5.0]]> : tensor<2x3xf32>
         %like = \"chlo.constant_like\"(%t) <{value = 2.5 : f32}> : (tensor<2xf32>) -> tensor<2xf32>
         check.expect_eq_const %like, dense<2.5> : tensor<2xf32>",
    );
}

/// What JAX exports for windows, factors and random bits of symbolic sizes.
#[test]
fn calls_take_sizes_as_operands() {
    let text = "module {
      func.func private @add(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
        %0 = stablehlo.add %a, %b : tensor<i32>
        return %0 : tensor<i32>
      }
      func.func @main(%x: tensor<?xi32>, %m: tensor<?x2x2xf32>, %k: tensor<2xui64>) {
        %z = stablehlo.constant dense<0> : tensor<i32>
        %two = stablehlo.constant dense<2> : tensor<1xi32>
        %one = stablehlo.constant dense<1> : tensor<1xi32>
        %none = stablehlo.constant dense<0> : tensor<1x2xi32>
        %w = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %z, %two, %one, %one, %one, %none) {api_version = 2 : i32, called_computations = [@add]} : (tensor<?xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<?xi32>
        %c = tensor.cast %w : tensor<?xi32> to tensor<2xi32>
        check.expect_eq_const %c, dense<[3, 5]> : tensor<2xi32>
        %s = stablehlo.constant dense<[1, 2, 2]> : tensor<3xi32>
        %t = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %u = stablehlo.constant dense<[1]> : tensor<1xi32>
        %lu:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%m, %s, %t, %u) {indices_of_shape_operands = dense<[1, 2, 3]> : tensor<3xi64>} : (tensor<?x2x2xf32>, tensor<3xi32>, tensor<2xi32>, tensor<1xi32>) -> (tensor<?x2x2xf32>, tensor<?x2xi32>, tensor<?xi32>)
        %p = tensor.cast %lu#1 : tensor<?x2xi32> to tensor<1x2xi32>
        check.expect_eq_const %p, dense<[[2, 2]]> : tensor<1x2xi32>
        %n = stablehlo.constant dense<[2]> : tensor<1xi64>
        %r:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%k, %n) {rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>} : (tensor<2xui64>, tensor<1xi64>) -> (tensor<2xui64>, tensor<?xui32>)
        %b = tensor.cast %r#1 : tensor<?xui32> to tensor<2xui32>
        check.expect_eq_const %b, dense<[43444564, 2150618427]> : tensor<2xui32>
        return
      }
    }";
    let module = parse(text).unwrap_or_else(|e| panic!("{}", e.render("text", text)));
    let args = vec![
        Value::Tensor(Tensor::from_i64s(ElementType::I32, &[3], &[1, 2, 3]).unwrap()),
        Value::Tensor(Tensor::from_f64s(ElementType::F32, &[1, 2, 2], &[1.0, 2.0, 3.0, 4.0]).unwrap()),
        Value::Tensor(Tensor::from_i64s(ElementType::U64, &[2], &[1, 2]).unwrap()),
    ];
    run(&module, "main", args).unwrap_or_else(|e| panic!("{}", e.diagnostic().render("text", text)));
}

/// Convolutions, normalisations and regions meet quantized tensors as any others.
#[test]
fn any_operation_takes_quantized_tensors() {
    check(
        "%x = stablehlo.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32>
         %k = stablehlo.constant dense<[[[1.0]], [[0.5]]]> : tensor<2x1x1xf32>
         %q = stablehlo.uniform_quantize %x : (tensor<1x3x1xf32>) -> tensor<1x3x1x!quant.uniform<i8:f32, 0.5:1>>
         %l = stablehlo.uniform_quantize %k : (tensor<2x1x1xf32>) -> tensor<2x1x1x!quant.uniform<i8:f32, 0.25:0>>
         %c = stablehlo.convolution(%q, %l) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1x!quant.uniform<i8:f32, 0.5:1>>, tensor<2x1x1x!quant.uniform<i8:f32, 0.25:0>>) -> tensor<1x2x1x!quant.uniform<i32:f32, 0.125:0>>
         %i = stablehlo.bitcast_convert %c : (tensor<1x2x1x!quant.uniform<i32:f32, 0.125:0>>) -> tensor<1x2x1xi32>
         check.expect_eq_const %i, dense<[[[16], [28]]]> : tensor<1x2x1xi32>
         %h = stablehlo.convolution(%x, %l) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<2x1x1x!quant.uniform<i8:f32, 0.25:0>>) -> tensor<1x2x1xf32>
         check.expect_eq_const %h, dense<[[[2.0], [3.5]]]> : tensor<1x2x1xf32>
         %f = stablehlo.reshape %q : (tensor<1x3x1x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<3x!quant.uniform<i8:f32, 0.5:1>>
         %z = stablehlo.constant() <{value = dense<1> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 0.5:1>>
         %s = stablehlo.reduce(%f init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3x!quant.uniform<i8:f32, 0.5:1>>, tensor<!quant.uniform<i8:f32, 0.5:1>>) -> tensor<!quant.uniform<i8:f32, 0.5:1>>
         %t = stablehlo.bitcast_convert %s : (tensor<!quant.uniform<i8:f32, 0.5:1>>) -> tensor<i8>
         check.expect_eq_const %t, dense<13> : tensor<i8>
         %m = stablehlo.maximum %f, %f : tensor<3x!quant.uniform<i8:f32, 0.5:1>>
         %p = stablehlo.compare LT, %f, %m : (tensor<3x!quant.uniform<i8:f32, 0.5:1>>, tensor<3x!quant.uniform<i8:f32, 0.5:1>>) -> tensor<3xi1>
         check.expect_eq_const %p, dense<false> : tensor<3xi1>
         %o = stablehlo.uniform_quantize %x : (tensor<1x3x1xf32>) -> tensor<1x3x1x!quant.uniform<u8:f32, 0.1:128>>
         %u = stablehlo.tanh %o : (tensor<1x3x1x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x1x!quant.uniform<u8:f32, 0.01:0>>
         %v = stablehlo.bitcast_convert %u : (tensor<1x3x1x!quant.uniform<u8:f32, 0.01:0>>) -> tensor<1x3x1xui8>
         check.expect_eq_const %v, dense<[[[76], [96], [100]]]> : tensor<1x3x1xui8>",
    );
}
