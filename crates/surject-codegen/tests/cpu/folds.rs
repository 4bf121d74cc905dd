//! Reductions of library operations: windows, cumulative functions, folds with functions of a program.

use crate::harness::*;
use crate::library::{F, I, binary, call, region};
use surject_codegen::Target;
use surject_ir::*;

/// Windows that grow by one element an output, where joining the initial values changes them and where it does not.
#[test]
fn growing_windows_of_scalar_functions() {
    for (axis, sizes) in [(0usize, [40u64, 6]), (1, [6, 40])] {
        let (mut window, mut padding) = (vec![1, 1], vec![(0, 0), (0, 0)]);
        (window[axis], padding[axis]) = (43, (42, 0));
        let ones = vec![1, 1];
        let window = Window {
            sizes: window,
            strides: ones.clone(),
            base_dilations: ones.clone(),
            window_dilations: ones,
            padding,
        };
        let op = LibOp::ReduceWindow { window };
        for join in [BinaryOp::Max, BinaryOp::Sub, BinaryOp::Add] {
            check(call(op.clone(), &[(F, &sizes), (F, &[])], |f| vec![binary(f, join, F)]));
        }
        let params: &[(DType, &[u64])] = &[(F, &sizes), (I, &sizes), (F, &[]), (I, &[])];
        check(call(op, params, |f| vec![arg_max(f)]));
    }
}

/// Windows whose neighbours lie in lanes: side by side and apart, fewer than there are lanes and more, beyond the operand
/// along the lanes and along other axes, with strides, dilation and holes.
#[test]
fn windows_in_lanes() {
    let plain = Window {
        sizes: vec![1, 3, 2],
        strides: vec![1, 2, 1],
        base_dilations: vec![1, 1, 1],
        window_dilations: vec![1, 1, 1],
        padding: vec![(0, 0), (1, 2), (0, 0)],
    };
    let windows = [
        ([2u64, 9, 70], plain.clone()),
        ([2, 9, 6], plain.clone()),
        ([2, 9, 70], Window { padding: vec![(0, 0), (0, 1), (1, 3)], ..plain.clone() }),
        (
            [1, 7, 90],
            Window { strides: vec![1, 1, 3], padding: vec![(0, 0), (1, 0), (2, 2)], ..plain.clone() },
        ),
        (
            [2, 8, 41],
            Window {
                window_dilations: vec![1, 2, 3],
                padding: vec![(0, 0), (3, 0), (-1, 2)],
                ..plain.clone()
            },
        ),
        ([2, 6, 30], Window { base_dilations: vec![1, 2, 1], ..plain.clone() }),
        ([2, 6, 30], Window { base_dilations: vec![1, 1, 2], ..plain.clone() }),
        // One output along the last axis: the one before it lies in lanes.
        ([3, 50, 2], Window { strides: vec![1, 1, 1], ..plain.clone() }),
        ([3, 50, 1], Window { sizes: vec![2, 3, 3], padding: vec![(1, 0), (1, 1), (1, 1)], ..plain }),
    ];
    for (sizes, window) in windows {
        let op = LibOp::ReduceWindow { window };
        for dtype in [F, DType::F64, I, DType::BF16, DType::C64] {
            let params: &[(DType, &[u64])] = &[(dtype, &sizes), (dtype, &[])];
            check(call(op.clone(), params, |f| vec![binary(f, BinaryOp::Sub, dtype)]));
        }
        let params: &[(DType, &[u64])] = &[(F, &sizes), (I, &sizes), (F, &[]), (I, &[])];
        check(call(op, params, |f| vec![arg_max(f)]));
    }
}

/// A function of two pairs: one affine function after another. Its order counts.
fn composed(f: &mut Function) -> Region {
    region(f, &[I, I, I, I], |f, p| {
        let scale = f.fields.binary(BinaryOp::Mul, p[0], p[2]).unwrap();
        let moved = f.fields.binary(BinaryOp::Mul, p[2], p[1]).unwrap();
        vec![scale, f.fields.binary(BinaryOp::Add, moved, p[3]).unwrap()]
    })
}

/// The logarithm of a sum of exponentials.
fn log_sum(f: &mut Function, dtype: DType) -> Region {
    region(f, &[dtype, dtype], |f, p| {
        let exps: Vec<FieldId> = p.iter().map(|&x| f.fields.unary(UnaryOp::Exp, x).unwrap()).collect();
        let sum = f.fields.binary(BinaryOp::Add, exps[0], exps[1]).unwrap();
        vec![f.fields.unary(UnaryOp::Log, sum).unwrap()]
    })
}

