//! Which parts of tensors in memory are finite, as programs find out when they run.
//!
//! A sum of products may leave out terms whose one factor is zero if the other factor is finite: zero times infinity is no
//! zero. Whether a tensor is finite is found out once, part by part, before the kernels that read it run.

use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag};

/// A loop through a tensor: how many elements apart its iterations are, and how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Steps {
    stride: i64,
    extent: i64,
}

/// A loop that tells parts apart, and how many marks apart those of its iterations are.
#[derive(Clone, Copy, Debug)]
struct PartLoop {
    steps: Steps,
    marks: i64,
}

/// Of each part of a tensor a mark: an element of other memory that is zero where all elements of the part are finite.
#[derive(Clone, Debug)]
pub(crate) struct FiniteMarks {
    pub(crate) memory: Buf,
    parts: Vec<PartLoop>,
    /// The loops inside of a part.
    inside: Vec<Steps>,
    offset: i64,
}

impl FiniteMarks {
    /// Those of what is loaded at an address: a part has the elements of the loops `inside`. Also where the mark of a part lies, and
    /// how many marks there are.
    pub(crate) fn of(
        dag: &Dag,
        address: &Lin,
        inside: LoopSet,
        memory: Buf,
    ) -> Option<(FiniteMarks, Lin, i64)> {
        let (mut marks, mut count, mut at) = (
            FiniteMarks { memory, parts: Vec::new(), inside: Vec::new(), offset: address.offset },
            1i64,
            Lin::default(),
        );
        for (l, steps) in steps(dag, address) {
            if inside.contains(l) {
                marks.inside.push(steps);
            } else {
                marks.parts.push(PartLoop { steps, marks: count });
                at = at.plus(&Lin::var(l), count)?;
                count = count.checked_mul(steps.extent)?;
            }
        }
        Some((marks, at, count))
    }

    /// Where the mark is of all elements that the loops inside of a part load at an address, if they are those of one part. Each
    /// loop of the address is one of the tensor's.
    pub(crate) fn place(&self, dag: &Dag, address: &Lin, inside: LoopSet) -> Option<Lin> {
        let (mut parts, mut rest) = (self.parts.clone(), self.inside.clone());
        let mut at = Lin::default();
        for (l, own) in steps(dag, address) {
            if let Some(i) = rest.iter().position(|s| *s == own) {
                rest.swap_remove(i);
            } else if inside.contains(l) {
                return None;
            } else {
                let i = parts.iter().position(|p| p.steps == own)?;
                at = at.plus(&Lin::var(l), parts.swap_remove(i).marks)?;
            }
        }
        (address.offset == self.offset).then_some(at)
    }
}

/// The loops of an address that have several iterations.
fn steps(dag: &Dag, address: &Lin) -> impl Iterator<Item = (LoopId, Steps)> {
    let wide = address.terms.iter().filter(|t| dag.extent(t.0) > 1);
    wide.map(|&(l, stride)| (l, Steps { stride, extent: dag.extent(l) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mark is that of the elements which the loops inside load, in whatever order the loops of a reader are.
    #[test]
    fn marks_are_those_of_the_elements_loaded() {
        let mut dag = Dag::default();
        let [b, k, j, other] = [3, 8, 4, 8].map(|n| dag.add_loop(n).unwrap());
        let address = Lin { terms: vec![(b, 32), (k, 4), (j, 1)], offset: 0 };
        let inside: LoopSet = [k, j].into_iter().collect();
        let (marks, at, count) = FiniteMarks::of(&dag, &address, inside, Buf(7)).unwrap();
        assert_eq!((at, count), (Lin::var(b), 3));
        assert_eq!(marks.place(&dag, &address, inside), Some(Lin::var(b)));
        // Another loop over the same elements, or over fewer.
        let renamed = Lin { terms: vec![(b, 32), (j, 1), (other, 4)], offset: 0 };
        assert_eq!(marks.place(&dag, &renamed, [other, j].into_iter().collect()), Some(Lin::var(b)));
        let fewer = Lin { terms: vec![(b, 32), (k, 4)], offset: 0 };
        assert_eq!(marks.place(&dag, &fewer, LoopSet::default()), Some(Lin::var(b)));
        // Elements of several parts, or others.
        assert_eq!(marks.place(&dag, &address, [b, k].into_iter().collect()), None);
        let apart = Lin { terms: vec![(b, 32), (k, 3)], offset: 0 };
        assert_eq!(marks.place(&dag, &apart, LoopSet::default()), None);
        let moved = Lin { offset: 1, ..address };
        assert_eq!(marks.place(&dag, &moved, inside), None);
    }
}
