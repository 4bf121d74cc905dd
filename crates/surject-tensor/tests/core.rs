//! The spine of the crate through its Rust interface: shapes, gradients and programs of small graphs.

use surject_ir::{Buffer, DType, Scalar, interp};
use surject_notation::ShapeSpec;
use surject_tensor::{Graph, LowerOptions, Lowered, RowSizes, Site, Sizes, Tensor, lower};

fn input(graph: &Graph, name: &str, shape: &str) -> Tensor {
    graph.input(name, Some(&ShapeSpec::parse(shape).unwrap()), Site::default()).unwrap()
}

fn parameter(graph: &Graph, name: &str, output: Option<u64>) -> Tensor {
    let output = output.map_or(RowSizes::Free, |n| RowSizes::Sizes(vec![n.into()]));
    let sizes = Sizes { output, ..Sizes::default() };
    let init = graph.uniform(&Sizes::default(), None, Site::default());
    graph.parameter(name, &init, &sizes, Site::default()).unwrap()
}

fn buffer(shape: &[usize], values: &[f64]) -> Buffer {
    let values: Vec<Scalar> = values.iter().map(|x| Scalar::from_f64(DType::F64, *x)).collect();
    Buffer::from_scalars(DType::F64, shape, &values).unwrap()
}

fn lowered(graph: &Graph) -> Lowered {
    let lowered = lower(graph, &LowerOptions { dtype: DType::F64, ..LowerOptions::default() }).unwrap();
    surject_ir::verify(&lowered.program).unwrap();
    lowered
}

fn values(buffer: &Buffer) -> Vec<f64> {
    (0..buffer.len()).map(|i| buffer.get(i).as_f64()).collect()
}

#[test]
fn a_layer_gets_its_shapes_and_its_gradients() {
    let graph = Graph::new();
    let x = input(&graph, "x", "3|2");
    let w = parameter(&graph, "w", None);
    let b = parameter(&graph, "b", Some(4));
    let relu = Tensor::apply("relu", &[&(&(&w * &x) + &b)]).unwrap().named("h");
    let all = surject_notation::Spec::parse("...|...->... => 0").unwrap();
    let all = surject_tensor::spec::prepare(&all, &surject_tensor::spec::Surroundings::default()).unwrap();
    let sum = surject_tensor::prelude::operator("sum").unwrap();
    let logic = surject_shape::Logic::Spec(std::sync::Arc::new(all.template));
    let (loss, _) = graph.apply(&sum, Some(logic), &[&relu], Site::named("loss")).unwrap();
    graph.backprop(&loss);
    for t in [&loss, &w.grad(), &b.grad()] {
        graph.output(t);
    }
    let lowered = lowered(&graph);
    assert_eq!(graph.shape(&w).unwrap().to_string(), "2->4");
    assert_eq!(graph.shape(&relu).unwrap().to_string(), "3|4");
    let x = buffer(&[3, 2], &[1.0, 2.0, -1.0, 0.5, 3.0, -2.0]);
    let w = buffer(&[4, 2], &[0.5, -1.0, 1.0, 1.0, -0.5, 0.25, 2.0, 0.0]);
    let b = buffer(&[4], &[0.1, -0.2, 0.3, 0.0]);
    let results = interp::run(&lowered.program, "main", &[x.clone(), w.clone(), b.clone()]).unwrap();
    // By hand: h = relu(x wᵀ + b).
    let (x, w, b) = (values(&x), values(&w), values(&b));
    let (mut loss, mut gw, mut gb) = (0.0, vec![0.0; 8], vec![0.0; 4]);
    for n in 0..3 {
        for o in 0..4 {
            let h = b[o] + (0..2).map(|i| w[2 * o + i] * x[2 * n + i]).sum::<f64>();
            if h > 0.0 {
                loss += h;
                gb[o] += 1.0;
                (0..2).for_each(|i| gw[2 * o + i] += x[2 * n + i]);
            }
        }
    }
    let order: Vec<&str> = lowered.state.iter().map(|p| p.label.as_str()).collect();
    assert_eq!(order, ["w", "b"]);
    assert!((values(&results[0])[0] - loss).abs() < 1e-12);
    assert_eq!(values(&results[1]), gw);
    assert_eq!(values(&results[2]), gb);
    let first =
        interp::run(&lowered.program, "init", &[Buffer::splat(Scalar::from_i128(DType::U32, 7), &[])])
            .unwrap();
    assert!(values(&first[0]).iter().all(|x| (0.0..1.0).contains(x)));
    assert_ne!(values(&first[0])[0], values(&first[0])[1]);
}