/// A window that grows along an axis.
fn growing(sizes: &[u64], axis: usize, backwards: bool) -> LibOp {
    let ones = vec![1; sizes.len()];
    let mut window = Window {
        sizes: ones.clone(),
        strides: ones.clone(),
        base_dilations: ones.clone(),
        window_dilations: ones,
        padding: vec![(0, 0); sizes.len()],
    };
    let before = sizes[axis] as i64 - 1;
    window.sizes[axis] = sizes[axis];
    window.padding[axis] = if backwards { (0, before) } else { (before, 0) };
    LibOp::ReduceWindow { window }
}

/// Lines whose windows grow from either end: side by side in memory and far apart, fewer than there are lanes, alone in
/// pieces with something left, and such that are done element by element.
#[test]
fn cumulative_functions() {
    for (axis, sizes) in [
        (0usize, [1u64, 40, 6]),
        (1, [2, 20, 37]),
        (2, [1, 70, 9]),
        (1, [45, 5, 3]),
        (2, [1, 2, 290]),
        (1, [2, 60, 2]),
    ] {
        for backwards in [false, true] {
            let op = growing(&sizes, axis, backwards);
            let checked = |dtypes: &[DType], inits: &[f64], region: &dyn Fn(&mut Function) -> Region| {
                let params: Vec<(DType, &[u64])> = dtypes.iter().map(|&d| (d, &sizes[..])).collect();
                let scalars: Vec<(DType, &[u64])> = dtypes.iter().map(|&d| (d, &[][..])).collect();
                let function = call(op.clone(), &[params, scalars].concat(), |f| vec![region(f)]);
                let args =
                    function.params.iter().enumerate().map(|(i, &p)| match i.checked_sub(dtypes.len()) {
                        None => values(function.ty(p), i as u64 + 7),
                        Some(k) => Buffer::splat(Scalar::from_f64(dtypes[k], inits[k]), &[]),
                    });
                let args = args.collect();
                check_with(function, 1e-4, Some(args));
            };
            checked(&[I, I], &[1.0, 0.0], &composed);
            checked(&[F], &[f64::NEG_INFINITY], &|f| log_sum(f, F));
            checked(&[DType::F64], &[f64::NEG_INFINITY], &|f| log_sum(f, DType::F64));
            checked(&[DType::BF16], &[0.0], &|f| binary(f, BinaryOp::Max, DType::BF16));
            checked(&[DType::C64], &[0.0], &|f| binary(f, BinaryOp::Add, DType::C64));
        }
    }
}

/// Lines so long that the interpreter would take minutes.
#[test]
fn cumulative_functions_of_long_lines() {
    for length in [4096usize, 5011] {
        for backwards in [false, true] {
            let sizes = [length as u64];
            let params: &[(DType, &[u64])] = &[(I, &sizes), (I, &sizes), (I, &[]), (I, &[])];
            let function = call(growing(&sizes, 0, backwards), params, |f| vec![composed(f)]);
            let one = |n: i32| Buffer::splat(Scalar::from_f64(I, n.into()), &[]);
            let mut args: Vec<Buffer> =
                (0..2).map(|i| values(function.ty(function.params[i]), i as u64 + 7)).collect();
            args.extend([one(1), one(0)]);
            let element = |i: usize, at: usize| args[i].get(at).as_i128().unwrap() as i32;
            let program = Program { name: String::new(), functions: vec![function] };
            let module = lower(&program, "main", &Target::host()).unwrap();
            let found = execute(&module, &args);
            let mut state = (1i32, 0i32);
            for step in 0..length {
                let at = if backwards { length - 1 - step } else { step };
                let (before, own) = (state, (element(0, at), element(1, at)));
                let (first, second) = if backwards { (own, before) } else { (before, own) };
                state =
                    (first.0.wrapping_mul(second.0), second.0.wrapping_mul(first.1).wrapping_add(second.1));
                let is = [0, 1].map(|i| found[i].get(at).as_i128().unwrap() as i32);
                assert_eq!(is, [state.0, state.1], "element {at} of {length}, backwards {backwards}");
            }
        }
    }
}

/// The larger of two values with its index; the first of equal ones.
fn arg_max(f: &mut Function) -> Region {
    region(f, &[F, I, F, I], |f, p| {
        let keep = f.fields.binary(BinaryOp::Ge, p[0], p[2]).unwrap();
        vec![f.fields.select(keep, p[0], p[2]).unwrap(), f.fields.select(keep, p[1], p[3]).unwrap()]
    })
}

