//! Results that nothing stores: parameters, literals, and what is a result already. The host copies them at the end,
//! alone; a large one is an assignment instead, which every processor takes part in.

use crate::CodegenError;
use crate::program::memory::bytes;
use std::borrow::Cow;
use std::collections::HashSet;
use surject_ir::{Function, Statement, StatementKind};

/// Fewer bytes than these take no longer to copy than to share out.
const MANY: u64 = 1 << 20;

/// The function with an assignment for each large result that has none.
pub fn stored(function: &Function) -> Result<Cow<'_, Function>, CodegenError> {
    let mut taken: HashSet<_> = function.params.iter().copied().collect();
    for statement in &function.body.statements {
        if let StatementKind::Constant { target, .. } = statement.kind {
            taken.insert(target);
        }
    }
    let mut found = Cow::Borrowed(function);
    for (i, &result) in function.body.results.iter().enumerate() {
        if taken.insert(result) || bytes(function.ty(result))? < MANY {
            continue;
        }
        let function = found.to_mut();
        let field = function.tensor(result);
        let target = function.var_for("", field);
        function.body.statements.push(Statement::new(StatementKind::Store { target, field }));
        function.body.results[i] = target;
    }
    Ok(found)
}
