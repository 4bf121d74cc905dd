//! Accepted and rejected samples of every operation (`tests/constraints/*.txt`), one a line: the verdict, the operation
//! with attributes and regions, its types. A verdict is `ok`, `C12` for a violation of constraint 12 of the
//! specification, `no` for one that has no number. Accepted samples read back from both forms, and where results follow
//! from operands they are inferred.
//!
//! Types are written short: `f32[2,?]`, a bound as `f32[?<4]`, quantized types by the names below. `A[1,2]` is an array
//! attribute, `P[0,1;2,3]` are pairs. A region is `{T; U -> V}`; an operand may be a constant, `dense<[1, 2]> i64[2]`.

use std::path::{Path, PathBuf};

use surject_stablehlo::{Inference, Module, Op, parse, print, print_generic, verify};

/// Names of element types that need more than a word.
const ELEMENTS: &[(&str, &str)] = &[
    ("c64", "complex<f32>"),
    ("c128", "complex<f64>"),
    // Per tensor: of other scale, other storage, other expressed type, without zero point.
    ("q8", "!quant.uniform<i8:f32, 5.000000e-01:3>"),
    ("q8s", "!quant.uniform<i8:f32, 2.500000e-01:4>"),
    ("q8n", "!quant.uniform<i8<-127:127>:f32, 5.000000e-01:3>"),
    ("q8d", "!quant.uniform<i8:f64, 5.000000e-01:3>"),
    ("q8z", "!quant.uniform<i8:f32, 5.000000e-01>"),
    ("q4", "!quant.uniform<i4:f32, 5.000000e-01:3>"),
    ("q32", "!quant.uniform<i32:f32, 5.000000e-01>"),
    ("qu8", "!quant.uniform<u8:f32, 5.000000e-01:3>"),
    // Per axis, of two indices, and of one.
    ("qa0", "!quant.uniform<i8:f32:0, {5.000000e-01,2.500000e-01}>"),
    ("qa1", "!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>"),
    ("qa1s", "!quant.uniform<i8:f32:1, {5.000000e-01,3.750000e-01}>"),
    ("qa2", "!quant.uniform<i8:f32:2, {5.000000e-01,2.500000e-01}>"),
    ("qa3", "!quant.uniform<i8:f32:3, {5.000000e-01,2.500000e-01}>"),
    ("qb0", "!quant.uniform<i8:f32:0, {5.000000e-01}>"),
    ("qb1", "!quant.uniform<i8:f32:1, {5.000000e-01,5.000000e-01}>"),
    ("qa1z", "!quant.uniform<i32:f32:1, {5.000000e-01,2.500000e-01}>"),
    // Invalid ones.
    ("qzp", "!quant.uniform<i8:f32, 5.000000e-01:300>"),
    ("qneg", "!quant.uniform<i8:f32, -5.000000e-01:3>"),
    ("qinf", "!quant.uniform<i8:f16, 1.000000e+09:3>"),
];

/// One line, taken apart.
struct Sample {
    line: String,
    verdict: String,
    /// Name of the operation with its dialect.
    name: String,
    text: String,
}

/// `f32[2,?<4]` and other words as types.
fn ty(word: &str) -> String {
    let word = word.trim();
    if word == "token" {
        return "!stablehlo.token".into();
    }
    if let Some(parts) = word.strip_prefix("tuple(").and_then(|w| w.strip_suffix(')')) {
        return format!("tuple<{}>", parts.split('|').map(ty).collect::<Vec<_>>().join(", "));
    }
    if let Some(parts) = word.strip_prefix("future(").and_then(|w| w.strip_suffix(')')) {
        return format!("!stablehlo.future<{}>", parts.split('|').map(ty).collect::<Vec<_>>().join(", "));
    }
    let Some((element, shape)) = word.split_once('[') else { return word.to_string() };
    if !element.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return word.to_string();
    }
    let element = ELEMENTS.iter().find(|(name, _)| *name == element).map_or(element, |(_, text)| text);
    let (mut text, mut bounds) = (String::from("tensor<"), Vec::new());
    for dim in shape.trim_end_matches(']').split(',').filter(|d| !d.is_empty()) {
        let (dim, bound) = dim.split_once('<').unwrap_or((dim, "?"));
        text.push_str(&format!("{dim}x"));
        bounds.push(bound);
    }
    text.push_str(element);
    if bounds.iter().any(|b| *b != "?") {
        text.push_str(&format!(", #stablehlo.bounds<{}>", bounds.join(", ")));
    }
    text + ">"
}

fn types(list: &str) -> Vec<String> {
    list.split(';').filter(|w| !w.trim().is_empty()).map(ty).collect()
}

