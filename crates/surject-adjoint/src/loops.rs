//! The reverse of loops.
//!
//! The forward loop also keeps the carried values that the reverse sweep needs, one slice an iteration. The reverse
//! loop counts down: it takes the slices of its iteration, runs the body again with its reverse sweep behind, and
//! carries the cotangents of the carried values and of what the body reads from around it. A carried value that the
//! body hands on as it is counts as read from around.
//!
//! Where the number of iterations depends on data no stack has room for all of them: see `checkpoints.rs`.

use crate::checkpoints::Step;
use crate::sweep::{Result, Sweep};
use crate::tidy;
use std::collections::{BTreeSet, HashMap, HashSet};
use surject_index::{Affine, Extent, IndexMap, Space};
use surject_ir::uses;
use surject_ir::{
    BinaryOp, Block, DType, FieldId, FieldKind, LibOp, Region, Scalar, Statement, StatementKind, TensorType,
    Var,
};

/// A loop at hand.
pub(crate) struct Loop<'a> {
    pub(crate) targets: &'a [Var],
    pub(crate) inits: &'a [Var],
    pub(crate) cond: &'a Region,
    pub(crate) body: &'a Region,
    pub(crate) trips: Trips,
}

/// The number of iterations.
#[derive(Clone, Copy)]
pub(crate) enum Trips {
    /// It follows from constants.
    Known(u64),
    /// The forward loop counts them.
    Counted(Var),
}

/// A cotangent that the reverse loop carries: its first value, its variable inside, and its next value.
pub(crate) struct Carry {
    pub(crate) init: Var,
    pub(crate) param: Var,
    pub(crate) next: Var,
}

impl Sweep {
    pub(crate) fn reverse_while(&mut self, statement: Statement) -> Result<Vec<Statement>> {
        let StatementKind::While { targets, inits, cond, body } = &statement.kind else {
            return Ok(vec![statement]);
        };
        let invariant = |k: usize| body.body.results[k] == body.params[k];
        let mut seeds: HashMap<usize, FieldId> = HashMap::new();
        for (k, &target) in targets.iter().enumerate() {
            match self.take(target)? {
                Some(cotangent) if invariant(k) => self.contribute(inits[k], cotangent),
                Some(cotangent) => {
                    seeds.insert(k, cotangent);
                }
                None => {}
            }
        }
        let mut wanted: Vec<usize> = seeds.keys().copied().collect();
        wanted.sort_unstable();
        if wanted.is_empty() {
            return Ok(vec![statement]);
        }
        let mut active = self.activity.useful_carries(&self.f, body, &wanted);
        active.retain(|&k| !invariant(k));
        let trips = match self.trips(&statement)? {
            Some(0) => {
                for k in wanted {
                    self.contribute(inits[k], seeds[&k]);
                }
                return Ok(vec![statement]);
            }
            Some(number) => Trips::Known(number),
            None => Trips::Counted(self.var("count", TensorType::scalar(DType::I32))),
        };
        let at_hand = Loop { targets, inits, cond, body, trips };
        let kept = self.reverse_loop(&at_hand, &active, &seeds, &statement)?;
        self.at(&statement);
        match trips {
            Trips::Known(_) => self.keeping(&at_hand, &kept),
            Trips::Counted(count) => self.counting(&at_hand, count),
        }
    }

