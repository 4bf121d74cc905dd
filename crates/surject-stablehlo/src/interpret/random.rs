//! Random bits: Philox 4x32 and Threefry 2x32 as XLA computes them, and `rng`, whose numbers the specification leaves open.

use super::error::Error;
use super::machine::{Call, Values, one};
use super::number::{Elements, Int};
use super::scalar::special;
use super::value::{Tensor, Value, count, strides};
use crate::types::ElementType;

/// Philox 4x32 with ten rounds (J. K. Salmon and others, *Parallel random numbers: as easy as 1, 2, 3*, 2011).
pub(crate) fn philox(mut x: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let (a, b) = (u64::from(x[0]) * 0xD251_1F53, u64::from(x[2]) * 0xCD9E_8D57);
        x = [(b >> 32) as u32 ^ x[1] ^ key[0], b as u32, (a >> 32) as u32 ^ x[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    x
}

/// Threefry 2x32 with twenty rounds, of the same paper.
pub(crate) fn threefry(x: [u32; 2], key: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], key[0] ^ key[1] ^ 0x1BD1_1BDA];
    let (mut a, mut b) = (x[0].wrapping_add(keys[0]), x[1].wrapping_add(keys[1]));
    for i in 0..5u32 {
        for r in ROTATIONS[i as usize % 2] {
            a = a.wrapping_add(b);
            b = b.rotate_left(r) ^ a;
        }
        a = a.wrapping_add(keys[(i as usize + 1) % 3]);
        b = b.wrapping_add(keys[(i as usize + 2) % 3]).wrapping_add(i + 1);
    }
    [a, b]
}

fn halves(v: u64) -> [u32; 2] {
    [v as u32, (v >> 32) as u32]
}

/// `n` words of 32 bits and the counter behind them, four words a step of the counter of 128 bits.
fn philox_words(key: u64, counter: u128, n: usize) -> (Vec<u32>, u128) {
    let steps = n.div_ceil(4);
    let mut words = Vec::with_capacity(4 * steps);
    for i in 0..steps as u128 {
        let at = counter.wrapping_add(i);
        let (low, high) = (halves(at as u64), halves((at >> 64) as u64));
        words.extend(philox([low[0], low[1], high[0], high[1]], halves(key)));
    }
    words.truncate(n);
    (words, counter.wrapping_add(steps as u128))
}

/// Words of 32 bits in a shape, and how many counters they use. Along one dimension, the first even one, else the (first)
/// largest, neighbours are the two words of a counter; the counters are numbered row by row.
fn threefry_words(key: u64, counter: u64, shape: &[usize]) -> (Vec<u32>, usize) {
    let even = shape.iter().position(|n| n % 2 == 0);
    let largest = (0..shape.len()).fold(0, |best, d| if shape[d] > shape[best] { d } else { best });
    let dim = even.unwrap_or(largest);
    let Some(size) = shape.get(dim) else {
        return (vec![threefry(halves(counter), halves(key))[0]], 1);
    };
    let mut half = shape.to_vec();
    half[dim] = size.div_ceil(2);
    let (own, of_half) = (strides(shape), strides(&half));
    let word = |i: usize| {
        let index = |d: usize| i / own[d] % shape[d];
        let at: usize = (0..shape.len()).map(|d| of_half[d] * if d == dim { index(d) / 2 } else { index(d) }).sum();
        threefry(halves(counter.wrapping_add(at as u64)), halves(key))[index(dim) % 2]
    };
    let n: usize = shape.iter().product();
    ((0..n).map(word).collect(), half.iter().product())
}

