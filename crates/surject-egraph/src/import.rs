//! From the stores of a block to an e-graph.

use crate::algebra::{Graph, SpaceId, rebuild};
use crate::build::{acc, bin, constant, index, read, sel, un};
use crate::error::EgraphError;
use crate::lang::{Node, Op};
use egg::Id;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use surject_ir::{Block, FieldId, FieldKind, Function, Region, Scalar, Statement, StatementKind, Var};

/// How a block is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Through the constructors that normalise.
    Normal,
    /// As it stands, so that the laws find what the constructors would have done.
    Raw,
    /// As it stands, and every term that is built keeps an id of its own.
    Explained,
}

/// A block as an e-graph.
pub struct Imported {
    /// The e-graph.
    pub egraph: Graph,
    /// The class of every variable that the block stores, in the order of the statements.
    pub stored: Vec<(Var, Id)>,
    /// The variables that calls, control flow and results use: they must exist as tensors.
    pub roots: Vec<Var>,
    /// The place in the source of every class that was stored.
    pub origins: HashMap<Id, Arc<str>>,
}

/// Imports the stores of a block. `rename` maps variables of outer blocks that are known to be equal to another,
/// `known` gives those that are one value everywhere.
pub fn import(
    function: &Function,
    block: &Block,
    rename: &HashMap<Var, Var>,
    known: &BTreeMap<Var, Scalar>,
    mode: Mode,
) -> Result<Imported, EgraphError> {
    let mut egraph = Graph::default();
    if mode == Mode::Explained {
        egraph = egraph.with_explanations_enabled();
    }
    egraph.analysis.raw = mode != Mode::Normal;
    let mut importer =
        Importer { function, rename, known, egraph, classes: HashMap::new(), vars: HashMap::new() };
    let (mut stored, mut origins) = (Vec::new(), HashMap::new());
    for statement in &block.statements {
        if let StatementKind::Store { target, field } = statement.kind {
            let id = importer.field(field)?;
            importer.vars.insert(target, id);
            stored.push((target, id));
            if let Some(origin) = &statement.origin {
                origins.entry(id).or_insert_with(|| origin.clone());
            }
        }
    }
    let mut egraph = importer.egraph;
    egraph.analysis.raw = false;
    rebuild(&mut egraph);
    Ok(Imported { egraph, stored, roots: roots(function, block), origins })
}

struct Importer<'a> {
    function: &'a Function,
    rename: &'a HashMap<Var, Var>,
    known: &'a BTreeMap<Var, Scalar>,
    egraph: Graph,
    classes: HashMap<FieldId, Id>,
    vars: HashMap<Var, Id>,
}

