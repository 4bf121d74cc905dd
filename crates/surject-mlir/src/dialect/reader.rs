//! Attributes and names of operations, without the assumptions of typed wrappers.

use super::value;
use crate::raw;
use melior::ir::operation::OperationRef;
use melior::ir::{Attribute, AttributeLike};
use mlir_sys::{
    MlirAttribute, MlirStringRef, mlirArrayAttrGetElement, mlirArrayAttrGetNumElements, mlirAttributeGetType,
    mlirAttributeIsAArray, mlirAttributeIsABool, mlirAttributeIsADenseI64Array,
    mlirAttributeIsAFlatSymbolRef, mlirAttributeIsAInteger, mlirAttributeIsAString, mlirBoolAttrGetValue,
    mlirDenseArrayGetNumElements, mlirDenseI64ArrayGetElement, mlirFlatSymbolRefAttrGetValue,
    mlirIdentifierStr, mlirIntegerAttrGetValueInt, mlirOperationGetAttributeByName, mlirOperationGetName,
    mlirStringAttrGetValue,
};
use surject_ir::{Buffer, Scalar};

/// The attributes of an operation. Errors are messages that name the attribute.
pub(super) struct Attributes<'c, 'a>(pub OperationRef<'c, 'a>);

/// The name of an operation.
pub(super) fn name(op: OperationRef<'_, '_>) -> String {
    // SAFETY: the operation is alive, and so is its name.
    unsafe { raw::text(mlirIdentifierStr(mlirOperationGetName(op.to_raw()))) }
}

