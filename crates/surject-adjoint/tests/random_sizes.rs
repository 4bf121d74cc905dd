//! Random dynamic modules: what the specification computes at the sizes of a call is what the program computes that was
//! imported for them, imported once for all sizes, optimised, exported and read again; and the gradient that was made once is
//! the one for these sizes.

mod contract;

use surject_adjoint::{Mode, Options, gradient};
use surject_ir::{Buffer, DType, Program, Scalar, bind, interp, pass_violations};
use surject_lift::{ImportOptions, import, import_for};
use surject_stablehlo::interpret::{Tensor, Value};
use surject_stablehlo::{ElementType, Module};

/// A size: a number, or what is computed from the sizes `a` and `b` of the arguments.
#[derive(Clone, Debug, PartialEq)]
enum Size {
    Number(u64),
    Text(String),
}

/// A value of a module.
#[derive(Clone, Debug)]
struct Tracked {
    name: String,
    sizes: Vec<Size>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A module that is being written.
struct Writer {
    random: Random,
    text: String,
    values: Vec<Tracked>,
    count: usize,
}

fn ty(sizes: &[Size]) -> String {
    let dim = |s: &Size| match s {
        Size::Number(n) => format!("{n}x"),
        Size::Text(_) => "?x".to_string(),
    };
    format!("tensor<{}f32>", sizes.iter().map(dim).collect::<String>())
}

impl Writer {
    fn new(seed: u64) -> Writer {
        let (a, b) = (Size::Text("a".into()), Size::Text("b".into()));
        let value = |name: &str, sizes: &[Size]| Tracked { name: name.into(), sizes: sizes.to_vec() };
        let values = vec![
            value("%x", &[a.clone(), b.clone()]),
            value("%y", &[a.clone(), Size::Number(3)]),
            value("%z", &[b]),
        ];
        Writer { random: Random(seed), text: String::new(), values, count: 0 }
    }

    fn line(&mut self, text: String) -> String {
        let name = format!("%v{}", self.count);
        self.count += 1;
        self.text += &format!("  {name} = {text}\n");
        name
    }

    fn push(&mut self, text: String, sizes: Vec<Size>) {
        let name = self.line(text);
        self.values.push(Tracked { name, sizes });
    }

    fn pick(&mut self) -> Tracked {
        // The newest one half of the time, so that programs are deep.
        let n = self.values.len();
        let at = if self.random.below(2) == 0 { n - 1 } else { self.random.below(n) };
        self.values[at].clone()
    }

    fn constant(&mut self, value: u64) -> String {
        self.line(format!("stablehlo.constant dense<{value}> : tensor<i32>"))
    }

    /// The size of an axis as an `i32`.
    fn size_of(&mut self, x: &Tracked, axis: usize) -> String {
        let of = ty(&x.sizes);
        self.line(format!("stablehlo.get_dimension_size {}, dim = {axis} : ({of}) -> tensor<i32>", x.name))
    }

    fn binary(&mut self, op: &str, x: &str, y: &str) -> String {
        self.line(format!("stablehlo.{op} {x}, {y} : tensor<i32>"))
    }

    /// A list of sizes as a tensor.
    fn list(&mut self, sizes: &[String]) -> String {
        let parts: Vec<String> = sizes
            .iter()
            .map(|s| self.line(format!("stablehlo.reshape {s} : (tensor<i32>) -> tensor<1xi32>")))
            .collect();
        let types = vec!["tensor<1xi32>"; parts.len()].join(", ");
        let n = parts.len();
        self.line(format!(
            "stablehlo.concatenate {}, dim = 0 : ({types}) -> tensor<{n}xi32>",
            parts.join(", ")
        ))
    }

    fn sizes_of(&mut self, x: &Tracked) -> Vec<String> {
        (0..x.sizes.len())
            .map(|k| match x.sizes[k] {
                Size::Number(n) => self.constant(n),
                Size::Text(_) => self.size_of(x, k),
            })
            .collect()
    }

    fn zero(&mut self) -> String {
        self.line("stablehlo.constant dense<0.0> : tensor<f32>".into())
    }

