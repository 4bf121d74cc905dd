//! A field over the loops of its space: what the materialisation works on.

use crate::expression::address::LoopId;
use crate::expression::dag::Dag;
use crate::expression::output::Output;
use crate::normalise::merge;

/// What a field becomes over the loops of its space.
#[derive(Clone, Default)]
pub(crate) struct Pulled {
    pub(crate) dag: Dag,
    pub(crate) outer: Vec<LoopId>,
    pub(crate) outputs: Vec<Output>,
}

impl Pulled {
    /// The same over fewer loops: those that run through everything as one are one.
    pub(crate) fn merged(self) -> Pulled {
        let (dag, outputs, outer) = merge::merge(self.dag, self.outputs, &self.outer);
        Pulled { dag, outer, outputs }
    }
}