#[test]
fn folds() {
    for axes in [vec![1], vec![0, 2], vec![], vec![0, 1, 2]] {
        let params: &[(DType, &[u64])] = &[(F, &[4, 33, 5]), (I, &[4, 33, 5]), (F, &[]), (I, &[])];
        check(call(LibOp::Reduce { axes }, params, |f| vec![arg_max(f)]));
    }
    // Many outputs, side by side: the reduced axis is the first, the last, or in the middle.
    for (axes, sizes) in [
        (vec![0], [9u64, 37]),
        (vec![0], [9, 128]),
        (vec![0], [9, 201]),
        (vec![1], [37, 9]),
        (vec![1], [16, 40]),
    ] {
        let params: &[(DType, &[u64])] = &[(F, &sizes), (I, &sizes), (F, &[]), (I, &[])];
        check(call(LibOp::Reduce { axes }, params, |f| vec![arg_max(f)]));
    }
    for (axes, dtype) in [(vec![0, 2], DType::BF16), (vec![2], DType::F64), (vec![0], DType::U8)] {
        let params: &[(DType, &[u64])] = &[(dtype, &[3, 35, 18]), (dtype, &[])];
        check(call(LibOp::Reduce { axes }, params, |f| vec![binary(f, BinaryOp::Sub, dtype)]));
    }
    let window = Window {
        sizes: vec![3, 2],
        strides: vec![2, 1],
        base_dilations: vec![1, 2],
        window_dilations: vec![1, 3],
        padding: vec![(1, 1), (-1, 2)],
    };
    let params: &[(DType, &[u64])] = &[(F, &[9, 7]), (F, &[])];
    check(call(LibOp::ReduceWindow { window }, params, |f| vec![binary(f, BinaryOp::Mul, F)]));
    let window = Window {
        sizes: vec![3, 3],
        strides: vec![2, 2],
        base_dilations: vec![1, 1],
        window_dilations: vec![1, 1],
        padding: vec![(1, 1), (0, 1)],
    };
    let params: &[(DType, &[u64])] = &[(F, &[9, 8]), (F, &[5, 4]), (F, &[])];
    check(call(LibOp::SelectAndScatter { window }, params, |f| {
        vec![binary(f, BinaryOp::Ge, F), binary(f, BinaryOp::Add, F)]
    }));
}

/// Lines that a short axis follows: lanes lie along the axis before it, or along parts of the lines.
#[test]
fn a_short_axis_beside_lines() {
    // Few long lines are cut into parts, whose results are reduced once more.
    for (sizes, plan) in [([40, 12, 4], "reduce, tasks "), ([1, 900, 4], "reduce, 2 of 2, tasks 1")] {
        let params: &[(DType, &[u64])] = &[(F, &sizes), (I, &sizes), (F, &[]), (I, &[])];
        let function = call(LibOp::Reduce { axes: vec![1] }, params, |f| vec![arg_max(f)]);
        let plans = check_on(function, 0.0, None, &[half_lines()]);
        assert!(plans[0].contains(plan), "{}", plans[0]);
    }
}

