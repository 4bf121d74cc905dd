//! Instances that are meant to fail, in index notation: for each element type the values of its [`Pool`], each
//! alone and against each other, over axes of one, two and three points and with one long axis at a time.
//!
//! The batch axis is the list of tests: a rule holds point by point over it.

use super::build::axes_of;
use super::pool::{Numbers, Pool, next};
use super::rng::Rng;
use super::{Instance, Shape, assemble, choose_types, subject};
use crate::ast::Exactness;
use crate::lower::Lowered;
use std::collections::{BTreeMap, BTreeSet};
use surject_ir::{Buffer, DType, Scalar, UnaryOp, eval};

/// The element types, the most common first.
const TYPES: [DType; 15] = [
    DType::F32,
    DType::F64,
    DType::I32,
    DType::U8,
    DType::I8,
    DType::I1,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::U32,
    DType::U64,
    DType::I16,
    DType::U16,
    DType::C64,
    DType::C128,
];

/// The elements of an instance with named axes, about.
const POINTS: u64 = 3000;

/// The rows of an instance without named axes.
const ROWS: usize = 1800;

/// One instance to be built.
pub(crate) struct Plan {
    shape: Shape,
    seed: u64,
    /// Only values of ordinary size?
    pub ordinary: bool,
}

/// The instances to try, in this order. None in map notation.
pub(crate) fn plans(lowered: &Lowered<'_>) -> Vec<Plan> {
    if lowered.rule.is_map_notation() {
        return Vec::new();
    }
    let numbers = Numbers::of(lowered.rule);
    let (mut names, mut free) = (BTreeSet::new(), BTreeSet::new());
    axes_of(&lowered.left, &mut Vec::new(), &mut names, &mut free);
    let names: Vec<&str> = names.into_iter().collect();
    let mut plans = Vec::new();
    let draws = if lowered.ops.is_empty() { 1 } else { 12 };
    for (at, dtype) in TYPES.into_iter().enumerate() {
        for draw in 0..draws {
            let seed = (at * draws + draw) as u64;
            let mut order = vec![dtype];
            order.extend(TYPES);
            let Some((ops, types)) = choose_types(lowered, &mut Rng::new(seed), &order, Some(dtype)) else {
                continue;
            };
            if types[subject(lowered)] != dtype {
                continue;
            }
            let shape = |axes: BTreeMap<String, Vec<u64>>, batch: u64| Shape {
                types: types.clone(),
                ops: ops.iter().map(|(name, op)| (name.to_string(), *op)).collect(),
                axes,
                batch: vec![batch],
                batch_of: BTreeMap::new(),
            };
            if names.is_empty() {
                let plan = |rows, ordinary| Plan { shape: shape(BTreeMap::new(), rows), seed, ordinary };
                if matches!(dtype, DType::F32 | DType::F64) {
                    plans.push(plan(40, true));
                }
                plans.push(plan(0, false));
                continue;
            }
            for (nth, extents) in extents(&names, &numbers, common(dtype)).into_iter().enumerate() {
                let points: u64 = extents.iter().product();
                let axes: BTreeMap<String, Vec<u64>> =
                    names.iter().zip(&extents).map(|(n, &e)| (n.to_string(), vec![e])).collect();
                let most = if common(dtype) { 120 } else { 40 };
                let rows = (POINTS / points).clamp(12, most);
                let seed = seed * 100 + nth as u64;
                if nth == 2 && matches!(dtype, DType::F32 | DType::F64) {
                    plans.push(Plan { shape: shape(axes.clone(), 40), seed, ordinary: true });
                }
                plans.push(Plan { shape: shape(axes, rows), seed, ordinary: false });
            }
        }
    }
    plans
}

fn common(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64 | DType::I32 | DType::I8 | DType::U8 | DType::I1)
}

/// The extents of the named axes: short ones, then one long axis at a time.
fn extents(names: &[&str], numbers: &Numbers, common: bool) -> Vec<Vec<u64>> {
    let n = names.len();
    let mut all = vec![vec![1; n], vec![2; n], vec![3; n]];
    if common {
        all.push((0..n as u64).map(|i| 1 + i % 3).collect());
        all.push((0..n as u64).map(|i| 3 - i % 3).collect());
    }
    let mut long: Vec<u64> = if common { vec![17, 64, 300] } else { vec![17] };
    if common {
        let counts = numbers.own.iter().filter(|c| c.fract() == 0.0 && (4.0..3000.0).contains(*c));
        long.extend(counts.take(3).flat_map(|&c| [c as u64 - 1, c as u64, c as u64 + 1]));
    }
    for at in 0..n {
        for &extent in &long {
            let mut extents = vec![2; n];
            extents[at] = extent;
            all.push(extents);
        }
    }
    all.dedup();
    all
}

