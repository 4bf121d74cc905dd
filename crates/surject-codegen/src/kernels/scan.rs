//! Scans in blocks: `y[i] = term[0] ⊕ … ⊕ term[i]` as reductions, which run in parallel.
//!
//! Lines are cut into blocks. The terms of every block are reduced; these sums are scanned, which are few; and every result
//! joins what comes before its block with the terms of its block up to its own, which is a scan again
//! ([`super::running`]), of a line that is as short as the machine likes.

use super::expression::joined_in;
use super::expression::{Expression, Tensor};
use crate::CodegenError;
use crate::expression::address::{Guard, Lin, LoopId};
use crate::expression::compose::joining;
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::Output;
use crate::schedule::scan::{Scan, scan};
use std::collections::{BTreeMap, HashMap};
use surject_index::Space;
use surject_ir::{DType, FieldId, TensorType};

/// A scan as expressions that are computed in this order, and the temporaries between them.
#[derive(Clone, Debug)]
pub struct ScanBlocks {
    /// Reduces the terms of every block.
    pub sums: Expression,
    /// Scans these: what comes before every block.
    pub before: Expression,
    /// Computes the results of the whole blocks, and those of the rest of a line where there is one.
    pub results: Vec<Expression>,
    /// The type of both temporaries: the sums of blocks, and what comes before them.
    pub temporary: TensorType,
}

/// The scan of an expression, if that is all that it reduces, and its field. The term of a step is added to the graph.
pub(super) fn only_scan(expression: &Expression, dag: &mut Dag) -> Option<(Scan, FieldId)> {
    let mut reductions =
        expression.nodes().into_iter().filter(|&n| matches!(expression.dag[n].node, Node::Reduce { .. }));
    let (Some(node), None) = (reductions.next(), reductions.next()) else { return None };
    let found = scan(dag, node)?;
    let whole =
        expression.outputs.iter().all(|o| o.join.is_none()) && expression.loops.contains(&found.0.along);
    whole.then_some(found)
}

/// What the expressions of a scan have in common.
struct Cut<'a> {
    of: &'a Expression,
    /// The graph, with the term of a step.
    dag: Dag,
    scan: Scan,
    field: FieldId,
    /// The type in which terms are joined.
    joined: DType,
    /// The elements of a line, and of a block.
    length: i64,
    block: i64,
    /// The loops beside that of the scan that the terms depend on, and how many points they have.
    rows: Vec<LoopId>,
    row_count: i64,
}

impl Expression {
    /// The expression in blocks of so many elements. The temporaries get these numbers. `None`: it is no scan, or one block.
    pub(crate) fn in_scan_blocks(
        &self,
        block: i64,
        temporaries: [(usize, Buf); 2],
    ) -> Result<Option<ScanBlocks>, CodegenError> {
        let mut dag = self.dag.clone();
        let Some((scan, field)) = only_scan(self, &mut dag) else { return Ok(None) };
        let length = dag.extent(scan.along);
        if block < 2 || block >= length {
            return Ok(None);
        }
        let deps = dag[scan.node].deps;
        let rows: Vec<LoopId> =
            self.loops.iter().copied().filter(|&l| l != scan.along && deps.contains(l)).collect();
        let row_count = rows.iter().try_fold(1i64, |n, &l| n.checked_mul(dag.extent(l)));
        let row_count = row_count.ok_or_else(overflow)?;
        let joined = joined_in(dag[scan.node].dtype, scan.op);
        let cut = Cut { of: self, dag, scan, field, joined, length, block, rows, row_count };
        let [sums, before] = temporaries.map(|(number, buf)| (Tensor::Temporary(number), buf));
        let size = u64::try_from(cut.elements()?).map_err(|_| overflow())?;
        let mut results = Vec::new();
        let whole = length / block;
        results.push(cut.results(before, 0, whole, block)?);
        if length % block > 0 {
            results.push(cut.results(before, whole, 1, length % block)?);
        }
        Ok(Some(ScanBlocks {
            sums: cut.sums(sums)?,
            before: cut.before(sums, before)?,
            results,
            temporary: TensorType::new(joined, Space::of(&[size])),
        }))
    }
}

