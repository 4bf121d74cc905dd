//! Addresses in the innermost loops: what stays the same is added to the address of a memory before the loop, and where elements of
//! neighbouring iterations lie further apart than an instruction scales, a pointer goes along. LLVM has a pass for this, which takes a
//! fifth of the time of a compilation.

use super::{Done, Writer, stored};
use std::collections::HashSet;
use surject_codegen::code::{self, Carry, Index, Op, Type};
use surject_kernel::{Affine, LoopKind, Mem, Op as KernelOp, Region, Statement, Term, Value};

/// More addresses than these are registers that others need.
const MOST: usize = 8;

/// The bytes that an instruction multiplies an index by.
const SCALES: [i64; 4] = [1, 2, 4, 8];

/// Elements that lie together in an iteration: in this memory, these terms further on.
#[derive(Clone, Debug, PartialEq)]
struct Together {
    mem: Mem,
    terms: Vec<Term>,
}

/// How their address is found.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// A pointer goes along.
    Pointer(code::Value),
    /// From an address on, so many elements for each of a variable.
    Indexed { base: code::Value, variable: code::Value, factor: i64 },
}

/// The addresses of a loop.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    found: Vec<(Together, Found)>,
    /// Pointers that go along, how many elements, and of which type.
    moved: Vec<(code::Value, i64, Type)>,
}

/// What is done in a loop that has no other inside.
struct Inside<'k> {
    own: Value,
    /// Values and memory that are not there before.
    made: HashSet<Value>,
    allocated: HashSet<Mem>,
    accesses: Vec<(Mem, &'k Affine)>,
}

impl<'k> Inside<'k> {
    /// That of a loop; `None` where another is inside.
    fn of(body: &'k Region) -> Option<Inside<'k>> {
        let own = *body.params.first()?;
        let mut inside = Inside { own, made: HashSet::new(), allocated: HashSet::new(), accesses: Vec::new() };
        inside.region(body)?;
        inside.made.remove(&own);
        Some(inside)
    }

    fn region(&mut self, region: &'k Region) -> Option<()> {
        self.made.extend(&region.params);
        region.body.iter().try_for_each(|statement| self.statement(statement))
    }

    fn statement(&mut self, Statement { results, op }: &'k Statement) -> Option<()> {
        self.made.extend(results);
        match op {
            KernelOp::Load { place, .. } | KernelOp::Store { place, .. } if place.offset.is_none() => {
                self.accesses.push((place.mem, &place.at));
            }
            KernelOp::Prefetch { mem, at, .. } => self.accesses.push((*mem, at)),
            KernelOp::Alloc(mem) => drop(self.allocated.insert(*mem)),
            KernelOp::For { kind: LoopKind::Unrolled, body, .. } => self.region(body)?,
            KernelOp::For { .. } => return None,
            KernelOp::If { then, otherwise, .. } => {
                self.region(then)?;
                self.region(otherwise)?;
            }
            _ => {}
        }
        Some(())
    }

    /// The elements whose addresses are known but for the variable of the loop, each once, and how far apart they are in
    /// iterations that follow each other.
    fn together(&self) -> Vec<(Together, i64)> {
        let mut all: Vec<(Together, i64)> = Vec::new();
        for &(mem, Affine { terms, .. }) in &self.accesses {
            let of_own = terms.iter().filter(|t| t.values.contains(&self.own)).collect::<Vec<_>>();
            let [Term { values, factor }] = of_own[..] else { continue };
            let is_known = !self.allocated.contains(&mem);
            let is_known = is_known && terms.iter().flat_map(|t| &t.values).all(|value| !self.made.contains(value));
            let together = Together { mem, terms: terms.clone() };
            if values.len() == 1 && is_known && all.iter().all(|other| other.0 != together) {
                all.push((together, *factor));
            }
        }
        all
    }
}

impl Writer<'_> {
    /// The addresses of a loop, which are found before it: its variable begins at a number, and goes on in steps. The pointers that
    /// go along are carried.
    pub(super) fn addresses(
        &mut self,
        (low, step, variable): (code::Value, i64, code::Value),
        body: &Region,
        carried: &mut Vec<Carry>,
    ) -> Done<Addresses> {
        let mut addresses = Addresses::default();
        let Some(inside) = Inside::of(body) else { return Ok(addresses) };
        // A sum of one term is an index as it is.
        let worth = |w: &Self, t: &Together, factor| t.terms.len() > 1 || !w.is_scaled(t.mem, factor);
        let together = inside.together().into_iter().filter(|(t, factor)| worth(self, t, *factor));
        let together: Vec<(Together, i64)> = together.take(MOST).collect();
        for (together, factor) in together {
            let mem = together.mem;
            let fixed = together.terms.iter().filter(|t| !t.values.contains(&inside.own)).cloned();
            let fixed = self.affine(&Affine { terms: fixed.collect(), ..Affine::default() })?;
            let base = self.address(mem, Index::At(fixed))?;
            if self.is_scaled(mem, factor) {
                addresses.found.push((together, Found::Indexed { base, variable, factor }));
                continue;
            }
            let (first, of) = (self.times(low, factor), stored(self.kernel.mem(mem).dtype).ty(1));
            let init = self.b.op(Op::Element { pointer: base, index: Index::At(first), of });
            let name = self.b.fresh();
            carried.push(Carry { name, init, ty: Type::Pointer });
            addresses.moved.push((name, factor.wrapping_mul(step), of));
            addresses.found.push((together, Found::Pointer(name)));
        }
        Ok(addresses)
    }

    /// The pointers of a loop in its next iteration.
    pub(super) fn next_pointers(&mut self, addresses: &Addresses) -> Vec<(code::Value, Type)> {
        let next = |&(pointer, by, of): &(code::Value, i64, Type)| {
            let index = Index::Number(by);
            (self.b.op(Op::Element { pointer, index, of }), Type::Pointer)
        };
        addresses.moved.iter().map(next).collect()
    }

    /// The address of the first lane of an access, some elements further on.
    pub(super) fn first(&mut self, mem: Mem, at: &Affine, further: i64) -> Done<code::Value> {
        let offset = at.offset.wrapping_add(further);
        let known = self.addresses.found.iter().find(|(t, _)| t.mem == mem && t.terms == at.terms);
        let Some(&(_, found)) = known else {
            let at = self.affine(&Affine { offset, ..at.clone() })?;
            return self.address(mem, Index::At(at));
        };
        let of = stored(self.kernel.mem(mem).dtype).ty(1);
        let pointer = match found {
            Found::Pointer(pointer) => pointer,
            Found::Indexed { base, variable, factor } => {
                let index = Index::At(self.times(variable, factor));
                self.b.op(Op::Element { pointer: base, index, of })
            }
        };
        if offset == 0 {
            return Ok(pointer);
        }
        Ok(self.b.op(Op::Element { pointer, index: Index::Number(offset), of }))
    }

    fn times(&mut self, value: code::Value, factor: i64) -> code::Value {
        if factor == 1 {
            return value;
        }
        let factor = self.b.int(factor);
        self.b.op(Op::same("arith.muli", [value, factor], Type::I64))
    }

    /// Does an instruction find elements that are so many apart by an index?
    fn is_scaled(&self, mem: Mem, factor: i64) -> bool {
        SCALES.contains(&factor.wrapping_mul(self.kernel.mem(mem).dtype.size() as i64))
    }
}
