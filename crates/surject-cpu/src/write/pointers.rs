//! Strength reduction of addresses in the innermost loops. What a loop does not change is added before it. Where the elements of
//! neighbouring iterations are further apart than an instruction scales an index, the loop carries a pointer. LLVM's pass for this
//! (`loop-reduce`) is not run: it takes a fifth of the time of a compilation.

use super::{Done, Writer, stored};
use std::collections::HashSet;
use surject_codegen::code::{self, Carry, Index, Op, Type};
use surject_kernel::{Affine, LoopKind, Mem, Op as KernelOp, Region, Statement, Term, Value};

/// The most addresses of a loop: more would take registers from what it computes.
const MOST: usize = 8;

/// The bytes that an instruction multiplies an index by.
const SCALES: [i64; 4] = [1, 2, 4, 8];

/// Accesses whose addresses differ by constants alone.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    mem: Mem,
    terms: Vec<Term>,
}

/// Where the elements of a group are.
#[derive(Clone, Copy, Debug)]
enum Found {
    /// At a pointer that the loop carries.
    Pointer(code::Value),
    /// Behind an address, so many elements for each step of the variable of the loop.
    Indexed { base: code::Value, variable: code::Value, factor: i64 },
}

/// A pointer that a loop carries.
#[derive(Clone, Copy, Debug)]
struct Carried {
    pointer: code::Value,
    /// The elements, of this type, by which it is advanced.
    by: i64,
    of: Type,
}

/// The addresses of a loop.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    found: Vec<(Group, Found)>,
    carried: Vec<Carried>,
}

/// The accesses of a loop without loops inside.
struct Innermost<'k> {
    /// Its variable.
    own: Value,
    /// Values and memory that do not exist before the loop.
    made: HashSet<Value>,
    allocated: HashSet<Mem>,
    accesses: Vec<(Mem, &'k Affine)>,
}

impl<'k> Innermost<'k> {
    /// Those of a loop; `None` where another loop is inside.
    fn of(body: &'k Region) -> Option<Innermost<'k>> {
        let own = *body.params.first()?;
        let mut inside =
            Innermost { own, made: HashSet::new(), allocated: HashSet::new(), accesses: Vec::new() };
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

    /// The groups whose addresses depend on nothing in the loop but its variable, and the elements by which each step of that moves
    /// them.
    fn groups(&self) -> Vec<(Group, i64)> {
        let mut all: Vec<(Group, i64)> = Vec::new();
        for &(mem, Affine { terms, .. }) in &self.accesses {
            let of_own = terms.iter().filter(|t| t.values.contains(&self.own)).collect::<Vec<_>>();
            let [Term { values, factor }] = of_own[..] else { continue };
            let is_known = !self.allocated.contains(&mem);
            let is_known =
                is_known && terms.iter().flat_map(|t| &t.values).all(|value| !self.made.contains(value));
            let group = Group { mem, terms: terms.clone() };
            if values.len() == 1 && is_known && all.iter().all(|other| other.0 != group) {
                all.push((group, *factor));
            }
        }
        all
    }
}

impl Writer<'_> {
    /// The addresses of a loop, found before it; its variable goes from `low` on in steps. What it carries is added to `carried`.
    pub(super) fn addresses(
        &mut self,
        (low, step, variable): (code::Value, i64, code::Value),
        body: &Region,
        carried: &mut Vec<Carry>,
    ) -> Done<Addresses> {
        let mut addresses = Addresses::default();
        let Some(inside) = Innermost::of(body) else { return Ok(addresses) };
        // An index that is the variable itself needs nothing before the loop.
        let is_worth = |(g, factor): &(Group, i64)| g.terms.len() > 1 || !self.is_scaled(g.mem, *factor);
        let groups: Vec<(Group, i64)> = inside.groups().into_iter().filter(is_worth).take(MOST).collect();
        for (group, factor) in groups {
            let mem = group.mem;
            let fixed = group.terms.iter().filter(|t| !t.values.contains(&inside.own)).cloned();
            let fixed = self.affine(&Affine { terms: fixed.collect(), ..Affine::default() })?;
            let base = self.address(mem, Index::At(fixed))?;
            if self.is_scaled(mem, factor) {
                addresses.found.push((group, Found::Indexed { base, variable, factor }));
                continue;
            }
            let (first, of) = (self.times(low, factor), stored(self.kernel.mem(mem).dtype).ty(1));
            let init = self.b.op(Op::Element { pointer: base, index: Index::At(first), of });
            let pointer = self.b.fresh();
            carried.push(Carry { name: pointer, init, ty: Type::Pointer });
            addresses.carried.push(Carried { pointer, by: factor.wrapping_mul(step), of });
            addresses.found.push((group, Found::Pointer(pointer)));
        }
        Ok(addresses)
    }

    /// The pointers that a loop carries to its next iteration.
    pub(super) fn next_pointers(&mut self, addresses: &Addresses) -> Vec<(code::Value, Type)> {
        let next = |&Carried { pointer, by, of }: &Carried| {
            let index = Index::Number(by);
            (self.b.op(Op::Element { pointer, index, of }), Type::Pointer)
        };
        addresses.carried.iter().map(next).collect()
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
