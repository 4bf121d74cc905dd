//! What a kernel was made from, and how its work can be cut along the outermost indices of its output.
//!
//! A kernel whose output is `n` parts of equal size, one behind the other, can be asked for a range of them:
//! `part(%low, %high, %ptrs)` computes the parts `low..high` alone. What it reads may be cut the same way, so
//! that the parts `low..high` of the output need no other parts of that tensor than `low..high`. Where this holds
//! for the readers of a tensor too, a task can take a few parts through several kernels (`fuse`).

use crate::Target;
use crate::expression::address::{Interval, Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::machine::elem::Elem;
use crate::normalise::pulled::Pulled;
use crate::planned::rows;
use crate::schedule::columns::Columns;
use crate::schedule::{self, RowSchedule};

/// What a kernel was made from.
#[derive(Clone, Debug)]
pub enum Recipe {
    /// Points, in rows.
    Row {
        /// The expression.
        dag: Dag,
        /// What is written.
        outputs: Vec<Output>,
        /// How.
        schedule: RowSchedule,
        /// The loops that may be cut.
        free: LoopSet,
    },
    /// Reductions down columns.
    Columns(Columns),
    /// Many products of the kernel IR.
    Product(Product),
}

/// Many products that the kernel IR makes, a range of rows at a time, with all columns of it.
#[derive(Clone, Debug)]
pub struct Product {
    /// The expression.
    pub(crate) whole: Pulled,
    /// The loops that both factors depend on.
    pub batch: Vec<LoopId>,
    /// The loop of rows.
    pub rows: LoopId,
    /// The rows of a tile.
    pub high: i64,
    /// The bytes of all columns of a product, and of a row, which are read.
    pub columns: i64,
    pub row: i64,
}

impl Product {
    /// The loops of parts: rows go fastest.
    pub fn loops(&self) -> Vec<LoopId> {
        self.batch.iter().copied().chain([self.rows]).collect()
    }

    /// The columns, and as many rows at once as stay in a cache of a thread beside them.
    fn block(&self, target: &Target) -> BlockColumns {
        /// More rows at once save nothing.
        const MOST: i64 = 60;
        let rows = (target.l2_share_bytes as i64 / 2 / self.row.max(1)).min(MOST);
        BlockColumns { bytes: self.columns, rows: (rows / self.high * self.high).max(self.high) }
    }
}

/// What a block of rows goes through.
#[derive(Clone, Copy)]
pub(crate) struct BlockColumns {
    /// The bytes of columns that it is multiplied with.
    pub(crate) bytes: i64,
    /// The rows of a block.
    pub(crate) rows: i64,
}

/// A way to cut the work of a kernel into parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The number of parts.
    pub parts: i64,
    /// How many parts one step of each loop is.
    pub(crate) weights: Vec<(LoopId, i64)>,
    /// A loop of which a part has so many steps.
    pub(crate) piece: Option<(LoopId, i64)>,
    /// Parts that may lie in one range: it must not cross a multiple of this.
    pub segment: Option<i64>,
}

/// How a kernel that is cut touches a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Access {
    /// The tensor.
    pub buf: Buf,
    /// Is it written?
    pub write: bool,
    /// The bytes of it that belong to one part, where no part touches what belongs to another.
    pub share: Option<i64>,
}

impl Cut {
    /// The elements that a part has of a tensor which is touched here; `None` where parts are not apart.
    fn share(&self, dag: &Dag, at: &Lin) -> Option<i64> {
        let (unit, rest) = match self.piece {
            Some((l, steps)) => (at.coeff(l).checked_mul(steps)?, Some((l, steps))),
            None => (at.coeff(self.weights.last()?.0), None),
        };
        let aligned = self.weights.iter().all(|&(l, weight)| unit.checked_mul(weight) == Some(at.coeff(l)));
        if unit <= 0 || !aligned {
            return None;
        }
        let mut inside = at.clone();
        inside.terms.retain(|t| !self.weights.iter().any(|w| w.0 == t.0));
        let mut extents = dag.extents.clone();
        if let Some((l, steps)) = rest {
            extents[l.0 as usize] = steps;
        }
        let Interval { low, high } = inside.range(&extents)?;
        (low >= 0 && high < unit).then_some(unit)
    }
}

