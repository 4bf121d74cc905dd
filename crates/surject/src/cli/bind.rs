//! Symbolic sizes of a `.program`: the shapes of the given files are what they stand for.

use crate::{Failure, Source};
use std::collections::BTreeSet;
use std::path::PathBuf;
use surject_index::{Extent, ExtentExpr};
use surject_ir::{BindError, Buffer, Call, Function, Program};
use surject_notation::Span;
use surject_runtime::npy;

/// The program of one function with the sizes that the files give it, and what the files hold.
///
/// # Errors
/// A file that cannot be read; files whose shapes contradict the parameters or each other, with the parameter and the
/// sizes that clash; sizes at which the program is not well formed.
pub(super) fn bound(
    source: &Source,
    function: &Function,
    paths: &[PathBuf],
) -> Result<(Program, Vec<Buffer>), Failure> {
    let buffers: Vec<Buffer> =
        paths.iter().map(|path| npy::read(path).map_err(Failure::bad_input)).collect::<Result<_, _>>()?;
    match surject_ir::bind(function, &buffers) {
        Ok(bound) => Ok((Program { name: source.name.clone(), functions: vec![bound] }, buffers)),
        Err(error) => Err(failure(source, function, paths, &buffers, &error)),
    }
}

fn failure(
    source: &Source,
    function: &Function,
    paths: &[PathBuf],
    buffers: &[Buffer],
    error: &BindError,
) -> Failure {
    let BindError::Argument { parameter, name, expected, found, axis } = error else {
        return Failure::bad_input(format!("{}: `{}`: {error}", source.name, function.name));
    };
    let file = |k: usize| paths.get(k).map(|p| p.display().to_string()).unwrap_or_default();
    let message = format!("the input `{name}` is {expected}, the file holds {found}");
    let mut notes = Vec::new();
    match axis {
        None => notes.push(format!("{} has another element type or number of axes", file(*parameter))),
        Some((axis, needed)) => {
            let extent = expected.space.extent(*axis);
            let has = found.space.extent(*axis);
            let size = match extent {
                Extent::Const(_) => String::new(),
                Extent::Expr(_) => format!(" where `{extent}` is {needed}"),
            };
            notes.push(format!("axis {axis} of {} has {has} positions{size}", file(*parameter)));
            let call = Call { function, arguments: buffers };
            let mut atoms = BTreeSet::new();
            extent.atoms(&mut atoms);
            for atom in atoms.into_iter().map(Extent::Expr) {
                let (Extent::Expr(expr), Ok(value)) = (&atom, atom.eval(&call)) else {
                    continue;
                };
                let of = |input: usize| {
                    let param = function.params.get(input).map(|p| function.name_of(*p)).unwrap_or_default();
                    format!("of the input `{param}`, {}", file(input))
                };
                notes.push(match &**expr {
                    ExtentExpr::Symbol(name) => match function.declaration(name) {
                        Some((input, axis)) => format!("`{atom}` is {value}: axis {axis} {}", of(input)),
                        None => continue,
                    },
                    ExtentExpr::InputAxis { input, axis } => {
                        format!("`{atom}` is {value}: axis {axis} {}", of(*input))
                    }
                    ExtentExpr::RuntimeScalar { input, .. } => {
                        format!("`{atom}` is {value}: the value {}", of(*input))
                    }
                    _ => continue,
                });
            }
        }
    }
    notes.push("help: give files whose shapes agree, in the order of the parameters".to_string());
    let text = source.text().unwrap_or_default();
    let span = parameter_span(text, &function.name, *parameter).unwrap_or_default();
    Failure::bad_input(span.excerpt(&source.name, text, &message, &notes))
}

/// Where a parameter is written.
fn parameter_span(text: &str, function: &str, parameter: usize) -> Option<Span> {
    let head = format!("func {function}(");
    let mut start = text.find(&head)? + head.len();
    let (mut depth, mut count) = (0usize, 0usize);
    for (at, c) in text[start..].char_indices().map(|(at, c)| (start + at, c)).collect::<Vec<_>>() {
        match c {
            '[' | '(' | '<' => depth += 1,
            ',' | ')' if depth == 0 => {
                if count == parameter {
                    let written = &text[start..at];
                    let trimmed = written.trim_start();
                    let from = start + written.len() - trimmed.len();
                    return Some(Span::new(from, from + trimmed.trim_end().len()));
                }
                if c == ')' {
                    return None;
                }
                (count, start) = (count + 1, at + 1);
            }
            ']' | ')' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
