//! Named tensors, and files of them.

use crate::TrainError;
use safetensors::tensor::{SafeTensorError, TensorView};
use safetensors::{Dtype, SafeTensors};
use std::collections::HashMap;
use std::path::Path;
use surject_runtime::{Buffer, DType};

/// Tensors by name, in the order in which they were added.
///
/// Names are unique; [`Params::insert`] refuses a second one.
#[derive(Clone, Debug, Default)]
pub struct Params {
    entries: Vec<(String, Buffer)>,
    places: HashMap<String, usize>,
}

impl PartialEq for Params {
    /// The same names in the same order with the same bits.
    fn eq(&self, other: &Params) -> bool {
        self.entries == other.entries
    }
}

impl Params {
    /// No tensors.
    pub fn new() -> Params {
        Params::default()
    }

    /// Adds a tensor; returns its place. A name that is taken is an error.
    pub fn insert(&mut self, name: impl Into<String>, value: Buffer) -> Result<usize, TrainError> {
        let name = name.into();
        if self.places.contains_key(&name) {
            return Err(TrainError::DuplicateParameter { name });
        }
        self.places.insert(name.clone(), self.entries.len());
        self.entries.push((name, value));
        Ok(self.entries.len() - 1)
    }

    /// The number of tensors.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A tensor by name.
    pub fn get(&self, name: &str) -> Option<&Buffer> {
        self.places.get(name).map(|&at| &self.entries[at].1)
    }

    /// Names and tensors, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Buffer)> {
        self.entries.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The number of elements of all tensors.
    pub fn elements(&self) -> usize {
        self.entries.iter().map(|(_, value)| value.len()).sum()
    }

    /// Replaces a tensor by one of the same type; `from` says where it comes from, for the error.
    pub fn replace(&mut self, from: &str, name: &str, value: Buffer) -> Result<(), TrainError> {
        let Some(&at) = self.places.get(name) else {
            return Err(TrainError::UnknownParameters { path: from.into(), names: vec![name.to_string()] });
        };
        let old = &mut self.entries[at].1;
        if (old.dtype(), old.shape()) != (value.dtype(), value.shape()) {
            let (name, expected, found) = (name.to_string(), type_of(old), type_of(&value));
            return Err(TrainError::ParameterType { from: from.to_string(), name, found, expected });
        }
        *old = value;
        Ok(())
    }

    /// Writes a safetensors file. The file appears under its name only once it is complete, so an interrupted run
    /// leaves the earlier one.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TrainError> {
        let path = path.as_ref();
        let mut views = Vec::with_capacity(self.entries.len());
        for (name, value) in self.iter() {
            let dtype = stored_type(value.dtype()).ok_or_else(|| TrainError::ElementType {
                name: name.to_string(),
                dtype: value.dtype().to_string(),
            })?;
            let view = TensorView::new(dtype, value.shape().to_vec(), value.bytes());
            views.push((name, view.map_err(|e| broken(path, &e))?));
        }
        let bytes = safetensors::serialize(views, None).map_err(|e| broken(path, &e))?;
        let mut partial = path.as_os_str().to_os_string();
        partial.push(".partial");
        std::fs::write(&partial, bytes).map_err(TrainError::io(&partial))?;
        std::fs::rename(&partial, path).map_err(TrainError::io(path))
    }

    /// Reads a safetensors file, in the order of its names.
    pub fn load(path: impl AsRef<Path>) -> Result<Params, TrainError> {
        let path = path.as_ref();
        let bytes = std::fs::read(path).map_err(TrainError::io(path))?;
        let file = SafeTensors::deserialize(&bytes).map_err(|e| broken(path, &e))?;
        let mut tensors = file.tensors();
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        let mut params = Params::new();
        for (name, view) in tensors {
            let dtype = read_type(view.dtype()).ok_or_else(|| TrainError::ElementType {
                name: name.clone(),
                dtype: format!("{:?}", view.dtype()),
            })?;
            if dtype == DType::I1 && view.data().iter().any(|b| *b > 1) {
                let reason = format!("the tensor `{name}` of truth values has bytes other than 0 and 1");
                return Err(TrainError::NotSafetensors { path: path.into(), reason });
            }
            let value = Buffer::from_bytes(dtype, view.shape(), view.data()).ok_or_else(|| {
                let reason = format!("the tensor `{name}` has another number of bytes than its shape says");
                TrainError::NotSafetensors { path: path.into(), reason }
            })?;
            params.insert(name, value)?;
        }
        Ok(params)
    }

    /// Takes the values of a file. The file has exactly these names, each with the same type; otherwise nothing is
    /// changed.
    pub fn restore(&mut self, path: impl AsRef<Path>) -> Result<(), TrainError> {
        let path = path.as_ref();
        let mut file = Params::load(path)?;
        let names = |params: &Params| params.iter().map(|(name, _)| name.to_string()).collect::<Vec<_>>();
        let missing: Vec<String> = names(self).into_iter().filter(|n| file.get(n).is_none()).collect();
        if !missing.is_empty() {
            return Err(TrainError::MissingParameters {
                path: path.into(),
                names: missing,
                found: names(&file),
            });
        }
        let unknown: Vec<String> = names(&file).into_iter().filter(|n| self.get(n).is_none()).collect();
        if !unknown.is_empty() {
            return Err(TrainError::UnknownParameters { path: path.into(), names: unknown });
        }
        let mut restored = self.clone();
        let from = path.display().to_string();
        for (name, value) in file.entries.drain(..) {
            restored.replace(&from, &name, value)?;
        }
        *self = restored;
        Ok(())
    }
}

/// A type as messages show it: `f32[3,4]`.
pub(crate) fn type_of(buffer: &Buffer) -> String {
    let sizes: Vec<String> = buffer.shape().iter().map(usize::to_string).collect();
    format!("{}[{}]", buffer.dtype(), sizes.join(","))
}

fn broken(path: &Path, error: &SafeTensorError) -> TrainError {
    TrainError::NotSafetensors { path: path.into(), reason: error.to_string() }
}

/// The element types that both sides have.
const TYPES: [(DType, Dtype); 13] = [
    (DType::I1, Dtype::BOOL),
    (DType::I8, Dtype::I8),
    (DType::I16, Dtype::I16),
    (DType::I32, Dtype::I32),
    (DType::I64, Dtype::I64),
    (DType::U8, Dtype::U8),
    (DType::U16, Dtype::U16),
    (DType::U32, Dtype::U32),
    (DType::U64, Dtype::U64),
    (DType::F16, Dtype::F16),
    (DType::BF16, Dtype::BF16),
    (DType::F32, Dtype::F32),
    (DType::F64, Dtype::F64),
];

fn stored_type(dtype: DType) -> Option<Dtype> {
    TYPES.iter().find(|(ours, _)| *ours == dtype).map(|(_, theirs)| *theirs)
}

fn read_type(dtype: Dtype) -> Option<DType> {
    TYPES.iter().find(|(_, theirs)| *theirs == dtype).map(|(ours, _)| *ours)
}
