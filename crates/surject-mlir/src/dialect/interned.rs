//! Types and attributes of a context, each made once.

use super::value::{element, symbolic};
use crate::{MlirError, Stage, guard};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute, StringAttribute};
use melior::ir::r#type::{IntegerType, RankedTensorType, TupleType};
use melior::ir::{Attribute, Type, TypeLike};
use mlir_sys::{mlirDenseElementsAttrBoolGet, mlirDenseElementsAttrRawBufferGet};
use std::collections::HashMap;
use surject_index::Space;
use surject_ir::{Buffer, DType};

/// Makes the types and attributes of modules of one context.
pub(super) struct Interned<'c> {
    context: &'c Context,
    integer_type: Type<'c>,
    /// By their text.
    attributes: HashMap<String, Attribute<'c>>,
    elements: HashMap<DType, Type<'c>>,
    tensors: HashMap<(DType, Vec<i64>), Type<'c>>,
}

impl<'c> Interned<'c> {
    pub(super) fn new(context: &'c Context) -> Interned<'c> {
        Interned {
            context,
            integer_type: IntegerType::new(context, 64).into(),
            attributes: HashMap::new(),
            elements: HashMap::new(),
            tensors: HashMap::new(),
        }
    }

    /// An element type.
    pub(super) fn element(&mut self, dtype: DType) -> Result<Type<'c>, MlirError> {
        match self.elements.get(&dtype) {
            Some(&known) => Ok(known),
            None => {
                let ty = self.ty(element(dtype))?;
                self.elements.insert(dtype, ty);
                Ok(ty)
            }
        }
    }

    /// A type by its text.
    pub(super) fn ty(&self, text: &str) -> Result<Type<'c>, MlirError> {
        Type::parse(self.context, text).ok_or_else(|| unread("type", text))
    }

    /// The tensor type of a field or variable.
    pub(super) fn tensor(&mut self, dtype: DType, space: &Space) -> Result<Type<'c>, MlirError> {
        let sizes = space.sizes().ok_or_else(|| symbolic(space))?;
        self.tensor_of_sizes(dtype, sizes)
    }

    fn tensor_of_sizes(&mut self, dtype: DType, sizes: Vec<i64>) -> Result<Type<'c>, MlirError> {
        let element = self.element(dtype)?;
        let key = (dtype, sizes);
        if let Some(&known) = self.tensors.get(&key) {
            return Ok(known);
        }
        // Sizes come from a space: none is negative.
        let sizes: Vec<u64> = key.1.iter().map(|&n| n as u64).collect();
        let ty = Type::from(RankedTensorType::new(&sizes, element, None));
        self.tensors.insert(key, ty);
        Ok(ty)
    }

    pub(super) fn tuple(&self, types: &[Type<'c>]) -> Type<'c> {
        TupleType::new(self.context, types).into()
    }

    /// An attribute by its text.
    pub(super) fn attribute(&mut self, text: &str) -> Result<Attribute<'c>, MlirError> {
        if let Some(&known) = self.attributes.get(text) {
            return Ok(known);
        }
        // The parser is recursive.
        guard::check(text)?;
        let attribute = Attribute::parse(self.context, text).ok_or_else(|| unread("attribute", text))?;
        self.attributes.insert(text.to_string(), attribute);
        Ok(attribute)
    }

    /// An integer of 64 bits.
    pub(super) fn integer(&self, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(self.integer_type, value).into()
    }

    pub(super) fn string(&self, text: &str) -> Attribute<'c> {
        StringAttribute::new(self.context, text).into()
    }

    pub(super) fn symbol(&self, name: &str) -> Attribute<'c> {
        FlatSymbolRefAttribute::new(self.context, name).into()
    }

    pub(super) fn array(&self, elements: &[Attribute<'c>]) -> Attribute<'c> {
        ArrayAttribute::new(self.context, elements).into()
    }

    /// The elements of a buffer as an attribute that holds them.
    pub(super) fn dense(&mut self, value: &Buffer) -> Result<Attribute<'c>, MlirError> {
        let ty = self.buffer_type(value)?;
        if value.is_empty() {
            return self.attribute(&format!("dense<> : {ty}"));
        }
        let ty = ty.to_raw();
        // SAFETY: the type is a tensor of as many elements as the buffer has, and MLIR copies them.
        let attribute = unsafe {
            if value.dtype().is_bool() {
                let bits: Vec<i32> = (0..value.len()).map(|i| value.get(i).is_true().into()).collect();
                mlirDenseElementsAttrBoolGet(ty, bits.len() as isize, bits.as_ptr())
            } else {
                let bytes = value.bytes();
                mlirDenseElementsAttrRawBufferGet(ty, bytes.len(), bytes.as_ptr().cast())
            }
        };
        if attribute.ptr.is_null() {
            let (dtype, shape) = (value.dtype(), value.shape());
            return Err(MlirError::new(
                Stage::Dialect,
                format!("MLIR makes no attribute of elements {dtype} of shape {shape:?}"),
            ));
        }
        // SAFETY: it is none of the null attributes.
        Ok(unsafe { Attribute::from_raw(attribute) })
    }

    /// The tensor type of a buffer.
    pub(super) fn buffer_type(&mut self, value: &Buffer) -> Result<Type<'c>, MlirError> {
        let sizes = value.shape().iter().map(|&n| n as i64).collect();
        self.tensor_of_sizes(value.dtype(), sizes)
    }
}

fn unread(what: &str, text: &str) -> MlirError {
    let shown: String = text.chars().take(80).collect();
    MlirError::new(Stage::Dialect, format!("MLIR does not read the {what} `{shown}`"))
}
