//! How often a loop runs, where that is known before it does.
//!
//! A loop counts where its condition compares a carried integer, which begins with a constant and grows by a constant in
//! every round, with a constant. Everything here is exact: where a number would leave its type on the way, nothing is said.

use std::collections::HashMap;
use surject_ir::{
    BinaryOp, Block, DType, FieldId, FieldKind, Function, Region, Scalar, StatementKind, UnaryOp, Var, eval,
};

/// What is known of the scalars of a function.
#[derive(Debug, Default)]
pub(crate) struct Known(HashMap<Var, Scalar>);

/// A scalar in a loop.
enum Form {
    Constant(Scalar),
    /// The carried integer, and so much.
    Counter(i128),
}

/// The values that a counter has on the way to a value: itself and so much, each in a type that must hold it.
type Steps = Vec<(DType, i128)>;

impl Known {
    /// Learns from an assignment.
    pub(crate) fn store(&mut self, function: &Function, target: Var, field: FieldId) {
        let (none, mut steps) = (HashMap::new(), Vec::new());
        let scope = Scope { function, known: self, own: &none, counter: None };
        if let Some(Form::Constant(value)) = scope.form(field, &mut steps, 0) {
            self.0.insert(target, value);
        }
    }

    /// Learns the value of a scalar.
    pub(crate) fn learn(&mut self, var: Var, value: Scalar) {
        self.0.insert(var, value);
    }

    /// How often a loop runs; `None` where that is not known, or it never ends. Learns what the loop gives on as it is.
    pub(crate) fn rounds(
        &mut self,
        function: &Function,
        inits: &[Var],
        [cond, body]: [&Region; 2],
    ) -> Option<u64> {
        for ((init, result), params) in
            inits.iter().zip(&body.body.results).zip(body.params.iter().zip(&cond.params))
        {
            if let (true, Some(&value)) = (result == params.0, self.0.get(init)) {
                self.0.insert(*params.0, value);
                self.0.insert(*params.1, value);
            }
        }
        let [in_cond, in_body] = [&cond.body, &body.body].map(definitions);
        let &[test] = &cond.body.results[..] else { return None };
        (0..inits.len()).find_map(|k| {
            let first = self.0.get(&inits[k])?;
            let (dtype, first) = (first.dtype(), first.as_i128().filter(|_| first.dtype().is_int())?);
            // By how much it grows.
            let mut growing = Vec::new();
            let scope = Scope { function, known: self, own: &in_body, counter: Some(body.params[k]) };
            let Form::Counter(by) = scope.variable(body.body.results[k], &mut growing, 0)? else {
                return None;
            };
            growing.push((dtype, by));
            let mut compared = Vec::new();
            let scope = Scope { function, known: self, own: &in_cond, counter: Some(cond.params[k]) };
            let (op, plus, bound) = scope.condition(test, &mut compared)?;
            compared.push((dtype, 0));
            let rounds = first_failure(op, first.checked_add(plus)?, by, bound)?;
            // The values lie on a line: where both ends fit, all do.
            let fits = |steps: &Steps, round: i128| {
                let at = by.checked_mul(round).and_then(|grown| grown.checked_add(first));
                at.is_some_and(|at| steps.iter().all(|&(d, p)| at.checked_add(p).is_some_and(|v| d.holds(v))))
            };
            let all = fits(&compared, 0)
                && fits(&compared, rounds)
                && (rounds == 0 || fits(&growing, 0) && fits(&growing, rounds - 1));
            u64::try_from(rounds).ok().filter(|_| all)
        })
    }
}

/// The assignments of a block.
fn definitions(block: &Block) -> HashMap<Var, FieldId> {
    let store = |kind: &StatementKind| match *kind {
        StatementKind::Store { target, field } => Some((target, field)),
        _ => None,
    };
    block.statements.iter().filter_map(|s| store(&s.kind)).collect()
}

