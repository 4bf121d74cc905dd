//! Tensors without shapes: the expression graph, inference, differentiation by slots, and assignments as a program.