    /// Emits the reverse loop. Gives the carried values it needs, with the stacks it takes their slices from.
    fn reverse_loop(
        &mut self,
        l: &Loop<'_>,
        active: &[usize],
        seeds: &HashMap<usize, FieldId>,
        statement: &Statement,
    ) -> Result<Vec<(usize, Var)>> {
        let count = l.inits.len();
        let invariant: Vec<usize> =
            (0..count).filter(|&k| l.body.body.results[k] == l.body.params[k]).collect();
        let mut vars: HashMap<Var, Var> = invariant.iter().map(|&k| (l.body.params[k], l.inits[k])).collect();
        let mut around: BTreeSet<Var> = uses::free(&self.f.fields, l.body).into_iter().collect();
        around.extend(invariant.iter().map(|&k| l.inits[k]));
        around.retain(|&v| self.smooth(v));
        // What the loop starts from: what has arrived so far.
        let mut waiting: Vec<(Var, Option<FieldId>)> = Vec::new();
        for &v in &around {
            waiting.push((v, self.take(v)?));
        }

        let outer = std::mem::take(&mut self.out);
        let index = self.var("t", TensorType::scalar(DType::I32));
        let at = self.shifted(index, -1)?;
        let head = std::mem::take(&mut self.out);
        let mut values: Vec<(usize, Var)> = Vec::new();
        for k in (0..count).filter(|k| !invariant.contains(k)) {
            let name = self.f.name_of(l.body.params[k]).to_string();
            let value = self.var_like(&name, l.body.params[k]);
            vars.insert(l.body.params[k], value);
            values.push((k, value));
        }
        let copy = self.copy_block(&l.body.body, &mut vars)?;
        let mut accumulators = Vec::new();
        for &v in &around {
            let (name, ty) = (self.cotangent_name(v), self.f.ty(v).clone());
            let param = self.var(&name, ty);
            let field = self.f.tensor(param);
            self.cotangents.insert(v, vec![field]);
            accumulators.push(param);
        }
        let mut cotangents = Vec::new();
        for &k in active {
            let name = self.cotangent_name(l.targets[k]);
            let param = self.var(&name, self.f.ty(l.targets[k]).clone());
            let field = self.f.tensor(param);
            self.contribute(copy.results[k], field);
            cotangents.push(param);
        }
        let mut statements = self.replayed(copy)?;
        self.at(statement);

        // The next values of the cotangents.
        let mut next_active = Vec::new();
        for &k in active {
            let value = vars[&l.body.params[k]];
            let name = self.cotangent_name(value);
            next_active.push(match self.take(value)? {
                Some(field) => self.stored(&name, field),
                None => self.zeros_like(&name, value),
            });
        }
        let mut next_around = Vec::new();
        for (&v, &param) in around.iter().zip(&accumulators) {
            let name = self.cotangent_name(v);
            let field = self.take(v)?;
            let same = field.is_none_or(|f| self.f.fields[f].kind == FieldKind::Tensor(param));
            next_around.push(match field {
                Some(field) if !same => Some(self.stored(&name, field)),
                _ => None,
            });
        }
        statements.append(&mut self.out);

        // Slices of what is needed.
        let mut live: HashSet<Var> =
            next_active.iter().copied().chain(next_around.iter().flatten().copied()).collect();
        let statements = tidy::live_statements(&self.f, &statements, &mut live);
        let needed: Vec<(usize, Var)> = values.into_iter().filter(|(_, v)| live.contains(v)).collect();
        let mut kept = Vec::new();
        let loads = match l.trips {
            Trips::Known(number) => {
                for &(k, value) in &needed {
                    let stack = self.stack_var(l, number, k);
                    self.load(stack, value, at)?;
                    kept.push((k, stack));
                }
                std::mem::take(&mut self.out)
            }
            Trips::Counted(_) => Vec::new(),
        };
        self.out = outer;

        let mut carries = Vec::new();
        let mut receivers: Vec<Var> = Vec::new();
        for (i, &k) in active.iter().enumerate() {
            let init = match seeds.get(&k) {
                Some(&seed) => self.stored(&self.cotangent_name(l.targets[k]), seed),
                None => self.zeros_like(&self.cotangent_name(l.targets[k]), l.targets[k]),
            };
            carries.push(Carry { init, param: cotangents[i], next: next_active[i] });
            receivers.push(l.inits[k]);
        }
        for (i, (v, arrived)) in waiting.into_iter().enumerate() {
            match next_around[i] {
                Some(next) => {
                    let name = self.cotangent_name(v);
                    let init = match arrived {
                        Some(field) => self.stored(&name, field),
                        None => self.zeros_like(&name, v),
                    };
                    carries.push(Carry { init, param: accumulators[i], next });
                    receivers.push(v);
                }
                None => {
                    if let Some(field) = arrived {
                        self.cotangents.insert(v, vec![field]);
                    }
                }
            }
        }
        let results = match l.trips {
            Trips::Known(number) => {
                let body: Vec<Statement> = head.into_iter().chain(loads).chain(statements).collect();
                let first = self.i32("t", number.into());
                self.count_down(first, (index, at), body, &carries)?
            }
            Trips::Counted(count) => {
                let step = Step { index, at, head, needed, statements };
                self.segments(l, count, step, &carries)?
            }
        };
        for (v, result) in receivers.into_iter().zip(results) {
            let term = self.f.tensor(result);
            self.contribute(v, term);
        }
        Ok(kept)
    }