impl Call<'_, '_> {
    pub(crate) fn rng_bit_generator(&mut self) -> Values {
        let state = self.tensor(0)?;
        let element = self.result_element(1)?.clone();
        let shape = self.result_shape(1)?;
        // Bits of floats are those of integers as wide.
        let bits = match element.bits() {
            Some(bits) if !element.is_complex() && (bits >= 8 || Int::of(&element).is_some()) => bits,
            _ => return Err(Error::unsupported(format!("random bits of type {element}"))),
        };
        let n = count(&shape, &element)?;
        let bytes = state.bytes();
        let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).collect();
        let by_threefry = self.op.enumeration("rng_algorithm")? == "THREE_FRY";
        let (new, out): (Vec<u64>, Vec<u64>) = match words.as_slice() {
            [key, counter] if by_threefry => {
                let (out, used) = match bits {
                    64 => {
                        let word = |i: u64| {
                            let [low, high] = threefry(halves(counter.wrapping_add(i)), halves(*key));
                            u64::from(high) << 32 | u64::from(low)
                        };
                        ((0..n as u64).map(word).collect(), n)
                    }
                    _ => {
                        let (words, used) = threefry_words(*key, *counter, &shape);
                        (words.into_iter().map(u64::from).collect(), used)
                    }
                };
                (vec![*key, counter.wrapping_add(used as u64)], out)
            }
            [key, counter @ ..] if !by_threefry && (counter.len() == 1 || counter.len() == 2) => {
                let low = u128::from(counter[0]);
                // Without a high half the key stands for it.
                let start = low | u128::from(*counter.get(1).unwrap_or(key)) << 64;
                let wide = if bits == 64 { 2 * n } else { n };
                let (words, end) = philox_words(*key, start, wide);
                let out = match bits {
                    64 => words.as_chunks::<2>().0.iter().map(|[a, b]| u64::from(*b) << 32 | u64::from(*a)).collect(),
                    _ => words.into_iter().map(u64::from).collect(),
                };
                let mut new = vec![*key, end as u64];
                if counter.len() == 2 {
                    new.push((end >> 64) as u64);
                }
                (new, out)
            }
            _ => return Err(Error::invalid(format!("a state of type {}", state.ty()))),
        };
        let wide = super::value::width(&element)?;
        let bytes = out.iter().flat_map(|v| {
            let v = Int::of(&element).map_or(*v, |int| int.wrap(*v as i64) as u64);
            v.to_le_bytes().into_iter().take(wide)
        });
        let output = Tensor::raw(element.clone(), shape, bytes.collect());
        let bytes = new.iter().flat_map(|v| v.to_le_bytes()).collect();
        let state = Tensor::raw(state.element.clone(), state.shape.clone(), bytes);
        Ok(vec![Value::Tensor(state), Value::Tensor(output)])
    }

    /// Numbers of a distribution. The stream is a Philox stream of its own: the same in every run.
    pub(crate) fn rng(&mut self) -> Values {
        let element = self.result_element(0)?.clone();
        let shape = super::movement::sizes(&self.tensor(2)?.int_elements()?, "shape")?;
        let n = count(&shape, &element)?;
        let normal = self.op.enumeration("rng_distribution")? == "NORMAL";
        let (words, _) = philox_words(0x5355_524A, u128::from(self.machine.random), 2 * n);
        self.machine.random += (2 * n).div_ceil(4) as u64;
        let words = words.as_chunks::<2>().0.iter().map(|[a, b]| u64::from(*b) << 32 | u64::from(*a));
        let (a, b) = (self.tensor(0)?.elements()?.at(0), self.tensor(1)?.elements()?.at(0));
        let elements = match Int::of(&element) {
            Some(int) => {
                let (low, high) = (int.wide(a.int()), int.wide(b.int()));
                // Both ends of booleans can be drawn.
                let span = high - low + i128::from(element == ElementType::I1);
                if span <= 0 {
                    return Err(Error::invalid(format!("no numbers from {low} up to {high}")));
                }
                Elements::I(words.map(|w| (low + (i128::from(w) * span >> 64)) as i64).collect())
            }
            None => {
                let (a, b) = (a.float(), b.float());
                // In the middle of one of 2^53 intervals.
                let unit = |w: u64| ((w >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
                Elements::F(match normal {
                    true => words.map(|w| a + b * special::quantile(unit(w))).collect(),
                    false => words.map(|w| below(&element, a + (b - a) * unit(w), a, b)).collect(),
                })
            }
        };
        one(Tensor::of(&element, &shape, &elements)?)
    }
}

/// What rounding does not carry to the end of the interval, which is open.
fn below(element: &ElementType, v: f64, a: f64, b: f64) -> f64 {
    if super::number::round(element, v) < b { v } else { a }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the authors' own implementation.
    #[test]
    fn known_answers() {
        assert_eq!(philox([0; 4], [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(threefry([0; 2], [0; 2]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
    }
}
