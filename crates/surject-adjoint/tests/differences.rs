//! Gradients against central differences in `f64`.

use surject_adjoint::{AdjointError, Mode, Options, Ties, gradient};
use surject_ir::testing::{Rng, random_program_with};
use surject_ir::{BinaryOp, Buffer, DType, Function, Program, Scalar, UnaryOp, interp, parse, print};

/// A number in (-1, 1) that is no multiple of anything.
fn uniform(rng: &mut Rng) -> f64 {
    (rng.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

fn random(f: &Function, rng: &mut Rng, low: f64, high: f64) -> Vec<Buffer> {
    let arg = |&p: &surject_ir::Var| {
        let ty = f.ty(p);
        let shape: Vec<usize> = ty.space.extents().iter().map(|e| e.as_const().unwrap() as usize).collect();
        let mut buffer = Buffer::zeros(ty.dtype, &shape);
        for i in 0..buffer.len() {
            let value = low + (high - low) * (uniform(rng) + 1.0) / 2.0;
            buffer.set(i, Scalar::from_f64(ty.dtype, value));
        }
        buffer
    };
    f.params.iter().map(arg).collect()
}

fn values(buffers: &[Buffer]) -> impl Iterator<Item = f64> + '_ {
    buffers.iter().flat_map(|b| (0..b.len()).map(|i| b.get(i).as_f64()))
}

/// `x + h · v` for the `f64` arguments.
fn moved(args: &[Buffer], direction: &[Buffer], h: f64) -> Vec<Buffer> {
    let mut moved = args.to_vec();
    for (x, v) in moved.iter_mut().zip(direction).filter(|(x, _)| x.dtype() == DType::F64) {
        for i in 0..x.len() {
            x.set(i, Scalar::from_f64(DType::F64, x.get(i).as_f64() + h * v.get(i).as_f64()));
        }
    }
    moved
}

/// How a comparison ended.
#[derive(PartialEq)]
enum Outcome {
    Agrees,
    /// There is no derivative at the point, or no finite value.
    Skipped,
    /// The derivative is refused.
    Refused,
}

/// Compares `⟨c, J v⟩` by differences with `⟨Jᵀ c, v⟩` by the derived program.
fn compare(program: &Program, low: f64, high: f64, seed: u64, options: &Options) -> Outcome {
    let mut rng = Rng::new(seed);
    let f = &program.functions[0];
    let derived = match gradient(program, "main", &Options { mode: Mode::Vjp, ..options.clone() }) {
        Ok(derived) => derived,
        Err(AdjointError::Unsupported { .. }) => return Outcome::Refused,
        Err(AdjointError::Selection { .. }) => return Outcome::Skipped,
        Err(e) => panic!("{e}\n{}", print(program)),
    };
    assert!(parse(&print(&derived)).is_ok());
    let args = random(f, &mut rng, low, high);
    let direction = random(f, &mut rng, -1.0, 1.0);
    let cotangents = random(&derived.functions[0], &mut rng, -1.0, 1.0).split_off(f.params.len());
    let run = |args: &[Buffer]| interp::run(program, "main", args).unwrap();
    let floats: Vec<usize> =
        (0..f.body.results.len()).filter(|&i| f.ty(f.body.results[i]).dtype == DType::F64).collect();
    let value = |args: &[Buffer]| -> f64 {
        let results = run(args);
        let results: Vec<Buffer> = floats.iter().map(|&i| results[i].clone()).collect();
        values(&results).zip(values(&cotangents)).map(|(r, c)| r * c).sum()
    };
    let difference =
        |h: f64| (value(&moved(&args, &direction, h)) - value(&moved(&args, &direction, -h))) / (2.0 * h);
    let (near, nearer) = (difference(2e-5), difference(7e-6));
    let one_sided = (value(&moved(&args, &direction, 7e-6)) - value(&args)) / 7e-6;
    let size = 1.0 + nearer.abs();
    // A kink or a jump near the point shows in differences that do not agree.
    let smooth = (near - nearer).abs() < 1e-5 * size && (one_sided - nearer).abs() < 1e-2 * size;
    let all: Vec<Buffer> = args.iter().chain(&cotangents).cloned().collect();
    let results = interp::run(&derived, "main", &all).unwrap();
    let primals = run(&args);
    assert_eq!(results[..primals.len()], primals, "the results changed");
    let gradients = &results[primals.len()..];
    let wanted: Vec<Buffer> = args
        .iter()
        .zip(&direction)
        .filter(|(a, _)| a.dtype() == DType::F64)
        .map(|(_, d)| d.clone())
        .collect();
    let product: f64 = values(gradients).zip(values(&wanted)).map(|(g, v)| g * v).sum();
    if !smooth || !product.is_finite() || !nearer.is_finite() {
        return Outcome::Skipped;
    }
    assert!(
        (product - nearer).abs() < 2e-5 * size,
        "seed {seed}: {product} by the gradient, {nearer} by differences of\n{}\n{}",
        print(program),
        print(&derived)
    );
    Outcome::Agrees
}

/// A program of one operation of `x` (and `y`), `f64[4]`.
fn single(expression: &str) -> Program {
    let text = format!("func main(x: f64[4], y: f64[4]) -> (z) {{ z : f64[4] =: over i<4: {expression} }}");
    parse(&text).unwrap_or_else(|e| panic!("{expression}: {e}"))
}

#[test]
fn unary_operations() {
    use UnaryOp::*;
    for &op in UnaryOp::ALL {
        if op.result(DType::F64) != Some(DType::F64) {
            continue;
        }
        let (low, high) = match op {
            Log | Sqrt | Rsqrt | Digamma | Lgamma => (0.2, 5.0),
            Log1p => (-0.8, 3.0),
            Acos | Asin | Atanh | ErfInv => (-0.9, 0.9),
            Acosh => (1.1, 4.0),
            Tan => (-1.2, 1.2),
            _ => (-2.5, 2.5),
        };
        for seed in 0..6 {
            let outcome =
                compare(&single(&format!("{}(x[i])", op.name())), low, high, seed, &Options::default());
            assert!(outcome == Outcome::Agrees, "{op}");
        }
    }
    // Digamma and its reflection.
    let program = single("digamma(x[i] - 3.0f64) + lgamma(y[i] - 2.0f64)");
    assert!(compare(&program, 0.2, 0.8, 3, &Options::default()) == Outcome::Agrees);
}

#[test]
fn binary_operations() {
    use BinaryOp::*;
    for &op in BinaryOp::ALL {
        if op.result(DType::F64, DType::F64) != Some(DType::F64) || op == NextAfter {
            continue;
        }
        let (low, high) = if op == Pow { (0.3, 2.5) } else { (0.1, 2.5) };
        let program = single(&format!("{}(x[i], y[i])", op.name()));
        for ties in [Ties::Split, Ties::All, Ties::First] {
            for seed in 0..4 {
                let options = Options { ties, ..Options::default() };
                assert!(compare(&program, low, high, seed, &options) != Outcome::Refused, "{op}");
            }
        }
    }
}

#[test]
fn other_pointwise_fields() {
    for expression in [
        "select(x[i] < y[i], x[i] * x[i], sin(y[i]))",
        "real(complex(x[i], y[i]) * c128(1.5, -2.0) / complex(y[i], x[i]))",
        "imag(exp(complex(x[i], y[i])) * sin(complex(y[i], x[i])))",
        "abs(complex(x[i], y[i])) + real(log(complex(x[i], y[i])))",
        "real(pow(complex(x[i], y[i]), complex(y[i], x[i])))",
        "f64(c128(x[i]) * c128(y[i]))",
        "rem(x[i] * 7.0f64, y[i]) + floor(x[i]) * y[i]",
    ] {
        let agreed = (0..8).filter(|&seed| {
            compare(&single(expression), 0.2, 2.0, seed, &Options::default()) == Outcome::Agrees
        });
        assert!(agreed.count() >= 6, "{expression}");
    }
}

#[test]
fn maps_and_accumulations() {
    for (params, body) in [
        (
            "x: f64[4,5], w: f64[3]",
            "z : f64[4,5] =:+ over n<4, o<5, k<3 at [n,o]: (x[n, o + k - 1] where 0 <= o + k - 1 < 5 else -0.0f64) * w[k]",
        ),
        ("x: f64[9], w: f64[3]", "z : f64[4] =:+ over o<4, k<3 at [o]: x[2*o + k] * w[k]"),
        (
            "x: f64[8], w: f64[3]",
            "z : f64[4] =:+ over o<4, k<3 at [o]: (x[2*o + k - 1] where 0 <= 2*o + k - 1 < 8 else -0.0f64) * w[k]",
        ),
        ("x: f64[6]", "z : f64[13] =:+ over i<6 at [2*i + 1]: x[i] * x[i]"),
        ("x: f64[3,4]", "z : f64[12] =:set over i<3, j<4 at [4*i + j]: sin(x[i,j])"),
        ("x: f64[12]", "z : f64[3,4] =: over i<3, j<4: sin(x[4*i + j])"),
        ("x: f64[5]", "z : f64[3,5] =: over i<3, j<5: exp(x[4 - j])"),
        ("x: f64[4,4]", "z : f64[4] =: over i<4: x[i,i] * x[i,0]"),
        ("x: f64[3,5]", "z : f64[3] =:* over i<3, j<5 at [i]: x[i,j]"),
        ("x: f64[3,5]", "z : f64[3] =:max over i<3, j<5 at [i]: x[i,j] * x[i,j]"),
        ("x: f64[7]", "z : f64[5] =:min over o<5, k<3 at [o]: x[o + k]"),
        ("x: f64[4,6]", "z : f64[4] =: over i<4: x[i,0] / (+ over a<4, b<6 at [a]: exp(x[a,b] - x[a,0]))"),
        ("x: f64[2,3]", "z : f64[5,3] =: over i<5, j<3: (x[i - 2, j] where 0 <= i - 2 < 2 else 1.0f64)"),
        ("x: f64[6,6]", "z : f64[6] =: over i<6: (x[i, i] where 0 <= 2*i - 3 < 5 else 2.0f64)"),
    ] {
        let text = format!("func main({params}) -> (z) {{ {body} }}");
        let program = parse(&text).unwrap_or_else(|e| panic!("{body}: {e}"));
        for ties in [Ties::Split, Ties::First] {
            let options = Options { ties, ..Options::default() };
            for seed in 0..3 {
                assert!(compare(&program, 0.3, 1.7, seed, &options) == Outcome::Agrees, "{body}");
            }
        }
    }
}

#[test]
fn products_with_zeros() {
    let program = parse("func main(x: f64[3,3]) -> (s) { z : f64[3] =:* over i<3, j<3 at [i]: x[i,j]\n s : f64[] =:+ over i<3 at []: z[i] }").unwrap();
    let derived = gradient(&program, "main", &Options::default()).unwrap();
    let x = [2.0, 3.0, 4.0, 0.0, 3.0, 5.0, 0.0, 0.0, 7.0];
    let scalars: Vec<Scalar> = x.iter().map(|&v| Scalar::from_f64(DType::F64, v)).collect();
    let x = Buffer::from_scalars(DType::F64, &[3, 3], &scalars).unwrap();
    let results = interp::run(&derived, "main", &[x]).unwrap();
    let gradient: Vec<f64> = values(&results[1..]).collect();
    assert_eq!(gradient, [12.0, 8.0, 6.0, 15.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

fn random_programs(regions: bool, seeds: std::ops::Range<u64>, size: usize) -> [usize; 3] {
    let options = surject_ir::testing::Options {
        dtypes: vec![DType::F64, DType::F64, DType::F64, DType::I1],
        tame: true,
        regions,
        large: false,
    };
    let mut counts = [0; 3];
    for seed in seeds {
        let program = random_program_with(seed, size, &options);
        let at = match compare(&program, -1.5, 1.5, seed, &Options::default()) {
            Outcome::Agrees => 0,
            Outcome::Skipped => 1,
            Outcome::Refused => 2,
        };
        counts[at] += 1;
    }
    println!("{counts:?}");
    counts
}

#[test]
fn random_assignments() {
    let [agree, _, refused] = random_programs(false, 0..250, 14);
    assert!(agree > 150);
    assert_eq!(refused, 0);
}

#[test]
fn random_control_flow_and_calls() {
    let [agree, _, refused] = random_programs(true, 1000..1250, 20);
    assert!(agree > 130 && refused < 60);
}

/// Loops whose number of iterations depends on data, with all numbers of checkpoints.
#[test]
fn loops_that_data_end() {
    let simple = "func main(x: f64[3], y: f64[]) -> (r, s) {
       zero : i32[] =: 0i32
       n : i32[], r : f64[3], s : f64[] = while (zero, x, y) {
         cond(i: i32[], c: f64[3], t: f64[]) -> (more) { more : i1[] =: t < 9.0f64 }
         body(j: i32[], d: f64[3], u: f64[]) -> (next, e, v) {
           e : f64[3] =: over k<3: 0.5f64 * sin(d[k] + 0.1f64 * u[]) + 0.4f64 * d[k]
           sum : f64[] =:+ over k<3 at []: e[k] * e[k]
           v : f64[] =: u + 0.2f64 + 0.05f64 * sum
           next : i32[] =: j + 1i32
         }
       }
     }";
    let nested = "func main(x: f64[2], y: f64[]) -> (r) {
       r : f64[2], s : f64[] = while (x, y) {
         cond(c: f64[2], t: f64[]) -> (more) { more : i1[] =: t < 3.0f64 }
         body(d: f64[2], u: f64[]) -> (e, w) {
           e : f64[2], w : f64[] = while (d, u) {
             cond(a: f64[2], b: f64[]) -> (on) { on : i1[] =: a[0] < b[] + 0.5f64 }
             body(p: f64[2], q: f64[]) -> (p2, q2) {
               p2 : f64[2] =: over k<2: p[k] + 0.2f64 + 0.1f64 * cos(p[k] * x[k])
               q2 : f64[] =: q + 0.03f64 + 0.02f64 * sin(p[1])
             }
           }
         }
       }
     }";
    // The inner loop may leave the outer one where it was: the outer one adds to its end itself.
    let nested = nested.replace("(e, w) {", "(e, w2) {").replace(
        "             }\n           }\n         }\n       }",
        "             }\n           }\n           w2 : f64[] =: w + 0.4f64\n         }\n       }",
    );
    for text in [simple.to_string(), nested] {
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for checkpoints in [1, 3, 256] {
            let options = Options { checkpoints, ..Options::default() };
            let agreed =
                (0..3).filter(|&seed| compare(&program, 0.2, 1.2, seed, &options) == Outcome::Agrees).count();
            assert!(agreed >= 2, "{checkpoints} checkpoints:\n{text}");
        }
    }
    // A loop that does not run at all hands the cotangents on.
    let program = parse(&simple.replace("t < 9.0f64", "t < 0.0f64")).unwrap();
    assert!(compare(&program, 0.2, 1.2, 1, &Options::default()) == Outcome::Agrees);
}

/// Reductions and windows with bodies that no accumulation has.
#[test]
fn general_reductions() {
    let body = "region(a: f64[], b: f64[]) -> (c) { c : f64[] =: a * sin(b) + b + 0.5f64 * a }";
    for (params, call, out) in [
        ("x: f64[3,4]", "call reduce{axes=[1]}(x, init)", "f64[3]"),
        ("x: f64[3,4]", "call reduce{axes=[0,1]}(x, init)", "f64[]"),
        (
            "x: f64[5]",
            "call reduce_window{sizes=[3], strides=[2], base_dilations=[1], window_dilations=[1], padding=[[1,2]]}(x, init)",
            "f64[3]",
        ),
        (
            "x: f64[5]",
            "call reduce_window{sizes=[5], strides=[1], base_dilations=[1], window_dilations=[1], padding=[[4,0]]}(x, init)",
            "f64[5]",
        ),
    ] {
        let text = format!("func main({params}, init: f64[]) -> (z) {{ z : {out} = {call} {{ {body} }} }}");
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for seed in 0..3 {
            assert!(compare(&program, -1.0, 1.0, seed, &Options::default()) == Outcome::Agrees, "{text}");
        }
    }
}
