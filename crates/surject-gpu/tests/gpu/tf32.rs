//! Products whose factors are rounded to tf32: by matrix units, bit for bit where sums are exact.

use crate::harness::{Collected, OnPtx, Only, collect, on_ptx};
use crate::programs::program;
use surject_codegen::kernels::machine::choose;
use surject_codegen::kernels::run::expressions;
use surject_gpu::Gpu;
use surject_gpu::model::model;
use surject_ir::testing::Rng;
use surject_ir::{Buffer, DType, Program, Scalar};

const ROWS: usize = 40;
const COLUMNS: usize = 72;
const TERMS: usize = 52;

/// The product, with factors that lie by rows or by columns.
fn product(left: &str, right: &str) -> Program {
    let shape = |at: &str, own: char, size: usize| match at.starts_with(own) {
        true => format!("f32[{size},{TERMS}]"),
        false => format!("f32[{TERMS},{size}]"),
    };
    program(
        &format!("a: {}, b: {}", shape(left, 'i', ROWS), shape(right, 'j', COLUMNS)),
        // One of them as a program has it that was imported.
        &format!(
            "let t : {} =: over m<{}, n<{}: reduce_precision<8,10>(a[m,n])\n  \
             y : f32[{ROWS},{COLUMNS}] =:+ over i<{ROWS}, j<{COLUMNS}, k<{TERMS} at [i,j]: \
             t[{left}] * reduce_precision<8,10>(b[{right}])",
            shape(left, 'i', ROWS),
            if left.starts_with('i') { ROWS } else { TERMS },
            if left.starts_with('i') { TERMS } else { ROWS },
        ),
    )
}

/// To 10 bits of mantissa, to nearest even, by arithmetic on `f64`.
fn tf32(x: f32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x.into();
    }
    let unit = 2f64.powi(f64::from(x).abs().log2().floor() as i32 - 10);
    (f64::from(x) / unit).round_ties_even() * unit
}

/// Numbers that are rounded to integers of 11 bits: with fractions of all kinds, ties among them.
fn integers(rng: &mut Rng, count: usize) -> Vec<f32> {
    let fractions = [0.0, 0.5, 0.25, 0.75, 0.5 - 1.0 / 8192.0, 0.5 + 1.0 / 8192.0, 1.0 / 8192.0];
    let one = |rng: &mut Rng| {
        let whole = 1024 + rng.below(1023);
        let value = whole as f32 + fractions[rng.below(fractions.len())];
        if rng.below(2) == 0 { value } else { -value }
    };
    (0..count).map(|_| one(rng)).collect()
}

/// Numbers that are rounded to 1, 2, or 4 and their negatives.
fn powers(rng: &mut Rng, count: usize) -> Vec<f32> {
    let one = |rng: &mut Rng| {
        let near = [1.0, 1.0 + 1.0 / 4096.0, 1.0 - 1.0 / 8192.0][rng.below(3)];
        let power = [1.0, 2.0, 4.0][rng.below(3)];
        if rng.below(2) == 0 { power * near } else { -power * near }
    };
    (0..count).map(|_| one(rng)).collect()
}

fn buffer(values: &[f32], shape: [usize; 2]) -> Buffer {
    let scalars: Vec<Scalar> =
        values.iter().map(|v| Scalar::from_bits(DType::F32, v.to_bits().into())).collect();
    Buffer::from_scalars(DType::F32, &shape, &scalars).unwrap()
}

/// The product by the definition, and the sum of the absolute values of its terms.
fn by_hand(a: &[f32], b: &[f32], left: &str, right: &str) -> Vec<[f64; 2]> {
    let at = |values: &[f32], rows: bool, size: usize, own: usize, k: usize| {
        tf32(values[if rows { own * TERMS + k } else { k * size + own }])
    };
    let mut all = Vec::new();
    for i in 0..ROWS {
        for j in 0..COLUMNS {
            let terms = (0..TERMS).map(|k| {
                at(a, left.starts_with('i'), ROWS, i, k) * at(b, right.starts_with('j'), COLUMNS, j, k)
            });
            let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), t| (sum + t, size + f64::abs(t)));
            all.push([sum, size]);
        }
    }
    all
}

