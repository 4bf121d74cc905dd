//! Runs the papers: the fenced blocks of a Markdown file are examples, and each is checked.
//!
//! * [`programs`]: two ```` ```program ```` blocks in a row are two texts of one computation. Both are parsed, verified and
//!   interpreted on random arguments, their results are compared, and the e-graph is asked whether it finds them equal.
//! * [`maps`]: a ```` ```map ```` block is one or two index maps, or a reshape, followed by questions and their answers.
//! * [`laws`]: a ```` ```law ```` block is a law as it ships.
//! * [`errors`]: in the pages of error codes, a ```` ```stablehlo ```` or ```` ```rules ```` block gives the error of its heading.
//!
//! [`comparison`] writes a paper: that on the times of programs beside those of XLA and IREE.
//!
//! Every failure names the file and the line of its block.

pub mod blocks;
pub mod comparison;
pub mod errors;
pub mod join;
pub mod laws;
pub mod maps;
pub mod programs;

pub use blocks::{Block, Paper, papers};
