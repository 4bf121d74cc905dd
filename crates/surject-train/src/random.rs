//! Random numbers that are the same on every machine and in every version.

/// A generator of random numbers: SplitMix64 (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*,
/// 2014). Its whole state is a counter, so a seed determines everything that follows, and its sequence is part of
/// this crate's interface: a training run repeats bit for bit. It is not for secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    state: u64,
}

/// The increment of the counter: 2⁶⁴ over the golden ratio, made odd.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Random {
        Random { state: seed }
    }

    /// The generator of a named purpose under a seed: what one purpose draws does not shift what another draws.
    pub fn stream(seed: u64, purpose: &str) -> Random {
        // FNV-1a of the name, mixed with the seed by the generator itself.
        let hash = purpose
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Random::new(Random::new(seed).next_u64() ^ Random::new(hash).next_u64())
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GAMMA);
        let z = self.state;
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, each with the same probability (Lemire's method); 0 for `n` = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            let low = product as u64;
            // The products whose low half is below 2⁶⁴ mod n are one too many for some results.
            if low >= n || low >= n.wrapping_neg().checked_rem(n).unwrap_or(0) {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in [low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// A number of the standard normal distribution, by Marsaglia's polar method: it needs a logarithm and a root
    /// only, and both come from `libm`, not from the system.
    pub fn normal(&mut self) -> f64 {
        loop {
            let (u, v) = (self.uniform(-1.0, 1.0), self.uniform(-1.0, 1.0));
            let s = u * u + v * v;
            if s > 0.0 && s < 1.0 {
                return u * (-2.0 * libm::log(s) / s).sqrt();
            }
        }
    }

    /// Puts the elements into a random order (Fisher and Yates, from the end).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }

    /// An index, with a probability in proportion to its weight; `None` when no weight is positive.
    pub fn choose(&mut self, weights: &[f64]) -> Option<usize> {
        let total: f64 = weights.iter().filter(|w| **w > 0.0).sum();
        let mut rest = self.unit() * total;
        let mut last = None;
        for (i, &w) in weights.iter().enumerate().filter(|(_, w)| **w > 0.0) {
            last = Some(i);
            if rest < w {
                break;
            }
            rest -= w;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sequence_is_that_of_the_publication() {
        // The reference implementation's first outputs for the seed 1234567.
        let mut random = Random::new(1_234_567);
        let expected: [u64; 5] = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(expected, std::array::from_fn(|_| random.next_u64()));
    }

    #[test]
    fn a_shuffle_never_changes() {
        let mut items: Vec<u32> = (0..10).collect();
        Random::stream(7, "order").shuffle(&mut items);
        insta::assert_snapshot!(format!("{items:?}"));
    }

    #[test]
    fn normal_numbers_have_mean_zero_and_variance_one() {
        let mut random = Random::new(1);
        let draws: Vec<f64> = (0..100_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 1e5;
        let variance = draws.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.02 && (variance - 1.0).abs() < 0.03, "{mean} {variance}");
    }

    #[test]
    fn choices_follow_their_weights() {
        let mut random = Random::new(3);
        let mut counts = [0; 4];
        (0..40_000).for_each(|_| counts[random.choose(&[1.0, 0.0, 2.0, -5.0]).unwrap()] += 1);
        assert!(counts[1] == 0 && counts[3] == 0 && (counts[0] as f64 / 40_000.0 - 1.0 / 3.0).abs() < 0.01);
        assert_eq!(random.choose(&[0.0, -1.0]), None);
        assert_eq!(random.choose(&[f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn below_is_below(seed: u64, n in 1u64..) {
            prop_assert!(Random::new(seed).below(n) < n);
        }

        #[test]
        fn a_shuffle_is_a_permutation(seed: u64, n in 0usize..200) {
            let mut items: Vec<usize> = (0..n).collect();
            Random::new(seed).shuffle(&mut items);
            items.sort_unstable();
            prop_assert_eq!(items, (0..n).collect::<Vec<_>>());
        }
    }
}
