//! Text of a kernel: scopes, addresses, loads and stores.
//!
//! A kernel is a tree of loops. Every open loop is a scope with its own text; the text of an inner loop joins
//! that of the outer one when it is closed. A value is written into the outermost scope whose loops it depends
//! on, where later uses find it: so what does not change in a loop is computed before it, reductions included,
//! without any pass.
//!
//! A scope may bind its loop as a *vector*: then the loop variable is that of lane 0, and what depends on the
//! loop is a vector of as many elements as the scope has lanes.

use crate::address::{Guard, Lin, LoopId, LoopSet};
use crate::dag::{Buf, Dag, NodeId};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use surject_ir::{DType, Scalar};

/// The type of a value in a register. Halves are computed in `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Elem {
    I1,
    I8,
    I16,
    I32,
    I64,
    F16,
    F32,
    F64,
}

impl Elem {
    /// The register type of an element type; that of its parts for a complex type.
    pub fn of(dtype: DType) -> Elem {
        match dtype {
            DType::I1 => Elem::I1,
            DType::I8 | DType::U8 => Elem::I8,
            DType::I16 | DType::U16 => Elem::I16,
            DType::I32 | DType::U32 => Elem::I32,
            DType::I64 | DType::U64 => Elem::I64,
            DType::F16 | DType::BF16 | DType::F32 | DType::C64 => Elem::F32,
            DType::F64 | DType::C128 => Elem::F64,
        }
    }

    /// The type in memory.
    pub fn in_memory(dtype: DType) -> Elem {
        match dtype {
            DType::I1 => Elem::I8,
            DType::BF16 => Elem::I16,
            DType::F16 => Elem::F16,
            other => Elem::of(other),
        }
    }

    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Elem::I1 | Elem::I8 => 1,
            Elem::I16 | Elem::F16 => 2,
            Elem::I32 | Elem::F32 => 4,
            Elem::I64 | Elem::F64 => 8,
        }
    }

    /// Bits.
    pub fn bits(self) -> u32 {
        if self == Elem::I1 { 1 } else { self.size() as u32 * 8 }
    }

    /// The integer type of the same width.
    pub fn int(self) -> Elem {
        match self {
            Elem::F16 => Elem::I16,
            Elem::F32 => Elem::I32,
            Elem::F64 => Elem::I64,
            other => other,
        }
    }

    /// The name in MLIR.
    pub fn name(self) -> &'static str {
        match self {
            Elem::I1 => "i1",
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::F16 => "f16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
        }
    }

    /// The MLIR type of this many lanes.
    pub fn ty(self, lanes: usize) -> String {
        if lanes == 1 { self.name().to_string() } else { format!("vector<{lanes}x{}>", self.name()) }
    }

    /// The suffix of overloaded intrinsics.
    pub fn suffix(self, lanes: usize) -> String {
        let letter = if matches!(self, Elem::F16 | Elem::F32 | Elem::F64) { 'f' } else { 'i' };
        let scalar = format!("{letter}{}", self.bits());
        if lanes == 1 { scalar } else { format!("v{lanes}{scalar}") }
    }
}

/// A scope of an [`Emitter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScopeId(usize);

/// A value: its name and its lanes (1: a scalar).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Val {
    /// The name of the value.
    pub ssa: String,
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
struct Scope {
    parent: Option<ScopeId>,
    binds: Vec<(LoopId, String)>,
    vector: Option<(LoopId, usize)>,
    text: String,
    nodes: HashMap<NodeId, Val>,
    lins: HashMap<Lin, String>,
    broadcasts: HashMap<(String, usize), String>,
    predicates: HashMap<(Vec<Guard>, usize), String>,
    constants: HashMap<String, String>,
}

/// How a reduction is done.
#[derive(Clone, Debug, Default)]
pub struct ReducePlan {
    /// Its loops, outermost first.
    pub order: Vec<LoopId>,
    /// The lanes in which its last loop is done; 1: none.
    pub lanes: usize,
}

