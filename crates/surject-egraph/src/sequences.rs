//! Positions as affine sequences: integer tensors whose elements are an affine expression of where they stand.
//!
//! `x[jnp.arange(100)[:, None] * 160 + jnp.arange(400)]` is a gather whose indices are `160 i + j`, but what arrives is a
//! product, a sum, and a choice between the sum and the sum plus the length of `x` where it is negative. Whether it ever
//! is, the range of an affine expression says. Nothing is evaluated, so tensors may have any size.

use std::collections::HashMap;
use surject_index::Affine;
use surject_ir::{BinaryOp, FieldId, FieldKind, Function, Scalar, Statement, StatementKind, UnaryOp, Var};

/// What is known of a field at every point.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// An integer of the field's type: this expression, which nowhere wraps.
    Sequence(Affine),
    /// A truth, the same everywhere.
    Truth(bool),
}

/// What is known of tensors.
#[derive(Default)]
pub(crate) struct Sequences {
    forms: HashMap<Var, Form>,
    fields: HashMap<Var, FieldId>,
}

/// The points that are looked at: those of a space, or those of it that have a number along an axis.
type Slice = Option<(usize, i64)>;

impl Sequences {
    /// Takes note of a statement.
    pub(crate) fn add(&mut self, f: &Function, statement: &Statement) {
        let StatementKind::Store { target, field } = statement.kind else { return };
        let dtype = f.ty(target).dtype;
        if !dtype.is_int() && !dtype.is_bool() {
            return;
        }
        self.fields.insert(target, field);
        if let Some(form) = self.whole(f, field).remove(&field) {
            self.forms.insert(target, form);
        }
    }

    /// A component of index vectors as an affine expression of a position of so many axes, of which these number the vectors.
    /// Where the indices have no axis `vector`, they are the only component.
    pub(crate) fn component(
        &self,
        f: &Function,
        indices: Var,
        (vector, number): (usize, usize),
        batch: &[usize],
        rank: usize,
    ) -> Option<Affine> {
        let mut along = self.sequence(f, indices, (vector, i64::try_from(number).ok()?))?;
        if vector < along.coeffs.len() {
            along.coeffs.remove(vector);
        }
        let mut place = Affine::fixed(rank, along.offset);
        for (&d, step) in batch.iter().zip(along.coeffs) {
            place.coeffs[d] = step;
        }
        Some(place)
    }

    /// The elements of a tensor that have a number along an axis, or all where there is no such axis, as an affine
    /// expression of their position: index vectors are put together of components, each of which may be a sequence.
    fn sequence(&self, f: &Function, var: Var, (axis, number): (usize, i64)) -> Option<Affine> {
        let slice = (axis < f.ty(var).space.rank()).then_some((axis, number));
        let root = *self.fields.get(&var)?;
        let whole = self.whole(f, root);
        let form = match whole.get(&root) {
            Some(form) => form.clone(),
            None => {
                let mut forms = HashMap::new();
                for id in f.fields.reachable(&[root]) {
                    let form = (f.fields[id].space == f.fields[root].space)
                        .then(|| self.form(f, (&forms, &whole), id, slice));
                    if let Some(form) = form.flatten() {
                        forms.insert(id, form);
                    }
                }
                forms.remove(&root)?
            }
        };
        match form {
            Form::Sequence(affine) => Some(at(affine, slice)?),
            Form::Truth(_) => None,
        }
    }

    /// The forms of what a field is made of, at all points.
    fn whole(&self, f: &Function, field: FieldId) -> HashMap<FieldId, Form> {
        let mut forms = HashMap::new();
        // Children come before parents.
        for id in f.fields.reachable(&[field]) {
            if let Some(form) = self.form(f, (&forms, &forms), id, None) {
                forms.insert(id, form);
            }
        }
        forms
    }

