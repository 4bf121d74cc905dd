//! `stablehlo.rng_bit_generator` and `stablehlo.rng`: Threefry 2x32 and Philox 4x32 (J. K. Salmon and others, *Parallel random numbers: as easy as
//! 1, 2, 3*, 2011) as XLA computes them: every word is a function of its position.

use super::cx::Cx;
use super::state::Result;
use surject_index::{Affine, IndexMap, Space};
use surject_ir::{BinaryOp, DType, FieldId, Scalar, UnaryOp};

/// Lifts the operation.
pub(super) fn bits(cx: &mut Cx<'_, '_>) -> Result<()> {
    let state = cx.operand_type(0)?;
    let out = cx.result_type(1)?;
    let (Some(words), Some(shape)) = (state.space.sizes(), out.space.sizes()) else {
        return Err(cx.unsupported("random bits of a shape that is not known"));
    };
    let shape: Vec<u64> = shape.iter().map(|n| n.unsigned_abs()).collect();
    let words = words.iter().map(|n| n.unsigned_abs()).product::<u64>();
    if state.dtype != DType::U64 || state.space.rank() != 1 || !(2..=3).contains(&words) {
        return Err(cx.invalid(format!("a state of type {state}")));
    }
    let threefry = cx.attr(cx.op.enumeration("rng_algorithm"))? == "THREE_FRY";
    if threefry && words != 2 {
        return Err(cx.invalid(format!("a state of type {state} for Threefry")));
    }
    let wide = match out.dtype.bits() {
        64 if !out.dtype.is_complex() => true,
        8 | 16 | 32 => false,
        _ => return Err(cx.unsupported(format!("random bits of type {}", out.dtype))),
    };
    let mut f = Words { cx, space: out.space.clone() };
    let position = f.linear(&shape)?;
    let (value, used) = match threefry {
        true => f.threefry_at(&shape, position, wide)?,
        false => f.philox_at(&shape, position, wide)?,
    };
    // Fewer bits are the low ones; floats have the bits of integers as wide.
    let bits = match out.dtype.bits() {
        8 => DType::U8,
        16 => DType::U16,
        32 => DType::U32,
        _ => DType::U64,
    };
    let value = f.cx.convert(bits, value);
    let value = if out.dtype == bits { value } else { f.cx.bitcast(out.dtype, value)? };
    // The counter moves past what was used; one of 128 bits carries.
    let mut s = Words { cx, space: state.space.clone() };
    let (key, low) = (s.word(0)?, s.word(1)?);
    let next = s.add(low, used)?;
    let at = s.cx.index(&state.space, 0, DType::I64)?;
    let is = |s: &mut Words<'_, '_, '_>, k: i128| {
        let k = s.cx.constant(&state.space, Scalar::from_i128(DType::I64, k));
        s.cx.binary(BinaryOp::Eq, at, k)
    };
    let first = is(&mut s, 0)?;
    let mut new = next;
    if words == 3 {
        let high = s.word(2)?;
        let over = s.cx.binary(BinaryOp::Lt, next, low)?;
        let carry = s.cx.convert(DType::U64, over);
        let high = s.cx.binary(BinaryOp::Add, high, carry)?;
        let second = is(&mut s, 1)?;
        new = s.cx.select(second, next, high)?;
    }
    let new = s.cx.select(first, key, new)?;
    cx.store(0, new)?;
    cx.store(1, value)
}

/// The key of the stream that `rng` takes its numbers from, which the specification leaves open.
const STREAM: u64 = 0x5355_524A;

