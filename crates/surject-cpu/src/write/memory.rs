//! Memory: what makes it, reads it and writes it.

use super::{Condition, Done, KernelWriter, Writer, element, lanes_of, stored};
use surject_ir::{AccOp, DType, Scalar};
use surject_kernel::{Affine, Mem, Place, Space, Temporality, Type, Value};

/// The most bytes of memory that a function has on its stack.
const MOST_STACK: i64 = 1 << 18;

/// How the lanes of an access lie.
enum Lie {
    /// One after the other, from this address on.
    Run(String),
    /// All at this address.
    Same(String),
    /// At these addresses.
    Each(String),
}

impl Writer<'_> {
    pub(super) fn alloc(&mut self, mem: Mem) -> Done<()> {
        let memory = self.kernel.mem(mem).clone();
        if memory.space == Space::Shared {
            return Err("shared memory, which blocks of a GPU have".into());
        }
        let Some(elements) = memory.elements.as_constant() else {
            return Err(format!("`{}` has a size that is known at run time only", memory.name));
        };
        let bytes = elements.saturating_mul(memory.dtype.size() as i64);
        if bytes > MOST_STACK {
            return Err(format!("`{}` has {bytes} bytes; a function has at most {MOST_STACK}", memory.name));
        }
        let name = self.alloca(elements.max(1), stored(memory.dtype), 64);
        self.memory.insert(mem, name);
        Ok(())
    }

    fn pointer(&self, mem: Mem) -> Done<String> {
        let missing = || format!("`{}` does not exist", self.kernel.mem(mem).name);
        self.memory.get(&mem).cloned().ok_or_else(missing)
    }

    /// The address of an element.
    fn address(&mut self, mem: Mem, at: &str) -> Done<String> {
        let (pointer, ty) = (self.pointer(mem)?, stored(self.kernel.mem(mem).dtype));
        Ok(self.op(&format!("llvm.getelementptr {pointer}[{at}] : (!llvm.ptr, i64) -> !llvm.ptr, {ty}")))
    }

    /// Where the elements of a place lie.
    fn lie(&mut self, place: &Place, lanes: usize) -> Done<Lie> {
        let own = place.offset.map(|o| self.ty(o)).filter(|ty| lanes > 1 && ty.lanes > 1);
        let Some(own) = own else {
            let mut at = self.affine(&place.at, 0)?;
            if let Some(offset) = place.offset {
                let (name, ty) = (self.name(offset)?, self.ty(offset));
                let offset = self.converted(&name, ty, DType::I64)?;
                at = self.op(&format!("arith.addi {at}, {offset} : i64"));
            }
            return match place.at.lane {
                _ if lanes == 1 => Ok(Lie::Run(self.address(place.mem, &at)?)),
                1 => Ok(Lie::Run(self.address(place.mem, &at)?)),
                0 => Ok(Lie::Same(self.address(place.mem, &at)?)),
                by => {
                    let (all, steps) = (lanes_of("i64", lanes), Affine { lane: by, ..Affine::default() });
                    let (at, steps) = (self.broadcast(&at, "i64", lanes), self.affine_lanes(&steps, lanes)?);
                    let at = self.op(&format!("arith.addi {at}, {steps} : {all}"));
                    Ok(Lie::Each(self.addresses(place.mem, &at, lanes)?))
                }
            };
        };
        let at = self.affine_lanes(&place.at, lanes)?;
        let name = place.offset.map(|o| self.name(o)).transpose()?.unwrap_or_default();
        let offsets = self.converted(&name, own, DType::I64)?;
        let at = self.op(&format!("arith.addi {at}, {offsets} : {}", lanes_of("i64", lanes)));
        Ok(Lie::Each(self.addresses(place.mem, &at, lanes)?))
    }

    fn addresses(&mut self, mem: Mem, at: &str, lanes: usize) -> Done<String> {
        let (pointer, ty) = (self.pointer(mem)?, stored(self.kernel.mem(mem).dtype));
        Ok(self.op(&format!(
            "llvm.getelementptr {pointer}[{at}] : (!llvm.ptr, vector<{lanes}xi64>) -> vector<{lanes}x!llvm.ptr>, {ty}"
        )))
    }

    /// Which lanes of a place have an element?
    fn exist(&mut self, place: &Place, lanes: usize) -> Done<Condition> {
        let guards = self.guards(&place.guards, lanes)?;
        let Some(mask) = place.mask else { return Ok(guards) };
        let (name, own) = (self.name(mask)?, self.ty(mask).lanes);
        let mask = if own == 1 { Condition::Uniform(name) } else { Condition::Lanes(name) };
        Ok(self.both(guards, mask, lanes))
    }

    /// Attributes of an access to elements one after the other.
    fn attributes(&self, mem: Mem, temporality: Temporality) -> String {
        let size = self.kernel.mem(mem).dtype.size();
        let nontemporal = if temporality == Temporality::NonTemporal { ", nontemporal" } else { "" };
        format!("{{alignment = {size} : i64{nontemporal}}}")
    }

    pub(super) fn load(
        &mut self,
        place: &Place,
        ty: Type,
        fill: Scalar,
        temporality: Temporality,
    ) -> Done<String> {
        let (dtype, lanes) = (self.kernel.mem(place.mem).dtype, ty.lanes);
        let attributes = self.attributes(place.mem, temporality);
        let (one, all, size) = (stored(dtype), lanes_of(stored(dtype), lanes), dtype.size());
        let condition = self.exist(place, lanes)?;
        let read = |w: &mut Self| -> Done<String> {
            Ok(match w.lie(place, lanes)? {
                Lie::Run(from) => w.op(&format!("llvm.load {from} {attributes} : !llvm.ptr -> {all}")),
                Lie::Same(from) => {
                    let value = w.op(&format!("llvm.load {from} {attributes} : !llvm.ptr -> {one}"));
                    w.broadcast(&value, one, lanes)
                }
                Lie::Each(from) => {
                    let mask = w.truths(Condition::Always, lanes);
                    let other = w.filled(fill, lanes);
                    w.gather(&from, &mask, &other, (one, size, lanes))
                }
            })
        };
        let raw = match condition {
            Condition::Always => read(self)?,
            Condition::Uniform(holds) => {
                let other = self.filled(fill, lanes);
                self.either(&holds, &all, read, |_| Ok(other))?
            }
            Condition::Lanes(mask) => {
                let other = self.filled(fill, lanes);
                let truths = lanes_of("i1", lanes);
                match self.lie(place, lanes)? {
                    Lie::Run(from) => self.op(&format!(
                        "llvm.intr.masked.load {from}, {mask}, {other} {{alignment = {size} : i32}} : \
                         (!llvm.ptr, {truths}, {all}) -> {all}"
                    )),
                    Lie::Same(from) => {
                        let any = self.op(&format!("vector.reduction <or>, {mask} : {truths} into i1"));
                        let none = self.filled(fill, 1);
                        let load = |w: &mut Self| {
                            Ok(w.op(&format!("llvm.load {from} {attributes} : !llvm.ptr -> {one}")))
                        };
                        let value = self.either(&any, one, load, |_| Ok(none))?;
                        let value = self.broadcast(&value, one, lanes);
                        self.op(&format!("arith.select {mask}, {value}, {other} : {truths}, {all}"))
                    }
                    Lie::Each(from) => self.gather(&from, &mask, &other, (one, size, lanes)),
                }
            }
        };
        Ok(self.register_form(&raw, dtype, lanes))
    }

    /// What lanes without an element have, as it lies in memory.
    fn filled(&mut self, fill: Scalar, lanes: usize) -> String {
        let literal = self.scalar(fill);
        let raw = self.memory_form(&literal, fill.dtype(), 1);
        self.broadcast(&raw, stored(fill.dtype()), lanes)
    }

    fn gather(
        &mut self,
        from: &str,
        mask: &str,
        other: &str,
        (one, size, lanes): (&str, usize, usize),
    ) -> String {
        let (all, truths) = (lanes_of(one, lanes), lanes_of("i1", lanes));
        self.op(&format!(
            "llvm.intr.masked.gather {from}, {mask}, {other} {{alignment = {size} : i32}} : \
             (vector<{lanes}x!llvm.ptr>, {truths}, {all}) -> {all}"
        ))
    }

    fn register_form(&mut self, raw: &str, dtype: DType, lanes: usize) -> String {
        match dtype {
            DType::I1 => self.op(&format!(
                "arith.trunci {raw} : {} to {}",
                lanes_of("i8", lanes),
                lanes_of("i1", lanes)
            )),
            _ => raw.to_string(),
        }
    }

    fn memory_form(&mut self, value: &str, dtype: DType, lanes: usize) -> String {
        match dtype {
            DType::I1 => self.op(&format!(
                "arith.extui {value} : {} to {}",
                lanes_of("i1", lanes),
                lanes_of("i8", lanes)
            )),
            _ => value.to_string(),
        }
    }

    pub(super) fn store(&mut self, place: &Place, value: Value, temporality: Temporality) -> Done<()> {
        let (dtype, lanes) = (self.kernel.mem(place.mem).dtype, self.ty(value).lanes);
        let attributes = self.attributes(place.mem, temporality);
        let (all, size) = (lanes_of(stored(dtype), lanes), dtype.size());
        let condition = self.exist(place, lanes)?;
        let name = self.name(value)?;
        let raw = self.memory_form(&name, dtype, lanes);
        let truths = lanes_of("i1", lanes);
        let put = |w: &mut Self, mask: Option<String>| -> Done<()> {
            let to = match (w.lie(place, lanes)?, &mask) {
                (Lie::Run(to), None) => {
                    w.line(&format!("llvm.store {raw}, {to} {attributes} : {all}, !llvm.ptr"));
                    return Ok(());
                }
                (Lie::Run(to), Some(mask)) => {
                    w.line(&format!(
                        "llvm.intr.masked.store {raw}, {to}, {mask} {{alignment = {size} : i32}} : {all}, {truths} into !llvm.ptr"
                    ));
                    return Ok(());
                }
                (Lie::Each(to), _) => to,
                // The last lane wins, as it does where lanes are stored one after the other.
                (Lie::Same(to), _) => {
                    let whole = format!("vector<{lanes}x!llvm.ptr>");
                    w.op(&format!("vector.broadcast {to} : !llvm.ptr to {whole}"))
                }
            };
            let mask = match mask {
                Some(mask) => mask,
                None => w.truths(Condition::Always, lanes),
            };
            w.line(&format!(
                "llvm.intr.masked.scatter {raw}, {to}, {mask} {{alignment = {size} : i32}} : \
                 {all}, {truths} into vector<{lanes}x!llvm.ptr>"
            ));
            Ok(())
        };
        match condition {
            Condition::Always => put(self, None),
            Condition::Uniform(holds) => self.only_if(Some(holds), |w| put(w, None)),
            Condition::Lanes(mask) => put(self, Some(mask)),
        }
    }

    pub(super) fn atomic(&mut self, op: AccOp, place: &Place, value: Value) -> Done<()> {
        let (dtype, lanes) = (self.kernel.mem(place.mem).dtype, self.ty(value).lanes);
        if lanes != 1 {
            return Err("an atomic operation on lanes".into());
        }
        let float = matches!(dtype, DType::F32 | DType::F64);
        let integer = !dtype.is_float() && dtype != DType::I1;
        let signed = dtype.is_signed_int();
        let kind = match op {
            AccOp::Add if float => "fadd",
            AccOp::Add if integer => "add",
            AccOp::Max if integer && signed => "max",
            AccOp::Max if integer => "umax",
            AccOp::Min if integer && signed => "min",
            AccOp::Min if integer => "umin",
            AccOp::And if integer => "_and",
            AccOp::Or if integer => "_or",
            _ => return Err(format!("an atomic `{op}` of {dtype}")),
        };
        let (name, ty, condition) = (self.name(value)?, element(dtype), self.exist(place, 1)?);
        let put = |w: &mut Self| -> Done<()> {
            let Lie::Run(to) = w.lie(place, 1)? else { return Err("an atomic operation on lanes".into()) };
            w.op(&format!("llvm.atomicrmw {kind} {to}, {name} monotonic : !llvm.ptr, {ty}"));
            Ok(())
        };
        match condition {
            Condition::Always => put(self),
            Condition::Uniform(holds) => self.only_if(Some(holds), put),
            Condition::Lanes(_) => Err("an atomic operation on lanes".into()),
        }
    }

    pub(super) fn prefetch(&mut self, mem: Mem, at: &Affine, write: bool) -> Done<()> {
        let at = self.affine(at, 0)?;
        let (from, write) = (self.address(mem, &at)?, i32::from(write));
        self.line(&format!(
            "\"llvm.intr.prefetch\"({from}) <{{cache = 1 : i32, hint = 3 : i32, rw = {write} : i32}}> : (!llvm.ptr) -> ()"
        ));
        Ok(())
    }
}
