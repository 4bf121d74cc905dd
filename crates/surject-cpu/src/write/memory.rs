//! Memory: what makes it, reads it and writes it.

use super::{Condition, Done, Writer, element, of, stored};
use surject_codegen::code::{self, Block, Elem, Index, Op, Prefetched, Type};
use surject_ir::{AccOp, DType, Scalar};
use surject_kernel::{Affine, Mem, Place, Space, Temporality, Value, Wanted};

/// The most bytes that a memory has on the stack, and those that all of a kernel have.
const MOST_STACK: i64 = 1 << 19;
const MOST_STACK_OF_ALL: i64 = surject_runtime::stack::KERNEL as i64;

/// How soon something is asked for: at once, or into the second cache.
const AT_ONCE: u8 = 3;
const SOON: u8 = 2;

/// The bytes of a line of the caches, and the least that a processor stores past them at once.
const LINE: usize = 64;
const LEAST_PAST: usize = 16;

/// How the lanes of an access lie.
enum Lie {
    /// One after the other, from this address on.
    Run(code::Value),
    /// One before the other, the last one at this address.
    Back(code::Value),
    /// All at this address.
    Same(code::Value),
    /// At these addresses.
    Each(code::Value),
}

/// Memory on the stack.
#[derive(Clone, Copy, Debug)]
struct Piece {
    pointer: code::Value,
    bytes: i64,
}

/// All memory of a kernel on the stack. Parts of a loop that is cut have the same panels one after the other.
#[derive(Debug, Default)]
pub(super) struct Stack {
    bytes: i64,
    /// That of scopes that are open, and that of scopes that have ended.
    live: Vec<Piece>,
    free: Vec<Piece>,
}