impl Plan {
    /// The instance; `None` when the rule has none of this type.
    pub fn instance(&self, lowered: &Lowered<'_>) -> Option<Instance> {
        let rule = lowered.rule;
        let mut filler = Filler {
            rng: Rng::new(0x5eed ^ self.seed),
            numbers: Numbers::of(rule),
            special: !rule.flags.finite,
            exact: rule.class == Exactness::Exact,
            turn: (self.seed % 100) as usize * 15,
            pools: BTreeMap::new(),
        };
        let mut shape = self.shape.clone();
        let rows = if shape.axes.is_empty() && !self.ordinary {
            let dtypes = variables(lowered, &shape);
            let patterns = rule.left.size() + rule.right.size();
            let rows = filler.tuples(&dtypes, patterns, common(shape.types[subject(lowered)]));
            shape.batch = vec![rows.len() as u64];
            Some(rows)
        } else {
            None
        };
        let mut instance = assemble(lowered, &shape)?;
        let count = *shape.batch.first()? as usize;
        let names: Vec<String> =
            instance.function.params.iter().map(|&p| instance.function.name_of(p).to_string()).collect();
        let order: Vec<&str> = lowered.fields.keys().copied().collect();
        for row in 0..count {
            match &rows {
                Some(rows) => {
                    for (arg, name) in instance.args.iter_mut().zip(&names) {
                        let place = order.iter().position(|o| o == name)?;
                        arg.set(row, rows[row][place]);
                    }
                }
                None if self.ordinary => filler.ordinary(&mut instance.args, row, count)?,
                None => filler.fill(&mut instance.args, row, count)?,
            }
        }
        Some(instance)
    }
}

/// The element types of the variables in the order of their names.
fn variables(lowered: &Lowered<'_>, shape: &Shape) -> Vec<DType> {
    lowered.fields.values().map(|(ty, _)| shape.types[*ty]).collect()
}

/// Chooses elements.
struct Filler {
    rng: Rng,
    numbers: Numbers,
    special: bool,
    exact: bool,
    /// Where the values of the core go on: each instance takes others.
    turn: usize,
    pools: BTreeMap<DType, Pool>,
}

impl Filler {
    fn pool(&mut self, dtype: DType) -> &Pool {
        // Complex products of infinities say nothing of a rule that holds over the reals.
        let special = self.special && (self.exact || !dtype.is_complex());
        let numbers = &self.numbers;
        self.pools.entry(dtype).or_insert_with(|| Pool::new(dtype, numbers, special))
    }

    /// One of the values of a type.
    fn any(&mut self, dtype: DType) -> Option<Scalar> {
        self.pool(dtype);
        self.pools.get(&dtype)?.any(&mut self.rng)
    }

    /// A small number with digits.
    fn plain(&mut self, dtype: DType) -> Scalar {
        match dtype {
            d if d.is_float() || d.is_complex() => Scalar::from_f64(d, (self.rng.unit() - 0.4) * 8.0),
            DType::I1 => Scalar::bool(self.rng.chance(1, 2)),
            d if d.is_unsigned_int() => Scalar::from_i128(d, self.rng.between(0, 9).into()),
            d => Scalar::from_i128(d, self.rng.between(-9, 9).into()),
        }
    }

    /// What is related to a value: itself, its opposite, a neighbour, its double.
    fn related(&mut self, value: Scalar) -> Scalar {
        let dtype = value.dtype();
        let kept = match self.rng.below(5) {
            0 | 1 => Some(value),
            2 => eval::unary(UnaryOp::Neg, value),
            3 if dtype.is_float() && value.as_f64().is_finite() => {
                let up = self.rng.chance(1, 2);
                Some(next(value, up))
            }
            3 => value.as_i128().map(|v| Scalar::from_i128(dtype, v + 1)),
            _ => eval::binary(surject_ir::BinaryOp::Add, value, value),
        };
        let kept = kept.unwrap_or(value);
        // A neighbour or a double may have left the finite numbers.
        let finite = !(dtype.is_float() || dtype.is_complex()) || kept.as_complex().is_finite();
        if finite || self.special { kept } else { value }
    }

