//! Code of a kernel: scopes, loops and branches.
//!
//! A kernel is a tree of loops. Every open loop is a scope with its own statements; a loop that is closed is one
//! statement of the scope around it. A value is written into the outermost scope whose loops it depends
//! on, where later uses find it: so what does not change in a loop is computed before it, reductions included,
//! without any pass.
//!
//! A scope may bind its loop as a *vector*: then the loop variable is that of lane 0, and what depends on the
//! loop is a vector of as many elements as the scope has lanes. Of the vector at the end of a loop the last lanes
//! may lie beyond it: loads give zeros there, and nothing is stored.

use crate::CodegenError;
use crate::code::{Block, Carry, Declaration, Function, Literal, Op, Statement, Symbol, Value};
use crate::expression::address::{Guard, GuardFact, Lin, LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, NodeId};
use crate::lower::divide::Inverse;
use crate::machine::elem::{Elem, Type};
use crate::schedule::ReducePlan;
use crate::schedule::gathered_lines::Lines;
use crate::schedule::prefetch::{PrefetchedLoads, Turn};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// A scope of an [`Emitter`]; by default the outermost one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ScopeId(pub(crate) usize);

/// A value: its name and its lanes (1: a scalar).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Val {
    /// The name of the value.
    pub ssa: Value,
    /// The number of lanes.
    pub lanes: usize,
}

/// Where code goes, and how many lanes it works on.
#[derive(Clone, Copy, Debug)]
pub struct At {
    /// The scope.
    pub scope: ScopeId,
    /// The lanes.
    pub lanes: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) parent: Option<ScopeId>,
    pub(crate) binds: Vec<(LoopId, Value)>,
    pub(crate) vector: Option<(LoopId, usize)>,
    /// How many lanes of the vector exist, where not all do.
    pub(crate) active: Option<usize>,
    /// Which lanes of the vector exist, an `i1` for each, where that is known only when the kernel runs.
    pub(crate) existing: Option<Value>,
    /// Do the lanes of the vector hold the even elements first, then the odd ones?
    pub(crate) pairs: bool,
    /// A part of a loop that is all that runs here: its first value, and its end.
    pub(crate) span: Option<(LoopId, i64, i64)>,
    /// The loop that this is an iteration of.
    pub(crate) turn: Option<Turn>,
    pub(crate) code: Vec<Statement>,
    pub(crate) nodes: HashMap<NodeId, Val>,
    pub(crate) lins: HashMap<Lin, Value>,
    pub(crate) broadcasts: HashMap<(Value, usize), Value>,
    pub(crate) predicates: HashMap<(Vec<Guard>, usize), Value>,
    pub(crate) constants: HashMap<Literal, Value>,
    /// Loops that have one value here.
    pub(crate) fixed: Vec<(LoopId, i64)>,
}

/// Writes the code of one function.
pub struct Emitter<'a> {
    /// The expression.
    pub dag: &'a Dag,
    /// The pointers to tensors.
    pub pointers: HashMap<Buf, Value>,
    /// How reductions are done.
    pub reductions: HashMap<NodeId, ReducePlan>,
    /// What a reduction stores on its way, and the pointer it goes to.
    pub term_cache: Option<(crate::schedule::term_cache::TermCache, Value)>,
    /// The functions of the runtime that it calls.
    pub(crate) declarations: BTreeSet<Declaration>,
    /// Was a loop used where it is not open? The code is then wrong and must not be used.
    pub unbound: bool,
    /// Of tables of how many entries may each lane take one ([`crate::Target::lane_permute_width`])?
    pub tables: usize,
    /// Do results go past the caches ([`crate::Target::has_non_temporal_stores`])?
    pub streams: bool,
    /// Is what is far away prefetched ([`crate::Target::prefetches`])?
    pub(crate) prefetches: bool,
    /// Are whole rows prefetched that come next, not some that come later?
    pub(crate) prefetches_next_row: bool,
    /// What is read from far away ([`crate::schedule::prefetch`]).
    pub(crate) far: PrefetchedLoads,
    /// Lines that are chosen from what is far away ([`crate::schedule::gathered_lines`]).
    pub(crate) lines: Lines,
    /// Those that have been prefetched, and the scopes where.
    pub(crate) prefetched_lines: HashSet<(Buf, NodeId, ScopeId)>,
    /// What is stored far away.
    pub(crate) far_stores: Vec<Buf>,
    /// The reductions whose terms are being written.
    pub(crate) passes: Vec<NodeId>,
    /// The inverses of divisors, by these.
    pub(crate) inverses: HashMap<Value, Inverse>,
    pub(crate) scopes: Vec<Scope>,
    names: u32,
    parameters: Vec<(Value, Type)>,
}