/// The interpreter of PTX ignores what is behind 10 bits of mantissa, as matrix units do, so a factor that nothing rounds is
/// found.
#[test]
fn products_of_tf32_are_those_of_rounded_factors() {
    let layouts = [("i,k", "k,j"), ("i,k", "j,k"), ("k,i", "k,j"), ("k,i", "j,k")];
    for name in ["sm_80", "sm_100"] {
        let machine = Only(Gpu::named(name).unwrap(), "matrix units");
        let mut rng = Rng::new(7);
        let (mut cases, mut collected) = (Vec::new(), Collected::default());
        for (left, right) in layouts {
            let program = product(left, right);
            for exact in [true, false] {
                let (a, b) = if exact {
                    (integers(&mut rng, ROWS * TERMS), powers(&mut rng, TERMS * COLUMNS))
                } else {
                    let any = |rng: &mut Rng| rng.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0;
                    ((0..ROWS * TERMS).map(|_| any(&mut rng)).collect(), {
                        (0..TERMS * COLUMNS).map(|_| any(&mut rng)).collect()
                    })
                };
                let of = |at: &str, own: char, size: usize| match at.starts_with(own) {
                    true => [size, TERMS],
                    false => [TERMS, size],
                };
                let args = vec![buffer(&a, of(left, 'i', ROWS)), buffer(&b, of(right, 'j', COLUMNS))];
                collect(&program, &args, &machine, &mut collected).expect("it is supported");
                cases.push((program.clone(), args, exact, by_hand(&a, &b, left, right)));
            }
        }
        let text = collected.ptx(name);
        assert!(text.contains("m16n8k8.row.col.f32.tf32.tf32.f32"), "{name}");
        let module = surject_ptx::parse(&text).unwrap_or_else(|error| panic!("{error}"));
        let mut executor =
            OnPtx { collected: &collected, module: &module, counts: Vec::new(), sizes: Vec::new() };
        for (program, args, exact, expected) in &cases {
            let found = on_ptx(program, args, &machine, &mut executor);
            for (e, &[sum, size]) in expected.iter().enumerate() {
                let found = found[0].get(e).as_f64();
                // Every sum rounds once, and so does no product.
                let bound = if *exact { 0.0 } else { TERMS as f64 * 2f64.powi(-24) * size };
                let text = surject_ir::print(program);
                assert!((found - sum).abs() <= bound, "{name}: element {e}: {found}, not {sum}\n{text}");
            }
        }
        assert!(executor.counts.iter().all(|c| c.1.products > 0));
    }
}

/// What is chosen for a large product of tf32, and what it takes by the model; of `f32` beside it.
#[test]
fn large_products_of_tf32_are_those_of_matrix_units() {
    let mut said = String::new();
    for gpu in Gpu::ALL {
        for (what, a, b) in [
            ("tf32", "reduce_precision<8,10>(a[i,k])", "reduce_precision<8,10>(b[k,j])"),
            ("f32", "a[i,k]", "b[k,j]"),
        ] {
            let program = program(
                "a: f32[2048,2048], b: f32[2048,2048]",
                &format!("y : f32[2048,2048] =:+ over i<2048, j<2048, k<2048 at [i,j]: {a} * {b}"),
            );
            for (_, expression) in expressions(program.function("main").unwrap()).unwrap() {
                let choice = choose(&gpu, &expression).unwrap();
                let found = model(&gpu, &expression, &choice.proposal.schedule);
                let schedule = choice.proposal.schedule;
                said += &format!("{what} on {}: {}: {found}\n{schedule}", gpu.name, choice.strategy);
            }
        }
    }
    insta::assert_snapshot!(said);
}

/// Nobody asks for tf32 here.
#[test]
fn factors_of_f32_are_not_rounded() {
    let program = program(
        "a: f32[256,256], b: f32[256,256]",
        "y : f32[256,256] =:+ over i<256, j<256, k<256 at [i,j]: a[i,k] * b[k,j]",
    );
    for gpu in Gpu::ALL {
        for (_, expression) in expressions(program.function("main").unwrap()).unwrap() {
            assert_eq!(expression.matrix_units(), None);
            assert_ne!(choose(&gpu, &expression).unwrap().strategy, "matrix units");
        }
    }
}