    /// Values of the variables of a rule without named axes, a row for each test; fewer for a type that is not
    /// `common`.
    fn tuples(&mut self, dtypes: &[DType], patterns: usize, common: bool) -> Vec<Vec<Scalar>> {
        let mut rows: Vec<Vec<Scalar>> = Vec::new();
        let mut pools: Vec<Pool> = dtypes.iter().map(|&d| self.pool(d).clone()).collect();
        let most = ROWS / if common { 1 } else { 3 } * 24 / patterns.max(24);
        if !common {
            pools.iter_mut().for_each(|p| p.sweep.truncate(160));
        }
        let first = |pool: &Pool| pool.core.first().copied();
        let Some(zeros) = pools.iter().map(first).collect::<Option<Vec<_>>>() else { return rows };
        let whole: Vec<usize> =
            pools.iter().map(|p| p.core.len() + p.sweep.len() + p.special.len()).collect();
        let at = |pool: &Pool, i: usize| {
            let parts = pool.core.iter().chain(&pool.special).chain(&pool.sweep);
            parts.copied().nth(i % (pool.core.len() + pool.special.len() + pool.sweep.len()).max(1))
        };
        // One value for all, then each value alone beside plain ones.
        let longest = whole.iter().copied().max().unwrap_or(0);
        for i in 0..longest {
            rows.push(pools.iter().zip(&zeros).map(|(p, &z)| at(p, i).unwrap_or(z)).collect());
        }
        if dtypes.len() == 1 {
            return rows;
        }
        for v in 0..dtypes.len() {
            for i in 0..pools[v].core.len() + pools[v].special.len() {
                let mut row: Vec<Scalar> = dtypes.iter().map(|&d| self.plain(d)).collect();
                row[v] = at(&pools[v], i).unwrap_or(zeros[v]);
                rows.push(row);
            }
        }
        let small = |d: &DType| d.bits() == 8 || d.is_bool();
        if let ([a, b], true) = (dtypes, self.exact && dtypes.iter().all(small) && patterns <= 24) {
            let every = |d: DType| (0..1u128 << d.bits()).map(move |bits| Scalar::from_bits(d, bits));
            rows.extend(every(*a).flat_map(|x| every(*b).map(move |y| vec![x, y])));
            return rows;
        }
        // The most telling values against each other.
        if let [a, b] = &pools[..] {
            let few = |p: &Pool| -> Vec<Scalar> {
                p.core.iter().take(if common { 36 } else { 16 }).chain(&p.special).copied().collect()
            };
            let (a, b) = (few(a), few(b));
            rows.extend(a.iter().flat_map(|&x| b.iter().map(move |&y| vec![x, y])));
        }
        while rows.len() < most {
            let mut row: Vec<Scalar> = Vec::new();
            let mixed = self.rng.chance(1, 2);
            for &d in dtypes {
                let earlier: Vec<Scalar> = row.iter().copied().filter(|v| v.dtype() == d).collect();
                let value = match self.rng.pick(&earlier) {
                    Some(earlier) if self.rng.chance(1, 3) => self.related(earlier),
                    _ if mixed => self.any(d).unwrap_or_else(|| Scalar::zero(d)),
                    _ => self.plain(d),
                };
                row.push(value);
            }
            rows.push(row);
        }
        rows
    }

    /// Elements of ordinary size in one row of every argument.
    fn ordinary(&mut self, args: &mut [Buffer], row: usize, rows: usize) -> Option<()> {
        for arg in args {
            let count = arg.len() / rows.max(1);
            for at in 0..count {
                let value = match arg.dtype() {
                    // Of one sign half of the time: logarithms and roots want that.
                    d if d.is_float() && row.is_multiple_of(2) => {
                        Scalar::from_f64(d, 0.5 + 3.0 * self.rng.unit())
                    }
                    d => self.plain(d),
                };
                arg.set(row * count + at, value);
            }
        }
        Some(())
    }

    /// The elements of one row of every argument, in one of several ways.
    fn fill(&mut self, args: &mut [Buffer], row: usize, rows: usize) -> Option<()> {
        let mut seen: Vec<Scalar> = Vec::new();
        for arg in args {
            let dtype = arg.dtype();
            let count = arg.len() / rows.max(1);
            let start = row * count;
            let pool = self.pool(dtype).clone();
            let turn = self.turn;
            let core = |i: usize| pool.core.get((i + turn) % pool.core.len().max(1)).copied();
            let exponent = self.rng.between(-60, 60) as i32;
            let place = match self.rng.below(3) {
                0 => 0,
                1 => count.saturating_sub(1),
                _ => self.rng.below(count as u64) as usize,
            };
            let telling = match self.rng.pick(&seen) {
                Some(earlier) if earlier.dtype() == dtype && self.rng.chance(1, 3) => self.related(earlier),
                _ => core(row / 8).filter(|_| self.rng.chance(1, 2)).or_else(|| pool.any(&mut self.rng))?,
            };
            let steady = self.plain(dtype);
            let small = |rng: &mut Rng| match dtype {
                d if d.is_unsigned_int() => Scalar::from_i128(d, rng.between(0, 3).into()),
                DType::I1 => Scalar::bool(rng.chance(1, 2)),
                d => Scalar::from_i128(d, rng.between(-2, 3).into()),
            };
            for at in 0..count {
                let value = match row % 8 {
                    0 => core(row / 8)?,
                    1 => small(&mut self.rng),
                    2 if at == place => telling,
                    2 => Scalar::zero(dtype),
                    3 => pool.any(&mut self.rng)?,
                    4 => self.plain(dtype),
                    // Of one magnitude; integers near an end of their type.
                    5 if dtype.is_float() => {
                        Scalar::from_f64(dtype, self.plain(dtype).as_f64() * 2f64.powi(exponent))
                    }
                    5 => telling,
                    // Cancelling in pairs.
                    6 if at % 2 == 0 => telling,
                    6 => eval::unary(UnaryOp::Neg, telling).unwrap_or(telling),
                    _ if at == place => telling,
                    _ if self.rng.chance(1, 2) => steady,
                    _ => self.plain(dtype),
                };
                let finite = !(dtype.is_float() || dtype.is_complex()) || value.as_complex().is_finite();
                arg.set(start + at, if finite || self.special { value } else { steady });
            }
            if count > 0 {
                seen.push(arg.get(start + place));
            }
        }
        Some(())
    }
}
