//! A launch: blocks one after the other, and in them threads up to where they wait.

mod step;

use crate::PtxError;
use crate::boxes::{Flight, Phase, TensorMap};
use crate::code::{Base, Op, Operand, Space, Special};
use crate::group::Products;
use crate::memory::{Buffer, GRANULE, Place, place, pointer};
use crate::parse::{Kernel, Module};
use std::collections::HashMap;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arg {
    /// The address of a buffer, by its number.
    Buffer(usize),
    /// A number of 64 bits.
    Number(i64),
    /// A map of a tensor, for a parameter of 128 bytes.
    Map(TensorMap),
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

/// Bytes of a map of a tensor.
const MAP: usize = 128;

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
            // Whoever reads it as a number gets none that means anything.
            Arg::Map(_) => u64::MAX,
        })
        .collect();
    let maps = args.iter().map(|arg| if let Arg::Map(map) = arg { Some(map.clone()) } else { None });
    let maps: Vec<Option<TensorMap>> = maps.collect();
    let wants = kernel.params.iter().map(|p| p.1 == MAP);
    if wants.ne(maps.iter().map(Option::is_some)) {
        return wrong(format!("`{name}` gets maps of tensors where it wants none, or the other way round"));
    }
    let mut counts = Counts::default();
    let [x, y, z] = grid.blocks;
    let all = (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])));
    for block in all {
        let mut machine = Block::new(module, kernel, grid, block, &params, buffers);
        machine.maps = &maps;
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
    /// It waits for a phase of the barrier at an address to be over, by its parity.
    Phase(u64, u64),
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
    pub(crate) products: Products,
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
    /// The maps among the parameters.
    pub(crate) maps: &'m [Option<TensorMap>],
    /// Barriers with phases, by their addresses, and boxes on their way.
    pub(crate) phases: HashMap<u64, Phase>,
    pub(crate) flights: Vec<Flight>,
}

type Done<T> = Result<T, String>;

/// What an access does: only what is read may be behind the end of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Reads,
    Writes,
}

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
            products: Products::default(),
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
            maps: &[],
            phases: HashMap::new(),
            flights: Vec::new(),
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
            if moved || self.boxes_arrive().map_err(|(thread, message)| self.fault(thread, message))? {
                continue;
            }
            if self.threads.iter().all(|t| t.state == State::Ended) {
                let done = self.flights.is_empty();
                return if done {
                    Ok(())
                } else {
                    Err(self.fault(0, "it ends while boxes are under way".into()))
                };
            }
            if let Some((thread, message)) = self.never_over() {
                return Err(self.fault(thread, message));
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
                    if !thread.products.is_empty() {
                        return Err("it ends while products of four warps are under way".into());
                    }
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
                | Op::MatMul { .. }
                | Op::GroupMatMul { .. }
                | Op::GroupFence
                | Op::GroupCommit
                | Op::GroupWait
                | Op::GroupRegisters => {
                    self.threads[number].state = State::Warp;
                    return Ok(());
                }
                Op::Phase(how) => {
                    if !self.phasing(number, *how, &instruction.operands)? {
                        return Ok(());
                    }
                    self.threads[number].at += 1;
                }
                _ => {
                    self.step(number, instruction)?;
                    self.threads[number].at += 1;
                }
            }
        }
    }

    pub(crate) fn register(&self, thread: usize, register: usize) -> Done<u64> {
        self.threads[thread].registers[register].ok_or_else(|| {
            format!("the register {} is read before it is written", self.kernel.registers[register])
        })
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
            Operand::Address(..) | Operand::Box(..) | Operand::Vector(_) | Operand::Sink => {
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
    pub(crate) fn memory(
        &mut self,
        thread: usize,
        space: Space,
        address: u64,
        bytes: usize,
    ) -> Done<(&mut Buffer, usize)> {
        self.access(thread, space, address, bytes, Access::Writes)
    }

    /// The same; what is read may be behind the end of a tensor.
    fn access(
        &mut self,
        thread: usize,
        space: Space,
        address: u64,
        bytes: usize,
        access: Access,
    ) -> Done<(&mut Buffer, usize)> {
        // Addresses of 32 bits are those of shared and local memory.
        let found = place(space, address)?;
        if !address.is_multiple_of(bytes as u64) {
            return Err(format!("an access to {bytes} bytes that are not aligned"));
        }
        let (memory, at) = match found {
            Place::Buffer(number, at) => match self.buffers.get_mut(number) {
                Some(buffer) => (buffer, at),
                None => return Err(format!("there is no tensor {number}")),
            },
            Place::Shared(at) => (&mut self.shared, at),
            Place::Local(at) => (&mut self.threads[thread].local, at),
        };
        let behind = access == Access::Reads && matches!(found, Place::Buffer(..));
        let length = if behind { memory.len().next_multiple_of(GRANULE) } else { memory.len() };
        match (at as usize).checked_add(bytes) {
            Some(end) if end <= length => Ok((memory, at as usize)),
            _ => {
                let name = match found {
                    Place::Buffer(number, _) => format!("tensor {number}"),
                    Place::Shared(_) => "shared memory".to_string(),
                    Place::Local(_) => "local memory".to_string(),
                };
                Err(format!("byte {at} of {name}, which has {}", memory.len()))
            }
        }
    }

    /// Bytes at an address, as a number.
    pub(crate) fn load(&mut self, thread: usize, space: Space, address: u64, bytes: usize) -> Done<u64> {
        let (memory, at) = self.access(thread, space, address, bytes, Access::Reads)?;
        memory.load(at, bytes)
    }

    fn store(&mut self, thread: usize, space: Space, address: u64, bytes: usize, value: u64) -> Done<()> {
        let (memory, at) = self.memory(thread, space, address, bytes)?;
        memory.store(at, bytes, value);
        Ok(())
    }
}
