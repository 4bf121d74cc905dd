//! A field over the loops of its space: what the materialisation works on.

use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, NodeId};
use crate::expression::output::Output;
use crate::normalise::merge;
use std::collections::HashMap;

/// What a field becomes over the loops of its space.
#[derive(Clone, Debug, Default)]
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

    /// The same, where a loop runs over blocks of so many iterations, which divide it, and a new loop inside of it over those of a
    /// block; `None` on overflow.
    pub(crate) fn in_blocks(&self, l: LoopId, block: i64) -> Option<Blocked> {
        let Pulled { dag, outer, outputs } = self;
        let mut new = Dag::default();
        new.extents.clone_from(&dag.extents);
        new.known.clone_from(&dag.known);
        let inner = new.add_loop(block)?;
        new.extents[l.0 as usize] = dag.extent(l) / block;
        let place = Lin::var(l).times(block)?.plus(&Lin::var(inner), 1)?;
        let split = |lin: &Lin| lin.substitute(l, &place);
        let mut blocks = Vec::new();
        let mut ids = HashMap::new();
        for output in outputs {
            let root = new.import_into(dag, output.root, &mut ids, &split)?;
            blocks.push(Output { address: split(&output.address)?, root, ..output.clone() });
        }
        let at = outer.iter().position(|&o| o == l)?;
        let mut all = outer.clone();
        all.insert(at + 1, inner);
        Some(Blocked { whole: Pulled { dag: new, outer: all, outputs: blocks }, inner, ids })
    }
}

/// An expression of which a loop runs in blocks.
pub(crate) struct Blocked {
    pub(crate) whole: Pulled,
    /// The loop over the iterations of a block.
    pub(crate) inner: LoopId,
    /// The nodes that those of the expression became.
    pub(crate) ids: HashMap<NodeId, NodeId>,
}
