//! The Program of assignments: types, verifier, text form and the reference interpreter.
