//! The corners of StableHLO that look right until they are tried, with values worked out by hand.

mod common;

use common::*;
use surject_ir::{Buffer, DType, Scalar};

#[test]
fn gather_clamps() {
    let body = r#"%r = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 2>, indices_are_sorted = false}>
          : (tensor<4xi32>, tensor<3xi32>) -> tensor<3x2xi32>
        return %r : tensor<3x2xi32>"#;
    let signature = "(%x: tensor<4xi32>, %i: tensor<3xi32>) -> tensor<3x2xi32>";
    let got = run_body(signature, body, &[i32s(&[4], &[10, 20, 30, 40]), i32s(&[3], &[-5, 1, 9])]);
    assert_eq!(to_ints(&got[0]), [10, 20, 20, 30, 30, 40]);
}

#[test]
fn scatter_drops() {
    let body = r#"%r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %s = stablehlo.add %a, %b : tensor<i32>
          stablehlo.return %s : tensor<i32>
        }) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
        return %r : tensor<4xi32>"#;
    let signature = "(%x: tensor<4xi32>, %i: tensor<4xi32>, %u: tensor<4xi32>) -> tensor<4xi32>";
    let args = [i32s(&[4], &[1, 2, 3, 4]), i32s(&[4], &[-1, 2, 4, 2]), i32s(&[4], &[10, 20, 30, 40])];
    assert_eq!(to_ints(&run_body(signature, body, &args)[0]), [1, 2, 63, 4]);
}

/// A function of 16-bit floats that is applied again and again rounds once, unless it says so itself: 256 and 1 is 256.
#[test]
fn functions_of_short_floats_round_once() {
    let sum = |body: &str| {
        format!(
            "%x = stablehlo.constant dense<1.0> : tensor<300xbf16>
        %z = stablehlo.constant dense<0.0> : tensor<bf16>
        %r = \"stablehlo.reduce\"(%x, %z) <{{dimensions = array<i64: 0>}}> ({{
        ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
          {body}
          stablehlo.return %t : tensor<bf16>
        }}) : (tensor<300xbf16>, tensor<bf16>) -> tensor<bf16>
        %i = stablehlo.convert %r : (tensor<bf16>) -> tensor<i32>
        return %i : tensor<i32>"
        )
    };
    let once = "%s = stablehlo.add %a, %b : tensor<bf16>
          %t = stablehlo.abs %s : tensor<bf16>";
    assert_eq!(to_ints(&run_body("() -> tensor<i32>", &sum(once), &[])[0]), [300]);
    let each = "%u = stablehlo.convert %a : (tensor<bf16>) -> tensor<f32>
          %v = stablehlo.convert %b : (tensor<bf16>) -> tensor<f32>
          %w = stablehlo.add %u, %v : tensor<f32>
          %s = stablehlo.convert %w : (tensor<f32>) -> tensor<bf16>
          %t = stablehlo.abs %s : tensor<bf16>";
    assert_eq!(to_ints(&run_body("() -> tensor<i32>", &sum(each), &[])[0]), [256]);
}

#[test]
fn dynamic_slices_clamp() {
    let body = "%r = stablehlo.dynamic_slice %x, %i, sizes = [3] : (tensor<5xi32>, tensor<i32>) -> tensor<3xi32>
        %s = stablehlo.dynamic_update_slice %x, %r, %j : (tensor<5xi32>, tensor<3xi32>, tensor<i32>) -> tensor<5xi32>
        return %r, %s : tensor<3xi32>, tensor<5xi32>";
    let signature = "(%x: tensor<5xi32>, %i: tensor<i32>, %j: tensor<i32>) -> (tensor<3xi32>, tensor<5xi32>)";
    let got = run_body(signature, body, &[i32s(&[5], &[1, 2, 3, 4, 5]), i32s(&[], &[4]), i32s(&[], &[-2])]);
    assert_eq!(to_ints(&got[0]), [3, 4, 5]);
    assert_eq!(to_ints(&got[1]), [3, 4, 5, 4, 5]);
}