/// `A[1,2]` and `P[0,1;2,3]` in attributes.
fn attributes(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['A', 'P']).filter(|_| rest.contains("A[") || rest.contains("P[")) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let free = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        match (free, from.get(1..2), from.find(']')) {
            (true, Some("["), Some(end)) => {
                let inside = &from[2..end];
                if from.starts_with('A') {
                    out.push_str(&if inside.is_empty() {
                        "array<i64>".into()
                    } else {
                        format!("array<i64: {inside}>")
                    });
                } else {
                    let rows: Vec<String> = inside.split(';').map(|row| format!("[{row}]")).collect();
                    let columns = inside.split(';').next().unwrap_or("").split(',').count();
                    out.push_str(&format!(
                        "dense<[{}]> : tensor<{}x{columns}xi64>",
                        rows.join(", "),
                        rows.len()
                    ));
                }
                rest = &from[end + 1..];
            }
            _ => {
                out.push_str(&from[..1]);
                rest = &from[1..];
            }
        }
    }
    out + rest
}

/// The parts of a line in braces at the outer level: the text before them, each part, the text behind.
fn braces(line: &str) -> (String, Vec<String>, String) {
    let (mut depth, mut parts, mut head, mut current) = (0, Vec::new(), String::new(), String::new());
    let bytes: Vec<char> = line.chars().collect();
    let mut i = 0;
    while i < bytes.len() {
        let c = bytes[i];
        match c {
            '{' if depth == 0 => {
                depth = 1;
                current.clear();
            }
            '{' => {
                depth += 1;
                current.push(c);
            }
            '}' if depth == 1 => {
                depth = 0;
                parts.push(current.clone());
            }
            '}' => {
                depth -= 1;
                current.push(c);
            }
            ':' if depth == 0 => return (head, parts, bytes[i + 1..].iter().collect()),
            c if depth == 0 => head.push(c),
            c => current.push(c),
        }
        i += 1;
    }
    panic!("no types: {line}");
}

fn sample(line: &str) -> Sample {
    let (verdict, rest) = line.split_once(' ').expect("a verdict and an operation");
    let (head, parts, signature) = braces(rest);
    let name = match head.trim() {
        full if full.contains('.') => full.to_string(),
        short => format!("stablehlo.{short}"),
    };
    let (regions, attrs): (Vec<&String>, Vec<&String>) =
        parts.iter().partition(|p| p.contains(" -> ") || p.starts_with("->"));
    let (operands, results) = signature.split_once("->").expect("operands and results");
    let (mut params, mut names, mut operand_types, mut before) =
        (Vec::new(), Vec::new(), Vec::new(), String::new());
    for (i, word) in operands.split(';').map(str::trim).filter(|w| !w.is_empty()).enumerate() {
        let constant = word.starts_with("dense<").then(|| word.rsplit_once(' ')).flatten();
        let t = ty(constant.map_or(word, |(_, t)| t));
        match constant {
            Some((value, _)) => before.push_str(&format!("  %a{i} = stablehlo.constant {value} : {t}\n")),
            None => params.push(format!("%a{i}: {t}")),
        }
        names.push(format!("%a{i}"));
        operand_types.push(t);
    }
    let results = types(results);
    let mut text = format!("func.func @f({}) {{\n{before}  ", params.join(", "));
    match results.len() {
        0 => {}
        n => text.push_str(&format!("%r:{n} = ")),
    }
    text.push_str(&format!("\"{name}\"({})", names.join(", ")));
    if !regions.is_empty() {
        let regions: Vec<String> = regions.iter().map(|r| region(r)).collect();
        text.push_str(&format!(" ({})", regions.join(", ")));
    }
    if let Some(attrs) = attrs.first() {
        text.push_str(&format!(" {{{}}}", attributes(attrs)));
    }
    text.push_str(&format!(" : ({}) -> ({})\n  return\n}}\n", operand_types.join(", "), results.join(", ")));
    Sample { line: line.to_string(), verdict: verdict.to_string(), name, text }
}

/// A region that takes and gives back values of types; `with OP` holds an operation in between.
fn region(text: &str) -> String {
    let (params, returned) = text.split_once("->").expect("an arrow");
    let (params, returned) = (types(params), types(returned));
    let named: Vec<String> = params.iter().enumerate().map(|(i, t)| format!("%x{i}: {t}")).collect();
    let header = if named.is_empty() { String::new() } else { format!("^bb0({}):\n", named.join(", ")) };
    let mut body = String::new();
    let mut names = Vec::new();
    for (i, t) in returned.iter().enumerate() {
        body.push_str(&format!("    %y{i} = \"test.make\"() : () -> {t}\n"));
        names.push(format!("%y{i}"));
    }
    format!(
        "{{\n{header}{body}    \"stablehlo.return\"({}) : ({}) -> ()\n  }}",
        names.join(", "),
        returned.join(", ")
    )
}

