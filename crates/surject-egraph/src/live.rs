//! Which statements of a block matter. Every statement is a function of its operands, so one whose targets nobody
//! uses is left out.

use crate::import::needs;
use std::collections::{HashMap, HashSet};
use surject_ir::{Block, FieldId, FieldKind, Function, Statement, StatementKind, Var};

/// The statements of a block that its results need, in order.
pub fn live_statements<'a>(function: &Function, block: &'a Block) -> Vec<&'a Statement> {
    let mut needed: HashSet<Var> = block.results.iter().copied().collect();
    let mut kept: Vec<&Statement> = Vec::new();
    for statement in block.statements.iter().rev() {
        let declares = matches!(&statement.kind, StatementKind::Call { op, .. } if op.declares().is_some());
        if !declares && !statement.targets().iter().any(|t| needed.contains(t)) {
            continue;
        }
        match &statement.kind {
            StatementKind::Store { field, .. } => needed.extend(tensors(function, *field)),
            _ => needed.extend(needs(function, statement)),
        }
        kept.push(statement);
    }
    kept.reverse();
    kept
}

/// The variables that a field reads.
pub fn tensors(function: &Function, field: FieldId) -> Vec<Var> {
    let (mut seen, mut stack, mut result) = (HashSet::new(), vec![field], Vec::new());
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        let kind = &function.fields[id].kind;
        if let FieldKind::Tensor(var) = kind {
            result.push(*var);
        }
        stack.extend(kind.children());
    }
    result
}

/// The blocks that a statement runs by its control flow. The scalar functions of library operations are none.
pub fn nested(statement: &mut Statement) -> Vec<&mut Block> {
    match &mut statement.kind {
        StatementKind::While { cond, body, .. } => vec![&mut cond.body, &mut body.body],
        StatementKind::If { branches, .. } => branches.iter_mut().map(|b| &mut b.body).collect(),
        _ => Vec::new(),
    }
}

/// The block without stores and literals that nobody uses, over the variables of the new function.
pub fn sweep(function: &Function, block: &mut Block) {
    let kept: Vec<Statement> = live_statements(function, block).into_iter().cloned().collect();
    block.statements = kept;
    for statement in &mut block.statements {
        nested(statement).into_iter().for_each(|b| sweep(function, b));
    }
}

/// The positions of the statements that define variables in other ways than by a store, from 1.
pub fn levels(statements: &[&Statement]) -> HashMap<Var, u32> {
    let mut result = HashMap::new();
    let mut level = 0;
    for statement in statements {
        if !matches!(statement.kind, StatementKind::Store { .. }) {
            level += 1;
            for &target in statement.targets() {
                result.insert(target, level);
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_index::{Extent, Space};
    use surject_ir::TensorType;
    use surject_lift::{ImportOptions, import};

    /// The function with a size that nobody knows on every axis that is no number.
    fn erased(function: &Function) -> Function {
        let mut erased = function.clone();
        for (k, var) in erased.vars.iter_mut().enumerate() {
            let extents = var.ty.space.extents().iter().enumerate();
            let extents: Vec<Extent> =
                extents.map(|(axis, _)| Extent::symbol(&format!("unknown_{k}_{axis}"))).collect();
            var.ty = TensorType::new(var.ty.dtype, Space::new(extents));
        }
        erased.guards.clear();
        erased
    }

    fn targets(function: &Function, results: &[Var]) -> Vec<Vec<Var>> {
        let block = Block { statements: function.body.statements.clone(), results: results.to_vec() };
        live_statements(function, &block).iter().map(|s| s.targets().to_vec()).collect()
    }

    /// R53, A-30: what is dead is so whatever is known of sizes; what a size comes from stays.
    #[test]
    fn dead_code_needs_no_sizes() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/polymorphic");
        let (mut dead, mut modules) = (0, 0);
        for file in std::fs::read_dir(folder).expect("the folder of modules").flatten() {
            let path = file.path();
            if path.extension().is_none_or(|e| e != "mlir") {
                continue;
            }
            let text = std::fs::read(&path).expect("a module");
            let module = surject_stablehlo::parse_and_verify(&text).expect("a module");
            let options = ImportOptions { file: "module", source: &text, function: Some("main") };
            // A few have no program with symbolic sizes, which other tests say.
            let Ok(program) = import(&module, &options) else { continue };
            modules += 1;
            let function = program.main().expect("a function");
            let without = erased(function);
            let all: Vec<Var> = function.body.statements.iter().flat_map(|s| s.targets().to_vec()).collect();
            // Some of the results that a function may have.
            let some = all.iter().step_by(all.len() / 6 + 1);
            for result in some.chain(&function.body.results) {
                let live = targets(function, &[*result]);
                assert_eq!(live, targets(&without, &[*result]), "{}", path.display());
                dead += function.body.statements.len() - live.len();
            }
        }
        assert!(modules >= 80 && dead > 100, "{modules} modules, {dead} dead statements");
        let text = "\
func main(x: f32[n], s: f32[]) -> (y) {
  t : f32[] =: s * 2.0f32
  v : f32[u] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)
  w : f32[u] =: over i<u: x[i] + 1.0f32
  y : f32[n] =: over i<n: x[i] * 2.0f32
}
";
        let function = surject_ir::parse(text).expect("a program").functions.remove(0);
        let named = |f: &Function, vars: &[Vec<Var>]| -> Vec<String> {
            vars.iter().flatten().map(|v| f.name_of(*v).to_string()).collect()
        };
        for function in [&function, &erased(&function)] {
            let live = targets(function, &function.body.results);
            assert_eq!(named(function, &live), ["t", "v", "y"]);
        }
    }
}
