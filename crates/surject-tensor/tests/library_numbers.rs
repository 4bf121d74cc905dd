//! Numbers of the library: padding and strides by hand, first values, state, optimisers. The other numeric cases are in
//! `cases_values.rs`.

mod support;

use std::collections::HashMap;
use support::{Output, Program, Random, run};

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (x, y) in found.iter().zip(expected) {
        assert!((x - y).abs() <= 1e-12 * (1.0 + y.abs()), "{found:?} and not {expected:?}");
    }
}

fn is(output: &Output, shape: &[usize], values: &[f64]) {
    assert_eq!((&output.shape[..], &output.values[..]), (shape, values));
}

#[test]
fn cv05_backward_through_a_strided_convolution() {
    let text = "input x: \"6,6,1\"; input k: \"3,3,1->4\";
        let y = x +* k \"2*oh=+kh, 2*ow=+kw, ic; kh, kw, ic -> oc => oh, ow, oc\";
        let loss = y ++ \"...|... => 0\"; loss.backprop; let g = k.grad; output loss, g;";
    let found = run(text, &[("x", &[1.0; 36]), ("k", &[1.0; 36])]);
    // Windows of nine at 3x3 places, of which a row and a column leave the image on the left.
    is(&found[0], &[1], &[4.0 * 64.0]);
    close(&found[1].values[..9], &[4.0, 6.0, 6.0, 6.0, 9.0, 9.0, 6.0, 9.0, 9.0]);
}

/// A padded sum and a padded maximum of one tensor: what lies outside is neutral for each of them.
#[test]
fn cv15_margins_are_neutral_for_every_reader() {
    let text = "let x = reshape(range(16), o: [4, 4]) - 16.0;
        let highest = x @^^ \"oh=+kh, ow=+kw => oh, ow\" [\"kh\", \"kw\"]; set_dim(kh, 3); set_dim(kw, 3);
        let sum = x ++ \"oh=+h, ow=+w => oh, ow\" [\"h\", \"w\"]; set_dim(h, 3); set_dim(w, 3);
        output highest, sum;";
    let found = run(text, &[]);
    assert_eq!((found[0].values[0], found[0].values[15]), (-11.0, -1.0));
    assert_eq!((found[1].values[0], found[1].values[5]), (-54.0, -99.0));
}

#[test]
fn first_values_have_their_moments() {
    let text =
        "input x: \"1|40\"; let a = { a = kaiming(), o = [50] } * x; let b = { b = xavier(), o = [60] } * x;
        let c = { c = normal(), o = [50] } * x; let d = { d = kaiming_normal(), o = [50] } * x;
        let e = { e = xavier_normal(), o = [60] } * x; let f = { f, o = [50] } * x; output a, b, c, d, e, f;";
    let program = Program::of(text);
    let first = program.first_values(3);
    let expected = [
        ("a", 2.0 / 40.0),
        ("b", 2.0 / 100.0),
        ("c", 1.0),
        ("d", 2.0 / 40.0),
        ("e", 2.0 / 100.0),
        ("f", 0.25 / 12.0),
    ];
    for (name, variance) in expected {
        let values = &first[name];
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let found = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        assert!(mean.abs() < 4.0 * (variance / n).sqrt(), "{name}: mean {mean}");
        assert!((found / variance - 1.0).abs() < 0.12, "{name}: variance {found}, not {variance}");
        assert!(values.iter().all(|x| x.is_finite()));
    }
    let bound = |name: &str| first[name].iter().fold(0.0f64, |m, x| m.max(x.abs()));
    assert!(
        bound("a") <= (6.0f64 / 40.0).sqrt() && bound("b") <= (6.0f64 / 100.0).sqrt() && bound("f") <= 0.25
    );
    assert_eq!(first["a"], program.first_values(3)["a"]);
    assert_ne!(first["a"], program.first_values(4)["a"]);
}