impl Stack {
    /// The smallest piece that is free and large enough; it is in use again.
    fn reuse(&mut self, bytes: i64) -> Option<code::Value> {
        let fitting = self.free.iter().enumerate().filter(|(_, piece)| piece.bytes >= bytes);
        let (at, _) = fitting.min_by_key(|(_, piece)| piece.bytes)?;
        let piece = self.free.swap_remove(at);
        self.live.push(piece);
        Some(piece.pointer)
    }
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
            return Err(format!("`{}` has {bytes} bytes; a memory has at most {MOST_STACK}", memory.name));
        }
        if let Some(pointer) = self.stack.reuse(bytes) {
            self.memory.insert(mem, pointer);
            return Ok(());
        }
        let all = self.stack.bytes + bytes;
        if all > MOST_STACK_OF_ALL {
            return Err(format!(
                "`{}` and the memory before it have {all} bytes; a kernel has at most {MOST_STACK_OF_ALL}",
                memory.name
            ));
        }
        let count = self.b.int(elements.max(1));
        let of = stored(memory.dtype).ty(1);
        let pointer = self.b.at_first(Op::Alloca { count, of, alignment: Some(64) });
        self.stack.bytes = all;
        self.stack.live.push(Piece { pointer, bytes });
        self.memory.insert(mem, pointer);
        Ok(())
    }

    /// Writes what is done in a scope, whose memory others have afterwards.
    pub(super) fn scope<T>(&mut self, f: impl FnOnce(&mut Self) -> Done<T>) -> Done<T> {
        let outside = self.stack.live.len();
        let done = f(self)?;
        let ended = self.stack.live.drain(outside..);
        self.stack.free.extend(ended);
        Ok(done)
    }

    /// The address of an element.
    pub(super) fn address(&mut self, mem: Mem, index: Index) -> Done<code::Value> {
        let memory = self.kernel.mem(mem);
        let pointer = self.memory.get(&mem).copied();
        let pointer = pointer.ok_or_else(|| format!("`{}` does not exist", memory.name))?;
        Ok(self.b.op(Op::Element { pointer, index, of: stored(memory.dtype).ty(1) }))
    }

    /// Where the elements of a place lie.
    fn lie(&mut self, place: &Place, lanes: usize) -> Done<Lie> {
        let all = Elem::I64.ty(lanes);
        if let Some(offset) = place.offset.filter(|&o| lanes > 1 && self.ty(o).lanes > 1) {
            let at = self.affine_lanes(&place.at, lanes)?;
            let (offsets, own) = (self.value(offset)?, self.ty(offset));
            let offsets = self.converted(offsets, own, DType::I64)?;
            let at = self.b.op(Op::same("arith.addi", [at, offsets], all));
            return Ok(Lie::Each(self.address(place.mem, Index::Each(at, lanes))?));
        }
        let by = place.at.lane;
        if lanes > 1 && !(-1..=1).contains(&by) {
            // Lanes differ by constants: they are an index of their own, behind an address that loops advance.
            let pointer = match place.offset {
                None => self.first(place.mem, &place.at, 0)?,
                Some(_) => {
                    let at = self.beginning(place)?;
                    self.address(place.mem, Index::At(at))?
                }
            };
            let steps = self.affine_lanes(&Affine::lane(by), lanes)?;
            let of = stored(self.kernel.mem(place.mem).dtype).ty(1);
            return Ok(Lie::Each(self.b.op(Op::Element { pointer, index: Index::Each(steps, lanes), of })));
        }
        let further = if lanes > 1 && by == -1 { 1 - lanes as i64 } else { 0 };
        let from = match place.offset {
            None => self.first(place.mem, &place.at, further)?,
            Some(_) => {
                let mut at = self.beginning(place)?;
                if further != 0 {
                    let further = self.b.int(further);
                    at = self.b.op(Op::same("arith.addi", [at, further], Type::I64));
                }
                self.address(place.mem, Index::At(at))?
            }
        };
        Ok(match by {
            by if lanes == 1 || by == 1 => Lie::Run(from),
            0 => Lie::Same(from),
            _ => Lie::Back(from),
        })
    }

    /// Elements that lanes choose by offsets of their own, which are loaded one by one: on the machines at hand that is faster than
    /// their instruction for it (a Zen 4 takes 0.45 of the time).
    fn chosen(&mut self, place: &Place, ty: surject_kernel::Type) -> Done<Option<code::Value>> {
        let lanes = ty.lanes;
        let own = |w: &Self, o: Value| lanes > 1 && w.ty(o).lanes == lanes && w.ty(o).dtype.size() >= 4;
        let Some(offset) = place.offset.filter(|&o| own(self, o) && place.at.lane == 0) else {
            return Ok(None);
        };
        let (dtype, from) = (self.kernel.mem(place.mem).dtype, self.ty(offset).dtype);
        let (one, all, size) = (stored(dtype).ty(1), stored(dtype).ty(lanes), dtype.size());
        let (first, offsets) = (self.first(place.mem, &place.at, 0)?, self.value(offset)?);
        let mut loaded = Vec::with_capacity(lanes);
        for index in self.each_lane(offsets, from, lanes) {
            let pointer = self.b.op(Op::Element { pointer: first, index: Index::At(index), of: one });
            let temporality = Temporality::Normal;
            loaded.push(self.b.op(Op::Load { pointer, ty: one, alignment: Some(size), temporality }));
        }
        Ok(Some(self.b.op(Op::FromElements(loaded, all))))
    }

    /// The lanes of a vector of integers of 32 or 64 bits, as `i64`.
    fn each_lane(&mut self, value: code::Value, dtype: DType, lanes: usize) -> Vec<code::Value> {
        if dtype.size() == 8 || lanes < 4 {
            let ty = element(dtype).ty(lanes);
            let wide = if dtype.is_signed_int() { "arith.extsi" } else { "arith.extui" };
            let mut one = |lane| {
                let index = self.b.op(Op::Extract { vector: value, lane, ty });
                match dtype.size() {
                    8 => index,
                    _ => self.b.op(Op::cast(wide, index, element(dtype).ty(1), Type::I64)),
                }
            };
            return (0..lanes).map(&mut one).collect();
        }
        // Two of them leave a vector at once.
        let (from, to, half) = (Elem::I32.ty(lanes), Elem::I64.ty(lanes / 2), Elem::I32.ty(1));
        let pairs = self.b.op(Op::cast("vector.bitcast", value, from, to));
        let bits = self.b.int(32);
        let (narrow, wide) = match dtype.is_signed_int() {
            true => ("arith.extsi", "arith.shrsi"),
            false => ("arith.extui", "arith.shrui"),
        };
        let mut all = Vec::with_capacity(lanes);
        for lane in 0..lanes / 2 {
            let pair = self.b.op(Op::Extract { vector: pairs, lane, ty: to });
            let low = self.b.op(Op::cast("arith.trunci", pair, Type::I64, half));
            all.push(self.b.op(Op::cast(narrow, low, half, Type::I64)));
            all.push(self.b.op(Op::same(wide, [pair, bits], Type::I64)));
        }
        all
    }

    /// The number of the element that the first lane has.
    fn beginning(&mut self, place: &Place) -> Done<code::Value> {
        let at = self.affine(&place.at)?;
        let Some(offset) = place.offset else { return Ok(at) };
        let (value, own) = (self.value(offset)?, self.ty(offset));
        let offset = self.converted(value, own, DType::I64)?;
        Ok(self.b.op(Op::same("arith.addi", [at, offset], Type::I64)))
    }

    /// The lanes of a vector, the last one first.
    fn reversed(&mut self, value: code::Value, ty: Type, lanes: usize) -> code::Value {
        let order = (0..lanes as i64).rev().collect();
        self.b.op(Op::Shuffle { sides: [value, value], order, ty })
    }

    /// Which lanes of a place have an element?
    fn exist(&mut self, place: &Place, lanes: usize) -> Done<Condition> {
        let guards = self.guards(&place.guards, lanes)?;
        let Some(mask) = place.mask else { return Ok(guards) };
        let (value, own) = (self.value(mask)?, self.ty(mask).lanes);
        let mask = if own == 1 { Condition::Uniform(value) } else { Condition::Lanes(value) };
        Ok(self.both(guards, mask, lanes))
    }

    pub(super) fn load(
        &mut self,
        place: &Place,
        ty: surject_kernel::Type,
        fill: Scalar,
        temporality: Temporality,
    ) -> Done<code::Value> {
        let (dtype, lanes) = (self.kernel.mem(place.mem).dtype, ty.lanes);
        let (one, all, size) = (stored(dtype).ty(1), stored(dtype).ty(lanes), dtype.size());
        let plain = |pointer, ty| Op::Load { pointer, ty, alignment: Some(size), temporality };
        let condition = match self.exist(place, lanes)? {
            // A mask costs nothing where processors have it, and a branch keeps loads from moving.
            Condition::Uniform(holds) if self.has_masks(lanes, size) && place.at.lane == 1 => {
                Condition::Lanes(self.broadcast(holds, Type::I1, lanes))
            }
            other => other,
        };
        let read = |w: &mut Self| -> Done<code::Value> {
            if let Some(value) = w.chosen(place, ty)? {
                return Ok(value);
            }
            Ok(match w.lie(place, lanes)? {
                Lie::Run(from) => w.b.op(plain(from, all)),
                Lie::Back(from) => {
                    let value = w.b.op(plain(from, all));
                    w.reversed(value, all, lanes)
                }
                Lie::Same(from) => {
                    let value = w.b.op(plain(from, one));
                    w.broadcast(value, one, lanes)
                }
                Lie::Each(pointers) => {
                    let mask = w.truths(Condition::Always, lanes);
                    let other = w.filled(fill, lanes);
                    w.b.op(Op::Gather { pointers, mask, other, ty: all, alignment: size })
                }
            })
        };
        let raw = match condition {
            Condition::Always => read(self)?,
            Condition::Uniform(holds) => {
                let other = self.filled(fill, lanes);
                self.either(holds, all, read, other)?
            }
            Condition::Lanes(mask) => {
                let other = self.filled(fill, lanes);
                match self.lie(place, lanes)? {
                    Lie::Run(pointer) => {
                        self.b.op(Op::MaskedLoad { pointer, mask, other, ty: all, alignment: size })
                    }
                    Lie::Back(pointer) => {
                        let mask = self.reversed(mask, Elem::I1.ty(lanes), lanes);
                        let value =
                            self.b.op(Op::MaskedLoad { pointer, mask, other, ty: all, alignment: size });
                        self.reversed(value, all, lanes)
                    }
                    Lie::Same(from) => {
                        let truths = Elem::I1.ty(lanes);
                        let any = self.b.op(Op::Reduction { kind: "or", vector: mask, ty: truths });
                        let none = self.filled(fill, 1);
                        let value = self.either(any, one, |w| Ok(w.b.op(plain(from, one))), none)?;
                        let value = self.broadcast(value, one, lanes);
                        let condition = (mask, truths);
                        self.b.op(Op::Select { condition, values: [value, other], ty: all })
                    }
                    Lie::Each(pointers) => {
                        self.b.op(Op::Gather { pointers, mask, other, ty: all, alignment: size })
                    }
                }
            }
        };
        Ok(match dtype {
            DType::I1 => self.b.op(Op::cast("arith.trunci", raw, all, Elem::I1.ty(lanes))),
            _ => raw,
        })
    }

    /// Are vectors of so many elements of these bytes loaded by a mask in one instruction?
    fn has_masks(&self, lanes: usize, size: usize) -> bool {
        let bytes = self.cpu.vector_bytes;
        lanes > 1 && lanes * size <= bytes && bytes >= 32 && matches!(size, 4 | 8)
    }

    /// What lanes without an element have, as it lies in memory.
    fn filled(&mut self, fill: Scalar, lanes: usize) -> code::Value {
        self.b.splat(stored(fill.dtype()), fill.bits() as u64, lanes)
    }

    pub(super) fn store(&mut self, place: &Place, value: Value, temporality: Temporality) -> Done<()> {
        let (dtype, own) = (self.kernel.mem(place.mem).dtype, self.ty(value));
        let (lanes, size) = (own.lanes, dtype.size());
        let ty = stored(dtype).ty(lanes);
        let condition = self.exist(place, lanes)?;
        let mut value = self.value(value)?;
        if dtype == DType::I1 {
            value = self.b.op(Op::cast("arith.extui", value, of(own), ty));
        }
        let put = |w: &mut Self, mask: Option<code::Value>| -> Done<()> {
            let pointers = match (w.lie(place, lanes)?, mask) {
                (Lie::Run(pointer), None) if w.goes_past(temporality, lanes * size) => {
                    w.store_past((value, pointer), ty, (lanes * size, size));
                    return Ok(());
                }
                (Lie::Run(pointer), None) => {
                    w.b.effect(Op::Store { value, pointer, ty, alignment: Some(size), temporality });
                    return Ok(());
                }
                (Lie::Run(pointer), Some(mask)) => {
                    w.b.effect(Op::MaskedStore { value, pointer, mask, ty, alignment: size });
                    return Ok(());
                }
                (Lie::Back(pointer), mask) => {
                    let value = w.reversed(value, ty, lanes);
                    match mask {
                        None => {
                            w.b.effect(Op::Store { value, pointer, ty, alignment: Some(size), temporality })
                        }
                        Some(mask) => {
                            let mask = w.reversed(mask, Elem::I1.ty(lanes), lanes);
                            w.b.effect(Op::MaskedStore { value, pointer, mask, ty, alignment: size });
                        }
                    }
                    return Ok(());
                }
                (Lie::Each(pointers), _) => pointers,
                // The last lane wins, as it does where lanes are stored one after the other.
                (Lie::Same(pointer), _) => w.broadcast(pointer, Type::Pointer, lanes),
            };
            let mask = mask.unwrap_or_else(|| w.truths(Condition::Always, lanes));
            w.b.effect(Op::Scatter { value, pointers, mask, ty, alignment: size });
            Ok(())
        };
        match condition {
            Condition::Always => put(self, None),
            Condition::Uniform(holds) => self.only_if(holds, |w| put(w, None)),
            Condition::Lanes(mask) => put(self, Some(mask)),
        }
    }

    /// Does a vector of so many bytes go past the caches, where it does not lie across lines?
    fn goes_past(&self, temporality: Temporality, bytes: usize) -> bool {
        let fills = bytes >= LEAST_PAST && bytes.is_power_of_two();
        self.cpu.has_non_temporal_stores && temporality == Temporality::NonTemporal && fills
    }

    /// Stores a vector of so many bytes, in elements of so many, past the caches if it does not lie across lines.
    fn store_past(
        &mut self,
        (value, pointer): (code::Value, code::Value),
        ty: Type,
        (bytes, size): (usize, usize),
    ) {
        let line = bytes.min(LINE);
        let address = self.b.op(Op::cast("llvm.ptrtoint", pointer, Type::Pointer, Type::I64));
        let [last, zero] = [line as i64 - 1, 0].map(|n| self.b.int(n));
        let within = self.b.op(Op::same("arith.andi", [address, last], Type::I64));
        let sides = [within, zero];
        let whole = Op::Compare { name: "arith.cmpi", predicate: "eq", sides, ty: Type::I64 };
        let condition = self.b.op(whole);
        let store = |temporality, alignment| Op::Store {
            value,
            pointer,
            ty,
            alignment: Some(alignment),
            temporality,
        };
        let [then, otherwise] =
            [store(Temporality::NonTemporal, line), store(Temporality::Normal, size)].map(Block::of);
        self.b.effect(Op::If { condition, then, otherwise });
        self.is_past = true;
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
        let (value, ty, condition) = (self.value(value)?, element(dtype).ty(1), self.exist(place, 1)?);
        let put = |w: &mut Self| -> Done<()> {
            let Lie::Run(pointer) = w.lie(place, 1)? else {
                return Err("an atomic operation on lanes".into());
            };
            w.b.op(Op::AtomicRmw { kind, pointer, value, ty });
            Ok(())
        };
        match condition {
            Condition::Always => put(self),
            Condition::Uniform(holds) => self.only_if(holds, put),
            Condition::Lanes(_) => Err("an atomic operation on lanes".into()),
        }
    }

    pub(super) fn prefetch(&mut self, mem: Mem, at: &Affine, wanted: Wanted) -> Done<()> {
        let from = self.first(mem, at, 0)?;
        let asked = match wanted {
            Wanted::Read => Prefetched::Read(AT_ONCE),
            Wanted::Soon => Prefetched::Read(SOON),
            Wanted::Write => Prefetched::Written(AT_ONCE),
        };
        self.b.effect(Op::Prefetch(from, asked));
        Ok(())
    }
}
