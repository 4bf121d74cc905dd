//! The Surject dialect, lowering through MLIR and just-in-time compilation.