#[test]
fn case_takes_the_last_branch() {
    let body = r#"%r = "stablehlo.case"(%i) ({
          stablehlo.return %x : tensor<i32>
        }, {
          %d = stablehlo.add %x, %x : tensor<i32>
          stablehlo.return %d : tensor<i32>
        }, {
          %c = stablehlo.constant dense<99> : tensor<i32>
          stablehlo.return %c : tensor<i32>
        }) : (tensor<i32>) -> tensor<i32>
        return %r : tensor<i32>"#;
    for (index, want) in [(0, 7), (1, 14), (2, 99), (3, 99), (-1, 99), (i64::from(i32::MIN), 99)] {
        let signature = "(%i: tensor<i32>, %x: tensor<i32>) -> tensor<i32>";
        let got = run_body(signature, body, &[i32s(&[], &[index]), i32s(&[], &[7])]);
        assert_eq!(to_ints(&got[0]), [want], "index {index}");
    }
}

#[test]
fn if_takes_the_first_branch_when_true() {
    let body = r#"%r:2 = "stablehlo.if"(%p) ({
          stablehlo.return %x, %y : tensor<i32>, tensor<i32>
        }, {
          stablehlo.return %y, %x : tensor<i32>, tensor<i32>
        }) : (tensor<i1>) -> (tensor<i32>, tensor<i32>)
        return %r#0, %r#1 : tensor<i32>, tensor<i32>"#;
    let signature = "(%p: tensor<i1>, %x: tensor<i32>, %y: tensor<i32>) -> (tensor<i32>, tensor<i32>)";
    for (p, want) in [(1, [5, 6]), (0, [6, 5])] {
        let got = run_body(signature, body, &[ints(DType::I1, &[], &[p]), i32s(&[], &[5]), i32s(&[], &[6])]);
        assert_eq!([to_ints(&got[0])[0], to_ints(&got[1])[0]], want);
    }
}

#[test]
fn while_captures_what_is_around_it() {
    let body = "%zero = stablehlo.constant dense<0> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %s = %x) : tensor<i32>, tensor<3xi32>
        cond {
          %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        } do {
          %one = stablehlo.constant dense<1> : tensor<i32>
          %j = func.call @next(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
          %t = stablehlo.add %s, %x : tensor<3xi32>
          stablehlo.return %j, %t : tensor<i32>, tensor<3xi32>
        }
        return %r#0, %r#1 : tensor<i32>, tensor<3xi32>";
    let text = format!(
        "func.func @main(%x: tensor<3xi32>, %n: tensor<i32>) -> (tensor<i32>, tensor<3xi32>) {{ {body} }}
        func.func private @next(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {{
          %r = stablehlo.add %a, %b : tensor<i32>
          return %r : tensor<i32>
        }}"
    );
    let got = run(&text, &[i32s(&[3], &[1, 2, 3]), i32s(&[], &[4])]);
    assert_eq!(to_ints(&got[0]), [4]);
    assert_eq!(to_ints(&got[1]), [5, 10, 15]);
    let got = run(&text, &[i32s(&[3], &[1, 2, 3]), i32s(&[], &[0])]);
    assert_eq!(to_ints(&got[1]), [1, 2, 3]);
}

#[test]
fn total_order_compares_bits() {
    let values = [f64::NAN, f64::INFINITY, 1.0, 0.0, -0.0, -1.0, f64::NEG_INFINITY];
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let mut all: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(dtype, v)).collect();
        let sign = 1u128 << (dtype.bits() - 1);
        all.push(Scalar::from_bits(dtype, all[0].bits() | sign)); // −NaN, the smallest
        let body = format!(
            "%l = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<8x{dtype}>, tensor<8x{dtype}>) -> tensor<8xi1>
            %e = stablehlo.compare EQ, %x, %y, TOTALORDER : (tensor<8x{dtype}>, tensor<8x{dtype}>) -> tensor<8xi1>
            return %l, %e : tensor<8xi1>, tensor<8xi1>"
        );
        let signature =
            format!("(%x: tensor<8x{dtype}>, %y: tensor<8x{dtype}>) -> (tensor<8xi1>, tensor<8xi1>)");
        for (i, &other) in all.iter().enumerate() {
            let x = Buffer::from_scalars(dtype, &[8], &all).unwrap();
            let got = run_body(&signature, &body, &[x, Buffer::splat(other, &[8])]);
            // The list stands in falling order.
            let less: Vec<i64> = (0..8).map(|j| (j > i) as i64).collect();
            let equal: Vec<i64> = (0..8).map(|j| (j == i) as i64).collect();
            assert_eq!(to_ints(&got[0]), less, "{dtype}: below element {i}");
            assert_eq!(to_ints(&got[1]), equal, "{dtype}: equal to element {i}");
        }
    }
}

