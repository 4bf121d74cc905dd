//! Copies of fields and blocks with other variables.

use crate::sweep::{Result, Sweep};
use std::collections::HashMap;
use surject_ir::{Block, FieldId, FieldKind, Function, Region, Statement, StatementKind, TypeError, Var};

/// A field with some fields and some tensors exchanged. `known` gives the fields that are exchanged and learns the
/// others.
pub(crate) fn substitute(
    f: &mut Function,
    root: FieldId,
    known: &mut HashMap<FieldId, FieldId>,
    vars: &HashMap<Var, Var>,
) -> std::result::Result<FieldId, TypeError> {
    for id in f.fields.reachable(&[root]) {
        // The root itself is made anew, whatever is known of it as a part of others.
        if known.contains_key(&id) && id != root {
            continue;
        }
        let new = node(f, id, known, vars)?;
        known.insert(id, new);
    }
    Ok(known.get(&root).copied().unwrap_or(root))
}

/// One node with its children exchanged.
pub(crate) fn node(
    f: &mut Function,
    id: FieldId,
    known: &HashMap<FieldId, FieldId>,
    vars: &HashMap<Var, Var>,
) -> std::result::Result<FieldId, TypeError> {
    let field = f.fields[id].clone();
    let of = |child: FieldId| known.get(&child).copied().unwrap_or(child);
    if let FieldKind::Tensor(var) = field.kind {
        return Ok(vars.get(&var).map_or(id, |&v| f.tensor(v)));
    }
    if field.kind.children().all(|c| of(c) == c) {
        return Ok(id);
    }
    f.fields.again(&field, of)
}

impl Sweep {
    /// A copy of a block with variables of its own. `vars` says what parameters become, and learns the rest.
    pub(crate) fn copy_block(&mut self, block: &Block, vars: &mut HashMap<Var, Var>) -> Result<Block> {
        let mut fields = HashMap::new();
        self.copy(block, vars, &mut fields)
    }

    fn copy(
        &mut self,
        block: &Block,
        vars: &mut HashMap<Var, Var>,
        fields: &mut HashMap<FieldId, FieldId>,
    ) -> Result<Block> {
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            let kind = match &statement.kind {
                StatementKind::Store { target, field } => {
                    let field = substitute(&mut self.f, *field, fields, vars);
                    let field = self.typed(field)?;
                    StatementKind::Store { target: self.copy_var(*target, vars), field }
                }
                StatementKind::Constant { target, value } => {
                    StatementKind::Constant { target: self.copy_var(*target, vars), value: value.clone() }
                }
                StatementKind::Call { targets, op, args, regions } => {
                    let args = renamed(args, vars);
                    let regions =
                        regions.iter().map(|r| self.copy_region(r, vars, fields)).collect::<Result<_>>()?;
                    let targets = self.copy_vars(targets, vars);
                    StatementKind::Call { targets, op: op.clone(), args, regions }
                }
                StatementKind::While { targets, inits, cond, body } => {
                    let inits = renamed(inits, vars);
                    let cond = self.copy_region(cond, vars, fields)?;
                    let body = self.copy_region(body, vars, fields)?;
                    StatementKind::While { targets: self.copy_vars(targets, vars), inits, cond, body }
                }
                StatementKind::If { targets, index, branches } => {
                    let index = vars.get(index).copied().unwrap_or(*index);
                    let branches =
                        branches.iter().map(|r| self.copy_region(r, vars, fields)).collect::<Result<_>>()?;
                    StatementKind::If { targets: self.copy_vars(targets, vars), index, branches }
                }
            };
            statements.push(Statement { kind, origin: statement.origin.clone() });
        }
        Ok(Block { statements, results: renamed(&block.results, vars) })
    }

    fn copy_region(
        &mut self,
        region: &Region,
        vars: &mut HashMap<Var, Var>,
        fields: &mut HashMap<FieldId, FieldId>,
    ) -> Result<Region> {
        let params = self.copy_vars(&region.params, vars);
        Ok(Region { params, body: self.copy(&region.body, vars, fields)? })
    }

    fn copy_vars(&mut self, list: &[Var], vars: &mut HashMap<Var, Var>) -> Vec<Var> {
        list.iter().map(|&v| self.copy_var(v, vars)).collect()
    }

    fn copy_var(&mut self, var: Var, vars: &mut HashMap<Var, Var>) -> Var {
        let name = self.f.name_of(var).to_string();
        let new = self.var_like(&name, var);
        vars.insert(var, new);
        new
    }
}

fn renamed(list: &[Var], vars: &HashMap<Var, Var>) -> Vec<Var> {
    list.iter().map(|v| vars.get(v).copied().unwrap_or(*v)).collect()
}
