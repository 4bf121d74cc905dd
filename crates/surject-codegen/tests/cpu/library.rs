//! Library operations and control flow.

use crate::harness::*;
use crate::scatters::scatter_of_lines;
use surject_codegen::{Target, lower};
use surject_index::{Affine, Fill, IndexMap};
use surject_ir::*;

/// A region over scalars of these types; `body` gives the fields of its results.
pub fn region(
    f: &mut Function,
    dtypes: &[DType],
    body: impl Fn(&mut Function, &[FieldId]) -> Vec<FieldId>,
) -> Region {
    let params: Vec<Var> = dtypes.iter().map(|&d| f.var("", TensorType::scalar(d))).collect();
    let fields: Vec<FieldId> = params.iter().map(|&p| f.tensor(p)).collect();
    let results = body(f, &fields);
    let mut region = Region { params, body: Block::default() };
    for field in results {
        let target = f.var_for("", field);
        region.body.statements.push(Statement::new(StatementKind::Store { target, field }));
        region.body.results.push(target);
    }
    region
}

pub fn binary(f: &mut Function, op: BinaryOp, dtype: DType) -> Region {
    region(f, &[dtype, dtype], |f, p| vec![f.fields.binary(op, p[0], p[1]).unwrap()])
}

/// Calls an operation on parameters of these types, and returns its results.
pub fn call(
    op: LibOp,
    params: &[(DType, &[u64])],
    regions: impl Fn(&mut Function) -> Vec<Region>,
) -> Function {
    let (mut f, _) = function(params);
    let regions = regions(&mut f);
    let args = f.params.clone();
    let types: Vec<TensorType> = args.iter().map(|&a| f.ty(a).clone()).collect();
    let region_types: Vec<_> = regions
        .iter()
        .map(|r| RegionType {
            params: r.params.iter().map(|&p| f.ty(p).clone()).collect(),
            results: r.body.results.iter().map(|&p| f.ty(p).clone()).collect(),
        })
        .collect();
    let results = op.infer(&types, &region_types).unwrap();
    let targets: Vec<Var> = results.into_iter().map(|ty| f.var("", ty)).collect();
    f.body.results.clone_from(&targets);
    f.body.statements.push(Statement::new(StatementKind::Call { targets, op, args, regions }));
    f
}

pub const F: DType = DType::F32;
pub const I: DType = DType::I32;

#[test]
fn slices() {
    let sizes = vec![2, 3, 4];
    check(call(
        LibOp::DynamicSlice { sizes },
        &[(F, &[5, 3, 9]), (I, &[]), (I, &[]), (DType::U8, &[])],
        |_| vec![],
    ));
    for dtype in [F, DType::I1, DType::BF16, DType::C128] {
        let params: &[(DType, &[u64])] = &[(dtype, &[5, 9]), (dtype, &[2, 4]), (I, &[]), (DType::I64, &[])];
        check(call(LibOp::DynamicUpdateSlice, params, |_| vec![]));
    }
    check(call(LibOp::BitcastReshape { to: DType::U8 }, &[(F, &[3, 2])], |_| vec![]));
    check(call(LibOp::BitcastReshape { to: DType::F64 }, &[(I, &[3, 2])], |_| vec![]));
}

/// A gather of lines of so many elements, by indices with so many axes.
pub fn gather_of_lines(width: u64, axes: usize) -> LibOp {
    let dims = GatherDims {
        offset_dims: vec![axes],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: axes,
        ..GatherDims::default()
    };
    LibOp::Gather { dims, slice_sizes: vec![1, width], indices_are_sorted: false }
}