impl<'c> Attributes<'c, '_> {
    /// The attribute of this name.
    pub(super) fn get(&self, name: &str) -> Option<Attribute<'c>> {
        let key = MlirStringRef { data: name.as_ptr().cast(), length: name.len() };
        // SAFETY: the operation is alive; the attribute lives as long as the context.
        unsafe {
            let attribute = mlirOperationGetAttributeByName(self.0.to_raw(), key);
            (!attribute.ptr.is_null()).then(|| Attribute::from_raw(attribute))
        }
    }

    fn raw(&self, name: &str) -> Result<MlirAttribute, String> {
        self.get(name).map(|a| a.to_raw()).ok_or_else(|| format!("the attribute `{name}` is missing"))
    }

    /// The attribute as MLIR prints it.
    pub(super) fn printed(&self, name: &str) -> Result<String, String> {
        // SAFETY: the attribute is alive.
        self.raw(name).map(|attribute| unsafe { raw::print_attribute(attribute) })
    }

    pub(super) fn int(&self, name: &str) -> Result<i64, String> {
        let attribute = self.raw(name)?;
        // SAFETY: asked for its value after the check that it is an integer of at most 64 bits.
        unsafe {
            if mlirAttributeIsAInteger(attribute) {
                let ty = raw::print_type(mlirAttributeGetType(attribute));
                if matches!(ty.as_str(), "i64" | "i32" | "i16" | "i8" | "index") {
                    return Ok(mlirIntegerAttrGetValueInt(attribute));
                }
            }
        }
        Err(format!("`{name}` is not a 64-bit integer"))
    }

    pub(super) fn size(&self, name: &str) -> Result<usize, String> {
        usize::try_from(self.int(name)?).map_err(|_| format!("`{name}` is negative"))
    }

    pub(super) fn bool(&self, name: &str) -> Result<bool, String> {
        let attribute = self.raw(name)?;
        // SAFETY: asked for its value after the check.
        unsafe {
            if mlirAttributeIsABool(attribute) {
                return Ok(mlirBoolAttrGetValue(attribute));
            }
        }
        Err(format!("`{name}` is neither true nor false"))
    }

    pub(super) fn ints(&self, name: &str) -> Result<Vec<i64>, String> {
        let attribute = self.raw(name)?;
        // SAFETY: elements are asked after the check, below their number.
        unsafe {
            if mlirAttributeIsADenseI64Array(attribute) {
                let count = mlirDenseArrayGetNumElements(attribute);
                return Ok((0..count).map(|i| mlirDenseI64ArrayGetElement(attribute, i)).collect());
            }
        }
        Err(format!("`{name}` is not an array<i64: …>"))
    }

    pub(super) fn unsigned(&self, name: &str) -> Result<Vec<u64>, String> {
        let ints = self.ints(name)?;
        ints.into_iter()
            .map(|i| u64::try_from(i).map_err(|_| format!("`{name}` has a negative element")))
            .collect()
    }

    pub(super) fn axes(&self, name: &str) -> Result<Vec<usize>, String> {
        let ints = self.ints(name)?;
        ints.into_iter()
            .map(|i| usize::try_from(i).map_err(|_| format!("`{name}` has a negative element")))
            .collect()
    }

    pub(super) fn string(&self, name: &str) -> Result<String, String> {
        string(self.raw(name)?).ok_or_else(|| format!("`{name}` is not a string"))
    }

    /// An array of strings.
    pub(super) fn strings(&self, name: &str) -> Result<Vec<String>, String> {
        strings(self.raw(name)?).ok_or_else(|| format!("`{name}` is not an array of strings"))
    }

    /// An array of arrays of strings.
    pub(super) fn string_lists(&self, name: &str) -> Result<Vec<Vec<String>>, String> {
        let lists = elements(self.raw(name)?).and_then(|e| e.into_iter().map(strings).collect());
        lists.ok_or_else(|| format!("`{name}` is not an array of arrays of strings"))
    }

    /// An array of symbols.
    pub(super) fn symbols(&self, name: &str) -> Result<Vec<String>, String> {
        let symbol = |attribute| {
            // SAFETY: asked for its value after the check.
            unsafe {
                mlirAttributeIsAFlatSymbolRef(attribute)
                    .then(|| raw::text(mlirFlatSymbolRefAttrGetValue(attribute)))
            }
        };
        let symbols = elements(self.raw(name)?).and_then(|e| e.into_iter().map(symbol).collect());
        symbols.ok_or_else(|| format!("`{name}` is not an array of symbols"))
    }

    /// Dense elements.
    pub(super) fn dense(&self, name: &str) -> Result<Buffer, String> {
        // SAFETY: the attribute is alive.
        let attribute = unsafe { Attribute::from_raw(self.raw(name)?) };
        value::dense(attribute).ok_or_else(|| {
            format!(
                "`{name}` is not dense elements (of an element type of Surject, and no splat beyond 1 GiB)"
            )
        })
    }

    /// The one value of dense elements that are all the same.
    pub(super) fn splat(&self, name: &str) -> Result<Scalar, String> {
        // SAFETY: the attribute is alive.
        let attribute = unsafe { Attribute::from_raw(self.raw(name)?) };
        value::splat(attribute).ok_or_else(|| format!("`{name}` is not one value for every element"))
    }
}

/// The value of a string attribute.
pub(super) fn string(attribute: MlirAttribute) -> Option<String> {
    // SAFETY: the attribute is alive, and asked for its value after the check.
    unsafe { mlirAttributeIsAString(attribute).then(|| raw::text(mlirStringAttrGetValue(attribute))) }
}

fn strings(attribute: MlirAttribute) -> Option<Vec<String>> {
    elements(attribute)?.into_iter().map(string).collect()
}

/// The elements of an array attribute.
pub(super) fn elements(attribute: MlirAttribute) -> Option<Vec<MlirAttribute>> {
    // SAFETY: the attribute is alive; elements are asked after the check, below their number.
    unsafe {
        if !mlirAttributeIsAArray(attribute) {
            return None;
        }
        Some(
            (0..mlirArrayAttrGetNumElements(attribute))
                .map(|i| mlirArrayAttrGetElement(attribute, i))
                .collect(),
        )
    }
}
