//! Instructions for which nobody waits.

use super::{Access, Block, Copy, Done};
use crate::arithmetic::{alu, compare, convert, product, signed};
use crate::code::{Alu, Instruction, Kind, Op, Operand, Overflow, Part, Rounding, Space, Ty};
use crate::memory::{Place, generic, place, specific};

/// The most operands that an operation reads.
const MOST: usize = 4;

impl Block<'_> {
    /// Runs an instruction for which nobody waits. It is long because it is flat: one arm an instruction.
    pub(super) fn step(&mut self, thread: usize, instruction: &Instruction) -> Done<()> {
        let operands = &instruction.operands;
        let operand = |i: usize| operands.get(i).ok_or_else(|| "an operand is missing".to_string());
        let target = || operand(0);
        match &instruction.op {
            Op::Alu(op, ty) => {
                let (args, count) = self.arguments(thread, operands)?;
                // Amounts have 32 bits whatever is shifted.
                let value = alu(*op, *ty, &args[..count])?;
                self.set(thread, target()?, value)
            }
            Op::Pair(op, ty) => {
                let (args, count) = self.arguments(thread, operands)?;
                let half = |by: u32| alu(*op, *ty, &args.map(|a| a >> by & ty.mask())[..count]);
                self.set(thread, target()?, half(ty.bits)? << ty.bits | half(0)?)
            }
            Op::Mixed(op, ty) => {
                let single = Ty::named("f32").ok_or("no f32")?;
                let (mut args, count) = self.arguments(thread, operands)?;
                for arg in &mut args[..count - 1] {
                    *arg = convert(*arg, *ty, single, Rounding::Nearest, Overflow::Wraps)?;
                }
                self.set(thread, target()?, alu(*op, single, &args[..count])?)
            }
            Op::Multiply(part, ty) => {
                let (a, b) = (self.value(thread, operand(1)?)?, self.value(thread, operand(2)?)?);
                self.set(thread, target()?, product(*part, *ty, a, b, 0))
            }
            Op::MultiplyAdd(part, ty) => {
                let (a, b) = (self.value(thread, operand(1)?)?, self.value(thread, operand(2)?)?);
                let c = self.value(thread, operand(3)?)?;
                if *part == Part::High {
                    return Err("the high part of a product and sum".into());
                }
                self.set(thread, target()?, product(*part, *ty, a, b, c))
            }
            Op::Convert { to, from, rounding, overflow } => {
                let value = self.value(thread, operand(1)?)?;
                let value = convert(value, *from, *to, *rounding, *overflow)?;
                // A wider register gets the sign.
                let value = if to.kind == Kind::Signed { signed(value, *to) as u64 } else { value };
                self.set(thread, target()?, value)
            }
            Op::ConvertPair { to } => {
                let single = Ty::named("f32").ok_or("no f32")?;
                let (high, low) = (self.value(thread, operand(1)?)?, self.value(thread, operand(2)?)?);
                let part = |v| convert(v, single, *to, Rounding::Nearest, Overflow::Wraps);
                self.set(thread, target()?, part(high)? << 16 | part(low)?)
            }
            Op::SetPredicate { compare: by, ty, join } => {
                let (a, b) = (self.value(thread, operand(1)?)?, self.value(thread, operand(2)?)?);
                let mut value = compare(*by, *ty, a, b);
                if let Some(join) = join {
                    let other = self.value(thread, operand(3)?)? & 1 == 1;
                    value = match join {
                        Alu::And => value & other,
                        Alu::Or => value | other,
                        _ => value ^ other,
                    };
                }
                match target()? {
                    // The second result is the other truth value.
                    Operand::Vector(both) => {
                        self.set(thread, &both[0], value.into())?;
                        self.set(thread, &both[1], (!value).into())
                    }
                    one => self.set(thread, one, value.into()),
                }
            }
            Op::Select(ty) => {
                let holds = self.value(thread, operand(3)?)? & 1 == 1;
                // Only what is chosen has to be there.
                let value = self.value(thread, operand(if holds { 1 } else { 2 })?)?;
                self.set(thread, target()?, value & ty.mask())
            }
            Op::Move(ty) => self.transfer(thread, *ty, target()?, operand(1)?),
            Op::Load { space: Space::Param, ty } => {
                let address = self.address(thread, operand(1)?)?;
                if let Operand::Vector(_) = target()? {
                    return Err("several parameters at once".into());
                }
                let param = self.params.get(address as usize / 8).ok_or("a parameter that does not exist")?;
                self.set(thread, target()?, param >> (8 * (address % 8)) & ty.mask())
            }
            Op::Load { space, ty } => {
                let address = self.address(thread, operand(1)?)?;
                let lanes = list(target()?);
                self.checked(thread, *space, address, lanes.len() * ty.bytes(), Access::Reads)?;
                for (i, lane) in lanes.iter().enumerate() {
                    let value = self.load(thread, *space, address + (i * ty.bytes()) as u64, ty.bytes())?;
                    // A wider register gets the sign.
                    let value = if ty.kind == Kind::Signed { signed(value, *ty) as u64 } else { value };
                    self.set(thread, lane, value)?;
                }
                Ok(())
            }
            Op::Store { space, ty } => {
                let address = self.address(thread, operand(0)?)?;
                let lanes = list(operand(1)?);
                self.checked(thread, *space, address, lanes.len() * ty.bytes(), Access::Writes)?;
                for (i, lane) in lanes.iter().enumerate() {
                    let value = self.value(thread, lane)?;
                    self.store(thread, *space, address + (i * ty.bytes()) as u64, ty.bytes(), value)?;
                }
                Ok(())
            }
            Op::Atomic { space, op, ty, result } => {
                let first = usize::from(*result);
                let address = self.address(thread, operand(first)?)?;
                let value = self.value(thread, operand(first + 1)?)?;
                let old = self.load(thread, *space, address, ty.bytes())?;
                use crate::code::Atomic::*;
                let new = match op {
                    Add => alu(Alu::Add, *ty, &[old, value])?,
                    Min => alu(Alu::Min, *ty, &[old, value])?,
                    Max => alu(Alu::Max, *ty, &[old, value])?,
                    And => old & value,
                    Or => old | value,
                    Xor => old ^ value,
                    Exchange => value,
                    Compare => {
                        let other = self.value(thread, operand(first + 2)?)?;
                        if old & ty.mask() == value & ty.mask() { other } else { old }
                    }
                };
                self.store(thread, *space, address, ty.bytes(), new)?;
                if *result { self.set(thread, target()?, old) } else { Ok(()) }
            }
            Op::Cvta { space, to } => {
                let value = self.value(thread, operand(1)?)?;
                let value = if *to { specific(*space, value) } else { generic(*space, value) };
                self.set(thread, target()?, value)
            }
            Op::CopyAsync { bytes } => {
                let (to, from) = (self.address(thread, operand(0)?)?, self.address(thread, operand(1)?)?);
                let mut copied = Vec::with_capacity(*bytes);
                self.checked(thread, Space::Global, from, *bytes, Access::Writes)?;
                let each = (*bytes).min(8);
                for at in (0..*bytes).step_by(each) {
                    let value = self.load(thread, Space::Global, from + at as u64, each)?;
                    copied.extend_from_slice(&value.to_le_bytes()[..each]);
                }
                let (memory, at) = self.memory(thread, Space::Shared, to, *bytes)?;
                memory.forget(at, *bytes);
                self.threads[thread].copies.push(Copy { at: to, bytes: copied });
                Ok(())
            }
            Op::BoxCopy => self.box_begins(thread, operands),
            Op::CopyCommit => {
                let thread = &mut self.threads[thread];
                let group = std::mem::take(&mut thread.copies);
                thread.groups.push(group);
                Ok(())
            }
            Op::CopyWait(left) => {
                let own = &mut self.threads[thread];
                if *left == usize::MAX {
                    let group = std::mem::take(&mut own.copies);
                    own.groups.push(group);
                }
                let left = if *left == usize::MAX { 0 } else { *left };
                let over = own.groups.len().saturating_sub(left);
                let copies: Vec<Copy> = own.groups.drain(..over).flatten().collect();
                for Copy { at, bytes } in copies {
                    let (memory, at) = self.memory(thread, Space::Shared, at, bytes.len())?;
                    memory.write(at, &bytes);
                }
                Ok(())
            }
            Op::ActiveMask => Err("who is active here is not defined".into()),
            _ => Ok(()),
        }
    }

    /// The values of all operands but the first one, and how many there are.
    fn arguments(&self, thread: usize, operands: &[Operand]) -> Done<([u64; MOST], usize)> {
        let mut args = [0; MOST];
        let sources = operands.get(1..).unwrap_or_default();
        if sources.len() > MOST {
            return Err(format!("{} operands, where {MOST} are the most", sources.len()));
        }
        for (arg, operand) in args.iter_mut().zip(sources) {
            *arg = self.value(thread, operand)?;
        }
        Ok((args, sources.len()))
    }

    /// An access as a whole is aligned, and counts where it is to global memory.
    fn checked(
        &mut self,
        thread: usize,
        space: Space,
        address: u64,
        bytes: usize,
        access: Access,
    ) -> Done<()> {
        self.access(thread, space, address, bytes, access)?;
        if matches!(place(space, address)?, Place::Buffer(..)) {
            self.counts.accesses += 1;
            self.counts.bytes += bytes as u64;
        }
        Ok(())
    }

    /// A copy between registers; a vector is the parts of a register, the lowest first.
    fn transfer(&mut self, thread: usize, ty: Ty, to: &Operand, from: &Operand) -> Done<()> {
        match (to, from) {
            (Operand::Vector(parts), from) => {
                let value = self.value(thread, from)?;
                let bits = ty.bits / parts.len() as u32;
                let own = Ty { bits, ..ty };
                for (i, part) in parts.iter().enumerate() {
                    self.set(thread, part, value >> (bits * i as u32) & own.mask())?;
                }
                Ok(())
            }
            (to, Operand::Vector(parts)) => {
                let bits = ty.bits / parts.len() as u32;
                let own = Ty { bits, ..ty };
                let mut value = 0;
                for (i, part) in parts.iter().enumerate() {
                    value |= (self.value(thread, part)? & own.mask()) << (bits * i as u32);
                }
                self.set(thread, to, value)
            }
            (to, from) => {
                // What is undefined may be moved, as long as nobody reads it.
                if let (Operand::Register(to), Operand::Register(from)) = (to, from) {
                    self.threads[thread].registers[*to] = self.threads[thread].registers[*from];
                    return Ok(());
                }
                let value = self.value(thread, from)?;
                self.set(thread, to, value & ty.mask())
            }
        }
    }
}

/// The lanes of an access.
fn list(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(list) => list,
        one => std::slice::from_ref(one),
    }
}