/// The same sample of `dynamic_conv`, whose constraints have the numbers of `convolution`. Its padding is an operand; what
/// is said of the padding and of the sizes that follow from it has samples of its own.
fn dynamic_conv(line: &str) -> Option<String> {
    let (verdict, rest) = line.split_once(' ')?;
    let rest = rest.strip_prefix("convolution ")?;
    if matches!(verdict, "ok" | "C1" | "C4" | "C25") {
        return None;
    }
    let (operands, result) = rest.rsplit_once(" -> ")?;
    let (rank, element) = (result.split(',').count(), result.split_once('[')?.0);
    let spatial = rank.max(3) - 2;
    // Sizes of the result stay as they are: without a constant nothing follows for them.
    Some(format!(
        "{verdict} dynamic_conv {operands} ; i64[{spatial},2] -> {element}[{}",
        result.split_once('[')?.1
    ))
}

fn samples() -> Vec<Sample> {
    // Other samples, for comparisons with other verifiers.
    let folder = std::env::var_os("SURJECT_SAMPLES")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/constraints"), PathBuf::from);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("the folder is part of the crate").flatten().collect();
    files.sort_by_key(|f| f.path());
    let mut out = Vec::new();
    for file in files {
        let path = file.path();
        let text = std::fs::read_to_string(&path).expect("readable");
        match path.extension().and_then(|e| e.to_str()) {
            Some("txt") => {
                let lines = text.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with("//"));
                for line in lines {
                    out.push(sample(line));
                    out.extend(dynamic_conv(line).as_deref().map(sample));
                }
            }
            // Whole programs, separated by lines; the verdict is the first line.
            Some("mlir") => out.extend(text.split("// -----").map(|piece| {
                let piece = piece.trim();
                let line = piece.lines().next().unwrap_or_default().trim_start_matches("// ").to_string();
                let mut words = line.split(' ');
                let verdict = words.next().unwrap_or_default().to_string();
                let name = words.next().unwrap_or_default().to_string();
                Sample { verdict, name, text: format!("{piece}\n"), line }
            })),
            _ => {}
        }
    }
    out
}

/// What is said of a program: `ok`, `C12`, or `no`.
fn verdict(text: &str) -> (String, String) {
    let error = match parse(text) {
        Err(error) => error,
        Ok(module) => match verify(&module) {
            Ok(()) => return ("ok".into(), String::new()),
            Err(errors) => errors.into_iter().next().expect("an error"),
        },
    };
    let verdict = error.constraint.map_or("no".into(), |c| format!("C{c}"));
    (verdict, error.render("sample", text))
}

