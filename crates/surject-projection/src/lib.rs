//! Projection inference: the product space and the index maps of one operation, from its shape constraints.