#[test]
fn integer_arithmetic_at_the_edge() {
    let body = "%q = stablehlo.divide %x, %y : tensor<4xi8>
        %r = stablehlo.remainder %x, %y : tensor<4xi8>
        %s = stablehlo.shift_left %x, %y : tensor<4xi8>
        return %q, %r, %s : tensor<4xi8>, tensor<4xi8>, tensor<4xi8>";
    let signature = "(%x: tensor<4xi8>, %y: tensor<4xi8>) -> (tensor<4xi8>, tensor<4xi8>, tensor<4xi8>)";
    let got = run_body(
        signature,
        body,
        &[ints(DType::I8, &[4], &[7, -128, -7, 3]), ints(DType::I8, &[4], &[0, -1, 2, 8])],
    );
    assert_eq!(to_ints(&got[0]), [-1, -128, -3, 0]);
    assert_eq!(to_ints(&got[1]), [7, 0, -1, 3]);
    assert_eq!(to_ints(&got[2]), [7, 0, -28, 0]);
}

#[test]
fn concatenation_is_exact() {
    let body = "%e = stablehlo.constant dense<> : tensor<0xf32>
        %r = stablehlo.concatenate %x, %e, %y, dim = 0 : (tensor<2xf32>, tensor<0xf32>, tensor<1xf32>) -> tensor<3xf32>
        %b = stablehlo.concatenate %p, %p, dim = 0 : (tensor<1xi1>, tensor<1xi1>) -> tensor<2xi1>
        return %r, %b : tensor<3xf32>, tensor<2xi1>";
    let signature =
        "(%x: tensor<2xf32>, %y: tensor<1xf32>, %p: tensor<1xi1>) -> (tensor<3xf32>, tensor<2xi1>)";
    let args = [f32s(&[2], &[-0.0, 0.0]), f32s(&[1], &[f64::INFINITY]), ints(DType::I1, &[1], &[1])];
    let got = run_body(signature, body, &args);
    assert_eq!(got[0], f32s(&[3], &[-0.0, 0.0, f64::INFINITY]));
    assert_eq!(to_ints(&got[1]), [1, 1]);
}

#[test]
fn reshape_keeps_row_major_order() {
    let shapes: [&[i64]; 8] =
        [&[12], &[3, 4], &[4, 3], &[2, 6], &[6, 2], &[2, 3, 2], &[1, 12, 1], &[2, 1, 2, 3]];
    let values: Vec<i64> = (1..=12).collect();
    for from in shapes {
        for to in shapes {
            let body =
                format!("%r = stablehlo.reshape %x : ({}) -> {}\n return %r : {}", ty(from), ty(to), ty(to));
            let shape: Vec<usize> = from.iter().map(|&n| n as usize).collect();
            let got = run_body(&format!("(%x: {}) -> {}", ty(from), ty(to)), &body, &[i32s(&shape, &values)]);
            assert_eq!(to_ints(&got[0]), values, "{from:?} to {to:?}");
        }
    }
}

#[test]
fn movement_of_axes() {
    let body = "%t = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x4xi32>) -> tensor<4x2x3xi32>
        %v = stablehlo.reverse %x, dims = [0, 2] : tensor<2x3x4xi32>
        %s = stablehlo.slice %x [1:2, 0:3:2, 1:4] : (tensor<2x3x4xi32>) -> tensor<1x2x3xi32>
        %b = stablehlo.broadcast_in_dim %s, dims = [1, 2, 0] : (tensor<1x2x3xi32>) -> tensor<3x5x2xi32>
        return %t, %v, %s, %b : tensor<4x2x3xi32>, tensor<2x3x4xi32>, tensor<1x2x3xi32>, tensor<3x5x2xi32>";
    let signature = "(%x: tensor<2x3x4xi32>) -> (tensor<4x2x3xi32>, tensor<2x3x4xi32>, tensor<1x2x3xi32>, tensor<3x5x2xi32>)";
    let x = i32s(&[2, 3, 4], &(0..24).collect::<Vec<_>>());
    let got = run_body(signature, body, std::slice::from_ref(&x));
    for p in points(&[2, 3, 4]) {
        assert_eq!(at(&got[0], &[p[2], p[0], p[1]]), at(&x, &p));
        assert_eq!(at(&got[1], &[1 - p[0], p[1], 3 - p[2]]), at(&x, &p));
    }
    assert_eq!(to_ints(&got[2]), [13, 14, 15, 21, 22, 23]);
    for p in points(&[3, 5, 2]) {
        assert_eq!(at(&got[3], &p), at(&got[2], &[0, p[2], p[0]]));
    }
}

