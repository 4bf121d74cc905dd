//! The report as JSON.
//!
//! The keys are those of the fields of the report, and they are stable: a key may be added, none changes its meaning.

use super::{
    AssignmentReport, Derivation, LoopReport, MapReport, Relation, Report, StepReport, TensorReport,
};
use serde_json::{Value, json};
use surject_index::Extent;

impl Report {
    /// The report as JSON: `{"tensors": […], "steps": […]}`.
    ///
    /// * a tensor: `name kind text place before shape axes follows first_value`; `axes` in memory order, each `{"row", "size",
    ///   "basis"}`; `before` is the principal shape before closing;
    /// * a step: `operation spec place operator result operands first_value constraints labels product_space maps
    ///   assignments gradients`;
    /// * a constraint: `{"kind", "text", "values"}`; a label: `{"subject", "value", "from"}`;
    /// * the product space: a list of factors, each a list of loops `{"name", "size"}`;
    /// * a map: `{"slot", "tensor", "axes"}`, one index an axis in memory order;
    /// * an assignment: `text target slot accumulator reset reduces surjective injective cleared accumulates why
    ///   margins`.
    ///
    /// What is not there is `null`.
    pub fn to_json(&self) -> Value {
        json!({
            "tensors": list(&self.tensors, tensor),
            "steps": list(&self.steps, step),
        })
    }
}

fn list<T>(items: &[T], one: impl Fn(&T) -> Value) -> Value {
    Value::Array(items.iter().map(one).collect())
}

fn tensor(t: &TensorReport) -> Value {
    let axes = |a: &super::AxisReport| json!({ "row": a.row, "size": size(&a.size), "basis": a.basis });
    json!({
        "name": t.name,
        "kind": t.kind,
        "text": t.text,
        "place": t.place,
        "before": t.before,
        "shape": t.shape,
        "axes": list(&t.axes, axes),
        "follows": list(&t.follows, derivation),
        "first_value": t.first_value,
    })
}

/// A number, or the text of a symbolic size.
fn size(extent: &Extent) -> Value {
    extent.as_const().map_or_else(|| json!(extent.to_string()), |n| json!(n))
}

fn derivation(d: &Derivation) -> Value {
    json!({ "subject": d.subject, "value": d.value, "from": d.from })
}

fn step(s: &StepReport) -> Value {
    json!({
        "operation": s.operation,
        "spec": s.spec,
        "place": s.place,
        "operator": s.operator,
        "result": s.result,
        "operands": s.operands,
        "first_value": s.first_value,
        "constraints": list(&s.constraints, relation),
        "labels": list(&s.labels, derivation),
        "product_space": list(&s.product_space, |factor| list(factor, one_loop)),
        "maps": list(&s.maps, map),
        "assignments": list(&s.assignments, assignment),
        "gradients": list(&s.gradients, assignment),
    })
}

fn relation(r: &Relation) -> Value {
    json!({ "kind": r.kind, "text": r.text, "values": r.values })
}

fn one_loop(l: &LoopReport) -> Value {
    json!({ "name": l.name, "size": size(&l.size) })
}

fn map(m: &MapReport) -> Value {
    json!({ "slot": m.slot, "tensor": m.tensor, "axes": m.axes })
}

fn assignment(a: &AssignmentReport) -> Value {
    json!({
        "text": a.text,
        "target": a.target,
        "slot": a.slot,
        "accumulator": a.accumulator,
        "reset": a.reset,
        "reduces": list(&a.reduces, one_loop),
        "surjective": a.surjective,
        "injective": a.injective,
        "cleared": a.cleared,
        "accumulates": a.accumulates,
        "why": a.why,
        "margins": a.margins,
    })
}
