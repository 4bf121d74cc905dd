//! Library operations that move elements: their kernels give what the interpreter gives, wherever positions point.

use surject_gpu::library::{Call, Form, Shape, form};
use surject_ir::testing::random_args;
use surject_ir::{Buffer, DType, Program, Scalar, StatementKind, interp, parse};
use surject_kernel::interpret::{Options, Tensor, run};
use surject_kernel::verify;

/// A generator of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

fn list(sizes: &[usize]) -> String {
    sizes.iter().map(usize::to_string).collect::<Vec<String>>().join(",")
}

/// Positions inside, outside, and as far away as their type has numbers.
fn positions(random: &mut Random, dtype: DType, sizes: &[usize]) -> Buffer {
    let bits = dtype.bits() as u32;
    let signed = dtype.is_signed_int();
    let ends = match signed {
        true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
        false => (0, (1i128 << bits) - 1),
    };
    let count = sizes.iter().product();
    let values: Vec<Scalar> = (0..count)
        .map(|_| {
            let near = random.below(12) as i128 - if signed { 4 } else { 0 };
            let value = *random.pick(&[near, near, near, ends.0, ends.1]);
            Scalar::from_i128(dtype, value)
        })
        .collect();
    Buffer::from_scalars(dtype, sizes, &values).unwrap()
}

const POSITIONS: [DType; 6] = [DType::I32, DType::I64, DType::U64, DType::U8, DType::I8, DType::U32];
const ELEMENTS: [&str; 7] = ["f32", "i8", "f64", "c64", "i1", "bf16", "c128"];

/// The elements of a buffer as a kernel has them.
fn tensor(buffer: &Buffer) -> Tensor {
    Tensor::of_bytes(buffer.dtype().part(), buffer.bytes())
}

/// Compares the kernel of the only statement of a program with the interpreter.
fn check(program: &Program, args: &[Buffer]) {
    let text = surject_ir::print(program);
    let function = program.main().unwrap();
    let expected = interp::run(program, "main", args).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let StatementKind::Call { op, args: vars, regions, .. } = &function.body.statements[0].kind else {
        panic!("a call")
    };
    let shape = |buffer: &Buffer| Shape {
        dtype: buffer.dtype(),
        sizes: buffer.shape().iter().map(|&n| n as i64).collect(),
    };
    // Every argument of the call is one of the function.
    let operands: Vec<&Buffer> =
        vars.iter().map(|v| &args[function.params.iter().position(|p| p == v).unwrap()]).collect();
    let shapes: Vec<Shape> = operands.iter().map(|b| shape(b)).collect();
    let results: Vec<Shape> = expected.iter().map(shape).collect();
    let call = Call { function, op, regions, args: &shapes, results: &results };
    let found = form(&call, "k").unwrap().unwrap_or_else(|| panic!("a form\n{text}"));
    let empty = |b: &Buffer| Tensor::unwritten(b.dtype().part(), tensor(b).len());
    let (kernel, from, out): (_, _, Vec<Tensor>) = match &found {
        Form::Kernel(kernel) => (kernel, 0, expected.iter().map(empty).collect()),
        Form::Update(kernel) => (kernel, 1, vec![tensor(operands[0])]),
        Form::Copy => {
            assert_eq!(operands[0].bytes(), expected[0].bytes());
            return;
        }
    };
    verify(kernel).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
    let mut tensors: Vec<Tensor> = operands[from..].iter().map(|b| tensor(b)).chain(out).collect();
    run(kernel, &[], &mut tensors, &Options::default()).unwrap_or_else(|e| panic!("{e}\n{kernel}\n{text}"));
    for (result, expected) in tensors[tensors.len() - expected.len()..].iter().zip(&expected) {
        assert!((0..result.len()).all(|i| result.get(i).is_some()), "{text}");
        assert_eq!(result.bytes(), expected.bytes(), "{text}\n{args:?}");
    }
}