    fn combined(op: &str, a: &Size, b: &Size) -> Size {
        match (op, a, b) {
            ("+", Size::Number(a), Size::Number(b)) => Size::Number(a + b),
            ("*", Size::Number(a), Size::Number(b)) => Size::Number(a * b),
            ("/", Size::Number(a), Size::Number(b)) => Size::Number(a.div_ceil(*b)),
            _ => {
                let of = |s: &Size| match s {
                    Size::Number(n) => n.to_string(),
                    Size::Text(text) => text.clone(),
                };
                Size::Text(format!("({} {op} {})", of(a), of(b)))
            }
        }
    }

    /// One more operation.
    fn step(&mut self) {
        let x = self.pick();
        let (rank, of) = (x.sizes.len(), ty(&x.sizes));
        let axis = if rank > 0 { self.random.below(rank) } else { 0 };
        match self.random.below(17) {
            0 => {
                let op = ["tanh", "negate", "cosine"][self.random.below(3)];
                self.push(format!("stablehlo.{op} {} : {of}", x.name), x.sizes);
            }
            1 | 2 => {
                let same: Vec<Tracked> = self.values.iter().filter(|v| v.sizes == x.sizes).cloned().collect();
                let y = same[self.random.below(same.len())].clone();
                let op = ["add", "multiply", "maximum"][self.random.below(3)];
                self.push(format!("stablehlo.{op} {}, {} : {of}", x.name, y.name), x.sizes);
            }
            3 | 4 if rank > 0 => {
                let fits = |v: &&Tracked| {
                    v.sizes.len() == rank && (0..rank).all(|k| k == axis || v.sizes[k] == x.sizes[k])
                };
                let same: Vec<Tracked> = self.values.iter().filter(fits).cloned().collect();
                let y = same[self.random.below(same.len())].clone();
                let mut sizes = x.sizes.clone();
                sizes[axis] = Writer::combined("+", &x.sizes[axis], &y.sizes[axis]);
                let text = format!(
                    "stablehlo.concatenate {}, {}, dim = {axis} : ({of}, {}) -> {}",
                    x.name,
                    y.name,
                    ty(&y.sizes),
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            5 if rank > 1 => {
                let parts = self.sizes_of(&x);
                let mut whole = parts[0].clone();
                for part in &parts[1..] {
                    whole = self.binary("multiply", &whole, part);
                }
                let list = self.list(&[whole]);
                let size = x.sizes[1..].iter().fold(x.sizes[0].clone(), |n, s| Writer::combined("*", &n, s));
                let to = ty(std::slice::from_ref(&size));
                let text =
                    format!("stablehlo.dynamic_reshape {}, {list} : ({of}, tensor<1xi32>) -> {to}", x.name);
                self.push(text, vec![size]);
            }
            6 if rank > 0 => {
                let (low, high) = (self.random.below(3), self.random.below(3));
                let edge = |n: usize| (0..rank).map(|k| if k == axis { n } else { 0 }).collect::<Vec<_>>();
                let zero = self.zero();
                let mut sizes = x.sizes.clone();
                sizes[axis] = Writer::combined("+", &sizes[axis], &Size::Number((low + high) as u64));
                let text = format!(
                    "stablehlo.pad {}, {zero}, low = {:?}, high = {:?}, interior = {:?} : ({of}, tensor<f32>) -> {}",
                    x.name,
                    edge(low),
                    edge(high),
                    edge(0),
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            7 if rank > 0 => {
                // Every `step`-th element.
                let step = 1 + self.random.below(3) as u64;
                let limits = self.sizes_of(&x);
                let limits = self.list(&limits);
                let (starts, steps): (Vec<String>, Vec<String>) = (0..rank)
                    .map(|k| (self.constant(0), self.constant(if k == axis { step } else { 1 })))
                    .unzip();
                let (starts, steps) = (self.list(&starts), self.list(&steps));
                let mut sizes = x.sizes.clone();
                sizes[axis] = Writer::combined("/", &sizes[axis], &Size::Number(step));
                let i = format!("tensor<{rank}xi32>");
                let text = format!(
                    "stablehlo.real_dynamic_slice {}, {starts}, {limits}, {steps} : ({of}, {i}, {i}, {i}) -> {}",
                    x.name,
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            8 if rank > 1 => {
                let dims: Vec<usize> = (0..rank).rev().collect();
                let sizes: Vec<Size> = x.sizes.iter().rev().cloned().collect();
                let text =
                    format!("stablehlo.transpose {}, dims = {dims:?} : ({of}) -> {}", x.name, ty(&sizes));
                self.push(text, sizes);
            }
            9 if rank > 0 => {
                let zero = self.zero();
                let mut sizes = x.sizes.clone();
                sizes.remove(axis);
                let text = format!(
                    "stablehlo.reduce({} init: {zero}) applies stablehlo.add across dimensions = [{axis}] : ({of}, tensor<f32>) -> {}",
                    x.name,
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            10 if rank < 3 => {
                // A new first axis, of the size of an axis of another value.
                let y = self.pick();
                if y.sizes.is_empty() {
                    return;
                }
                let other = self.random.below(y.sizes.len());
                let first = self.sizes_of(&y)[other].clone();
                let rest = self.sizes_of(&x);
                let shape = self.list(&[vec![first], rest].concat());
                let sizes = [vec![y.sizes[other].clone()], x.sizes.clone()].concat();
                let dims: Vec<usize> = (1..=rank).collect();
                let text = format!(
                    "stablehlo.dynamic_broadcast_in_dim {}, {shape}, dims = {dims:?} : ({of}, tensor<{}xi32>) -> {}",
                    x.name,
                    rank + 1,
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            11 if rank == 2 => {
                let fits = |v: &&Tracked| v.sizes.len() == 2 && v.sizes[0] == x.sizes[1];
                let same: Vec<Tracked> = self.values.iter().filter(fits).cloned().collect();
                if same.is_empty() {
                    return;
                }
                let y = same[self.random.below(same.len())].clone();
                let sizes = vec![x.sizes[0].clone(), y.sizes[1].clone()];
                let text = format!(
                    "stablehlo.dot_general {}, {}, contracting_dims = [1] x [0] : ({of}, {}) -> {}",
                    x.name,
                    y.name,
                    ty(&y.sizes),
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            12 if rank > 0 => {
                let shape = self.sizes_of(&x);
                let shape = self.list(&shape);
                let text =
                    format!("stablehlo.dynamic_iota {shape}, dim = {axis} : (tensor<{rank}xi32>) -> {of}");
                self.push(text, x.sizes);
            }
            13 if rank > 0 => {
                self.push(format!("stablehlo.reverse {}, dims = [{axis}] : {of}", x.name), x.sizes);
            }
            14 if rank > 0 => {
                // As many elements more as another axis has.
                let y = self.pick();
                if y.sizes.is_empty() {
                    return;
                }
                let other = self.random.below(y.sizes.len());
                let more = self.sizes_of(&y)[other].clone();
                let zeros: Vec<String> = (0..rank).map(|_| self.constant(0)).collect();
                let mut high = zeros.clone();
                high[axis] = more;
                let (low, high) = (self.list(&zeros), self.list(&high));
                let zero = self.zero();
                let mut sizes = x.sizes.clone();
                sizes[axis] = Writer::combined("+", &sizes[axis], &y.sizes[other]);
                let i = format!("tensor<{rank}xi32>");
                let text = format!(
                    "stablehlo.dynamic_pad {}, {zero}, {low}, {high}, {low} : ({of}, tensor<f32>, {i}, {i}, {i}) -> {}",
                    x.name,
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            15 if rank > 0 && matches!(x.sizes[axis], Size::Text(_)) => {
                // The first half.
                let (n, two) = (self.size_of(&x, axis), self.constant(2));
                let half = self.binary("divide", &n, &two);
                let mut sizes = x.sizes.clone();
                sizes[axis] = Writer::combined("//", &sizes[axis], &Size::Number(2));
                let text = format!(
                    "stablehlo.set_dimension_size {}, {half}, dim = {axis} : ({of}, tensor<i32>) -> {}",
                    x.name,
                    ty(&sizes)
                );
                self.push(text, sizes);
            }
            _ if rank > 0 => {
                let name = self.count;
                self.count += 1;
                self.text += &format!(
                    "  %v{name} = \"stablehlo.sort\"({}) ({{\n  ^bb0(%p: tensor<f32>, %q: tensor<f32>):\n    %c = stablehlo.compare LT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>\n    stablehlo.return %c : tensor<i1>\n  }}) {{dimension = {axis} : i64, is_stable = true}} : ({of}) -> {of}\n",
                    x.name
                );
                self.values.push(Tracked { name: format!("%v{name}"), sizes: x.sizes });
            }
            _ => {}
        }
    }

    fn module(mut self, steps: usize) -> String {
        while self.values.len() < 3 + steps {
            self.step();
        }
        let last = self.values.last().expect("a value").clone();
        format!(
            "func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x3xf32>, %z: tensor<?xf32>) -> {} {{\n{}  return {} : {}\n}}\n",
            ty(&last.sizes),
            self.text,
            last.name,
            ty(&last.sizes)
        )
    }
}

fn parsed(text: &str) -> Module {
    surject_stablehlo::parse_and_verify(text.as_bytes())
        .unwrap_or_else(|d| panic!("{}", d.render("random.mlir", text)))
}

fn options(text: &str) -> ImportOptions<'_> {
    ImportOptions { file: "random.mlir", source: text.as_bytes(), function: Some("main") }
}

/// Values of no special form, so that no order of sums matters much and no two are equal.
fn floats(shape: &[usize], salt: usize) -> Buffer {
    let count: usize = shape.iter().product();
    let value = |k: usize| Scalar::from_f64(DType::F32, ((k * 37 + salt * 11) % 101) as f64 / 64.0 - 0.7);
    Buffer::from_scalars(DType::F32, shape, &(0..count).map(value).collect::<Vec<_>>()).expect("elements")
}

/// By the specification, operation by operation.
fn specified(module: &Module, arguments: &[Buffer]) -> Result<Buffer, String> {
    let value = |b: &Buffer| {
        Value::Tensor(Tensor::new(ElementType::F32, b.shape(), b.bytes().to_vec()).expect("elements"))
    };
    let results = surject_stablehlo::interpret::run(module, "main", arguments.iter().map(value).collect())
        .map_err(|e| e.to_string())?;
    let [Value::Tensor(tensor)] = &results[..] else { return Err("another number of results".into()) };
    Ok(Buffer::from_bytes(DType::F32, tensor.shape(), tensor.bytes()).expect("elements"))
}

fn same(what: &str, found: &Buffer, expected: &Buffer) -> Result<(), String> {
    if found.shape() != expected.shape() {
        return Err(format!("{what}: the shape {:?} for {:?}", found.shape(), expected.shape()));
    }
    let report = surject_runtime::compare::compare(found, expected, 1e-3, 1e-4);
    if report.passed() { Ok(()) } else { Err(format!("{what}: {report}")) }
}

/// What a symbolic program gives for a call.
fn run(program: &Program, arguments: &[Buffer]) -> Result<Vec<Buffer>, String> {
    let function = program.main().ok_or("no function")?;
    let bound = bind(function, arguments).map_err(|e| e.to_string())?;
    interp::run(&Program { name: String::new(), functions: vec![bound] }, "main", arguments)
        .map_err(|e| e.to_string())
}

/// What the import, a derivative or a binding says of the sizes of variables holds in a call: exact sizes are those of the bound
/// function, bounds are no less.
fn claims_hold(symbolic: &Program, arguments: &[Buffer]) -> Result<(), String> {
    let function = symbolic.main().ok_or("no function")?;
    let bound = bind(function, arguments).map_err(|e| e.to_string())?;
    let call = surject_ir::Call { function, arguments };
    for number in 0..function.vars.len() {
        let var = surject_ir::Var(number as u32);
        for (known, size) in function.extents(var).iter().zip(bound.ty(var).space.extents()) {
            let Some(claim) = known.bound() else { continue };
            let value = surject_index::Extent::Const(claim.eval(&call).map_err(|e| e.to_string())?);
            let holds = if known.is_exact() { value == *size } else { value.as_const() >= size.as_const() };
            if !holds {
                return Err(format!("`{}` is {size} where `{known}` was claimed", function.name_of(var)));
            }
        }
    }
    Ok(())
}

/// Everything about one module; how many gradients were compared.
fn check(text: &str) -> Result<usize, String> {
    let module = parsed(text);
    let symbolic = import(&module, &options(text)).map_err(|e| format!("once: {e}"))?;
    surject_ir::verify(&symbolic).map_err(|e| format!("once: {e}"))?;
    let optimised = surject_egraph::optimise(&symbolic, &surject_egraph::Options::default());
    let optimised = optimised.map_err(|e| format!("optimised: {e}"))?.program;
    let written = surject_lift::export(&symbolic).map_err(|e| format!("exported: {e}"))?;
    let exported = surject_stablehlo::parse_and_verify(written.as_bytes())
        .map_err(|d| format!("exported: {}", d.render("e", &written)))?;
    let again = import(&exported, &options(&written)).map_err(|e| format!("read again: {e}\n{written}"))?;
    // Export strengthens nothing: what is known of the result is what was known.
    let known = |program: &Program| {
        let main = program.main().expect("a function");
        main.extents(main.body.results[0]).iter().map(|e| e.is_exact()).collect::<Vec<_>>()
    };
    if known(&symbolic) != known(&again) {
        return Err(format!("other guarantees after the export\n{written}"));
    }
    let (before, after) = (symbolic.main().expect("a function"), optimised.main().expect("a function"));
    if let Some(violation) = pass_violations(before, after).map_err(|e| e.to_string())?.first() {
        return Err(violation.to_string());
    }
    let vjp = Options { mode: Mode::Vjp, ..Options::default() };
    let derived = gradient(&symbolic, "main", &vjp).map_err(|e| format!("differentiated: {e}"))?;
    contract::kept(&symbolic, &derived).map_err(|e| format!("differentiated: {e}"))?;
    let mut gradients = 0;
    for (a, b) in [(2, 3), (0, 2), (1, 1), (2, 0), (3, 2)] {
        let at = |error: String| format!("at a = {a}, b = {b}: {error}");
        let arguments = [floats(&[a, b], 1), floats(&[a, 3], 2), floats(&[b], 3)];
        let expected = specified(&module, &arguments).map_err(|e| at(format!("spec: {e}")))?;
        let types: Vec<surject_ir::TensorType> = symbolic
            .main()
            .into_iter()
            .flat_map(|f| f.params.iter().zip(&arguments))
            .map(|(_, b)| {
                let sizes: Vec<u64> = b.shape().iter().map(|&n| n as u64).collect();
                surject_ir::TensorType::new(b.dtype(), surject_index::Space::of(&sizes))
            })
            .collect();
        let own =
            import_for(&module, &options(text), &types).map_err(|e| at(format!("for the call: {e}")))?;
        let found = interp::run(&own, "main", &arguments).map_err(|e| at(e.to_string()))?;
        same("for the call", &found[0], &expected).map_err(at)?;
        for program in [&symbolic, &optimised, &again] {
            claims_hold(program, &arguments).map_err(at)?;
        }
        for (what, program) in [("once", &symbolic), ("optimised", &optimised), ("read again", &again)] {
            let found = run(program, &arguments).map_err(|e| at(format!("{what}: {e}")))?;
            same(what, &found[0], &expected).map_err(at)?;
        }
        let found = specified(&exported, &arguments).map_err(|e| at(format!("exported, spec: {e}")))?;
        same("exported, spec", &found, &expected).map_err(at)?;
        let bound = bind(before, &arguments).map_err(|e| at(e.to_string()))?;
        let bound = Program { name: String::new(), functions: vec![bound] };
        let plain = gradient(&bound, "main", &vjp).map_err(|e| at(format!("differentiated: {e}")))?;
        let all: Vec<Buffer> = arguments.iter().cloned().chain([floats(expected.shape(), 5)]).collect();
        let expected = interp::run(&plain, "main", &all).map_err(|e| at(e.to_string()))?;
        claims_hold(&derived, &all).map_err(at)?;
        let found = run(&derived, &all).map_err(|e| at(format!("the gradient: {e}")))?;
        for (found, expected) in found.iter().zip(&expected) {
            same("the gradient", found, expected).map_err(at)?;
        }
        gradients += 1;
    }
    Ok(gradients)
}

fn modules(seeds: impl Iterator<Item = u64>) {
    let (mut failures, mut gradients) = (Vec::new(), 0);
    for seed in seeds {
        let steps = 1 + (seed % 7) as usize;
        let text = Writer::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)).module(steps);
        match check(&text) {
            Ok(number) => gradients += number,
            Err(error) => failures.push(format!("seed {seed}: {error}\n{text}")),
        }
    }
    assert!(failures.is_empty(), "{} fail\n{}", failures.len(), failures.join("\n"));
    println!("{gradients} gradients");
}

#[test]
fn random_dynamic_modules_agree_with_the_specification() {
    // The last three have sizes that are one by a guard and written in two ways.
    modules((0..60).chain([1021, 2313, 2421]));
}

#[test]
#[ignore = "takes minutes"]
fn many_random_dynamic_modules_agree_with_the_specification() {
    modules(1000..2500);
}