#[test]
fn reductions_start_from_their_initial_value() {
    let body = "%ten = stablehlo.constant dense<10> : tensor<i32>
        %r = stablehlo.reduce(%x init: %ten) applies stablehlo.add across dimensions = [0] : (tensor<2x3xi32>, tensor<i32>) -> tensor<3xi32>
        %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32>
        %n = stablehlo.reduce(%x init: %i) applies stablehlo.multiply across dimensions = [] : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
        return %r, %m, %n : tensor<3xi32>, tensor<i32>, tensor<2x3xi32>";
    let signature = "(%x: tensor<2x3xi32>, %i: tensor<i32>) -> (tensor<3xi32>, tensor<i32>, tensor<2x3xi32>)";
    let got = run_body(signature, body, &[i32s(&[2, 3], &[1, 2, 3, 4, 5, 6]), i32s(&[], &[9])]);
    assert_eq!(to_ints(&got[0]), [15, 17, 19]);
    assert_eq!(to_ints(&got[1]), [9]);
    assert_eq!(to_ints(&got[2]), [9, 18, 27, 36, 45, 54]);
}

#[test]
fn reductions_of_several_tensors() {
    // The largest element and its position; the first of equal ones.
    let body = "%low = stablehlo.constant dense<-100> : tensor<i32>
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %p = stablehlo.iota dim = 1 : tensor<2x3xi32>
        %r:2 = stablehlo.reduce(%x init: %low), (%p init: %zero) across dimensions = [1] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
          reducer(%a: tensor<i32>, %b: tensor<i32>) (%i: tensor<i32>, %j: tensor<i32>) {
            %g = stablehlo.compare GE, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            %v = stablehlo.select %g, %a, %b : tensor<i1>, tensor<i32>
            %w = stablehlo.select %g, %i, %j : tensor<i1>, tensor<i32>
            stablehlo.return %v, %w : tensor<i32>, tensor<i32>
          }
        %s:2 = stablehlo.reduce(%x init: %zero), (%p init: %low) across dimensions = [1] : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
          reducer(%a: tensor<i32>, %b: tensor<i32>) (%i: tensor<i32>, %j: tensor<i32>) {
            %v = stablehlo.add %b, %a : tensor<i32>
            %w = stablehlo.maximum %i, %j : tensor<i32>
            stablehlo.return %v, %w : tensor<i32>, tensor<i32>
          }
        return %r#0, %r#1, %s#0, %s#1 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>";
    let signature = "(%x: tensor<2x3xi32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)";
    let got = run_body(signature, body, &[i32s(&[2, 3], &[1, 5, 5, 7, 2, 3])]);
    assert_eq!(to_ints(&got[0]), [5, 7]);
    assert_eq!(to_ints(&got[1]), [1, 0]);
    assert_eq!(to_ints(&got[2]), [11, 12]);
    assert_eq!(to_ints(&got[3]), [2, 2]);
}

#[test]
fn contractions_accumulate_in_the_wider_type() {
    let body = "%r = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<4xi8>, tensor<4xi8>) -> tensor<i32>
        %h = stablehlo.dot %u, %u : (tensor<300xbf16>, tensor<300xbf16>) -> tensor<bf16>
        return %r, %h : tensor<i32>, tensor<bf16>";
    let signature =
        "(%x: tensor<4xi8>, %y: tensor<4xi8>, %u: tensor<300xbf16>) -> (tensor<i32>, tensor<bf16>)";
    let x = ints(DType::I8, &[4], &[127, 127, -128, 127]);
    let got = run_body(signature, body, &[x.clone(), x, floats(DType::BF16, &[300], &[1.0; 300])]);
    assert_eq!(to_ints(&got[0]), [3 * 127 * 127 + 128 * 128]);
    // In bf16 the sum would stop at 256.
    assert_eq!(to_floats(&got[1]), [300.0]);
}

