//! Program blocks: two texts of one computation, or of two that differ.
//!
//! Two blocks in a row under one heading are a left and a right side; what the words after the fence say, both say:
//!
//! | word | meaning |
//! |---|---|
//! | (none) | equal bit for bit (any NaN is any NaN), infinities, NaN, zeros of both signs and subnormals among the arguments |
//! | `zero-sign` | as before, zeros of both signs being equal |
//! | `finite` | the arguments are ordinary numbers |
//! | `reassociates`, `rounds` | equal up to rounding, for ordinary numbers |
//! | `differs` | a counterexample: on some arguments the sides differ, and the exact laws do not find them equal |
//! | `unproved` | equal, but the e-graph has no laws that find it |
//! | `alone` | one program, without another side: it is verified and run |
//!
//! Unless a word says otherwise the e-graph must find both sides in one class: optimised as one function under the
//! laws of the class that the words allow, the two results are one variable.

use crate::blocks::Block;
use crate::join::join;
use surject_egraph::{Exactness, Flags, Options, optimise};
use surject_ir::{Buffer, DType, Function, Program, Scalar, interp, parse, print, verify};

/// Arguments that are tried.
const ROUNDS: u64 = 24;

/// What rounding may do in 32 bits, relative to the largest value and to 1.
const TOLERANCE: f64 = 1e-5;

/// Checks every program block among these; the faults.
pub fn check(blocks: &[&Block]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut rest = blocks;
    while let Some((left, tail)) = rest.split_first() {
        rest = tail;
        let result = if left.has("alone") {
            load(left).and_then(|p| run(&p, &arguments(main(&p)?, 0, true)).map(|_| ()))
        } else {
            match tail.split_first() {
                Some((right, tail)) if right.follows && right.words == left.words => {
                    rest = tail;
                    pair(left, right)
                }
                _ => Err("a program block without `alone` is followed by its other side".to_string()),
            }
        };
        if let Err(fault) = result {
            faults.push(format!("{}: {fault}", left.place));
        }
    }
    faults
}

fn main(program: &Program) -> Result<&Function, String> {
    program.main().ok_or_else(|| "there is no function".to_string())
}

/// Reads a program, verifies it, and checks that its text is read back.
fn load(block: &Block) -> Result<Program, String> {
    let program = parse(&block.text).map_err(|e| format!("{}\n{e}", block.place))?;
    verify(&program).map_err(|e| format!("{}: {e}", block.place))?;
    let text = print(&program);
    let copy = parse(&text).map_err(|e| format!("{}: its text is not read back\n{e}", block.place))?;
    if print(&copy) != text {
        return Err(format!("{}: the text changes when it is read back", block.place));
    }
    Ok(program)
}

fn run(program: &Program, args: &[Buffer]) -> Result<Vec<Buffer>, String> {
    interp::run(program, &main(program)?.name, args).map_err(|e| e.to_string())
}

fn pair(left: &Block, right: &Block) -> Result<(), String> {
    let (left_program, right_program) = (load(left)?, load(right)?);
    let joined = join(main(&left_program)?, main(&right_program)?)?;
    let tolerant = ["reassociates", "rounds", "overflows"].iter().any(|word| left.has(word));
    let ordinary = tolerant || left.has("finite");
    let agreement =
        Agreement { tolerance: if tolerant { TOLERANCE } else { 0.0 }, zero_sign: left.has("zero-sign") };
    let mut difference = None;
    for seed in 0..ROUNDS {
        let args = arguments(main(&left_program)?, seed, ordinary || seed % 2 == 0);
        let (a, b) = (run(&left_program, &args)?, run(&right_program, &args)?);
        difference = difference.or_else(|| agreement.first_difference(&a, &b));
    }
    match (difference, left.has("differs")) {
        (Some(difference), false) => return Err(format!("the sides differ: {difference}")),
        (None, true) => return Err("the sides do not differ".to_string()),
        _ => {}
    }
    let equal = found_equal(joined, left)?;
    match (equal, left.has("differs"), left.has("unproved")) {
        (true, true, _) => Err("the exact laws find two sides equal that differ".to_string()),
        (true, false, true) => Err("the e-graph finds the sides equal; drop the word `unproved`".to_string()),
        (false, false, false) => Err("the e-graph does not find the sides equal".to_string()),
        _ => Ok(()),
    }
}

