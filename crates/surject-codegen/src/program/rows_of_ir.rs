//! Kernels of rows that the kernel IR makes: those that run by themselves once it is decided what runs together.

use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::kernels::native::{Scheduled, Which};
use crate::lower::kernel::Kernel;
use crate::lower::recipe::Recipe;
use crate::materialise::from_ir;
use crate::program::lowered::{Lowered, Step};
use crate::schedule::refused::{Fit, Refused};
use std::collections::HashMap;
use surject_ir::Function;

/// Gives the steps of a function the kernels that the machine takes from the kernel IR.
pub(crate) fn take(
    function: &Function,
    lowered: &mut Lowered,
    scheduled: Option<&Scheduled>,
) -> Result<(), CodegenError> {
    let Some(scheduled) = scheduled.filter(|s| s.which != Which::Needed) else { return Ok(()) };
    let mut steps = std::mem::take(&mut lowered.steps);
    let mut taker = Taker { function, lowered, scheduled, known: HashMap::new() };
    let taken = taker.steps(&mut steps);
    lowered.steps = steps;
    taken
}

struct Taker<'a> {
    function: &'a Function,
    lowered: &'a mut Lowered,
    scheduled: &'a Scheduled,
    /// What was made in place of a kernel, or that it stays.
    known: HashMap<usize, Option<usize>>,
}

impl Taker<'_> {
    fn steps(&mut self, steps: &mut [Step]) -> Result<(), CodegenError> {
        for step in steps {
            match step {
                Step::Run { copies: true, .. } | Step::Copy { .. } => {}
                Step::Run { .. } => self.run(step)?,
                Step::While { condition, body, .. } => {
                    self.steps(condition)?;
                    self.steps(body)?;
                }
                Step::If { branches, .. } => {
                    branches.iter_mut().try_for_each(|branch| self.steps(branch))?;
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, step: &mut Step) -> Result<(), CodegenError> {
        let Step::Run { kernel, buffers, writes, in_place, .. } = step else { return Ok(()) };
        let made = match self.known.get(kernel) {
            Some(&made) => made,
            None => {
                let made = match self.made(*kernel)? {
                    Ok(made) => {
                        self.lowered.kernels.push(made);
                        Some(self.lowered.kernels.len() - 1)
                    }
                    Err(Refused(reason)) => {
                        self.lowered.kernels[*kernel].form.refused.push((from_ir::ROWS, reason));
                        None
                    }
                };
                self.known.insert(*kernel, made);
                made
            }
        };
        let Some(made) = made else { return Ok(()) };
        let (old, new) = (&self.lowered.kernels[*kernel], &self.lowered.kernels[made]);
        // Kernels were made for buffers of their own.
        let here = |buf: &Buf| old.buffers.iter().position(|b| b == buf).map(|at| buffers[at]);
        let all = |bufs: &[Buf]| bufs.iter().map(here).collect::<Option<Vec<Buf>>>();
        let parts = (all(&new.buffers), all(&new.writes), all(&new.in_place));
        let (Some(all), Some(written), Some(read)) = parts else {
            return Err(CodegenError::malformed("a kernel with a new tensor"));
        };
        in_place.retain(|(from, _)| read.contains(from));
        (*kernel, *buffers, *writes) = (made, all, written);
        Ok(())
    }

    /// The kernel of the kernel IR in place of one, or why there is none.
    fn made(&self, number: usize) -> Result<Fit<Kernel>, CodegenError> {
        let old = &self.lowered.kernels[number];
        let whole = match old.recipe.as_deref().and_then(Recipe::rows_alone) {
            Some(whole) => whole,
            None => return Ok(Err(Refused("it is not made of rows"))),
        };
        let variables = self.function.vars.len();
        let ty = |at: Buf| self.lowered.types.get(at.0 as usize).cloned();
        let made = from_ir::rows(&whole, variables, &ty, self.scheduled)?;
        Ok(made.map(|made| Kernel { cycles: old.cycles, ..made }))
    }
}