    /// The form of a field at some points of its space, from those of its operands there, and, of what is read, from
    /// those at all points.
    fn form(
        &self,
        f: &Function,
        (forms, whole): (&HashMap<FieldId, Form>, &HashMap<FieldId, Form>),
        id: FieldId,
        slice: Slice,
    ) -> Option<Form> {
        let data = &f.fields[id];
        let (space, dtype) = (&data.space, data.dtype);
        let sequence = |id: FieldId| match forms.get(&id)? {
            Form::Sequence(affine) => Some(affine),
            Form::Truth(_) => None,
        };
        // Nothing wraps where both ends are numbers of the type.
        let held = |affine: Affine| {
            let affine = at(affine, slice)?;
            let (low, high) = affine.range(space)?;
            (dtype.is_int() && dtype.holds(low) && dtype.holds(high)).then_some(Form::Sequence(affine))
        };
        match &data.kind {
            FieldKind::Tensor(var) => match self.forms.get(var)? {
                Form::Sequence(affine) => held(affine.clone()),
                truth => Some(truth.clone()),
            },
            FieldKind::Const(value) if dtype.is_bool() => Some(Form::Truth(value.as_i128()? != 0)),
            FieldKind::Const(value) => {
                held(Affine::fixed(space.rank(), i64::try_from(value.as_i128()?).ok()?))
            }
            FieldKind::Index { axis } => held(Affine::axis(space.rank(), *axis)),
            FieldKind::Read { map, of } => {
                let mut inside = true;
                for guard in map.guards() {
                    let (low, high) = at(guard.expr.clone(), slice)?.range(space)?;
                    let bound = i64::try_from(guard.bound.as_const()?).ok()?;
                    // It holds at all points or at none.
                    let none = high < 0 || low >= bound;
                    (none || low >= 0 && high < bound).then_some(())?;
                    inside &= !none;
                }
                match whole.get(of) {
                    _ if !inside && dtype.is_int() => {
                        let fill = Scalar::from_bits(dtype, map.fill()?.0).as_i128()?;
                        held(Affine::fixed(space.rank(), i64::try_from(fill).ok()?))
                    }
                    Some(Form::Sequence(affine)) if inside => {
                        held(affine.substitute(map.components(), space.rank())?)
                    }
                    Some(truth) if inside => Some(truth.clone()),
                    _ => None,
                }
            }
            FieldKind::Unary { op: UnaryOp::Neg, x } => {
                held(Affine::fixed(space.rank(), 0).add_scaled(sequence(*x)?, -1)?)
            }
            FieldKind::Unary { op: UnaryOp::Not, x } => match forms.get(x)? {
                Form::Truth(truth) => Some(Form::Truth(!truth)),
                Form::Sequence(_) => None,
            },
            FieldKind::Binary { op, x, y } => {
                let (Some(x), Some(y)) = (sequence(*x), sequence(*y)) else { return None };
                let apart = || x.add_scaled(y, -1)?.range(space);
                match op {
                    BinaryOp::Add => held(x.add_scaled(y, 1)?),
                    BinaryOp::Sub => held(x.add_scaled(y, -1)?),
                    BinaryOp::Mul => {
                        let (by, of) = if is_fixed(x) { (x, y) } else { (y, x) };
                        let zero = Affine::fixed(space.rank(), 0);
                        held(zero.add_scaled(of, is_fixed(by).then_some(by.offset)?)?)
                    }
                    BinaryOp::Max | BinaryOp::Min => {
                        let (low, high) = apart()?;
                        let larger = if low >= 0 { Some(true) } else { (high <= 0).then_some(false) }?;
                        held(if larger == (*op == BinaryOp::Max) { x.clone() } else { y.clone() })
                    }
                    op => compared(*op, apart()?).map(Form::Truth),
                }
            }
            FieldKind::Select { cond, on_true, on_false } => match forms.get(cond)? {
                Form::Truth(true) => forms.get(on_true).cloned(),
                Form::Truth(false) => forms.get(on_false).cloned(),
                Form::Sequence(_) => None,
            },
            FieldKind::Convert { x } => held(sequence(*x)?.clone()),
            _ => None,
        }
    }
}

/// An affine expression at some points of its space.
fn at(mut affine: Affine, slice: Slice) -> Option<Affine> {
    if let Some((axis, number)) = slice {
        let along = affine.coeffs[axis].checked_mul(number)?;
        affine.offset = affine.offset.checked_add(along)?;
        affine.coeffs[axis] = 0;
    }
    Some(affine)
}

fn is_fixed(affine: &Affine) -> bool {
    affine.coeffs.iter().all(|&c| c == 0)
}

