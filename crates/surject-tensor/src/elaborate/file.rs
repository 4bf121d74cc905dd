//! Constants that are read from files.

use super::Session;
use crate::error::{TensorError, TensorErrorKind};
use crate::graph::{RowSizes, Sizes};
use crate::tensor::Tensor;
use std::path::{Path, PathBuf};
use surject_ir::Buffer;
use surject_notation::Span;
use surject_runtime::npy;
use surject_shape::{Constraint, Dim, GroundRow, GroundShape};

impl Session {
    /// `file("w.npy")`: what the file holds, with its axes as output axes. A path that is not absolute starts in the folder
    /// of the text.
    pub(super) fn file(
        &mut self,
        name: &str,
        at: Span,
        site: super::call::Site<'_>,
    ) -> Result<Tensor, TensorError> {
        let path = self.beside(name);
        let unreadable = |message: String| {
            let error = self.wrong(TensorErrorKind::File, at, message);
            error.with_help("write the path of an .npy file of real numbers, from the folder of this text")
        };
        let buffer = npy::read(&path).map_err(|error| unreadable(error.to_string()))?;
        let Some(values) = numbers(&buffer) else {
            return Err(unreadable(format!(
                "{}: {} is no type of numbers here",
                path.display(),
                buffer.dtype()
            )));
        };
        let trail: Vec<Dim> = buffer.shape().iter().map(|&n| Dim::new(n as u64)).collect();
        if trail.iter().any(|d| d.size() == Some(0)) {
            return Err(unreadable(format!("{}: the file has an axis without positions", path.display())));
        }
        let shape = GroundShape { output: GroundRow { lead: Vec::new(), trail }, ..GroundShape::default() };
        let made = self.graph.data(&shape, values, self.site(site.span, site.label));
        let tensor = made.map_err(|error| self.here(error, site.span))?;
        self.files.insert(tensor.id());
        Ok(tensor)
    }

    /// A parameter that starts as a file has the rows of the file, where its definition does not say others.
    pub(super) fn shaped_by_file(
        &self,
        parameter: &Tensor,
        init: &Tensor,
        sizes: &Sizes,
        span: Span,
    ) -> Result<(), TensorError> {
        if !self.files.contains(&init.id()) {
            return Ok(());
        }
        let (of, as_file) = (self.graph.node(parameter.id()).shape, self.graph.node(init.id()).shape);
        let rows = [
            (&sizes.batch, of.batch, as_file.batch),
            (&sizes.input, of.input, as_file.input),
            (&sizes.output, of.output, as_file.output),
        ];
        let site = self.site(span, None);
        for (_, row, file) in rows.into_iter().filter(|(sizes, ..)| matches!(sizes, RowSizes::Free)) {
            let same = self.graph.constrain(Constraint::RowEq(row, file), &site);
            same.map_err(|error| self.here(error, span))?;
        }
        Ok(())
    }

    /// A path from the folder of the text that is evaluated.
    fn beside(&self, name: &str) -> PathBuf {
        let path = Path::new(name.trim());
        match Path::new(self.frame().text.file()).parent() {
            Some(folder) if path.is_relative() => folder.join(path),
            _ => path.to_path_buf(),
        }
    }
}

/// The elements as numbers; truth values are 1 and 0.
fn numbers(buffer: &Buffer) -> Option<Vec<f64>> {
    let dtype = buffer.dtype();
    if dtype.is_complex() {
        return None;
    }
    Some((0..buffer.len()).map(|k| buffer.get(k).as_f64()).collect())
}