    /// Emits a loop that counts from `first` to 0 and carries these values; the index of an iteration is one less than
    /// its count. Gives the values behind the loop.
    pub(crate) fn count_down(
        &mut self,
        first: Var,
        (index, next_index): (Var, Var),
        body: Vec<Statement>,
        carries: &[Carry],
    ) -> Result<Vec<Var>> {
        let inits: Vec<Var> = [first].into_iter().chain(carries.iter().map(|c| c.init)).collect();
        let types = self.f.types(&inits);
        let names: Vec<String> = inits.iter().map(|&v| self.f.name_of(v).to_string()).collect();
        let fresh = |s: &mut Sweep| -> Vec<Var> {
            names.iter().zip(&types).map(|(name, ty)| s.var(name, ty.clone())).collect()
        };
        let targets = fresh(self);
        let params = fresh(self);
        let outer = std::mem::take(&mut self.out);
        let count = self.f.tensor(params[0]);
        let zero = self.integer(count, 0);
        let more = self.binary(BinaryOp::Gt, count, zero)?;
        let more = self.stored("more", more);
        let condition = std::mem::replace(&mut self.out, outer);
        let cond = Region { params, body: Block { statements: condition, results: vec![more] } };
        let body = Region {
            params: [index].into_iter().chain(carries.iter().map(|c| c.param)).collect(),
            body: Block {
                statements: body,
                results: [next_index].into_iter().chain(carries.iter().map(|c| c.next)).collect(),
            },
        };
        let values = targets[1..].to_vec();
        self.emit(StatementKind::While { targets, inits, cond, body });
        Ok(values)
    }

    /// The variable of the stack of a carried value: one slice for every iteration.
    pub(crate) fn stack_var(&mut self, l: &Loop<'_>, slots: u64, k: usize) -> Var {
        let ty = self.f.ty(l.inits[k]).clone();
        let name = format!("{}_kept", self.f.name_of(l.body.params[k]));
        self.var(&name, TensorType::new(ty.dtype, stacked(&ty.space, slots)))
    }

    /// Emits what takes slice `at` of a stack as the value of a variable.
    pub(crate) fn load(&mut self, stack: Var, value: Var, at: Var) -> Result<()> {
        let slice = self.slice_of(stack, at)?;
        let space = self.f.ty(value).space.clone();
        let field = self.without_front(slice, &space)?;
        self.emit(StatementKind::Store { target: value, field });
        Ok(())
    }

    /// Slice `at` of a stack, with the axis of the stack.
    pub(crate) fn slice_of(&mut self, stack: Var, at: Var) -> Result<Var> {
        let mut extents = self.f.ty(stack).space.extents().to_vec();
        extents[0] = Extent::Const(1);
        let starts = self.slice_args(&[], at, extents.len() - 1);
        self.slice_at("slice", stack, &Space::new(extents), &starts)
    }

    /// A slice of a stack as a field over the space of what is stacked.
    fn without_front(&mut self, slice: Var, space: &Space) -> Result<FieldId> {
        let components = [Affine::fixed(space.rank(), 0)]
            .into_iter()
            .chain((0..space.rank()).map(|a| Affine::axis(space.rank(), a)))
            .collect();
        let map = self.mapped(IndexMap::total(space.clone(), stacked(space, 1), components))?;
        let slice = self.f.tensor(slice);
        self.read(map, slice)
    }

    /// A value as a slice of a stack.
    pub(crate) fn with_front(&mut self, value: Var) -> Result<FieldId> {
        let space = self.f.ty(value).space.clone();
        let one = stacked(&space, 1);
        let axes = (1..one.rank()).map(|a| Affine::axis(one.rank(), a)).collect();
        let map = self.mapped(IndexMap::total(one, space, axes))?;
        let value = self.f.tensor(value);
        self.read(map, value)
    }

