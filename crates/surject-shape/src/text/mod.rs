//! Constraint problems as text: reading, solving, and printing in the same notation.

mod canonical;
mod parse;
mod print;

pub use parse::{Problem, SyntaxError, parse};
pub use print::{print_constraint, print_row};

use crate::constraint::Constraint;
use crate::error::{ShapeError, ShapeErrorKind};
use crate::origin::Origin;
use crate::solver::Solver;
use print::Names;
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// The variables that are bound, with what they are bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    /// Dimension variables in the order of the text.
    pub dims: Vec<(String, String)>,
    /// Row variables in the order of the text.
    pub rows: Vec<(String, String)>,
}

impl Bindings {
    /// What a dimension variable is bound to.
    pub fn dim(&self, name: &str) -> Option<&str> {
        self.dims.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// What a row variable is bound to.
    pub fn row(&self, name: &str) -> Option<&str> {
        self.rows.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    fn json(list: &[(String, String)]) -> Value {
        Value::Object(list.iter().map(|(n, v)| (n.clone(), Value::String(v.clone()))).collect::<Map<_, _>>())
    }
}

/// What became of a constraint problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// The principal solution: what the constraints force. Empty where they were refuted.
    pub before_closing: Bindings,
    /// The closed solution, or why there is none.
    pub outcome: Result<Bindings, Box<ShapeError>>,
}

impl Solution {
    /// Whether there is a solution.
    pub fn is_solved(&self) -> bool {
        self.outcome.is_ok()
    }

    /// `solved`, `unsatisfiable`, or `undecided` where the search gave up.
    pub fn status(&self) -> &'static str {
        match &self.outcome {
            Ok(_) => "solved",
            Err(error) if matches!(error.kind, ShapeErrorKind::Undecided | ShapeErrorKind::UndecidedSize) => {
                "undecided"
            }
            Err(_) => "unsatisfiable",
        }
    }

    /// The solution as JSON.
    pub fn to_json(&self) -> Value {
        let before = json!({
            "dims": Bindings::json(&self.before_closing.dims),
            "rows": Bindings::json(&self.before_closing.rows),
        });
        match &self.outcome {
            Ok(bindings) => json!({
                "status": self.status(),
                "dims": Bindings::json(&bindings.dims),
                "rows": Bindings::json(&bindings.rows),
                "before_closing": before,
            }),
            Err(error) => json!({
                "status": self.status(),
                "dims": {},
                "rows": {},
                "before_closing": before,
                "error": error.to_json(),
            }),
        }
    }
}

/// The text form: what is forced, then the closed solution.
impl fmt::Display for Solution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, b: &Bindings| -> fmt::Result {
            for (name, value) in &b.dims {
                writeln!(f, "dim {name} = {value}")?;
            }
            for (name, value) in &b.rows {
                writeln!(f, "row ..{name}.. = {value}")?;
            }
            Ok(())
        };
        writeln!(f, "# before closing")?;
        list(f, &self.before_closing)?;
        match &self.outcome {
            Ok(bindings) => {
                writeln!(f, "# closed")?;
                list(f, bindings)
            }
            Err(error) => writeln!(f, "# {}\n{error}", self.status()),
        }
    }
}

/// Reads and solves a constraint problem.
///
/// # Errors
/// Text that is not a constraint problem. That a problem has no solution is not an error here but an outcome.
pub fn solve_text(file: &str, text: &str) -> Result<Solution, SyntaxError> {
    Ok(solve(&parse(file, text)?))
}

/// Solves a constraint problem.
pub fn solve(problem: &Problem) -> Solution {
    let problem = &canonical::canonical(problem);
    let mut solver = problem.solver();
    if let Err(error) = add_all(&mut solver, &problem.constraints) {
        if error.guessed {
            // The contradiction depends on where an equation placed a marker.
            let mut fresh = problem.solver();
            let outcome = match fresh.search_constraints(&problem.constraints, error) {
                Ok(()) => Ok(Names::new(problem, &fresh).bindings(true)),
                Err(error) => Err(in_order(error)),
            };
            return Solution { before_closing: Bindings::default(), outcome };
        }
        // The shortest chain may be among what was not added any more.
        let error = problem.solver().explained(&problem.constraints, error);
        return Solution { before_closing: Bindings::default(), outcome: Err(in_order(error)) };
    }
    if let Err(error) = solver.settle() {
        return Solution { before_closing: Bindings::default(), outcome: Err(in_order(error)) };
    }
    let before_closing = Names::new(problem, &solver).bindings(false);
    let outcome = match solver.close() {
        Ok(()) => Ok(Names::new(problem, &solver).bindings(true)),
        Err(error) => Err(in_order(error)),
    };
    Solution { before_closing, outcome }
}

/// The labels in the order of the text.
fn in_order(mut error: ShapeError) -> Box<ShapeError> {
    error.labels.sort_by_key(|label| label.place.as_ref().map(|p| (p.line, p.column)));
    Box::new(error)
}

fn add_all(solver: &mut Solver, constraints: &[(Constraint, Arc<Origin>)]) -> Result<(), ShapeError> {
    constraints.iter().try_for_each(|(constraint, origin)| solver.add(constraint.clone(), origin))
}
