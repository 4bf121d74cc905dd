//! Which variables a statement reads, those of its regions included.

use crate::expression::gather::Gathered;
use std::collections::HashMap;
use surject_ir::{Block, FieldId, FieldKind, Function, Statement, StatementKind, Var};

/// The tensors that each stored field reads.
#[derive(Debug)]
pub struct Uses {
    fields: HashMap<FieldId, Vec<Var>>,
    /// What variables are made of that library calls evaluate.
    parts: HashMap<Var, Vec<Var>>,
}

impl Uses {
    /// Looks at every stored field of a function.
    pub fn new(function: &Function) -> Uses {
        let mut uses = Uses { fields: HashMap::new(), parts: HashMap::new() };
        let mut blocks = vec![&function.body];
        while let Some(block) = blocks.pop() {
            for statement in &block.statements {
                if let StatementKind::Store { field, .. } = statement.kind {
                    uses.fields.entry(field).or_insert_with(|| {
                        let tensor = |id: &FieldId| match function.fields[*id].kind {
                            FieldKind::Tensor(var) => Some(var),
                            _ => None,
                        };
                        function.fields.reachable(&[field]).iter().filter_map(tensor).collect()
                    });
                }
                blocks.extend(statement.regions().into_iter().map(|r| &r.body));
            }
        }
        uses
    }

    /// Lets the readers of these variables read what they are made of.
    pub fn inline(&mut self, inlined: &HashMap<Var, FieldId>) {
        let of: HashMap<Var, Vec<Var>> =
            inlined.iter().map(|(&v, f)| (v, self.fields.get(f).cloned().unwrap_or_default())).collect();
        for reads in self.fields.values_mut() {
            let more: Vec<Var> = reads.iter().filter_map(|v| of.get(v)).flatten().copied().collect();
            reads.extend(more);
        }
    }

    /// Lets the stores that read these variables read what they are gathered from.
    pub fn inline_gathers(&mut self, gathers: &HashMap<Var, Gathered>) {
        let mut of: HashMap<Var, Vec<Var>> = HashMap::new();
        for (&var, gathered) in gathers {
            let mut all = gathered.reads().to_vec();
            all.extend(self.parts.get(&gathered.indices).into_iter().flatten());
            of.insert(var, all);
        }
        for reads in self.fields.values_mut() {
            let more: Vec<Var> = reads.iter().filter_map(|v| of.get(v)).flatten().copied().collect();
            reads.extend(more);
        }
    }

    /// Lets the library calls that read these variables read what they are made of.
    pub fn inline_in_calls(&mut self, inlined: &HashMap<Var, FieldId>) {
        self.parts =
            inlined.iter().map(|(&v, f)| (v, self.fields.get(f).cloned().unwrap_or_default())).collect();
    }

    /// The variables a statement reads. Variables of its own regions may be among them.
    pub fn of(&self, statement: &Statement) -> Vec<Var> {
        let mut found = Vec::new();
        self.direct(statement, &mut found);
        let mut blocks: Vec<&Block> = statement.regions().into_iter().map(|r| &r.body).collect();
        while let Some(block) = blocks.pop() {
            found.extend(&block.results);
            for inner in &block.statements {
                self.direct(inner, &mut found);
                blocks.extend(inner.regions().into_iter().map(|r| &r.body));
            }
        }
        found
    }

    /// The variables a statement reads itself, not in its regions.
    pub fn direct(&self, statement: &Statement, found: &mut Vec<Var>) {
        match &statement.kind {
            StatementKind::Store { field, .. } => found.extend(self.fields.get(field).into_iter().flatten()),
            StatementKind::Constant { .. } => {}
            StatementKind::Call { args, .. } => {
                found.extend(args);
                found.extend(args.iter().filter_map(|v| self.parts.get(v)).flatten());
            }
            StatementKind::While { inits, .. } => found.extend(inits),
            StatementKind::If { index, .. } => found.push(*index),
        }
    }
}

/// The tensors among these that are read at all, or else all of them.
pub fn read(function: &Function, vars: &[Var]) -> Vec<Var> {
    let never = |v: &Var| function.ty(*v).space.rank() > 0 && leading(function, *v, 0) == Some(0);
    let some: Vec<Var> = vars.iter().copied().filter(|v| !never(v)).collect();
    if some.is_empty() { vars.to_vec() } else { some }
}

/// So many of the first elements along an axis of a tensor are all that is read; `None`: maybe all.
pub fn leading(function: &Function, var: Var, axis: usize) -> Option<i64> {
    let tensor = |id: FieldId| matches!(function.fields[id].kind, FieldKind::Tensor(v) if v == var);
    let (mut most, mut blocks) = (0, vec![&function.body]);
    while let Some(block) = blocks.pop() {
        if block.results.contains(&var) {
            return None;
        }
        for statement in &block.statements {
            match &statement.kind {
                StatementKind::Store { field, .. } => {
                    if tensor(*field) {
                        return None;
                    }
                    for id in function.fields.reachable(&[*field]) {
                        let node = &function.fields[id];
                        match &node.kind {
                            FieldKind::Read { map, of } if tensor(*of) => {
                                let (_, last) = map.components().get(axis)?.range(&node.space)?;
                                most = most.max(last.checked_add(1)?);
                            }
                            kind if kind.children().any(tensor) => return None,
                            _ => {}
                        }
                    }
                }
                StatementKind::Constant { .. } => {}
                StatementKind::Call { args, .. } if args.contains(&var) => return None,
                StatementKind::While { inits, .. } if inits.contains(&var) => return None,
                StatementKind::If { index, .. } if *index == var => return None,
                StatementKind::Call { .. } | StatementKind::While { .. } | StatementKind::If { .. } => {}
            }
            blocks.extend(statement.regions().into_iter().map(|r| &r.body));
        }
    }
    let length = function.ty(var).space.extent(axis).as_const()?;
    Some(most.min(i64::try_from(length).ok()?))
}
