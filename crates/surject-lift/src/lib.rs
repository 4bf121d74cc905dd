//! StableHLO to Program and back.
