//! A machine in a few lines, by the public interface alone: scalars, and one level of parallelism.
//!
//! It is what somebody writes first for a machine of their own: what it can do, and one strategy.

use surject_codegen::kernels::ability::Ability;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::machine::{Machine, Proposal, Strategy};
use surject_codegen::kernels::schedule::{Directive, Schedule};
use surject_kernel::Level;

/// The machine.
pub struct Toy;

impl Machine for Toy {
    fn name(&self) -> &str {
        "toy"
    }

    fn abilities(&self) -> Vec<Ability> {
        vec![Ability::Tasks]
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        vec![Box::new(Elements)]
    }
}

/// Element by element; every iteration of the outermost loop is a task.
struct Elements;

impl Strategy for Elements {
    fn name(&self) -> &'static str {
        "elements"
    }

    fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
        let outermost = expression.loops().into_iter().next().filter(|l| l.parallel);
        let directives = outermost.map(|l| Directive::Parallel(l.name, Level::Task)).into_iter().collect();
        Ok(Proposal { schedule: Schedule { directives }, cost: expression.operations() })
    }
}
