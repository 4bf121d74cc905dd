//! Every formula, for every kind of machine, on a machine in software.
//!
//! Which way an element goes depends on its neighbours, since a rare branch is taken for a whole vector. So of every
//! function all ways are run that an element can go.

mod exhaustive;
mod limits;
mod machine;

use crate::code::Value;
use crate::kernels::math::formula::{F, Pen};
use crate::kernels::math::tests::machine::{Machine, Register};
use crate::kernels::math::{DOUBLE_LANES, EIGHT, Method, pieces, table};
use crate::machine::elem::Elem;
use surject_ir::{BinaryOp, UnaryOp};

/// Tables of the machines: AVX-512, AVX2, none.
const TABLES: [usize; 3] = [table::PIECES, EIGHT, 0];

/// A way from the arguments to a value.
struct Way {
    name: String,
    machine: Machine,
    value: Value,
    /// Where it leads elsewhere.
    unless: Option<Value>,
}

impl Way {
    /// Writes one, of arguments of a type.
    fn write(
        name: &str,
        (e, arguments): (Elem, usize),
        tables: usize,
        formula: impl for<'p> Fn(&[F<'p>]) -> (F<'p>, Option<crate::kernels::math::formula::B<'p>>),
    ) -> Way {
        let mut machine = Machine::default();
        let names: Vec<Value> = (0..arguments).map(|_| machine.argument(e)).collect();
        // As many lanes as a register has.
        let bytes = if tables == table::PIECES { 64 } else { 32 };
        let lanes = (bytes / e.size()).min(DOUBLE_LANES);
        let (value, unless) = {
            let pen = Pen::on(&mut machine, lanes, tables);
            let arguments: Vec<F<'_>> = names.iter().map(|&name| pen.value(name, e)).collect();
            let (value, unless) = formula(&arguments);
            (value.ssa(), unless.map(|b| b.ssa()))
        };
        Way { name: format!("{name}, tables of {tables}"), machine, value, unless }
    }

    /// The values of `f32`, and where they count.
    fn single(&self, arguments: &[&[f32]]) -> (Vec<f32>, Option<Vec<bool>>) {
        let bits = |x: &[f32]| Register::Words(x.iter().map(|x| x.to_bits()).collect());
        let (values, unless) = self.run(arguments.iter().map(|x| bits(x)).collect());
        let Register::Words(values) = values else { panic!("{values:?}") };
        (values.into_iter().map(f32::from_bits).collect(), unless)
    }

    /// As [`Way::single`], of `f64`.
    fn double(&self, arguments: &[&[f64]]) -> (Vec<f64>, Option<Vec<bool>>) {
        let bits = |x: &[f64]| Register::Doubles(x.iter().map(|x| x.to_bits()).collect());
        let (values, unless) = self.run(arguments.iter().map(|x| bits(x)).collect());
        let Register::Doubles(values) = values else { panic!("{values:?}") };
        (values.into_iter().map(f64::from_bits).collect(), unless)
    }

    fn run(&self, arguments: Vec<Register>) -> (Register, Option<Vec<bool>>) {
        let names: Vec<Value> = [self.value].into_iter().chain(self.unless).collect();
        let mut registers = self.machine.run(&arguments, &names).into_iter();
        let value = registers.next().unwrap();
        let unless = registers.next().map(|r| match r {
            Register::Truths(b) => b,
            other => panic!("{other:?}"),
        });
        (value, unless)
    }
}

/// All ways of a function of one argument. Functions of the run time, which the interpreter calls as well, are none.
fn ways(op: UnaryOp, e: Elem, tables: usize) -> Vec<Way> {
    let Some(method) = Method::of(op, e, tables) else { return Vec::new() };
    let mut ways = Vec::new();
    if let Some(short) = method.short {
        ways.push(Way::write(&format!("{op} short"), (e, 1), tables, |x| {
            let (value, beyond) = (short.formula)(x[0]);
            (value, Some(beyond))
        }));
    }
    fn widened<'p>(x: F<'p>, wide: bool) -> F<'p> {
        if wide { x.widen() } else { x }
    }
    fn narrowed<'p>(value: F<'p>, like: F<'p>) -> F<'p> {
        if value.is_double() && !like.is_double() { value.narrow() } else { value }
    }
    ways.push(Way::write(&format!("{op}"), (e, 1), tables, |x| {
        let wide = widened(x[0], method.wide);
        let value = (method.formula)(wide);
        let beyond = method.bound.map(|bound| x[0].abs().gt(bound) & x[0].abs().lt(f64::INFINITY));
        let beyond = method.mirror.map(|m| (m.applies)(wide)).or(beyond);
        (narrowed(value, x[0]), beyond)
    }));
    if let Some(mirror) = method.mirror {
        ways.push(Way::write(&format!("{op} mirrored"), (e, 1), tables, |x| {
            let wide = widened(x[0], method.wide);
            (narrowed((mirror.formula)(wide, (method.formula)(wide)), x[0]), None)
        }));
    }
    ways
}

/// All ways of a function of two arguments.
fn ways_of_two(op: BinaryOp, e: Elem, tables: usize) -> Vec<Way> {
    let (formula, wide) = crate::kernels::math::of_two(op, e);
    let mut ways = vec![Way::write(&format!("{op}"), (e, 2), tables, |x| match wide && e == Elem::F32 {
        true => (formula(x[0].widen(), x[1].widen()).narrow(), None),
        false => (formula(x[0], x[1]), None),
    })];
    if op == BinaryOp::Pow && e == Elem::F32 && tables >= table::PIECES {
        ways.push(Way::write("power short", (e, 2), tables, |x| {
            let (value, beyond) = pieces::pow(x[0], x[1]);
            (value, Some(beyond))
        }));
    }
    ways
}