/// How two numbers compare whose difference lies in this range, if that says it.
fn compared(op: BinaryOp, (low, high): (i64, i64)) -> Option<bool> {
    let known = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
    match op {
        BinaryOp::Lt => known(high < 0, low >= 0),
        BinaryOp::Le => known(high <= 0, low > 0),
        BinaryOp::Gt => known(low > 0, high <= 0),
        BinaryOp::Ge => known(low >= 0, high < 0),
        BinaryOp::Eq => known((low, high) == (0, 0), low > 0 || high < 0),
        BinaryOp::Ne => known(low > 0 || high < 0, (low, high) == (0, 0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use surject_ir::interp;

    /// The forms of what a function stores, compared with its values.
    fn checked(text: &str) -> HashMap<String, Option<String>> {
        let program = surject_ir::parse(text).unwrap();
        surject_ir::verify(&program).unwrap();
        let f = program.main().unwrap();
        let values = interp::run(&program, "main", &[]).unwrap();
        let mut all = Sequences::default();
        f.body.statements.iter().for_each(|s| all.add(f, s));
        let mut found = HashMap::new();
        for (&var, value) in f.body.results.iter().zip(&values) {
            let form = all.forms.get(&var);
            let mut points = vec![Vec::new()];
            for n in f.ty(var).space.sizes().unwrap() {
                let longer = |p: &Vec<i64>| (0..n).map(|i| [p.as_slice(), &[i]].concat()).collect::<Vec<_>>();
                points = points.iter().flat_map(longer).collect();
            }
            for (i, point) in points.iter().enumerate() {
                let expected = match form {
                    Some(Form::Sequence(affine)) => affine.eval(point),
                    Some(Form::Truth(truth)) => i64::from(*truth),
                    None => continue,
                };
                assert_eq!(value.get(i).as_i128(), Some(expected.into()), "{text}");
            }
            found.insert(f.name_of(var).to_string(), form.map(|form| format!("{form:?}")));
        }
        found
    }

    /// Frames of a signal, as they arrive.
    #[test]
    fn frames() {
        let found = checked(
            "func main() -> (place, wrapped, low) {
  place : i32[5,7] =: over i<5, j<7: index(i)i32 * 3i32 + index(j)i32
  low : i1[5,7] =: over i<5, j<7: place[i,j] < 0i32
  wrapped : i32[5,7] =: over i<5, j<7: select(low[i,j], place[i,j] + 100i32, place[i,j])
}
",
        );
        assert!(found.values().all(Option::is_some), "{found:?}");
        assert_eq!(found["place"], found["wrapped"]);
    }

    /// What wraps, or is now this and now that, has no form.
    #[test]
    fn no_sequences() {
        let found = checked(
            "func main() -> (wraps, choice, square, some) {
  wraps : i8[20] =: over i<20: index(i)i8 * 7i8
  choice : i32[20] =: over i<20: select(index(i)i32 < 3i32, index(i)i32, 3i32)
  square : i32[20] =: over i<20: index(i)i32 * index(i)i32
  some : i32[20] =: over i<20: max(index(i)i32, 3i32)
}
",
        );
        assert!(found.values().all(Option::is_none), "{found:?}");
    }

    proptest! {
        /// Whatever has a form has these values.
        #[test]
        fn forms_are_values(c in prop::array::uniform6(-40i64..40), t in 0..4usize, ops in prop::array::uniform4(0..9usize)) {
            let ty = ["i8", "i16", "i32", "u8"][t];
            let lit = |v: i64| if t == 3 { format!("{}{ty}", v.abs()) } else if v < 0 { format!("(0{ty} - {}{ty})", -v) } else { format!("{v}{ty}") };
            let op = |k: usize, x: &str, y: &str| match ops[k] {
                0 | 1 => format!("({x} + {y})"),
                2 => format!("({x} - {y})"),
                3 | 4 => format!("({x} * {y})"),
                5 => format!("max({x}, {y})"),
                6 => format!("min({x}, {y})"),
                7 => format!("select({x} < {y}, {x}, {y})"),
                _ => format!("select({x} >= {y}, {x} - {y}, {y})"),
            };
            let (i, j) = (format!("index(i){ty}"), format!("index(j){ty}"));
            let a = op(0, &i, &lit(c[0]));
            let b = op(1, &j, &lit(c[1]));
            let d = op(2, "a[i,j]", "b[j,i]");
            let e = op(3, "d[j,i]", &lit(c[2]));
            checked(&format!(
                "func main() -> (a, b, d, e) {{
  a : {ty}[3,4] =: over i<3, j<4: {a}
  b : {ty}[4,3] =: over i<4, j<3: {b}
  d : {ty}[3,4] =: over i<3, j<4: {d}
  e : {ty}[4,3] =: over i<4, j<3: {e}
}}
"
            ));
        }
    }
}