#[test]
fn einsum_reads_diagonals() {
    let body = r#"%t = stablehlo.unary_einsum %x, config = "aa->" : (tensor<3x3xi32>) -> tensor<i32>
        %r = stablehlo.einsum %x, %x, config = "ab,cb->ca" : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi32>
        return %t, %r : tensor<i32>, tensor<3x3xi32>"#;
    let signature = "(%x: tensor<3x3xi32>) -> (tensor<i32>, tensor<3x3xi32>)";
    let got = run_body(signature, body, &[i32s(&[3, 3], &[1, 2, 3, 4, 5, 6, 7, 8, 9])]);
    assert_eq!(to_ints(&got[0]), [15]);
    assert_eq!(to_ints(&got[1]), [14, 32, 50, 32, 77, 122, 50, 122, 194]);
}

#[test]
fn map_lifts_its_body() {
    let body = r#"%r = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %c = stablehlo.constant dense<100> : tensor<i32>
          %s = stablehlo.multiply %a, %b : tensor<i32>
          %t = stablehlo.add %s, %c : tensor<i32>
          %u = stablehlo.add %t, %z : tensor<i32>
          stablehlo.return %u : tensor<i32>
        }) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
        return %r : tensor<3xi32>"#;
    let signature = "(%x: tensor<3xi32>, %y: tensor<3xi32>, %z: tensor<i32>) -> tensor<3xi32>";
    let args = [i32s(&[3], &[1, 2, 3]), i32s(&[3], &[4, 5, 6]), i32s(&[], &[1000])];
    assert_eq!(to_ints(&run_body(signature, body, &args)[0]), [1104, 1110, 1118]);
}

#[test]
fn select_and_clamp_take_scalars() {
    let body = "%s = stablehlo.select %p, %x, %y : tensor<i1>, tensor<3xf32>
        %c = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
        return %s, %c : tensor<3xf32>, tensor<3xf32>";
    let signature = "(%p: tensor<i1>, %x: tensor<3xf32>, %y: tensor<3xf32>, %l: tensor<f32>, %h: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)";
    let x = f32s(&[3], &[-5.0, 0.5, f64::NAN]);
    let args =
        [ints(DType::I1, &[], &[0]), x, f32s(&[3], &[7.0, 8.0, 9.0]), f32s(&[], &[-1.0]), f32s(&[], &[1.0])];
    let got = run_body(signature, body, &args);
    assert_eq!(to_floats(&got[0]), [7.0, 8.0, 9.0]);
    let clamped = to_floats(&got[1]);
    assert_eq!(clamped[..2], [-1.0, 0.5]);
    assert!(clamped[2].is_nan());
}

#[test]
fn top_k_puts_nan_first_and_keeps_ties_in_order() {
    let body = "%v, %i = chlo.top_k(%x, k = 4) : tensor<6xf32> -> (tensor<4xf32>, tensor<4xi32>)
        return %v, %i : tensor<4xf32>, tensor<4xi32>";
    let x = f32s(&[6], &[2.0, 3.0, -1.0, f64::NAN, 3.0, 2.0]);
    let got = run_body("(%x: tensor<6xf32>) -> (tensor<4xf32>, tensor<4xi32>)", body, &[x]);
    assert_eq!(to_ints(&got[1]), [3, 1, 4, 0]);
    assert_eq!(to_floats(&got[0])[1..], [3.0, 3.0, 2.0]);
}

#[test]
fn bitcasts_change_the_shape_with_the_width() {
    let body = "%r = stablehlo.bitcast_convert %x : (tensor<2xi32>) -> tensor<2x4xui8>
        %f = stablehlo.bitcast_convert %x : (tensor<2xi32>) -> tensor<2xf32>
        %b = stablehlo.bitcast_convert %r : (tensor<2x4xui8>) -> tensor<2xi32>
        return %r, %f, %b : tensor<2x4xui8>, tensor<2xf32>, tensor<2xi32>";
    let signature = "(%x: tensor<2xi32>) -> (tensor<2x4xui8>, tensor<2xf32>, tensor<2xi32>)";
    let got = run_body(signature, body, &[i32s(&[2], &[0x0102_0304, 0x3F80_0000])]);
    assert_eq!(to_ints(&got[0]), [4, 3, 2, 1, 0, 0, 0x80, 0x3F]);
    assert_eq!(to_floats(&got[1])[1], 1.0);
    assert_eq!(to_ints(&got[2]), [0x0102_0304, 0x3F80_0000]);
}

