//! A launch: blocks one after the other, and in them threads up to where they wait.

use crate::PtxError;
use crate::arithmetic::{alu, compare, convert, product, signed};
use crate::code::{Alu, Base, Instruction, Kind, Op, Operand, Part, Rounding, Space, Special, Ty};
use crate::memory::{Buffer, GRANULE, Place, generic, place, pointer, specific};
use crate::parse::{Kernel, Module};

/// The size of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// Blocks in each dimension.
    pub blocks: [u32; 3],
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory that the launch gives to each block.
    pub shared: usize,
}

/// An argument of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The address of a buffer, by its number.
    Buffer(usize),
    /// A number of 64 bits.
    Number(i64),
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions, each thread for itself.
    pub instructions: u64,
    /// Barriers that blocks went through.
    pub barriers: u64,
    /// Accesses of a thread to global memory, and their bytes.
    pub accesses: u64,
    /// Bytes of these.
    pub bytes: u64,
    /// Products of matrices, each warp for itself.
    pub products: u64,
}

/// Instructions of a thread after which a run is given up.
const STEPS: u64 = 50_000_000;

/// The threads of a warp.
pub(crate) const WARP: usize = 32;

/// Runs a kernel of a module.
pub fn run(
    module: &Module,
    name: &str,
    grid: &Grid,
    args: &[Arg],
    buffers: &mut [Buffer],
) -> Result<Counts, PtxError> {
    let wrong = |message: String| Err(PtxError::Launch(message));
    let Some(kernel) = module.kernels.iter().find(|k| k.name == name) else {
        return wrong(format!("there is no kernel `{name}`"));
    };
    if kernel.params.len() != args.len() {
        return wrong(format!("`{name}` has {} parameters, and gets {}", kernel.params.len(), args.len()));
    }
    if let Some(threads) = kernel.threads.filter(|&t| t != grid.threads) {
        return wrong(format!("`{name}` has blocks of {threads} threads, not of {}", grid.threads));
    }
    let params: Vec<u64> = args
        .iter()
        .map(|arg| match arg {
            Arg::Buffer(number) => pointer(*number),
            Arg::Number(number) => *number as u64,
        })
        .collect();
    let mut counts = Counts::default();
    let [x, y, z] = grid.blocks;
    let all = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
    for block in all {
        let mut machine = Block::new(module, kernel, grid, block, &params, buffers);
        machine.run()?;
        let own = machine.counts;
        counts.instructions += own.instructions;
        counts.barriers += own.barriers;
        counts.accesses += own.accesses;
        counts.bytes += own.bytes;
        counts.products += own.products;
    }
    Ok(counts)
}

/// What a thread does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// It waits at an instruction for the threads of its warp.
    Warp,
    /// It waits for the threads of the block.
    Barrier,
    Ended,
}

/// A copy on its way: the byte of shared memory, and what comes there.
#[derive(Clone, Debug)]
struct Copy {
    at: u64,
    bytes: Vec<u8>,
}

pub(crate) struct Thread {
    pub(crate) number: u32,
    pub(crate) at: usize,
    pub(crate) state: State,
    pub(crate) registers: Vec<Option<u64>>,
    local: Buffer,
    copies: Vec<Copy>,
    groups: Vec<Vec<Copy>>,
    steps: u64,
}

pub(crate) struct Block<'m> {
    module: &'m Module,
    pub(crate) kernel: &'m Kernel,
    grid: &'m Grid,
    block: [u32; 3],
    params: &'m [u64],
    buffers: &'m mut [Buffer],
    shared: Buffer,
    /// Where each variable lies in its space.
    variables: Vec<u64>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) counts: Counts,
}

type Done<T> = Result<T, String>;

