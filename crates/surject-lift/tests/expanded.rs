//! Programs on quantized types, small integers and small floats: import gives what the interpreter of `surject-stablehlo`
//! gives, element for element.

use surject_lift::{ImportOptions, import};
use surject_stablehlo::interpret::{Tensor, Value};

const Q: &str = "!quant.uniform<i8:f32, 5.000000e-01:3>";
const R: &str = "!quant.uniform<i8:f32, 2.500000e-01:-4>";
const N: &str = "!quant.uniform<i8<-127:127>:f32, 1.250000e-01>";
const U: &str = "!quant.uniform<u8:f32, 3.000000e-01:100>";
const W: &str = "!quant.uniform<i32:f32, 1.000000e-01:7>";
const A: &str = "!quant.uniform<i8:f32:1, {5.000000e-01:1,2.500000e-01:-2,1.250000e-01}>";

/// The results of `main` by both interpreters, as numbers.
fn both(text: &str) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let module = surject_stablehlo::parse_and_verify(text)
        .unwrap_or_else(|d| panic!("{}", d.render("test.mlir", text)));
    let results = surject_stablehlo::interpret::run(&module, "main", Vec::new())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    let numbers = |value: &Value| {
        let tensor: &Tensor = value.as_tensor().expect("a tensor");
        let ints = || tensor.to_i64s().map(|v| v.into_iter().map(|v| v as f64).collect());
        // Quantized tensors as what is stored.
        tensor
            .to_f64s()
            .or_else(ints)
            .unwrap_or_else(|| tensor.bytes().iter().map(|b| f64::from(*b as i8)).collect())
    };
    let wanted = results.iter().map(numbers).collect();
    let options = ImportOptions { function: None, file: "test.mlir", source: text.as_bytes() };
    let program =
        import(&module, &options).unwrap_or_else(|e| panic!("{}", e.diagnostic().render("test.mlir", text)));
    surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}"));
    let found = surject_ir::interp::run(&program, "main", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let found = found.iter().map(|b| (0..b.len()).map(|i| b.get(i).as_f64()).collect()).collect();
    (found, wanted)
}

fn agree(text: &str) {
    let (found, wanted) = both(text);
    let same = |a: &f64, b: &f64| a == b || a.is_nan() && b.is_nan();
    let equal = found.len() == wanted.len()
        && found
            .iter()
            .zip(&wanted)
            .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)));
    assert!(equal, "{found:?}\n{wanted:?}\n{text}");
}

/// A function of tensors that are quantized first.
fn quantized(body: &str, result: &str) {
    let text = format!(
        "func.func @main() -> {result} {{
  %x = stablehlo.constant dense<[[-1.3, 0.0, 0.25], [2.75, 100.0, -100.0]]> : tensor<2x3xf32>
  %y = stablehlo.constant dense<[[0.75, -2.0, 3.4], [0x7FC00000, 1.0, 0x7F800000]]> : tensor<2x3xf32>
  %k = stablehlo.constant dense<[[1.0, -1.0], [0.5, 2.0], [-0.25, 3.0]]> : tensor<3x2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x{Q}>
  %p = stablehlo.uniform_quantize %y : (tensor<2x3xf32>) -> tensor<2x3x{Q}>
  %n = stablehlo.uniform_quantize %k : (tensor<3x2xf32>) -> tensor<3x2x{N}>
{body}
  return %r : {result}
}}
"
    );
    agree(&text);
}

#[test]
fn quantization_and_back() {
    for ty in [Q, R, N, U, W, A] {
        quantized(
            &format!("  %r = stablehlo.uniform_quantize %x : (tensor<2x3xf32>) -> tensor<2x3x{ty}>"),
            &format!("tensor<2x3x{ty}>"),
        );
        let body = format!(
            "  %0 = stablehlo.uniform_quantize %y : (tensor<2x3xf32>) -> tensor<2x3x{ty}>
  %r = stablehlo.uniform_dequantize %0 : (tensor<2x3x{ty}>) -> tensor<2x3xf32>"
        );
        quantized(&body, "tensor<2x3xf32>");
    }
    quantized(
        &format!("  %r = stablehlo.uniform_quantize %q : (tensor<2x3x{Q}>) -> tensor<2x3x{R}>"),
        &format!("tensor<2x3x{R}>"),
    );
}

#[test]
fn elementwise_operations_are_those_on_what_is_expressed() {
    for op in ["add", "subtract", "multiply", "maximum", "minimum", "divide", "atan2", "power", "remainder"] {
        quantized(&format!("  %r = stablehlo.{op} %q, %p : tensor<2x3x{Q}>"), &format!("tensor<2x3x{Q}>"));
    }
    for op in ["abs", "negate", "ceil", "floor", "tanh", "logistic", "exponential", "sign", "sqrt", "cosine"]
    {
        quantized(&format!("  %r = stablehlo.{op} %q : tensor<2x3x{Q}>"), &format!("tensor<2x3x{Q}>"));
    }
    let compared =
        format!("  %r = stablehlo.compare LT, %q, %p : (tensor<2x3x{Q}>, tensor<2x3x{Q}>) -> tensor<2x3xi1>");
    quantized(&compared, "tensor<2x3xi1>");
    quantized(&format!("  %r = stablehlo.clamp %p, %q, %q : tensor<2x3x{Q}>"), &format!("tensor<2x3x{Q}>"));
}