#[test]
fn slices_at_positions_of_every_kind() {
    let mut random = Random(11);
    for round in 0..300 {
        let rank = random.below(4);
        let sizes: Vec<usize> = (0..rank).map(|_| 1 + random.below(9)).collect();
        let slice: Vec<usize> = sizes.iter().map(|&n| random.below(n + 1)).collect();
        let (element, position) = (*random.pick(&ELEMENTS), *random.pick(&POSITIONS));
        let starts: Vec<String> = (0..rank).map(|i| format!("k{i}")).collect();
        let mut params = vec![format!("a: {element}[{}]", list(&sizes))];
        let updates = round % 2 == 0;
        let call = if updates {
            params.push(format!("u: {element}[{}]", list(&slice)));
            format!("y : {element}[{}] = call dynamic_update_slice(a, u", list(&sizes))
        } else {
            format!("y : {element}[{}] = call dynamic_slice{{sizes=[{}]}}(a", list(&slice), list(&slice))
        };
        params.extend(starts.iter().map(|k| format!("{k}: {position}[]")));
        let call = starts.iter().fold(call, |call, k| format!("{call}, {k}"));
        let text = format!("program p\n\nfunc main({}) -> (y) {{\n  {call})\n}}\n", params.join(", "));
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut args = random_args(program.main().unwrap(), round);
        let first = args.len() - rank;
        for arg in &mut args[first..] {
            *arg = positions(&mut random, position, &[]);
        }
        check(&program, &args);
    }
}

