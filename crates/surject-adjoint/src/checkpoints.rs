//! The reverse of loops whose number of iterations depends on data.
//!
//! The forward loop counts its iterations. No stack has more slices than `Options::checkpoints`, whatever the count `n` is: the
//! reverse sweep runs the loop once more and keeps the carried values of every `s`-th iteration, `s = ⌈n / slots⌉`.
//! From the last of these checkpoints to the first it runs the `s` iterations behind one again, with a second stack for
//! every `⌈s / slots⌉`-th of them, and from there up to the iteration whose turn it is. So a loop of up to
//! `slots²` iterations runs three times, and any other one a few times more, in memory that does not grow.

use crate::loops::{Carry, Loop};
use crate::sweep::{Result, Sweep};
use crate::trips::sort_out;
use std::collections::{BTreeSet, HashMap, HashSet};
use surject_index::IndexMap;
use surject_ir::{
    BinaryOp, Block, DType, FieldId, Region, Scalar, Statement, StatementKind, TensorType, Var,
};

/// A stack has fewer slices than the options say if it would have more bytes than this.
const BYTES: u64 = 1 << 26;

/// One iteration of the reverse loop: it takes the values of a forward iteration and carries cotangents.
pub(crate) struct Step {
    /// The iterations left, counted down.
    pub(crate) index: Var,
    /// One less.
    pub(crate) at: Var,
    /// What computes that.
    pub(crate) head: Vec<Statement>,
    /// The carried values that it needs, by their position, and as which variables.
    pub(crate) needed: Vec<(usize, Var)>,
    pub(crate) statements: Vec<Statement>,
}

/// The carried values that are run again, by position.
struct State<'a, 'l> {
    l: &'a Loop<'l>,
    kept: Vec<usize>,
    slots: u64,
}

impl Sweep {
    /// Emits the reverse of a loop that has run `count` times. Gives the cotangents behind it.
    pub(crate) fn segments(
        &mut self,
        l: &Loop<'_>,
        count: Var,
        step: Step,
        carries: &[Carry],
    ) -> Result<Vec<Var>> {
        let kept = self.rerun(l, &step);
        let slots = self.slots(l, &kept);
        let state = State { l, kept, slots };
        let most = i128::from(slots);
        let stride = self.rounded_up(count, most)?;
        let inner = self.rounded_up(stride, most)?;
        let firsts: Vec<Var> = state.kept.iter().map(|&k| l.inits[k]).collect();
        let checkpoints = self.recorded(&state, count, stride, &firsts)?;
        let segments = self.arithmetic("segments", |s| {
            let (n, stride) = (s.f.tensor(count), s.f.tensor(stride));
            let one = s.integer(stride, 1);
            let below = s.sub(stride, one)?;
            let sum = s.add(n, below)?;
            s.div(sum, stride)
        })?;

        // One segment: its first state, its stack, and its iterations from the last to the first.
        let outer = std::mem::take(&mut self.out);
        let index = self.var("segment", TensorType::scalar(DType::I32));
        let at = self.shifted(index, -1)?;
        let length = self.arithmetic("length", |s| {
            let (at, n, stride) = (s.f.tensor(at), s.f.tensor(count), s.f.tensor(stride));
            let start = s.mul(at, stride)?;
            let rest = s.sub(n, start)?;
            s.binary(BinaryOp::Min, stride, rest)
        })?;
        let mut starts = Vec::new();
        for (&k, &stack) in state.kept.iter().zip(&checkpoints) {
            let value = self.again(l.body.params[k]);
            self.load(stack, value, at)?;
            starts.push(value);
        }
        let stacks = self.recorded(&state, length, inner, &starts)?;
        let params: Vec<Var> = carries.iter().map(|c| self.again(c.param)).collect();
        let inside: Vec<Carry> = carries
            .iter()
            .zip(&params)
            .map(|(c, &init)| Carry { init, param: c.param, next: c.next })
            .collect();
        let before = std::mem::take(&mut self.out);
        self.resumed(&state, &step, inner, &stacks)?;
        let resumed = std::mem::replace(&mut self.out, before);
        let body = step.head.into_iter().chain(resumed).chain(step.statements).collect();
        let results = self.count_down(length, (step.index, step.at), body, &inside)?;
        let body = std::mem::replace(&mut self.out, outer);
        let outside: Vec<Carry> = carries
            .iter()
            .zip(params.iter().zip(&results))
            .map(|(c, (&param, &next))| Carry { init: c.init, param, next })
            .collect();
        self.count_down(segments, (index, at), body, &outside)
    }

