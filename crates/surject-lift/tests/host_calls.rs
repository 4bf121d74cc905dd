//! What import makes of LAPACK's routines, products in groups, numbers of a distribution and asynchronous operations: the
//! values of the interpreter of `surject-stablehlo`, also after a way through StableHLO text again.

use surject_lift::{CheckOutcome, ImportOptions, export, import, import_checks};
use surject_stablehlo::interpret::Value;

fn imported(text: &str) -> surject_ir::Program {
    let module = surject_stablehlo::parse_and_verify(text)
        .unwrap_or_else(|d| panic!("{}", d.render("test.mlir", text)));
    let program = import(&module, &ImportOptions::default())
        .unwrap_or_else(|e| panic!("{}", e.diagnostic().render("test.mlir", text)));
    surject_ir::verify(&program).unwrap_or_else(|e| panic!("{e}"));
    program
}

fn computed(program: &surject_ir::Program, text: &str) -> Vec<Vec<f64>> {
    let found = surject_ir::interp::run(program, "main", &[]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let parts = |b: &surject_ir::Buffer| {
        let value = |i| {
            let z = b.get(i).as_complex();
            [z.re, z.im]
        };
        (0..b.len()).flat_map(value).collect()
    };
    found.iter().map(parts).collect()
}

/// The results of `main` without arguments, by both interpreters, real and imaginary parts.
fn agree(text: &str, tolerance: f64) {
    let program = imported(text);
    let module = surject_stablehlo::parse_and_verify(text).unwrap();
    let results = surject_stablehlo::interpret::run(&module, "main", Vec::new()).unwrap();
    let numbers = |value: &Value| -> Vec<f64> {
        let tensor = value.as_tensor().expect("a tensor");
        if let Some(values) = tensor.to_f64s() {
            return values.into_iter().flat_map(|v| [v, 0.0]).collect();
        }
        if let Some(values) = tensor.to_i64s() {
            return values.into_iter().flat_map(|v| [v as f64, 0.0]).collect();
        }
        tensor.bytes().chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
    };
    let wanted: Vec<Vec<f64>> = results.iter().map(numbers).collect();
    let again = export(&program).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for found in [computed(&program, text), computed(&imported(&again), &again)] {
        let near = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance;
        let equal = found.len() == wanted.len()
            && found
                .iter()
                .zip(&wanted)
                .all(|(a, b)| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(*a, *b)));
        assert!(equal, "{found:?}\n{wanted:?}\n{text}");
    }
}

/// A call of a routine on a real and on a complex matrix, in two layouts of the batch.
fn routine(name: [&str; 2], config: &str, shape: [usize; 2], results: [&[&str]; 2]) {
    for (letter, (name, (results, ty))) in
        ["d", "z"].iter().zip(name.iter().zip(results.iter().zip(["f64", "complex<f64>"])))
    {
        for batch in ["", "2x"] {
            let [m, n] = shape;
            let matrix = |seed: usize| {
                let row = |i: usize| {
                    let value = |j: usize| {
                        let x = ((seed + 7 * i + 5 * j + i * j) % 11) as f64 - 4.5 + 0.25 * (i + j) as f64;
                        if ty == "f64" { format!("{x:?}") } else { format!("({x:?}, {:?})", x * 0.5 - 1.0) }
                    };
                    format!("[{}]", (0..n).map(value).collect::<Vec<_>>().join(", "))
                };
                format!("[{}]", (0..m).map(row).collect::<Vec<_>>().join(", "))
            };
            let value = if batch.is_empty() { matrix(1) } else { format!("[{}, {}]", matrix(1), matrix(4)) };
            let operand = format!("tensor<{batch}{m}x{n}x{ty}>");
            let types: Vec<String> = results.iter().map(|r| format!("tensor<{batch}{r}>")).collect();
            let layout = if batch.is_empty() {
                "dense<[0, 1]> : tensor<2xindex>"
            } else {
                "dense<[1, 2, 0]> : tensor<3xindex>"
            };
            let result_layouts: Vec<String> = results
                .iter()
                .map(|r| {
                    let rank = r.matches('x').count() - r.matches("complex").count()
                        + usize::from(!batch.is_empty());
                    let mut order: Vec<String> = (0..rank).rev().map(|a| a.to_string()).collect();
                    // Matrices by columns.
                    if rank == 2 + usize::from(!batch.is_empty()) {
                        order.swap(0, 1);
                    }
                    format!("dense<[{}]> : tensor<{rank}xindex>", order.join(", "))
                        .replace("dense<[]>", "dense<>")
                })
                .collect();
            let result_layouts = result_layouts.join(", ");
            let names: Vec<String> = (0..types.len()).map(|i| format!("%r#{i}")).collect();
            let (names, count) = match types.len() {
                1 => ("%r".to_string(), String::new()),
                k => (names.join(", "), format!(":{k}")),
            };
            let types = types.join(", ");
            let text = format!(
                "func.func @main() -> ({types}) {{
  %a = stablehlo.constant dense<{value}> : {operand}
  %r{count} = stablehlo.custom_call @lapack_{letter}{name}_ffi(%a) {{mhlo.backend_config = {{{config}}}, operand_layouts = [{layout}], result_layouts = [{result_layouts}]}} : ({operand}) -> ({types})
  return {names} : {types}
}}
"
            );
            agree(&text, 1e-12);
        }
    }
}