impl Importer<'_> {
    /// The class of a field; the fields below it are imported first, in the order of the arena.
    fn field(&mut self, root: FieldId) -> Result<Id, EgraphError> {
        if let Some(&id) = self.classes.get(&root) {
            return Ok(id);
        }
        // Not `Fields::reachable`: its cost is that of the arena, and this is asked once a statement.
        let mut stack = vec![root];
        while let Some(&top) = stack.last() {
            if self.classes.contains_key(&top) {
                stack.pop();
                continue;
            }
            let kind = &self.function.fields[top].kind;
            let missing: Vec<FieldId> = kind.children().filter(|c| !self.classes.contains_key(c)).collect();
            if missing.is_empty() {
                let id = self.node(top).ok_or_else(|| EgraphError::Rebuild {
                    place: self.function.name.clone(),
                    what: format!("field {} is ill-typed", top.0),
                })?;
                self.classes.insert(top, id);
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
        Ok(self.classes[&root])
    }

    fn space(&mut self, id: FieldId) -> SpaceId {
        self.egraph.analysis.space_id(&self.function.fields[id].space)
    }

    fn node(&mut self, id: FieldId) -> Option<Id> {
        let field = &self.function.fields[id];
        let space = self.space(id);
        let of = |c: &FieldId| self.classes[c];
        match &field.kind {
            FieldKind::Tensor(var) => {
                if let Some(&stored) = self.vars.get(var) {
                    return Some(stored);
                }
                let var = self.rename.get(var).copied().unwrap_or(*var);
                if let Some(value) = self.known.get(&var) {
                    return Some(constant(&mut self.egraph, space, *value));
                }
                let input = self.egraph.analysis.input_id(var, field.dtype, &field.space);
                Some(self.egraph.add(Node::Input(input)))
            }
            FieldKind::Read { map, of: x } => {
                let x = of(x);
                read(&mut self.egraph, map, x)
            }
            FieldKind::Acc { op, map, of: x } => {
                let x = of(x);
                acc(&mut self.egraph, *op, map, x)
            }
            FieldKind::Index { axis } => Some(index(&mut self.egraph, space, *axis, field.dtype)),
            FieldKind::Const(value) => Some(constant(&mut self.egraph, space, *value)),
            FieldKind::Unary { op, x } => {
                let x = of(x);
                un(&mut self.egraph, Op::Unary(*op), x)
            }
            FieldKind::Binary { op, x, y } => {
                let (x, y) = (of(x), of(y));
                bin(&mut self.egraph, *op, x, y)
            }
            FieldKind::Select { cond, on_true, on_false } => {
                let (c, t, f) = (of(cond), of(on_true), of(on_false));
                sel(&mut self.egraph, c, t, f)
            }
            FieldKind::Convert { x } => {
                let x = of(x);
                un(&mut self.egraph, Op::Convert(field.dtype), x)
            }
            FieldKind::Bitcast { x } => {
                let x = of(x);
                un(&mut self.egraph, Op::Bitcast(field.dtype), x)
            }
            FieldKind::ReducePrecision { exponent, mantissa, x } => {
                let x = of(x);
                un(&mut self.egraph, Op::ReducePrecision(*exponent, *mantissa), x)
            }
        }
    }
}

/// The variables that a statement which is not a store uses directly.
pub fn operands(kind: &StatementKind) -> Vec<Var> {
    match kind {
        StatementKind::Store { .. } | StatementKind::Constant { .. } => Vec::new(),
        StatementKind::Call { args, .. } => args.clone(),
        StatementKind::While { inits, .. } => inits.clone(),
        StatementKind::If { index, .. } => vec![*index],
    }
}

/// The variables of outer blocks that a region uses.
pub fn free_vars(function: &Function, region: &Region, out: &mut Vec<Var>) {
    let mut defined: HashSet<Var> = region.params.iter().copied().collect();
    let mut fields: Vec<FieldId> = Vec::new();
    let mut used: Vec<Var> = Vec::new();
    for statement in &region.body.statements {
        defined.extend(statement.targets());
        used.extend(operands(&statement.kind));
        if let StatementKind::Store { field, .. } = statement.kind {
            fields.push(field);
        }
        for inner in statement.regions() {
            free_vars(function, inner, &mut used);
        }
    }
    used.extend(&region.body.results);
    for id in function.fields.reachable(&fields) {
        if let FieldKind::Tensor(var) = function.fields[id].kind {
            used.push(var);
        }
    }
    let mut known: HashSet<Var> = out.iter().copied().collect();
    out.extend(used.into_iter().filter(|&var| !defined.contains(&var) && known.insert(var)));
}

/// The variables that a statement other than a store needs as tensors, its regions included.
pub fn needs(function: &Function, statement: &Statement) -> Vec<Var> {
    let mut result = operands(&statement.kind);
    for region in statement.regions() {
        free_vars(function, region, &mut result);
    }
    result
}

fn roots(function: &Function, block: &Block) -> Vec<Var> {
    let mut seen: HashSet<Var> = HashSet::new();
    let wanted =
        block.statements.iter().flat_map(|s| needs(function, s)).chain(block.results.iter().copied());
    wanted.filter(|&var| seen.insert(var)).collect()
}
