//! Assignments whose kernels are made by themselves: by schedules of the user, or all of them.

use crate::CodegenError;
use crate::expression::dag::{Buf, buf};
use crate::kernels::expression::Tensor;
use crate::kernels::lower::Launch;
use crate::kernels::native::{Scheduled, Which};
use crate::kernels::run;
use crate::materialise::from_ir;
use crate::planned::kernel::Kernel;
use std::collections::{HashMap, HashSet};
use surject_ir::{Function, Statement, StatementKind, TensorType, Var};

/// The kernels of a statement, in order.
pub(crate) struct Made {
    launches: Vec<Launch>,
    /// The types of their temporaries.
    pub(crate) temporaries: Vec<TensorType>,
}

/// The statements of a function whose kernels come from the kernel IR.
#[derive(Default)]
pub(crate) struct MadeStatements {
    /// By the first variable that each defines.
    by_target: HashMap<Var, Made>,
    /// The variables that they define or read, which are in memory.
    stored: HashSet<Var>,
}

impl MadeStatements {
    /// Those of a function.
    pub(crate) fn of(
        function: &Function,
        scheduled: Option<&Scheduled>,
    ) -> Result<MadeStatements, CodegenError> {
        let mut found = MadeStatements::default();
        let Some(scheduled) = scheduled else { return Ok(found) };
        let mut blocks = vec![&function.body];
        while let Some(block) = blocks.pop() {
            for statement in &block.statements {
                if let Some((target, made)) = of_statement(function, statement, scheduled)? {
                    found.stored.extend(statement.targets());
                    found.stored.extend(made.reads());
                    found.by_target.insert(target, made);
                }
                // The scalar functions of a library operation are parts of its kernels.
                if !matches!(statement.kind, StatementKind::Call { .. }) {
                    blocks.extend(statement.regions().into_iter().map(|r| &r.body));
                }
            }
        }
        Ok(found)
    }

    /// The kernels of the statement that defines a variable first.
    pub(crate) fn get(&self, target: Var) -> Option<&Made> {
        self.by_target.get(&target)
    }

    /// Is a variable in memory, as such kernels define or read it?
    pub(crate) fn stores(&self, var: Var) -> bool {
        self.stored.contains(&var)
    }
}

/// The kernels of a statement, and the first variable that it defines.
fn of_statement(
    function: &Function,
    statement: &Statement,
    scheduled: &Scheduled,
) -> Result<Option<(Var, Made)>, CodegenError> {
    let &StatementKind::Store { target, field } = &statement.kind else { return Ok(None) };
    let name = function.name_of(target);
    let is_alone = scheduled.which == Which::All || scheduled.schedules.names_kernel_of(name);
    if function.ty(target).space.is_empty() || !is_alone {
        return Ok(None);
    }
    let made = run::kernels(function, field, &*scheduled.machine, name, &scheduled.schedules)?;
    let launches = made.kernels.into_iter().map(|made| made.launch).collect();
    Ok(Some((target, Made { launches, temporaries: made.temporaries })))
}

impl Made {
    /// The variables that the kernels read or write.
    fn reads(&self) -> impl Iterator<Item = Var> {
        self.launches.iter().flat_map(|launch| &launch.tensors).filter_map(|tensor| match tensor {
            Tensor::Var(var) => Some(*var),
            Tensor::Target | Tensor::Temporary(_) => None,
        })
    }

    /// The kernels, which define a target by means of these temporaries.
    pub(crate) fn kernels(
        &self,
        target: Var,
        temporaries: &[Buf],
        scheduled: &Scheduled,
    ) -> Result<Vec<Kernel>, CodegenError> {
        let place = |tensor: &Tensor| match tensor {
            Tensor::Var(var) => buf(*var),
            Tensor::Target => buf(target),
            Tensor::Temporary(number) => temporaries[*number],
        };
        self.launches.iter().map(|launch| from_ir::kernel(launch, &place, scheduled)).collect()
    }
}