#[test]
fn movement_keeps_what_is_stored() {
    let out = format!("tensor<3x2x{Q}>");
    quantized(&format!("  %r = stablehlo.transpose %q, dims = [1, 0] : (tensor<2x3x{Q}>) -> {out}"), &out);
    quantized(&format!("  %r = stablehlo.reshape %q : (tensor<2x3x{Q}>) -> {out}"), &out);
    let body = format!(
        "  %c = stablehlo.compare LT, %q, %p : (tensor<2x3x{Q}>, tensor<2x3x{Q}>) -> tensor<2x3xi1>
  %r = stablehlo.select %c, %q, %p : tensor<2x3xi1>, tensor<2x3x{Q}>"
    );
    quantized(&body, &format!("tensor<2x3x{Q}>"));
    let body = format!(
        "  %r = stablehlo.concatenate %q, %p, dim = 0 : (tensor<2x3x{Q}>, tensor<2x3x{Q}>) -> tensor<4x3x{Q}>"
    );
    quantized(&body, &format!("tensor<4x3x{Q}>"));
}

#[test]
fn contractions_sum_in_what_is_expressed() {
    let body = format!(
        "  %r = stablehlo.dot_general %q, %n, contracting_dims = [1] x [0] : (tensor<2x3x{Q}>, tensor<3x2x{N}>) -> tensor<2x2x{W}>"
    );
    quantized(&body, &format!("tensor<2x2x{W}>"));
    let hybrid = format!(
        "  %r = stablehlo.dot_general %x, %n, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2x{N}>) -> tensor<2x2xf32>"
    );
    quantized(&hybrid, "tensor<2x2xf32>");
}

#[test]
fn reductions_join_quantized_elements() {
    let body = format!(
        "  %i = stablehlo.constant() <{{value = dense<3> : tensor<i8>}}> : () -> tensor<{Q}>
  %r = stablehlo.reduce(%q init: %i) applies stablehlo.add across dimensions = [1] : (tensor<2x3x{Q}>, tensor<{Q}>) -> tensor<2x{Q}>"
    )
    .replace("stablehlo.constant()", "\"stablehlo.constant\"()");
    quantized(&body, &format!("tensor<2x{Q}>"));
}

/// All bytes of a small float as numbers, and numbers that lie between.
#[test]
fn small_floats_round_as_their_formats_do() {
    let values: Vec<String> = (-40..40)
        .flat_map(|e| {
            [1.0, 1.0625, 1.125, 1.1875, 1.25, 1.375, 1.5, 1.53, 1.75, 1.9375, -1.3]
                .map(|m: f64| m * f64::powi(2.0, e))
        })
        .chain([0.0, -0.0, 448.0, 464.0, 465.0, 57344.0, 61440.0, 1e300])
        .map(|v| format!("{v:e}"))
        .map(|t| if t.split('e').next().is_some_and(|m| m.contains('.')) { t } else { t.replace('e', ".0e") })
        .chain(["0x7FF0000000000000", "0xFFF0000000000000", "0x7FF8000000000000"].map(String::from))
        .collect();
    let n = values.len();
    for ty in [
        "f8E3M4",
        "f8E4M3",
        "f8E4M3FN",
        "f8E4M3FNUZ",
        "f8E4M3B11FNUZ",
        "f8E5M2",
        "f8E5M2FNUZ",
        "f8E8M0FNU",
        "f6E2M3FN",
        "f6E3M2FN",
        "f4E2M1FN",
    ] {
        let text = format!(
            "func.func @main() -> (tensor<{n}x{ty}>, tensor<{n}xf32>, tensor<{n}x{ty}>) {{
  %x = stablehlo.constant dense<[{}]> : tensor<{n}xf64>
  %0 = stablehlo.convert %x : (tensor<{n}xf64>) -> tensor<{n}x{ty}>
  %1 = stablehlo.convert %0 : (tensor<{n}x{ty}>) -> tensor<{n}xf32>
  %2 = stablehlo.multiply %0, %0 : tensor<{n}x{ty}>
  return %0, %1, %2 : tensor<{n}x{ty}>, tensor<{n}xf32>, tensor<{n}x{ty}>
}}
",
            values.join(", ")
        );
        agree(&text);
    }
}

