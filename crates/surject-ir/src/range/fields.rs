//! The ranges of the fields of a function.

use super::Range;
use crate::{BinaryOp, Block, FieldId, FieldKind, Function, Scalar, StatementKind, Var};
use std::collections::HashMap;
use surject_index::IndexMap;

/// The elements of larger literals are not looked at.
const ELEMENTS: usize = 1 << 16;

/// The ranges of fields, as far as they were asked for. Stored tensors have the range that they were given with
/// [`Ranges::know`], or any of their type.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    all: Vec<Range>,
    vars: HashMap<Var, Range>,
}

impl Ranges {
    /// With what is known of all that a function stores. What comes from elsewhere, as parameters and what loops carry, may
    /// be anything.
    pub fn of_function(function: &Function) -> Ranges {
        let mut ranges = Ranges::default();
        ranges.block(function, &function.body);
        ranges
    }

    fn block(&mut self, function: &Function, block: &Block) {
        for statement in &block.statements {
            for region in statement.regions() {
                self.block(function, &region.body);
            }
            match &statement.kind {
                StatementKind::Store { target, field } => {
                    // Not in the order of the arena: a variable is known before what reads it is looked at.
                    let mut known: HashMap<FieldId, Range> = HashMap::new();
                    for id in function.fields.reachable(&[*field]) {
                        let of = |x: &FieldId| known.get(x).copied();
                        let range = self
                            .field(function, id, &|x| of(x).unwrap_or(Range::any(function.fields[*x].dtype)));
                        known.insert(id, range);
                    }
                    if let Some(&range) = known.get(field) {
                        self.vars.insert(*target, range);
                    }
                }
                StatementKind::Constant { target, value } if value.len() <= ELEMENTS => {
                    let all = (0..value.len()).map(|i| Range::of(value.get(i)));
                    if let Some(range) = all.reduce(Range::or) {
                        self.vars.insert(*target, range);
                    }
                }
                _ => {}
            }
        }
    }

    /// Says what the values of a variable are. Fields that were asked for before do not know.
    pub fn know(&mut self, var: Var, range: Range) {
        self.vars.insert(var, range);
    }

    /// The range of a field.
    pub fn of(&mut self, function: &Function, id: FieldId) -> Range {
        for next in self.all.len()..=id.0 as usize {
            let range = self.field(function, FieldId(next as u32), &|x| self.all[x.0 as usize]);
            self.all.push(range);
        }
        self.all[id.0 as usize]
    }

    /// The range of a field whose operands are known.
    fn field(&self, function: &Function, id: FieldId, of: &dyn Fn(&FieldId) -> Range) -> Range {
        let field = &function.fields[id];
        let dtype = |x: &FieldId| function.fields[*x].dtype;
        match &field.kind {
            FieldKind::Tensor(var) => self.vars.get(var).copied().unwrap_or(Range::any(field.dtype)),
            FieldKind::Read { map, of: x } => match map.fill() {
                Some(fill) => of(x).or(Range::of(Scalar::from_bits(field.dtype, fill.0))),
                None => of(x),
            },
            FieldKind::Acc { op, map, of: x } => {
                Range::acc(*op, field.dtype, of(x), terms(map), map.surjective().is_yes())
            }
            FieldKind::Index { axis } => Range::index(field.dtype, field.space.extent(*axis).as_const()),
            FieldKind::Const(value) => Range::of(*value),
            FieldKind::Unary { op, x } => Range::unary(*op, dtype(x), of(x)),
            FieldKind::Binary { op: BinaryOp::Mul, x, y } if x == y => Range::square(dtype(x), of(x)),
            FieldKind::Binary { op, x, y } => Range::binary(*op, dtype(x), of(x), of(y)),
            FieldKind::Select { on_true, on_false, .. } => of(on_true).or(of(on_false)),
            FieldKind::Convert { x } => Range::convert(dtype(x), field.dtype, of(x)),
            FieldKind::ReducePrecision { .. } | FieldKind::Bitcast { .. } => Range::any(field.dtype),
        }
    }
}