/// Gathers with and without axes of batches, with the axis of the index vector anywhere or nowhere.
#[test]
fn gathers_at_positions_of_every_kind() {
    let mut random = Random(5);
    for round in 0..200 {
        let (element, position) = (*random.pick(&ELEMENTS), *random.pick(&POSITIONS));
        let (batch, rows, columns) = (1 + random.below(4), 1 + random.below(6), 1 + random.below(7));
        let (width, count) = (1 + random.below(columns), 1 + random.below(5));
        let (operand, indices, dims, slice, result) = match round % 4 {
            // Rows, by an index without an axis of its own.
            0 => (
                vec![rows, columns],
                vec![count],
                "offset_dims=[1],collapsed_slice_dims=[0],operand_batching_dims=[],start_indices_batching_dims=[],\
                 start_index_map=[0],index_vector_dim=1",
                vec![1, columns],
                vec![count, columns],
            ),
            // Parts of rows, by both coordinates, with the index vector first.
            1 => (
                vec![rows, columns],
                vec![2, count],
                "offset_dims=[0],collapsed_slice_dims=[0],operand_batching_dims=[],start_indices_batching_dims=[],\
                 start_index_map=[1,0],index_vector_dim=0",
                vec![1, width],
                vec![width, count],
            ),
            // In each batch its own rows.
            2 => (
                vec![batch, rows, columns],
                vec![batch, count, 1],
                "offset_dims=[2],collapsed_slice_dims=[1],operand_batching_dims=[0],start_indices_batching_dims=[0],\
                 start_index_map=[1],index_vector_dim=2",
                vec![1, 1, columns],
                vec![batch, count, columns],
            ),
            // Windows that keep their axes.
            _ => (
                vec![rows, columns],
                vec![count, 2],
                "offset_dims=[1,2],collapsed_slice_dims=[],operand_batching_dims=[],start_indices_batching_dims=[],\
                 start_index_map=[0,1],index_vector_dim=1",
                vec![1, width],
                vec![count, 1, width],
            ),
        };
        let text = format!(
            "program p\n\nfunc main(a: {element}[{}], k: {position}[{}]) -> (y) {{\n  y : {element}[{}] = call \
             gather{{{dims},slice_sizes=[{}],indices_are_sorted=false}}(a, k)\n}}\n",
            list(&operand),
            list(&indices),
            list(&result),
            list(&slice)
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut args = random_args(program.main().unwrap(), round);
        args[1] = positions(&mut random, position, &indices);
        check(&program, &args);
    }
}

/// Values with their positions, along any axes.
#[test]
fn reductions_by_a_region() {
    let mut random = Random(3);
    for round in 0..60 {
        let rank = 1 + random.below(3);
        let sizes: Vec<usize> = (0..rank).map(|_| random.below(7)).collect();
        let axes: Vec<usize> = (0..rank).filter(|_| random.below(2) == 0).collect();
        let kept: Vec<usize> = (0..rank).filter(|a| !axes.contains(a)).map(|a| sizes[a]).collect();
        let element = *random.pick(&["f32", "i32", "f16", "u8"]);
        let (all, kept) = (list(&sizes), list(&kept));
        let text = format!(
            "program p\n\nfunc main(a: {element}[{all}], n: i32[{all}], x: {element}[], y: i32[]) -> (v, w) {{\n  \
             v : {element}[{kept}], w : i32[{kept}] = call reduce{{axes=[{}]}}(a, n, x, y) {{\n    \
             region(p: {element}[], q: i32[], r: {element}[], s: i32[]) -> (t, u) {{\n      \
             more : i1[] =: p > r\n      same : i1[] =: p == r\n      less : i1[] =: q < s\n      \
             first : i1[] =: or(more, and(same, less))\n      t : {element}[] =: select(more, p, r)\n      \
             u : i32[] =: select(first, q, s + 1i32)\n    }}\n  }}\n}}\n",
            list(&axes)
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        check(&program, &random_args(program.main().unwrap(), round));
    }
}

/// Updates that meet are joined in order, by regions that are not commutative too; those outside are dropped.
#[test]
fn scatters_by_a_region() {
    let mut random = Random(17);
    for round in 0..80 {
        let (element, position) = (*random.pick(&["f32", "i32", "bf16", "i1"]), *random.pick(&POSITIONS));
        let (rows, columns) = (1 + random.below(6), 1 + random.below(7));
        let (batch, count) = (1 + random.below(3), random.below(9));
        let join = match element {
            "i1" => "xor(x, y)",
            _ => *random.pick(&["x + y", "y", "max(x, y)", "y - x"]),
        };
        let (operand, indices, updates, dims) = match round % 3 {
            // Rows.
            0 => (
                vec![rows, columns],
                vec![count, 1],
                vec![count, columns],
                "update_window_dims=[1],inserted_window_dims=[0],input_batching_dims=[],\
                 scatter_indices_batching_dims=[],scatter_dims_to_operand_dims=[0],index_vector_dim=1",
            ),
            // Elements, by both coordinates, with the index vector first.
            1 => (
                vec![rows, columns],
                vec![2, count],
                vec![count],
                "update_window_dims=[],inserted_window_dims=[0,1],input_batching_dims=[],\
                 scatter_indices_batching_dims=[],scatter_dims_to_operand_dims=[1,0],index_vector_dim=0",
            ),
            // In each batch its own rows.
            _ => (
                vec![batch, rows, columns],
                vec![batch, count, 1],
                vec![batch, count, columns],
                "update_window_dims=[2],inserted_window_dims=[1],input_batching_dims=[0],\
                 scatter_indices_batching_dims=[0],scatter_dims_to_operand_dims=[1],index_vector_dim=2",
            ),
        };
        let text = format!(
            "program p\n\nfunc main(a: {element}[{0}], k: {position}[{1}], u: {element}[{2}]) -> (o) {{\n  \
             o : {element}[{0}] = call scatter{{{dims},indices_are_sorted=false,unique_indices=false}}(a, k, u) {{\n    \
             region(x: {element}[], y: {element}[]) -> (z) {{\n      z : {element}[] =: {join}\n    }}\n  }}\n}}\n",
            list(&operand),
            list(&indices),
            list(&updates)
        );
        let program = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let mut args = random_args(program.main().unwrap(), round);
        args[1] = positions(&mut random, position, &indices);
        check(&program, &args);
    }
}