/// `stablehlo.rng`: numbers of a distribution. The stream is a Philox stream of its own, the same in every run, of which each
/// operation takes the next part. What runs several times would take the same part each time, so it is refused.
pub(super) fn numbers(cx: &mut Cx<'_, '_>) -> Result<()> {
    if cx.lift.in_region() {
        return Err(cx.unsupported("numbers of a distribution inside a region"));
    }
    let out = cx.result_type(0)?;
    let dtype = out.dtype;
    let Some(shape) = out.space.sizes() else {
        return Err(cx.unsupported("numbers of a shape that is not known"));
    };
    if dtype.is_complex() {
        return Err(cx.unsupported(format!("numbers of type {dtype}")));
    }
    let shape: Vec<u64> = shape.iter().map(|n| n.unsigned_abs()).collect();
    let count: u64 = shape.iter().product();
    let normal = cx.attr(cx.op.enumeration("rng_distribution"))? == "NORMAL";
    let counter = cx.lift.random;
    cx.lift.random += count.saturating_mul(2).div_ceil(4);
    let mut ends = Vec::new();
    for i in 0..2 {
        let end = cx.field(i)?;
        ends.push(cx.broadcast(end, &out.space)?);
    }
    let mut f = Words { cx, space: out.space.clone() };
    let position = f.linear(&shape)?;
    let state = [f.number(DType::U64, STREAM), f.number(DType::U64, counter), f.number(DType::U64, 0)];
    let word = f.philox_word(state, position, true)?;
    if dtype.is_int() || dtype == DType::I1 {
        // The high half of the product of a word and the number of values.
        let wide = |f: &mut Words<'_, '_, '_>, x: FieldId| {
            let x = if dtype.is_signed_int() { f.cx.convert(DType::I64, x) } else { x };
            f.cx.convert(DType::U64, x)
        };
        let (low, high) = (wide(&mut f, ends[0]), wide(&mut f, ends[1]));
        let mut span = f.cx.binary(BinaryOp::Sub, high, low)?;
        if dtype == DType::I1 {
            span = f.add(span, 1)?;
        }
        let above = super::special::mulhi(f.cx, word, span)?;
        let value = f.cx.binary(BinaryOp::Add, low, above)?;
        let value = if dtype == DType::I1 {
            let zero = f.number(DType::U64, 0);
            f.cx.binary(BinaryOp::Ne, value, zero)?
        } else {
            f.cx.convert(dtype, value)
        };
        return cx.store(0, value);
    }
    // In the middle of one of 2^53 intervals.
    let high = f.with(BinaryOp::ShrLogical, word, 11)?;
    let high = f.cx.convert(DType::F64, high);
    let half = f.cx.number(high, 0.5);
    let middle = f.cx.binary(BinaryOp::Add, high, half)?;
    let intervals = f.cx.number(middle, (1u64 << 53) as f64);
    let unit = f.cx.binary(BinaryOp::Div, middle, intervals)?;
    let (a, b) = (f.cx.convert(DType::F64, ends[0]), f.cx.convert(DType::F64, ends[1]));
    let value = if normal {
        let two = f.cx.number(unit, 2.0);
        let one = f.cx.number(unit, 1.0);
        let twice = f.cx.binary(BinaryOp::Mul, two, unit)?;
        let centred = f.cx.binary(BinaryOp::Sub, twice, one)?;
        let inverse = f.cx.unary(UnaryOp::ErfInv, centred)?;
        let root = f.cx.number(inverse, std::f64::consts::SQRT_2);
        let quantile = f.cx.binary(BinaryOp::Mul, root, inverse)?;
        let scaled = f.cx.binary(BinaryOp::Mul, b, quantile)?;
        let value = f.cx.binary(BinaryOp::Add, a, scaled)?;
        f.cx.convert(dtype, value)
    } else {
        let width = f.cx.binary(BinaryOp::Sub, b, a)?;
        let scaled = f.cx.binary(BinaryOp::Mul, width, unit)?;
        let value = f.cx.binary(BinaryOp::Add, a, scaled)?;
        let value = f.cx.convert(dtype, value);
        // What rounding does not carry to the end of the interval, which is open.
        let below = f.cx.binary(BinaryOp::Lt, value, ends[1])?;
        f.cx.select(below, value, ends[0])?
    };
    cx.store(0, value)
}

/// Arithmetic on words at the positions of a space.
struct Words<'c, 'a, 'm> {
    cx: &'c mut Cx<'a, 'm>,
    space: Space,
}

