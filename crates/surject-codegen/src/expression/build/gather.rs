//! Gathers inside of an expression: the components of an index are points of the builder.

use crate::expression::address::{Access, Lin};
use crate::expression::build::Builder;
use crate::expression::dag::{Buf, NodeId};
use crate::expression::gather::{Gathered, Start};
use crate::expression::stop::Stop;
use surject_ir::DType;

impl Builder<'_> {
    /// The element of a gather at a position.
    pub fn gather(&mut self, gathered: &Gathered, dtype: DType, position: &[Lin]) -> Result<NodeId, Stop> {
        let access = Access { components: position.to_vec(), guards: Vec::new() };
        let starts = self.starts(gathered, &access);
        for start in &starts {
            if let Start::Computed((field, at)) = *start {
                self.value(field, self.accesses[at].components.clone())?;
            }
        }
        self.gathered(gathered, dtype, position, &starts)
    }

    /// Where the components of an index are.
    pub(crate) fn starts(&mut self, gathered: &Gathered, access: &Access) -> Vec<Start> {
        let mut starts = Vec::new();
        for components in gathered.components(&access.components) {
            let at = self.access(Access { components, guards: access.guards.clone() });
            starts.push(match gathered.computed {
                Some(field) => Start::Computed((field, at)),
                None => Start::Stored(at),
            });
        }
        starts
    }

    /// The components of an index that is in memory.
    pub(crate) fn stored(&mut self, gathered: &Gathered, access: &Access) -> Result<Vec<NodeId>, Stop> {
        let starts = self.starts(gathered, access);
        self.components(gathered, &starts)
    }

    pub(crate) fn gathered(
        &mut self,
        gathered: &Gathered,
        dtype: DType,
        position: &[Lin],
        starts: &[Start],
    ) -> Result<NodeId, Stop> {
        let nodes = self.components(gathered, starts)?;
        Ok(gathered.node(&mut self.dag, dtype, position, &nodes)?)
    }

    fn components(&mut self, gathered: &Gathered, starts: &[Start]) -> Result<Vec<NodeId>, Stop> {
        let mut nodes = Vec::new();
        for start in starts {
            nodes.push(match *start {
                Start::Computed(point) => self.values[&point].re,
                Start::Stored(at) => {
                    let ty = self.function.ty(gathered.indices);
                    let access = self.accesses[at].clone();
                    self.load(Buf(gathered.indices.0), &ty.space, ty.dtype, &access)?.re
                }
            });
        }
        Ok(nodes)
    }
}
