//! The report as text.

use super::{AssignmentReport, Derivation, Report, StepReport, TensorReport};
use std::fmt::{self, Display, Formatter};

/// Every tensor with its shape, then every operation with its constraints, its loops and its assignments.
impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let shown = |t: &&TensorReport| t.kind != "number";
        let name = self.tensors.iter().filter(shown).map(|t| width(&t.name)).max().unwrap_or(0);
        let shape = self.tensors.iter().filter(shown).map(|t| width(&t.shape)).max().unwrap_or(0);
        writeln!(f, "tensors")?;
        for tensor in self.tensors.iter().filter(shown) {
            write!(f, "  {}  {}  ", pad(&tensor.name, name), pad(&tensor.shape, shape))?;
            match &tensor.text {
                Some(text) => write!(f, "{} of `{text}`", tensor.kind)?,
                None => f.write_str(tensor.kind)?,
            }
            match &tensor.place {
                Some(place) => writeln!(f, ", {place}")?,
                None => writeln!(f)?,
            }
            let indent = " ".repeat(name + 4);
            if tensor.before != tensor.shape {
                writeln!(f, "{indent}before closing {}", some(&tensor.before))?;
            }
            for row in &tensor.follows {
                derivation(f, &indent, row)?;
            }
        }
        for step in &self.steps {
            write!(f, "\n{step}")?;
        }
        Ok(())
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

fn pad(text: &str, to: usize) -> String {
    format!("{text}{}", " ".repeat(to.saturating_sub(width(text))))
}

/// A shape without axes is written out where a blank would be overlooked.
fn some(shape: &str) -> &str {
    if shape.is_empty() { "no axes" } else { shape }
}

fn derivation(f: &mut Formatter<'_>, indent: &str, row: &Derivation) -> fmt::Result {
    write!(f, "{indent}{} {}", row.subject, some(&row.value))?;
    for (k, origin) in row.from.iter().enumerate() {
        write!(f, "{} {origin}", if k == 0 { " from" } else { "," })?;
    }
    writeln!(f)
}

impl Display for StepReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{} = `{}`", self.result, self.operation)?;
        match &self.spec {
            Some(spec) if !self.operation.contains(spec.as_str()) => {
                writeln!(f, " with the spec \"{spec}\"")?
            }
            _ => writeln!(f)?,
        }
        if self.first_value {
            return self.assignments.iter().try_for_each(|a| writeln!(f, "  {}", a.text));
        }
        let constraints = || self.constraints.iter().filter(|c| !empty(&c.values));
        let wide = constraints().map(|c| width(&c.text)).max().unwrap_or(0);
        for (k, relation) in constraints().enumerate() {
            let head = if k == 0 { "constraints  " } else { "             " };
            if relation.text == relation.values {
                writeln!(f, "  {head}{}", relation.text)?;
            } else {
                writeln!(f, "  {head}{}  : {}", pad(&relation.text, wide), relation.values)?;
            }
        }
        for (k, label) in self.labels.iter().enumerate() {
            let head = if k == 0 { "spec         " } else { "             " };
            writeln!(f, "  {head}{} = {}", label.subject, some(&label.value))?;
        }
        let factors: Vec<String> = self
            .product_space
            .iter()
            .map(|loops| loops.iter().map(|l| format!("{}:{}", l.name, l.size)).collect::<Vec<_>>().join("^"))
            .collect();
        writeln!(f, "  loops        {{{}}}", factors.join(", "))?;
        let maps: Vec<String> =
            self.maps.iter().map(|m| format!("{} {}[{}]", m.slot, m.tensor, m.axes.join(", "))).collect();
        writeln!(f, "  index maps   {}", maps.join("  "))?;
        for (title, assignments) in [("assignment  ", &self.assignments), ("gradient    ", &self.gradients)] {
            for assignment in assignments {
                writeln!(f, "  {title} {}", assignment.text)?;
                reasons(f, assignment)?;
            }
        }
        Ok(())
    }
}

/// Between rows without axes nothing is said.
fn empty(values: &str) -> bool {
    matches!(values, "<> ⊑ <>" | "<>")
}

fn reasons(f: &mut Formatter<'_>, assignment: &AssignmentReport) -> fmt::Result {
    let indent = " ".repeat(17);
    for axis in &assignment.reduces {
        writeln!(f, "{indent}`{}` reduces: {} does not mention it", axis.name, assignment.target)?;
    }
    for margin in &assignment.margins {
        writeln!(f, "{indent}{margin}")?;
    }
    writeln!(f, "{indent}{}", assignment.why)
}
