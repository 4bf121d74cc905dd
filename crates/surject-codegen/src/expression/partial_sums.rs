//! Long sums in blocks: partial sums keep the error of a sum of floats small.
//!
//! A sum of `n` floats in one accumulator has an error that grows with `n`: every addition rounds to the size that the sum
//! has by then. So what has been added up for a while goes to a second accumulator, and the first begins anew: the error
//! grows with the terms of a block and with the number of blocks, and the second accumulator costs one addition for some
//! hundred. (N. Higham, "The Accuracy of Floating Point Summation", 1993: blocked summation.) Batch normalisation over 25,088
//! rows is off by 2 units in the last place, not by 17.
//!
//! Nothing is compensated, and nothing depends on the values: the order is fixed when the code is written. Integers are
//! summed as they were, and so is whatever no rounding happens to.

use surject_ir::{AccOp, DType};

/// Terms of a block, about, in one accumulator.
pub(crate) const TERMS: i64 = 64;

/// The same where a vector of partial sums is one of a few: their blocks are shorter in time, and the end of a loop is not
/// foreseen by the processor.
pub(crate) const STEPS: i64 = 128;

/// The same where the sums of a tile fill the registers: all of them are stored and loaded for each block.
pub(crate) const TERMS_OF_TILES: i64 = 256;

/// A loop over loops with so many terms has them as blocks: more than an addition in so many is not worth it.
const LEAST: i64 = 32;

/// Blocks that are a block of a larger one.
pub(crate) const BLOCKS: i64 = 32;

/// So many times the terms of a block are more than one; of a loop that is alone, and of one in a nest, where blocks make one
/// loop more of several.
const WORTH: (i64, i64) = (2, 4);

/// How a loop of a sum is run through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Level {
    /// So many of its steps are a block, which begins anew and is added to what the loop has, or to what a larger block has:
    /// the largest first.
    pub(crate) blocks: Vec<i64>,
    /// Does the loop as a whole begin anew, and is added to what the loop around it has?
    pub(crate) anew: bool,
}

/// Is a reduction of this kind summed in blocks?
pub(crate) fn round(op: AccOp, dtype: DType) -> bool {
    op == AccOp::Add && (dtype.is_float() || dtype.is_complex())
}

/// The blocks of a loop of so many steps with so many terms each, as [`Level::blocks`], where a block has about so many
/// terms; and the terms that the accumulator of the loop has then.
fn blocks(steps: i64, terms: i64, wanted: i64, least: i64) -> (Vec<i64>, i64) {
    let (mut blocks, mut size) = (Vec::new(), (wanted / terms).max(1));
    if terms.saturating_mul(steps) < least || size >= steps {
        return (blocks, terms.saturating_mul(steps));
    }
    loop {
        blocks.insert(0, size);
        let count = (steps + size - 1) / size;
        if count < 2 * BLOCKS {
            return (blocks, count);
        }
        size *= BLOCKS;
    }
}

/// How a nest of loops with so many steps each, outermost first, is summed: in blocks of about so many terms.
pub(crate) fn levels(steps: &[i64], wanted: i64) -> Vec<Level> {
    let mut levels = vec![Level::default(); steps.len()];
    let least = wanted * if steps.iter().filter(|&&n| n > 1).count() > 1 { WORTH.1 } else { WORTH.0 };
    // The terms that the accumulator of a loop has by the end of the loop.
    let mut terms: i64 = 1;
    for (at, &steps) in steps.iter().enumerate().rev() {
        // A loop that does not run adds nothing to what is inside of it.
        let steps = steps.max(1);
        if steps > 1 && terms >= LEAST && terms.saturating_mul(steps) >= least {
            levels[at + 1].anew = true;
            terms = 1;
        }
        (levels[at].blocks, terms) = blocks(steps, terms, wanted, least);
    }
    levels
}

/// The steps of a block of so many, where there are two sums only, that of a block and that of all, and a block has so many
/// steps at least. `None`: all are one block.
pub(crate) fn halfway(steps: i64, least: i64) -> Option<i64> {
    (steps >= 2 * least).then(|| least.max(steps.isqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Additions of a sum.
    struct Additions {
        /// The most that a term goes through in one accumulator.
        depth: i64,
        /// All beside the terms.
        beside: i64,
    }

    fn additions(steps: &[i64], wanted: i64) -> Additions {
        let (mut depth, mut beside) = (0, 0);
        // The terms that one accumulator takes, from the innermost loop to the outermost.
        let (mut own, mut outside) = (1, steps.iter().product::<i64>());
        let mut close = |own: &mut i64, times: i64| {
            depth = depth.max(*own);
            beside += times;
            *own = 1;
        };
        for (level, &steps) in levels(steps, wanted).iter().zip(steps).rev() {
            outside /= steps;
            let mut inside = 1;
            for &size in level.blocks.iter().rev() {
                own *= size / inside;
                inside = size;
                close(&mut own, outside * ((steps + size - 1) / size));
            }
            own *= (steps + inside - 1) / inside;
            if level.anew {
                close(&mut own, outside);
            }
        }
        close(&mut own, 0);
        Additions { depth, beside }
    }

    #[test]
    fn no_sum_is_long_and_no_block_is_short() {
        for steps in [
            &[1][..],
            &[300],
            &[511],
            &[25_088],
            &[1 << 30],
            &[8, 56, 56],
            &[8, 56, 56, 4],
            &[8, 3, 9],
            &[7, 1, 300, 1, 2],
            &[1000, 1000, 3],
            &[2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2],
            &[40, 40, 40],
        ] {
            for wanted in [TERMS, STEPS] {
                let terms: i64 = steps.iter().product();
                let Additions { depth, beside } = additions(steps, wanted);
                assert!(depth < WORTH.1 * wanted, "{steps:?}: {depth} of {terms}");
                assert!(beside * (LEAST - 2) <= terms, "{steps:?}: {beside} of {terms}");
                assert!(terms >= WORTH.0 * wanted || beside == 0, "{steps:?}");
            }
        }
    }

    #[test]
    fn the_innermost_loops_are_blocks() {
        let blocks = |blocks: &[i64]| Level { blocks: blocks.to_vec(), anew: false };
        let anew = Level { blocks: Vec::new(), anew: true };
        let none = Level::default();
        assert_eq!(levels(&[8, 56, 56, 4], 64), [none.clone(), anew.clone(), anew, none.clone()]);
        assert_eq!(levels(&[25_088], 64), [blocks(&[2048, 64])]);
        assert_eq!(levels(&[100, 9], 64), [blocks(&[7]), none.clone()]);
        assert_eq!(levels(&[127, 1], 64), [none.clone(), none.clone()]);
        assert_eq!(levels(&[127, 0, 3], 64), levels(&[127, 1, 3], 64));
        assert_eq!(levels(&[144], 64), [blocks(&[64])]);
        assert_eq!((halfway(100, 64), halfway(128, 64), halfway(1 << 20, 64)), (None, Some(64), Some(1024)));
    }
}
