use super::*;
use crate::*;
use surject_index::{Affine, Fill, IndexMap};

fn f32s(shape: &[usize], values: &[f32]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(DType::F32, v.into())).collect();
    Buffer::from_scalars(DType::F32, shape, &values).unwrap()
}

fn i32s(shape: &[usize], values: &[i32]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|&v| Scalar::from_i128(DType::I32, v.into())).collect();
    Buffer::from_scalars(DType::I32, shape, &values).unwrap()
}

fn ty(dtype: DType, sizes: &[u64]) -> TensorType {
    TensorType::new(dtype, Space::of(sizes))
}

/// A function with these parameters.
fn with_params(types: &[TensorType]) -> Function {
    let mut f = Function::new("main");
    for t in types {
        let var = f.var("", t.clone());
        f.params.push(var);
    }
    f
}

/// Stores a field and makes it the result.
fn result(f: &mut Function, field: FieldId) {
    let target = f.var_for("", field);
    f.body.statements.push(Statement::new(StatementKind::Store { target, field }));
    f.body.results.push(target);
}

fn run_one(f: Function, args: &[Buffer]) -> Buffer {
    let program = Program { name: String::new(), functions: vec![f] };
    let mut results = run(&program, "main", args).unwrap();
    assert_eq!(results.len(), 1);
    results.remove(0)
}

fn matmul(n: u64, m: u64, k: u64, dtype: DType) -> Function {
    let mut f = with_params(&[ty(dtype, &[n, m]), ty(dtype, &[m, k])]);
    let (a, b) = (f.tensor(Var(0)), f.tensor(Var(1)));
    let product = Space::of(&[n, m, k]);
    let a = f.fields.read(IndexMap::projection(&product, &[0, 1]), a).unwrap();
    let b = f.fields.read(IndexMap::projection(&product, &[1, 2]), b).unwrap();
    let ab = f.fields.binary(BinaryOp::Mul, a, b).unwrap();
    let c = f.fields.acc(AccOp::Add, IndexMap::projection(&product, &[0, 2]), ab).unwrap();
    result(&mut f, c);
    f
}