impl Cut<'_> {
    fn blocks(&self) -> i64 {
        (self.length - 1) / self.block + 1
    }

    /// The elements of a temporary.
    fn elements(&self) -> Result<i64, CodegenError> {
        self.row_count.checked_mul(self.blocks()).ok_or_else(overflow)
    }

    /// The element of a temporary for the block that an expression names.
    fn place(&self, block: &Lin) -> Result<Lin, CodegenError> {
        let (mut place, mut step) = (block.clone(), self.blocks());
        for &l in self.rows.iter().rev() {
            place = place.plus(&Lin::var(l), step).ok_or_else(overflow)?;
            step = step.checked_mul(self.dag.extent(l)).ok_or_else(overflow)?;
        }
        Ok(place)
    }

    /// The element of the line at this distance from where the scan begins.
    fn element(&self, distance: &Lin) -> Result<Lin, CodegenError> {
        if !self.scan.backwards {
            return Ok(distance.clone());
        }
        Lin::constant(self.length - 1).plus(distance, -1).ok_or_else(overflow)
    }

    /// `block * B + within`
    fn distance(&self, block: &Lin, within: &Lin) -> Result<Lin, CodegenError> {
        block.times(self.block).and_then(|d| d.plus(within, 1)).ok_or_else(overflow)
    }

    /// Adds the term at this distance, in the type of the sum, and the neutral element where a guard fails.
    fn term(&self, dag: &mut Dag, distance: &Lin, guard: Guard) -> Result<NodeId, CodegenError> {
        let at = self.element(distance)?;
        let along = self.scan.along;
        let term = dag.import(&self.dag, self.scan.step, &|lin| lin.substitute(along, &at));
        let mut term = term.ok_or_else(overflow)?;
        // Where the guard fails there is nothing to load.
        for node in dag.all_reachable(&[term]) {
            let data = dag[node].clone();
            if let Node::Load { buf, address, mut guards } = data.node {
                guards.push(guard.clone());
                let load = dag.add(Node::Load { buf, address, guards }, data.dtype);
                term = dag.replaced(term, node, load).ok_or_else(overflow)?;
            }
        }
        Ok(self.guarded(dag, term, guard))
    }

    fn guarded(&self, dag: &mut Dag, term: NodeId, guard: Guard) -> NodeId {
        let term =
            if dag[term].dtype == self.joined { term } else { dag.add(Node::Convert(term), self.joined) };
        let fill = self.scan.op.neutral(self.joined);
        dag.add(Node::Guarded { guards: vec![guard], fill, inner: term }, self.joined)
    }

    fn reduced(&self, dag: &mut Dag, l: LoopId, body: NodeId) -> NodeId {
        let (op, field) = (self.scan.op, self.field);
        dag.add(Node::Reduce { op, loops: vec![l], body, field }, self.joined)
    }

    /// Stores a value for every row and block.
    fn stored(
        &self,
        dag: Dag,
        block: LoopId,
        root: NodeId,
        (tensor, buf): (Tensor, Buf),
        reads: &[(Tensor, Buf)],
    ) -> Result<Expression, CodegenError> {
        let loops: Vec<LoopId> = self.rows.iter().copied().chain([block]).collect();
        let address = self.place(&Lin::var(block))?;
        let outputs = vec![Output { to: buf, address, root, join: None }];
        let free = loops.iter().copied().collect();
        let elements = self.elements()?;
        let mut memory = BTreeMap::from([(buf, (tensor, self.joined, elements))]);
        memory.extend(reads.iter().map(|&(tensor, buf)| (buf, (tensor, self.joined, elements))));
        let mut made = Expression { dag, loops, outputs, free, memory };
        made.remember(&self.of.memory);
        Ok(made)
    }

    /// The sum of every block.
    fn sums(&self, to: (Tensor, Buf)) -> Result<Expression, CodegenError> {
        let mut dag = self.dag.clone();
        let block = dag.add_loop(self.blocks()).ok_or_else(many)?;
        let within = dag.add_loop(self.block).ok_or_else(many)?;
        let distance = self.distance(&Lin::var(block), &Lin::var(within))?;
        let guard = Guard { expr: distance.clone(), bound: self.length };
        let term = self.term(&mut dag, &distance, guard)?;
        let root = self.reduced(&mut dag, within, term);
        self.stored(dag, block, root, to, &[])
    }

    /// What comes before every block.
    fn before(&self, sums: (Tensor, Buf), to: (Tensor, Buf)) -> Result<Expression, CodegenError> {
        let mut dag = self.dag.clone();
        let block = dag.add_loop(self.blocks()).ok_or_else(many)?;
        let earlier = dag.add_loop(self.blocks()).ok_or_else(many)?;
        let address = self.place(&Lin::var(earlier))?;
        let sum = dag.add(Node::Load { buf: sums.1, address, guards: Vec::new() }, self.joined);
        // 0 <= block - 1 - earlier
        let expr = Lin::var(block).plus(&Lin::var(earlier), -1);
        let expr = expr.and_then(|e| e.plus(&Lin::constant(1), -1)).ok_or_else(overflow)?;
        let term = self.guarded(&mut dag, sum, Guard { expr, bound: self.blocks() });
        let root = self.reduced(&mut dag, earlier, term);
        self.stored(dag, block, root, to, &[sums])
    }

    /// The results of so many blocks from one on, of which each has so many elements.
    fn results(
        &self,
        before: (Tensor, Buf),
        first: i64,
        blocks: i64,
        elements: i64,
    ) -> Result<Expression, CodegenError> {
        let mut dag = self.dag.clone();
        let block = dag.add_loop(blocks).ok_or_else(many)?;
        let within = dag.add_loop(elements).ok_or_else(many)?;
        let lag = dag.add_loop(elements).ok_or_else(many)?;
        let number = Lin::var(block).plus(&Lin::constant(first), 1).ok_or_else(overflow)?;
        let load = Node::Load { buf: before.1, address: self.place(&number)?, guards: Vec::new() };
        let load = dag.add(load, self.joined);
        // From the own term of a result back, which is a scan again.
        let expr = Lin::var(within).plus(&Lin::var(lag), -1).ok_or_else(overflow)?;
        let distance = self.distance(&number, &expr)?;
        let term = self.term(&mut dag, &distance, Guard { expr, bound: elements })?;
        let own = self.reduced(&mut dag, lag, term);
        let whole = dag.binary(joining(self.scan.op)?, load, own);
        let dtype = self.dag[self.scan.node].dtype;
        let whole = if dtype == self.joined { whole } else { dag.add(Node::Convert(whole), dtype) };

        let at = self.element(&self.distance(&number, &Lin::var(within))?)?;
        let along = self.scan.along;
        let moved = |lin: &Lin| lin.substitute(along, &at);
        let mut outputs = Vec::new();
        for output in &self.of.outputs {
            let known = HashMap::from([(self.scan.node, whole)]);
            let root = dag.import_knowing(&self.dag, output.root, known, &moved).ok_or_else(overflow)?;
            let address = moved(&output.address).ok_or_else(overflow)?;
            outputs.push(Output { to: output.to, address, root, join: None });
        }
        let split = |&l: &LoopId| if l == along { vec![block, within] } else { vec![l] };
        let loops: Vec<LoopId> = self.of.loops.iter().flat_map(split).collect();
        let free = loops
            .iter()
            .copied()
            .filter(|&l| self.of.free.contains(if l == block || l == within { along } else { l }));
        let memory = BTreeMap::from([(before.1, (before.0, self.joined, self.elements()?))]);
        let mut made = Expression { dag, free: free.collect(), loops, outputs, memory };
        made.remember(&self.of.memory);
        Ok(made)
    }
}

fn overflow() -> CodegenError {
    CodegenError::overflow("a scan in blocks")
}

fn many() -> CodegenError {
    CodegenError::malformed("more loops than a kernel has")
}
