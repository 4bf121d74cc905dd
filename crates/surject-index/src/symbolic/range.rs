//! Ranges of integers, for what is known of an expression without a proof.

/// `low..=high`. The ends of `i128` stand for "no bound".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) low: i128,
    pub(crate) high: i128,
}

const LOWEST: i128 = i128::MIN;
const HIGHEST: i128 = i128::MAX;

impl Range {
    pub(crate) const ALL: Range = Range { low: LOWEST, high: HIGHEST };
    pub(crate) const NONNEGATIVE: Range = Range { low: 0, high: HIGHEST };

    pub(crate) fn exactly(value: i128) -> Range {
        Range { low: value, high: value }
    }

    pub(crate) fn lower(&self) -> Option<i128> {
        (self.low != LOWEST).then_some(self.low)
    }

    pub(crate) fn upper(&self) -> Option<i128> {
        (self.high != HIGHEST).then_some(self.high)
    }

    /// What is in both.
    pub(crate) fn and(self, other: Range) -> Range {
        Range { low: self.low.max(other.low), high: self.high.min(other.high) }
    }

    pub(crate) fn plus(self, other: Range) -> Range {
        let sum = |a: i128, b: i128, infinite: i128| {
            if a == infinite || b == infinite { infinite } else { a.checked_add(b).unwrap_or(infinite) }
        };
        Range { low: sum(self.low, other.low, LOWEST), high: sum(self.high, other.high, HIGHEST) }.sound()
    }

    pub(crate) fn times(self, other: Range) -> Range {
        let product = |a: i128, b: i128| {
            let positive = (a < 0) == (b < 0);
            match a.checked_mul(b) {
                Some(_) if a == 0 || b == 0 => 0,
                Some(c) if [a, b].iter().all(|&x| x != LOWEST && x != HIGHEST) => c,
                _ if positive => HIGHEST,
                _ => LOWEST,
            }
        };
        let ends =
            [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)]
                .map(|(a, b)| product(a, b));
        let (low, high) = ends.iter().fold((HIGHEST, LOWEST), |(l, h), &e| (l.min(e), h.max(e)));
        Range { low, high }.sound()
    }

    /// The values of `x·x·…` with `power` factors.
    pub(crate) fn power(self, power: usize) -> Range {
        let product = (0..power).fold(Range::exactly(1), |p, _| p.times(self));
        if power.is_multiple_of(2) { product.and(Range::NONNEGATIVE) } else { product }
    }

    /// The values of `⌊x / d⌋` for divisors of at least 1.
    pub(crate) fn floor_div(self, divisor: Range) -> Range {
        let quotient = |x: i128, d: i128| match (x, d) {
            (LOWEST | HIGHEST, _) => x,
            (_, HIGHEST) => {
                if x < 0 {
                    -1
                } else {
                    0
                }
            }
            _ => x.div_euclid(d),
        };
        // A quotient grows with the dividend; it falls with the divisor where the dividend is not negative.
        let of = |x: i128, smaller: bool| quotient(x, if smaller { divisor.high } else { divisor.low });
        Range { low: of(self.low, self.low >= 0), high: of(self.high, self.high < 0) }.sound()
    }

    pub(crate) fn maximum(self, other: Range) -> Range {
        Range { low: self.low.max(other.low), high: self.high.max(other.high) }
    }

    /// A lower end that is the sign for "no upper bound" comes from an overflow: everything is above `HIGHEST - 1`.
    fn sound(self) -> Range {
        Range { low: self.low.min(HIGHEST - 1), high: self.high.max(LOWEST + 1) }
    }
}
