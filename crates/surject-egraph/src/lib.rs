//! Equality saturation over the algebra of read and acc: laws, user rules, cost, extraction.