/// Values reduced with their positions, which are stored: along the reduced axis, or along one that stays; and some that
/// are a result as well.
#[test]
fn folds_of_positions() {
    for (axes, sizes) in [
        (vec![2], [3u64, 37, 17]),
        (vec![2], [2, 16, 40]),
        (vec![1], [3, 21, 37]),
        (vec![1], [2, 5, 131]),
        (vec![0, 2], [4, 18, 5]),
        (vec![1], [4, 9, 3]),
        // Axes side by side that are one.
        (vec![0], [9, 7, 8]),
        (vec![0, 1], [3, 4, 19]),
        (vec![1, 2], [18, 3, 5]),
        // Axes of one element, beside the others and between them.
        (vec![1], [50, 4, 1]),
        (vec![0], [5, 1, 40]),
        (vec![1, 2], [6, 1, 3]),
        (vec![1], [3, 1, 5]),
        // A short axis beside lines in lanes, or beside parts of them.
        (vec![1], [20, 9, 4]),
        (vec![1], [17, 50, 7]),
        (vec![1], [33, 3, 15]),
        (vec![0], [1, 700, 3]),
        (vec![1], [2, 300, 8]),
        (vec![0], [1400, 1, 5]),
        (vec![1], [1, 4096, 2]),
        // Lines that are cut into parts.
        (vec![2], [1, 1, 256]),
        (vec![2], [2, 3, 777]),
        (vec![1], [3, 600, 1]),
        (vec![2], [1, 1, 40_003]),
        (vec![2], [1, 1, 65_536]),
    ] {
        for (value, axis, dtype, also) in [
            (F, 0, I, false),
            (F, 1, I, false),
            (F, 2, I, false),
            (F, 2, I, true),
            (F, 2, DType::I64, false),
            (F, 1, DType::U8, false),
            (DType::I8, 2, DType::I64, false),
            (DType::U16, 1, I, false),
            (DType::I1, 2, I, false),
        ] {
            let (mut f, p) = function(&[(value, &sizes), (value, &[]), (dtype, &[])]);
            let whole = f.fields[p[0]].space.clone();
            let field = f.fields.index(&whole, axis, dtype).unwrap();
            let positions = store(&mut f, field);
            let join = region(&mut f, &[value, dtype, value, dtype], |f, p| {
                let keep = f.fields.binary(BinaryOp::Ge, p[0], p[2]).unwrap();
                vec![f.fields.select(keep, p[0], p[2]).unwrap(), f.fields.select(keep, p[1], p[3]).unwrap()]
            });
            let args = vec![f.params[0], positions, f.params[1], f.params[2]];
            let regions = vec![join];
            let types: Vec<TensorType> = args.iter().map(|&a| f.ty(a).clone()).collect();
            let scalars =
                |vars: &[Var], f: &Function| vars.iter().map(|&v| f.ty(v).clone()).collect::<Vec<_>>();
            let region_types: Vec<_> = regions
                .iter()
                .map(|r| RegionType { params: scalars(&r.params, &f), results: scalars(&r.body.results, &f) })
                .collect();
            let op = LibOp::Reduce { axes: axes.clone() };
            let results = op.infer(&types, &region_types).unwrap();
            let targets: Vec<Var> = results.into_iter().map(|ty| f.var("", ty)).collect();
            f.body.results.clone_from(&targets);
            if also {
                f.body.results.push(positions);
            }
            f.body.statements.push(Statement::new(StatementKind::Call { targets, op, args, regions }));
            check(f);
        }
    }
}

/// The least of a row and where it is, the first of equal ones and of what is no number; where nobody asks for the least
/// itself; where positions begin with a literal that the first position is above, is, or is not, or that 32 bits do not
/// hold; and where they are more than compared and chosen.
#[test]
fn least_with_their_positions() {
    for (rows, length, beside) in [
        (37, 17, 1),
        (16, 5, 1),
        (40, 40, 1),
        (33, 24, 1),
        (50, 33, 1),
        (1, 900, 1),
        (3, 300, 1),
        (40, 12, 3),
        (2, 900, 4),
        (1, 33, 140),
        (3, 11, 30),
    ] {
        for (before, results, value, index, chosen) in [
            (0i64, "i", F, "i32", "v"),
            (0, "m, i", F, "i32", "v"),
            (-3, "i", F, "i32", "v"),
            (5, "i", F, "i32", "v"),
            (0, "i", F, "i64", "v"),
            (-3, "m, i", F, "i64", "v"),
            (5, "i", F, "i64", "v"),
            (1 << 40, "m, i", F, "i64", "v"),
            (0, "m, i", F, "i64", "v + 4294967296i64"),
            (0, "m, i", DType::BF16, "i64", "v"),
            (0, "m, i", F, "i16", "v"),
            (0, "m, i", DType::F64, "i64", "v"),
        ] {
            let text = format!(
                "func main(x: {value}[{rows},{length},{beside}]) -> ({results}) {{
  p : {index}[{rows},{length},{beside}] =: over i<{rows}, j<{length}, k<{beside}: index(j){index}
  a : {value}[] =: inf_{value}
  b : {index}[] =: {before}{index}
  m : {value}[{rows},{beside}], i : {index}[{rows},{beside}] = call reduce{{axes=[1]}}(x, p, a, b) {{
    region(s: {value}[], t: {index}[], u: {value}[], v: {index}[]) -> (y, z) {{
      c : i1[] =: or(s < u, s != s)
      d : i1[] =: or(c, and(s == u, t < v))
      y : {value}[] =: select(c, s, u)
      z : {index}[] =: select(d, t, {chosen})
    }}
  }}
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let f = program.functions[0].clone();
            let mut x = values(f.ty(f.params[0]), 3);
            let some = [1.0, 2.0, 0.0, -0.0, f64::INFINITY, f64::NAN, 3.0, f64::NEG_INFINITY];
            for i in 0..x.len() {
                let seed = i.wrapping_mul(2_654_435_761) >> 7;
                // Rows with and without what is no number.
                let kinds = if i / (length * beside) % 3 == 0 { 8 } else { 5 };
                x.set(i, Scalar::from_f64(value, some[seed % kinds]));
            }
            check_with(f, 0.0, Some(vec![x]));
        }
    }
}
