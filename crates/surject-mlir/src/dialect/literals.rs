//! Literals that a module in this process shares with its program.
//!
//! A module that is not printed names the elements of a large literal as a resource: MLIR neither copies nor hashes
//! them, and a program that is read back has the buffer itself.

use super::interned::Interned;
use crate::{MlirError, raw};
use melior::ir::{Attribute, AttributeLike, TypeLike};
use mlir_sys::{MlirStringRef, mlirUnmanagedDenseResourceElementsAttrGet};
use std::ffi::c_void;
use std::sync::Arc;
use surject_ir::Buffer;

/// Literals of so many bytes are shared, smaller ones copied.
const LEAST: usize = 1 << 10;

/// The literals that one module shares, in the order of their keys.
#[derive(Default)]
pub(super) struct SharedLiterals(Vec<Arc<Buffer>>);

impl SharedLiterals {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An attribute that stands for the elements.
    pub(super) fn attribute<'c>(
        &mut self,
        value: &Arc<Buffer>,
        interned: &mut Interned<'c>,
    ) -> Result<Attribute<'c>, MlirError> {
        if value.bytes().len() < LEAST {
            return interned.dense(value);
        }
        let ty = interned.buffer_type(value)?.to_raw();
        let key = key(self.0.len());
        let name = MlirStringRef { data: key.as_ptr().cast(), length: key.len() };
        let bytes = value.bytes();
        let (data, size) = (bytes.as_ptr().cast_mut().cast::<c_void>(), bytes.len());
        // The context holds the buffer as long as it may read it.
        let owner = Box::into_raw(Box::new(Arc::clone(value))).cast::<c_void>();
        self.0.push(Arc::clone(value));
        // SAFETY: the elements are alive until the context drops them, and declared as not to be written.
        unsafe {
            Ok(Attribute::from_raw(mlirUnmanagedDenseResourceElementsAttrGet(
                ty,
                name,
                data,
                size,
                1,
                false,
                Some(release),
                owner,
            )))
        }
    }

    /// The buffer that an attribute stands for.
    pub(super) fn find(&self, attribute: Attribute<'_>) -> Option<Arc<Buffer>> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: the attribute is alive. Of a resource only the key is printed.
        let text = unsafe { raw::print_attribute(attribute.to_raw()) };
        let rest = text.strip_prefix("dense_resource<")?;
        let named = rest.split('>').next()?;
        let at = named.strip_prefix(PREFIX)?.parse::<usize>().ok()?;
        self.0.get(at).cloned()
    }
}

const PREFIX: &str = "surject_literal_";

fn key(at: usize) -> String {
    format!("{PREFIX}{at}")
}

/// Lets go of a buffer that a context has held.
unsafe extern "C" fn release(owner: *mut c_void, _data: *const c_void, _size: usize, _align: usize) {
    // SAFETY: the pointer is the one that `attribute` made, and MLIR gives it back once.
    drop(unsafe { Box::from_raw(owner.cast::<Arc<Buffer>>()) });
}
