//! Rows that run by themselves: the machine makes their kernels once it is decided what runs together.

use crate::CodegenError;
use crate::expression::dag::Buf;
use crate::kernels::native::Scheduled;
use crate::materialise::from_ir;
use crate::planned::kernel::Kernel;
use crate::program::lowered::{Lowered, Step};
use std::collections::HashMap;
use surject_ir::Function;

/// Makes the kernels of a function that are rows.
pub(crate) fn make(
    function: &Function,
    lowered: &mut Lowered,
    scheduled: Option<&Scheduled>,
) -> Result<(), CodegenError> {
    let (mut init, mut steps) = (std::mem::take(&mut lowered.init), std::mem::take(&mut lowered.steps));
    let mut maker = Maker { function, lowered, scheduled, known: HashMap::new() };
    let made = maker.steps(&mut init).and_then(|()| maker.steps(&mut steps));
    (lowered.init, lowered.steps) = (init, steps);
    made
}

struct Maker<'a> {
    function: &'a Function,
    lowered: &'a mut Lowered,
    scheduled: Option<&'a Scheduled>,
    /// What was made of a kernel.
    known: HashMap<usize, usize>,
}

impl Maker<'_> {
    fn steps(&mut self, steps: &mut [Step]) -> Result<(), CodegenError> {
        for step in steps {
            match step {
                Step::Copy { .. } => {}
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
        let Step::Run { kernel, buffers, writes, in_place, copies, .. } = step else { return Ok(()) };
        if self.lowered.kernels[*kernel].rows.is_none() {
            return Ok(());
        }
        let made = match self.known.get(kernel) {
            Some(&made) => made,
            None => {
                let made = self.made(*kernel)?;
                self.lowered.kernels.push(made);
                self.lowered.kernels.len() - 1
            }
        };
        self.known.insert(*kernel, made);
        let (old, new) = (&self.lowered.kernels[*kernel], &self.lowered.kernels[made]);
        // Kernels were made for buffers of their own.
        let here = |buf: &Buf| old.buffers.iter().position(|b| b == buf).map(|at| buffers[at]);
        let all = |bufs: &[Buf]| bufs.iter().map(here).collect::<Option<Vec<Buf>>>();
        let parts = (all(&new.buffers), all(&new.writes), all(&new.in_place));
        let (Some(all), Some(written), Some(read)) = parts else {
            return Err(CodegenError::malformed("a kernel with a new tensor"));
        };
        // A copy may be left out as a whole.
        in_place.retain(|(from, _)| *copies || read.contains(from));
        (*kernel, *buffers, *writes) = (made, all, written);
        Ok(())
    }

    /// The kernel of rows.
    fn made(&self, number: usize) -> Result<Kernel, CodegenError> {
        let scheduled = from_ir::strategies(self.scheduled)?;
        let old = &self.lowered.kernels[number];
        let missing = || CodegenError::malformed("a kernel that is made already");
        let whole = old.rows.as_deref().ok_or_else(missing)?;
        let variables = self.function.vars.len();
        let ty = |at: Buf| self.lowered.types.get(at.0 as usize).cloned();
        let made = from_ir::rows(whole, variables, &ty, scheduled)?;
        // What is known of it beside goes behind what it is.
        let summary = made.summary.clone() + &old.summary;
        Ok(Kernel { cycles: old.cycles, form: old.form.clone(), copies: old.copies, summary, ..made })
    }
}
