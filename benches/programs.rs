//! The programs that the benches run: one exported from JAX, and generated ones of any size.

use surject_ir::{Buffer, DType, Program, Scalar};
use surject_lift::{ImportOptions, import};

/// A transformer block as JAX exports it (103 operations).
pub const TRANSFORMER_BLOCK: &str = include_str!("../tests/programs/transformer_block/program.mlir");

/// Layers of a program whose first argument and only result have one type, each with weights of its own.
///
/// The text of the body is repeated under other names; the result of a layer is the first argument of the next.
///
/// # Panics
/// If the text is not a module with one function in the layout that JAX writes.
pub fn stack(text: &str, layers: usize) -> String {
    let mut lines = text.lines().map(str::trim);
    let head = lines.find(|l| l.starts_with("func.func")).expect("the module has a function");
    let (_, head) = head.split_once('(').expect("the function has parameters");
    let (params, results) = head.split_once(") -> (").expect("the function has results");
    let result_type = results.split([' ', ')']).next().unwrap_or_default();
    let body: Vec<&str> = lines.take_while(|l| !l.starts_with('}')).collect();
    let params: Vec<(&str, &str)> = params.split(", ").filter_map(|p| p.split_once(": ")).collect();
    let (first, weights) = params.split_first().expect("the function has a parameter");

    let mut out = format!("module @stack {{\n  func.func public @main(%x: {}", first.1);
    for layer in 0..layers {
        weights
            .iter()
            .for_each(|(name, ty)| out += &format!(", {}: {ty}", renamed(name, layer, first.0, "")));
    }
    out += &format!(") -> {result_type} {{\n");
    let mut input = "%x".to_string();
    for layer in 0..layers {
        let mut output = input.clone();
        for line in &body {
            match line.strip_prefix("return ") {
                Some(value) => {
                    output = renamed(value.split(' ').next().unwrap_or(value), layer, first.0, &input)
                }
                None => out += &format!("    {}\n", renamed(line, layer, first.0, &input)),
            }
        }
        input = output;
    }
    out + &format!("    return {input} : {result_type}\n  }}\n}}\n")
}

/// The values of a line under the names they have in a layer.
fn renamed(line: &str, layer: usize, first: &str, input: &str) -> String {
    let mut out = String::with_capacity(line.len() + 32);
    let mut rest = line;
    while let Some(at) = rest.find('%') {
        out += &rest[..at];
        let name = &rest[at + 1..];
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(name.len());
        let value = &rest[at..at + 1 + end];
        if value == first {
            out += input
        } else {
            out += &format!("%l{layer}_{}", &name[..end])
        }
        rest = &name[end..];
    }
    out + rest
}

/// A product of square matrices.
pub fn matmul(n: usize) -> String {
    let t = format!("tensor<{n}x{n}xf32>");
    format!(
        "func.func @main(%a: {t}, %b: {t}) -> {t} {{
  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({t}, {t}) -> {t}
  return %c : {t}
}}
"
    )
}

/// A softmax over the rows of a matrix.
pub fn softmax(rows: usize, columns: usize) -> String {
    let (t, r) = (format!("tensor<{rows}x{columns}xf32>"), format!("tensor<{rows}xf32>"));
    format!(
        "func.func @main(%x: {t}) -> {t} {{
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : ({t}, tensor<f32>) -> {r}
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : ({r}) -> {t}
  %d = stablehlo.subtract %x, %mb : {t}
  %e = stablehlo.exponential %d : {t}
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : ({t}, tensor<f32>) -> {r}
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : ({r}) -> {t}
  %y = stablehlo.divide %e, %sb : {t}
  return %y : {t}
}}
"
    )
}

/// A normalisation of the rows of a matrix, with scale and shift.
pub fn layernorm(rows: usize, columns: usize) -> String {
    let (t, r) = (format!("tensor<{rows}x{columns}xf32>"), format!("tensor<{rows}xf32>"));
    let w = format!("tensor<{columns}xf32>");
    format!(
        "func.func @main(%x: {t}, %scale: {w}, %shift: {w}) -> {t} {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<{columns}.0> : {r}
  %epsilon = stablehlo.constant dense<1.0e-5> : {r}
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : ({t}, tensor<f32>) -> {r}
  %mean = stablehlo.divide %sum, %n : {r}
  %mb = stablehlo.broadcast_in_dim %mean, dims = [0] : ({r}) -> {t}
  %d = stablehlo.subtract %x, %mb : {t}
  %dd = stablehlo.multiply %d, %d : {t}
  %squares = stablehlo.reduce(%dd init: %zero) applies stablehlo.add across dimensions = [1] : ({t}, tensor<f32>) -> {r}
  %variance = stablehlo.divide %squares, %n : {r}
  %v = stablehlo.add %variance, %epsilon : {r}
  %root = stablehlo.rsqrt %v : {r}
  %rb = stablehlo.broadcast_in_dim %root, dims = [0] : ({r}) -> {t}
  %normal = stablehlo.multiply %d, %rb : {t}
  %sb = stablehlo.broadcast_in_dim %scale, dims = [1] : ({w}) -> {t}
  %hb = stablehlo.broadcast_in_dim %shift, dims = [1] : ({w}) -> {t}
  %scaled = stablehlo.multiply %normal, %sb : {t}
  %y = stablehlo.add %scaled, %hb : {t}
  return %y : {t}
}}
"
    )
}

/// A text as a program.
///
/// # Panics
/// If the text is not a module that can be imported: the texts here are.
pub fn program(text: &str) -> Program {
    let module =
        surject_stablehlo::parse_and_verify(text).unwrap_or_else(|e| panic!("{}", e.render("bench", text)));
    import(&module, &ImportOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

/// Arguments of the main function: numbers between -1 and 1, the same at every call.
///
/// # Panics
/// If there is no main function, or an extent is not constant.
pub fn arguments(program: &Program) -> Vec<Buffer> {
    let main = program.main().expect("the program has a function");
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    let buffer = |ty: &surject_ir::TensorType| {
        let extents = ty.space.extents().iter();
        let shape: Vec<usize> =
            extents.map(|e| e.as_const().expect("extents are constant") as usize).collect();
        let mut buffer = Buffer::zeros(ty.dtype, &shape);
        (0..buffer.len()).for_each(|i| buffer.set(i, Scalar::from_f64(DType::F32, next())));
        buffer
    };
    main.types(&main.params).iter().map(buffer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::interp;

    /// A stack computes what its layers compute one after the other.
    #[test]
    fn a_stack_is_its_layers_in_turn() {
        let (one, two) = (program(TRANSFORMER_BLOCK), program(&stack(TRANSFORMER_BLOCK, 2)));
        let args = arguments(&two);
        let weights = (args.len() - 1) / 2;
        let layer = |x: &Buffer, layer: usize| {
            let mut inputs = vec![x.clone()];
            inputs.extend_from_slice(&args[1 + layer * weights..1 + (layer + 1) * weights]);
            interp::run(&one, "main", &inputs).unwrap().remove(0)
        };
        let expected = layer(&layer(&args[0], 0), 1);
        assert_eq!(interp::run(&two, "main", &args).unwrap(), [expected]);
    }

    #[test]
    fn generated_programs_run() {
        for text in [matmul(5), softmax(3, 4), layernorm(3, 4)] {
            let program = program(&text);
            let results = interp::run(&program, "main", &arguments(&program)).unwrap();
            assert!((0..results[0].len()).all(|i| results[0].get(i).as_f64().is_finite()));
        }
    }
}
