//! Reverse-mode differentiation of programs by the adjoint law.
