//! Memory: what makes it, reads it and writes it.

use super::{Agent, Done, KernelWriter, Pointer, Writer, element, gcd, lanes_of, stored};
use std::fmt::Write as _;
use surject_ir::{AccOp, DType, Scalar};
use surject_kernel::{Access, Affine, Guard, Mem, Place, Space, Temporality, Type, Value};

/// The bytes that a thread accesses at once.
const WIDEST: i64 = 16;

/// How the lanes of an access lie.
enum Shape {
    /// One after the other, where the condition holds for all of them or for none.
    Run(Option<String>),
    /// One after the other where the condition holds, else each on its own.
    RunOrEach(String),
    /// Each on its own.
    Each,
}

impl Writer<'_> {
    pub(super) fn alloc(&mut self, mem: Mem) -> Done<()> {
        if self.alloc_fragments(mem)? {
            return Ok(());
        }
        let memory = self.kernel.mem(mem).clone();
        let Some(elements) = memory.elements.as_constant() else {
            return Err(format!("`{}` has a size that is known at run time only", memory.name));
        };
        let ty = stored(memory.dtype);
        let bytes = elements.saturating_mul(memory.dtype.size() as i64);
        let pointer = match memory.space {
            Space::Global | Space::Worker => return Err(format!("{} memory", memory.space)),
            Space::Register | Space::Stack => {
                Pointer { name: self.alloca(elements.max(1), ty, 16), space: 0 }
            }
            Space::Shared if self.dynamic => {
                let align = self.alignment(mem);
                self.shared = (self.shared + align - 1) / align * align;
                let at = self.shared;
                self.shared += (bytes + WIDEST - 1) / WIDEST * WIDEST;
                let (kernel, offset) = (self.kernel.name.clone(), self.index(at));
                let base = self.op(&format!("llvm.mlir.addressof @{kernel}_shared : !llvm.ptr<3>"));
                let name = self.op(&format!(
                    "llvm.getelementptr inbounds {base}[{offset}] : (!llvm.ptr<3>, i64) -> !llvm.ptr<3>, i8"
                ));
                Pointer { name, space: 3 }
            }
            Space::Shared => {
                // No kernel has a name like this.
                let align = self.alignment(mem);
                let symbol = format!("\"{}${}\"", self.kernel.name, memory.name);
                let _ = writeln!(
                    self.globals,
                    "    llvm.mlir.global internal @{symbol}() {{addr_space = 3 : i32, alignment = {align} : i64}} : \
                     !llvm.array<{} x {ty}>",
                    elements.max(1)
                );
                let name = self.op(&format!("llvm.mlir.addressof @{symbol} : !llvm.ptr<3>"));
                Pointer { name, space: 3 }
            }
        };
        self.memory.insert(mem, pointer);
        Ok(())
    }

    /// Where shared memory begins: at multiples of so many bytes.
    fn alignment(&self, mem: Mem) -> i64 {
        match () {
            () if self.layouts.contains_key(&mem) => super::group::LINES,
            () if self.has_boxes(mem) => super::boxes::ALIGNMENT,
            () => WIDEST,
        }
    }

    fn pointer(&self, mem: Mem) -> Done<Pointer> {
        self.memory
            .get(&mem)
            .cloned()
            .ok_or_else(|| format!("`{}` does not exist", self.kernel.mem(mem).name))
    }

    /// The address of an element.
    pub(super) fn address(&mut self, mem: Mem, at: &str) -> Done<String> {
        let at = &self.laid_out(mem, at);
        let (pointer, ty) = (self.pointer(mem)?, stored(self.kernel.mem(mem).dtype));
        let (name, pointer) = (&pointer.name, pointer.ty());
        Ok(self
            .op(&format!("llvm.getelementptr inbounds {name}[{at}] : ({pointer}, i64) -> {pointer}, {ty}")))
    }

    /// The number of the element of a lane.
    fn element_at(&mut self, place: &Place, lane: usize, lanes: usize) -> Done<String> {
        let at = self.affine(&place.at, lane)?;
        let Some(offset) = place.offset else { return Ok(at) };
        let (name, ty) = (self.name(offset)?, self.ty(offset));
        let own = if ty.lanes == lanes { self.lane(&name, ty, lane) } else { name };
        let own = self.cast(&own, Type::scalar(ty.dtype), DType::I64);
        Ok(self.op(&format!("arith.addi {at}, {own} : i64")))
    }

    /// Whether a lane has an element; `None`: it has.
    fn has_element(&mut self, place: &Place, lane: usize, lanes: usize) -> Done<Option<String>> {
        let holds = self.guards(&place.guards, lane)?;
        let Some(mask) = place.mask else { return Ok(holds) };
        let (name, ty) = (self.name(mask)?, Type::vector(DType::I1, lanes));
        let own = self.lane(&name, ty, lane);
        Ok(Some(self.and(holds, own)))
    }

    fn shape(&mut self, place: &Place, lanes: usize) -> Done<Shape> {
        let scattered = place.offset.is_some_and(|o| self.ty(o).lanes > 1);
        if lanes == 1 {
            return Ok(Shape::Run(self.has_element(place, 0, 1)?));
        }
        if place.at.lane != 1 || place.mask.is_some() || scattered {
            return Ok(Shape::Each);
        }
        let first = self.guards(&place.guards, 0)?;
        if place.guards.iter().all(|g| g.expr.lane == 0 && g.bound.lane == 0) {
            return Ok(Shape::Run(first));
        }
        // Where bounds are multiples of the lanes, all lanes are on one side of them.
        let whole = |w: &Self, a: &Affine| gcd(w.divisor(a), lanes as i64) == lanes as i64;
        let together = |g: &Guard| {
            g.expr.lane == 1 && g.bound.lane == 0 && whole(self, &g.expr) && whole(self, &g.bound)
        };
        if place.guards.iter().all(together) {
            return Ok(Shape::Run(first));
        }
        // What holds of the first and of the last lane holds of those between: both sides are linear.
        let last = self.guards(&place.guards, lanes - 1)?;
        Ok(match (first, last) {
            (Some(first), Some(last)) => Shape::RunOrEach(self.and(Some(first), last)),
            _ => Shape::Each,
        })
    }

    /// How many lanes of a run one access takes: a power of two, and what is known of the address is a multiple of it.
    fn at_once(&self, place: &Place, lanes: usize) -> usize {
        let size = self.kernel.mem(place.mem).dtype.size() as i64;
        // Nothing is known of an offset.
        let aligned = if place.offset.is_some() { 1 } else { self.divisor(&place.at) };
        let fits = |w: &i64| w * size <= WIDEST && gcd(aligned, *w) == *w && lanes as i64 % w == 0;
        [16, 8, 4, 2].into_iter().find(fits).unwrap_or(1) as usize
    }

    /// Attributes of an access.
    fn attributes(&self, mem: Mem, lanes: usize, temporality: Temporality) -> String {
        let size = self.kernel.mem(mem).dtype.size() * lanes;
        let nontemporal = if temporality == Temporality::NonTemporal { ", nontemporal" } else { "" };
        format!("{{alignment = {size} : i64{nontemporal}}}")
    }

    fn load_run(&mut self, place: &Place, lanes: usize, temporality: Temporality) -> Done<String> {
        let (mem, dtype) = (place.mem, self.kernel.mem(place.mem).dtype);
        let (pointer, ty) = (self.pointer(mem)?.ty(), stored(dtype));
        let only_read = self.kernel.mem(mem).access == Access::Read;
        let invariant = if only_read { " invariant" } else { "" };
        let by = self.at_once(place, lanes);
        let mut parts = Vec::new();
        for first in (0..lanes).step_by(by) {
            let at = self.element_at(place, first, lanes)?;
            let address = self.address(mem, &at)?;
            let attributes = self.attributes(mem, by, temporality);
            let part = lanes_of(ty, by);
            let part = self.op(&format!("llvm.load {address}{invariant} {attributes} : {pointer} -> {part}"));
            if by == lanes {
                return Ok(self.loaded_value(part, dtype, lanes));
            }
            for lane in 0..by {
                parts.push(self.lane_of(&part, ty, by, lane));
            }
        }
        let whole = self.joined(&parts, ty);
        Ok(self.loaded_value(whole, dtype, lanes))
    }

    fn loaded_value(&mut self, value: String, dtype: DType, lanes: usize) -> String {
        if dtype != DType::I1 {
            return value;
        }
        self.op(&format!("arith.trunci {value} : {} to {}", lanes_of("i8", lanes), lanes_of("i1", lanes)))
    }

    fn stored_value(&mut self, value: &str, dtype: DType, lanes: usize) -> String {
        if dtype != DType::I1 {
            return value.to_string();
        }
        self.op(&format!("arith.extui {value} : {} to {}", lanes_of("i1", lanes), lanes_of("i8", lanes)))
    }

    pub(super) fn load(
        &mut self,
        place: &Place,
        ty: Type,
        fill: Scalar,
        temporality: Temporality,
    ) -> Done<String> {
        self.before_access(place.mem, false);
        let each = |w: &mut Self| -> Done<String> {
            let mut lanes = Vec::new();
            for lane in 0..ty.lanes {
                let condition = w.has_element(place, lane, ty.lanes)?;
                let one = lane_of(place, lane, ty.lanes);
                let load = |w: &mut Self| -> Done<String> {
                    let at = w.element_at(place, lane, ty.lanes)?;
                    w.load_one(&one, &at, temporality)
                };
                lanes.push(match condition {
                    None => load(w)?,
                    Some(condition) => {
                        let fill = w.scalar(fill);
                        w.either(&condition, element(ty.dtype), load, |_| Ok(fill))?
                    }
                });
            }
            Ok(w.joined(&lanes, element(ty.dtype)))
        };
        let t = Self::mlir(ty);
        match self.shape(place, ty.lanes)? {
            Shape::Run(None) => self.load_run(place, ty.lanes, temporality),
            Shape::Run(Some(condition)) => {
                let fill = self.pure(&surject_kernel::Op::Splat(fill), ty)?;
                let load = |w: &mut Self| w.load_run(place, ty.lanes, temporality);
                self.either(&condition, &t, load, |_| Ok(fill))
            }
            Shape::RunOrEach(condition) => {
                let load = |w: &mut Self| w.load_run(place, ty.lanes, temporality);
                self.either(&condition, &t, load, each)
            }
            Shape::Each => each(self),
        }
    }

    fn load_one(&mut self, place: &Place, at: &str, temporality: Temporality) -> Done<String> {
        let (mem, dtype) = (place.mem, self.kernel.mem(place.mem).dtype);
        let pointer = self.pointer(mem)?.ty();
        let invariant = if self.kernel.mem(mem).access == Access::Read { " invariant" } else { "" };
        let address = self.address(mem, at)?;
        let attributes = self.attributes(mem, 1, temporality);
        let value =
            self.op(&format!("llvm.load {address}{invariant} {attributes} : {pointer} -> {}", stored(dtype)));
        Ok(self.loaded_value(value, dtype, 1))
    }

    fn store_run(&mut self, place: &Place, value: &str, ty: Type, temporality: Temporality) -> Done<()> {
        let (mem, dtype) = (place.mem, ty.dtype);
        let (pointer, e) = (self.pointer(mem)?.ty(), stored(dtype));
        let value = self.stored_value(value, dtype, ty.lanes);
        let by = self.at_once(place, ty.lanes);
        for first in (0..ty.lanes).step_by(by) {
            let at = self.element_at(place, first, ty.lanes)?;
            let address = self.address(mem, &at)?;
            let attributes = self.attributes(mem, by, temporality);
            let part = if by == ty.lanes {
                value.clone()
            } else {
                let lanes: Vec<String> =
                    (first..first + by).map(|lane| self.lane_of(&value, e, ty.lanes, lane)).collect();
                self.joined(&lanes, e)
            };
            self.line(&format!("llvm.store {part}, {address} {attributes} : {}, {pointer}", lanes_of(e, by)));
        }
        Ok(())
    }

    pub(super) fn store(&mut self, place: &Place, value: Value, temporality: Temporality) -> Done<()> {
        self.before_access(place.mem, true);
        let (name, ty) = (self.name(value)?, self.ty(value));
        let once = self.once(place.mem);
        self.only_if(once, |w| {
            let each = |w: &mut Self| -> Done<()> {
                for lane in 0..ty.lanes {
                    let condition = w.has_element(place, lane, ty.lanes)?;
                    let own = w.lane(&name, ty, lane);
                    w.only_if(condition, |w| {
                        let at = w.element_at(place, lane, ty.lanes)?;
                        let address = w.address(place.mem, &at)?;
                        let own = w.stored_value(&own, ty.dtype, 1);
                        let pointer = w.pointer(place.mem)?.ty();
                        let attributes = w.attributes(place.mem, 1, temporality);
                        let e = stored(ty.dtype);
                        w.line(&format!("llvm.store {own}, {address} {attributes} : {e}, {pointer}"));
                        Ok(())
                    })?;
                }
                Ok(())
            };
            match w.shape(place, ty.lanes)? {
                Shape::Run(condition) => w.only_if(condition, |w| w.store_run(place, &name, ty, temporality)),
                Shape::RunOrEach(condition) => {
                    w.line(&format!("scf.if {condition} {{"));
                    w.inside(|w| w.store_run(place, &name, ty, temporality))?;
                    w.line("} else {");
                    w.inside(each)?;
                    w.line("}");
                    Ok(())
                }
                Shape::Each => each(w),
            }
        })
    }

    pub(super) fn atomic(&mut self, op: AccOp, place: &Place, value: Value) -> Done<()> {
        self.before_access(place.mem, true);
        let (name, ty) = (self.name(value)?, self.ty(value));
        if ty.dtype.size() < 4 {
            return Err(format!("an atomic operation on {}", ty.dtype));
        }
        let (float, signed) = (ty.dtype.is_float(), ty.dtype.is_signed_int());
        let instruction = match op {
            AccOp::Add if float => "fadd",
            AccOp::Add => "add",
            AccOp::Max if float => "fmaximum",
            AccOp::Min if float => "fminimum",
            AccOp::Max if signed => "max",
            AccOp::Max => "umax",
            AccOp::Min if signed => "min",
            AccOp::Min => "umin",
            AccOp::And => "_and",
            AccOp::Or => "_or",
            AccOp::Xor => "_xor",
            AccOp::Mul | AccOp::Set => return Err(format!("the atomic operation `{op}`")),
        };
        if float && op != AccOp::Add {
            return Err(format!("the atomic operation `{op}` on {}", ty.dtype));
        }
        let once = self.once(place.mem);
        self.only_if(once, |w| {
            for lane in 0..ty.lanes {
                let condition = w.has_element(place, lane, ty.lanes)?;
                let own = w.lane(&name, ty, lane);
                w.only_if(condition, |w| {
                    let at = w.element_at(place, lane, ty.lanes)?;
                    let address = w.address(place.mem, &at)?;
                    let pointer = w.pointer(place.mem)?.ty();
                    let e = element(ty.dtype);
                    w.op(&format!(
                        "llvm.atomicrmw {instruction} {address}, {own} syncscope(\"device\") monotonic : {pointer}, {e}"
                    ));
                    Ok(())
                })?;
            }
            Ok(())
        })
    }

    /// A copy in the background where the machine has one of these bytes; else one that is over at once.
    pub(super) fn async_copy(&mut self, from: &Place, to: &Place, elements: usize) -> Done<()> {
        self.before_access(from.mem, false);
        self.before_access(to.mem, true);
        let (source, target) = (self.kernel.mem(from.mem).clone(), self.kernel.mem(to.mem).clone());
        let size = source.dtype.size() as i64;
        let aligned = match (from.offset, to.offset) {
            (None, None) => gcd(self.divisor(&from.at), self.divisor(&to.at)),
            _ => 1,
        };
        let fits = |bytes: &i64| {
            let lanes = bytes / size;
            *bytes >= size && elements as i64 % lanes == 0 && gcd(aligned, lanes) == lanes
        };
        let bytes = match (source.space, target.space) {
            (Space::Global, Space::Shared) => [16, 8, 4].into_iter().find(fits),
            _ => None,
        };
        let once = self.once(to.mem);
        self.only_if(once, |w| {
            let exists = w.guards(&from.guards, 0)?;
            let also = w.guards(&to.guards, 0)?;
            let condition = match also {
                None => exists,
                Some(also) => Some(w.and(exists, also)),
            };
            w.only_if(condition, |w| {
                let lanes = bytes.map_or(1, |b| b / size) as usize;
                for first in (0..elements).step_by(lanes) {
                    let at_element = |place: &Place| Place {
                        at: place.at.plus(&Affine::from(first as i64), 1).unwrap_or_default(),
                        ..place.clone()
                    };
                    let (from, to) = (at_element(from), at_element(to));
                    let (source_at, target_at) = (w.element_at(&from, 0, 1)?, w.element_at(&to, 0, 1)?);
                    let Some(bytes) = bytes else {
                        let value = w.load_one(&from, &source_at, Temporality::Normal)?;
                        let value = w.stored_value(&value, source.dtype, 1);
                        let address = w.address(to.mem, &target_at)?;
                        let pointer = w.pointer(to.mem)?.ty();
                        let e = stored(source.dtype);
                        w.line(&format!("llvm.store {value}, {address} : {e}, {pointer}"));
                        continue;
                    };
                    let (source, target) = (w.address(from.mem, &source_at)?, w.address(to.mem, &target_at)?);
                    let cache = if bytes == 16 { "cg" } else { "ca" };
                    w.line(&format!(
                        "nvvm.cp.async.shared.global {target}, {source}, {bytes}, cache = {cache} : \
                         !llvm.ptr<3>, !llvm.ptr<1>"
                    ));
                }
                Ok(())
            })
        })
    }

    /// Waits for what others did to memory that several agents see.
    fn before_access(&mut self, mem: Mem, writes: bool) {
        let memory = self.kernel.mem(mem);
        let seen = matches!(memory.space, Space::Global | Space::Shared);
        if !seen || (memory.access == Access::Read && !writes) {
            return;
        }
        self.synchronise();
        self.pending = [true; 2];
    }

    /// Where every thread is here for an agent that writes once: which of them does. Memory of the agent is a copy in
    /// each thread.
    pub(super) fn once(&mut self, mem: Mem) -> Option<String> {
        if matches!(self.kernel.mem(mem).space, Space::Register | Space::Stack) || self.threads == 1 {
            return None;
        }
        let number = match self.agent {
            Agent::Thread { .. } => return None,
            Agent::Block => self.numbers[0].clone(),
            Agent::Warp => self.numbers[1].clone(),
        };
        let zero = self.index(0);
        Some(self.op(&format!("arith.cmpi eq, {number}, {zero} : i64")))
    }
}

/// One lane of a place.
fn lane_of(place: &Place, lane: usize, lanes: usize) -> Place {
    if lanes == 1 {
        return place.clone();
    }
    let at = Affine { lane: 0, ..place.at.clone() };
    let at = at.plus(&Affine::from(place.at.lane.saturating_mul(lane as i64)), 1).unwrap_or_default();
    Place { at, ..place.clone() }
}