#[test]
fn routines_give_what_the_interpreter_of_stablehlo_gives() {
    let both = |name: &'static str| [name, name];
    for [m, n] in [[3, 3], [4, 2], [2, 4]] {
        let k = m.min(n);
        let factors = |ty: &str| format!("{m}x{n}x{ty}");
        let (real, complex) = (factors("f64"), factors("complex<f64>"));
        let (pivots, tau, tau_z) = (format!("{k}xi32"), format!("{k}xf64"), format!("{k}xcomplex<f64>"));
        routine(both("getrf"), "", [m, n], [&[&real, &pivots, "i32"], &[&complex, &pivots, "i32"]]);
        routine(both("geqrf"), "", [m, n], [&[&real, &tau], &[&complex, &tau_z]]);
        let (u, u_z) = (format!("{m}x{k}xf64"), format!("{m}x{k}xcomplex<f64>"));
        let (v, v_z) = (format!("{k}x{n}xf64"), format!("{k}x{n}xcomplex<f64>"));
        routine(
            both("gesdd"),
            "mode = 83 : ui8",
            [m, n],
            [&[&real, &tau, &u, &v, "i32"], &[&complex, &tau, &u_z, &v_z, "i32"]],
        );
    }
    let (square, z) = ("3x3xf64", "3x3xcomplex<f64>");
    for uplo in [76, 85] {
        let config = format!("mode = 86 : ui8, uplo = {uplo} : ui8");
        routine(["syevd", "heevd"], &config, [3, 3], [&[square, "3xf64", "i32"], &[z, "3xf64", "i32"]]);
        routine(
            ["sytrd", "hetrd"],
            &config,
            [3, 3],
            [&[square, "3xf64", "2xf64", "2xf64", "i32"], &[z, "3xf64", "2xf64", "2xcomplex<f64>", "i32"]],
        );
    }
    routine(
        both("geev"),
        "compute_left = 86 : ui8, compute_right = 86 : ui8",
        [3, 3],
        [&["3xf64", "3xf64", z, z, "i32"], &["3xcomplex<f64>", z, z, "i32"]],
    );
    routine(
        both("gees"),
        "mode = 86 : ui8, sort = 78 : ui8",
        [3, 3],
        [&[square, square, "3xf64", "3xf64", "i32", "i32"], &[z, z, "3xcomplex<f64>", "i32", "i32"]],
    );
    routine(
        both("gehrd"),
        "low = 1 : i32, high = 3 : i32",
        [3, 3],
        [&[square, "2xf64", "i32"], &[z, "2xcomplex<f64>", "i32"]],
    );
}

#[test]
fn products_in_groups() {
    let run = |sizes: &str, dims: &str, out: &str, rhs: &str, value: &str| {
        agree(
            &format!(
                "func.func @main() -> tensor<{out}xf32> {{
  %a = stablehlo.constant dense<[[1.0, 2.0], [3.0, -1.0], [0.5, 4.0], [2.0, 2.0], [-3.0, 1.0]]> : tensor<5x2xf32>
  %b = stablehlo.constant dense<{value}> : tensor<{rhs}xf32>
  %g = stablehlo.constant dense<{sizes}> : tensor<3xi32>
  %r = \"chlo.ragged_dot\"(%a, %b, %g) {{ragged_dot_dimension_numbers = #chlo.ragged_dot<{dims}>, precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]}} : (tensor<5x2xf32>, tensor<{rhs}xf32>, tensor<3xi32>) -> tensor<{out}xf32>
  return %r : tensor<{out}xf32>
}}
"
            ),
            0.0,
        );
    };
    let free = "lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]";
    let parts = "[[[1.0, 0.0, 2.0], [3.0, 1.0, -1.0]], [[0.5, 2.0, 1.0], [1.0, 1.0, 1.0]], [[4.0, -2.0, 0x7F800000], [0.0, 1.0, 3.0]]]";
    for sizes in ["[2, 1, 2]", "[0, 3, 1]", "[1, 9, 1]", "[0, 0, 0]"] {
        run(sizes, free, "5x3", "3x2x3", parts);
    }
    let contracted = "lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = []";
    let rows = "[[1.0, 2.0], [0.5, -1.0], [3.0, 0x7F800000], [2.0, 1.0], [1.0, 1.0]]";
    for sizes in ["[2, 1, 2]", "[0, 4, 1]"] {
        run(sizes, contracted, "3x2x2", "5x2", rows);
    }
}