#[test]
fn gathers_and_scatters() {
    // Lines that are copied at once, in a loop with something left, and by a call.
    for (dtype, width) in [(F, 8), (DType::U8, 512), (F, 213), (DType::C64, 129), (F, 5000)] {
        check(call(gather_of_lines(width, 1), &[(dtype, &[50, width]), (I, &[7, 1])], |_| vec![]));
    }
    let dims = GatherDims {
        offset_dims: vec![0, 2],
        start_index_map: vec![1, 0],
        index_vector_dim: 0,
        ..GatherDims::default()
    };
    let op = LibOp::Gather { dims, slice_sizes: vec![2, 3], indices_are_sorted: false };
    check(call(op, &[(DType::F64, &[50, 80]), (DType::I8, &[2, 5])], |_| vec![]));
    for (indices, updates) in [(&[7, 1][..], &[7, 8][..]), (&[400, 1], &[400, 8])] {
        let op = scatter_of_lines();
        check(call(op, &[(F, &[60, 8]), (I, indices), (F, updates)], |f| vec![binary(f, BinaryOp::Add, F)]));
    }
    let dims = ScatterDims {
        update_window_dims: vec![0],
        inserted_window_dims: vec![1],
        scatter_dims_to_operand_dims: vec![1],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    let op = LibOp::Scatter { dims, indices_are_sorted: false, unique_indices: false };
    check(call(op, &[(I, &[9, 60]), (I, &[11]), (I, &[4, 11])], |f| vec![binary(f, BinaryOp::Sub, I)]));
}

/// Single elements, as many side by side as there are lanes, by one index and by two, with batches, along lines that are
/// no multiple of anything.
#[test]
fn gathered_elements() {
    for (dtype, index, count) in [(F, I, 16u64), (DType::F64, DType::I64, 37), (I, I, 1000)] {
        let dims = GatherDims {
            collapsed_slice_dims: vec![0],
            start_index_map: vec![0],
            index_vector_dim: 1,
            ..GatherDims::default()
        };
        let op = LibOp::Gather { dims, slice_sizes: vec![1], indices_are_sorted: false };
        check(call(op, &[(dtype, &[70]), (index, &[count, 1])], |_| vec![]));
        for (axis, indices) in [(1, [count, 2]), (0, [2, count])] {
            let dims = GatherDims {
                collapsed_slice_dims: vec![0, 1],
                start_index_map: vec![1, 0],
                index_vector_dim: axis,
                ..GatherDims::default()
            };
            let op = LibOp::Gather { dims, slice_sizes: vec![1, 1], indices_are_sorted: false };
            check(call(op, &[(dtype, &[30, 70]), (index, &indices)], |_| vec![]));
        }
        let dims = GatherDims {
            collapsed_slice_dims: vec![1],
            operand_batching_dims: vec![0],
            start_indices_batching_dims: vec![0],
            start_index_map: vec![1],
            index_vector_dim: 2,
            ..GatherDims::default()
        };
        let op = LibOp::Gather { dims, slice_sizes: vec![1, 1], indices_are_sorted: false };
        check(call(op, &[(dtype, &[5, 70]), (index, &[5, count, 1])], |_| vec![]));
    }
}

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
    for (sizes, plan) in [
        ([40, 12, 4], "[40, 12, 4] over [1] in lanes, 4 side by side"),
        ([1, 900, 4], "over [1] in lanes, 4 side by side"),
    ] {
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

/// Indices that are computed: clamped or wrapped pieces put side by side, read once, or twice.
#[test]
fn gathers_at_computed_indices() {
    for (index, count, twice) in [(I, 37u64, false), (DType::I64, 48, false), (I, 40, true), (I, 5, false)] {
        for axis in [0usize, 1] {
            let (mut f, p) = function(&[(F, &[30, 70]), (index, &[count, 1]), (index, &[count, 1])]);
            let sizes = if axis == 1 { [count, 2] } else { [2, count] };
            let whole = space(&sizes);
            let pieces = [0i128, 1].map(|part| {
                let bound = f.fields.constant(&space(&[count, 1]), Scalar::from_i128(index, 30 + 40 * part));
                let sum = f.fields.binary(BinaryOp::Add, p[1 + part as usize], bound).unwrap();
                let zero = f.fields.constant(&space(&[count, 1]), Scalar::from_i128(index, 0));
                let below = f.fields.binary(BinaryOp::Lt, p[1 + part as usize], zero).unwrap();
                let piece = f.fields.select(below, sum, p[1 + part as usize]).unwrap();
                let fill = Fill(Scalar::zero(index).bits());
                let components = vec![Affine::axis(2, 1 - axis), Affine::strided(2, axis, 1, -(part as i64))];
                let map = IndexMap::partial(whole.clone(), space(&[count, 1]), components, vec![], fill);
                f.fields.read(map.unwrap(), piece).unwrap()
            });
            let both = f.fields.binary(BinaryOp::Add, pieces[0], pieces[1]).unwrap();
            let indices = store(&mut f, both);
            let dims = GatherDims {
                collapsed_slice_dims: vec![0, 1],
                start_index_map: vec![0, 1],
                index_vector_dim: axis,
                ..GatherDims::default()
            };
            let op = LibOp::Gather { dims, slice_sizes: vec![1, 1], indices_are_sorted: false };
            let args = vec![f.params[0], indices];
            let target = f.var("", TensorType::new(F, space(&[count])));
            f.body.results.push(target);
            if twice {
                f.body.results.push(indices);
            }
            let targets = vec![target];
            f.body.statements.push(Statement::new(StatementKind::Call {
                targets,
                op,
                args,
                regions: vec![],
            }));
            check(f);
        }
    }
}

/// Gathers that are evaluated by what reads them, backwards, where their indices are large enough; along every axis, with
/// lines that are no multiple of anything, and read twice, which is not evaluated in place.
#[test]
fn gathers_where_they_are_read() {
    let types =
        [(F, I), (DType::BF16, DType::I64), (DType::U8, DType::I8), (DType::F64, DType::U8), (DType::I1, I)];
    for (i, (dtype, index)) in types.into_iter().enumerate() {
        for (axis, count) in [(0usize, 3u64), (1, 1), (1, 37), (2, 9), (2, 66)] {
            let (own, mut shape) = ([7u64, 30, 11], [7u64, 30, 11]);
            shape[axis] = count;
            let others: Vec<usize> = (0..3).filter(|&a| a != axis).collect();
            let dims = GatherDims {
                collapsed_slice_dims: vec![axis],
                operand_batching_dims: others.clone(),
                start_indices_batching_dims: others,
                start_index_map: vec![axis],
                index_vector_dim: 3,
                ..GatherDims::default()
            };
            let op = LibOp::Gather { dims, slice_sizes: vec![1, 1, 1], indices_are_sorted: false };
            let mut f = call(op, &[(dtype, &own), (index, &shape)], |_| vec![]);
            let (found, all) = (f.tensor(f.body.results[0]), f.tensor(f.params[1]));
            let bound = f.fields.constant(&space(&shape), Scalar::from_i128(index, 3));
            let fill = f.fields.constant(&space(&shape), Scalar::one(dtype));
            let large = f.fields.binary(BinaryOp::Ge, all, bound).unwrap();
            let map = IndexMap::reverse(&space(&shape), &[2, i % 2]).unwrap();
            let back = f.fields.read(map, found).unwrap();
            let chosen = f.fields.select(large, back, fill).unwrap();
            f.body.results.clear();
            result(&mut f, chosen);
            check(f.clone());
            let both = f.fields.select(large, back, found).unwrap();
            result(&mut f, both);
            check(f);
        }
    }
    // Columns, and a slice that lies across lines.
    for (shape, slice, offsets) in [([40u64, 50], [40u64, 1], vec![0usize]), ([40, 1], [9, 1], vec![0])] {
        let dims = GatherDims {
            offset_dims: offsets,
            collapsed_slice_dims: vec![1],
            start_index_map: vec![1],
            index_vector_dim: 1,
            ..GatherDims::default()
        };
        let op = LibOp::Gather { dims, slice_sizes: slice.to_vec(), indices_are_sorted: false };
        check(call(op, &[(F, &shape), (I, &[37, 1])], |_| vec![]));
    }
}

/// Lines that are gathered by what computes something of them: indices out of bounds, lines that are slices, several
/// indices, lines of narrow types, and lines that are too short for it.
#[test]
fn lines_where_they_are_read() {
    for (dtype, index, [rows, line, slice], count) in [
        (F, I, [9u64, 37, 37], 21u64),
        (DType::BF16, DType::I64, [5, 64, 64], 3),
        (DType::F64, DType::U8, [300, 20, 17], 8),
        (DType::I8, I, [4, 100, 70], 1),
        (F, I, [6, 15, 15], 40),
    ] {
        let dims = GatherDims {
            offset_dims: vec![1],
            collapsed_slice_dims: vec![0],
            start_index_map: if slice == line { vec![0] } else { vec![0, 1] },
            index_vector_dim: 1,
            ..GatherDims::default()
        };
        let components = dims.start_index_map.len() as u64;
        let op = LibOp::Gather { dims, slice_sizes: vec![1, slice], indices_are_sorted: false };
        let mut f = call(op, &[(dtype, &[rows, line]), (index, &[count, components])], |_| vec![]);
        let found = f.tensor(f.body.results[0]);
        let by = f.var("by", TensorType::new(dtype, space(&[count])));
        f.params.push(by);
        let by = f.tensor(by);
        let scale = f.fields.read(IndexMap::projection(&space(&[count, slice]), &[0]), by).unwrap();
        let scaled = f.fields.binary(BinaryOp::Mul, found, scale).unwrap();
        f.body.results.clear();
        result(&mut f, scaled);
        check(f.clone());
        let sum = f.fields.binary(BinaryOp::Add, scaled, found).unwrap();
        result(&mut f, sum);
        check(f);
    }
}

#[test]
fn sorting_and_solvers() {
    let less = |f: &mut Function| {
        vec![region(f, &[F, F, I, I], |f, p| vec![f.fields.binary(BinaryOp::Lt, p[0], p[1]).unwrap()])]
    };
    for axis in 0..2 {
        let params: &[(DType, &[u64])] = &[(F, &[9, 130]), (I, &[9, 130])];
        check(call(LibOp::Sort { axis, stable: true }, params, less));
        // By a whole number, the largest first, of a value made of the element.
        let more = |f: &mut Function| {
            vec![region(f, &[I, I, F, F], |f, p| {
                let keys = [0, 1].map(|i| f.fields.binary(BinaryOp::Mul, p[i], p[i]).unwrap());
                vec![f.fields.binary(BinaryOp::Gt, keys[0], keys[1]).unwrap()]
            })]
        };
        check(call(LibOp::Sort { axis, stable: true }, &[(I, &[5, 60]), (F, &[5, 60])], more));
        // By two values, one after the other: no key.
        let both = |f: &mut Function| {
            vec![region(f, &[I, I, F, F], |f, p| {
                let equal = f.fields.binary(BinaryOp::Eq, p[0], p[1]).unwrap();
                let (first, second) = (
                    f.fields.binary(BinaryOp::Lt, p[0], p[1]).unwrap(),
                    f.fields.binary(BinaryOp::Lt, p[2], p[3]).unwrap(),
                );
                vec![f.fields.select(equal, second, first).unwrap()]
            })]
        };
        check(call(LibOp::Sort { axis, stable: true }, &[(I, &[5, 60]), (F, &[5, 60])], both));
    }
    check(call(LibOp::Fft { kind: FftKind::Rfft, lengths: vec![12] }, &[(F, &[3, 12])], |_| vec![]));
    check(call(
        LibOp::Fft { kind: FftKind::Ifft, lengths: vec![4, 6] },
        &[(DType::C64, &[3, 4, 6])],
        |_| vec![],
    ));
    check(call(LibOp::Cholesky { lower: true }, &[(F, &[2, 4, 4])], |_| vec![]));
    let op = LibOp::TriangularSolve {
        left_side: true,
        lower: true,
        unit_diagonal: false,
        transpose: Transpose::Transpose,
    };
    check_with(call(op, &[(DType::F64, &[2, 4, 4]), (DType::F64, &[2, 4, 3])], |_| vec![]), 1e-8, None);
}

/// `while n < 10 { n, xs, ys, t = n + 1, update(xs, n * 2, n), ys + sum xs, swap }`
#[test]
fn loops() {
    let (mut f, p) = function(&[(I, &[]), (I, &[12]), (F, &[4]), (F, &[4])]);
    let inits = f.params.clone();
    let types: Vec<TensorType> = inits.iter().map(|&v| f.ty(v).clone()).collect();
    let _ = p;
    let params = |f: &mut Function| -> Vec<Var> { types.iter().map(|t| f.var("", t.clone())).collect() };
    let cond_params = params(&mut f);
    let n = f.tensor(cond_params[0]);
    let ten = f.fields.constant(&space(&[]), Scalar::from_i128(I, 10));
    let less = f.fields.binary(BinaryOp::Lt, n, ten).unwrap();
    let mut cond = Region { params: cond_params, body: Block::default() };
    let flag = f.var_for("", less);
    cond.body.statements.push(Statement::new(StatementKind::Store { target: flag, field: less }));
    cond.body.results.push(flag);

    let body_params = params(&mut f);
    let mut body = Block::default();
    let put = |f: &mut Function, body: &mut Block, field: FieldId| {
        let target = f.var_for("", field);
        body.statements.push(Statement::new(StatementKind::Store { target, field }));
        target
    };
    let n = f.tensor(body_params[0]);
    let one = f.fields.constant(&space(&[]), Scalar::from_i128(I, 1));
    let next = f.fields.binary(BinaryOp::Add, n, one).unwrap();
    let square = f.fields.binary(BinaryOp::Mul, n, n).unwrap();
    let line = f.fields.read(IndexMap::total(space(&[1]), space(&[]), vec![]).unwrap(), square).unwrap();
    let update = put(&mut f, &mut body, line);
    let updated = f.var("", types[1].clone());
    body.statements.push(Statement::new(StatementKind::Call {
        targets: vec![updated],
        op: LibOp::DynamicUpdateSlice,
        args: vec![body_params[1], update, body_params[0]],
        regions: vec![],
    }));
    let next = put(&mut f, &mut body, next);
    let (a, b) = (f.tensor(body_params[2]), f.tensor(body_params[3]));
    let sum = f.fields.binary(BinaryOp::Add, a, b).unwrap();
    let sum = put(&mut f, &mut body, sum);
    // The two last are swapped on the way.
    body.results = vec![next, updated, body_params[3], sum];
    let targets: Vec<Var> = types.iter().map(|t| f.var("", t.clone())).collect();
    f.body.results = targets.clone();
    let body = Region { params: body_params, body };
    f.body.statements.push(Statement::new(StatementKind::While { targets, inits, cond, body }));
    let start = vec![
        Buffer::from_scalars(I, &[], &[Scalar::from_i128(I, 3)]).unwrap(),
        values(&types[1], 3),
        values(&types[2], 4),
        values(&types[3], 5),
    ];
    check_with(f, 1e-6, Some(start));
}

#[test]
fn choices() {
    for choice in [-1, 0, 1, 2, 7] {
        let (mut f, p) = function(&[(I, &[]), (F, &[5])]);
        let index = f.params[0];
        let mut branches = Vec::new();
        for op in [UnaryOp::Neg, UnaryOp::Exp, UnaryOp::Abs] {
            let field = f.fields.unary(op, p[1]).unwrap();
            let target = f.var_for("", field);
            let mut body = Block::default();
            body.statements.push(Statement::new(StatementKind::Store { target, field }));
            body.results.push(target);
            branches.push(Region { params: vec![], body });
        }
        let target = f.var("", TensorType::new(F, space(&[5])));
        f.body.statements.push(Statement::new(StatementKind::If { targets: vec![target], index, branches }));
        f.body.results.push(target);
        let args = vec![
            Buffer::from_scalars(I, &[], &[Scalar::from_i128(I, choice)]).unwrap(),
            values(&TensorType::new(F, space(&[5])), 4),
        ];
        check_with(f, 1e-6, Some(args));
    }
}

/// Of the elements in order only as many are found as are read.
#[test]
fn the_first_of_many() {
    for (axis, [a, b], reads) in [
        (1, [3, 500], "k[i,j]; p[i,-j + 4] over i<3, j<5: the first 5"),
        (0, [300, 4], "k[j,i]; p[2*j,i] over i<4, j<3: the first 5"),
        (1, [3, 500], "k[i,j]; p[i,j] over i<3, j<400: the first 400"),
        (1, [3, 500], "k[i,j]; p[i,j + 495] over i<3, j<5: by key"),
    ] {
        let (read, rest) = reads.split_once(" over ").unwrap();
        let (over, wanted) = rest.split_once(": ").unwrap();
        let (k, p) = read.split_once("; ").unwrap();
        let extents: Vec<&str> = over.split(", ").filter_map(|l| l.split_once('<')).map(|l| l.1).collect();
        let shape = extents.join(",");
        // Many are equal.
        let text = format!(
            "func main(x: f32[{a},{b}]) -> (y, z) {{
  r : f32[{a},{b}] =: over i<{a}, j<{b}: floor(x[i,j])
  n : i32[{a},{b}] =: over i<{a}, j<{b}: index(i)i32 * 1000i32 + index(j)i32
  k : f32[{a},{b}], p : i32[{a},{b}] = call sort{{axis={axis}, stable=true}}(r, n) {{
    region(c: f32[], d: f32[], e: i32[], f: i32[]) -> (g) {{
      g : i1[] =: c > d
    }}
  }}
  y : f32[{shape}] =: over {over}: {k} * 2.0f32
  z : i32[{shape}] =: over {over}: {p}
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let module = surject_codegen::lower(&program, "main", &surject_codegen::Target::generic()).unwrap();
        let plan = module.plan.to_string();
        assert!(plan.contains(wanted), "{wanted}\n{plan}");
        check(program.functions[0].clone());
    }
}
