//! Programs against central differences: the gradients by slots of every kind of index map.

use std::sync::Arc;
use surject_ir::{Buffer, DType, Scalar, interp};
use surject_notation::{ShapeSpec, Spec};
use surject_shape::Logic;
use surject_tensor::spec::{Surroundings, prepare};
use surject_tensor::{Graph, LowerOptions, Operator, Site, SizeRef, Tensor, lower, prelude};

struct Case {
    operator: &'static str,
    spec: &'static str,
    shapes: &'static [&'static str],
    /// Labels with a size, for windows.
    sizes: &'static [(&'static str, u64)],
    /// What the result is expected to be.
    result: &'static str,
}

const CASES: &[Case] = &[
    Case { operator: "mul", spec: "ij;jk=>ik", shapes: &["2,3", "3,4"], sizes: &[], result: "2,4" },
    Case { operator: "mul", spec: "i;j=>ij", shapes: &["2", "3"], sizes: &[], result: "2,3" },
    Case { operator: "sum", spec: "i=>ii", shapes: &["3"], sizes: &[], result: "3,3" },
    Case { operator: "sum", spec: "ii=>i", shapes: &["3,3"], sizes: &[], result: "3" },
    Case { operator: "sum", spec: "i=>i0", shapes: &["3"], sizes: &[], result: "3,1" },
    Case { operator: "sum", spec: "i2=>i", shapes: &["3,4"], sizes: &[], result: "3" },
    Case { operator: "sum", spec: "a^b=>a", shapes: &["5"], sizes: &[("a", 2)], result: "2" },
    Case { operator: "sum", spec: "2^b^1=>b", shapes: &["6"], sizes: &[], result: "3" },
    Case {
        operator: "mul",
        spec: "oh=+kh, ow=+kw; kh, kw => oh, ow",
        shapes: &["4,5", "3,2"],
        sizes: &[],
        result: "4,5",
    },
    Case {
        operator: "mul",
        spec: "2*oh=+kh, c; kh, c => oh",
        shapes: &["6,2", "3,2"],
        sizes: &[],
        result: "3",
    },
    Case { operator: "mul", spec: "oh=+2*kh; kh => oh", shapes: &["5", "3"], sizes: &[], result: "5" },
    Case { operator: "mul", spec: "2*oh<+3*kh; kh => oh", shapes: &["9", "3"], sizes: &[], result: "2" },
    Case { operator: "mul", spec: "o<+k; k => o", shapes: &["3", "3"], sizes: &[], result: "1" },
    Case { operator: "mul", spec: "2*o; o => o", shapes: &["6", "3"], sizes: &[], result: "3" },
    Case {
        operator: "max_reduce",
        spec: "2*o<+w, c => o, c",
        shapes: &["7,2"],
        sizes: &[("w", 3)],
        result: "3,2",
    },
    Case { operator: "max_reduce", spec: "2*o=+w => o", shapes: &["6"], sizes: &[("w", 3)], result: "3" },
    Case {
        operator: "max_reduce",
        spec: "... | ...->... => ...|...->0",
        shapes: &["2|3->4"],
        sizes: &[],
        result: "2|3->1",
    },
    Case { operator: "tropical", spec: "2*o=+k; k => o", shapes: &["4", "3"], sizes: &[], result: "2" },
    Case {
        operator: "sum",
        spec: "..v..|i->o => o|..v..->i",
        shapes: &["2|3->4"],
        sizes: &[],
        result: "4|2->3",
    },
];

fn buffer(space: &[usize], values: &[f64]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|x| Scalar::from_f64(DType::F64, *x)).collect();
    Buffer::from_scalars(DType::F64, space, &values).unwrap()
}

/// Numbers without ties and near-ties, so that maxima are smooth.
fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    for i in (1..count).rev() {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    let step = 0.31 + 0.013 * seed as f64;
    order.iter().map(|k| step * (*k as f64) - 0.17 * count as f64).collect()
}

/// The operands as inputs, the result, and a loss that weighs every element of the result differently.
fn check(case: &Case) {
    let graph = Graph::new();
    let operands: Vec<Tensor> = case
        .shapes
        .iter()
        .enumerate()
        .map(|(k, s)| {
            graph.input(&format!("x{k}"), Some(&ShapeSpec::parse(s).unwrap()), Site::default()).unwrap()
        })
        .collect();
    let refs: Vec<&Tensor> = operands.iter().collect();
    let apply = |name: &str, spec: &str, operands: &[&Tensor]| {
        let prepared = prepare(&Spec::parse(spec).unwrap(), &Surroundings::default()).unwrap();
        let logic = Logic::Spec(Arc::new(prepared.template));
        graph
            .apply_sized(
                &operator(name),
                Some(logic),
                operands,
                &prepared.sizes,
                Site { spec: Some(spec.into()), ..Site::default() },
            )
            .unwrap_or_else(|e| panic!("{spec}: {e}"))
    };
    let (y, instance) = apply(case.operator, case.spec, &refs);
    for (label, size) in case.sizes {
        graph.set_size(SizeRef::Dim(instance.dims[*label]), *size, &Site::default()).unwrap();
    }
    graph.infer().unwrap_or_else(|e| panic!("{}: {e}", case.spec));
    let shape = graph.shape(&y).unwrap();
    assert_eq!(shape.to_string(), case.result, "{}", case.spec);
    let positions = shape.in_memory_order().iter().map(|d| d.size().expect("a number") as usize).product();
    let weights = graph.data(&shape, numbers(positions, 3), Site::default()).unwrap();
    let weighted = Tensor::apply("mul", &[&y, &weights]).unwrap();
    let (loss, _) = apply("sum", "...|...->... => 0", &[&weighted]);
    graph.backprop(&loss);
    graph.output(&loss);
    operands.iter().for_each(|x| graph.output(&x.grad()));
    let lowered = lower(&graph, &LowerOptions { dtype: DType::F64, ..LowerOptions::default() })
        .unwrap_or_else(|e| panic!("{}: {e}", case.spec));
    surject_ir::verify(&lowered.program).unwrap_or_else(|e| panic!("{}: {e}", case.spec));
    let shapes: Vec<Vec<usize>> = lowered
        .inputs
        .iter()
        .map(|p| p.ty.space.sizes().unwrap().iter().map(|n| *n as usize).collect())
        .collect();
    let mut inputs: Vec<Vec<f64>> =
        shapes.iter().enumerate().map(|(k, s)| numbers(s.iter().product(), 11 + k as u64)).collect();
    let run = |inputs: &[Vec<f64>]| {
        let buffers: Vec<Buffer> = shapes.iter().zip(inputs).map(|(s, x)| buffer(s, x)).collect();
        interp::run(&lowered.program, "main", &buffers).unwrap()
    };
    let results = run(&inputs);
    let h = 1e-5;
    for k in 0..inputs.len() {
        for i in 0..inputs[k].len() {
            let x = inputs[k][i];
            let mut at = |v: f64| {
                inputs[k][i] = v;
                run(&inputs)[0].get(0).as_f64()
            };
            let expected = (at(x + h) - at(x - h)) / (2.0 * h);
            inputs[k][i] = x;
            let found = results[k + 1].get(i).as_f64();
            assert!(
                (expected - found).abs() < 1e-6 * (1.0 + expected.abs()),
                "{}: operand {k} at {i}: {found}, not {expected}",
                case.spec
            );
        }
    }
}

fn operator(name: &str) -> Arc<Operator> {
    prelude::operator(name).unwrap()
}

#[test]
fn gradients_by_slots_are_the_central_differences() {
    for case in CASES {
        check(case);
    }
}