/// A value carried through the iterations of a loop.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Its name inside the loop.
    pub name: Value,
    /// Its value before the loop.
    pub init: Value,
    /// Its type.
    pub ty: Type,
    /// Its value after an iteration.
    pub next: Value,
}

/// The numbers that a loop runs through, where they are known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// The first.
    pub(crate) low: i64,
    /// The end.
    pub(crate) high: i64,
    /// From one to the next.
    pub(crate) step: i64,
}

/// The bounds of a loop: `i64` values.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The first value.
    pub low: Value,
    /// The end.
    pub high: Value,
    /// The step.
    pub step: Value,
}

/// The first values are the parameters that every kernel has.
const PARAMETERS: u32 = 3;

impl<'a> Emitter<'a> {
    /// An emitter with its outermost scope.
    pub fn new(dag: &'a Dag) -> Emitter<'a> {
        Emitter {
            dag,
            pointers: HashMap::new(),
            reductions: HashMap::new(),
            term_cache: None,
            declarations: BTreeSet::new(),
            unbound: false,
            tables: 0,
            streams: false,
            prefetches: false,
            prefetches_next_row: false,
            far: PrefetchedLoads::new(),
            lines: Lines::new(),
            prefetched_lines: HashSet::new(),
            far_stores: Vec::new(),
            passes: Vec::new(),
            inverses: HashMap::new(),
            scopes: vec![Scope::default()],
            names: PARAMETERS,
            parameters: Vec::new(),
        }
    }

    /// The outermost scope.
    pub fn root(&self) -> ScopeId {
        ScopeId(0)
    }

    /// The code of the outermost scope, and what it uses.
    pub(crate) fn finish(self) -> (Vec<Statement>, BTreeSet<Declaration>) {
        let code = self.scopes.into_iter().next().map_or_else(Vec::new, |s| s.code);
        (code, self.declarations)
    }

    /// The function that an emitter of its own has written.
    pub(crate) fn finish_function(self, symbol: Symbol) -> (Function, BTreeSet<Declaration>) {
        let parameters = self.parameters.clone();
        let (body, declarations) = self.finish();
        (Function { symbol, parameters, body }, declarations)
    }

    /// An emitter of what stands inside of what this one writes: it has the same pointers, and other names.
    pub fn inside<'b>(&self, dag: &'b Dag) -> Emitter<'b> {
        Emitter {
            pointers: self.pointers.clone(),
            tables: self.tables,
            streams: self.streams,
            names: self.names,
            ..Emitter::new(dag)
        }
    }

    /// The code of an emitter inside of this one.
    pub(crate) fn close_inside(&mut self, inner: Emitter<'_>) -> Vec<Statement> {
        self.names = inner.names;
        self.unbound |= inner.unbound;
        let (code, declarations) = inner.finish();
        self.declarations.extend(declarations);
        code
    }

    /// A parameter of a function of its own: those before any operation.
    pub(crate) fn parameter(&mut self, ty: Type) -> Value {
        let parameter = self.name();
        self.parameters.push((parameter, ty));
        parameter
    }

    /// A new name.
    pub fn name(&mut self) -> Value {
        self.names += 1;
        Value::numbered(self.names - 1)
    }

    /// Adds an operation with these results.
    pub(crate) fn add(&mut self, scope: ScopeId, results: Vec<Value>, op: Op) {
        self.scopes[scope.0].code.push(Statement { results, op });
    }

    /// Adds an operation without a result.
    pub(crate) fn run(&mut self, scope: ScopeId, op: Op) {
        self.add(scope, Vec::new(), op);
    }

    /// Adds an operation with one result.
    pub(crate) fn op(&mut self, scope: ScopeId, op: Op) -> Value {
        let result = self.name();
        self.add(scope, vec![result], op);
        result
    }

    /// Adds statements that are written.
    pub(crate) fn append(&mut self, scope: ScopeId, code: Vec<Statement>) {
        self.scopes[scope.0].code.extend(code);
    }

    /// Takes the code of a scope.
    fn take(&mut self, scope: ScopeId) -> Vec<Statement> {
        std::mem::take(&mut self.scopes[scope.0].code)
    }

    /// Takes the code of a scope as that of a region, which yields these values.
    pub(crate) fn take_block(&mut self, scope: ScopeId, yields: Vec<(Value, Type)>) -> Block {
        Block { statements: self.take(scope), yields }
    }

    /// Opens a scope. Its loops are bound to these values; the last argument makes one of them a vector.
    pub fn open(
        &mut self,
        parent: ScopeId,
        binds: Vec<(LoopId, Value)>,
        vector: Option<(LoopId, usize)>,
    ) -> ScopeId {
        self.scopes.push(Scope { parent: Some(parent), binds, vector, ..Scope::default() });
        ScopeId(self.scopes.len() - 1)
    }

    /// Has a loop a value in a scope?
    pub(crate) fn is_bound(&self, scope: ScopeId, l: LoopId) -> bool {
        let mut around = std::iter::successors(Some(scope), |s| self.scopes[s.0].parent);
        around.any(|s| self.scopes[s.0].binds.iter().any(|bound| bound.0 == l))
    }

    /// Binds a loop in a scope that is already open.
    pub fn bind(&mut self, scope: ScopeId, l: LoopId, value: Value) {
        self.scopes[scope.0].binds.push((l, value));
    }

    /// Opens the scope of a loop and gives the name of its variable.
    pub fn open_loop(&mut self, parent: ScopeId, l: LoopId, lanes: usize) -> (ScopeId, Value) {
        let iv = self.name();
        let vector = (lanes > 1).then_some((l, lanes));
        let scope = self.open(parent, vec![(l, iv)], vector);
        self.turn(scope, (l, lanes as i64));
        (scope, iv)
    }

    /// Says what loop a scope is an iteration of.
    pub(crate) fn turn(&mut self, scope: ScopeId, turn: Turn) {
        self.scopes[scope.0].turn = Some(turn);
    }

    /// The loops around a scope, innermost first.
    pub(crate) fn turns(&self, scope: ScopeId) -> impl Iterator<Item = Turn> {
        let around = std::iter::successors(Some(scope), |s| self.scopes[s.0].parent);
        around.filter_map(|s| self.scopes[s.0].turn)
    }

    /// Opens the scope of what is left of a loop: a vector of which only the first lanes exist. A single element is
    /// no vector.
    pub fn open_rest(&mut self, parent: ScopeId, l: LoopId, rest: usize) -> (ScopeId, Value, usize) {
        let lanes = rest.next_power_of_two();
        let (scope, iv) = self.open_loop(parent, l, lanes);
        self.activate(scope, rest, lanes);
        (scope, iv, lanes)
    }

    /// Makes only the first lanes of a vector exist.
    pub fn activate(&mut self, scope: ScopeId, active: usize, lanes: usize) {
        self.scopes[scope.0].active = (active < lanes).then_some(active);
    }

    /// Makes only those lanes of a vector exist that a mask has.
    pub(crate) fn exist(&mut self, scope: ScopeId, mask: Value) {
        self.scopes[scope.0].existing = Some(mask);
    }

    /// The pointer of a tensor.
    pub fn pointer(&self, buf: Buf) -> Result<Value, CodegenError> {
        self.pointers.get(&buf).cloned().ok_or_else(|| CodegenError::malformed("a tensor without a pointer"))
    }

    /// Lets the lanes of a vector hold the even elements first.
    pub fn set_pairs(&mut self, scope: ScopeId) {
        self.scopes[scope.0].pairs = true;
    }

    /// Do the lanes here hold the even elements first?
    pub fn in_pairs(&self, scope: ScopeId) -> bool {
        let scope = &self.scopes[scope.0];
        scope.pairs || scope.vector.is_none() && scope.parent.is_some_and(|parent| self.in_pairs(parent))
    }

    /// The lanes that exist, an `i1` for each, of something that depends on these loops; `None`: all do.
    pub fn mask(&mut self, mut scope: ScopeId, deps: LoopSet) -> Option<Value> {
        loop {
            let s = &self.scopes[scope.0];
            if let Some((l, lanes)) = s.vector
                && deps.contains(l)
            {
                if s.existing.is_some() {
                    return s.existing;
                }
                let active = s.active?;
                return Some(self.first_lanes(active, lanes));
            }
            scope = s.parent?;
        }
    }

    /// Opens a scope in which loops have one value.
    pub(crate) fn open_at(&mut self, parent: ScopeId, values: &[(LoopId, i64)]) -> ScopeId {
        let binds = values.iter().map(|&(l, value)| (l, self.int(value))).collect();
        let scope = self.open(parent, binds, None);
        self.fix(scope, values);
        scope
    }

    /// Says that loops have one value in a scope, which binds them.
    pub fn fix(&mut self, scope: ScopeId, values: &[(LoopId, i64)]) {
        self.scopes[scope.0].fixed.extend_from_slice(values);
    }

    /// The value of a loop that has only one at a scope.
    pub fn fixed(&self, l: LoopId, mut scope: ScopeId) -> Option<i64> {
        loop {
            let s = &self.scopes[scope.0];
            if s.binds.iter().any(|b| b.0 == l) {
                return s.fixed.iter().find(|f| f.0 == l).map(|f| f.1);
            }
            scope = s.parent?;
        }
    }

    /// Says that only a part of a loop runs in a scope.
    pub fn limit(&mut self, scope: ScopeId, l: LoopId, low: i64, high: i64) {
        self.scopes[scope.0].span = Some((l, low, high));
    }

    /// The part of a loop that runs in a scope: where it starts and ends.
    pub(crate) fn span(&self, l: LoopId, scope: ScopeId) -> Range<i64> {
        let around = std::iter::successors(Some(scope), |s| self.scopes[s.0].parent);
        let mut parts = around.filter_map(|s| self.scopes[s.0].span);
        parts.find(|part| part.0 == l).map_or(0..self.dag.extent(l), |part| part.1..part.2)
    }

    /// What is known of a guard in a scope.
    pub fn fact(&self, guard: &Guard, mut scope: ScopeId) -> GuardFact {
        let values = guard.expr.terms.iter().filter_map(|t| Some((t.0, self.fixed(t.0, scope)?)));
        let values: Vec<(LoopId, i64)> = values.collect();
        if !values.is_empty() {
            let expr = values
                .iter()
                .try_fold(guard.expr.clone(), |expr, &(l, value)| expr.substitute(l, &Lin::constant(value)));
            return expr
                .map_or(GuardFact::Sometimes, |expr| self.fact(&Guard { expr, bound: guard.bound }, scope));
        }
        // The parts of loops that run here; a loop may be open again further in, with all of its values.
        let (mut expr, mut extents) = (guard.expr.clone(), Vec::new());
        let mut seen = LoopSet::default();
        loop {
            let s = &self.scopes[scope.0];
            if let Some((l, low, high)) = s.span
                && expr.coeff(l) != 0
                && !seen.contains(l)
            {
                // The loop counts from the start of its part.
                let Some(part) = expr.substitute(l, &Lin { terms: vec![(l, 1)], offset: low }) else {
                    return GuardFact::Sometimes;
                };
                if extents.is_empty() {
                    extents.clone_from(&self.dag.extents);
                }
                (expr, extents[l.0 as usize]) = (part, high - low);
                seen = seen.union(std::iter::once(l).collect());
            }
            seen = seen.union(s.binds.iter().map(|b| b.0).collect());
            match s.parent {
                Some(parent) => scope = parent,
                None => break,
            }
        }
        let extents = if extents.is_empty() { &self.dag.extents } else { &extents };
        Guard { expr, bound: guard.bound }.fact(extents)
    }

    /// Closes a scope as an `scf.for` and gives the carried values after it.
    pub fn close_loop(
        &mut self,
        scope: ScopeId,
        iv: Value,
        bounds: &Bounds,
        carried: &[Carried],
    ) -> Vec<Value> {
        let &Bounds { low, high, step } = bounds;
        let body = self.take_block(scope, carried.iter().map(|c| (c.next, c.ty)).collect());
        let results: Vec<Value> = carried.iter().map(|_| self.name()).collect();
        let carried = carried.iter().map(|c| Carry { name: c.name, init: c.init, ty: c.ty }).collect();
        let parent = self.parent(scope);
        let op = Op::For { variable: iv, bounds: [low, high, step], carried, body };
        self.add(parent, results.clone(), op);
        results
    }

    /// Closes a scope as an `scf.if`.
    pub fn close_if(&mut self, scope: ScopeId, condition: Value) {
        let then = self.take_block(scope, Vec::new());
        let parent = self.parent(scope);
        self.run(parent, Op::If { condition, then, otherwise: Block::default() });
    }

    /// Closes a scope as an `scf.if` where the condition does not hold.
    pub fn close_unless(&mut self, scope: ScopeId, condition: Value) {
        let (parent, yes) = (self.parent(scope), self.constant(Elem::I1, 1, 1));
        let not = self.bin(At { scope: parent, lanes: 1 }, "arith.xori", condition, yes, Elem::I1);
        self.close_if(scope, not);
    }

    /// Closes two scopes as the sides of an `scf.if`, and gives the values: those of one of them.
    pub(crate) fn close_sides(
        &mut self,
        sides: [ScopeId; 2],
        condition: Value,
        types: &[Type],
        values: [&[Value]; 2],
    ) -> Vec<Value> {
        let parent = self.parent(sides[0]);
        let results: Vec<Value> = types.iter().map(|_| self.name()).collect();
        let typed = |values: &[Value]| values.iter().copied().zip(types.iter().copied()).collect();
        let then = self.take_block(sides[0], typed(values[0]));
        let otherwise = self.take_block(sides[1], typed(values[1]));
        self.add(parent, results.clone(), Op::If { condition, then, otherwise });
        results
    }

    /// Closes a scope as the side of an `scf.if` where the condition holds, and gives the value: one of the scope, or
    /// else one that is known before.
    pub fn close_either(
        &mut self,
        scope: ScopeId,
        condition: Value,
        ty: Type,
        then: Value,
        known: Value,
    ) -> Value {
        let other = self.open(self.parent(scope), Vec::new(), None);
        self.close_sides([scope, other], condition, &[ty], [&[then], &[known]]).swap_remove(0)
    }

    /// Closes a scope whose code needs no operation around it.
    pub fn close_plain(&mut self, scope: ScopeId) {
        let code = self.take(scope);
        let parent = self.parent(scope);
        self.append(parent, code);
    }

    pub(crate) fn parent(&self, scope: ScopeId) -> ScopeId {
        self.scopes[scope.0].parent.unwrap_or(ScopeId(0))
    }

    /// The outermost scope in which something that depends on these loops can stand.
    pub fn home(&self, mut scope: ScopeId, deps: LoopSet) -> ScopeId {
        while let Some(parent) = self.scopes[scope.0].parent
            && !self.scopes[scope.0].binds.iter().any(|b| deps.contains(b.0))
        {
            scope = parent;
        }
        scope
    }

    /// The vector loop among these, and its lanes. Where an inner reduction runs through a loop that is open further
    /// out, the inner one counts.
    pub fn vector_loop(&self, mut scope: ScopeId, mut deps: LoopSet) -> Option<(LoopId, usize)> {
        loop {
            let s = &self.scopes[scope.0];
            if let Some((l, lanes)) = s.vector
                && deps.contains(l)
            {
                return Some((l, lanes));
            }
            deps = deps.minus(s.binds.iter().map(|bound| bound.0).collect());
            scope = s.parent?;
        }
    }

    /// The lanes of something that depends on these loops.
    pub fn lanes(&self, scope: ScopeId, deps: LoopSet) -> usize {
        self.vector_loop(scope, deps).map_or(1, |v| v.1)
    }

    /// A value that a scope already has. Scopes beyond the one that binds a loop of the node do not count: an inner
    /// reduction may run through a loop that is open further out.
    pub fn cached(&self, node: NodeId, mut scope: ScopeId) -> Option<Val> {
        let home = self.home(scope, self.dag[node].deps);
        loop {
            let s = &self.scopes[scope.0];
            if let Some(value) = s.nodes.get(&node) {
                return Some(value.clone());
            }
            if scope == home {
                return None;
            }
            scope = s.parent?;
        }
    }

    /// Records the value of a node.
    pub fn seed(&mut self, scope: ScopeId, node: NodeId, value: Val) {
        self.scopes[scope.0].nodes.insert(node, value);
    }

    /// The predicate of these guards, if the scope has it.
    pub(crate) fn known_predicate(&self, scope: ScopeId, key: &(Vec<Guard>, usize)) -> Option<Value> {
        self.scopes[scope.0].predicates.get(key).cloned()
    }

    /// Keeps the predicate of some guards.
    pub(crate) fn keep_predicate(&mut self, scope: ScopeId, key: (Vec<Guard>, usize), value: Value) {
        self.scopes[scope.0].predicates.insert(key, value);
    }
}