#[test]
fn numbers_of_distributions_are_one_stream() {
    for (ty, low, high) in [
        ("f32", "-1.5", "2.5"),
        ("f64", "0.0", "1.0"),
        ("bf16", "0.0", "4.0"),
        ("i32", "-7", "9"),
        ("ui8", "3", "250"),
        ("i64", "-9000000000", "9000000000"),
    ] {
        let draw = |distribution: &str| {
            format!(
                "func.func @main() -> (tensor<3x5x{ty}>, tensor<7x{ty}>) {{
  %a = stablehlo.constant dense<{low}> : tensor<{ty}>
  %b = stablehlo.constant dense<{high}> : tensor<{ty}>
  %s = stablehlo.constant dense<[3, 5]> : tensor<2xi64>
  %t = stablehlo.constant dense<7> : tensor<1xi64>
  %x = stablehlo.rng %a, %b, %s, distribution = {distribution} : (tensor<{ty}>, tensor<{ty}>, tensor<2xi64>) -> tensor<3x5x{ty}>
  %y = stablehlo.rng %a, %b, %t, distribution = {distribution} : (tensor<{ty}>, tensor<{ty}>, tensor<1xi64>) -> tensor<7x{ty}>
  return %x, %y : tensor<3x5x{ty}>, tensor<7x{ty}>
}}
"
            )
        };
        agree(&draw("UNIFORM"), 0.0);
        if ty.contains('f') {
            agree(&draw("NORMAL"), 1e-5);
        }
    }
}

#[test]
fn asynchronous_operations_are_done_at_once() {
    agree(
        "func.func @main() -> tensor<2xf32> {
  %a = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %f = \"stablehlo.async_start\"(%a) ({
  ^bb0(%x: tensor<3xf32>):
    %0 = stablehlo.slice %x [1:3] : (tensor<3xf32>) -> tensor<2xf32>
    stablehlo.return %0 : tensor<2xf32>
  }) : (tensor<3xf32>) -> !stablehlo.future<tensor<2xf32>>
  %r = \"stablehlo.async_done\"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
",
        0.0,
    );
}

/// What a function that checks itself gives, check by check.
fn outcomes(text: &str) -> Vec<bool> {
    let module = surject_stablehlo::parse_and_verify(text)
        .unwrap_or_else(|d| panic!("{}", d.render("test.mlir", text)));
    let mut functions = import_checks(&module, &ImportOptions::default()).unwrap();
    let function =
        functions.remove(0).1.unwrap_or_else(|e| panic!("{}", e.diagnostic().render("test.mlir", text)));
    surject_ir::verify(&function.program).unwrap_or_else(|e| panic!("{e}"));
    let name = &function.program.functions[0].name;
    let results = surject_ir::interp::run(&function.program, name, &[]).unwrap();
    function.checks.iter().map(|c| c.evaluate(&results) == CheckOutcome::Passed).collect()
}

#[test]
fn checks_inside_loops_and_branches() {
    // The loop counts to 4; a check holds in every turn, or in all but one.
    let text = |check: &str| {
        format!(
            "func.func @main() {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
  %z = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %i = stablehlo.while(%n = %zero) : tensor<i32>
    cond {{
      %c = stablehlo.compare LT, %n, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %next = stablehlo.add %n, %one : tensor<i32>
      %three = stablehlo.compare EQ, %next, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      \"stablehlo.if\"(%three) ({{
        {check}
        stablehlo.return
      }}, {{
        check.expect_eq %half, %half : tensor<f32>
        stablehlo.return
      }}) : (tensor<i1>) -> ()
      stablehlo.return %next : tensor<i32>
    }}
  check.expect_eq %i, %four : tensor<i32>
  return
}}
"
        )
    };
    for (check, holds) in [
        ("check.expect_eq %half, %half : tensor<f32>", true),
        ("check.expect_eq %next, %four : tensor<i32>", true),
        ("check.expect_eq %next, %one : tensor<i32>", false),
        ("check.expect_eq %nan, %nan : tensor<f32>", false),
        ("check.expect_almost_eq %nan, %nan : tensor<f32>", true),
        ("check.expect_almost_eq %half, %nan : tensor<f32>", false),
        (
            "check.expect_close %half, %half, max_ulp_difference = 1, min_ulp_difference = 0 : tensor<f32>, tensor<f32>",
            true,
        ),
        ("check.expect_almost_eq %z, %z : tensor<complex<f32>>", true),
    ] {
        assert_eq!(outcomes(&text(check)), [true, holds], "{check}");
    }
}