    /// A stack with one slice exchanged.
    pub(crate) fn with_slice(&mut self, stack: Var, slice: FieldId, at: Var) -> Result<Var> {
        let name = self.f.name_of(stack).to_string();
        let rank = self.f.ty(stack).space.rank() - 1;
        let slice = self.stored("slice", slice);
        let args = self.slice_args(&[stack, slice], at, rank);
        self.call_one(&name, LibOp::DynamicUpdateSlice, args, Vec::new())
    }

    /// The operands of a slice of a stack: the tensors, then the position.
    fn slice_args(&mut self, tensors: &[Var], at: Var, rank: usize) -> Vec<Var> {
        let mut args = tensors.to_vec();
        args.push(at);
        if rank > 0 {
            let zero = self.i32("zero", 0);
            args.extend(std::iter::repeat_n(zero, rank));
        }
        args
    }

    /// The forward loop that also keeps these carried values on their stacks.
    fn keeping(&mut self, l: &Loop<'_>, kept: &[(usize, Var)]) -> Result<Vec<Statement>> {
        let outer = std::mem::take(&mut self.out);
        let mut inits = l.inits.to_vec();
        let mut targets = l.targets.to_vec();
        let (mut cond, mut body) = (l.cond.clone(), l.body.clone());
        if !kept.is_empty() {
            let number = TensorType::scalar(DType::I32);
            inits.push(self.i32("t", 0));
            targets.push(self.var("t", number.clone()));
            cond.params.push(self.var("t", number.clone()));
            let index = self.var("t", number);
            body.params.push(index);
            let before = std::mem::take(&mut self.out);
            let next = self.shifted(index, 1)?;
            body.body.results.push(next);
            let mut starts = before;
            let mut steps = std::mem::take(&mut self.out);
            for &(k, stack) in kept {
                let ty = self.f.ty(stack).clone();
                let name = self.f.name_of(stack).to_string();
                inits.push(self.splat(&name, &ty.space, Scalar::zero(ty.dtype)));
                starts.append(&mut self.out);
                targets.push(stack);
                cond.params.push(self.var(&name, ty.clone()));
                let param = self.var(&name, ty);
                body.params.push(param);
                let slice = self.with_front(l.body.params[k])?;
                body.body.results.push(self.with_slice(param, slice, index)?);
                steps.append(&mut self.out);
            }
            body.body.statements.extend(steps);
            self.out = starts;
        }
        self.emit(StatementKind::While { targets, inits, cond, body });
        Ok(std::mem::replace(&mut self.out, outer))
    }

    /// The forward loop that also counts its iterations.
    fn counting(&mut self, l: &Loop<'_>, count: Var) -> Result<Vec<Statement>> {
        let outer = std::mem::take(&mut self.out);
        let (mut cond, mut body) = (l.cond.clone(), l.body.clone());
        let number = TensorType::scalar(DType::I32);
        cond.params.push(self.var("t", number.clone()));
        let index = self.var("t", number);
        body.params.push(index);
        let next = self.shifted(index, 1)?;
        body.body.results.push(next);
        body.body.statements.append(&mut self.out);
        let with = |vars: &[Var], last: Var| vars.iter().copied().chain([last]).collect::<Vec<_>>();
        let inits = with(l.inits, self.i32("t", 0));
        self.emit(StatementKind::While { targets: with(l.targets, count), inits, cond, body });
        Ok(std::mem::replace(&mut self.out, outer))
    }

    /// Stores an `i32` scalar plus a number.
    pub(crate) fn shifted(&mut self, index: Var, by: i128) -> Result<Var> {
        let index = self.f.tensor(index);
        let by = self.integer(index, by);
        let sum = self.add(index, by)?;
        Ok(self.stored("t", sum))
    }
}

/// A space with an axis in front.
pub(crate) fn stacked(space: &Space, count: u64) -> Space {
    Space::new([Extent::Const(count)].into_iter().chain(space.extents().iter().cloned()).collect::<Vec<_>>())
}