/// The largest number of points of a fibre that is known: at most those of the axes that are not axes of the result, or of
/// the whole domain.
pub fn terms(map: &IndexMap) -> Option<u64> {
    let all = map.domain().points()?;
    match (map.is_projection(), map.codomain().points()) {
        (Some(_), Some(values)) if values > 0 => Some(all / values),
        _ => Some(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AccOp, DType, StatementKind, interp, testing};
    use std::sync::Arc;

    /// Is a value what a range says of it? NaN always is.
    fn inside(range: Range, value: Scalar) -> bool {
        if value.dtype().is_complex() {
            let z = value.as_complex();
            let minus = |x: f64| x == 0.0 && x.is_sign_negative();
            return range.negative_zero || !minus(z.re) && !minus(z.im);
        }
        let x = value.as_f64();
        match x {
            x if x.is_nan() => true,
            f64::INFINITY => range.above,
            f64::NEG_INFINITY => range.below,
            x => {
                let minus = value.dtype().is_float() && x == 0.0 && x.is_sign_negative();
                range.low <= x && x <= range.high && (range.negative_zero || !minus)
            }
        }
    }

    /// Values at the ends of their types, among others.
    fn special(rng: &mut testing::Rng, dtype: DType) -> Scalar {
        let list = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            3.0,
            -2.5,
            1e30,
            -1e30,
            3e38,
            -3e38,
            1e-30,
            -1e-30,
            1e-42,
            -1e-42,
            65504.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            88.0,
            -104.0,
        ];
        let mut one = || *rng.pick(&list);
        let z = num_complex::Complex::new(one(), one());
        if dtype.is_complex() { Scalar::from_complex(dtype, z) } else { Scalar::from_f64(dtype, z.re) }
    }

    /// Every value of every field of random programs lies in the range of the field, for arguments of all kinds.
    #[test]
    fn values_lie_in_their_ranges() {
        let mut looked = 0;
        for seed in 0..400 {
            let options = testing::Options { regions: false, ..testing::Options::everything() };
            let program = testing::random_program_with(seed, 14, &options);
            let main = program.main().unwrap();
            let mut rng = testing::Rng::new(seed ^ 0xabc);
            let mut args = testing::random_args(main, seed);
            for arg in &mut args {
                for i in 0..arg.len() {
                    let value = special(&mut rng, arg.dtype());
                    arg.set(i, value);
                }
            }
            let mut known: HashMap<Var, Arc<crate::Buffer>> =
                main.params.iter().copied().zip(args.into_iter().map(Arc::new)).collect();
            let mut ranges = Ranges::default();
            for statement in &main.body.statements {
                let StatementKind::Store { target, field } = statement.kind else { continue };
                for id in main.fields.reachable(&[field]) {
                    let range = ranges.of(main, id);
                    let Ok(values) = interp::field(main, id, &known) else { continue };
                    for i in 0..values.len() {
                        let value = values.get(i);
                        assert!(
                            inside(range, value),
                            "seed {seed}: {:?} of {:?} is not in {range:?}",
                            value,
                            main.fields[id]
                        );
                        looked += 1;
                    }
                }
                if let Ok(value) = interp::field(main, field, &known) {
                    known.insert(target, Arc::new(value));
                }
            }
        }
        assert!(looked > 10_000, "{looked}");
    }

    /// Every operation at pairs of special values.
    #[test]
    fn operations_stay_in_range() {
        let mut rng = testing::Rng::new(5);
        for round in 0..60_000 {
            let dtype = *rng.pick(&DType::ALL);
            let (x, y, z) = (special(&mut rng, dtype), special(&mut rng, dtype), special(&mut rng, dtype));
            // One value, or either of two.
            let one = |v: Scalar| if round % 2 == 0 { Range::of(v) } else { Range::of(v).or(Range::of(z)) };
            let (rx, ry) = (one(x), one(y));
            let op = *rng.pick(crate::UnaryOp::ALL);
            if let Some(value) = crate::eval::unary(op, x) {
                let range = Range::unary(op, dtype, rx);
                assert!(inside(range, value), "{op} {x:?} = {value:?} not in {range:?} of {rx:?}");
            }
            let op = *rng.pick(BinaryOp::ALL);
            if let Some(value) = crate::eval::binary(op, x, y) {
                let range = Range::binary(op, dtype, rx, ry);
                assert!(
                    inside(range, value),
                    "{op} {x:?} {y:?} = {value:?} not in {range:?} of {rx:?} {ry:?}"
                );
            }
            if let Some(value) = crate::eval::binary(BinaryOp::Mul, x, x) {
                let range = Range::square(dtype, rx);
                assert!(inside(range, value), "square {x:?} = {value:?} not in {range:?} of {rx:?}");
            }
            let to = *rng.pick(&DType::ALL);
            let value = crate::eval::convert(to, x);
            let range = Range::convert(dtype, to, rx);
            assert!(inside(range, value), "{x:?} as {to} = {value:?} not in {range:?} of {rx:?}");
            let acc = *rng.pick(AccOp::ALL);
            if acc != AccOp::Set && acc.is_defined(dtype) {
                let sum = [x, y].into_iter().try_fold(acc.neutral(dtype), |s, v| crate::eval::acc(acc, s, v));
                let range = Range::acc(acc, dtype, rx.or(ry), Some(2), true);
                assert!(inside(range, sum.unwrap()), "{acc} {x:?} {y:?} = {sum:?} not in {range:?}");
            }
        }
    }
}
