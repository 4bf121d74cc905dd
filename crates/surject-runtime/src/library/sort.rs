//! Sorting along an axis by a comparator of the program.

use super::{LibraryError, product};
use crate::Buffer;
use crate::pool::parallel_for;

/// Task 0 of a kernel of one task, which worker 0 runs: its third argument is the table of its tensors.
///
/// Of a comparator these are an element of the left side and one of the right side of every operand (`a0, b0, a1, b1, …`), and
/// a byte that it writes, 0 or 1: does the left side come before the right?
pub type SortKernel = unsafe extern "C" fn(i64, i64, *const *mut u8);

/// Sorts several tensors of one shape together along `axis`: wherever `less` says so of the elements at two
/// positions, the first is moved before the second in all of them. The sort is stable.
///
/// `less` gets one element a slice, `a0, b0, a1, b1, …` (left and right side of operand 0, of operand 1, …). It
/// should be a strict weak order; if it is not, the result is some permutation of each line.
///
/// Fails if the shapes differ or have no such axis.
pub fn sort(
    operands: &[Buffer],
    axis: usize,
    less: &mut dyn FnMut(&[&[u8]]) -> bool,
) -> Result<Vec<Buffer>, LibraryError> {
    let Some(first) = operands.first() else { return Ok(Vec::new()) };
    let shape = first.shape();
    let error = |shape: &[usize], reason: String| {
        Err(LibraryError::Shape { kernel: "sort", shape: shape.to_vec(), reason })
    };
    if let Some(other) = operands.iter().find(|o| o.shape() != shape) {
        return error(other.shape(), format!("the first operand has the shape {shape:?}"));
    }
    if axis >= shape.len() {
        return error(shape, format!("there is no axis {axis}"));
    }
    let mut results = operands.to_vec();
    if first.is_empty() {
        return Ok(results);
    }
    let lines = Lines {
        outer: shape[..axis].iter().product(),
        len: shape[axis],
        inner: shape[axis + 1..].iter().product(),
    };
    let mut order = Order::default();
    let mut pair: Vec<&[u8]> = Vec::with_capacity(2 * operands.len());
    for line in 0..lines.outer * lines.inner {
        order.sort(lines.len, &mut |a, b| {
            pair.clear();
            for operand in operands {
                let size = operand.dtype().size();
                for k in [a, b] {
                    pair.push(&operand.bytes()[lines.position(line, k) * size..][..size]);
                }
            }
            less(&pair)
        });
        for (operand, result) in operands.iter().zip(&mut results) {
            let size = operand.dtype().size();
            for (k, &from) in order.indices.iter().enumerate() {
                let (from, to) = (lines.position(line, from) * size, lines.position(line, k) * size);
                result.bytes_mut()[to..][..size].copy_from_slice(&operand.bytes()[from..][..size]);
            }
        }
    }
    Ok(results)
}

/// [`sort`] for compiled code, in parallel over the lines. Operand `p` is a row-major `outer x axis_len x inner`
/// tensor of elements of `elem_sizes[p]` bytes at `inputs[p]`, and is sorted along its middle axis into
/// `outputs[p]`. Returns 0, or 1 if a size is negative or the product overflows.
///
/// # Safety
/// The three arrays have `n_operands` entries; the tensors have the sizes given, the outputs overlap nothing.
/// `comparator` reads `2 * n_operands` elements and writes one byte, from any thread and at the same time, and
/// does not unwind.
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C" fn surject_sort(
    n_operands: i64,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    elem_sizes: *const i64,
    outer: i64,
    axis_len: i64,
    inner: i64,
    comparator: SortKernel,
) -> i32 {
    let (Some(count), Some(elements)) = (product(&[n_operands]), product(&[outer, axis_len, inner])) else {
        return 1;
    };
    if count == 0 || elements == 0 {
        return 0;
    }
    // The casts are exact: none is negative.
    let lines = Lines { outer: outer as usize, len: axis_len as usize, inner: inner as usize };
    // SAFETY: arrays of `n_operands` entries.
    let Some(operands) = (unsafe { operands(count, inputs, outputs, elem_sizes) }) else { return 1 };
    let all = lines.outer * lines.inner;
    // Some thousand elements a task.
    let group = (4096 / lines.len).max(1);
    parallel_for(all.div_ceil(group), &|task| {
        let mut order = Order::default();
        let mut table = Vec::with_capacity(2 * count + 1);
        for line in task * group..((task + 1) * group).min(all) {
            order.sort(lines.len, &mut |a, b| {
                table.clear();
                for operand in &operands {
                    // SAFETY: positions within the tensor.
                    table.extend(
                        [a, b].map(|k| unsafe { operand.element(lines.position(line, k)) }.cast_mut()),
                    );
                }
                let mut before = 0u8;
                table.push(&raw mut before);
                // SAFETY: one element a pointer, as the comparator expects, which writes the last one only.
                unsafe { comparator(0, 0, table.as_ptr()) };
                before != 0
            });
            operands.iter().for_each(|o| o.permute(&lines, line, lines.len, |k| order.indices[k]));
        }
    });
    0
}

