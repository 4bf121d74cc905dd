use super::parse;
use crate::testing::{Options, Rng, random_args, random_program_with};
use crate::*;
use proptest::prelude::*;

/// The fields that statements reach, by which a program is compared with its copy: text is equal only if
/// structure is, and the arena may number otherwise.
fn reachable(f: &Function) -> usize {
    fn roots(block: &Block, found: &mut Vec<FieldId>) {
        for s in &block.statements {
            if let StatementKind::Store { field, .. } = &s.kind {
                found.push(*field);
            }
            s.regions().iter().for_each(|r| roots(&r.body, found));
        }
    }
    let mut found = Vec::new();
    roots(&f.body, &mut found);
    f.fields.reachable(&found).len()
}

fn round_trip(program: &Program, seed: u64) {
    let text = print(program);
    let copy = parse(&text).unwrap_or_else(|e| panic!("seed {seed}:\n{e}\n{text}"));
    verify(&copy).unwrap_or_else(|e| panic!("seed {seed}: {e}\n{text}"));
    assert_eq!(print(&copy), text, "seed {seed}");
    for (f, g) in program.functions.iter().zip(&copy.functions) {
        assert_eq!(reachable(f), reachable(g), "seed {seed}\n{text}");
        let args = random_args(f, seed);
        let run = |p| interp::run(p, &f.name, &args).unwrap();
        assert_eq!(run(program), run(&copy), "seed {seed}");
    }
}

