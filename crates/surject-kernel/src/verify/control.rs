//! Loops and branches, and how levels nest.

use super::{Checked, Verifier, need};
use crate::{Level, LoopKind, Op, Region, Statement, Type, Value};
use surject_ir::DType;

impl Verifier<'_> {
    pub(super) fn control(&mut self, statement: &Statement) -> Checked {
        match &statement.op {
            Op::For { low, high, step, kind, inits, body } => {
                self.affine(low, 1)?;
                self.affine(high, 1)?;
                need(*step > 0, || "the step of a loop is positive".into())?;
                need(body.params.len() == inits.len() + 1, || {
                    format!("a loop that carries {} values has {} parameters", inits.len(), body.params.len())
                })?;
                let variable = body.params.first().and_then(|v| self.kernel.types.get(v.0 as usize));
                need(variable == Some(&Type::index()), || "the variable of a loop is an i64".into())?;
                for (&init, &param) in inits.iter().zip(&body.params[1..]) {
                    let (outside, inside) = (self.ty(init)?, self.kernel.types.get(param.0 as usize));
                    need(inside == Some(&outside), || {
                        format!("{param} is carried, and begins as {outside}")
                    })?;
                }
                match kind {
                    LoopKind::Parallel(level) => {
                        need(inits.is_empty(), || "a parallel loop carries nothing".into())?;
                        let fits = matches!(
                            (self.levels.last(), level),
                            (None, Level::Task | Level::Block)
                                | (Some(Level::Block), Level::Block | Level::Warp | Level::Thread)
                                | (Some(Level::Warp), Level::Thread)
                        );
                        need(fits, || match self.levels.last() {
                            None => format!("a loop over {level}s stands inside of one over blocks"),
                            Some(outer) => format!("a loop over {level}s inside of one over {outer}s"),
                        })?;
                        self.levels.push(*level);
                    }
                    LoopKind::Unrolled => {
                        let known = low.as_constant().is_some() && high.as_constant().is_some();
                        need(known, || "the bounds of an unrolled loop are numbers".into())?;
                    }
                    LoopKind::Serial => {}
                }
                self.region(body)?;
                if matches!(kind, LoopKind::Parallel(_)) {
                    self.levels.pop();
                }
                self.yields(body, &statement.results)?;
                need(inits.len() == statement.results.len(), || {
                    format!(
                        "a loop that carries {} values has {} results",
                        inits.len(),
                        statement.results.len()
                    )
                })
            }
            Op::If { condition, then, otherwise } => {
                let ty = self.ty(*condition)?;
                need(ty == Type::scalar(DType::I1), || format!("a condition of type {ty}"))?;
                for region in [then, otherwise] {
                    need(region.params.is_empty(), || "a side of an `if` has parameters".into())?;
                    self.region(region)?;
                    self.yields(region, &statement.results)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The types of what a region yields are those of the results.
    pub(super) fn yields(&self, region: &Region, results: &[Value]) -> Checked {
        let found: Vec<Type> = region.yields.iter().map(|&v| self.kernel.ty(v)).collect();
        let wanted: Vec<Type> = results.iter().map(|&v| self.kernel.ty(v)).collect();
        need(found == wanted, || {
            let text = |types: &[Type]| types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ");
            format!("a region yields ({}) where ({}) is expected", text(&found), text(&wanted))
        })
    }
}
