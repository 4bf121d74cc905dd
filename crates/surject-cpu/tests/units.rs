//! Products of narrow elements by matrix units: kernels on their interpreter, and the code that is written of them on its own,
//! against the reference interpreter.

use std::sync::Arc;
use surject_codegen::code::interpret::Options as CodeOptions;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::legal::Arithmetic;
use surject_codegen::kernels::machine::{Machine, Proposal, Strategy};
use surject_codegen::kernels::native::{Native, Scheduled, Tasks};
use surject_codegen::kernels::run::run;
use surject_codegen::kernels::schedule::Schedules;
use surject_codegen::{Options, Target, Which, lower};
use surject_cpu::Cpu;
use surject_cpu::write::WriteError;
use surject_ir::testing::{Rng, random_args};
use surject_ir::{Buffer, DType, Program, Scalar, interp};
use surject_kernel::{Kernel, interpret};
use surject_runtime::compare::compare;

/// A CPU that takes its matrix unit wherever that can be.
#[derive(Clone)]
struct Unit(Cpu);

/// The strategies of a CPU, of which the one for matrix units costs nothing.
struct Free(Box<dyn Strategy>);

impl Strategy for Free {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let found = self.0.propose(expression)?;
        let cost = if self.name() == "units" { 0.0 } else { found.cost };
        Ok(Proposal { cost, ..found })
    }
}

impl Machine for Unit {
    fn name(&self) -> &str {
        self.0.name
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        self.0.strategies().into_iter().map(|s| Box::new(Free(s)) as Box<dyn Strategy>).collect()
    }

    fn vector_bytes(&self) -> usize {
        self.0.vector_bytes
    }
}

impl Native for Unit {
    fn arithmetic(&self) -> Arithmetic {
        self.0.arithmetic()
    }

    fn tasks(&self, kernel: &Kernel) -> Result<Tasks, WriteError> {
        self.0.tasks(kernel)
    }

    fn has_rows_in_lanes(&self, _: &Expression) -> bool {
        false
    }

    fn takes(&self, _: &Expression) -> Result<(), &'static str> {
        Ok(())
    }
}

/// A product: its text, and whether it is one of floats.
struct Case {
    text: String,
    floats: bool,
}

fn case(rng: &mut Rng) -> Case {
    let mut pick = |sizes: &[usize]| sizes[rng.below(sizes.len())];
    let (m, n) = (pick(&[1, 2, 5, 16, 31, 32, 33, 48]), pick(&[1, 7, 16, 20, 32, 33, 64, 65]));
    let (k, batch) = (pick(&[1, 2, 3, 15, 32, 33, 64, 100, 130]), pick(&[0, 0, 1, 3]));
    let (kind, turned, biased) = (pick(&[0, 1, 2, 3, 4, 5]), pick(&[0, 1, 2, 3]), pick(&[0, 1]));
    let (left, right, sum) = [
        ("bf16", "bf16", "f32"),
        ("bf16", "bf16", "bf16"),
        ("i8", "i8", "i32"),
        ("u8", "i8", "i32"),
        ("u8", "u8", "i32"),
        ("i8", "u8", "i32"),
    ][kind];
    let (b, of_batch, over) = match batch {
        0 => (String::new(), "", String::new()),
        _ => (format!("{batch},"), "p,", format!("p<{batch}, ")),
    };
    let (x, of_x) = if turned & 1 == 0 { (format!("{m},{k}"), "i,t") } else { (format!("{k},{m}"), "t,i") };
    let (y, of_y) = if turned & 2 == 0 { (format!("{k},{n}"), "t,j") } else { (format!("{n},{k}"), "j,t") };
    let of = |ty: &str, what: String| if ty == sum { what } else { format!("{sum}({what})") };
    let (x_term, y_term) =
        (of(left, format!("x[{of_batch}{of_x}]")), of(right, format!("y[{of_batch}{of_y}]")));
    let first = format!(
        ": {sum}[{b}{m},{n}] =:+ over {over}i<{m}, j<{n}, t<{k} at [{of_batch}i,j]: {x_term} * {y_term}"
    );
    let (body, bias) = match biased {
        0 => (format!("  r {first}"), String::new()),
        _ => (
            format!(
                "  let s {first}\n  r : {sum}[{b}{m},{n}] =: over {over}i<{m}, j<{n}: s[{of_batch}i,j] + c[j]"
            ),
            format!(", c: {sum}[{n}]"),
        ),
    };
    let text = format!("\nfunc main(x: {left}[{b}{x}], y: {right}[{b}{y}]{bias}) -> (r) {{\n{body}\n}}\n");
    Case { text, floats: left == "bf16" }
}