/// Does the e-graph find both sides in one class, under the laws that the words of the block allow?
fn found_equal(joined: Function, block: &Block) -> Result<bool, String> {
    let exactness = match () {
        () if block.has("overflows") => Exactness::Overflows,
        () if block.has("rounds") => Exactness::Rounds,
        () if block.has("reassociates") => Exactness::Reassociates,
        () => Exactness::Exact,
    };
    let finite = block.has("finite");
    let waived = Flags { zero_sign: block.has("zero-sign"), finite, no_overflow: finite };
    let waived = if block.has("differs") { Flags::default() } else { waived };
    let sides = joined.body.results.len() / 2;
    let program = Program { name: String::new(), functions: vec![joined] };
    let options = Options { exactness, waived, ..Options::default() };
    let optimised = optimise(&program, &options).map_err(|e| e.to_string())?;
    let results = &main(&optimised.program)?.body.results;
    Ok(results[..sides] == results[sides..])
}

/// How closely results are compared.
struct Agreement {
    tolerance: f64,
    zero_sign: bool,
}

impl Agreement {
    fn first_difference(&self, left: &[Buffer], right: &[Buffer]) -> Option<String> {
        left.iter().zip(right).find_map(|(a, b)| {
            if a.shape() != b.shape() || a.dtype() != b.dtype() {
                return Some("the types of the results".to_string());
            }
            let size = |x: &Buffer| (0..x.len()).map(|i| x.get(i).as_complex().norm()).fold(1.0, f64::max);
            let allowed = self.tolerance * size(a).max(size(b));
            let at = (0..a.len()).find(|&i| !self.same(a.get(i), b.get(i), allowed))?;
            Some(format!("element {at} is {:?} on the left and {:?} on the right", a.get(at), b.get(at)))
        })
    }

    fn same(&self, a: Scalar, b: Scalar, allowed: f64) -> bool {
        if a.bits() == b.bits() {
            return true;
        }
        if !a.dtype().is_float() && !a.dtype().is_complex() {
            return false;
        }
        let (x, y) = (a.as_complex(), b.as_complex());
        let part = |x: f64, y: f64| {
            x.is_nan() && y.is_nan()
                || x.to_bits() == y.to_bits()
                || x == y && (self.zero_sign || self.tolerance > 0.0)
                || (x - y).abs() <= allowed && self.tolerance > 0.0
        };
        part(x.re, y.re) && part(x.im, y.im)
    }
}

/// Random arguments of a function.
fn arguments(function: &Function, seed: u64, ordinary: bool) -> Vec<Buffer> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x0073_756a);
    let types = function.types(&function.params);
    let sizes = |ty: &surject_ir::TensorType| -> Vec<usize> {
        ty.space.extents().iter().map(|e| e.as_const().unwrap_or(3) as usize).collect()
    };
    let mut buffer = |ty: &surject_ir::TensorType| {
        let mut buffer = Buffer::zeros(ty.dtype, &sizes(ty));
        (0..buffer.len()).for_each(|i| buffer.set(i, random.scalar(ty.dtype, ordinary)));
        buffer
    };
    types.iter().map(&mut buffer).collect()
}

/// A splitmix generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An ordinary number, or one of those that laws stumble over in half of the cases.
    fn scalar(&mut self, dtype: DType, ordinary: bool) -> Scalar {
        let special = !ordinary && self.next().is_multiple_of(2);
        if dtype.is_complex() {
            let part = dtype.part();
            let (re, im) = (self.scalar(part, ordinary), self.scalar(part, ordinary));
            return Scalar::from_bits(dtype, re.bits() | im.bits() << part.bits());
        }
        if dtype.is_float() {
            let tiny = Scalar::from_bits(dtype, 1).as_f64();
            let values =
                [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -0.0, tiny, -1.0, 1e38, -1e38];
            let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
            let pick = values[(self.next() % values.len() as u64) as usize];
            return Scalar::from_f64(dtype, if special { pick } else { 4.0 * unit - 2.0 });
        }
        if special {
            return Scalar::from_bits(dtype, u128::from(self.next()));
        }
        let small = i128::from(self.next() % 9);
        let signed = dtype.is_signed_int();
        Scalar::from_i128(dtype, if dtype.is_bool() { small % 2 } else { small - if signed { 4 } else { 0 } })
    }
}