/// Runs a program that may loop forever, unless a space has become large.
fn run_if_small(program: &Program, seed: u64) {
    let small = |space: &surject_index::Space| space.points().is_some_and(|n| n < 100_000);
    let Some(f) = program.functions.first() else { return };
    if f.vars.iter().all(|v| small(&v.ty.space)) && f.fields.iter().all(|(_, n)| small(&n.space)) {
        let limits = interp::Limits { iterations: Some(50) };
        let _ = interp::run_within(program, &f.name, &random_args(f, seed), limits);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_printed_is_read_back(seed: u64, size in 1usize..60) {
        round_trip(&random_program_with(seed, size, &Options::everything()), seed);
    }

    /// Damaged texts are refused or read, but never more.
    #[test]
    fn damaged_texts_do_no_harm(seed: u64, size in 1usize..30, damage in 1usize..4) {
        let mut text = print(&random_program_with(seed, size, &Options::everything())).into_bytes();
        let mut rng = Rng::new(seed);
        for _ in 0..damage {
            if text.is_empty() {
                break;
            }
            let at = rng.below(text.len());
            match rng.below(4) {
                0 => { text.remove(at); }
                1 => { let c = *rng.pick(b"()[]{}<>=:,.+-*/019aeix`\"@\n "); text.insert(at, c); }
                2 => { let end = (at + rng.below(12)).min(text.len()); text.drain(at..end); }
                _ => text.truncate(at + 1),
            }
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        match parse(&text) {
            Ok(program) => {
                if verify(&program).is_ok() {
                    prop_assert_eq!(print(&parse(&print(&program)).unwrap()), print(&program));
                    run_if_small(&program, seed);
                }
            }
            Err(error) => { error.to_string(); }
        }
    }
}

#[test]
fn every_value_is_read_back_bit_for_bit() {
    let mut rng = Rng::new(1);
    for dtype in DType::ALL {
        let mut pattern = || {
            // Exponents and mantissas of all ones and zeros are frequent.
            let mask = [u128::MAX, 0x7f80_0000_7f80_0000, 0x807f_ffff_ff80_0000, 0][rng.below(4)];
            ((rng.next() as u128) << 64 | rng.next() as u128) & mask | (rng.next() as u128 & 3)
        };
        let patterns: Vec<u128> = match dtype.bits() {
            n @ 1..=16 => (0..1u128 << n).collect(),
            _ => (0..2000).map(|_| pattern()).collect(),
        };
        let values: Vec<Scalar> = patterns.into_iter().map(|b| Scalar::from_bits(dtype, b)).collect();
        // A list of elements, and a typed value each in an expression.
        for chunk in values.chunks(200) {
            let list: Vec<String> = chunk.iter().map(|&v| crate::literal::element(v)).collect();
            let n = chunk.len();
            let mut text = format!("func f() -> () {{ x : {dtype}[{n}] = constant [{}]\n", list.join(", "));
            for (i, &v) in chunk.iter().enumerate() {
                text.push_str(&format!("y{i} : {dtype}[] =: {}\n", crate::literal::typed(v)));
            }
            text.push('}');
            let program = parse(&text).unwrap_or_else(|e| panic!("{e}"));
            let f = &program.functions[0];
            let StatementKind::Constant { value, .. } = &f.body.statements[0].kind else { panic!() };
            for (i, &v) in chunk.iter().enumerate() {
                assert_eq!(value.get(i), v);
                let StatementKind::Store { field, .. } = &f.body.statements[i + 1].kind else { panic!() };
                assert_eq!(f.fields[*field].kind, FieldKind::Const(v));
            }
        }
    }
}

#[test]
fn deep_and_shared_fields() {
    let mut f = Function::new("main");
    let x = f.var("x", TensorType::scalar(DType::F32));
    f.params.push(x);
    let x = f.tensor(x);
    let mut field = x;
    // Shared: the tree of this field has 2^200 leaves.
    for _ in 0..200 {
        field = f.fields.binary(BinaryOp::Add, field, field).unwrap();
    }
    // Deep to the right, deep under functions.
    for _ in 0..500 {
        field = f.fields.binary(BinaryOp::Sub, x, field).unwrap();
    }
    for _ in 0..500 {
        field = f.fields.unary(UnaryOp::Neg, field).unwrap();
    }
    let target = f.var_for("y", field);
    f.body.statements.push(Statement::new(StatementKind::Store { target, field }));
    f.body.results.push(target);
    let program = Program { name: "deep `one`".into(), functions: vec![f] };
    assert!(print(&program).len() < 60_000);
    round_trip(&program, 0);
    let nested = format!("func f() -> () {{ x : f32[] =: {}1.0f32", "(".repeat(100_000));
    assert!(parse(&nested).unwrap_err().message.contains("nested less deeply"));
    let regions = format!(
        "func f() -> () {{ {}",
        "y : f32[] = call sort{axis=0,stable=true}() { region() -> () {".repeat(9000)
    );
    assert!(parse(&regions).unwrap_err().message.contains("fewer regions"));
}

#[test]
fn symbolic_sizes() {
    let text = "\
func main(x: f32[in0.0,3], y: f32[max(in0.0, 2)]) -> (s, c) {
  s : f32[in0.0] =:+ over i<in0.0, j<3 at [i]: x[i,j]
  c : f32[in0.0 - 1] =: over i<in0.0 - 1: (x[i + 2,0] where 0 <= i + 2 < in0.0 else 0.0f32)
}
";
    let program = parse(text).unwrap_or_else(|e| panic!("{e}"));
    verify(&program).unwrap();
    assert_eq!(print(&program), text);
}

/// The whole message for texts that are refused.
#[test]
fn errors() {
    let mut all = String::new();
    for body in [
        "y : f23[3] =: over i<3: x[i]",
        "y : f32[3] =: over i<3: x[i,i]",
        "y : f32[3] =: over i<3: x[i + 1]",
        "y : f32[3] =: over j<3: x[k]",
        "y : f32[4] =: over i<3: x[i]",
        "y : f32[3] =: over i<3: x[i] + 1i32",
        "y : f32[3] =: over i<3: x[i] +",
        "y : f32[3] =: over i<3: z[i]",
        "y : f32[4] =: over i<4: (x[i - 1] where 0 <= i - 1 < 3 else 0i32)",
        "y : f32[] =:+ over i<3: x[i]",
        "y : f32[2] =:set over i<3 at [0]: x[i]",
        "y : i1[3] =: over i<3: x[i] < x[i] < x[i]",
        "y : u8[] =: 256u8",
        "tanh : f32[3] =: over i<3: x[i]",
        "x : f32[3] =: over i<3: x[i]",
        "y : f32[3] = constant [1.0, 2.0]",
        "y : f32[3] = call sort{axis=0}(x)",
        "y : f32[3] = call sorted(x)",
        "y : f32[3] = sort(x)",
        "y : f32[3] =: over i<3: x[i] @ \"open",
        "\ty : f32[3] =: over i<3: logistic(x[i], x[i])",
    ] {
        let text = format!("func main(x: f32[3]) -> (x) {{\n  {body}\n}}\n");
        all.push_str(&format!("{}\n\n", parse(&text).unwrap_err()));
    }
    insta::assert_snapshot!(all);
}
