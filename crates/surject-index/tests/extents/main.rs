//! The algebra of sizes.

mod brute;
mod kinds;
mod queries;
mod random;
mod text;
