//! Updates of slices: their kernels give what the interpreter gives, wherever positions point.

use surject_codegen::kernels::expression::Tensor as KernelTensor;
use surject_codegen::kernels::library::Call;
use surject_gpu::Gpu;
use surject_ir::testing::random_args;
use surject_ir::{Buffer, DType, Program, Scalar, Var, interp, parse};
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
    let bits = dtype.bits();
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
    let call = Call::of(function, &function.body.statements[0]).expect("a call");
    let gpu = Gpu::named("sm_90a").unwrap();
    let made = Call { in_place: &[true], ..call }.kernels(&gpu, "k").expect("its sizes are numbers");
    // Every argument of the call is one of the function; the target is a copy of the operand.
    let argument = |var: &Var| &args[function.params.iter().position(|p| p == var).unwrap()];
    let mut result = tensor(argument(&call.args[0]));
    for launch in &made.launches {
        let kernel = &launch.kernel;
        verify(kernel).unwrap_or_else(|e| panic!("{e}\n{kernel}"));
        let of = |t: &KernelTensor| match t {
            KernelTensor::Var(var) if *var == call.targets[0] => result.clone(),
            KernelTensor::Var(var) => tensor(argument(var)),
            other => panic!("{other:?}"),
        };
        let mut tensors: Vec<Tensor> = launch.tensors.iter().map(of).collect();
        run(kernel, &[], &mut tensors, &Options::default())
            .unwrap_or_else(|e| panic!("{e}\n{kernel}\n{text}"));
        let at = launch.tensors.iter().position(|t| *t == KernelTensor::Var(call.targets[0])).unwrap();
        result = tensors.swap_remove(at);
    }
    assert_eq!(expected.len(), 1);
    assert!((0..result.len()).all(|i| result.get(i).is_some()), "{text}");
    assert_eq!(result.bytes(), expected[0].bytes(), "{text}\n{args:?}");
}

#[test]
fn updates_at_positions_of_every_kind() {
    let mut random = Random(11);
    for round in 0..300 {
        let rank = random.below(4);
        let sizes: Vec<usize> = (0..rank).map(|_| 1 + random.below(9)).collect();
        let slice: Vec<usize> = sizes.iter().map(|&n| random.below(n + 1)).collect();
        let (element, position) = (*random.pick(&ELEMENTS), *random.pick(&POSITIONS));
        let starts: Vec<String> = (0..rank).map(|i| format!("k{i}")).collect();
        let mut params = vec![format!("a: {element}[{}]", list(&sizes))];
        params.push(format!("u: {element}[{}]", list(&slice)));
        let call = format!("y : {element}[{}] = call dynamic_update_slice(a, u", list(&sizes));
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
