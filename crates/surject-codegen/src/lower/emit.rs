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
use crate::expression::address::{LoopId, LoopSet};
use crate::expression::dag::{Buf, Dag, NodeId};
use crate::machine::elem::{Elem, Type};
use std::collections::{BTreeSet, HashMap};

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
    pub(crate) code: Vec<Statement>,
    pub(crate) nodes: HashMap<NodeId, Val>,
    pub(crate) broadcasts: HashMap<(Value, usize), Value>,
    pub(crate) constants: HashMap<Literal, Value>,
}

/// Writes the code of one function.
pub struct Emitter<'a> {
    /// The expression.
    pub dag: &'a Dag,
    /// The pointers to tensors.
    pub pointers: HashMap<Buf, Value>,
    /// The functions of the runtime that it calls.
    pub(crate) declarations: BTreeSet<Declaration>,
    /// Of tables of how many entries may each lane take one ([`crate::Target::lane_permute_width`])?
    pub tables: usize,
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
            declarations: BTreeSet::new(),
            tables: 0,
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

    /// Binds a loop in a scope that is already open.
    pub fn bind(&mut self, scope: ScopeId, l: LoopId, value: Value) {
        self.scopes[scope.0].binds.push((l, value));
    }

    /// The pointer of a tensor.
    pub fn pointer(&self, buf: Buf) -> Result<Value, CodegenError> {
        self.pointers.get(&buf).cloned().ok_or_else(|| CodegenError::malformed("a tensor without a pointer"))
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
}
