//! Modules for a GPU: what passes of MLIR make of them, among which LLVM's code generator for PTX is one.

use crate::MlirError;
use crate::guard::on_large_stack;
use crate::session::{Session, printed};

/// A module text after passes, as MLIR prints it. `surject-gpu` says which passes, and reads the PTX out of the text.
pub fn lowered(text: &str, passes: &str) -> Result<String, MlirError> {
    on_large_stack(|| {
        let session = Session::new();
        let mut module = session.parse(text)?;
        session.run(passes, &mut module, text)?;
        Ok(printed(&module))
    })
}