#[test]
fn dropout_keeps_its_share() {
    let text = "input x: \"20|100\"; index step < 10; let y = dropout(0.3)()(x, step);
        let loss = y ++ \"...|... => 0\"; loss.backprop; let g = x.grad; output y, g;";
    let program = Program::of(text);
    let x: Vec<f64> = (0..2000).map(|i| 1.0 + f64::from(i)).collect();
    let at = |step: f64| {
        program.run(&HashMap::from([("x".to_string(), x.clone()), ("step".to_string(), vec![step])]))
    };
    let (first, again, other) = (at(2.0), at(2.0), at(3.0));
    assert_eq!(first, again);
    assert_ne!(first, other);
    let kept = first[0].values.iter().filter(|y| **y != 0.0).count() as f64;
    assert!((kept / 2000.0 - 0.7).abs() < 0.05, "{kept}");
    for ((x, y), g) in x.iter().zip(&first[0].values).zip(&first[1].values) {
        assert!(*y == 0.0 && *g == 0.0 || (y - x / 0.7).abs() < 1e-9 && (g - 1.0 / 0.7).abs() < 1e-12);
    }
}

/// What was computed before an assignment has the gradient of the values that it was computed with.
#[test]
fn gradients_are_of_the_values_that_were_read() {
    let text = "input x: \"2\"; let y = { w, o = [2] } *. w *. x; y.forward; w =: 10.0 *. w;
        let loss = y ++ \"i=>0\"; loss.backprop; let g = w.grad; output loss, g, w;";
    let program = Program::of(text);
    let given = [("x", vec![2.0, 3.0]), ("w", vec![1.0, 5.0])].map(|(n, v)| (n.to_string(), v));
    let found = program.run(&HashMap::from(given));
    assert_eq!(found[0].values, [2.0 + 75.0]);
    assert_eq!(found[1].values, [4.0, 30.0]);
    assert_eq!(found[2].values, [10.0, 50.0]);
}

/// Runs `main` again and again, each time with the state that it left.
fn train(
    program: &Program,
    given: &[(&str, Vec<f64>)],
    state: &mut HashMap<String, Vec<f64>>,
) -> Vec<Output> {
    let mut all = state.clone();
    all.extend(given.iter().map(|(n, v)| (n.to_string(), v.clone())));
    let results = program.run(&all);
    let outputs = program.lowered.outputs.len();
    for (update, value) in program.lowered.updates.iter().zip(&results[outputs..]) {
        state.insert(program.lowered.state[*update].label.clone(), value.values.clone());
    }
    results[..outputs].to_vec()
}

#[test]
fn running_statistics() {
    let text = "input x: \"4|2\"; input training: \"\"; let layer = batch_norm1d_running(momentum: 0.8, epsilon: 0.0)();
        let y = layer(x, training); output y;";
    let program = Program::of(text);
    let mut state =
        HashMap::from([("layer.gamma".to_string(), vec![1.0; 2]), ("layer.beta".to_string(), vec![0.0; 2])]);
    let mut random = Random(3);
    let (mut mean, mut variance) = ([0.0; 2], [1.0; 2]);
    for training in [1.0, 1.0, 0.0, 1.0, 0.0] {
        let x: Vec<f64> = (0..8).map(|_| random.within(-1.0, 3.0)).collect();
        let found = train(&program, &[("x", x.clone()), ("training", vec![training])], &mut state);
        for c in 0..2 {
            let column: Vec<f64> = x.iter().skip(c).step_by(2).copied().collect();
            let m = column.iter().sum::<f64>() / 4.0;
            let v = column.iter().map(|x| (x - m).powi(2)).sum::<f64>() / 4.0;
            if training == 1.0 {
                mean[c] += 0.2 * (m - mean[c]);
                variance[c] += 0.2 * (v - variance[c]);
            }
            let (m, v) = if training == 1.0 { (m, v) } else { (mean[c], variance[c]) };
            let expected: Vec<f64> = column.iter().map(|x| (x - m) / v.sqrt()).collect();
            close(&found[0].values.iter().skip(c).step_by(2).copied().collect::<Vec<_>>(), &expected);
        }
    }
}