fn check(found: &[Buffer], expected: &[Buffer], floats: bool, what: &str) {
    for (found, expected) in found.iter().zip(expected) {
        let tolerance = if floats { 2e-2 } else { 0.0 };
        let report = compare(found, expected, tolerance, tolerance);
        assert!(report.passed(), "{what}: {report}");
    }
}

/// On the interpreter of kernels, and the code of the kernels on its interpreter.
fn both_ways(program: &Program, args: &[Buffer], cpu: &Cpu) -> [Vec<Buffer>; 2] {
    let machine = Unit(cpu.clone());
    let options = interpret::Options::default();
    let (kernels, _) = run(program, "main", args, &machine, &options, &Schedules::default())
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", cpu.name, surject_ir::print(program)));
    let scheduled = Scheduled { machine: Arc::new(machine), schedules: Arc::default(), which: Which::All };
    let options = Options { scheduled: Some(scheduled), ..Options::default() };
    let target = Target::named(if cpu.name == "amx" { "avx512" } else { cpu.name }).unwrap();
    let lowered = lower(program, "main", &target, &options)
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", cpu.name, surject_ir::print(program)));
    let code = lowered
        .interpret(args, CodeOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", cpu.name, surject_ir::print(program)));
    [kernels, code]
}

/// Random sizes, types, transposed and batched operands, with and without a sum behind.
#[test]
fn products_of_narrow_elements_are_those_of_the_reference() {
    let mut rng = Rng::new(45);
    for seed in 0..120 {
        let Case { text, floats } = case(&mut rng);
        let program = surject_ir::parse(&text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
        let args = random_args(program.main().unwrap(), seed);
        let expected = interp::run(&program, "main", &args).unwrap();
        let cpu = &Cpu::ALL[seed as usize % Cpu::ALL.len()];
        for (found, way) in both_ways(&program, &args, cpu).iter().zip(["kernels", "code"]) {
            check(found, &expected, floats, &format!("{way} of {seed} on {}:\n{text}", cpu.name));
        }
    }
}

/// A subnormal factor times a large one is not small: units that take it for zero do not multiply it.
#[test]
fn subnormal_factors_are_multiplied_as_they_are() {
    let text = "
func main(x: bf16[40,70], y: bf16[70,50]) -> (r) {
  r : f32[40,50] =:+ over i<40, j<50, t<70 at [i,j]: f32(x[i,t]) * f32(y[t,j])
}
";
    let program = surject_ir::parse(text).unwrap_or_else(|error| panic!("{error:?}"));
    for side in [0, 1] {
        let mut args = random_args(program.main().unwrap(), 1);
        // 2^-127, and 2^120.
        for i in 0..args[side].len() {
            args[side].set(i, Scalar::from_bits(DType::BF16, if i == 3 { 0x0040 } else { 0 }));
        }
        for i in 0..args[1 - side].len() {
            args[1 - side].set(i, Scalar::from_bits(DType::BF16, 0x7b80));
        }
        let expected = interp::run(&program, "main", &args).unwrap();
        assert!(expected[0].bytes().iter().any(|&b| b != 0));
        for cpu in &Cpu::ALL {
            for found in both_ways(&program, &args, cpu) {
                let report = compare(&found[0], &expected[0], 1e-6, 0.0);
                assert!(report.passed(), "{} side {side}: {report}", cpu.name);
            }
        }
    }
}

/// What LLVM has no code for on a processor is not proposed for it.
#[test]
fn a_processor_without_dot_products_is_given_none() {
    let named = Cpu::named("avx512").unwrap();
    let full = Target { has_bf16_dot: true, ..Target::named("avx512").unwrap() };
    assert_eq!(named.clone().on(&full), named);
    let has = |target: Target| {
        let cpu = named.clone().on(&target);
        (cpu.has_pmaddwd, cpu.has_bf16_dot)
    };
    assert_eq!(has(Target { has_bf16_dot: false, ..full }), (true, false));
    // Vectors of 64 bytes are cut into those of 32, which these instructions are not.
    assert_eq!(has(Target::named("avx2").unwrap()), (false, false));
    assert_eq!(has(Target::generic()), (false, false));
}
