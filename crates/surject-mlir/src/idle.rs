//! What compilations leave to later ones.
//!
//! A context of MLIR with its dialects and a code generator of LLVM take longer to make, and to destroy, than a small
//! kernel takes to compile. Each is used by one compilation at a time.

use std::sync::{Mutex, PoisonError};

/// The most things of a kind that wait: more compilations than that seldom run side by side.
const MOST: usize = 16;

/// Things of a kind that nobody uses.
pub(crate) struct Idle<T>(Mutex<Vec<T>>);

impl<T> Idle<T> {
    pub(crate) const fn new() -> Idle<T> {
        Idle(Mutex::new(Vec::new()))
    }

    /// Is there none?
    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// One of them that will do.
    pub(crate) fn take(&self, fits: impl Fn(&T) -> bool) -> Option<T> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(fits)?;
        Some(all.swap_remove(at))
    }

    /// One more. What is too much is dropped.
    pub(crate) fn give(&self, thing: T) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < MOST {
            all.push(thing);
        } else {
            // Not while others wait.
            drop(all);
            drop(thing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_is_taken_once() {
        let idle = Idle::new();
        (0..2 * MOST).for_each(|n| idle.give(n));
        assert_eq!(idle.take(|&n| n == MOST), None);
        assert_eq!(idle.take(|&n| n == 3), Some(3));
        assert_eq!(idle.take(|&n| n == 3), None);
        assert_eq!((0..MOST).filter_map(|_| idle.take(|_| true)).count(), MOST - 1);
    }
}
