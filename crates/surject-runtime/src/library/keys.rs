//! Sorting along an axis by a key: a whole number for each element, computed once by compiled code.

use super::product;
use super::sort::{Lines, Operand, SortKernel, operands};
use crate::pool::parallel_for;

/// Lines longer than this are sorted digit by digit.
const LONG: usize = 1 << 10;

/// Sorts as [`super::surject_sort`] does, by keys below `2^bits`; the sort is stable. The tensors of the kernel `keys` are the
/// elements of a line of every operand, and a key for each, which it writes one after the other: as `u32` if keys have no
/// more bits, and as `u64` otherwise. What has the smaller key comes first. Of every line of the outputs only
/// the first `first` elements need be right. Returns 0, or 1 if a size is negative or the product overflows.
///
/// # Safety
/// As for [`super::surject_sort`]; `keys` reads the elements of a line and writes a key for each, from any thread and
/// at the same time, and does not unwind.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn surject_sort_keys(
    n_operands: i64,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    elem_sizes: *const i64,
    outer: i64,
    axis_len: i64,
    inner: i64,
    keys: SortKernel,
    bits: i64,
    first: i64,
) -> i32 {
    let (Some(count), Some(elements)) = (product(&[n_operands]), product(&[outer, axis_len, inner])) else {
        return 1;
    };
    let Some(first) = product(&[first]) else { return 1 };
    if count == 0 || elements == 0 || first == 0 {
        return 0;
    }
    // The casts are exact: none is negative.
    let lines = Lines { outer: outer as usize, len: axis_len as usize, inner: inner as usize };
    // SAFETY: arrays of `n_operands` entries.
    let Some(operands) = (unsafe { operands(count, inputs, outputs, elem_sizes) }) else { return 1 };
    if bits <= 32 {
        // SAFETY: as the caller promises, keys are written as `u32`.
        unsafe { sort::<u32>(&lines, &operands, keys, first) };
    } else {
        // SAFETY: as the caller promises, keys are written as `u64`.
        unsafe { sort::<u64>(&lines, &operands, keys, first) };
    }
    0
}

/// Sorts the lines of some operands by keys that are written as `K`.
unsafe fn sort<K: Copy + Ord + Default + Into<u64>>(
    lines: &Lines,
    operands: &[Operand],
    keys: SortKernel,
    first: usize,
) {
    let all = lines.outer * lines.inner;
    let narrow = size_of::<K>() == 4 && u32::try_from(lines.len).is_ok();
    // Some thousand elements a task.
    let group = (4096 / lines.len).max(1);
    parallel_for(all.div_ceil(group), &|task| {
        let mut order = KeyOrder::<K>::default();
        order.keys.reserve(lines.len);
        for line in task * group..((task + 1) * group).min(all) {
            let mut table: Vec<*mut u8> =
                // SAFETY: the first position of a line.
                operands.iter().map(|o| unsafe { o.element(lines.position(line, 0)) }.cast_mut()).collect();
            table.push(order.keys.as_mut_ptr().cast());
            // SAFETY: as many elements and keys as the line is long, for which there is room; all keys are written, and nothing
            // else.
            unsafe {
                keys(0, 0, table.as_ptr());
                order.keys.set_len(lines.len);
            }
            if first.saturating_mul(FEW) <= lines.len {
                order.leading(first);
                operands.iter().for_each(|o| o.permute(lines, line, first, |k| order.best[k].1));
            } else if narrow {
                order.narrow();
                let sorted = |k: usize| order.items[k] as u32 as usize;
                operands.iter().for_each(|o| o.permute(lines, line, lines.len, sorted));
            } else {
                order.wide();
                let sorted = |k: usize| order.indices[k] as usize;
                operands.iter().for_each(|o| o.permute(lines, line, lines.len, sorted));
            }
        }
    });
}

/// One element of so many is found without sorting the others.
const FEW: usize = 8;

/// The order of a line by its keys, with memory that serves line after line.
#[derive(Default)]
struct KeyOrder<K> {
    keys: Vec<K>,
    /// Key in the high half, number in the low one.
    items: Vec<u64>,
    scratch: Vec<u64>,
    indices: Vec<u64>,
    /// The first elements in order, keys and numbers.
    best: Vec<(K, usize)>,
}

impl<K: Copy + Ord + Into<u64>> KeyOrder<K> {
    /// Keys and numbers of 32 bits each.
    fn narrow(&mut self) {
        self.items.clear();
        self.items.extend(self.keys.iter().enumerate().map(|(i, &key)| key.into() << 32 | i as u64));
        if self.items.len() <= LONG {
            // The number makes every item different, so the order is the stable one.
            self.items.sort_unstable();
        } else {
            self.digits();
        }
    }