/// Minimises the distance of two parameters from what is given; the optimiser is written out in Rust.
fn optimises(optimiser: &str, mut step: impl FnMut(usize, f64, f64) -> f64) {
    let text = format!(
        "input t: \"3\"; input s: \"2\"; let d = {{ w, o = [3] }} - t; let e = {{ u, o = [2] }} - s;
         let loss = ((d *. d) ++ \"i=>0\") + ((e *. e *. e *. e) ++ \"i=>0\"); loss.backprop;
         update(loss, {optimiser}); output loss;"
    );
    let program = Program::of(&text);
    let (t, s) = (vec![1.0, -2.0, 0.5], vec![0.3, 0.8]);
    let mut state =
        HashMap::from([("w".to_string(), vec![0.1, 0.2, 0.3]), ("u".to_string(), vec![-1.0, 2.0])]);
    let mut expected = [vec![0.1, 0.2, 0.3], vec![-1.0, 2.0]];
    for _ in 0..5 {
        train(&program, &[("t", t.clone()), ("s", s.clone())], &mut state);
        let mut place = 0;
        for (k, goal) in [&t, &s].into_iter().enumerate() {
            for (x, goal) in expected[k].iter_mut().zip(goal) {
                let distance = *x - goal;
                let gradient = if k == 0 { 2.0 * distance } else { 4.0 * distance.powi(3) };
                *x = step(place, *x, gradient);
                place += 1;
            }
        }
        close(&state["w"], &expected[0]);
        close(&state["u"], &expected[1]);
    }
}

#[test]
fn stochastic_gradient_descent() {
    optimises("sgd(learning_rate: 0.05)", |_, x, g| x - 0.05 * g);
    let mut velocity = [0.0; 5];
    optimises("sgd(learning_rate: 0.02, momentum: 0.9, weight_decay: 0.1)", |k, x, g| {
        velocity[k] = 0.9 * velocity[k] + g + 0.1 * x;
        x - 0.02 * velocity[k]
    });
    let mut velocity = [0.0; 5];
    optimises("sgd(learning_rate: 0.02, momentum: 0.9, nesterov: 1.0)", |k, x, g| {
        velocity[k] = 0.9 * velocity[k] + g;
        x - 0.02 * (g + 0.9 * velocity[k])
    });
}

#[test]
fn adam_and_its_weight_decay() {
    for (optimiser, decay, apart) in [
        ("adam(learning_rate: 0.1)", 0.0, false),
        ("adam(learning_rate: 0.1, weight_decay: 0.2)", 0.2, false),
        ("adamw(learning_rate: 0.1, weight_decay: 0.2)", 0.2, true),
    ] {
        let mut state = [(0, 0.0f64, 0.0f64); 5];
        optimises(optimiser, |k, x, g| {
            let (steps, m, v) = &mut state[k];
            let g = if apart { g } else { g + decay * x };
            *steps += 1;
            *m = 0.9 * *m + 0.1 * g;
            *v = 0.999 * *v + 0.001 * g * g;
            let (m, v) = (*m / (1.0 - 0.9f64.powi(*steps)), *v / (1.0 - 0.999f64.powi(*steps)));
            x - 0.1 * (m / (v.sqrt() + 1e-8) + if apart { decay * x } else { 0.0 })
        });
    }
}

/// One network, one loss, some steps: it gets better.
#[test]
fn a_network_learns() {
    let text = "input x: \"16|2\"; input t: \"16|1\"; let net = mlp([8, 8])(); let loss = mean_squared_error(net(x), t);
        loss.backprop; update(loss, adam(learning_rate: 0.02)); output loss;";
    let program = Program::of(text);
    let mut state = program.first_values(1);
    let mut random = Random(1);
    let x: Vec<f64> = (0..32).map(|_| random.within(-1.0, 1.0)).collect();
    let t: Vec<f64> = x.chunks(2).map(|p| p[0] * p[1]).collect();
    let given = [("x", x), ("t", t)];
    let losses: Vec<f64> = (0..150).map(|_| train(&program, &given, &mut state)[0].values[0]).collect();
    assert!(losses[149] < 0.1 * losses[0], "{} to {}", losses[0], losses[149]);
}
