//! Why an expression does not get a form of kernels.

/// What a form of kernels wants and an expression has not, in words that follow "refused:".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(pub &'static str);

/// What a form of kernels needs to know, or why it does not fit.
pub type Fit<T> = Result<T, Refused>;

/// Goes on where a condition holds.
pub(crate) fn need(holds: bool, reason: &'static str) -> Fit<()> {
    if holds { Ok(()) } else { Err(Refused(reason)) }
}
