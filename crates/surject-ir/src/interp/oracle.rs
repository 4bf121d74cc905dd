//! The interpreter against a second one that could not be simpler: every field is materialised over its own
//! space, one after the other, through [`IndexMap::apply`](surject_index::IndexMap::apply).

use super::run;
use crate::testing::{Options, random_args, random_program_with};
use crate::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// The points of a space in row-major order.
fn points(space: &surject_index::Space) -> Vec<Vec<i64>> {
    space.iter_points().unwrap().collect()
}

/// The values of all fields, given those of variables.
fn materialise(f: &Function, vars: &HashMap<Var, Vec<Scalar>>) -> HashMap<FieldId, Vec<Scalar>> {
    let mut values: HashMap<FieldId, Vec<Scalar>> = HashMap::new();
    for (id, node) in f.fields.iter() {
        let at = |id: &FieldId, i: usize| values[id][i];
        let number = |space: &surject_index::Space, point: &[i64]| {
            space.sizes().unwrap().iter().zip(point).fold(0, |n, (s, p)| n * s + p) as usize
        };
        let all = points(&node.space);
        let value: Vec<Scalar> = match &node.kind {
            FieldKind::Tensor(var) => match vars.get(var) {
                Some(values) => values.clone(),
                None => continue,
            },
            kind if kind.children().any(|c| !values.contains_key(&c)) => continue,
            FieldKind::Read { map, of } => {
                let read = |p: &Vec<i64>| match map.apply(p) {
                    Some(q) => at(of, number(map.codomain(), &q)),
                    None => Scalar::from_bits(node.dtype, map.fill().unwrap().0),
                };
                all.iter().map(read).collect()
            }
            FieldKind::Acc { op, map, of } => {
                let half = matches!(node.dtype, DType::F16 | DType::BF16);
                let wide =
                    if half && matches!(op, AccOp::Add | AccOp::Mul) { DType::F32 } else { node.dtype };
                let mut sums = vec![op.neutral(wide); all.len()];
                for (i, p) in points(map.domain()).iter().enumerate() {
                    let d = number(&node.space, &map.apply(p).unwrap());
                    sums[d] = eval::acc(*op, sums[d], eval::convert(wide, at(of, i))).unwrap();
                }
                sums.into_iter().map(|s| eval::convert(node.dtype, s)).collect()
            }
            FieldKind::Index { axis } => {
                all.iter().map(|p| Scalar::from_i128(node.dtype, p[*axis].into())).collect()
            }
            FieldKind::Const(value) => vec![*value; all.len()],
            kind => {
                let one = |i: usize| match kind {
                    FieldKind::Unary { op, x } => eval::unary(*op, at(x, i)),
                    FieldKind::Binary { op, x, y } => eval::binary(*op, at(x, i), at(y, i)),
                    FieldKind::Select { cond, on_true, on_false } => {
                        Some(at(if at(cond, i).is_true() { on_true } else { on_false }, i))
                    }
                    FieldKind::Convert { x } => Some(eval::convert(node.dtype, at(x, i))),
                    FieldKind::Bitcast { x } => eval::bitcast(node.dtype, at(x, i)),
                    FieldKind::ReducePrecision { exponent, mantissa, x } => {
                        eval::reduce_precision(*exponent, *mantissa, at(x, i))
                    }
                    _ => None,
                };
                (0..all.len()).map(|i| one(i).unwrap()).collect()
            }
        };
        values.insert(id, value);
    }
    values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn both_interpreters_agree_bit_for_bit(seed: u64, size in 1usize..40) {
        let options = Options { regions: false, ..Options::everything() };
        let program = random_program_with(seed, size, &options);
        let f = &program.functions[0];
        let args = random_args(f, seed);
        let scalars = |b: &Buffer| (0..b.len()).map(|i| b.get(i)).collect::<Vec<_>>();
        let mut vars: HashMap<Var, Vec<Scalar>> =
            f.params.iter().copied().zip(args.iter().map(scalars)).collect();
        // A statement may read what the one before it stored.
        for statement in &f.body.statements {
            let StatementKind::Store { target, field } = &statement.kind else { continue };
            let values = materialise(f, &vars);
            vars.insert(*target, values[field].clone());
        }
        let results = run(&program, "main", &args).unwrap();
        for (result, var) in results.iter().zip(&f.body.results) {
            prop_assert_eq!(&scalars(result), &vars[var], "{}", print(&program));
        }
    }
}