impl Words<'_, '_, '_> {
    /// A word of the state.
    fn word(&mut self, k: i64) -> Result<FieldId> {
        let state = self.cx.field(0)?;
        let own = self.cx.space(state);
        let map = IndexMap::total(self.space.clone(), own, vec![Affine::fixed(self.space.rank(), k)]);
        let map = self.cx.map(map)?;
        self.cx.read(map, state)
    }

    fn number(&mut self, dtype: DType, value: u64) -> FieldId {
        let space = self.space.clone();
        self.cx.constant(&space, Scalar::from_i128(dtype, i128::from(value)))
    }

    /// `x op value` in the type of `x`.
    fn with(&mut self, op: BinaryOp, x: FieldId, value: u64) -> Result<FieldId> {
        let value = self.number(self.cx.dtype(x), value);
        self.cx.binary(op, x, value)
    }

    fn add(&mut self, x: FieldId, value: u64) -> Result<FieldId> {
        self.with(BinaryOp::Add, x, value)
    }

    /// The row-major position.
    fn linear(&mut self, shape: &[u64]) -> Result<FieldId> {
        let mut sum = self.number(DType::U64, 0);
        let mut stride: u64 = 1;
        for (axis, size) in shape.iter().enumerate().rev() {
            let space = self.space.clone();
            let index = self.cx.index(&space, axis, DType::I64)?;
            let index = self.cx.convert(DType::U64, index);
            let scaled = self.with(BinaryOp::Mul, index, stride)?;
            sum = self.cx.binary(BinaryOp::Add, sum, scaled)?;
            stride = stride.saturating_mul(*size);
        }
        Ok(sum)
    }

    fn halves(&mut self, x: FieldId) -> Result<[FieldId; 2]> {
        let high = self.with(BinaryOp::ShrLogical, x, 32)?;
        Ok([self.cx.convert(DType::U32, x), self.cx.convert(DType::U32, high)])
    }

    fn joined(&mut self, low: FieldId, high: FieldId) -> Result<FieldId> {
        let (low, high) = (self.cx.convert(DType::U64, low), self.cx.convert(DType::U64, high));
        let high = self.with(BinaryOp::Shl, high, 32)?;
        self.cx.binary(BinaryOp::Or, low, high)
    }

    fn choose(&mut self, lane: FieldId, words: &[FieldId]) -> Result<FieldId> {
        let mut value = words[words.len() - 1];
        for (k, word) in words.iter().enumerate().rev().skip(1) {
            let here = self.with(BinaryOp::Eq, lane, k as u64)?;
            value = self.cx.select(here, *word, value)?;
        }
        Ok(value)
    }

    /// The word at a position, and how many counters all take.
    fn threefry_at(&mut self, shape: &[u64], position: FieldId, wide: bool) -> Result<(FieldId, u64)> {
        let (key, counter) = (self.word(0)?, self.word(1)?);
        let key = self.halves(key)?;
        let count: u64 = shape.iter().product();
        if wide {
            let at = self.cx.binary(BinaryOp::Add, counter, position)?;
            let at = self.halves(at)?;
            let [low, high] = self.threefry(at, key)?;
            return Ok((self.joined(low, high)?, count));
        }
        // Along one dimension, the first even one, else the (first) largest, neighbours are the two words of a counter.
        let even = shape.iter().position(|n| n % 2 == 0);
        let largest = (0..shape.len()).fold(0, |best, d| if shape[d] > shape[best] { d } else { best });
        let dim = even.unwrap_or(largest);
        let Some(size) = shape.get(dim) else {
            let at = self.halves(counter)?;
            return Ok((self.threefry(at, key)?[0], 1));
        };
        let mut half = shape.to_vec();
        half[dim] = size.div_ceil(2);
        let mut at = counter;
        let (mut lane, mut stride) = (position, 1u64);
        for axis in (0..shape.len()).rev() {
            let space = self.space.clone();
            let index = self.cx.index(&space, axis, DType::I64)?;
            let mut index = self.cx.convert(DType::U64, index);
            if axis == dim {
                lane = self.with(BinaryOp::And, index, 1)?;
                index = self.with(BinaryOp::ShrLogical, index, 1)?;
            }
            let scaled = self.with(BinaryOp::Mul, index, stride)?;
            at = self.cx.binary(BinaryOp::Add, at, scaled)?;
            stride = stride.saturating_mul(half[axis]);
        }
        let at = self.halves(at)?;
        let words = self.threefry(at, key)?;
        Ok((self.choose(lane, &words)?, half.iter().product()))
    }

    fn threefry(&mut self, x: [FieldId; 2], key: [FieldId; 2]) -> Result<[FieldId; 2]> {
        const ROTATIONS: [[u64; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
        let third = self.cx.binary(BinaryOp::Xor, key[0], key[1])?;
        let keys = [key[0], key[1], self.with(BinaryOp::Xor, third, 0x1BD1_1BDA)?];
        let mut a = self.cx.binary(BinaryOp::Add, x[0], keys[0])?;
        let mut b = self.cx.binary(BinaryOp::Add, x[1], keys[1])?;
        for i in 0..5 {
            for r in ROTATIONS[i % 2] {
                a = self.cx.binary(BinaryOp::Add, a, b)?;
                let up = self.with(BinaryOp::Shl, b, r)?;
                let down = self.with(BinaryOp::ShrLogical, b, 32 - r)?;
                b = self.cx.binary(BinaryOp::Or, up, down)?;
                b = self.cx.binary(BinaryOp::Xor, b, a)?;
            }
            a = self.cx.binary(BinaryOp::Add, a, keys[(i + 1) % 3])?;
            b = self.cx.binary(BinaryOp::Add, b, keys[(i + 2) % 3])?;
            b = self.add(b, i as u64 + 1)?;
        }
        Ok([a, b])
    }

    /// The words of a state at a position, and how many steps of the counter of 128 bits all take: four words a step.
    fn philox_at(&mut self, shape: &[u64], position: FieldId, wide: bool) -> Result<(FieldId, u64)> {
        let (key, low) = (self.word(0)?, self.word(1)?);
        // Without a high half the key stands for it.
        let three = self.cx.operand_type(0)?.space.sizes().is_some_and(|s| s == [3]);
        let high = if three { self.word(2)? } else { key };
        let value = self.philox_word([key, low, high], position, wide)?;
        let count: u64 = shape.iter().product();
        let words = if wide { count.saturating_mul(2) } else { count };
        Ok((value, words.div_ceil(4)))
    }

    /// The word of a position, of 64 bits or of 32, for a key and the halves of a counter.
    fn philox_word(
        &mut self,
        [key, low, high]: [FieldId; 3],
        position: FieldId,
        wide: bool,
    ) -> Result<FieldId> {
        let shift = if wide { 1 } else { 2 };
        let step = self.with(BinaryOp::ShrLogical, position, shift)?;
        let lane = self.with(BinaryOp::And, position, (1 << shift) - 1)?;
        let at = self.cx.binary(BinaryOp::Add, low, step)?;
        let over = self.cx.binary(BinaryOp::Lt, at, low)?;
        let carry = self.cx.convert(DType::U64, over);
        let high = self.cx.binary(BinaryOp::Add, high, carry)?;
        let (low, high, key) = (self.halves(at)?, self.halves(high)?, self.halves(key)?);
        let words = self.philox([low[0], low[1], high[0], high[1]], key)?;
        if !wide {
            return self.choose(lane, &words);
        }
        let pairs = [self.joined(words[0], words[1])?, self.joined(words[2], words[3])?];
        self.choose(lane, &pairs)
    }

    fn philox(&mut self, mut x: [FieldId; 4], mut key: [FieldId; 2]) -> Result<[FieldId; 4]> {
        for _ in 0..10 {
            let (a, b) = (self.product(x[0], 0xD251_1F53)?, self.product(x[2], 0xCD9E_8D57)?);
            let first = self.cx.binary(BinaryOp::Xor, b[1], x[1])?;
            let first = self.cx.binary(BinaryOp::Xor, first, key[0])?;
            let third = self.cx.binary(BinaryOp::Xor, a[1], x[3])?;
            let third = self.cx.binary(BinaryOp::Xor, third, key[1])?;
            x = [first, b[0], third, a[0]];
            key = [self.add(key[0], 0x9E37_79B9)?, self.add(key[1], 0xBB67_AE85)?];
        }
        Ok(x)
    }

    /// The halves of a product of 64 bits.
    fn product(&mut self, x: FieldId, factor: u64) -> Result<[FieldId; 2]> {
        let x = self.cx.convert(DType::U64, x);
        let product = self.with(BinaryOp::Mul, x, factor)?;
        self.halves(product)
    }
}