/// The operands that a C entry is given; `None` where a size is negative.
///
/// # Safety
/// The arrays have `count` entries.
pub(super) unsafe fn operands(
    count: usize,
    inputs: *const *const u8,
    outputs: *const *mut u8,
    elem_sizes: *const i64,
) -> Option<Vec<Operand>> {
    (0..count)
        .map(|p| {
            // SAFETY: the caller's promise.
            let (input, output, size) = unsafe { (*inputs.add(p), *outputs.add(p), *elem_sizes.add(p)) };
            Some(Operand { input, output, size: usize::try_from(size).ok()? })
        })
        .collect()
}

/// A tensor that is sorted into another.
pub(super) struct Operand {
    input: *const u8,
    output: *mut u8,
    size: usize,
}

// SAFETY: the tasks read the input and write disjoint lines of the output.
unsafe impl Sync for Operand {}

impl Operand {
    /// The address of an input element.
    pub(super) unsafe fn element(&self, position: usize) -> *const u8 {
        // SAFETY: the caller stays within the tensor.
        unsafe { self.input.add(position * self.size) }
    }

    /// Copies an input element to an output position.
    unsafe fn copy(&self, from: usize, to: usize) {
        let size = self.size;
        // SAFETY: the caller stays within the tensors, which do not overlap.
        unsafe {
            std::ptr::copy_nonoverlapping(self.input.add(from * size), self.output.add(to * size), size)
        }
    }

    /// Writes the first elements of a line of the output: element `k` is the element `from(k)` of the line of the
    /// input.
    pub(super) fn permute(&self, lines: &Lines, line: usize, count: usize, from: impl Fn(usize) -> usize) {
        let (first, step) = (lines.position(line, 0), lines.inner);
        for k in 0..count.min(lines.len) {
            let (from, to) = (first + from(k) * step, first + k * step);
            // SAFETY: positions within the tensor, and a line belongs to one task alone.
            unsafe {
                // Sizes known here make the copies single moves.
                match self.size {
                    4 => *self.output.cast::<[u8; 4]>().add(to) = *self.input.cast::<[u8; 4]>().add(from),
                    8 => *self.output.cast::<[u8; 8]>().add(to) = *self.input.cast::<[u8; 8]>().add(from),
                    _ => self.copy(from, to),
                }
            }
        }
    }
}

/// The lines of a tensor along an axis of length `len`, with `outer` and `inner` elements on either side.
pub(super) struct Lines {
    pub(super) outer: usize,
    pub(super) len: usize,
    pub(super) inner: usize,
}

impl Lines {
    /// The row-major position of element `k` of a line.
    pub(super) fn position(&self, line: usize, k: usize) -> usize {
        (line / self.inner * self.len + k) * self.inner + line % self.inner
    }
}

/// A permutation that sorts, with memory that serves line after line.
#[derive(Default)]
struct Order {
    indices: Vec<usize>,
    scratch: Vec<usize>,
}

impl Order {
    /// The length of the runs that are sorted by insertion.
    const RUN: usize = 8;

