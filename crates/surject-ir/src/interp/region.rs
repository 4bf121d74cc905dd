//! Calling the scalar functions of library operations.

use super::{InterpError, Machine, first};
use crate::{Buffer, Region, Scalar};
use std::sync::Arc;

impl Machine<'_> {
    /// Runs a region on scalars.
    pub(super) fn scalars(&mut self, region: &Region, args: &[Scalar]) -> Result<Vec<Scalar>, InterpError> {
        let args = args.iter().map(|&a| Arc::new(Buffer::splat(a, &[]))).collect();
        let results = self.region(region, args)?;
        let missing = || InterpError::Malformed("a region yields an empty tensor".into());
        results.iter().map(|r| first(r).ok_or_else(missing)).collect()
    }

    /// Runs a region that answers a question about scalars.
    pub(super) fn question(&mut self, region: &Region, args: &[Scalar]) -> Result<bool, InterpError> {
        Ok(self.scalars(region, args)?.first().is_some_and(|s| s.is_true()))
    }
}
