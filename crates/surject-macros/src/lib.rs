//! The notation of tensor programs inside Rust: `op!` for expressions and layers, `assign!` for assignments.
