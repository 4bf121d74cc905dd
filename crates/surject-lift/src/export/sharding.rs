//! Where tensors lie on a mesh of devices, in the text of Shardy.

use std::fmt::Write;
use surject_ir::{Block, LibOp, Program, Sharding, StatementKind};

/// `"x"`, or a part of it: `"x":(1)2`.
fn axis(axis: &str) -> String {
    match axis.split_once(':') {
        Some((name, part)) => format!("\"{name}\":{part}"),
        None => format!("\"{axis}\""),
    }
}

fn axes(list: &[std::sync::Arc<str>]) -> Vec<String> {
    list.iter().map(|name| axis(name)).collect()
}

/// `#sdy.sharding<mesh<["x"=2]>, [{"x"}, {?}p1], replicated={"y"}>`
pub(super) fn text(sharding: &Sharding) -> String {
    let mesh: Vec<String> = sharding.mesh.iter().map(|(name, size)| format!("\"{name}\"={size}")).collect();
    let mut text = format!("#sdy.sharding<mesh<[{}]", mesh.join(", "));
    if !sharding.ids.is_empty() {
        let ids: Vec<String> = sharding.ids.iter().map(u64::to_string).collect();
        _ = write!(text, ", device_ids=[{}]", ids.join(", "));
    }
    text.push_str(">, [");
    for (i, dim) in sharding.dims.iter().enumerate() {
        let mut words = axes(&dim.axes);
        words.extend(dim.open.then(|| "?".to_string()));
        _ = write!(text, "{}{{{}}}", if i > 0 { ", " } else { "" }, words.join(", "));
        if let Some(priority) = dim.priority {
            _ = write!(text, "p{priority}");
        }
    }
    text.push(']');
    for (word, list) in [("replicated", &sharding.replicated), ("unreduced", &sharding.unreduced)] {
        if !list.is_empty() {
            _ = write!(text, ", {word}={{{}}}", axes(list).join(", "));
        }
    }
    text + ">"
}

/// The number of devices that a program is for: those of its largest mesh.
pub(super) fn devices(program: &Program) -> u64 {
    fn of(block: &Block) -> u64 {
        let statement = |s: &surject_ir::Statement| {
            let own = match &s.kind {
                StatementKind::Call { op: LibOp::Constraint { sharding }, .. } => sharding.devices(),
                StatementKind::Call { op: LibOp::Devices { op }, .. } => super::devices::count(op),
                _ => 1,
            };
            s.regions().iter().map(|r| of(&r.body)).fold(own, u64::max)
        };
        block.statements.iter().map(statement).fold(1, u64::max)
    }
    program.functions.iter().map(|f| of(&f.body)).fold(1, u64::max)
}