/// The first round in which a value that begins here and grows by so much does not compare so; `None`: there is none.
fn first_failure(op: BinaryOp, from: i128, by: i128, bound: i128) -> Option<i128> {
    match op {
        BinaryOp::Lt if from >= bound => Some(0),
        BinaryOp::Lt => (by > 0).then(|| (bound - from + by - 1) / by),
        BinaryOp::Le => first_failure(BinaryOp::Lt, from, by, bound + 1),
        BinaryOp::Gt => first_failure(BinaryOp::Lt, -from, -by, -bound),
        BinaryOp::Ge => first_failure(BinaryOp::Le, -from, -by, -bound),
        BinaryOp::Eq if from != bound => Some(0),
        BinaryOp::Eq => (by != 0).then_some(1),
        BinaryOp::Ne if from == bound => Some(0),
        BinaryOp::Ne => {
            let left = bound - from;
            (by != 0 && left % by == 0 && left / by > 0).then(|| left / by)
        }
        _ => None,
    }
}

/// Expressions are looked at no deeper than this.
const DEPTH: usize = 16;

/// Where a scalar is asked for.
struct Scope<'a> {
    function: &'a Function,
    known: &'a Known,
    /// The assignments of the block.
    own: &'a HashMap<Var, FieldId>,
    counter: Option<Var>,
}

impl Scope<'_> {
    fn variable(&self, var: Var, steps: &mut Steps, depth: usize) -> Option<Form> {
        if self.counter == Some(var) {
            return Some(Form::Counter(0));
        }
        match self.known.0.get(&var) {
            Some(&value) => Some(Form::Constant(value)),
            None => self.form(*self.own.get(&var)?, steps, depth + 1),
        }
    }

    /// A scalar field.
    fn form(&self, id: FieldId, steps: &mut Steps, depth: usize) -> Option<Form> {
        let field = &self.function.fields[id];
        if field.space.rank() != 0 || depth > DEPTH {
            return None;
        }
        let form = match field.kind {
            FieldKind::Tensor(var) => self.variable(var, steps, depth)?,
            FieldKind::Const(value) => Form::Constant(value),
            FieldKind::Unary { op, x } => match self.form(x, steps, depth + 1)? {
                Form::Constant(x) => Form::Constant(eval::unary(op, x)?),
                Form::Counter(_) => return None,
            },
            FieldKind::Convert { x } => match self.form(x, steps, depth + 1)? {
                Form::Constant(x) => Form::Constant(eval::convert(field.dtype, x)),
                counter => counter,
            },
            FieldKind::Binary { op, x, y } => {
                let (x, y) = (self.form(x, steps, depth + 1)?, self.form(y, steps, depth + 1)?);
                match (op, x, y) {
                    (_, Form::Constant(x), Form::Constant(y)) => Form::Constant(eval::binary(op, x, y)?),
                    (BinaryOp::Add, Form::Counter(plus), Form::Constant(by))
                    | (BinaryOp::Add, Form::Constant(by), Form::Counter(plus)) => {
                        Form::Counter(plus.checked_add(by.as_i128()?)?)
                    }
                    (BinaryOp::Sub, Form::Counter(plus), Form::Constant(by)) => {
                        Form::Counter(plus.checked_sub(by.as_i128()?)?)
                    }
                    _ => return None,
                }
            }
            _ => return None,
        };
        if let Form::Counter(plus) = form {
            if !field.dtype.is_int() {
                return None;
            }
            steps.push((field.dtype, plus));
        }
        Some(form)
    }

    /// A condition as a comparison of the counter and so much with a number.
    fn condition(&self, test: Var, steps: &mut Steps) -> Option<(BinaryOp, i128, i128)> {
        let mut field = *self.own.get(&test)?;
        let mut negated = false;
        for _ in 0..DEPTH {
            match self.function.fields[field].kind {
                FieldKind::Tensor(var) => field = *self.own.get(&var)?,
                FieldKind::Unary { op: UnaryOp::Not, x } => (field, negated) = (x, !negated),
                FieldKind::Binary { op, x, y } if op.is_comparison() => {
                    let (x, y) = (self.form(x, steps, 0)?, self.form(y, steps, 0)?);
                    let (op, plus, bound) = match (x, y) {
                        (Form::Counter(plus), Form::Constant(bound)) => (op, plus, bound),
                        (Form::Constant(bound), Form::Counter(plus)) => (mirrored(op), plus, bound),
                        _ => return None,
                    };
                    return Some((if negated { opposite(op) } else { op }, plus, bound.as_i128()?));
                }
                _ => return None,
            }
        }
        None
    }
}

/// The comparison with its operands exchanged.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        same => same,
    }
}

