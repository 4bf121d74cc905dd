//! The record of one operation: its product space and the index map of each of its tensors.

use crate::error::Slot;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use surject_index::{Extent, Facts};

/// A loop of one operation: its position among [`Projections::loops`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct LoopId(pub(crate) usize);

impl LoopId {
    /// The position among [`Projections::loops`].
    pub fn position(self) -> usize {
        self.0
    }
}

/// A loop variable and its range `0 .. size`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Loop {
    /// The label of the spec, or a letter for the kind of the axis: `b`, `o` and `i` for batch, output and input axes of
    /// the result, `k` for what the result does not mention. No two loops of an operation have one name.
    pub name: String,
    /// The number of positions. Size one only for a component of a concatenation, or where a symbolic size is one.
    pub size: Extent,
}

/// A factor of the product space.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Factor {
    /// One loop; or the components of coupled concatenations, which run one after the other. No loop where none of them
    /// means anything: there is nothing to do then.
    pub loops: Vec<LoopId>,
}

/// A component of a concatenated axis.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Part {
    /// The positions of a loop.
    Loop(LoopId),
    /// So many positions that the operation does not touch.
    Skip(Extent),
}

/// How one axis of a tensor is indexed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Index {
    /// One position: an axis of size one, an axis that broadcasts, a fixed index.
    Fixed(u64),
    /// The position is given from outside: the axis that a slice takes away.
    External,
    /// `Σ c·s + offset`. One term with coefficient 1 and no offset is an axis that iterates.
    Affine {
        /// Coefficients and loops, each loop once, in the order of the loops.
        terms: Vec<(i64, LoopId)>,
        /// The constant term.
        offset: i64,
    },
    /// The components of the axis, in order. Where the loop of a component is active, the position is that of the loop
    /// plus the sizes of the components before it.
    Concat(Vec<Part>),
}

impl Index {
    /// An axis that iterates.
    pub fn iterate(over: LoopId) -> Index {
        Index::Affine { terms: vec![(1, over)], offset: 0 }
    }

    /// The loops it mentions.
    pub fn loops(&self) -> impl Iterator<Item = LoopId> + '_ {
        let (terms, parts): (&[(i64, LoopId)], &[Part]) = match self {
            Index::Fixed(_) | Index::External => (&[], &[]),
            Index::Affine { terms, .. } => (terms, &[]),
            Index::Concat(parts) => (&[], parts),
        };
        let of_part = |part: &Part| match part {
            Part::Loop(id) => Some(*id),
            Part::Skip(_) => None,
        };
        terms.iter().map(|(_, id)| *id).chain(parts.iter().filter_map(of_part))
    }
}

/// The product space of an operation and the index maps of its tensors.
///
/// Tensors are indexed in memory order: batch axes, output axes, input axes. The operation's meaning is the map-reduce
/// over the product space: at each point, read every operand at its index map, combine, accumulate into the result at
/// its index map.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Projections {
    /// What is known of symbolic sizes.
    pub facts: Arc<Facts>,
    /// The product space, in the order in which its loops first appear: over the axes of the result, then of the operands.
    pub factors: Vec<Factor>,
    /// The loops, in the order of the factors.
    pub loops: Vec<Loop>,
    /// The index map of the result.
    pub result: Vec<Index>,
    /// The index maps of the operands.
    pub operands: Vec<Vec<Index>>,
    /// The sizes of the axes of the result.
    pub result_extents: Vec<Extent>,
    /// The sizes of the axes of the operands.
    pub operand_extents: Vec<Vec<Extent>>,
}

impl Projections {
    /// A loop by its id; the id is one of this record.
    pub fn of(&self, id: LoopId) -> Option<&Loop> {
        self.loops.get(id.0)
    }

    /// The reduction axes: the loops that the index map of the result does not mention.
    ///
    /// Components of one factor share its fate: where the result mentions one of them, the others are inactive.
    pub fn reductions(&self) -> Vec<LoopId> {
        let mentioned: BTreeSet<LoopId> = self.result.iter().flat_map(Index::loops).collect();
        let free = |factor: &&Factor| factor.loops.iter().all(|id| !mentioned.contains(id));
        self.factors.iter().filter(free).flat_map(|factor| factor.loops.iter().copied()).collect()
    }

    /// The index map of a tensor, and the sizes of its axes; `None` for an operand that is not there.
    pub fn map(&self, slot: Slot) -> Option<(&[Index], &[Extent])> {
        match slot {
            Slot::Result => Some((&self.result, &self.result_extents)),
            Slot::Operand(n) => Some((self.operands.get(n)?, self.operand_extents.get(n)?)),
        }
    }

