//! StableHLO text in plain Rust: parser, printer, verifier; no MLIR needed.
