//! Which gathers are evaluated where they are read, and the kernels of the others.

use crate::expression::address::LoopSet;
use crate::expression::build::Builder;
use crate::expression::compose::{box_loops, linearise, sizes};
use crate::expression::dag::buf;
use crate::expression::gather::Gathered;
use crate::expression::output::Output;
use crate::expression::stop::Stop;
use crate::expression::uses::Uses;
use crate::materialise::store::Stores;
use crate::materialise::sunk_gather::SunkGather;
use crate::normalise::merge;
use crate::normalise::pulled::Pulled;
use crate::planned::kernel::Kernel;
use crate::{CodegenError, schedule};
use std::collections::HashMap;
use surject_index::IndexMap;
use surject_ir::{Block, FieldId, FieldKind, Function, StatementKind, Var};

/// Shorter lines are moved as a whole.
const LINE: i64 = 32;

/// The gathers that are evaluated where they are read. `excluded` are variables that are evaluated elsewhere themselves.
pub fn find(
    function: &Function,
    uses: &Uses,
    excluded: &dyn Fn(Var) -> bool,
    indices: &HashMap<Var, FieldId>,
    sunk: &HashMap<Var, SunkGather>,
) -> HashMap<Var, Gathered> {
    let mut readers: HashMap<Var, Vec<Option<(usize, FieldId)>>> = HashMap::new();
    let mut candidates: Vec<(usize, Var, Gathered)> = Vec::new();
    let mut blocks: Vec<&Block> = vec![&function.body];
    let mut number = 0;
    while let Some(block) = blocks.pop() {
        for &result in &block.results {
            readers.entry(result).or_default().push(None);
        }
        for statement in &block.statements {
            let mut read = Vec::new();
            uses.direct(statement, &mut read);
            read.sort_unstable();
            read.dedup();
            let reader = match &statement.kind {
                StatementKind::Store { target, field } if !excluded(*target) => Some((number, *field)),
                _ => None,
            };
            for var in read {
                readers.entry(var).or_default().push(reader);
            }
            if let (Some(gathered), &[target]) =
                (Gathered::of(function, &statement.kind), statement.targets())
                && !sunk.contains_key(&target)
            {
                candidates.push((number, target, gathered.computing(indices)));
            }
            blocks.extend(statement.regions().into_iter().map(|r| &r.body));
        }
        number += 1;
    }
    let mut found = HashMap::new();
    for (block, target, gathered) in candidates {
        if let Some(&[Some((reader, field))]) = readers.get(&target).map(Vec::as_slice)
            && reader == block
            && read_once(function, field, target)
            && gathered.line.is_none_or(|axis| computes_along(function, field, target, axis))
        {
            found.insert(target, gathered);
        }
    }
    found
}

/// Does a field read every element of a tensor at most once, none of them outside, and without reducing?
fn read_once(function: &Function, field: FieldId, var: Var) -> bool {
    let fields = &function.fields;
    let points = |f: FieldId| fields[f].space.points();
    let tensor = |f: FieldId| matches!(fields[f].kind, FieldKind::Tensor(v) if v == var);
    let reads = |f: FieldId| fields.reachable(&[f]).into_iter().any(tensor);
    let all = fields.reachable(&[field]);
    if all.iter().any(|&id| matches!(fields[id].kind, FieldKind::Acc { .. })) {
        return false;
    }
    // One way from the value to the tensor: as many reads of it as there are spaces it is seen from.
    let mut ways = 0;
    for &id in &all {
        if let FieldKind::Read { map, of } = &fields[id].kind
            && reads(*of)
        {
            if !map.guards().is_empty() {
                return false;
            }
            ways += usize::from(tensor(*of));
        }
    }
    let direct = seen_directly(function, field, var);
    let same = function.ty(var).space.points();
    ways + usize::from(direct || tensor(field)) <= 1 && points(field) <= same
}

/// Does a field compute from a tensor over the space of that?
fn seen_directly(function: &Function, field: FieldId, var: Var) -> bool {
    let fields = &function.fields;
    let tensor = |id: FieldId| matches!(fields[id].kind, FieldKind::Tensor(v) if v == var);
    fields.reachable(&[field]).into_iter().any(|id| {
        !matches!(fields[id].kind, FieldKind::Read { .. }) && fields[id].kind.children().any(tensor)
    })
}

/// Does a field compute from a tensor along long lines of it, which are lines of its own?
fn computes_along(function: &Function, field: FieldId, var: Var, axis: usize) -> bool {
    let fields = &function.fields;
    let long = function.ty(var).space.extent(axis).as_const().is_some_and(|n| n >= LINE as u64);
    let tensor = |f: FieldId| matches!(fields[f].kind, FieldKind::Tensor(v) if v == var);
    let all = fields.reachable(&[field]);
    let moves = |kind: &FieldKind| matches!(kind, FieldKind::Read { .. } | FieldKind::Tensor(_));
    let last = fields[field].space.rank().checked_sub(1);
    let own = |map: &IndexMap| {
        let c = &map.components()[axis];
        last.is_some_and(|l| c.coeffs[l] == 1 && c.coeffs.iter().filter(|&&k| k != 0).count() == 1)
    };
    let straight = all.iter().all(|&id| match &fields[id].kind {
        FieldKind::Read { map, of } if tensor(*of) => own(map),
        // Seen through another read it may lie anywhere.
        FieldKind::Read { of, .. } => !fields.reachable(&[*of]).into_iter().any(tensor),
        _ => true,
    });
    let direct = seen_directly(function, field, var);
    long && straight && !moves(&fields[field].kind) && (!direct || last == Some(axis))
}

impl Stores<'_> {
    /// The kernel of a gather.
    pub fn gather(&mut self, target: Var, gathered: &Gathered) -> Result<Kernel, CodegenError> {
        let ty = self.function.ty(target);
        let plain = |stop: Stop| match stop {
            Stop::Error(error) => error,
            _ => CodegenError::malformed("indices that are no pointwise function"),
        };
        let sizes = sizes(&ty.space)?;
        let (dag, outer, position) = box_loops(&sizes).map_err(plain)?;
        let address = linearise(&sizes, &position)?;
        let (none, unbound) = (HashMap::new(), HashMap::new());
        let mut builder = Builder::new(self.function, &none, &unbound, dag)
            .inlining(&self.inlined)
            .gathering(&self.gathers);
        let root = builder.gather(gathered, ty.dtype, &position).map_err(plain)?;
        let outputs = vec![Output { to: buf(target), address, root, join: None }];
        // The axes of indices stay apart: who reads some of the lines may take them with it.
        let axes = outer.iter().enumerate();
        let slice =
            axes.filter(|(axis, _)| !gathered.batch.contains(axis)).map(|(_, &l)| l).collect::<Vec<_>>();
        let (dag, outputs, slice_left) = merge::merge(builder.dag, outputs, &slice);
        let outer = outer.into_iter().filter(|l| !slice.contains(l) || slice_left.contains(l)).collect();
        Ok(self.gathered(Pulled { dag, outer, outputs }))
    }

    /// The kernel of a gather whose elements are an expression.
    pub(crate) fn gathered(&self, pulled: Pulled) -> Kernel {
        let Pulled { dag, outer, outputs } = pulled;
        let schedule = schedule::choose(&dag, &outputs, &outer, self.target);
        let free: LoopSet = outer.iter().copied().collect();
        crate::planned::rows::whole(dag, outputs, schedule, free)
    }
}