#[test]
fn batch_normalisation() {
    let body = r#"%r:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
          : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
        %i = "stablehlo.batch_norm_inference"(%x, %s, %o, %r#1, %r#2) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
          : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
        %g:3 = "stablehlo.batch_norm_grad"(%x, %s, %r#1, %r#2, %x) <{epsilon = 0.0 : f32, feature_index = 1 : i64}>
          : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
        return %r#0, %r#1, %r#2, %i, %g#0, %g#1, %g#2 : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>"#;
    let signature = "(%x: tensor<2x2xf32>, %s: tensor<2xf32>, %o: tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)";
    let args = [f32s(&[2, 2], &[1.0, 10.0, 3.0, 30.0]), f32s(&[2], &[2.0, 1.0]), f32s(&[2], &[0.5, 0.0])];
    let got = run_body(signature, body, &args);
    assert_eq!(to_floats(&got[0]), [-1.5, -1.0, 2.5, 1.0]);
    assert_eq!(to_floats(&got[1]), [2.0, 20.0]);
    assert_eq!(to_floats(&got[2]), [1.0, 100.0]);
    assert_eq!(got[3], got[0]);
    // With two points a feature, the gradient of the input vanishes for any gradient of the output.
    assert!(to_floats(&got[4]).iter().all(|g| g.abs() < 1e-6));
    assert_eq!(to_floats(&got[5]), [2.0, 20.0]);
    assert_eq!(to_floats(&got[6]), [4.0, 40.0]);
}

#[test]
fn chlo_broadcasts_and_expands() {
    let body = "%a = chlo.broadcast_add %x, %y : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
        %b = chlo.broadcast_multiply %x, %z {broadcast_dimensions = array<i64: 0>} : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
        %c = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction GT>} : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi1>
        %s = chlo.square %x : tensor<2x3xi32> -> tensor<2x3xi32>
        return %a, %b, %s, %c : tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi1>";
    let signature = "(%x: tensor<2x3xi32>, %y: tensor<3xi32>, %z: tensor<2xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi1>)";
    let args = [i32s(&[2, 3], &[1, 2, 3, 4, 5, 6]), i32s(&[3], &[3, 5, 2]), i32s(&[2], &[7, 9])];
    let got = run_body(signature, body, &args);
    assert_eq!(to_ints(&got[0]), [4, 7, 5, 7, 10, 8]);
    assert_eq!(to_ints(&got[3]), [0, 0, 1, 1, 0, 1]);
    assert_eq!(to_ints(&got[1]), [7, 14, 21, 36, 45, 54]);
    assert_eq!(to_ints(&got[2]), [1, 4, 9, 16, 25, 36]);
}

#[test]
fn special_functions() {
    let body = "%z = chlo.zeta %x, %q : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
        %p = chlo.polygamma %n, %q : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
        %b = chlo.bessel_i1e %t : tensor<3xf64> -> tensor<3xf64>
        return %z, %p, %b : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>";
    let signature = "(%x: tensor<3xf64>, %q: tensor<3xf64>, %n: tensor<3xf64>, %t: tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)";
    let f = |v: [f64; 3]| floats(DType::F64, &[3], &v);
    let pi = std::f64::consts::PI;
    let args = [f([2.0, 4.0, 1.0]), f([1.0, 1.0, 2.5]), f([1.0, 3.0, 0.5]), f([1.0, -40.0, 0.0])];
    let got = run_body(signature, body, &args);
    let near = |got: f64, want: f64| assert!((got - want).abs() <= 4e-14 * want.abs(), "{got} for {want}");
    let (zeta, polygamma, bessel) = (to_floats(&got[0]), to_floats(&got[1]), to_floats(&got[2]));
    near(zeta[0], pi * pi / 6.0);
    near(zeta[1], pi.powi(4) / 90.0);
    assert_eq!(zeta[2], f64::INFINITY);
    near(polygamma[0], pi * pi / 6.0);
    near(polygamma[1], pi.powi(4) / 15.0);
    assert!(polygamma[2].is_nan());
    near(bessel[0], I1E_1);
    near(bessel[1], -I1E_40);
    assert_eq!(bessel[2], 0.0);
}

/// Summed from the power series with exact fractions.
const I1E_1: f64 = 0.207_910_415_349_708_44;
const I1E_40: f64 = 0.062_482_229_074_442_06;

#[test]
fn high_halves_of_products() {
    let mut random = Random(3);
    for dtype in [DType::I8, DType::U16, DType::I32, DType::I64, DType::U64] {
        let name = dtype.name().replace('u', "ui");
        let body = format!(
            "%r = chlo.mulhi %x, %y : tensor<20x{name}>, tensor<20x{name}> -> tensor<20x{name}>\n return %r : tensor<20x{name}>"
        );
        let mut draw = || {
            let bits = (0..20).map(|_| {
                let high = random.int(0, (1 << 30) - 1) as u128;
                Scalar::from_bits(dtype, (high << 34) ^ random.int(0, (1 << 30) - 1) as u128)
            });
            Buffer::from_scalars(dtype, &[20], &bits.collect::<Vec<_>>()).unwrap()
        };
        let (x, y) = (draw(), draw());
        let want: Vec<Scalar> = (0..20)
            .map(|i| {
                let (a, b) = (x.get(i).as_i128().unwrap(), y.get(i).as_i128().unwrap());
                let bits = match dtype {
                    DType::U64 => ((a as u128 * b as u128) >> 64) as i128,
                    _ => (a * b) >> dtype.bits(),
                };
                Scalar::from_bits(dtype, bits as u128)
            })
            .collect();
        let signature = format!("(%x: tensor<20x{name}>, %y: tensor<20x{name}>) -> tensor<20x{name}>");
        let got = run_body(&signature, &body, &[x, y]);
        assert_eq!(got[0], Buffer::from_scalars(dtype, &[20], &want).unwrap(), "{dtype}");
    }
}

#[test]
fn glue_disappears() {
    let text = "module {
        func.func @main(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>) {
          %t = stablehlo.tuple %x, %x : tuple<tensor<2xi32>, tensor<2xi32>>
          %a = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
          %b = stablehlo.optimization_barrier %a : tensor<2xi32>
          %c = stablehlo.custom_call @Sharding(%b) : (tensor<2xi32>) -> tensor<2xi32>
          %d = stablehlo.composite \"my.double\" %c {decomposition = @double} : (tensor<2xi32>) -> tensor<2xi32>
          return %d, %c : tensor<2xi32>, tensor<2xi32>
        }
        func.func private @double(%x: tensor<2xi32>) -> tensor<2xi32> {
          %r = stablehlo.add %x, %x : tensor<2xi32>
          return %r : tensor<2xi32>
        }
      }";
    assert_eq!(lift(text).unwrap().functions[0].body.statements.len(), 1);
    let got = run(text, &[i32s(&[2], &[3, 4])]);
    assert_eq!(to_ints(&got[0]), [6, 8]);
    assert_eq!(to_ints(&got[1]), [3, 4]);
}

