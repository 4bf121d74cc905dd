//! Loads under conditions, whose elements exist whether these hold or not.

use crate::expression::address::LoopId;
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use surject_ir::DType;

/// The values in which loads have no guards where two things hold: the address always lies inside the memory, which has so many
/// elements of the type, and a guard asks about a loop that the address does not have. The conditions around such a load stay. What
/// is loaded is then the same for all iterations of that loop, so that it can be stored once for all. `None` on overflow.
pub(crate) fn loads(
    dag: &mut Dag,
    roots: &[NodeId],
    elements: &dyn Fn(Buf, DType) -> Option<u64>,
) -> Option<Vec<NodeId>> {
    let mut roots = roots.to_vec();
    for id in dag.all_reachable(&roots) {
        let (Node::Load { buf, address, guards }, dtype) = (&dag[id].node, dag[id].dtype) else { continue };
        let is_elsewhere = |l: LoopId| !address.loops().contains(l) && dag.extent(l) > 1;
        let asks_elsewhere = guards.iter().any(|g| g.expr.loops().loops().any(is_elsewhere));
        let exists = || {
            let (range, elements) = (address.range(&dag.extents)?, elements(*buf, dtype)?);
            Some(range.low >= 0 && range.high.unsigned_abs() < elements)
        };
        if asks_elsewhere && exists() == Some(true) {
            let node = Node::Load { buf: *buf, address: address.clone(), guards: Vec::new() };
            let load = dag.add(node, dtype);
            for root in &mut roots {
                *root = dag.replaced(*root, id, load)?;
            }
        }
    }
    Some(roots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::address::{Guard, Lin};

    /// How many guards a load has then, from memory of 13 elements, at `i + 3 j` and an offset for loops of 4 iterations.
    fn loaded(offset: i64, guard: &[(u8, i64)]) -> usize {
        let mut dag = Dag::default();
        (0..3).for_each(|_| _ = dag.add_loop(4));
        let lin = |terms: &[(u8, i64)], offset| Lin {
            terms: terms.iter().map(|t| (LoopId(t.0), t.1)).collect(),
            offset,
        };
        let guards = vec![Guard { expr: lin(guard, 0), bound: 2 }];
        let address = lin(&[(0, 1), (1, 3)], offset);
        let load = dag.add(Node::Load { buf: Buf(0), address, guards }, DType::F32);
        let elements = |_, dtype| (dtype == DType::F32).then_some(13);
        let found = loads(&mut dag, &[load], &elements).expect("nothing overflows");
        dag[found[0]].node.guards().len()
    }

    #[test]
    fn guards_stay_where_they_are_needed() {
        assert_eq!(
            loaded(0, &[(0, 1), (2, 1)]),
            0,
            "each address is one of the 13, and the guard asks about another loop"
        );
        assert_eq!(loaded(1, &[(0, 1), (2, 1)]), 1, "the last address lies outside");
        assert_eq!(loaded(-1, &[(0, 1), (2, 1)]), 1, "the first address lies outside");
        assert_eq!(loaded(0, &[(0, 1), (1, 1)]), 1, "the guard asks about loops of the address");
    }
}