/// How many parts one step of each loop is, where a step of the last one is so many; and how many parts there are.
fn weights(dag: &Dag, loops: &[LoopId], unit: i64) -> (Vec<(LoopId, i64)>, i64) {
    let mut all = unit;
    let mut weights: Vec<(LoopId, i64)> = Vec::new();
    for &l in loops.iter().rev() {
        weights.push((l, all));
        all *= dag.extent(l);
    }
    weights.reverse();
    (weights, all)
}

/// Collects what a kernel touches.
struct Accesses<'a> {
    dag: &'a Dag,
    cut: &'a Cut,
    found: Vec<Access>,
}

impl Accesses<'_> {
    /// Elements of so many bytes at an address are loaded; `None`: anywhere.
    fn loads(&mut self, buf: Buf, size: usize, at: Option<&Lin>) {
        let share = self.share(size, at);
        self.touch(Access { buf, write: false, share });
    }

    /// The same, of what is stored.
    fn stores(&mut self, buf: Buf, size: usize, at: Option<&Lin>) {
        let share = self.share(size, at);
        self.touch(Access { buf, write: true, share });
    }

    /// The bytes of a part, if parts are apart.
    fn share(&self, size: usize, at: Option<&Lin>) -> Option<i64> {
        let share = at.and_then(|at| self.cut.share(self.dag, at));
        share.and_then(|n| n.checked_mul(size as i64))
    }

    fn touch(&mut self, new: Access) {
        match self.found.iter_mut().find(|a| a.buf == new.buf && a.write == new.write) {
            Some(access) if access.share != new.share => access.share = None,
            Some(_) => {}
            None => self.found.push(new),
        }
    }

    /// Everything that some nodes load.
    fn read(&mut self, roots: &[NodeId]) {
        for id in self.dag.all_reachable(roots) {
            let (buf, address) = match &self.dag[id].node {
                Node::Load { buf, address, .. } => (*buf, Some(address)),
                Node::Gather { buf, .. } => (*buf, None),
                _ => continue,
            };
            self.loads(buf, Elem::in_memory(self.dag[id].dtype).size(), address);
        }
    }
}

impl Recipe {
    fn dag(&self) -> &Dag {
        match self {
            Recipe::Row { dag, .. } => dag,
            Recipe::Columns(columns) => &columns.dag,
            Recipe::Product(product) => &product.whole.dag,
        }
    }

    /// That of the same work, of which no part runs together with others: it has no loop that may be cut.
    pub(crate) fn alone(&self) -> Option<Recipe> {
        match self.clone() {
            Recipe::Row { dag, outputs, schedule, .. } => {
                Some(Recipe::Row { dag, outputs, schedule, free: LoopSet::default() })
            }
            Recipe::Columns(_) | Recipe::Product(_) => None,
        }
    }

    /// The expression of rows, over the loops that its points have.
    pub(crate) fn rows_alone(&self) -> Option<Pulled> {
        match self {
            Recipe::Row { dag, outputs, .. } => Some(rows::points(dag, outputs)),
            Recipe::Columns(_) | Recipe::Product(_) => None,
        }
    }

    /// Does no part of the work run together with others?
    pub(crate) fn is_alone(&self) -> bool {
        matches!(self, Recipe::Row { free, schedule, .. } if *free == LoopSet::default() && !schedule.order.is_empty())
    }

    /// The numbers of parts that the work can be cut into, those that its loops suggest.
    pub fn counts(&self) -> Vec<i64> {
        let mut counts = Vec::new();
        match self {
            Recipe::Row { dag, schedule, .. } => {
                let mut product = 1;
                for &l in &schedule.order {
                    product *= dag.extent(l);
                    counts.push(product);
                }
                // What is done in lanes is no part.
                if schedule.lanes > 1 {
                    counts.pop();
                }
                counts.reverse();
            }
            Recipe::Columns(columns) => counts.push(columns.dag.extent(columns.rows())),
            Recipe::Product(product) => {
                counts.push(product.loops().iter().map(|&l| product.whole.dag.extent(l)).product());
            }
        }
        counts.retain(|&n| n > 1);
        counts
    }