#[test]
fn small_integers_wrap() {
    for (ty, low, high) in [("i2", -2, 1), ("i4", -8, 7), ("ui2", 0, 3), ("ui4", 0, 15)] {
        let pairs: Vec<(i32, i32)> = (low..=high).flat_map(|a| (low..=high).map(move |b| (a, b))).collect();
        let n = pairs.len();
        let list =
            |f: fn(&(i32, i32)) -> i32| pairs.iter().map(|p| f(p).to_string()).collect::<Vec<_>>().join(", ");
        let mut body = format!(
            "  %a = stablehlo.constant dense<[{}]> : tensor<{n}x{ty}>\n  %b = stablehlo.constant dense<[{}]> : tensor<{n}x{ty}>\n",
            list(|p| p.0),
            list(|p| p.1)
        );
        let mut ops = vec![
            "add",
            "subtract",
            "multiply",
            "divide",
            "remainder",
            "and",
            "or",
            "xor",
            "maximum",
            "minimum",
            "shift_left",
            "shift_right_logical",
            "shift_right_arithmetic",
        ];
        for op in &ops {
            body += &format!("  %{op} = stablehlo.{op} %a, %b : tensor<{n}x{ty}>\n");
        }
        for op in ["not", "popcnt", "count_leading_zeros"] {
            body += &format!("  %{op} = stablehlo.{op} %a : tensor<{n}x{ty}>\n");
            ops.push(op);
        }
        let types = vec![format!("tensor<{n}x{ty}>"); ops.len()].join(", ");
        let names = ops.iter().map(|op| format!("%{op}")).collect::<Vec<_>>().join(", ");
        agree(&format!("func.func @main() -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"));
    }
}

#[test]
fn what_has_no_meaning_on_wider_types_is_refused() {
    let text = "func.func @main(%x: tensor<4xf8E5M2>) -> tensor<4xui8> {
  %0 = stablehlo.bitcast_convert %x : (tensor<4xf8E5M2>) -> tensor<4xui8>
  return %0 : tensor<4xui8>
}
";
    let module = surject_stablehlo::parse_and_verify(text).unwrap();
    let error = import(&module, &ImportOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`stablehlo.bitcast_convert` is not supported here: the bits of f8E5M2 as ui8"
    );
    assert_eq!(error.exit_status(), 3);
}

/// Random bits of both algorithms, whatever the state, the type and the shape.
#[test]
fn random_bits_are_those_of_the_interpreter() {
    let states = [
        "[1, 2]",
        "[7, 18446744073709551615]",
        "[1, 2, 3]",
        "[1, 18446744073709551615, 18446744073709551615]",
    ];
    let types = ["7xui32", "3xui64", "2x3xui32", "3x5xi8", "5x4xui16", "ui32", "2xi64", "3x3xi4", "0xui32"];
    for (state, ty) in states.iter().flat_map(|s| types.iter().map(move |t| (s, t))) {
        let k = state.split(',').count();
        for algorithm in ["PHILOX", "THREE_FRY", "DEFAULT"] {
            if algorithm == "THREE_FRY" && k == 3 {
                continue;
            }
            agree(&format!(
                "func.func @main() -> (tensor<{k}xui64>, tensor<{ty}>) {{
  %s = stablehlo.constant dense<{state}> : tensor<{k}xui64>
  %0, %1 = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : (tensor<{k}xui64>) -> (tensor<{k}xui64>, tensor<{ty}>)
  return %0, %1 : tensor<{k}xui64>, tensor<{ty}>
}}
"
            ));
        }
    }
}

#[test]
fn scans_are_loops() {
    for reverse in ["", ", is_reverse = true"] {
        agree(&format!(
            "func.func @main() -> (tensor<2x4xf32>, tensor<2xf32>) {{
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 9.0]]> : tensor<2x4xf32>
  %i = stablehlo.constant dense<[0.5, -1.0]> : tensor<2xf32>
  %r:2 = \"chlo.scan\"(%x, %i) ({{
  ^bb0(%a: tensor<2xf32>, %c: tensor<2xf32>):
    %0 = stablehlo.multiply %a, %c : tensor<2xf32>
    %1 = stablehlo.add %a, %c : tensor<2xf32>
    stablehlo.return %0, %1 : tensor<2xf32>, tensor<2xf32>
  }}) {{dimension = 1 : i64{reverse}, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}} : (tensor<2x4xf32>, tensor<2xf32>) -> (tensor<2x4xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2x4xf32>, tensor<2xf32>
}}
"
        ));
    }
}

/// Operands are rounded to tf32, to nearest even, where the algorithm asks for one product of these.
#[test]
fn products_of_tf32_round_their_operands() {
    agree(
        "func.func @main() -> tensor<1x2xf32> {
  %a = stablehlo.constant dense<[[1.00048828125, 1.0009765625, 1.00146484375, 3.4e38]]> : tensor<1x4xf32>
  %b = stablehlo.constant dense<[[1.0, 2.000001], [0.5, -3.0004883], [4.0, 7.77], [0.0, 1.0e-40]]> : tensor<4x2xf32>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  func.return %0 : tensor<1x2xf32>
}",
    );
}
