//! Errors: which constraints they name, and what they say.

#[allow(dead_code)] // Renaming is for the other tests.
mod generator;

use generator::{Family, lines};
use std::sync::Arc;
use surject_shape::{
    Constraint, Dim, DimTerm, Named, Origin, Role, Row, Shape, ShapeError, ShapeErrorKind, Solver, solve_text,
};

/// The errors of bare constraint problems.
#[test]
fn problems() {
    let problems = [
        "dim a = 3\ndim b = 7\ndim a = 4",
        "dim a = 3\ndim a = b\ndim b = c\ndim c = d\ndim d = 4\ndim a = d",
        "dim a = 4:rgb\ndim b = 4\ndim b = a",
        "row 2,..r..,4 <= 5,2,<>,4",
        "row 3,5 <= ..r..\nrow 7,5 <= ..s..\nrow 3,4 <= ..r..",
        "row ..x.. = 3,5:rgb\nrow ..x.. = ..y..\nrow ..y.. <= 3,5",
        "row 2,3,4 <= ..r..\nrow ..r.. <= 3,4",
        "row 2,3,..r.. = 2",
        "row <>,5 <= 3,<>",
        "row ..p..,2 <= ..q..\nrow ..q..,2 <= ..s..\nrow ..s.. <= ..p..",
        "row ..p..,2 = ..p..",
        "dim t = a ^ b\ndim a = 3\ndim b = 4\ndim t = 8",
        "dim t = a ^ b\ndim a = 3:x\ndim b = 4:y",
        "dim v = v ^ 3",
        "dim 7 = 2*o",
        "dim 10 = 2*o<+k\ndim k = 3",
        "dim 2 = 1*o<+2*k\ndim k = 3",
        "atleast a 5\ndim a = 3",
        "total 12 = 5,..r..",
        "total 3*v = ..r..\nrow ..r.. = 4,5",
        "exact 2,3 = ..r..; 4,5,6",
        "param row ..w..",
        "param dim h\nparam rest row ..w..\nrow h,..w.. <= ..x..",
        "total 0 = ..r..",
    ];
    let mut shown = String::new();
    for text in problems {
        let solution = solve_text("problem.con", text).unwrap();
        let error = solution.outcome.expect_err(text);
        shown.push_str(&format!("{text}\n--\n{error}\n\n"));
    }
    insta::assert_snapshot!(shown);
}

/// A program whose tensors have names.
#[derive(Default)]
struct Program {
    solver: Solver,
}

type Tensor = (Shape, Arc<Named>);

impl Program {
    fn named(name: &str, shape: Shape) -> Tensor {
        let named = Named::tensor(name, &shape);
        (shape, named)
    }

    fn data(&self, name: &str, batch: &[u64], input: &[u64], output: &[u64]) -> Tensor {
        let dims = |sizes: &[u64]| sizes.iter().map(|n| Dim::new(*n)).collect::<Vec<_>>();
        Program::named(name, Shape::closed(&dims(batch), &dims(input), &dims(output)))
    }

    fn parameter(&mut self, name: &str, output: Option<u64>) -> Tensor {
        let mut shape = self.solver.fresh_parameter();
        if let Some(size) = output {
            shape.output = Row::closed([size]);
        }
        let tensor = Program::named(name, shape);
        let origin = Origin::operation(format!("parameter {name}")).relating([tensor.1.clone()]);
        self.solver.terminal(&tensor.0, Role::Param, &Arc::new(origin)).unwrap();
        tensor
    }

    fn origin(text: &str, result: &Tensor, operands: &[&Tensor]) -> Arc<Origin> {
        let tensors = std::iter::once(result).chain(operands.iter().copied()).map(|t| t.1.clone());
        Arc::new(Origin::operation(text).relating(tensors))
    }

    fn add(&mut self, name: &str, operands: &[&Tensor]) -> Result<Tensor, ShapeError> {
        let result = Program::named(name, self.solver.fresh_shape());
        let text = operands.iter().map(|o| o.1.name.as_str()).collect::<Vec<_>>().join(" + ");
        let origin = Program::origin(&format!("{name} = {text}"), &result, operands);
        let shapes: Vec<&Shape> = operands.iter().map(|o| &o.0).collect();
        self.solver.pointwise(&shapes, &result.0, &origin)?;
        Ok(result)
    }

    fn compose(&mut self, name: &str, a: &Tensor, b: &Tensor) -> Result<Tensor, ShapeError> {
        let result = Program::named(name, self.solver.fresh_shape());
        let text = format!("{name} = {} * {}", a.1.name, b.1.name);
        let origin = Program::origin(&text, &result, &[a, b]);
        self.solver.compose(&a.0, &b.0, &result.0, &origin)?;
        Ok(result)
    }
}