#[test]
fn what_probes_have_seen() {
    let text = |iteration: u32, value: &str| {
        format!(
            "func.func @main() {{
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = interpreter.probe %a, probe_id = \"p\" : tensor<2xf32>
  %c = stablehlo.add %b, %a : tensor<2xf32>
  %d = interpreter.probe %c, probe_id = \"p\" : tensor<2xf32>
  check.expect_serialized_eq {value}, probe_id = \"p\" {{iteration = {iteration} : ui32}} : tensor<2xf32>
  return
}}
"
        )
    };
    assert_eq!(outcomes(&text(0, "%a")), [true]);
    assert_eq!(outcomes(&text(1, "%d")), [true]);
    assert_eq!(outcomes(&text(1, "%a")), [false]);
}

/// A probe in a loop sees a value in every turn, one in a branch only where it is taken, one in a function wherever it is called.
#[test]
fn what_probes_have_seen_in_loops_and_branches() {
    let text = |check: &str| {
        format!(
            "func.func @main() {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %four = stablehlo.constant dense<4> : tensor<i32>
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i:2 = stablehlo.while(%n = %zero, %y = %x) : tensor<i32>, tensor<2xf32>
    cond {{
      %c = stablehlo.compare LT, %n, %four : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }} do {{
      %next = stablehlo.add %n, %one : tensor<i32>
      %z = interpreter.probe %y, probe_id = \"turn\" : tensor<2xf32>
      %w = func.call @doubled(%z) : (tensor<2xf32>) -> tensor<2xf32>
      %two_is = stablehlo.compare EQ, %n, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %v = \"stablehlo.if\"(%two_is) ({{
        %u = interpreter.probe %w, probe_id = \"branch\" : tensor<2xf32>
        stablehlo.return %u : tensor<2xf32>
      }}, {{
        stablehlo.return %w : tensor<2xf32>
      }}) : (tensor<i1>) -> tensor<2xf32>
      stablehlo.return %next, %v : tensor<i32>, tensor<2xf32>
    }}
  %eight = stablehlo.constant dense<[8.0, 16.0]> : tensor<2xf32>
  {check}
  return
}}
func.func private @doubled(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %a = stablehlo.add %x, %x : tensor<2xf32>
  %b = interpreter.probe %a, probe_id = \"called\" : tensor<2xf32>
  return %b : tensor<2xf32>
}}
"
        )
    };
    // The value, and that the probe has run so often.
    for (value, probe, iteration, holds) in [
        ("%x", "turn", 0, [true, true]),
        ("%eight", "turn", 3, [true, true]),
        ("%eight", "turn", 2, [false, true]),
        ("%eight", "turn", 4, [false, false]),
        ("%eight", "branch", 0, [true, true]),
        ("%eight", "branch", 1, [false, false]),
        ("%eight", "called", 2, [true, true]),
        ("%x", "called", 0, [false, true]),
    ] {
        let check = format!(
            "check.expect_serialized_eq {value}, probe_id = \"{probe}\" {{iteration = {iteration} : ui32}} : tensor<2xf32>"
        );
        let text = text(&check);
        assert_eq!(outcomes(&text), holds, "{check}");
        let module = surject_stablehlo::parse_and_verify(&text).unwrap();
        let run = surject_stablehlo::interpret::run(&module, "main", Vec::new());
        assert_eq!(run.is_ok(), holds == [true, true], "{check}");
    }
}

/// What `asin` and `acos` of complex numbers are made of, at special values too.
#[test]
fn the_kernel_of_complex_arc_functions() {
    let parts = ["0.0", "-1.0", "2.5", "1.0e+200", "0x7FF0000000000000", "0x7FF8000000000000"];
    let all: Vec<String> =
        parts.iter().flat_map(|a| parts.iter().map(move |b| format!("({a}, {b})"))).collect();
    let ty = format!("tensor<{}xcomplex<f64>>", all.len());
    agree(
        &format!(
            "func.func @main() -> ({ty}, {ty}) {{
  %z = stablehlo.constant dense<[{}]> : {ty}
  %w = chlo._asin_acos_kernel %z : {ty} -> {ty}
  %a = chlo.asin %z : {ty} -> {ty}
  return %w, %a : {ty}, {ty}
}}
",
            all.join(", ")
        ),
        1e-14,
    );
}
