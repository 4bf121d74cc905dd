//! The algebra of sizes.

mod brute;
mod kinds;
mod maps;
mod queries;
mod random;
mod text;
