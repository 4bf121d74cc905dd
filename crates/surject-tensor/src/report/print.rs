//! The report as text.

use super::{AssignmentReport, Derivation, Report, StepReport};
use std::fmt::{self, Display, Formatter, Write};

/// The file, every tensor with its shape, every operation with its constraints, its loops and its assignments, and in the
/// end how parameters get their first values. Places are without the file where there is one file only.
impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.write(&mut text)?;
        match self.file() {
            Some(file) => write!(f, "{file}\n\n{}", text.replace(&format!("{file}:"), "")),
            None => f.write_str(&text),
        }
    }
}

impl Report {
    /// The file of all places, if there is one.
    fn file(&self) -> Option<&str> {
        let places = self.tensors.iter().map(|t| &t.place).chain(self.steps.iter().map(|s| &s.place));
        let mut files = places.flatten().filter_map(|place| place.rsplitn(3, ':').nth(2));
        let first = files.next()?;
        files.all(|file| file == first).then_some(first)
    }

    fn write(&self, f: &mut String) -> fmt::Result {
        let shown = || self.tensors.iter().filter(|t| t.kind != "number" && !t.first_value);
        let name = shown().map(|t| width(&t.name)).max().unwrap_or(0);
        let shape = shown().map(|t| width(&t.shape)).max().unwrap_or(0);
        writeln!(f, "tensors")?;
        for tensor in shown() {
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
        for step in self.steps.iter().filter(|s| !s.first_value) {
            write!(f, "\n{step}")?;
        }
        let first = || self.steps.iter().filter(|s| s.first_value);
        if first().next().is_some() {
            writeln!(f, "\nfirst values of parameters")?;
            for assignment in first().flat_map(|s| &s.assignments) {
                writeln!(f, "  {}", assignment.text)?;
            }
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

/// As many origins are written; all that are known stand in the JSON form.
const ORIGINS: usize = 2;

fn derivation(f: &mut String, indent: &str, row: &Derivation) -> fmt::Result {
    write!(f, "{indent}{} {}", row.subject, some(&row.value))?;
    for (k, origin) in row.from.iter().take(ORIGINS).enumerate() {
        write!(f, "{} {origin}", if k == 0 { " from" } else { "," })?;
    }
    writeln!(f, "{}", if row.from.len() > ORIGINS { ", …" } else { "" })
}

impl Display for StepReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{} = `{}`", self.result, self.operation)?;
        match &self.spec {
            Some(spec) if !self.operation.contains('"') => writeln!(f, " with the spec \"{spec}\"")?,
            _ => writeln!(f)?,
        }
        // Between rows without axes nothing is said, unless nothing else is.
        let all = self.constraints.iter().all(|c| empty(&c.values));
        let constraints = || self.constraints.iter().filter(|c| all || !empty(&c.values));
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