/// Writes the text of one function.
pub struct Emitter<'a> {
    /// The expression.
    pub dag: &'a Dag,
    /// The names of the pointers to tensors.
    pub pointers: HashMap<Buf, String>,
    /// How reductions are done.
    pub reductions: HashMap<NodeId, ReducePlan>,
    /// Declarations of outside functions.
    pub declarations: BTreeSet<String>,
    /// Was a loop used where it is not open? The text is then wrong and must not be used.
    pub unbound: bool,
    scopes: Vec<Scope>,
    names: usize,
}

/// A value carried through the iterations of a loop.
#[derive(Clone, Debug)]
pub struct Carried {
    /// Its name inside the loop.
    pub name: String,
    /// Its value before the loop.
    pub init: String,
    /// Its type.
    pub ty: String,
    /// Its value after an iteration.
    pub next: String,
}

/// The bounds of a loop, as names of `i64` values.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// The first value.
    pub low: String,
    /// The end.
    pub high: String,
    /// The step.
    pub step: String,
}

impl<'a> Emitter<'a> {
    /// An emitter with its outermost scope.
    pub fn new(dag: &'a Dag) -> Emitter<'a> {
        Emitter {
            dag,
            pointers: HashMap::new(),
            reductions: HashMap::new(),
            declarations: BTreeSet::new(),
            unbound: false,
            scopes: vec![Scope::default()],
            names: 0,
        }
    }

    /// The outermost scope.
    pub fn root(&self) -> ScopeId {
        ScopeId(0)
    }

    /// The text of the outermost scope.
    pub fn finish(self) -> (String, BTreeSet<String>) {
        let text = self.scopes.into_iter().next().map_or_else(String::new, |s| s.text);
        (text, self.declarations)
    }

    /// A new name.
    pub fn name(&mut self) -> String {
        self.names += 1;
        format!("%{}", self.names - 1)
    }

    /// Adds a line.
    pub fn line(&mut self, scope: ScopeId, line: &str) {
        let text = &mut self.scopes[scope.0].text;
        text.push_str(line);
        text.push('\n');
    }

    /// Adds an operation with one result.
    pub fn op(&mut self, scope: ScopeId, operation: &str) -> String {
        let name = self.name();
        self.line(scope, &format!("{name} = {operation}"));
        name
    }

    /// Opens a scope. Its loops are bound to these values; the last argument makes one of them a vector.
    pub fn open(
        &mut self,
        parent: ScopeId,
        binds: Vec<(LoopId, String)>,
        vector: Option<(LoopId, usize)>,
    ) -> ScopeId {
        self.scopes.push(Scope { parent: Some(parent), binds, vector, ..Scope::default() });
        ScopeId(self.scopes.len() - 1)
    }

    /// Binds a loop in a scope that is already open.
    pub fn bind(&mut self, scope: ScopeId, l: LoopId, value: String) {
        self.scopes[scope.0].binds.push((l, value));
    }

    /// Opens the scope of a loop and gives the name of its variable.
    pub fn open_loop(&mut self, parent: ScopeId, l: LoopId, lanes: usize) -> (ScopeId, String) {
        let iv = self.name();
        let vector = (lanes > 1).then_some((l, lanes));
        (self.open(parent, vec![(l, iv.clone())], vector), iv)
    }

    /// Closes a scope as an `scf.for` and gives the names of the carried values after it.
    pub fn close_loop(
        &mut self,
        scope: ScopeId,
        iv: &str,
        bounds: &Bounds,
        carried: &[Carried],
    ) -> Vec<String> {
        let Bounds { low, high, step } = bounds;
        let body = std::mem::take(&mut self.scopes[scope.0].text);
        let mut text = String::new();
        let result = self.name();
        let tys: Vec<&str> = carried.iter().map(|c| c.ty.as_str()).collect();
        if !carried.is_empty() {
            let _ = write!(text, "{result}:{} = ", carried.len());
        }
        let _ = write!(text, "scf.for {iv} = {low} to {high} step {step} ");
        if !carried.is_empty() {
            let args: Vec<String> = carried.iter().map(|c| format!("{} = {}", c.name, c.init)).collect();
            let _ = write!(text, "iter_args({}) -> ({}) ", args.join(", "), tys.join(", "));
        }
        text.push_str(": i64 {\n");
        text.push_str(&body);
        if !carried.is_empty() {
            let next: Vec<&str> = carried.iter().map(|c| c.next.as_str()).collect();
            let _ = writeln!(text, "scf.yield {} : {}", next.join(", "), tys.join(", "));
        }
        text.push('}');
        let parent = self.parent(scope);
        self.line(parent, &text);
        (0..carried.len()).map(|i| format!("{result}#{i}")).collect()
    }

    /// Closes a scope as an `scf.if`.
    pub fn close_if(&mut self, scope: ScopeId, condition: &str) {
        let body = std::mem::take(&mut self.scopes[scope.0].text);
        let parent = self.parent(scope);
        self.line(parent, &format!("scf.if {condition} {{\n{body}}}"));
    }

    /// Closes a scope whose text needs no operation around it.
    pub fn close_plain(&mut self, scope: ScopeId) {
        let body = std::mem::take(&mut self.scopes[scope.0].text);
        let parent = self.parent(scope);
        self.scopes[parent.0].text.push_str(&body);
    }

    fn parent(&self, scope: ScopeId) -> ScopeId {
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

    /// The vector loop among these, and its lanes.
    pub fn vector_loop(&self, mut scope: ScopeId, deps: LoopSet) -> Option<(LoopId, usize)> {
        loop {
            let s = &self.scopes[scope.0];
            if let Some((l, lanes)) = s.vector
                && deps.contains(l)
            {
                return Some((l, lanes));
            }
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

    /// A constant, splat over the lanes. `bits` are those of the register type.
    pub fn constant(&mut self, elem: Elem, bits: u64, lanes: usize) -> String {
        let value = match elem {
            Elem::I1 => (bits != 0).to_string(),
            Elem::I8 => (bits as i8).to_string(),
            Elem::I16 => (bits as i16).to_string(),
            Elem::I32 => (bits as i32).to_string(),
            Elem::I64 => (bits as i64).to_string(),
            Elem::F16 => format!("0x{:04X}", bits as u16),
            Elem::F32 => format!("0x{:08X}", bits as u32),
            Elem::F64 => format!("0x{bits:016X}"),
        };
        let value = if lanes > 1 { format!("dense<{value}>") } else { value };
        self.literal(&value, &elem.ty(lanes))
    }

    /// A constant from its text.
    pub fn literal(&mut self, value: &str, ty: &str) -> String {
        let operation = match value {
            "true" | "false" => format!("arith.constant {value}"),
            _ => format!("arith.constant {value} : {ty}"),
        };
        if let Some(name) = self.scopes[0].constants.get(&operation) {
            return name.clone();
        }
        let name = self.op(ScopeId(0), &operation);
        self.scopes[0].constants.insert(operation, name.clone());
        name
    }

    /// An `i64` constant.
    pub fn int(&mut self, value: i64) -> String {
        self.constant(Elem::I64, value as u64, 1)
    }

    /// A scalar as a constant in its register type.
    pub fn scalar(&mut self, value: Scalar, lanes: usize) -> String {
        let elem = Elem::of(value.dtype());
        let bits = match value.dtype() {
            DType::F16 | DType::BF16 => (value.as_f64() as f32).to_bits() as u64,
            _ => value.bits() as u64,
        };
        self.constant(elem, bits, lanes)
    }

    /// `0, c, 2c, …` over the lanes.
    pub fn steps(&mut self, elem: Elem, c: i64, lanes: usize) -> String {
        let list: Vec<String> = (0..lanes as i64).map(|i| c.wrapping_mul(i).to_string()).collect();
        self.literal(&format!("dense<[{}]>", list.join(", ")), &elem.ty(lanes))
    }

    /// A value with these lanes: itself, or a scalar repeated.
    pub fn spread(&mut self, value: &Val, elem: Elem, at: At) -> String {
        if value.lanes == at.lanes {
            return value.ssa.clone();
        }
        let key = (value.ssa.clone(), at.lanes);
        let mut scope = at.scope;
        loop {
            if let Some(name) = self.scopes[scope.0].broadcasts.get(&key) {
                return name.clone();
            }
            match self.scopes[scope.0].parent {
                Some(parent) => scope = parent,
                None => break,
            }
        }
        let (from, to) = (elem.ty(1), elem.ty(at.lanes));
        let name = self.op(at.scope, &format!("vector.broadcast {} : {from} to {to}", value.ssa));
        self.scopes[at.scope.0].broadcasts.insert(key, name.clone());
        name
    }

    /// An affine expression as an `i64`; that of lane 0 where a loop is a vector.
    pub fn lin(&mut self, lin: &Lin, scope: ScopeId) -> String {
        if lin.terms.is_empty() {
            return self.int(lin.offset);
        }
        let home = self.home(scope, lin.loops());
        if let Some(name) = self.scopes[home.0].lins.get(lin) {
            return name.clone();
        }
        let inner: Vec<(LoopId, String)> = self.scopes[home.0].binds.clone();
        let (mine, rest): (Vec<_>, Vec<_>) = lin.terms.iter().partition(|t| inner.iter().any(|b| b.0 == t.0));
        let rest = Lin { terms: rest, offset: lin.offset };
        let mut sum = (rest != Lin::default()).then(|| {
            let outer = self.parent(home);
            self.lin(&rest, outer)
        });
        if mine.is_empty() {
            // A defect of the schedule, which the caller reports: no scope binds the loops that are left.
            self.unbound = true;
            return self.int(lin.offset);
        }
        for (l, c) in mine {
            let Some((_, iv)) = inner.iter().find(|b| b.0 == l) else { continue };
            let term = if c == 1 {
                iv.clone()
            } else {
                let c = self.int(c);
                self.op(home, &format!("arith.muli {iv}, {c} : i64"))
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => self.op(home, &format!("arith.addi {sum}, {term} : i64")),
            });
        }
        let name = sum.unwrap_or_else(|| self.int(0));
        self.scopes[home.0].lins.insert(lin.clone(), name.clone());
        name
    }

    /// An affine expression over the lanes as integers of this type.
    pub fn lin_vector(&mut self, lin: &Lin, elem: Elem, at: At) -> String {
        let base = self.lin(lin, at.scope);
        let home = self.home(at.scope, lin.loops());
        let narrow = if elem == Elem::I64 {
            base
        } else {
            self.op(home, &format!("arith.trunci {base} : i64 to {}", elem.name()))
        };
        if at.lanes == 1 {
            return narrow;
        }
        let at = At { scope: home, lanes: at.lanes };
        let spread = self.spread(&Val { ssa: narrow, lanes: 1 }, elem, at);
        match self.vector_loop(home, lin.loops()) {
            None => spread,
            Some((l, _)) => {
                let steps = self.steps(elem, lin.coeff(l), at.lanes);
                self.op(home, &format!("arith.addi {spread}, {steps} : {}", elem.ty(at.lanes)))
            }
        }
    }

    /// Do the guards hold? An `i1` per lane.
    pub fn predicate(&mut self, guards: &[Guard], at: At) -> Val {
        let deps = guards.iter().fold(LoopSet::default(), |s, g| s.union(g.expr.loops()));
        let home = self.home(at.scope, deps);
        let lanes = self.lanes(home, deps);
        let key = (guards.to_vec(), lanes);
        if let Some(name) = self.scopes[home.0].predicates.get(&key) {
            return Val { ssa: name.clone(), lanes };
        }
        let mut all: Option<Val> = None;
        for guard in guards {
            let holds = self.guard(guard, home);
            all = Some(match all {
                None => holds,
                Some(other) => {
                    let lanes = other.lanes.max(holds.lanes);
                    let at = At { scope: home, lanes };
                    let (a, b) = (self.spread(&other, Elem::I1, at), self.spread(&holds, Elem::I1, at));
                    let ssa = self.op(home, &format!("arith.andi {a}, {b} : {}", Elem::I1.ty(lanes)));
                    Val { ssa, lanes }
                }
            });
        }
        let value = all.unwrap_or_else(|| Val { ssa: String::new(), lanes: 0 });
        let value =
            if value.lanes == 0 { Val { ssa: self.constant(Elem::I1, 1, lanes), lanes } } else { value };
        let ssa = self.spread(&value, Elem::I1, At { scope: home, lanes });
        self.scopes[home.0].predicates.insert(key, ssa.clone());
        Val { ssa, lanes }
    }

    /// `0 ≤ e < n` as one unsigned comparison.
    fn guard(&mut self, guard: &Guard, scope: ScopeId) -> Val {
        let home = self.home(scope, guard.expr.loops());
        let lanes = self.lanes(home, guard.expr.loops());
        let range = guard.expr.range(&self.dag.extents);
        let small = i64::from(i32::MIN)..i64::from(i32::MAX) - 64 * 64;
        let fits = range.is_some_and(|(low, high)| small.contains(&low) && small.contains(&high));
        let elem = if lanes > 1 && fits && small.contains(&guard.bound) { Elem::I32 } else { Elem::I64 };
        let value = self.lin_vector(&guard.expr, elem, At { scope: home, lanes });
        let bound = self.constant(elem, guard.bound as u64, lanes);
        let ssa = self.op(home, &format!("arith.cmpi ult, {value}, {bound} : {}", elem.ty(lanes)));
        Val { ssa, lanes }
    }

    fn element(&mut self, pointer: &str, address: &str, elem: Elem, scope: ScopeId) -> String {
        let operation = format!(
            "llvm.getelementptr {pointer}[{address}] : (!llvm.ptr, i64) -> !llvm.ptr, {}",
            elem.name()
        );
        self.op(scope, &operation)
    }

    /// Loads an element, or a vector of them, in its register type.
    pub fn load(&mut self, pointer: &str, dtype: DType, address: &Lin, guards: &[Guard], at: At) -> String {
        let (memory, At { scope, lanes }) = (Elem::in_memory(dtype), at);
        let (ty, size) = (memory.ty(lanes), memory.size());
        let base = self.lin(address, scope);
        if lanes == 1 {
            let position = if guards.is_empty() {
                base
            } else {
                let inside = self.predicate(guards, at).ssa;
                let zero = self.int(0);
                self.op(scope, &format!("arith.select {inside}, {base}, {zero} : i64"))
            };
            let from = self.element(pointer, &position, memory, scope);
            let raw = self.op(scope, &format!("llvm.load {from} : !llvm.ptr -> {ty}"));
            return self.from_memory(dtype, raw, at);
        }
        let stride = self.vector_loop(scope, address.loops()).map_or(0, |(l, _)| address.coeff(l));
        let mask = (!guards.is_empty()).then(|| {
            let mask = self.predicate(guards, at);
            self.spread(&mask, Elem::I1, at)
        });
        let raw = match (stride, mask) {
            (1, None) => {
                let from = self.element(pointer, &base, memory, scope);
                self.op(scope, &format!("llvm.load {from} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}"))
            }
            (1, Some(mask)) => {
                let from = self.element(pointer, &base, memory, scope);
                let other = self.constant(memory, 0, lanes);
                self.op(
                    scope,
                    &format!(
                        "llvm.intr.masked.load {from}, {mask}, {other} {{alignment = {size} : i32}} : \
                     (!llvm.ptr, {}, {ty}) -> {ty}",
                        Elem::I1.ty(lanes)
                    ),
                )
            }
            (-1, None) => {
                let back = self.int(1 - lanes as i64);
                let first = self.op(scope, &format!("arith.addi {base}, {back} : i64"));
                let from = self.element(pointer, &first, memory, scope);
                let loaded = self
                    .op(scope, &format!("llvm.load {from} {{alignment = {size} : i64}} : !llvm.ptr -> {ty}"));
                let order: Vec<String> = (0..lanes).rev().map(|i| i.to_string()).collect();
                self.op(
                    scope,
                    &format!("vector.shuffle {loaded}, {loaded} [{}] : {ty}, {ty}", order.join(", ")),
                )
            }
            (_, mask) => {
                let mask = mask.unwrap_or_else(|| self.constant(Elem::I1, 1, lanes));
                let pointers = self.lane_pointers(pointer, address, memory, at);
                let other = self.constant(memory, 0, lanes);
                self.op(
                    scope,
                    &format!(
                        "llvm.intr.masked.gather {pointers}, {mask}, {other} {{alignment = {size} : i32}} : \
                     (vector<{lanes}x!llvm.ptr>, {}, {ty}) -> {ty}",
                        Elem::I1.ty(lanes)
                    ),
                )
            }
        };
        self.from_memory(dtype, raw, at)
    }

    /// A pointer per lane. Lanes outside the guards may point anywhere.
    fn lane_pointers(&mut self, pointer: &str, address: &Lin, memory: Elem, at: At) -> String {
        let indices = self.lin_vector(address, Elem::I64, at);
        let lanes = at.lanes;
        self.op(
            at.scope,
            &format!(
                "llvm.getelementptr {pointer}[{indices}] : (!llvm.ptr, vector<{lanes}xi64>) -> \
             vector<{lanes}x!llvm.ptr>, {}",
                memory.name()
            ),
        )
    }

    /// Stores a value of register type.
    pub fn store(&mut self, pointer: &str, dtype: DType, address: &Lin, value: &Val, at: At) {
        let (memory, At { scope, lanes }) = (Elem::in_memory(dtype), at);
        let (ty, size) = (memory.ty(lanes), memory.size());
        let value = self.spread(value, Elem::of(dtype), at);
        let raw = self.to_memory(dtype, value, at);
        let base = self.lin(address, scope);
        if lanes == 1 {
            let to = self.element(pointer, &base, memory, scope);
            return self.line(scope, &format!("llvm.store {raw}, {to} : {ty}, !llvm.ptr"));
        }
        let stride = self.vector_loop(scope, address.loops()).map_or(0, |(l, _)| address.coeff(l));
        if stride == 1 {
            let to = self.element(pointer, &base, memory, scope);
            let line = format!("llvm.store {raw}, {to} {{alignment = {size} : i64}} : {ty}, !llvm.ptr");
            return self.line(scope, &line);
        }
        let pointers = self.lane_pointers(pointer, address, memory, at);
        let mask = self.constant(Elem::I1, 1, lanes);
        self.line(scope, &format!(
            "llvm.intr.masked.scatter {raw}, {pointers}, {mask} {{alignment = {size} : i32}} : {ty}, {} into \
             vector<{lanes}x!llvm.ptr>",
            Elem::I1.ty(lanes)
        ));
    }

    /// A value of memory type in its register type.
    pub fn from_memory(&mut self, dtype: DType, raw: String, at: At) -> String {
        let At { scope, lanes } = at;
        match dtype {
            DType::I1 => {
                let zero = self.constant(Elem::I8, 0, lanes);
                self.op(scope, &format!("arith.cmpi ne, {raw}, {zero} : {}", Elem::I8.ty(lanes)))
            }
            DType::F16 => {
                let (from, to) = (Elem::F16.ty(lanes), Elem::F32.ty(lanes));
                self.op(scope, &format!("arith.extf {raw} : {from} to {to}"))
            }
            DType::BF16 => {
                let (from, to) = (Elem::I16.ty(lanes), Elem::I32.ty(lanes));
                let wide = self.op(scope, &format!("arith.extui {raw} : {from} to {to}"));
                let shift = self.constant(Elem::I32, 16, lanes);
                let bits = self.op(scope, &format!("arith.shli {wide}, {shift} : {to}"));
                self.op(scope, &format!("arith.bitcast {bits} : {to} to {}", Elem::F32.ty(lanes)))
            }
            _ => raw,
        }
    }

    /// A value of register type in its memory type. A half is exactly representable already.
    pub fn to_memory(&mut self, dtype: DType, value: String, at: At) -> String {
        let At { scope, lanes } = at;
        match dtype {
            DType::I1 => {
                let (from, to) = (Elem::I1.ty(lanes), Elem::I8.ty(lanes));
                self.op(scope, &format!("arith.extui {value} : {from} to {to}"))
            }
            DType::F16 => {
                let (from, to) = (Elem::F32.ty(lanes), Elem::F16.ty(lanes));
                self.op(scope, &format!("arith.truncf {value} : {from} to {to}"))
            }
            DType::BF16 => {
                let (float, int) = (Elem::F32.ty(lanes), Elem::I32.ty(lanes));
                let bits = self.op(scope, &format!("arith.bitcast {value} : {float} to {int}"));
                let shift = self.constant(Elem::I32, 16, lanes);
                let high = self.op(scope, &format!("arith.shrui {bits}, {shift} : {int}"));
                self.op(scope, &format!("arith.trunci {high} : {int} to {}", Elem::I16.ty(lanes)))
            }
            _ => value,
        }
    }
}