    /// The stable order of `0..len` by `less`: a bottom-up merge sort. `slice::sort_by` will not do, because it
    /// may panic if the comparator is not an order, and the comparator is the user's.
    fn sort(&mut self, len: usize, less: &mut dyn FnMut(usize, usize) -> bool) {
        self.indices.clear();
        self.indices.extend(0..len);
        for run in self.indices.chunks_mut(Self::RUN) {
            for i in 1..run.len() {
                let mut j = i;
                while j > 0 && less(run[j], run[j - 1]) {
                    run.swap(j, j - 1);
                    j -= 1;
                }
            }
        }
        let mut width = Self::RUN;
        while width < len {
            self.scratch.clear();
            for pair in self.indices.chunks(2 * width) {
                let (mut left, mut right) = pair.split_at(width.min(pair.len()));
                while let (Some((&l, more_left)), Some((&r, more_right))) =
                    (left.split_first(), right.split_first())
                {
                    // Only what is less overtakes.
                    if less(r, l) {
                        self.scratch.push(r);
                        right = more_right;
                    } else {
                        self.scratch.push(l);
                        left = more_left;
                    }
                }
                self.scratch.extend_from_slice(left);
                self.scratch.extend_from_slice(right);
            }
            std::mem::swap(&mut self.indices, &mut self.scratch);
            width = width.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DType, Scalar};
    use proptest::prelude::*;

    fn key(dtype: DType, bytes: &[u8]) -> (f64, f64, i128) {
        let s = Scalar::from_bytes(dtype, bytes);
        let z = s.as_complex();
        s.as_i128().map_or((z.re, z.im, 0), |i| (0.0, 0.0, i))
    }

    proptest! {
        #[test]
        fn agrees_with_std_on_orders(
            which in 0usize..15, len in 0usize..70, inner in 1usize..4, seed in any::<u64>(),
        ) {
            let dtype = DType::ALL[which];
            let mut state = seed;
            let values: Vec<Scalar> = (0..2 * len * inner).map(|_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                Scalar::from_i128(dtype, (state >> 60) as i128) // few values, so many ties
            }).collect();
            let keys = Buffer::from_scalars(dtype, &[2, len, inner], &values).unwrap();
            let positions: Vec<Scalar> =
                (0..values.len()).map(|i| Scalar::from_i128(DType::I64, i as i128)).collect();
            let tags = Buffer::from_scalars(DType::I64, &[2, len, inner], &positions).unwrap();
            let sorted =
                sort(&[keys.clone(), tags], 1, &mut |p| key(dtype, p[0]) < key(dtype, p[1])).unwrap();
            for (o, i) in (0..2).flat_map(|o| (0..inner).map(move |i| (o, i))) {
                let at = |k: usize| (o * len + k) * inner + i;
                let mut want: Vec<usize> = (0..len).map(at).collect();
                let value = |p: usize| {
                    let s = keys.get(p);
                    key(dtype, &s.to_bytes())
                };
                want.sort_by(|&a, &b| value(a).partial_cmp(&value(b)).unwrap());
                for (k, &from) in want.iter().enumerate() {
                    prop_assert_eq!(sorted[0].get(at(k)), keys.get(from));
                    prop_assert_eq!(sorted[1].get(at(k)).as_i128(), Some(from as i128));
                }
            }
        }

        #[test]
        fn any_comparator_gives_a_permutation(len in 0usize..200, seed in any::<u64>()) {
            let positions: Vec<Scalar> =
                (0..len).map(|i| Scalar::from_i128(DType::I32, i as i128)).collect();
            let operand = Buffer::from_scalars(DType::I32, &[len], &positions).unwrap();
            let mut state = seed;
            let sorted = sort(&[operand], 0, &mut |_| {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                state >> 63 == 1
            }).unwrap();
            let mut seen: Vec<i128> = (0..len).filter_map(|i| sorted[0].get(i).as_i128()).collect();
            seen.sort();
            prop_assert!(seen.into_iter().eq(0..len as i128));
        }
    }

    #[test]
    fn the_c_entry_agrees() {
        unsafe extern "C" fn less(_: i64, _: i64, table: *const *mut u8) {
            // SAFETY: pointers to four `i32`, a0, b0, a1, b1, and to the answer.
            unsafe {
                let answer = **table.cast::<*const i32>() < **table.add(1).cast::<*const i32>();
                **table.add(4) = answer.into();
            }
        }
        let (outer, len, inner) = (3, 1000, 2);
        let values: Vec<Scalar> = (0..outer * len * inner)
            .map(|i| Scalar::from_i128(DType::I32, ((i * 7919) % 1009) as i128))
            .collect();
        let keys = Buffer::from_scalars(DType::I32, &[outer, len, inner], &values).unwrap();
        let tags = Buffer::from_bytes(DType::I32, keys.shape(), keys.bytes()).unwrap();
        let want = sort(&[keys.clone(), tags.clone()], 1, &mut |p| {
            i32::from_le_bytes(p[0].try_into().unwrap()) < i32::from_le_bytes(p[1].try_into().unwrap())
        })
        .unwrap();
        let mut out = [Buffer::zeros(DType::I32, keys.shape()), Buffer::zeros(DType::I32, keys.shape())];
        let inputs = [keys.as_ptr(), tags.as_ptr()];
        let outputs = [out[0].as_mut_ptr(), out[1].as_mut_ptr()];
        let sizes = [4, 4];
        // SAFETY: tensors of these sizes.
        let code =
            unsafe { surject_sort(2, inputs.as_ptr(), outputs.as_ptr(), sizes.as_ptr(), 3, 1000, 2, less) };
        assert_eq!(code, 0);
        assert_eq!(out.as_slice(), want.as_slice());
        // SAFETY: refused before anything is read.
        let code =
            unsafe { surject_sort(2, inputs.as_ptr(), outputs.as_ptr(), sizes.as_ptr(), -3, 1000, 2, less) };
        assert_eq!(code, 1);
    }

    #[test]
    fn refuses_what_does_not_fit() {
        let (a, b) = (Buffer::zeros(DType::I8, &[2]), Buffer::zeros(DType::I8, &[3]));
        assert_eq!(
            sort(&[a.clone(), b], 0, &mut |_| false).unwrap_err().to_string(),
            "sort: shape [3]: the first operand has the shape [2]"
        );
        assert!(sort(&[a], 1, &mut |_| false).is_err());
        assert!(sort(&[], 1, &mut |_| false).unwrap().is_empty());
    }
}