    /// A way to cut the work into so many parts.
    pub fn cut(&self, parts: i64) -> Option<Cut> {
        match self {
            Recipe::Row { dag, outputs, schedule, free, .. } => {
                if schedule.is_transposition || outputs.iter().any(|o| o.join.is_some()) {
                    return None;
                }
                let (&last, outer) = schedule.order.split_last()?;
                let (mut prefix, mut left) = (Vec::new(), parts);
                for &l in outer {
                    if left == 1 {
                        break;
                    }
                    if !free.contains(l) || left % dag.extent(l) != 0 {
                        return None;
                    }
                    left /= dag.extent(l);
                    prefix.push(l);
                }
                let (weights, _) = weights(dag, &prefix, left);
                let steps = dag.extent(last) / left;
                let whole = dag.extent(last) % left == 0 && steps % schedule.lanes as i64 == 0;
                let piece = (left > 1).then_some((last, steps));
                // What is summed once for all parts would be summed again for every range.
                let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
                let own = dag.reachable(&roots).iter().all(|&n| {
                    !matches!(dag[n].node, Node::Reduce { .. })
                        || weights.iter().all(|w| dag[n].deps.contains(w.0))
                });
                let fits = left == 1 || (prefix.len() == outer.len() && whole && free.contains(last));
                (own && fits).then_some(Cut { parts, weights, piece, segment: None })
            }
            Recipe::Columns(columns) => {
                let (weights, all) = weights(&columns.dag, &[columns.rows()], 1);
                (all == parts).then_some(Cut { parts, weights, piece: None, segment: None })
            }
            Recipe::Product(product) => {
                let dag = &product.whole.dag;
                let (weights, all) = weights(dag, &product.loops(), 1);
                let segment = Some(dag.extent(product.rows));
                (all == parts).then_some(Cut { parts, weights, piece: None, segment })
            }
        }
    }

    /// That of work which has one element in each of so many parts, as the statistics of rows are, and is done in lanes:
    /// element by element it can be cut. And the cycles that it then takes longer.
    pub(crate) fn by_element(&self, parts: i64, target: &Target) -> Option<(Recipe, f64)> {
        let Recipe::Row { dag, outputs, schedule, free } = self else { return None };
        let points: i64 = schedule.order.iter().map(|&l| dag.extent(l)).product();
        if points != parts || !schedule.is_plain() || !schedule.reductions.is_empty() {
            return None;
        }
        let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
        let nodes = dag.reachable(&roots);
        let cycles = points as f64 * nodes.iter().map(|&n| schedule::node_cost(dag, n)).sum::<f64>();
        let size = outputs.iter().map(|o| Elem::in_memory(dag[o.root].dtype).size()).max()?;
        let lost = cycles * (1.0 - 1.0 / (target.vector_bytes / size).max(1) as f64);
        let schedule = RowSchedule { lanes: 1, ..schedule.clone() };
        let (dag, outputs, free) = (dag.clone(), outputs.clone(), *free);
        Some((Recipe::Row { dag, outputs, schedule, free }, lost))
    }

    /// Every tensor that the kernel touches when it is cut.
    pub fn accesses(&self, cut: &Cut) -> Vec<Access> {
        let dag = self.dag();
        let mut found = Accesses { dag, cut, found: Vec::new() };
        match self {
            Recipe::Row { outputs, .. } => {
                let roots: Vec<NodeId> = outputs.iter().map(|o| o.root).collect();
                found.read(&roots);
                for output in outputs {
                    let size = Elem::in_memory(dag[output.root].dtype).size();
                    found.stores(output.to, size, Some(&output.address));
                }
            }
            Recipe::Columns(columns) => {
                found.read(&[columns.output.root]);
                found.stores(columns.output.to, 1, None);
            }
            Recipe::Product(Product { whole: Pulled { outputs, .. }, .. }) => {
                found.read(&outputs.iter().map(|o| o.root).collect::<Vec<NodeId>>());
                for output in outputs {
                    let size = Elem::in_memory(dag[output.root].dtype).size();
                    found.stores(output.to, size, Some(&output.address));
                }
            }
        }
        found.found
    }

    /// What one range of parts costs beside the work itself: the packed columns that it runs through, and the parts (rows)
    /// that the kernel alone would take at once. `None` where it runs through none.
    pub(crate) fn columns(&self, target: &Target) -> Option<BlockColumns> {
        match self {
            Recipe::Row { .. } | Recipe::Columns(_) => None,
            Recipe::Product(product) => Some(product.block(target)),
        }
    }

    /// The rows of a tile; 1 where there are none.
    pub fn step(&self) -> i64 {
        match self {
            Recipe::Row { .. } | Recipe::Columns(_) => 1,
            Recipe::Product(product) => product.high,
        }
    }

    /// The reduction that all parts join.
    pub(crate) fn joined(&self) -> Option<&Columns> {
        match self {
            Recipe::Columns(columns) => Some(columns),
            Recipe::Row { .. } | Recipe::Product(_) => None,
        }
    }
}
