//! End-to-end tests; they stand in `e2e/`.