#[test]
fn dynamic_operations_with_known_results() {
    let body = "%d = stablehlo.get_dimension_size %x, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>
        %r = stablehlo.dynamic_reshape %x, %s : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<3x2xi32>
        %b = stablehlo.dynamic_broadcast_in_dim %d, %s, dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<3x2xi32>
        %i = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<3x2xi32>
        return %r, %b, %i : tensor<3x2xi32>, tensor<3x2xi32>, tensor<3x2xi32>";
    let signature =
        "(%x: tensor<2x3xi32>, %s: tensor<2xi32>) -> (tensor<3x2xi32>, tensor<3x2xi32>, tensor<3x2xi32>)";
    let got = run_body(signature, body, &[i32s(&[2, 3], &[1, 2, 3, 4, 5, 6]), i32s(&[2], &[3, 2])]);
    assert_eq!(to_ints(&got[0]), [1, 2, 3, 4, 5, 6]);
    assert_eq!(to_ints(&got[1]), [3; 6]);
    assert_eq!(to_ints(&got[2]), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn constants_of_every_form() {
    let body = r#"%a = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
        %b = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
        %c = stablehlo.constant dense<"0x0100000002000000"> : tensor<2xi32>
        %i = stablehlo.imag %b : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
        return %a, %i, %c : tensor<3xi1>, tensor<2xf32>, tensor<2xi32>"#;
    let got = run_body("() -> (tensor<3xi1>, tensor<2xf32>, tensor<2xi32>)", body, &[]);
    assert_eq!(to_ints(&got[0]), [1, 0, 1]);
    assert_eq!(to_floats(&got[1]), [2.0, -4.0]);
    assert_eq!(to_ints(&got[2]), [1, 2]);
}
