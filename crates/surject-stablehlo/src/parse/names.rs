//! The values in scope, by their names.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::module::ValueId;

/// What a name stands for: one value, or a group `%name:n` of consecutive ones.
#[derive(Clone, Copy)]
pub(super) struct Named {
    pub first: ValueId,
    pub count: u32,
}

/// The names in scope. Most are numbers that count up, which are their own place in a table.
#[derive(Default)]
pub(super) struct Names<'s> {
    numbered: Vec<Option<Named>>,
    others: HashMap<&'s str, Named, FxBuildHasher>,
    /// Numbers in the order of definition, none for another name; a scope ends by forgetting those that came after its
    /// start.
    order: Vec<Option<u32>>,
    /// The other names in the order of definition.
    words: Vec<&'s str>,
}

impl<'s> Names<'s> {
    pub fn scope(&self) -> usize {
        self.order.len()
    }

    pub fn close(&mut self, scope: usize) {
        for number in self.order.drain(scope..) {
            match number {
                Some(number) => self.numbered[number as usize] = None,
                None => _ = self.words.pop().and_then(|word| self.others.remove(word)),
            }
        }
    }

    fn is_numbered(&self, name: &str) -> bool {
        number(name).is_some_and(|n| self.numbered.get(n as usize).is_some_and(Option::is_some))
    }

    pub fn get(&self, name: &str) -> Option<Named> {
        let numbered = number(name).and_then(|n| self.numbered.get(n as usize).copied().flatten());
        numbered.or_else(|| self.others.get(name).copied())
    }

    /// Whether the name was free.
    pub fn define(&mut self, name: &'s str, named: Named) -> bool {
        // A number far beyond those so far would make the table large for nothing.
        let most = 2 * self.order.len() + 1024;
        let place = number(name).filter(|n| (*n as usize) < most && !self.others.contains_key(name));
        let Some(place) = place else {
            let free = !self.is_numbered(name) && !self.others.contains_key(name);
            if free {
                self.others.insert(name, named);
                self.order.push(None);
                self.words.push(name);
            }
            return free;
        };
        let slot = place as usize;
        if slot >= self.numbered.len() {
            self.numbered.resize(slot + 1, None);
        }
        let free = self.numbered[slot].is_none();
        if free {
            self.numbered[slot] = Some(named);
            self.order.push(Some(place));
        }
        free
    }
}

/// The number that a name is, without leading zeros: those are other names.
fn number(name: &str) -> Option<u32> {
    let digits = name.as_bytes();
    if digits.is_empty() || digits.len() > 9 || (digits[0] == b'0' && digits.len() > 1) {
        return None;
    }
    digits.iter().try_fold(0, |n, digit| digit.is_ascii_digit().then(|| 10 * n + u32::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(first: u32) -> Named {
        Named { first: ValueId(first), count: 1 }
    }

    #[test]
    fn names_are_known_until_their_scope_ends() {
        let mut names = Names::default();
        // Numbers, numbers with zeros in front, one far away, words.
        let all = ["0", "1", "01", "00", "7", "900000000", "99999999999", "arg0", "2", "x"];
        for (i, name) in all.iter().enumerate() {
            assert!(names.get(name).is_none(), "{name}");
            assert!(names.define(name, named(i as u32)), "{name}");
            assert!(!names.define(name, named(99)), "{name} twice");
        }
        let scope = names.scope();
        assert!(names.define("3", named(20)) && names.define("y", named(21)));
        names.close(scope);
        assert!(names.get("3").is_none() && names.get("y").is_none());
        for (i, name) in all.iter().enumerate() {
            assert_eq!(names.get(name).map(|n| n.first), Some(ValueId(i as u32)), "{name}");
        }
    }

    #[test]
    fn a_number_defined_when_it_was_far_away_stays_one_name() {
        let mut names = Names::default();
        assert!(names.define("3000", named(0)));
        let many: Vec<String> = (0..2000).map(|n| n.to_string()).collect();
        assert!(many.iter().all(|name| names.define(name, named(1))));
        assert!(!names.define("3000", named(2)));
        assert_eq!(names.get("3000").map(|n| n.first), Some(ValueId(0)));
        names.close(0);
        assert!(names.get("3000").is_none() && names.define("3000", named(3)));
    }
}
