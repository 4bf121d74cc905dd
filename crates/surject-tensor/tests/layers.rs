//! The layers of the library: their shapes, their gradients against central differences in f64, their values against
//! references that `layers.py` computed.

mod support;

use std::collections::HashMap;
use std::fmt::Write as _;
use support::{Check, Program, Random, check_gradients};

/// A layer as it is used.
struct Case {
    name: &'static str,
    /// What gives `y`.
    text: &'static str,
    /// The shape of `y`.
    shape: &'static str,
    /// Leaves with values of their own, which are not differentiated.
    fixed: &'static [(&'static str, &'static [f64])],
}

const fn case(name: &'static str, text: &'static str, shape: &'static str) -> Case {
    Case { name, text, shape, fixed: &[] }
}

const CASES: &[Case] = &[
    case("silu", "input x: \"2|5\"; let y = silu(x);", "2|5"),
    case("gelu", "input x: \"2|5\"; let y = gelu(x);", "2|5"),
    case("gelu_tanh", "input x: \"2|5\"; let y = gelu_tanh(x);", "2|5"),
    case("leaky_relu", "input x: \"2|5\"; let y = leaky_relu(slope: 0.1)()(x);", "2|5"),
    case("elu", "input x: \"2|5\"; let y = elu(x);", "2|5"),
    case("dense", "input x: \"2|5\"; let layer = dense(3)(); let y = layer(x);", "2|3"),
    case("mlp", "input x: \"2|5\"; input t: \"2|2\"; let net = mlp([4, 3])(); let y = net(x) - t;", "2|2"),
    case("softmax", "input x: \"2|5\"; let y = softmax()()(x);", "2|5"),
    case(
        "softmax_of_inputs",
        "input x: \"2|5->3\"; let y = softmax(spec: \"...|..t.. -> ... => ...|...\", temperature: 0.5)()(x);",
        "2|5->3",
    ),
    case("softmax_in_the_middle", "input x: \"2|4,3\"; let y = softmax(spec: \"...|a, b => ...|0, b\")()(x);", "2|4,3"),
    case("log_softmax", "input x: \"2|5\"; let y = log_softmax()()(x);", "2|5"),
    case("layer_norm", "input x: \"2|5\"; let layer = layer_norm()(); let y = layer(x);", "2|5"),
    case("layer_norm_of_two_axes", "input x: \"2|3,2\"; let layer = layer_norm(epsilon: 0.1)(); let y = layer(x);", "2|3,2"),
    case("rms_norm", "input x: \"2|5\"; let layer = rms_norm()(); let y = layer(x);", "2|5"),
    case("batch_norm1d", "input x: \"4|3\"; let layer = batch_norm1d()(); let y = layer(x);", "4|3"),
    case("batch_norm2d", "input x: \"3|4,2,3\"; let layer = batch_norm2d(epsilon: 0.01)(); let y = layer(x);", "3|4,2,3"),
    case("conv2d", "input x: \"2|5,6,2\"; let layer = conv2d(3)(); let y = layer(x);", "2|5,6,3"),
    case(
        "conv2d_valid_stride",
        "input x: \"2|7,5,2\"; let layer = conv2d(3, kernel_size: 3, stride: 2, use_padding: false)(); let y = layer(x);",
        "2|3,2,3",
    ),
    case(
        "conv2d_padded_stride",
        "input x: \"2|6,4,2\"; let layer = conv2d(3, kernel_size: 3, stride: 2)(); let y = layer(x);",
        "2|3,2,3",
    ),
    case(
        "conv2d_dilated",
        "input x: \"1|7,6,1\"; let layer = conv2d(2, dilation: 2)(); let y = layer(x);",
        "1|7,6,2",
    ),
    case(
        "conv2d_dilated_valid",
        "input x: \"1|7,6,1\"; let layer = conv2d(2, dilation: 2, use_padding: false)(); let y = layer(x);",
        "1|3,2,2",
    ),
    case("conv2d_of_one", "input x: \"2|3,3,4\"; let layer = conv2d(2, kernel_size: 1)(); let y = layer(x);", "2|3,3,2"),
    case("conv2d_even", "input x: \"1|4,4,1\"; let layer = conv2d(1, kernel_size: 2)(); let y = layer(x);", "1|4,4,1"),
    case("conv1d", "input x: \"2|6,2\"; let layer = conv1d(3)(); let y = layer(x);", "2|6,3"),
    case(
        "depthwise_separable_conv2d",
        "input x: \"2|4,5,3\"; let layer = depthwise_separable_conv2d(2)(); let y = layer(x);",
        "2|4,5,2",
    ),
    case("max_pool2d", "input x: \"2|4,6,2\"; let y = max_pool2d()()(x);", "2|2,3,2"),
    case("max_pool2d_overlapping", "input x: \"2|7,7,2\"; let y = max_pool2d(window_size: 3)()(x);", "2|3,3,2"),
    case(
        "max_pool2d_padded",
        "input x: \"2|4,4,2\"; let y = max_pool2d(window_size: 3, stride: 1, use_padding: true)()(x);",
        "2|4,4,2",
    ),
    case("avg_pool2d", "input x: \"2|4,6,2\"; let y = avg_pool2d()()(x);", "2|2,3,2"),
    case("global_avg_pool2d", "input x: \"2|4,3,2\"; let y = global_avg_pool2d(x);", "2|2"),
    case("conv_bn_relu", "input x: \"2|4,4,1\"; let layer = conv_bn_relu(2)(); let y = layer(x);", "2|4,4,2"),
    case("resnet_block", "input x: \"2|4,4,2\"; let layer = resnet_block(2)(); let y = layer(x);", "2|4,4,2"),
    case(
        "resnet_block_down",
        "input x: \"2|4,4,2\"; let layer = resnet_block_down(3, stride: 2)(); let y = layer(x);",
        "2|2,2,3",
    ),
    case(
        "lenet",
        "input x: \"2|8,8,1\"; input t: \"2|3\";
         let net = lenet(channels1: 2, channels2: 3, hidden1: 6, hidden2: 5, kernel_size: 3)(); let y = net(x) - t;",
        "2|3",
    ),
    case("interleave", "input a: \"2|3\"; input b: \"2|3\"; let y = interleave(a, b);", "2|6"),
    Case {
        fixed: &[("ids", &[2.0, 0.0, 3.0])],
        ..case("embedding", "input ids: \"3|\"; let layer = embedding(2, 4)(); let y = layer(ids);", "3|2")
    },
    case("sinusoidal_positions", "input x: \"2,5|6\"; let y = sinusoidal_positions()()(x);", "2,5|6"),
    case("learned_positions", "input x: \"2,5|6\"; let layer = learned_positions(); let y = layer(x);", "2,5|6"),
    case("rope", "input x: \"2,5|3,4\"; let y = rope()()(x);", "2,5|3,4"),
    case("causal", "input x: \"2,3|3->2\"; let y = softmax(spec: \"...|..t..->... => ...|...\")()(causal(x));", "2,3|3->2"),
    case(
        "dot_product_attention",
        "input q: \"2,3|2,4\"; input k: \"2,5|2,4\"; input v: \"2,5|2,3\"; let y = dot_product_attention()()(q, k, v);",
        "2,3|2,3",
    ),
    case(
        "multi_head_attention",
        "input x: \"2,3|4\"; let layer = multi_head_attention(2, 3, 2)(); let y = x + layer(x);",
        "2,3|4",
    ),
    case(
        "causal_attention_with_rope",
        "input x: \"2,3|4\"; let layer = multi_head_attention(2, 4, 3, rotate: rope()(), mask: causal)(); let y = x + layer(x);",
        "2,3|4",
    ),
    case(
        "cross_attention",
        "input x: \"2,3|4\"; input m: \"2,5|6\"; let layer = cross_attention(2, 3, 2)(); let y = x + layer(x, m);",
        "2,3|4",
    ),
    case("encoder_block", "input x: \"2,3|4\"; let block = encoder_block(2, 2, 3, 5)(); let y = block(x);", "2,3|4"),
    case(
        "decoder_block",
        "input x: \"2,3|4\"; input m: \"2,4|5\"; let block = decoder_block(2, 2, 3, 5)(); let y = block(x, m);",
        "2,3|4",
    ),
    case("encoder", "input x: \"2,3|4\"; let net = encoder(2, 2, 2, 2, 4)(); let y = net(x);", "2,3|4"),
    case(
        "decoder",
        "input x: \"2,3|4\"; input m: \"2,4|5\"; let net = decoder(2, 2, 2, 3, 5)(); let y = net(x, m);",
        "2,3|4",
    ),
    case("decoder_only", "input x: \"2,3|4\"; let net = decoder_only(2, 2, 2, 2, 4)(); let y = net(x);", "2,3|4"),
    case(
        "transformer",
        "input s: \"1,3|5\"; input t: \"1,2|6\"; input goal: \"1,2|4\";
         let net = transformer(1, 2, 4, 2, 2, 3)(); let y = net(s, t) - goal;",
        "1,2|4",
    ),
    case("cross_entropy", "input x: \"3|4\"; input t: \"3|4\"; let y = cross_entropy(x, t);", "unit"),
    case("mean_squared_error", "input x: \"3|4\"; input t: \"3|4\"; let y = mean_squared_error(x, t);", "unit"),
    case("binary_cross_entropy", "input x: \"3|4\"; input t: \"3|4\"; let y = binary_cross_entropy(x, t);", "unit"),
    case("hinge_loss", "input x: \"3|4\"; input t: \"3|4\"; let y = hinge_loss(x, t);", "unit"),
];

