//! Programs of any size for measurements: what networks are made of, and what is hard about them.

use std::sync::Arc;
use surject_shape::{
    Axis, Dim, Origin, Role, Row, Shape, ShapeError, Solver, Template, TemplateRow, TemplateShape,
};

/// A program that was built.
pub struct Built {
    /// The solver, with everything added and nothing closed.
    pub solver: Solver,
    /// The number of operations.
    pub operations: usize,
    /// The last tensor, and what it closes to.
    pub last: Shape,
    /// The shape of the last tensor.
    pub expected: &'static str,
}

/// A way to make a program of about so many operations.
pub struct Workload {
    /// A name for tables.
    pub name: &'static str,
    /// What it is made of.
    pub about: &'static str,
    /// Makes it.
    pub build: fn(usize) -> Result<Built, ShapeError>,
}

/// All of them.
pub const WORKLOADS: [Workload; 6] = [
    Workload {
        name: "chain",
        about: "composition with a parameter and addition of one, in turn",
        build: chain,
    },
    Workload { name: "residual", about: "residual blocks, two layers with biases each", build: residual },
    Workload { name: "fan-out", about: "one open tensor used by every operation", build: fan_out },
    Workload {
        name: "free rows",
        about: "compositions whose hidden rows nothing but the ends determines",
        build: free_rows,
    },
    Workload { name: "specs", about: "a spec with a batch row variable for each layer", build: specs },
    Workload { name: "sum", about: "a balanced tree of additions over open leaves", build: sum },
];

struct Maker {
    solver: Solver,
    operations: usize,
}

impl Maker {
    fn new() -> Maker {
        Maker { solver: Solver::new(), operations: 0 }
    }

    fn origin(&mut self, operation: &str) -> Arc<Origin> {
        self.operations += 1;
        Arc::new(Origin::operation(format!("{operation} {}", self.operations)))
    }

    /// A parameter, with its output size where one is given.
    fn parameter(&mut self, output: Option<u64>) -> Result<Shape, ShapeError> {
        let origin = Arc::new(Origin::operation("parameter"));
        let mut shape = self.solver.fresh_parameter();
        if let Some(size) = output {
            shape.output = Row::closed([size]);
        }
        self.solver.terminal(&shape, Role::Param, &origin)?;
        Ok(shape)
    }

    fn compose(&mut self, a: &Shape, b: &Shape) -> Result<Shape, ShapeError> {
        let (origin, result) = (self.origin("compose"), self.solver.fresh_shape());
        self.solver.compose(a, b, &result, &origin)?;
        Ok(result)
    }

    fn pointwise(&mut self, operands: &[&Shape]) -> Result<Shape, ShapeError> {
        let (origin, result) = (self.origin("pointwise"), self.solver.fresh_shape());
        self.solver.pointwise(operands, &result, &origin)?;
        Ok(result)
    }

    fn built(self, last: Shape, expected: &'static str) -> Result<Built, ShapeError> {
        Ok(Built { solver: self.solver, operations: self.operations, last, expected })
    }
}

fn data(batch: u64, output: u64) -> Shape {
    Shape::closed(&[Dim::new(batch)], &[], &[Dim::new(output)])
}

fn chain(operations: usize) -> Result<Built, ShapeError> {
    let mut make = Maker::new();
    let mut last = data(32, 64);
    for i in 0..operations {
        last = if i % 2 == 0 {
            let weight = make.parameter(Some(64))?;
            make.compose(&weight, &last)?
        } else {
            let bias = make.parameter(None)?;
            make.pointwise(&[&last, &bias])?
        };
    }
    make.built(last, "32|64")
}

fn residual(operations: usize) -> Result<Built, ShapeError> {
    let mut make = Maker::new();
    let mut x = data(32, 64);
    while make.operations < operations {
        let (w1, b1) = (make.parameter(Some(256))?, make.parameter(None)?);
        let (w2, b2) = (make.parameter(None)?, make.parameter(None)?);
        let inner = make.compose(&w1, &x)?;
        let inner = make.pointwise(&[&inner, &b1])?;
        let inner = make.pointwise(&[&inner])?;
        let outer = make.compose(&w2, &inner)?;
        let outer = make.pointwise(&[&outer, &b2])?;
        x = make.pointwise(&[&x, &outer])?;
    }
    make.built(x, "32|64")
}

fn fan_out(operations: usize) -> Result<Built, ShapeError> {
    let mut make = Maker::new();
    let origin = Arc::new(Origin::operation("leaf"));
    let shared = make.solver.fresh_shape();
    make.solver.terminal(&shared, Role::Leaf, &origin)?;
    let other = data(32, 64);
    let mut last = make.pointwise(&[&shared, &other])?;
    for _ in 1..operations {
        last = make.pointwise(&[&shared, &other])?;
    }
    make.built(last, "32|64")
}

fn free_rows(operations: usize) -> Result<Built, ShapeError> {
    let mut make = Maker::new();
    let mut last = data(32, 64);
    let origin = Arc::new(Origin::operation("weight"));
    for _ in 0..operations {
        let weight = make.solver.fresh_shape();
        make.solver.terminal(&weight, Role::Leaf, &origin)?;
        last = make.compose(&weight, &last)?;
    }
    let end = make.parameter(Some(10))?;
    let result = make.pointwise(&[&last, &end])?;
    make.built(result, "32|10")
}

fn label(name: &str) -> Axis {
    Axis::Label(name.to_string())
}

fn specs(operations: usize) -> Result<Built, ShapeError> {
    // `..b..|i; i->o => ..b..|o`
    let axes = |names: &[&str]| TemplateRow {
        trail: names.iter().map(|n| label(n)).collect(),
        ..TemplateRow::default()
    };
    let batch = TemplateRow { var: Some("b".into()), ..TemplateRow::default() };
    let template = Template {
        operands: vec![
            TemplateShape { batch: batch.clone(), output: axes(&["i"]), ..TemplateShape::default() },
            TemplateShape { input: axes(&["i"]), output: axes(&["o"]), ..TemplateShape::default() },
        ],
        result: TemplateShape { batch, output: axes(&["o"]), ..TemplateShape::default() },
        ..Template::default()
    };
    let mut make = Maker::new();
    let mut last = data(32, 64);
    for _ in 0..operations {
        let weight = make.parameter(Some(64))?;
        let (origin, result) = (make.origin("spec"), make.solver.fresh_shape());
        make.solver.einsum(&template, &[&last, &weight], &result, &origin)?;
        last = result;
    }
    make.built(last, "32|64")
}

fn sum(operations: usize) -> Result<Built, ShapeError> {
    let mut make = Maker::new();
    let origin = Arc::new(Origin::operation("leaf"));
    let mut level = vec![data(32, 64)];
    for _ in 0..operations {
        let leaf = make.solver.fresh_shape();
        make.solver.terminal(&leaf, Role::Leaf, &origin)?;
        level.push(leaf);
    }
    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        for pair in level.chunks(2) {
            next.push(match pair {
                [a, b] => make.pointwise(&[a, b])?,
                rest => rest[0].clone(),
            });
        }
        level = next;
    }
    let last = level.remove(0);
    make.built(last, "32|64")
}