    /// The carried values that those a step needs are computed from.
    fn rerun(&self, l: &Loop<'_>, step: &Step) -> Vec<usize> {
        let invariant = |k: &usize| l.body.body.results[*k] == l.body.params[*k];
        let mut kept: BTreeSet<usize> = step.needed.iter().map(|n| n.0).collect();
        loop {
            let before = kept.len();
            let roots = kept.iter().map(|&k| l.body.body.results[k]).collect();
            let (_, used) = self.needed(l.body, roots);
            sort_out(used, &l.body.params, &mut kept, &mut HashSet::new());
            kept.retain(|k| !invariant(k));
            if kept.len() == before {
                return kept.into_iter().collect();
            }
        }
    }

    /// How many slices a stack has.
    fn slots(&self, l: &Loop<'_>, kept: &[usize]) -> u64 {
        let mut bytes = 0;
        for &k in kept {
            let ty = self.f.ty(l.inits[k]);
            // Of symbolic sizes nothing is known that would make the stack smaller.
            let points = ty.space.points().unwrap_or(0);
            bytes += points * ty.dtype.bits().div_ceil(8) as u64;
        }
        (BYTES / bytes.max(1)).max(4).min(self.checkpoints.max(1))
    }

    /// Emits a loop that runs `length` iterations from a state and keeps every `stride`-th of them. Gives the stacks.
    fn recorded(
        &mut self,
        state: &State<'_, '_>,
        length: Var,
        stride: Var,
        starts: &[Var],
    ) -> Result<Vec<Var>> {
        let n = starts.len();
        let mut inits = vec![self.i32("t", 0)];
        inits.extend(starts);
        for &k in &state.kept {
            let stack = self.stack_var(state.l, state.slots, k);
            let (name, ty) = (self.f.name_of(stack).to_string(), self.f.ty(stack).clone());
            inits.push(self.splat(&name, &ty.space, Scalar::zero(ty.dtype)));
        }
        let results = self.while_less(length, &inits, |s, params| {
            let (at, values, stacks) = (params[0], &params[1..=n], &params[n + 1..]);
            let slot = s.arithmetic("slot", |s| {
                let (at, stride) = (s.f.tensor(at), s.f.tensor(stride));
                s.div(at, stride)
            })?;
            let first = s.arithmetic("first", |s| {
                let (at, slot, stride) = (s.f.tensor(at), s.f.tensor(slot), s.f.tensor(stride));
                let start = s.mul(slot, stride)?;
                s.binary(BinaryOp::Eq, at, start)
            })?;
            let mut next = s.iteration(state, values)?;
            for (&value, &stack) in values.iter().zip(stacks) {
                let old = s.slice_of(stack, slot)?;
                let (new, old) = (s.with_front(value)?, s.f.tensor(old));
                let space = s.space(old);
                let everywhere = IndexMap::projection(&space, &[]);
                let first = s.f.tensor(first);
                let first = s.read(everywhere, first)?;
                let slice = s.select(first, new, old)?;
                next.push(s.with_slice(stack, slice, slot)?);
            }
            Ok(next)
        })?;
        Ok(results[n + 1..].to_vec())
    }