#[test]
fn a_product_of_matrices() {
    let a = f32s(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let b = f32s(&[3, 2], &[7., 8., 9., 10., 11., 12.]);
    assert_eq!(run_one(matmul(2, 3, 2, DType::F32), &[a, b]), f32s(&[2, 2], &[58., 64., 139., 154.]));
}

#[test]
fn empty_sums_are_neutral_and_empty_results_are_empty() {
    let c = run_one(matmul(2, 0, 2, DType::F32), &[f32s(&[2, 0], &[]), f32s(&[0, 2], &[])]);
    assert_eq!(c, f32s(&[2, 2], &[0.0; 4]));
    let c = run_one(matmul(0, 3, 2, DType::F32), &[f32s(&[0, 3], &[]), f32s(&[3, 2], &[0.; 6])]);
    assert_eq!(c, f32s(&[0, 2], &[]));
}

#[test]
fn half_precision_sums_round_once() {
    let ones = |shape: &[usize]| Buffer::splat(Scalar::one(DType::BF16), shape);
    let c = run_one(matmul(1, 1000, 1, DType::BF16), &[ones(&[1, 1000]), ones(&[1000, 1])]);
    assert_eq!(c.get(0), Scalar::from_f64(DType::BF16, 1000.0));
}

/// A read outside its guard under another guard, at positions where the inner one would leave the tensor.
#[test]
fn guards_of_reads_of_reads() {
    let mut f = with_params(&[ty(DType::I32, &[3])]);
    let x = f.tensor(Var(0));
    let guard = |n: u64, to: u64, shift: i64, fill: u128| {
        let component = vec![Affine::strided(1, 0, 1, -shift)];
        IndexMap::partial(Space::of(&[n]), Space::of(&[to]), component, vec![], Fill(fill)).unwrap()
    };
    let inner = f.fields.read(guard(5, 3, 1, 7), x).unwrap();
    let doubled = f.fields.binary(BinaryOp::Add, inner, inner).unwrap();
    let outer = f.fields.read(guard(8, 5, 2, 9), doubled).unwrap();
    result(&mut f, outer);
    assert_eq!(run_one(f, &[i32s(&[3], &[1, 2, 3])]), i32s(&[8], &[9, 9, 14, 2, 4, 6, 14, 9]));
}

#[test]
fn an_index_a_nested_sum_and_rank_0() {
    let space = Space::of(&[4]);
    let mut f = with_params(&[]);
    let i = f.fields.index(&space, 0, DType::F32).unwrap();
    let sum = f.fields.acc(AccOp::Add, IndexMap::projection(&space, &[]), i).unwrap();
    let back = f.fields.read(IndexMap::projection(&space, &[]), sum).unwrap();
    let scaled = f.fields.binary(BinaryOp::Div, i, back).unwrap();
    let largest = f.fields.acc(AccOp::Max, IndexMap::projection(&space, &[]), scaled).unwrap();
    result(&mut f, largest);
    assert_eq!(run_one(f, &[]), f32s(&[], &[0.5]));
}

#[test]
fn reads_that_double_their_field_do_not_double_the_work() {
    let space = Space::of(&[8]);
    let mut f = with_params(&[ty(DType::I32, &[8])]);
    let mut x = f.tensor(Var(0));
    for _ in 0..40 {
        let reversed = f.fields.read(IndexMap::reverse(&space, &[0]).unwrap(), x).unwrap();
        let shifted = Affine::strided(1, 0, 1, -1);
        let shifted =
            IndexMap::partial(space.clone(), space.clone(), vec![shifted], vec![], Fill(0)).unwrap();
        let shifted = f.fields.read(shifted, x).unwrap();
        x = f.fields.binary(BinaryOp::Xor, reversed, shifted).unwrap();
    }
    result(&mut f, x);
    run_one(f, &[i32s(&[8], &[1, 2, 3, 4, 5, 6, 7, 8])]);
}

/// `while i < n { (i, s) = (i + 1, s * 2) }`
fn doubling(limit: i32) -> Function {
    let scalar = ty(DType::I32, &[]);
    let mut f = with_params(&[scalar.clone(), scalar.clone()]);
    let constant = |v: i128| Scalar::from_i128(DType::I32, v);
    let carried: Vec<Var> = (0..6).map(|_| f.var("", scalar.clone())).collect();
    let (ci, bi, bs) = (f.tensor(carried[0]), f.tensor(carried[2]), f.tensor(carried[3]));
    let n = f.fields.constant(&Space::scalar(), constant(limit.into()));
    let one = f.fields.constant(&Space::scalar(), constant(1));
    let less = f.fields.binary(BinaryOp::Lt, ci, n).unwrap();
    let next = f.fields.binary(BinaryOp::Add, bi, one).unwrap();
    let twice = f.fields.binary(BinaryOp::Add, bs, bs).unwrap();
    let targets = [less, next, twice].map(|field| f.var_for("", field));
    let store = |target, field| Statement::new(StatementKind::Store { target, field });
    let cond = Region {
        params: carried[..2].to_vec(),
        body: Block { statements: vec![store(targets[0], less)], results: vec![targets[0]] },
    };
    let body = Region {
        params: carried[2..4].to_vec(),
        body: Block {
            statements: vec![store(targets[1], next), store(targets[2], twice)],
            results: targets[1..].to_vec(),
        },
    };
    let kind = StatementKind::While { targets: carried[4..].to_vec(), inits: f.params.clone(), cond, body };
    f.body.statements.push(Statement { kind, origin: Some("loop.mlir:3:1".into()) });
    f.body.results.push(carried[5]);
    f
}

#[test]
fn loops() {
    let args = [i32s(&[], &[0]), i32s(&[], &[3])];
    assert_eq!(run_one(doubling(4), &args), i32s(&[], &[48]));
    let program = Program { name: String::new(), functions: vec![doubling(i32::MAX)] };
    let error = run_within(&program, "main", &args, Limits { iterations: Some(10) }).unwrap_err();
    assert_eq!(error.to_string(), "loop.mlir:3:1: the loops ran for more than 10 iterations");
}

/// A call with the given operation, whose regions are `op` of their last two parameters.
fn call(
    op: LibOp,
    args: &[Buffer],
    regions: &[(Vec<DType>, BinaryOp)],
    results: &[TensorType],
) -> Vec<Buffer> {
    let types: Vec<TensorType> = args
        .iter()
        .map(|a| ty(a.dtype(), &a.shape().iter().map(|&n| n as u64).collect::<Vec<_>>()))
        .collect();
    let mut f = with_params(&types);
    let regions = regions
        .iter()
        .map(|(params, op)| {
            let params: Vec<Var> = params.iter().map(|&d| f.var("", TensorType::scalar(d))).collect();
            let (x, y) = (f.tensor(params[0]), f.tensor(params[params.len() / 2]));
            let field = f.fields.binary(*op, x, y).unwrap();
            let target = f.var_for("", field);
            let statements = vec![Statement::new(StatementKind::Store { target, field })];
            Region { params, body: Block { statements, results: vec![target] } }
        })
        .collect();
    let targets: Vec<Var> = results.iter().map(|t| f.var("", t.clone())).collect();
    let args_vars = f.params.clone();
    f.body.results = targets.clone();
    f.body.statements.push(Statement::new(StatementKind::Call { targets, op, args: args_vars, regions }));
    run(&Program { name: String::new(), functions: vec![f] }, "main", args).unwrap()
}

#[test]
fn slices_at_run_time() {
    let x = i32s(&[5], &[1, 2, 3, 4, 5]);
    let slice = |start| {
        let op = LibOp::DynamicSlice { sizes: vec![2] };
        call(op, &[x.clone(), i32s(&[], &[start])], &[], &[ty(DType::I32, &[2])]).remove(0)
    };
    assert_eq!(slice(1), i32s(&[2], &[2, 3]));
    assert_eq!((slice(-4), slice(9)), (i32s(&[2], &[1, 2]), i32s(&[2], &[4, 5])));
    let args = [x, i32s(&[2], &[8, 9]), i32s(&[], &[4])];
    let updated = call(LibOp::DynamicUpdateSlice, &args, &[], &[ty(DType::I32, &[5])]);
    assert_eq!(updated[0], i32s(&[5], &[1, 2, 3, 8, 9]));
}

#[test]
fn gathered_rows_and_scattered_sums() {
    let x = i32s(&[3, 2], &[1, 2, 3, 4, 5, 6]);
    let dims = GatherDims {
        offset_dims: vec![1],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: 1,
        ..GatherDims::default()
    };
    let op = LibOp::Gather { dims, slice_sizes: vec![1, 2], indices_are_sorted: false };
    let rows = call(op, &[x.clone(), i32s(&[4], &[2, 0, 7, -1])], &[], &[ty(DType::I32, &[4, 2])]);
    assert_eq!(rows[0], i32s(&[4, 2], &[5, 6, 1, 2, 5, 6, 1, 2]));
    let dims = ScatterDims {
        update_window_dims: vec![1],
        inserted_window_dims: vec![0],
        scatter_dims_to_operand_dims: vec![0],
        index_vector_dim: 1,
        ..ScatterDims::default()
    };
    let op = LibOp::Scatter { dims, indices_are_sorted: false, unique_indices: false };
    let add = [(vec![DType::I32; 2], BinaryOp::Add)];
    let args = [x, i32s(&[3], &[1, 1, 5]), i32s(&[3, 2], &[10, 20, 100, 200, 7, 7])];
    let sums = call(op, &args, &add, &[ty(DType::I32, &[3, 2])]);
    assert_eq!(sums[0], i32s(&[3, 2], &[1, 2, 113, 224, 5, 6]));
}

/// `result[b, k] = x[b, index[b, k]]`, and the scatter that undoes it.
#[test]
fn batching_axes() {
    let x = i32s(&[2, 3], &[1, 2, 3, 4, 5, 6]);
    let indices = i32s(&[2, 2, 1], &[2, 0, 1, 9]);
    let dims = GatherDims {
        collapsed_slice_dims: vec![1],
        operand_batching_dims: vec![0],
        start_indices_batching_dims: vec![0],
        start_index_map: vec![1],
        index_vector_dim: 2,
        ..GatherDims::default()
    };
    let op = LibOp::Gather { dims, slice_sizes: vec![1, 1], indices_are_sorted: false };
    let taken = call(op, &[x, indices.clone()], &[], &[ty(DType::I32, &[2, 2])]).remove(0);
    assert_eq!(taken, i32s(&[2, 2], &[3, 1, 5, 6]));
    let dims = ScatterDims {
        inserted_window_dims: vec![1],
        input_batching_dims: vec![0],
        scatter_indices_batching_dims: vec![0],
        scatter_dims_to_operand_dims: vec![1],
        index_vector_dim: 2,
        ..ScatterDims::default()
    };
    let op = LibOp::Scatter { dims, indices_are_sorted: false, unique_indices: false };
    let add = [(vec![DType::I32; 2], BinaryOp::Add)];
    let args = [i32s(&[2, 3], &[0; 6]), indices, taken];
    let put = call(op, &args, &add, &[ty(DType::I32, &[2, 3])]);
    assert_eq!(put[0], i32s(&[2, 3], &[1, 0, 3, 0, 5, 0]));
}

#[test]
fn transforms_and_linear_algebra() {
    let real = |b: &Buffer| (0..b.len()).map(|i| b.get(i).as_f64()).collect::<Vec<_>>();
    let op = LibOp::Fft { kind: FftKind::Rfft, lengths: vec![4] };
    let spectrum = call(op, &[f32s(&[4], &[1., 2., 3., 4.])], &[], &[ty(DType::C64, &[3])]);
    assert_eq!(real(&spectrum[0]), [10.0, -2.0, -2.0]);
    let a = f32s(&[2, 2], &[4., 2., 2., 5.]);
    let l = call(LibOp::Cholesky { lower: true }, &[a], &[], &[ty(DType::F32, &[2, 2])]).remove(0);
    assert_eq!(real(&l), [2.0, 0.0, 1.0, 2.0]);
    let op = LibOp::TriangularSolve {
        left_side: true,
        lower: true,
        unit_diagonal: false,
        transpose: Transpose::No,
    };
    let x = call(op, &[l, f32s(&[2, 1], &[4., 6.])], &[], &[ty(DType::F32, &[2, 1])]);
    assert_eq!(real(&x[0]), [2.0, 2.0]);
}

#[test]
fn sorting_and_folding() {
    let x = i32s(&[2, 3], &[3, 1, 2, 6, 5, 4]);
    let less = [(vec![DType::I32; 2], BinaryOp::Lt)];
    // The helper compares parameters 0 and 1.
    let sorted = call(
        LibOp::Sort { axis: 1, stable: true },
        std::slice::from_ref(&x),
        &less,
        &[ty(DType::I32, &[2, 3])],
    );
    assert_eq!(sorted[0], i32s(&[2, 3], &[1, 2, 3, 4, 5, 6]));
    let sub = [(vec![DType::I32; 2], BinaryOp::Sub)];
    let op = LibOp::Reduce { axes: vec![1] };
    let folded = call(op, &[x, i32s(&[], &[100])], &sub, &[ty(DType::I32, &[2])]);
    assert_eq!(folded[0], i32s(&[2], &[94, 85]));
}

#[test]
fn windows() {
    let x = i32s(&[4], &[1, 5, 3, 2]);
    let window = Window {
        sizes: vec![2],
        strides: vec![1],
        base_dilations: vec![1],
        window_dilations: vec![1],
        padding: vec![(1, 0)],
    };
    let max = [(vec![DType::I32; 2], BinaryOp::Max)];
    let op = LibOp::ReduceWindow { window: window.clone() };
    let pooled = call(op, &[x.clone(), i32s(&[], &[-9])], &max, &[ty(DType::I32, &[4])]);
    assert_eq!(pooled[0], i32s(&[4], &[1, 5, 5, 3]));
    let regions = [(vec![DType::I32; 2], BinaryOp::Ge), (vec![DType::I32; 2], BinaryOp::Add)];
    let args = [x, i32s(&[4], &[1, 10, 100, 1000]), i32s(&[], &[0])];
    let spread = call(LibOp::SelectAndScatter { window }, &args, &regions, &[ty(DType::I32, &[4])]);
    assert_eq!(spread[0], i32s(&[4], &[1, 110, 1000, 0]));
}

#[test]
fn bits_of_another_width() {
    let op = LibOp::BitcastReshape { to: DType::U8 };
    let bytes = call(op, &[i32s(&[1], &[0x04030201])], &[], &[ty(DType::U8, &[1, 4])]);
    assert_eq!(bytes[0].bytes(), &[1, 2, 3, 4]);
}

#[test]
fn arguments_are_checked() {
    let program = Program { name: String::new(), functions: vec![matmul(2, 3, 2, DType::F32)] };
    let error = run(&program, "main", &[f32s(&[2, 3], &[0.; 6]), f32s(&[2, 3], &[0.; 6])]).unwrap_err();
    assert_eq!(error.to_string(), "the argument `v1` is f32[2, 3] where f32[3,2] is needed");
    assert!(matches!(run(&program, "main", &[]), Err(InterpError::Arguments { expected: 2, found: 0 })));
    assert!(matches!(run(&program, "other", &[]), Err(InterpError::NoFunction(_))));
}

/// Run with `cargo test --release -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let args = [f32s(&[128, 128], &[1.0; 128 * 128]), f32s(&[128, 128], &[1.0; 128 * 128])];
    let start = std::time::Instant::now();
    run_one(matmul(128, 128, 128, DType::F32), &args);
    println!("a product of 128x128 matrices: {:?}", start.elapsed());
}
