//! Library operations and control flow.

use crate::harness::*;
use crate::scatters::scatter_of_lines;
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
        let module = lower(&program, "main", &surject_codegen::Target::generic()).unwrap();
        let plan = module.plan.to_string();
        assert!(plan.contains(wanted), "{wanted}\n{plan}");
        check(program.functions[0].clone());
    }
}
