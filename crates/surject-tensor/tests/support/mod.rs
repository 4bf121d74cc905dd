//! Running sources on the reference interpreter in f64, and comparing their gradients with central differences.

#![allow(dead_code)] // every test binary takes its part

use std::collections::HashMap;
use surject_ir::{Buffer, DType, Scalar, interp};
use surject_tensor::{LowerOptions, Lowered, NodeId, NodeKind, Session, Tensor, lower};

/// A small generator of numbers (splitmix64): tests have the same inputs everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.word() >> 11) as f64 / (1u64 << 53) as f64
    }
}

pub fn values(buffer: &Buffer) -> Vec<f64> {
    (0..buffer.len()).map(|i| buffer.get(i).as_f64()).collect()
}

pub fn buffer(dtype: DType, shape: &[usize], values: &[f64]) -> Buffer {
    let scalars: Vec<Scalar> = values
        .iter()
        .map(|x| {
            if dtype.is_float() { Scalar::from_f64(dtype, *x) } else { Scalar::from_i128(dtype, *x as i128) }
        })
        .collect();
    Buffer::from_scalars(dtype, shape, &scalars).unwrap()
}

/// A source that was lowered to f64.
pub struct Program {
    pub session: Session,
    pub lowered: Lowered,
}

/// A result: its shape as sizes in memory order, and its values.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

impl Program {
    pub fn of(text: &str) -> Program {
        Program::with(text, |_| {})
    }

    /// The program of a text after more was added to its graph.
    pub fn with(text: &str, more: impl FnOnce(&Session)) -> Program {
        let mut session = Session::new("test.sj", text);
        if let Err(error) = session.run_text() {
            panic!("{}", session.render(&error));
        }
        more(&session);
        let options = LowerOptions { dtype: DType::F64, seed: 5, ..LowerOptions::default() };
        let lowered = match lower(session.graph(), &options) {
            Ok(lowered) => lowered,
            Err(error) => panic!("{}\n{text}", session.render(&error)),
        };
        if let Err(error) = surject_ir::verify(&lowered.program) {
            panic!("{error}\n{}", surject_ir::print(&lowered.program));
        }
        Program { session, lowered }
    }

    /// The names and the numbers of values of what a run takes.
    pub fn arguments(&self) -> Vec<(String, Vec<usize>, DType)> {
        let ports = self.lowered.inputs.iter().chain(&self.lowered.indices).chain(&self.lowered.state);
        ports
            .map(|p| {
                let sizes = p.ty.space.sizes().unwrap().iter().map(|n| *n as usize).collect();
                (p.label.clone(), sizes, p.ty.dtype)
            })
            .collect()
    }

    /// Runs `main` on values by name; what has none is zero.
    pub fn run(&self, given: &HashMap<String, Vec<f64>>) -> Vec<Output> {
        let arguments: Vec<Buffer> = self
            .arguments()
            .into_iter()
            .map(|(name, shape, dtype)| {
                let zeros = vec![0.0; shape.iter().product()];
                buffer(dtype, &shape, given.get(&name).unwrap_or(&zeros))
            })
            .collect();
        let results = interp::run(&self.lowered.program, "main", &arguments).unwrap();
        results.iter().map(|b| Output { shape: b.shape().to_vec(), values: values(b) }).collect()
    }

    /// The first values of the state by name.
    pub fn first_values(&self, seed: u32) -> HashMap<String, Vec<f64>> {
        let seed = Buffer::splat(Scalar::from_i128(DType::U32, seed.into()), &[]);
        let results = interp::run(&self.lowered.program, "init", &[seed]).unwrap();
        self.lowered.state.iter().map(|p| p.label.clone()).zip(results.iter().map(values)).collect()
    }
}

/// Runs a text without state; gives its outputs.
pub fn run(text: &str, given: &[(&str, &[f64])]) -> Vec<Output> {
    let given = given.iter().map(|(n, v)| (n.to_string(), v.to_vec())).collect();
    Program::of(text).run(&given)
}

/// Inputs and parameters of a session, by name.
fn leaves(session: &Session) -> Vec<Tensor> {
    let graph = session.graph();
    let leaf = |id: &NodeId| matches!(graph.node(*id).kind, NodeKind::Input | NodeKind::Parameter { .. });
    (0..graph.len() as u32).map(NodeId).filter(leaf).map(|id| graph.tensor(id)).collect()
}

/// How gradients are checked.
pub struct Check<'a> {
    /// The interval of the random values, by default -2 to 2.
    pub range: (f64, f64),
    /// Values of leaves by name; they are not differentiated.
    pub fixed: &'a [(&'a str, &'a [f64])],
    /// Values of leaves by name that are differentiated.
    pub given: &'a [(&'a str, &'a [f64])],
    /// The largest difference, relative to one plus the gradient.
    pub tolerance: f64,
    /// At most so many positions of a tensor are checked.
    pub positions: usize,
}

impl Default for Check<'_> {
    fn default() -> Self {
        Check { range: (-2.0, 2.0), fixed: &[], given: &[], tolerance: 1e-6, positions: 24 }
    }
}

/// Compares the gradients of the scalar `loss` of a text, by all its inputs and parameters, with central differences.
/// Gives the greatest difference.
pub fn check_gradients(text: &str, check: &Check<'_>) -> f64 {
    let mut names = Vec::new();
    let gradient = Program::with(text, |session| {
        let loss = session.tensor("loss").unwrap();
        session.graph().backprop(&loss);
        session.graph().output(&loss);
        for leaf in leaves(session) {
            if !check.fixed.iter().any(|(name, _)| *name == leaf.label()) {
                session.graph().output(&leaf.grad());
                names.push(leaf.label());
            }
        }
    });
    let forward = Program::with(text, |session| session.graph().output(&session.tensor("loss").unwrap()));
    let mut random = Random(7);
    let mut given: HashMap<String, Vec<f64>> = HashMap::new();
    for (name, shape, _) in gradient.arguments().into_iter().chain(forward.arguments()) {
        let known = check.fixed.iter().chain(check.given).find(|(n, _)| *n == name);
        let count: usize = shape.iter().product();
        given.entry(name).or_insert_with(|| match known {
            Some((_, values)) => values.to_vec(),
            None => (0..count).map(|_| random.within(check.range.0, check.range.1)).collect(),
        });
    }
    let results = gradient.run(&given);
    assert_eq!(results[0].values.len(), 1, "the loss is no scalar: {text}");
    let loss = |given: &HashMap<String, Vec<f64>>| forward.run(given)[0].values[0];
    assert!(
        (loss(&given) - results[0].values[0]).abs() <= 1e-12 * (1.0 + results[0].values[0].abs()),
        "{text}"
    );
    let mut worst = 0.0f64;
    for (name, found) in names.iter().zip(&results[1..]) {
        let count = found.values.len();
        let step = count.div_ceil(check.positions).max(1);
        for at in (0..count).step_by(step) {
            let x = given[name][at];
            let h = 1e-5 * (1.0 + x.abs());
            let mut at_point = |y: f64| {
                given.get_mut(name).unwrap()[at] = y;
                loss(&given)
            };
            let (above, below) = (at_point(x + h), at_point(x - h));
            at_point(x);
            let expected = (above - below) / ((x + h) - (x - h));
            let difference = (expected - found.values[at]).abs() / (1.0 + expected.abs());
            assert!(
                difference <= check.tolerance,
                "{text}\n`{name}`[{at}] of {:?}: {} by the program, {expected} by differences",
                found.shape,
                found.values[at]
            );
            worst = worst.max(difference);
        }
    }
    worst
}
