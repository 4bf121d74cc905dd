//! Text out of MLIR, for any bytes: `melior` expects well-formed, non-empty strings and panics otherwise.

use mlir_sys::{
    MlirAttribute, MlirDiagnostic, MlirOperation, MlirStringRef, MlirType, mlirAttributePrint,
    mlirDiagnosticPrint, mlirOperationPrint, mlirTypePrint,
};
use std::ffi::c_void;

/// The bytes of a string of MLIR, as text.
///
/// # Safety
/// The string is alive.
pub(crate) unsafe fn text(string: MlirStringRef) -> String {
    if string.data.is_null() || string.length == 0 {
        return String::new();
    }
    // SAFETY: a live string has `length` bytes at `data`.
    let bytes = unsafe { std::slice::from_raw_parts(string.data.cast::<u8>(), string.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

unsafe extern "C" fn append(chunk: MlirStringRef, bytes: *mut c_void) {
    if chunk.length > 0 {
        // SAFETY: MLIR passes a live chunk and the pointer that `printed` gave it.
        unsafe {
            let chunk = std::slice::from_raw_parts(chunk.data.cast::<u8>(), chunk.length);
            (*bytes.cast::<Vec<u8>>()).extend_from_slice(chunk);
        }
    }
}

/// Runs a printing function of MLIR with a callback that collects.
fn printed(print: impl FnOnce(unsafe extern "C" fn(MlirStringRef, *mut c_void), *mut c_void)) -> String {
    let mut bytes = Vec::<u8>::new();
    print(append, (&raw mut bytes).cast());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// # Safety
/// The diagnostic is alive.
pub(crate) unsafe fn print_diagnostic(diagnostic: MlirDiagnostic) -> String {
    // SAFETY: the caller's promise.
    printed(|callback, data| unsafe { mlirDiagnosticPrint(diagnostic, Some(callback), data) })
}

/// # Safety
/// The operation is alive.
pub(crate) unsafe fn print_operation(operation: MlirOperation) -> String {
    // SAFETY: the caller's promise.
    printed(|callback, data| unsafe { mlirOperationPrint(operation, Some(callback), data) })
}

/// # Safety
/// The attribute is alive.
pub(crate) unsafe fn print_attribute(attribute: MlirAttribute) -> String {
    // SAFETY: the caller's promise.
    printed(|callback, data| unsafe { mlirAttributePrint(attribute, Some(callback), data) })
}

/// # Safety
/// The type is alive.
pub(crate) unsafe fn print_type(ty: MlirType) -> String {
    // SAFETY: the caller's promise.
    printed(|callback, data| unsafe { mlirTypePrint(ty, Some(callback), data) })
}