#[test]
fn samples_are_judged_as_they_say() {
    let all = samples();
    if let Some(path) = std::env::var_os("SURJECT_DUMP") {
        let texts: Vec<String> = all.iter().map(|s| format!("// {}\n{}", s.line, s.text)).collect();
        std::fs::write(path, texts.join("// -----\n")).expect("writable");
    }
    let mut wrong = Vec::new();
    for sample in &all {
        let (found, message) = verdict(&sample.text);
        if found != sample.verdict {
            wrong.push(format!("{}: {found}\n{message}", sample.line));
        }
    }
    assert!(wrong.is_empty(), "{} of {} samples:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

#[test]
fn accepted_samples_read_back_from_both_forms() {
    for sample in samples().iter().filter(|s| s.verdict == "ok") {
        let module =
            parse(&sample.text).unwrap_or_else(|e| panic!("{}", e.render(&sample.line, &sample.text)));
        for printed in [print(&module), print_generic(&module)] {
            let again = parse(&printed)
                .unwrap_or_else(|e| panic!("{}\n{}", sample.line, e.render("printed", &printed)));
            assert!(module.same(&again), "{}\n{printed}\n{}", sample.line, print_generic(&again));
            if let Err(errors) = verify(&again) {
                panic!("{}\n{}", sample.line, errors[0].render("printed", &printed));
            }
        }
    }
}

fn walk<'m>(ops: &'m [Op], visit: &mut impl FnMut(&'m Op)) {
    for op in ops {
        visit(op);
        op.regions.iter().for_each(|r| walk(&r.ops, visit));
    }
}

/// Inferred types are those of the text, or more is known of them; they do not need the results.
#[test]
fn result_types_are_inferred() {
    let mut inferred = 0;
    for sample in samples().iter().filter(|s| s.verdict == "ok") {
        let module: Module = parse(&sample.text).expect("accepted");
        let inference = Inference::new(&module);
        for function in &module.functions {
            walk(&function.body.ops, &mut |op| {
                let mut bare = op.clone();
                bare.results.clear();
                let Ok(types) = inference.types(&bare) else { return };
                assert_eq!(types.len(), op.results.len(), "{}", sample.line);
                inferred += usize::from(!types.is_empty());
                for (ty, value) in types.iter().zip(&op.results) {
                    if let (Some(a), Some(b)) = (ty.as_tensor(), module.tensor(*value)) {
                        assert_eq!(a.rank(), b.rank(), "{}: {ty}", sample.line);
                    }
                }
            });
        }
    }
    assert!(inferred > 100, "{inferred}");
}

/// Operations and how many numbered constraints the specification puts on them.
const CONSTRAINTS: &[(&str, u8)] = &[
    ("abs", 2),
    ("add", 7),
    ("all_gather", 6),
    ("all_reduce", 7),
    ("all_to_all", 9),
    ("and", 1),
    ("atan2", 1),
    ("batch_norm_grad", 5),
    ("batch_norm_inference", 7),
    ("batch_norm_training", 7),
    ("bitcast_convert", 2),
    ("broadcast_in_dim", 6),
    ("case", 4),
    ("cbrt", 2),
    ("ceil", 1),
    ("cholesky", 3),
    ("clamp", 4),
    ("collective_broadcast", 3),
    ("collective_permute", 5),
    ("compare", 3),
    ("complex", 3),
    ("composite", 4),
    ("concatenate", 6),
    ("constant", 1),
    ("convert", 1),
    ("convolution", 34),
    ("cosine", 1),
    ("count_leading_zeros", 1),
    ("divide", 1),
    ("dot_general", 24),
    ("dynamic_broadcast_in_dim", 10),
    ("dynamic_conv", 34),
    ("dynamic_gather", 14),
    ("dynamic_iota", 2),
    ("dynamic_pad", 4),
    ("dynamic_reshape", 4),
    ("dynamic_slice", 5),
    ("dynamic_update_slice", 6),
    ("exponential", 1),
    ("exponential_minus_one", 1),
    ("fft", 5),
    ("floor", 1),
    ("gather", 23),
    ("get_dimension_size", 1),
    ("get_tuple_element", 2),
    ("if", 3),
    ("imag", 2),
    ("infeed", 3),
    ("iota", 1),
    ("is_finite", 1),
    ("log", 1),
    ("log_plus_one", 1),
    ("logistic", 1),
    ("map", 4),
    ("maximum", 1),
    ("minimum", 1),
    ("multiply", 1),
    ("negate", 1),
    ("not", 1),
    ("optimization_barrier", 1),
    ("or", 1),
    ("pad", 4),
    ("popcnt", 1),
    ("power", 1),
    ("real", 2),
    ("recv", 4),
    ("reduce", 8),
    ("reduce_precision", 3),
    ("reduce_scatter", 9),
    ("reduce_window", 16),
    ("remainder", 1),
    ("reshape", 3),
    ("reverse", 3),
    ("rng", 3),
    ("rng_bit_generator", 2),
    ("round_nearest_afz", 1),
    ("round_nearest_even", 1),
    ("rsqrt", 1),
    ("scatter", 25),
    ("select", 2),
    ("select_and_scatter", 12),
    ("send", 1),
    ("shift_left", 1),
    ("shift_right_arithmetic", 1),
    ("shift_right_logical", 1),
    ("sign", 1),
    ("sine", 1),
    ("slice", 5),
    ("sort", 5),
    ("sqrt", 1),
    ("subtract", 1),
    ("tan", 1),
    ("tanh", 1),
    ("transpose", 4),
    ("triangular_solve", 4),
    ("tuple", 1),
    ("uniform_dequantize", 2),
    ("uniform_quantize", 2),
    ("while", 3),
    ("xor", 1),
];

/// Constraints that no program violates by itself: the number of processes is not part of it.
const UNKNOWN: &[(&str, u8)] =
    &[("all_gather", 3), ("all_reduce", 2), ("all_to_all", 6), ("reduce_scatter", 4)];

#[test]
fn every_numbered_constraint_has_a_violation() {
    let all = samples();
    let mut missing = Vec::new();
    for (name, count) in CONSTRAINTS {
        for number in (1..=*count).filter(|n| !UNKNOWN.contains(&(name, *n))) {
            let (full, verdict) = (format!("stablehlo.{name}"), format!("C{number}"));
            if !all.iter().any(|s| s.name == full && s.verdict == verdict) {
                missing.push(format!("{name} {verdict}"));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
}

/// Every operation of StableHLO has a sample that is accepted.
#[test]
fn every_operation_has_samples() {
    let all = samples();
    let has = |name: &str| all.iter().any(|s| s.verdict == "ok" && (s.name == name || s.text.contains(name)));
    let missing: Vec<&str> = surject_stablehlo::table::all()
        .map(|row| row.name)
        .filter(|name| name.starts_with("stablehlo.") && !has(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
