//! Affine expressions, and the guards that are made of them.

use super::{Condition, Done, Writer};
use surject_codegen::code::{self, Elem, Elements, Literal, Op, Type};
use surject_kernel::{Affine, Guard};

impl Writer<'_> {
    /// An affine expression in the first lane, as `i64`.
    pub(super) fn affine(&mut self, affine: &Affine) -> Done<code::Value> {
        let mut sum: Option<code::Value> = None;
        for term in &affine.terms {
            let mut product: Option<code::Value> = None;
            for &value in &term.values {
                let value = self.value(value)?;
                product = Some(match product {
                    None => value,
                    Some(p) => self.b.op(Op::same("arith.muli", [p, value], Type::I64)),
                });
            }
            let mut product = product.ok_or("a term without values")?;
            if term.factor != 1 {
                let factor = self.b.int(term.factor);
                product = self.b.op(Op::same("arith.muli", [product, factor], Type::I64));
            }
            sum = Some(match sum {
                None => product,
                Some(s) => self.b.op(Op::same("arith.addi", [s, product], Type::I64)),
            });
        }
        let offset = self.b.int(affine.offset);
        Ok(match sum {
            None => offset,
            Some(sum) if affine.offset == 0 => sum,
            Some(sum) => self.b.op(Op::same("arith.addi", [sum, offset], Type::I64)),
        })
    }

    /// An affine expression in each of several lanes, as a vector of `i64`.
    pub(super) fn affine_lanes(&mut self, affine: &Affine, lanes: usize) -> Done<code::Value> {
        let base = self.affine(affine)?;
        let base = self.broadcast(base, Type::I64, lanes);
        if affine.lane == 0 || lanes == 1 {
            return Ok(base);
        }
        let steps = (0..lanes as i64).map(|l| l.wrapping_mul(affine.lane) as u64).collect();
        let steps = self.b.constant(Literal::new(Elem::I64, Elements::Each(steps)));
        Ok(self.b.op(Op::same("arith.addi", [base, steps], Elem::I64.ty(lanes))))
    }

    /// Where do guards hold?
    pub(super) fn guards(&mut self, guards: &[Guard], lanes: usize) -> Done<Condition> {
        let mut all = Condition::Always;
        for guard in guards {
            let holds = match lanes == 1 || guard.expr.lane == 0 && guard.bound.lane == 0 {
                true => {
                    let sides = [self.affine(&guard.expr)?, self.affine(&guard.bound)?];
                    Condition::Uniform(self.within(guard, sides, 1))
                }
                false => {
                    let sides =
                        [self.affine_lanes(&guard.expr, lanes)?, self.affine_lanes(&guard.bound, lanes)?];
                    Condition::Lanes(self.within(guard, sides, lanes))
                }
            };
            all = self.both(all, holds, lanes);
        }
        Ok(all)
    }

    /// Does a guard hold, whose sides have these values in so many lanes?
    fn within(&mut self, guard: &Guard, [expr, bound]: [code::Value; 2], lanes: usize) -> code::Value {
        let ty = Elem::I64.ty(lanes);
        let compare = |predicate, sides| Op::Compare { name: "arith.cmpi", predicate, sides, ty };
        if guard.bound.as_constant().is_some_and(|b| b >= 0) {
            // A negative number is a large one without a sign.
            return self.b.op(compare("ult", [expr, bound]));
        }
        let zero = self.b.splat(Elem::I64, 0, lanes);
        let low = self.b.op(compare("sge", [expr, zero]));
        let high = self.b.op(compare("slt", [expr, bound]));
        self.b.op(Op::same("arith.andi", [low, high], Elem::I1.ty(lanes)))
    }

    pub(super) fn both(&mut self, a: Condition, b: Condition, lanes: usize) -> Condition {
        use Condition::{Always, Lanes, Uniform};
        let truths = Elem::I1.ty(lanes);
        match (a, b) {
            (Always, other) | (other, Always) => other,
            (Uniform(a), Uniform(b)) => Uniform(self.b.op(Op::same("arith.andi", [a, b], Type::I1))),
            (Lanes(a), Lanes(b)) => Lanes(self.b.op(Op::same("arith.andi", [a, b], truths))),
            (Uniform(one), Lanes(each)) | (Lanes(each), Uniform(one)) => {
                let one = self.broadcast(one, Type::I1, lanes);
                Lanes(self.b.op(Op::same("arith.andi", [one, each], truths)))
            }
        }
    }

    /// A condition as one truth for each lane.
    pub(super) fn truths(&mut self, condition: Condition, lanes: usize) -> code::Value {
        match condition {
            Condition::Always => self.b.splat(Elem::I1, 1, lanes),
            Condition::Uniform(holds) => self.broadcast(holds, Type::I1, lanes),
            Condition::Lanes(holds) => holds,
        }
    }
}
