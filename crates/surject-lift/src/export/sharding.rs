//! Where tensors lie on a mesh of devices, in the text of Shardy.

use std::fmt::Write;
use surject_ir::{Block, LibOp, Program, Sharding, StatementKind};

/// `#sdy.sharding<mesh<["x"=2]>, [{"x"}, {?}]>`
pub(super) fn text(sharding: &Sharding) -> String {
    let mesh: Vec<String> = sharding.mesh.iter().map(|(name, size)| format!("\"{name}\"={size}")).collect();
    let mut text = format!("#sdy.sharding<mesh<[{}]>, [", mesh.join(", "));
    for (i, dim) in sharding.dims.iter().enumerate() {
        let mut words: Vec<String> = dim.axes.iter().map(|axis| format!("\"{axis}\"")).collect();
        words.extend(dim.open.then(|| "?".to_string()));
        _ = write!(text, "{}{{{}}}", if i > 0 { ", " } else { "" }, words.join(", "));
    }
    text + "]>"
}

/// The number of devices that a program is for: those of its largest mesh.
pub(super) fn devices(program: &Program) -> u64 {
    fn of(block: &Block) -> u64 {
        let statement = |s: &surject_ir::Statement| {
            let own = match &s.kind {
                StatementKind::Call { op: LibOp::Constraint { sharding }, .. } => sharding.devices(),
                _ => 1,
            };
            s.regions().iter().map(|r| of(&r.body)).fold(own, u64::max)
        };
        block.statements.iter().map(statement).fold(1, u64::max)
    }
    program.functions.iter().map(|f| of(&f.body)).fold(1, u64::max)
}