impl<'m> Block<'m> {
    fn new(
        module: &'m Module,
        kernel: &'m Kernel,
        grid: &'m Grid,
        block: [u32; 3],
        params: &'m [u64],
        buffers: &'m mut [Buffer],
    ) -> Block<'m> {
        // Variables lie one behind the other; those that the launch gives lie behind all others.
        let (mut shared, mut local) = (0, 0);
        let mut variables = vec![0; kernel.variables.len()];
        for given in [false, true] {
            for (i, variable) in kernel.variables.iter().enumerate() {
                if variable.bytes.is_none() != given {
                    continue;
                }
                let end: &mut usize = if variable.space == Space::Local { &mut local } else { &mut shared };
                *end = end.next_multiple_of(variable.align.max(1));
                variables[i] = *end as u64;
                *end += variable.bytes.unwrap_or(0);
            }
        }
        let thread = |number| Thread {
            number,
            at: 0,
            state: State::Ready,
            registers: vec![None; kernel.registers.len()],
            local: Buffer::unwritten(local),
            copies: Vec::new(),
            groups: Vec::new(),
            steps: 0,
        };
        Block {
            module,
            kernel,
            grid,
            block,
            params,
            buffers,
            shared: Buffer::unwritten(shared + grid.shared),
            variables,
            threads: (0..grid.threads).map(thread).collect(),
            counts: Counts::default(),
        }
    }

    fn fault(&self, thread: usize, message: String) -> PtxError {
        let at = self.threads[thread].at.min(self.kernel.code.len().saturating_sub(1));
        let line = self.kernel.code.get(at).map_or(0, |i| i.line);
        let (block, text) = (self.block, self.module.line(line));
        PtxError::Fault { block, thread: thread as u32, line, message, text }
    }

    fn run(&mut self) -> Result<(), PtxError> {
        loop {
            let mut moved = false;
            for thread in 0..self.threads.len() {
                if self.threads[thread].state == State::Ready {
                    moved = true;
                    self.go(thread).map_err(|message| self.fault(thread, message))?;
                }
            }
            for first in (0..self.threads.len()).step_by(WARP) {
                let end = (first + WARP).min(self.threads.len());
                moved |= self.warp(first..end).map_err(|(thread, message)| self.fault(thread, message))?;
            }
            if moved {
                continue;
            }
            if self.threads.iter().all(|t| t.state == State::Ended) {
                return Ok(());
            }
            let Some(waits) = self.threads.iter().position(|t| t.state == State::Barrier) else {
                let stuck = self.threads.iter().position(|t| t.state != State::Ended).unwrap_or(0);
                return Err(self.fault(stuck, "it waits for threads of its warp that do not come".into()));
            };
            let at = self.threads[waits].at;
            if self.threads.iter().any(|t| t.state != State::Barrier || t.at != at) {
                return Err(self.fault(waits, "not all threads of the block come to this barrier".into()));
            }
            self.counts.barriers += 1;
            for thread in &mut self.threads {
                thread.at += 1;
                thread.state = State::Ready;
            }
        }
    }

    /// Runs a thread up to where it waits or ends.
    fn go(&mut self, number: usize) -> Done<()> {
        loop {
            let kernel = self.kernel;
            let Some(instruction) = kernel.code.get(self.threads[number].at) else {
                return Err("the code ends without `ret`".into());
            };
            let thread = &mut self.threads[number];
            thread.steps += 1;
            if thread.steps > STEPS {
                return Err(format!("it was given up after {STEPS} instructions"));
            }
            self.counts.instructions += 1;
            if let Some((register, holds)) = instruction.guard {
                let value = self.register(number, register)?;
                if (value & 1 == 1) != holds {
                    self.threads[number].at += 1;
                    continue;
                }
            }
            match &instruction.op {
                Op::Branch(target) => self.threads[number].at = *target,
                Op::Return => {
                    let thread = &mut self.threads[number];
                    thread.state = State::Ended;
                    if !thread.copies.is_empty() || !thread.groups.is_empty() {
                        return Err("it ends while copies in the background are under way".into());
                    }
                    return Ok(());
                }
                Op::Barrier => {
                    let number_of = instruction.operands.first();
                    if !matches!(number_of, Some(Operand::Number(0))) || instruction.operands.len() > 1 {
                        return Err("only the barrier 0 of all threads is known".into());
                    }
                    self.threads[number].state = State::Barrier;
                    return Ok(());
                }
                Op::WarpBarrier
                | Op::Shuffle(_)
                | Op::Vote(_)
                | Op::LoadMatrix { .. }
                | Op::MatMul { .. } => {
                    self.threads[number].state = State::Warp;
                    return Ok(());
                }
                _ => {
                    self.step(number, instruction)?;
                    self.threads[number].at += 1;
                }
            }
        }
    }

    pub(crate) fn register(&self, thread: usize, register: usize) -> Done<u64> {
        self.threads[thread].registers[register]
            .ok_or_else(|| format!("the register {} is read before it is written", self.kernel.registers[register]))
    }

    /// The value of an operand.
    pub(crate) fn value(&self, thread: usize, operand: &Operand) -> Done<u64> {
        Ok(match operand {
            Operand::Register(register) => self.register(thread, *register)?,
            Operand::NotRegister(register) => self.register(thread, *register)? ^ 1,
            Operand::Number(number) => *number,
            Operand::Special(special) => {
                let number = u64::from(self.threads[thread].number);
                match special {
                    Special::Thread => number,
                    Special::Threads => self.grid.threads.into(),
                    Special::Block(dimension) => self.block[*dimension].into(),
                    Special::Blocks(dimension) => self.grid.blocks[*dimension].into(),
                    Special::Lane => number % WARP as u64,
                    Special::Warp => number / WARP as u64,
                    Special::Zero => 0,
                    Special::One => 1,
                }
            }
            Operand::Symbol(variable) => self.variables[*variable],
            Operand::Address(..) | Operand::Vector(_) | Operand::Sink => {
                return Err("an operand that is no value".into());
            }
        })
    }

    fn set(&mut self, thread: usize, operand: &Operand, value: u64) -> Done<()> {
        match operand {
            Operand::Register(register) => self.threads[thread].registers[*register] = Some(value),
            Operand::Sink => {}
            _ => return Err("a result that is no register".into()),
        }
        Ok(())
    }

    pub(crate) fn set_register(&mut self, thread: usize, operand: &Operand, value: u64) -> Done<()> {
        self.set(thread, operand, value)
    }

    /// The address that an operand names.
    pub(crate) fn address(&self, thread: usize, operand: &Operand) -> Done<u64> {
        match operand {
            Operand::Address(base, offset) => {
                let base = match base {
                    Base::Register(register) => self.register(thread, *register)?,
                    Base::Symbol(variable) => self.variables[*variable],
                    Base::Param(param) => 8 * *param as u64,
                    Base::Number => 0,
                };
                Ok(base.wrapping_add(*offset as u64))
            }
            _ => Err("expected an address".into()),
        }
    }

    /// The memory that has an address, and the byte in it.
    fn memory(&mut self, thread: usize, space: Space, address: u64, bytes: usize) -> Done<(&mut Buffer, usize)> {
        self.access(thread, space, address, bytes, false)
    }

    /// The same; what is read may be behind the end of a tensor.
    fn access(
        &mut self,
        thread: usize,
        space: Space,
        address: u64,
        bytes: usize,
        reads: bool,
    ) -> Done<(&mut Buffer, usize)> {
        // Addresses of 32 bits are those of shared and local memory.
        let found = place(space, address)?;
        if address % bytes as u64 != 0 {
            return Err(format!("an access to {bytes} bytes that are not aligned"));
        }
        let (memory, at, name) = match found {
            Place::Buffer(number, at) => match self.buffers.get_mut(number) {
                Some(buffer) => (buffer, at, format!("tensor {number}")),
                None => return Err(format!("there is no tensor {number}")),
            },
            Place::Shared(at) => (&mut self.shared, at, "shared memory".to_string()),
            Place::Local(at) => (&mut self.threads[thread].local, at, "local memory".to_string()),
        };
        let behind = reads && matches!(found, Place::Buffer(..));
        let length = if behind { memory.len().next_multiple_of(GRANULE) } else { memory.len() };
        match (at as usize).checked_add(bytes) {
            Some(end) if end <= length => Ok((memory, at as usize)),
            _ => Err(format!("byte {at} of {name}, which has {}", memory.len())),
        }
    }

    /// Bytes at an address, as a number.
    pub(crate) fn load(&mut self, thread: usize, space: Space, address: u64, bytes: usize) -> Done<u64> {
        let (memory, at) = self.access(thread, space, address, bytes, true)?;
        memory.load(at, bytes)
    }

    fn store(&mut self, thread: usize, space: Space, address: u64, bytes: usize, value: u64) -> Done<()> {
        let (memory, at) = self.memory(thread, space, address, bytes)?;
        memory.store(at, bytes, value);
        Ok(())
    }

    /// Runs an instruction for which nobody waits.
    fn step(&mut self, thread: usize, instruction: &Instruction) -> Done<()> {
        let operands = &instruction.operands;
        let operand = |i: usize| operands.get(i).ok_or_else(|| "an operand is missing".to_string());
        let target = || operand(0);
        match &instruction.op {
            Op::Alu(op, ty) => {
                let args: Vec<u64> = operands[1..].iter().map(|o| self.value(thread, o)).collect::<Done<_>>()?;
                // Amounts have 32 bits whatever is shifted.
                let value = alu(*op, *ty, &args)?;
                self.set(thread, target()?, value)
            }
            Op::Pair(op, ty) => {
                let args: Vec<u64> = operands[1..].iter().map(|o| self.value(thread, o)).collect::<Done<_>>()?;
                let half = |by: u32| {
                    let args: Vec<u64> = args.iter().map(|a| a >> by & ty.mask()).collect();
                    alu(*op, *ty, &args)
                };
                self.set(thread, target()?, half(16)? << 16 | half(0)?)
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
            Op::Convert { to, from, rounding, saturate } => {
                let value = self.value(thread, operand(1)?)?;
                let value = convert(value, *from, *to, *rounding, *saturate)?;
                self.set(thread, target()?, value)
            }
            Op::ConvertPair { to } => {
                let single = Ty::named("f32").ok_or("no f32")?;
                let (high, low) = (self.value(thread, operand(1)?)?, self.value(thread, operand(2)?)?);
                let part = |v| convert(v, single, *to, Rounding::Nearest, false);
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
                self.checked(thread, *space, address, lanes.len() * ty.bytes(), true)?;
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
                self.checked(thread, *space, address, lanes.len() * ty.bytes(), false)?;
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
                let mut copied = Vec::new();
                self.checked(thread, Space::Global, from, *bytes, false)?;
                for i in 0..*bytes as u64 {
                    copied.push(self.load(thread, Space::Global, from + i, 1)? as u8);
                }
                let (memory, at) = self.memory(thread, Space::Shared, to, *bytes)?;
                memory.forget(at, *bytes);
                self.threads[thread].copies.push(Copy { at: to, bytes: copied });
                Ok(())
            }
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
                    for (i, &byte) in bytes.iter().enumerate() {
                        self.store(thread, Space::Shared, at + i as u64, 1, byte.into())?;
                    }
                }
                Ok(())
            }
            Op::ActiveMask => Err("who is active here is not defined".into()),
            _ => Ok(()),
        }
    }

    /// An access as a whole is aligned, and counts where it is to global memory.
    fn checked(&mut self, thread: usize, space: Space, address: u64, bytes: usize, reads: bool) -> Done<()> {
        self.access(thread, space, address, bytes, reads)?;
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
fn list(operand: &Operand) -> Vec<Operand> {
    match operand {
        Operand::Vector(list) => list.clone(),
        one => vec![one.clone()],
    }
}