/// Errors of programs name tensors, kinds of axes and positions.
#[test]
fn programs() {
    let mut shown = Vec::new();
    let mut show = |error: ShapeError| shown.push(error.to_string());

    let mut p = Program::default();
    let (x, w) = (p.data("x", &[32], &[], &[8]), p.parameter("w", Some(16)));
    let h = p.compose("h", &w, &x).unwrap();
    let b = p.data("b", &[], &[], &[10]);
    show(p.add("y", &[&h, &b]).unwrap_err());

    let mut p = Program::default();
    let (x, a) = (p.data("x", &[], &[], &[8]), p.data("a", &[], &[5], &[3]));
    show(p.compose("y", &a, &x).unwrap_err());

    let mut p = Program::default();
    let (x, a) = (p.data("x", &[], &[], &[4, 8]), p.data("a", &[], &[8], &[3]));
    show(p.compose("y", &a, &x).unwrap_err());

    // The chain is the short one, though other facts were there before.
    let mut p = Program::default();
    let x = p.data("x", &[32], &[], &[8]);
    let mut last = x.clone();
    for i in 0..6 {
        last = p.add(&format!("x{i}"), &[&last]).unwrap();
    }
    let short = p.add("short", &[&x]).unwrap();
    let wrong = p.data("wrong", &[64], &[], &[8]);
    show(p.add("sum", &[&last, &short, &wrong]).unwrap_err());

    let mut p = Program::default();
    let (x, w) = (p.data("x", &[32], &[], &[8]), p.parameter("w", None));
    p.compose("h", &w, &x).unwrap();
    show(p.solver.close().unwrap_err());

    // `ij;jk=>ik`: the axis has a letter.
    let mut p = Program::default();
    let (a, b) = (p.data("a", &[], &[], &[2, 3]), p.data("b", &[], &[], &[4, 5]));
    let [i, j, k] = ["i", "j", "k"].map(|letter| {
        let var = p.solver.fresh_dim();
        p.solver.name_axis(var, letter);
        DimTerm::Var(var)
    });
    let c = Program::named("c", p.solver.fresh_shape());
    let origin = Program::origin("c = einsum(a, b)", &c, &[&a, &b]);
    let origin = Arc::new(Origin { spec: Some("ij;jk=>ik".into()), ..(*origin).clone() });
    let equations = [(vec![i, j], &a), (vec![j, k], &b), (vec![i, k], &c)];
    let added = equations.into_iter().try_for_each(|(axes, tensor)| {
        p.solver.add(Constraint::RowEq(Row::closed(axes), tensor.0.output.clone()), &origin)
    });
    show(added.unwrap_err());
    insta::assert_snapshot!(shown.join("\n\n"));
}

/// No proper subset of the constraints that an error names is refuted, and of few constraints none of fewer is.
#[test]
fn chains_are_shortest() {
    let (mut errors, mut longer) = (0, Vec::new());
    for family in [Family::Relations, Family::Arithmetic] {
        for seed in 0..800 {
            let all = lines(family, seed);
            let solution = solve_text("a.con", &all.join("\n")).unwrap();
            let Err(error) = &solution.outcome else { continue };
            if error.guessed || matches!(error.kind, ShapeErrorKind::MissingHidden) {
                continue;
            }
            errors += 1;
            // What a component may be is part of every question.
            let fixed: Vec<&String> = all.iter().filter(|l| l.starts_with("discard")).collect();
            let others: Vec<&String> = all.iter().filter(|l| !l.starts_with("discard")).collect();
            let named =
                error.lines().iter().filter(|n| !all[**n as usize - 1].starts_with("discard")).count();
            let refuted = |chosen: u32| {
                let lines = others.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, l)| *l);
                let text: Vec<&str> = lines.chain(fixed.iter().copied()).map(String::as_str).collect();
                let solution = solve_text("b.con", &text.join("\n")).unwrap();
                solution.before_closing == Default::default()
                    && solution.outcome.is_err_and(|e| !e.guessed && e.kind != ShapeErrorKind::MissingHidden)
            };
            let fewer = (0..1u32 << others.len()).filter(|c| (c.count_ones() as usize) < named);
            if let Some(found) = fewer.into_iter().find(|c| refuted(*c)) {
                longer.push(format!("{family:?} {seed}: {found:b}\n{}\n{error}", all.join("\n")));
            }
        }
    }
    eprintln!("{} of {errors} chains are not shortest", longer.len());
    assert!(
        longer.len() * 100 <= errors,
        "{}",
        longer.iter().take(3).cloned().collect::<Vec<_>>().join("\n\n")
    );
}

/// Many operations between the two sides of a clash: the error is found and explained without looking at all of them.
#[test]
fn large_programs_are_explained() {
    let mut p = Program::default();
    let mut last = p.data("x", &[32], &[], &[8]);
    for i in 0..2_000 {
        let other = p.parameter(&format!("p{i}"), None);
        last = p.add(&format!("x{i}"), &[&last, &other]).unwrap();
    }
    let wrong = p.data("wrong", &[32], &[], &[9]);
    let error = p.add("sum", &[&last, &wrong]).unwrap_err();
    assert_eq!(
        error.message,
        "the last output axis of `x1999` is 8, but the last output axis of `wrong` is 9"
    );
    assert_eq!(error.labels[0].operation, "sum = x1999 + wrong");
}

/// An offset says which positions are read; the size of the axis does not depend on it (seed 000).
#[test]
fn an_offset_does_not_change_the_size() {
    let add = |padded: bool, offset: u64, kernel: bool| {
        let mut solver = Solver::new();
        let size = solver.fresh_dim().into();
        let kernel = kernel.then_some(surject_shape::Kernel { dilation: 1, size, padded });
        let (input, over) = (solver.fresh_dim().into(), 3.into());
        let law = Constraint::Affine { input, stride: 2, over, kernel, offset };
        solver.add(law, &Arc::new(Origin::operation("conv")))
    };
    assert!(add(false, 1, true).is_ok() && add(false, 0, true).is_ok());
    assert!(add(true, 1, true).is_ok() && add(false, 1, false).is_ok());
    assert_eq!(add(false, 2, true).unwrap_err().kind, ShapeErrorKind::Stride);
}
