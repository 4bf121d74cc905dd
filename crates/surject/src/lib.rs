//! The Surject facade.