    /// Digit by digit from the lowest of the key on, all counted in one pass.
    fn digits(&mut self) {
        const BITS: u32 = 11;
        const SIZE: usize = 1 << BITS;
        let digit = |item: u64, pass: u32| (item >> (32 + pass * BITS)) as usize & (SIZE - 1);
        let mut counts = vec![[0usize; SIZE]; 3];
        for &item in &self.items {
            for (pass, count) in counts.iter_mut().enumerate() {
                count[digit(item, pass as u32)] += 1;
            }
        }
        self.scratch.resize(self.items.len(), 0);
        for (pass, count) in counts.iter_mut().enumerate() {
            if count.contains(&self.items.len()) {
                continue;
            }
            let mut start = 0;
            for entry in count.iter_mut() {
                start += std::mem::replace(entry, start);
            }
            for &item in &self.items {
                let place = &mut count[digit(item, pass as u32)];
                self.scratch[*place] = item;
                *place += 1;
            }
            std::mem::swap(&mut self.items, &mut self.scratch);
        }
    }

    /// The first elements of the order alone. What is no better than as many others is passed over, some at a time; of
    /// equal ones the later is no better.
    fn leading(&mut self, first: usize) {
        /// So many are kept in order while the line is gone through.
        const SORTED: usize = 16;
        const AT_ONCE: usize = 16;
        let most = (4 * first).max(64);
        let best = &mut self.best;
        best.clear();
        let mut bound = None;
        for (n, keys) in self.keys.chunks(AT_ONCE).enumerate() {
            // Without a branch for each.
            if bound.is_some_and(|b| keys.iter().fold(true, |none, &key| none & (key >= b))) {
                continue;
            }
            for (i, &key) in keys.iter().enumerate() {
                if bound.is_some_and(|b| key >= b) {
                    continue;
                }
                let item = (key, n * AT_ONCE + i);
                if first <= SORTED {
                    let place = best.iter().rposition(|b| b.0 <= key).map_or(0, |p| p + 1);
                    best.truncate(first - 1);
                    best.insert(place, item);
                    bound = best.last().filter(|_| best.len() == first).map(|b| b.0);
                } else {
                    best.push(item);
                    if best.len() == most {
                        best.select_nth_unstable(first - 1);
                        best.truncate(first);
                        bound = best.iter().map(|b| b.0).max();
                    }
                }
            }
        }
        best.sort_unstable();
        best.truncate(first);
    }

    /// Keys of any size, and lines of any length.
    fn wide(&mut self) {
        self.indices.clear();
        self.indices.extend(0..self.keys.len() as u64);
        let keys = &self.keys;
        self.indices.sort_by_key(|&i| keys[i as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The elements of the lines that [`own`] reads, and how far apart they lie: the program knows them as it makes its kernel.
    static LINE: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

    unsafe extern "C" fn own<K: From<u32>>(_: i64, _: i64, table: *const *mut u8) {
        let [count, stride] = [0, 1].map(|i| LINE[i].load(Ordering::Relaxed));
        for i in 0..count {
            // SAFETY: a line of `u32`, as the sort below passes it, another operand, and the keys.
            unsafe { *(*table.add(2)).cast::<K>().add(i) = (*(*table).cast::<u32>().add(i * stride)).into() };
        }
    }

    proptest! {
        /// Narrow and wide keys, short and long lines, against the standard library.
        #[test]
        fn sorts_stably(
            seed in any::<u64>(),
            (len, first) in (1usize..3000).prop_flat_map(|n| (Just(n), prop_oneof![Just(n), 1..=n, 1..=n.min(40)])),
            outer in 1usize..3,
            inner in 1usize..3,
            bits in 1u32..33,
        ) {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 32) as u32 >> (32 - bits)
            };
            let keys: Vec<u32> = (0..outer * len * inner).map(|_| next()).collect();
            let payload: Vec<u64> = (0..keys.len() as u64).collect();
            LINE[0].store(len, Ordering::Relaxed);
            LINE[1].store(inner, Ordering::Relaxed);
            for wide in [false, true] {
                let (mut k, mut p) = (vec![0u32; keys.len()], vec![0u64; keys.len()]);
                let inputs = [keys.as_ptr().cast::<u8>(), payload.as_ptr().cast()];
                let outputs = [k.as_mut_ptr().cast::<u8>(), p.as_mut_ptr().cast()];
                let status = unsafe {
                    surject_sort_keys(
                        2, inputs.as_ptr(), outputs.as_ptr(), [4, 8].as_ptr(), outer as i64, len as i64, inner as i64,
                        if wide { own::<u64> } else { own::<u32> }, if wide { 64 } else { 32 }, first as i64,
                    )
                };
                prop_assert_eq!(status, 0);
                for o in 0..outer {
                    for i in 0..inner {
                        let at = |n: usize| (o * len + n) * inner + i;
                        let mut expected: Vec<usize> = (0..len).map(at).collect();
                        expected.sort_by_key(|&n| keys[n]);
                        for (n, &from) in expected.iter().enumerate().take(first) {
                            prop_assert_eq!((k[at(n)], p[at(n)]), (keys[from], from as u64));
                        }
                    }
                }
            }
        }
    }
}
