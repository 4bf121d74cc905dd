//! The two ways to a gradient agree: forward maps re-addressed by slot (seed 003), which the tensor front end does, and
//! the adjoint law on the forward program.

use surject_adjoint::{Mode, Options, Ties, gradient};
use surject_ir::{Buffer, DType, Scalar, interp};
use surject_tensor::{LowerOptions, Session, lower};

const PROGRAMS: &[(&str, &str)] = &[
    (
        "mlp",
        r#"input x: "6|5"; input t: "6|3"; let net = mlp([7, 4])(); let loss = cross_entropy(net(x), t);"#,
    ),
    (
        "convolutions and pooling",
        r#"input x: "2|8,8,2"; input t: "2|3";
           let net = lenet(channels1: 3, channels2: 4, hidden1: 5, hidden2: 6, kernel_size: 3)();
           let loss = cross_entropy(net(x), t);"#,
    ),
    (
        "strides, dilation, average pooling",
        r#"input x: "2|9,9,2";
           let a = conv2d(3, kernel_size: 3, stride: 2, use_padding: false)();
           let b = conv2d(2, kernel_size: 2, dilation: 2)();
           let y = avg_pool2d()()(tanh(b(a(x))));
           let loss = (y *. y) ++ "...|... => 0";"#,
    ),
    (
        "attention",
        r#"input x: "2,5|6"; let block = encoder_block(2, 3, 3, 8, mask: causal)();
           let y = block(x); let loss = (y *. sin(x)) ++ "...|... => 0";"#,
    ),
    (
        "broadcasting, concatenation, fixed positions",
        r#"input x: "3|4"; input y: "4"; let z = exp(x - y) +* { w, o = [2] } "b|i; i->o => b|o";
           let both = [z, -z] ++^ "b|i; b|j => b|i^j"; let first = both ++ "b|0 => b|";
           let loss = (first *. log(1.0 + both *. both)) ++ "...|... => 0";"#,
    ),
    (
        "batch norm and a residual block",
        r#"input x: "3|4,4,2"; let net = resnet_block(2)(); let y = net(x);
           let loss = (y *. sin(x)) ++ "...|... => 0";"#,
    ),
];

/// Numbers without ties.
fn numbers(dtype: DType, sizes: &[usize], seed: usize) -> Buffer {
    let count: usize = sizes.iter().product();
    let value =
        |i: usize| 1.7 * (((i * 7919 + seed * 104_729) % 1_000_003) as f64 * 0.618_033_988_75).fract() - 0.8;
    let values: Vec<Scalar> = (0..count).map(|i| Scalar::from_f64(dtype, value(i))).collect();
    Buffer::from_scalars(dtype, sizes, &values).unwrap()
}

#[test]
fn slots_and_the_adjoint_law_agree() {
    for (name, text) in PROGRAMS {
        // By slots: the graph asks for the gradient of everything.
        let options = LowerOptions { dtype: DType::F64, ..LowerOptions::default() };
        let build = |gradients: bool| {
            let mut session = Session::new(name, text);
            session.run_text().unwrap_or_else(|e| panic!("{name}: {}", session.render(&e)));
            let graph = session.graph().clone();
            let loss = session.tensor("loss").unwrap();
            graph.output(&loss);
            let forward = lower(&graph, &options).unwrap_or_else(|e| panic!("{name}: {e}"));
            if gradients {
                graph.backprop(&loss);
                for port in forward.inputs.iter().chain(&forward.state) {
                    graph.output(&graph.tensor(port.node).grad());
                }
            }
            lower(&graph, &options).unwrap_or_else(|e| panic!("{name}: {e}"))
        };
        let (forward, by_slots) = (build(false), build(true));
        assert!(forward.updates.is_empty());
        let labels =
            |l: &surject_tensor::Lowered| l.state.iter().map(|p| p.label.clone()).collect::<Vec<_>>();
        assert_eq!(labels(&forward), labels(&by_slots), "{name}");
        let mut arguments: Vec<Buffer> = forward
            .inputs
            .iter()
            .chain(&forward.state)
            .enumerate()
            // No element is where a function has a corner: there the conventions of the two differ.
            .map(|(k, p)| {
                let sizes: Vec<usize> = p.ty.space.sizes().unwrap().iter().map(|n| *n as usize).collect();
                numbers(DType::F64, &sizes, k)
            })
            .collect();
        let expected = interp::run(&by_slots.program, "main", &arguments).unwrap();

        // By the adjoint law: the forward program is all it sees.
        let vjp = Options { mode: Mode::Vjp, ties: Ties::All, ..Options::default() };
        let derived = gradient(&forward.program, "main", &vjp).unwrap_or_else(|e| panic!("{name}: {e}"));
        arguments.push(Buffer::splat(Scalar::from_f64(DType::F64, 1.0), &[1]));
        let found = interp::run(&derived, "main", &arguments).unwrap();

        assert_eq!(expected.len(), found.len(), "{name}");
        for (k, (a, b)) in expected.iter().zip(&found).enumerate() {
            assert_eq!(a.shape(), b.shape(), "{name}: result {k}");
            for i in 0..a.len() {
                let (a, b) = (a.get(i).as_f64(), b.get(i).as_f64());
                assert!(
                    (a - b).abs() <= 1e-9 * (1.0 + a.abs()),
                    "{name}: result {k} at {i}: {a} by slots, {b} by the law"
                );
            }
        }
    }
}