/// The comparison of integers that holds where this one does not.
fn opposite(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::parse;

    /// What a loop of this type, beginning, condition and step is said to run, and what it does run.
    fn both(dtype: &str, first: &str, condition: &str, next: &str) -> (Option<u64>, Option<u64>) {
        let text = format!(
            "program p\n\nfunc main() -> (n) {{\n  z : {dtype}[] =: {first}{dtype}\n  zero : i64[] =: 0i64\n  \
             i : {dtype}[], n : i64[] = while (z, zero) {{\n    cond(i0: {dtype}[], n0: i64[]) -> (go) {{\n      \
             go : i1[] =: {condition}\n    }}\n    body(c1: {dtype}[], n1: i64[]) -> (next, m) {{\n      \
             next : {dtype}[] =: {next}\n      m : i64[] =: n1 + 1i64\n    }}\n  }}\n}}\n"
        );
        let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let function = program.main().unwrap();
        let mut known = Known::default();
        let mut said = None;
        for statement in &function.body.statements {
            match &statement.kind {
                StatementKind::Store { target, field } => known.store(function, *target, *field),
                StatementKind::While { inits, cond, body, .. } => {
                    said = known.rounds(function, inits, [cond, body]);
                }
                _ => {}
            }
        }
        let limits = surject_ir::interp::Limits { iterations: Some(2000) };
        let does = surject_ir::interp::run_within(&program, "main", &[], limits).ok();
        (said, does.and_then(|r| r[0].get(0).as_i128()).and_then(|n| u64::try_from(n).ok()))
    }

    #[test]
    fn what_is_said_is_what_the_interpreter_does() {
        let (mut said, mut silent) = (0, 0);
        let mut state = 5u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for _ in 0..700 {
            let dtype = ["i8", "u8", "i32", "u64", "i64"][random(5)];
            let low = if dtype.starts_with('u') { 0 } else { -20 };
            let mut number = |far: bool| match (far, dtype) {
                (true, "i8") => [-128, -127, 126, 127][random(4)],
                (true, "u8") => [254, 255, 0, 1][random(4)],
                _ => low + random(40) as i64,
            };
            let (first, bound) = (number(false), number(true));
            let bound = if random(3) > 0 { low + random(60) as i64 } else { bound };
            let op = ["<", "<=", ">", ">=", "==", "!="][random(6)];
            let (left, step) = (random(2) == 0, 1 + random(3));
            let counter = ["i0", "i0", "(i0 + K)", "(i0 - K)"][random(4)].replace('K', &format!("2{dtype}"));
            let condition = match left {
                true => format!("{counter} {op} {bound}{dtype}"),
                false => format!("{bound}{dtype} {op} {counter}"),
            };
            let condition = if random(4) == 0 { format!("not({condition})") } else { condition };
            let sign = ["+", "-"][random(2)];
            let (expected, found) =
                both(dtype, &first.to_string(), &condition, &format!("c1 {sign} {step}{dtype}"));
            match expected {
                Some(_) => {
                    assert_eq!(expected, found, "{dtype} from {first} while {condition} {sign} {step}");
                    said += 1;
                }
                None => silent += 1,
            }
        }
        assert!(said > 250 && silent > 50, "{said} {silent}");
    }

    #[test]
    fn a_loop_that_ends_by_overflow_is_not_known() {
        assert_eq!(both("i8", "0", "i0 >= 0i8", "c1 + 1i8"), (None, Some(128)));
        assert_eq!(both("u8", "3", "i0 != 2u8", "c1 + 1u8"), (None, Some(255)));
        assert_eq!(both("i8", "0", "(i0 + 100i8) >= 0i8", "c1 + 1i8"), (None, Some(28)));
        assert_eq!(both("i8", "0", "i0 < 127i8", "c1 + 1i8"), (Some(127), Some(127)));
        assert_eq!(both("i8", "0", "i0 <= 126i8", "c1 + 1i8"), (Some(127), Some(127)));
        // The last round would leave the type.
        assert_eq!(both("i8", "0", "i0 < 127i8", "c1 + 2i8").0, None);
    }

    #[test]
    fn data_does_not_count() {
        assert_eq!(both("i32", "0", "i0 < 10i32", "c1 * 2i32").0, None);
        assert_eq!(both("i32", "1", "i0 < 10i32", "c1 + c1").0, None);
    }
}
