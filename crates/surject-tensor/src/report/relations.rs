//! The constraints of an operation in the names of its tensors and of its spec, and what was found for them.

use super::names::closed_row;
use super::{Derivation, Names, Relation};
use crate::graph::{Data, Step};
use std::collections::HashMap;
use std::sync::Arc;
use surject_shape::{
    Constraint, DimTerm, DimVar, Instance, Kernel, Logic, Origin, Row, RowVar, Shape, Solver,
};

/// As many origins are shown, the nearest.
const ORIGINS: usize = 4;

/// What the rows of a tensor follow from, where they were not written out.
pub(super) fn rows(data: &Data, shape: &Shape) -> Vec<Derivation> {
    let rows = [("batch", &shape.batch), ("input", &shape.input), ("output", &shape.output)];
    let derived = rows.into_iter().filter_map(|(name, row)| {
        let mut from = Vec::new();
        if let Some(var) = row.var {
            add_origins(&mut from, data.solver.why_row(var));
        }
        for dim in row.dims() {
            if let DimTerm::Var(var) = dim {
                add_origins(&mut from, data.solver.why_dim(var));
            }
        }
        let value = closed_row(&data.solver, row);
        // A row that ended up without axes follows from nothing: nobody asked for any.
        (!from.is_empty() && !value.is_empty()).then(|| Derivation { subject: name.to_string(), value, from })
    });
    derived.collect()
}

fn add_origins(to: &mut Vec<String>, origins: Vec<Arc<Origin>>) {
    for origin in origins {
        let text = origin_text(&origin);
        if to.len() < ORIGINS && !to.contains(&text) {
            to.push(text);
        }
    }
}

/// The origin as one line; a spec that stands in the operation is not repeated.
fn origin_text(origin: &Origin) -> String {
    let spec = origin.spec.clone().filter(|_| !origin.operation.contains('"'));
    Origin { spec, tensors: Vec::new(), ..origin.clone() }.to_string()
}

/// The labels and row variables of the spec of a step.
pub(super) fn labels(data: &Data, step: &Step) -> Vec<Derivation> {
    let dims = step.instance.dims.iter().filter(|(label, _)| is_label(label)).map(|(label, var)| {
        let mut from = Vec::new();
        add_origins(&mut from, data.solver.why_dim(*var));
        let value = data.solver.ground_dim(*var).map_or("?".to_string(), |d| d.to_string());
        Derivation { subject: label.clone(), value, from }
    });
    let rows = step.instance.rows.iter().map(|(label, var)| {
        let mut from = Vec::new();
        add_origins(&mut from, data.solver.why_row(*var));
        let value = closed_row(&data.solver, &Row::open(*var));
        Derivation { subject: row_name(label), value, from }
    });
    dims.chain(rows).collect()
}

/// Components that are numbers have labels that no user wrote.
fn is_label(label: &str) -> bool {
    !label.starts_with(|c: char| c.is_ascii_digit()) && label != "_"
}

fn row_name(label: &str) -> String {
    if label.starts_with("..") { label.to_string() } else { format!("..{label}..") }
}

/// What a step says about its shapes.
pub(super) fn of_step(data: &Data, names: &Names, step: &Step) -> Vec<Relation> {
    // The same operation between tensors of which nothing is known: its constraints before anything is solved.
    let mut solver = Solver::new();
    let operands: Vec<Shape> = step.operands.iter().map(|_| solver.fresh_shape()).collect();
    let result = solver.fresh_shape();
    let references: Vec<&Shape> = operands.iter().collect();
    let Ok(elaboration) = step.logic.elaborate(&mut solver, &references, &result) else { return Vec::new() };
    let mut writer = Writer::new(data, step, &elaboration.instance);
    let tensors = operands.iter().zip(&step.operands).chain([(&result, &step.result)]);
    for (shape, node) in tensors {
        let real = &data.nodes[node.0 as usize].shape;
        let rows = [
            ("batch", &shape.batch, &real.batch),
            ("input", &shape.input, &real.input),
            ("output", &shape.output, &real.output),
        ];
        for (row, open, real) in rows {
            if let Some(var) = open.var {
                let name = format!("{}.{row}", names.of(*node));
                writer.rows.insert(var, (name, closed_row(&data.solver, real)));
            }
        }
    }
    let mut relations: Vec<Relation> = Vec::new();
    for constraint in &elaboration.constraints {
        if let Some(relation) = writer.relation(constraint)
            && !relations.contains(&relation)
        {
            relations.push(relation);
        }
    }
    relations
}

/// Variables of the constraints of one operation, as names and as what was found.
struct Writer {
    dims: HashMap<DimVar, (String, String)>,
    rows: HashMap<RowVar, (String, String)>,
}

impl Writer {
    fn new(data: &Data, step: &Step, instance: &Instance) -> Writer {
        let mut writer = Writer { dims: HashMap::new(), rows: HashMap::new() };
        let size = |label: &str| {
            let var = step.instance.dims.get(label)?;
            Some(data.solver.ground_dim(*var)?.to_string())
        };
        for (label, var) in &instance.dims {
            let name = if is_label(label) { label } else { label.split('@').next().unwrap_or(label) };
            writer.dims.insert(*var, (name.to_string(), size(label).unwrap_or_else(|| "_".to_string())));
        }
        for (label, var) in &instance.rows {
            let value = step.instance.rows.get(label).map(|var| closed_row(&data.solver, &Row::open(*var)));
            writer.rows.insert(*var, (row_name(label), value.unwrap_or_default()));
        }
        for (var, position) in &instance.pins {
            writer.dims.insert(*var, (position.to_string(), format!("_[{position}]")));
        }
        let range = match step.logic {
            Logic::BatchSlice { range: Some(range) } => range.to_string(),
            _ => "_".to_string(),
        };
        for var in &instance.external {
            writer.dims.insert(*var, ("@".to_string(), range.clone()));
        }
        writer
    }

