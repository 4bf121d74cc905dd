//! The notation of tensor programs inside Rust.
//!
//! `op!` and `assign!` take the text of `.sj` files: the tokens are turned back into their text, and the one parser of
//! [`surject_notation`] reads it, at compile time for mistakes of notation, which point at their token, and again at
//! run time, where the text is evaluated. Names that the text does not introduce and that the library does not have are
//! variables of the Rust code around it.
//!
//! The macros are to be used through `surject_tensor` (or `surject`), which says what they expand to; here they take the
//! path of that crate as their first token, in brackets.

mod expand;
mod library;
mod text;

use proc_macro::TokenStream;

/// An expression, or a layer: see `surject_tensor::op`.
#[proc_macro]
pub fn op(tokens: TokenStream) -> TokenStream {
    expand::op(tokens.into()).into()
}

/// Assignments and actions: see `surject_tensor::assign`.
#[proc_macro]
pub fn assign(tokens: TokenStream) -> TokenStream {
    expand::assign(tokens.into()).into()
}