    /// Emits what defines the values that a step needs: from the nearest state on a stack on.
    fn resumed(&mut self, state: &State<'_, '_>, step: &Step, stride: Var, stacks: &[Var]) -> Result<()> {
        let at = step.at;
        let slot = self.arithmetic("slot", |s| {
            let (at, stride) = (s.f.tensor(at), s.f.tensor(stride));
            s.div(at, stride)
        })?;
        let rest = self.arithmetic("rest", |s| {
            let (at, slot, stride) = (s.f.tensor(at), s.f.tensor(slot), s.f.tensor(stride));
            let start = s.mul(slot, stride)?;
            s.sub(at, start)
        })?;
        let mut inits = vec![self.i32("t", 0)];
        for (&k, &stack) in state.kept.iter().zip(stacks) {
            let param = state.l.body.params[k];
            let value = self.again(param);
            self.load(stack, value, slot)?;
            inits.push(value);
        }
        let results = self.while_less(rest, &inits, |s, params| s.iteration(state, &params[1..]))?;
        for &(k, value) in &step.needed {
            let Some(place) = state.kept.iter().position(|&kept| kept == k) else { continue };
            let field = self.f.tensor(results[1 + place]);
            self.emit(StatementKind::Store { target: value, field });
        }
        Ok(())
    }

    /// Emits the body of a loop for a state. Gives the next one.
    fn iteration(&mut self, state: &State<'_, '_>, values: &[Var]) -> Result<Vec<Var>> {
        let body = state.l.body;
        let mut vars: HashMap<Var, Var> = HashMap::new();
        for (k, &param) in body.params.iter().enumerate() {
            if body.body.results[k] == param {
                vars.insert(param, state.l.inits[k]);
            }
        }
        vars.extend(state.kept.iter().zip(values).map(|(&k, &value)| (body.params[k], value)));
        let roots: Vec<Var> = state.kept.iter().map(|&k| body.body.results[k]).collect();
        let (statements, _) = self.needed(body, roots.clone());
        let copy = self.copy_block(&Block { statements, results: roots }, &mut vars)?;
        self.out.extend(copy.statements);
        Ok(copy.results)
    }

    /// Emits `while t < limit`, with `t` the first of the carried values, which counts by 1. The body gives the next of
    /// the others.
    pub(crate) fn while_less(
        &mut self,
        limit: Var,
        inits: &[Var],
        body: impl FnOnce(&mut Sweep, &[Var]) -> Result<Vec<Var>>,
    ) -> Result<Vec<Var>> {
        let fresh = |s: &mut Sweep| -> Vec<Var> { inits.iter().map(|&v| s.again(v)).collect() };
        let (targets, outside, inside) = (fresh(self), fresh(self), fresh(self));
        let outer = std::mem::take(&mut self.out);
        let (at, last) = (self.f.tensor(outside[0]), self.f.tensor(limit));
        let more = self.binary(BinaryOp::Lt, at, last)?;
        let more = self.stored("more", more);
        let statements = std::mem::take(&mut self.out);
        let cond = Region { params: outside, body: Block { statements, results: vec![more] } };
        let values = body(self, &inside)?;
        let next = self.shifted(inside[0], 1)?;
        let results = [next].into_iter().chain(values).collect();
        let statements = std::mem::replace(&mut self.out, outer);
        let body = Region { params: inside, body: Block { statements, results } };
        self.emit(StatementKind::While { targets: targets.clone(), inits: inits.to_vec(), cond, body });
        Ok(targets)
    }

    /// A new variable of the name, type and dependence of another one.
    pub(crate) fn again(&mut self, var: Var) -> Var {
        let name = self.f.name_of(var).to_string();
        self.var_like(&name, var)
    }

    /// Stores a field of scalars.
    pub(crate) fn arithmetic(
        &mut self,
        name: &str,
        field: impl FnOnce(&mut Sweep) -> Result<FieldId>,
    ) -> Result<Var> {
        let field = field(self)?;
        Ok(self.stored(name, field))
    }

    /// `max(1, ⌈x / by⌉)`
    fn rounded_up(&mut self, x: Var, by: i128) -> Result<Var> {
        self.arithmetic("stride", |s| {
            let x = s.f.tensor(x);
            let (above, by, one) = (s.integer(x, by - 1), s.integer(x, by), s.integer(x, 1));
            let sum = s.add(x, above)?;
            let quotient = s.div(sum, by)?;
            s.binary(BinaryOp::Max, quotient, one)
        })
    }
}