    fn dim(&self, dim: DimTerm) -> (String, String) {
        match dim {
            DimTerm::Known(dim) => (dim.to_string(), dim.to_string()),
            DimTerm::Var(var) => {
                self.dims.get(&var).cloned().unwrap_or_else(|| ("_".to_string(), "_".to_string()))
            }
        }
    }

    /// A row in names, and as it was found.
    fn row(&self, row: &Row) -> (String, String) {
        let mut parts: Vec<(String, String)> = row.lead.iter().map(|d| self.dim(*d)).collect();
        if let Some(var) = row.var {
            parts.push(self.rows.get(&var).cloned().unwrap_or_default());
        }
        parts.extend(row.trail.iter().map(|d| self.dim(*d)));
        let (names, values): (Vec<String>, Vec<String>) = parts.into_iter().unzip();
        let join = |parts: Vec<String>| {
            let some: Vec<String> = parts.into_iter().filter(|p| !p.is_empty()).collect();
            if some.is_empty() { "<>".to_string() } else { some.join(",") }
        };
        (join(names), join(values))
    }

    fn relation(&mut self, constraint: &Constraint) -> Option<Relation> {
        let between = |kind, (a, x): (String, String), sign: &str, (b, y): (String, String)| {
            Some(Relation { kind, text: format!("{a} {sign} {b}"), values: format!("{x} {sign} {y}") })
        };
        match constraint {
            // The tensor stands on the left, what the spec says of it on the right. What was found is one thing.
            Constraint::RowEq(a, b) => {
                let ((a, _), (b, found)) = (self.row(a), self.row(b));
                if a == "<>" && found == "<>" {
                    return None;
                }
                Some(Relation { kind: "equal", text: format!("{b} = {a}"), values: found })
            }
            Constraint::RowLe(a, b) => between("broadcasts", self.row(a), "⊑", self.row(b)),
            Constraint::DimEq(a, b) => between("equal", self.dim(*a), "=", self.dim(*b)),
            Constraint::DimLe(a, b) => between("broadcasts", self.dim(*a), "⊑", self.dim(*b)),
            Constraint::AtLeast(dim, least) => {
                let (name, _) = self.dim(*dim);
                let text = format!("an axis at position {name} has at least {least} positions");
                Some(Relation { kind: "at least", values: text.clone(), text })
            }
            Constraint::Concat { target, parts } => {
                let (names, values): (Vec<String>, Vec<String>) =
                    parts.iter().map(|part| self.dim(*part)).unzip();
                self.alias(*target, names.join("^"), values.join("^"));
                let text = format!("size of {} = {}", names.join("^"), names.join(" + "));
                Some(Relation { kind: "concatenation", text, values: values.join(" + ") })
            }
            Constraint::Affine { input, stride, over, kernel, offset } => {
                Some(self.affine(*input, *stride, *over, *kernel, *offset))
            }
            Constraint::Discardable(var) => {
                let (name, value) = self.dim((*var).into());
                if !is_label(&name) {
                    return None;
                }
                let text = format!("{name} may be empty");
                Some(Relation { kind: "may be empty", text, values: value })
            }
            Constraint::Total { .. }
            | Constraint::Exact { .. }
            | Constraint::Terminal(..)
            | Constraint::TerminalDim(..) => None,
        }
    }

    /// From here on a computed axis is written as its computation.
    fn alias(&mut self, dim: DimTerm, name: String, value: String) {
        if let DimTerm::Var(var) = dim {
            self.dims.insert(var, (name, value));
        }
    }

    fn affine(
        &mut self,
        input: DimTerm,
        stride: u64,
        over: DimTerm,
        kernel: Option<Kernel>,
        offset: u64,
    ) -> Relation {
        let times = |c: u64, x: &str| if c == 1 { x.to_string() } else { format!("{c}*{x}") };
        let (o, found_o) = self.dim(over);
        let mut axis = times(stride, &o);
        let mut size = times(stride, &o);
        let mut found = times(stride, &found_o);
        if let Some(kernel) = kernel {
            let (k, found_k) = self.dim(kernel.size);
            // A further kernel of an axis that has one.
            let further = stride == 1 && o.contains('+');
            let mark = match (further, kernel.padded) {
                (true, _) => "+",
                (false, true) => "=+",
                (false, false) => "<+",
            };
            axis += &format!("{mark}{}", times(kernel.dilation, &k));
            if further && !kernel.padded {
                let more = |k: &str| times(kernel.dilation, &format!("({k}-1)"));
                (size, found) =
                    (format!("(size of {o}) + {}", more(&k)), format!("{found_o} + {}", more(&found_k)));
            } else if !kernel.padded {
                let valid = |o: &str, k: &str| {
                    let (o, k) = (format!("({o}-1)"), format!("({k}-1)"));
                    format!("{} + {} + 1", times(stride, &o), times(kernel.dilation, &k))
                };
                (size, found) = (valid(&o, &k), valid(&found_o, &found_k));
            }
        }
        if offset > 0 {
            axis += &format!("+{offset}");
        }
        self.alias(input, axis.clone(), found.clone());
        Relation { kind: "affine", text: format!("size of {axis} = {size}"), values: found }
    }
}