    /// The record of another assignment of the same operation, whose tensors are named by slots of this one: the same
    /// product space and the same maps, with a different one of them serving as the result.
    ///
    /// The gradient `g1 =+ g * v2` of `v =:+ v1 * v2` has the first operand as its result, and the result and the second
    /// operand as its operands. What it reduces is again what its result does not mention. `None` where a slot is not
    /// there.
    pub fn readdressed(&self, result: Slot, operands: &[Slot]) -> Option<Projections> {
        let (result, result_extents) = self.map(result)?;
        let operands = operands.iter().map(|slot| self.map(*slot)).collect::<Option<Vec<_>>>()?;
        Some(Projections {
            facts: self.facts.clone(),
            factors: self.factors.clone(),
            loops: self.loops.clone(),
            result: result.to_vec(),
            operands: operands.iter().map(|(map, _)| map.to_vec()).collect(),
            result_extents: result_extents.to_vec(),
            operand_extents: operands.iter().map(|(_, extents)| extents.to_vec()).collect(),
        })
    }

    fn name(&self, id: LoopId) -> &str {
        self.of(id).map_or("?", |l| l.name.as_str())
    }

    /// An index in the notation of specs: `2*oh+wh-1`, `a^b`, a number for a fixed position and for components that are
    /// not touched, `@` for a position given from outside.
    pub fn display<'a>(&'a self, index: &'a Index) -> impl fmt::Display + 'a {
        fmt::from_fn(move |f| match index {
            Index::Fixed(position) => write!(f, "{position}"),
            Index::External => f.write_str("@"),
            Index::Affine { terms, offset } => {
                write_affine(f, terms.iter().map(|(c, id)| (*c, self.name(*id))), *offset)
            }
            Index::Concat(parts) => {
                for (i, part) in parts.iter().enumerate() {
                    f.write_str(if i > 0 { "^" } else { "" })?;
                    match part {
                        Part::Loop(id) => f.write_str(self.name(*id))?,
                        Part::Skip(size) => write!(f, "{size}")?,
                    }
                }
                Ok(())
            }
        })
    }
}

/// `2*oh+wh-1`.
pub(crate) fn write_affine<'a>(
    f: &mut impl fmt::Write,
    terms: impl Iterator<Item = (i64, &'a str)>,
    offset: i64,
) -> fmt::Result {
    let mut first = true;
    for (c, name) in terms {
        f.write_str(match (first, c < 0) {
            (_, true) => "-",
            (true, false) => "",
            (false, false) => "+",
        })?;
        if c.unsigned_abs() != 1 {
            write!(f, "{}*", c.unsigned_abs())?;
        }
        f.write_str(name)?;
        first = false;
    }
    match (first, offset) {
        (true, offset) => write!(f, "{offset}"),
        (false, 0) => Ok(()),
        (false, offset) => write!(f, "{offset:+}"),
    }
}

fn joined<T>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    separator: &str,
    mut write: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        f.write_str(if i > 0 { separator } else { "" })?;
        write(f, item)?;
    }
    Ok(())
}

/// The product space, one line a tensor with its index map, and the reductions:
///
/// ```text
/// product space {i:4, k:6, j:5}
/// lhs [i, k]
/// rhs1 [i, j]
/// rhs2 [j, k]
/// reductions {j}
/// ```
impl fmt::Display for Projections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("product space {")?;
        joined(f, &self.factors, ", ", |f, factor| {
            if factor.loops.is_empty() {
                return f.write_str("0");
            }
            joined(f, &factor.loops, "^", |f, id| {
                f.write_str(self.name(*id))?;
                self.of(*id).map_or(Ok(()), |l| write!(f, ":{}", l.size))
            })
        })?;
        f.write_str("}\n")?;
        let tensors = std::iter::once(("lhs".to_string(), &self.result))
            .chain(self.operands.iter().enumerate().map(|(i, map)| (format!("rhs{}", i + 1), map)));
        for (name, map) in tensors {
            write!(f, "{name} [")?;
            joined(f, map, ", ", |f, index| write!(f, "{}", self.display(index)))?;
            f.write_str("]\n")?;
        }
        f.write_str("reductions {")?;
        joined(f, &self.reductions(), ", ", |f, id| f.write_str(self.name(*id)))?;
        f.write_str("}\n")
    }
}