#[test]
fn shapes() {
    for case in CASES {
        let program = Program::with(case.text, |s| s.graph().output(&s.tensor("y").unwrap()));
        let y = program.session.tensor("y").unwrap();
        let shape = program.session.graph().shape(&y).unwrap().to_string();
        assert_eq!(shape, case.shape, "{}", case.name);
    }
}

#[test]
fn gradients() {
    let mut failed = Vec::new();
    for case in CASES {
        let text = format!("{} input weight; let loss = (y *. weight) ++ \"...|...->... => 0\";", case.text);
        let check = Check { fixed: case.fixed, range: (-1.5, 1.5), tolerance: 2e-6, ..Check::default() };
        let checked = std::panic::catch_unwind(|| check_gradients(&text, &check));
        if checked.is_err() {
            failed.push(case.name);
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Random numbers are the same going forward and back.
#[test]
fn gradients_through_dropout() {
    for (shape, y) in [
        ("4|5", "dropout(0.4)()(x, step)"),
        ("2,3|4", "encoder_block(2, 2, 2, 3, drop: |w| dropout(0.3)()(w, step))()(x)"),
        ("3|4", "x + 0.1 *. normal_at(step) *. x"),
    ] {
        let text = format!(
            "input x: \"{shape}\"; index step < 9; input weight; let y = {y};
             let loss = (y *. weight) ++ \"...|...->... => 0\";"
        );
        check_gradients(&text, &Check { fixed: &[("step", &[4.0])], tolerance: 2e-6, ..Check::default() });
    }
}

/// The values of a leaf, which `layers.py` draws alike: from the bytes of its name.
fn drawn(name: &str, count: usize) -> Vec<f64> {
    let seed =
        name.bytes().fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01B3));
    let mut random = Random(seed);
    (0..count).map(|_| random.within(-1.0, 1.0)).collect()
}

/// What `layers.py` computed, a line a case: the name, and the values of `y` in memory order.
const REFERENCES: &str = include_str!("layers.txt");

#[test]
fn values() {
    let mut wrong = String::new();
    let references: HashMap<&str, Vec<f64>> = REFERENCES
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, numbers)| (name, numbers.split(' ').map(|x| x.parse().unwrap()).collect()))
        .collect();
    for case in CASES {
        let program = Program::with(case.text, |s| s.graph().output(&s.tensor("y").unwrap()));
        let given = program.arguments().into_iter().map(|(name, shape, _)| {
            let fixed = case.fixed.iter().find(|(n, _)| *n == name).map(|(_, values)| values.to_vec());
            let values = fixed.unwrap_or_else(|| drawn(&name, shape.iter().product()));
            (name, values)
        });
        let found = program.run(&given.collect()).remove(0).values;
        let Some(expected) = references.get(case.name) else {
            let ports: Vec<String> =
                program.arguments().iter().map(|(n, shape, _)| format!("{n} {shape:?}")).collect();
            writeln!(wrong, "{}: no reference; {}", case.name, ports.join(", ")).unwrap();
            continue;
        };
        let close = |(x, y): (&f64, &f64)| (x - y).abs() <= 1e-9 * (1.0 + y.abs());
        if found.len() != expected.len() || !found.iter().zip(expected).all(close) {
            let worst = found.iter().zip(expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            writeln!(wrong, "{}: differs by {worst} of {} and {}", case.name, found.len(), expected.len())
                .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
