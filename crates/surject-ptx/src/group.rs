//! Products of matrices by four warps (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions").
//!
//! Each warp has 16 rows of the sum, in fragments like those of `mma.sync`, and both operands lie in shared memory, where
//! descriptors name them. They are read when the instruction is issued; the registers of the sum have no value before a
//! `wgmma.wait_group`, so one that is read too early is found. What overwrites an operand too early is not.

use crate::arithmetic::multiply_add;
use crate::code::{Op, Operand, Space, Ty};
use crate::machine::{Block, WARP};
use std::collections::VecDeque;

/// Rows of a product, and of a warp; terms of it.
const ROWS: usize = 64;
const OWN_ROWS: usize = 16;
const TERMS: usize = 16;
/// Elements of 16 bits in a row of 128 bytes.
const LINE: usize = 64;

/// What the registers of a thread will hold.
type Sums = Vec<(usize, u64)>;

/// Products of a thread that are under way.
#[derive(Default)]
pub(crate) struct Products {
    /// Has a fence come before those that follow?
    fenced: bool,
    open: Sums,
    groups: VecDeque<Sums>,
}

impl Products {
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.groups.is_empty()
    }

    /// What a register will hold, if a product has it.
    fn pending(&self, register: usize) -> Option<u64> {
        let all = self.groups.iter().chain([&self.open]).rev();
        all.flat_map(|sums| sums.iter().rev()).find(|s| s.0 == register).map(|s| s.1)
    }
}

/// A matrix in shared memory, in lines of 128 bytes whose parts of 16 bytes are exchanged: part `i` of line `j` of eight is
/// at `i ^ j`.
struct Matrix {
    start: u64,
    /// From 64 elements of a line to the next 64, where lines are those of terms.
    leading: u64,
    /// From eight lines to the next eight.
    stride: u64,
    /// Do lines hold elements of one term, not terms of one element?
    by_elements: bool,
}

impl Matrix {
    fn of(descriptor: u64, transposed: u64) -> Result<Matrix, String> {
        let field = |bit: u32| (descriptor >> bit & 0x3fff) << 4;
        let (offset, swizzle) = (descriptor >> 49 & 7, descriptor >> 62);
        if (offset, swizzle) != (0, 1) {
            return Err(format!(
                "a matrix with the descriptor {descriptor:#x}; only swizzles of 128 bytes are known"
            ));
        }
        let by_elements = match transposed {
            0 => false,
            1 => true,
            _ => return Err("a matrix that is transposed neither 0 nor 1 times".into()),
        };
        Ok(Matrix { start: field(0), leading: field(16), stride: field(32), by_elements })
    }

    /// Where an element is: a row of `a` or a column of `b`, and a term.
    fn address(&self, own: usize, term: usize) -> u64 {
        let (line, at, lines_on) = match self.by_elements {
            true => (term, own % LINE, (own / LINE) as u64 * self.leading),
            false => (own, term, 0),
        };
        let linear =
            self.start + lines_on + (line / 8) as u64 * self.stride + (line % 8 * 128 + 2 * at) as u64;
        linear ^ (linear >> 7 & 7) << 4
    }
}

impl Block<'_> {
    /// What a warp does of an instruction for four of them.
    pub(crate) fn group(&mut self, op: &Op, operands: &[Operand], members: &[usize]) -> Result<(), String> {
        if self.threads.len() < (members[0] / (4 * WARP) + 1) * 4 * WARP {
            return Err("a product by four warps that are not all there".into());
        }
        match op {
            Op::GroupMatMul { n, operands: ty, sum } => {
                return self.group_multiply((*n, *ty, *sum), operands, members);
            }
            Op::GroupFence => members.iter().for_each(|&t| self.threads[t].products.fenced = true),
            Op::GroupCommit => members.iter().for_each(|&t| {
                let products = &mut self.threads[t].products;
                products.groups.push_back(std::mem::take(&mut products.open));
            }),
            Op::GroupWait => {
                let Some(Operand::Number(left)) = operands.first() else {
                    return Err("a number of groups that is none".into());
                };
                for &t in members {
                    let thread = &mut self.threads[t];
                    while thread.products.groups.len() as u64 > *left {
                        for (register, value) in thread.products.groups.pop_front().unwrap_or_default() {
                            // A later product may have the register.
                            if thread.products.pending(register).is_none() {
                                thread.registers[register] = Some(value);
                            }
                        }
                    }
                    thread.products.fenced &= *left > 0;
                }
            }
            // How many there are is not counted here.
            Op::GroupRegisters => match operands {
                [Operand::Number(count)] if count % 8 == 0 && (24..=256).contains(count) => {}
                _ => return Err("a number of registers that no four warps may have".into()),
            },
            _ => {}
        }
        Ok(())
    }

    /// `d, a-descriptor, b-descriptor, scale-d, scale-a, scale-b, transposed-a, transposed-b`: `d = a · b + d`.
    fn group_multiply(
        &mut self,
        (n, ty, of): (usize, Ty, Ty),
        operands: &[Operand],
        members: &[usize],
    ) -> Result<(), String> {
        let [Operand::Vector(sums), a, b, adds, scales @ .., of_a, of_b] = operands else {
            return Err("a product by four warps with other operands".into());
        };
        if sums.len() != n / 2 || scales.len() != 2 || scales.iter().any(|s| *s != Operand::Number(1)) {
            return Err("a product by four warps with other sums or scales".into());
        }
        let leader = members[0];
        let common = |block: &Self, operand: &Operand| {
            let first = block.value(leader, operand)?;
            let same = |&t: &usize| block.value(t, operand).is_ok_and(|v| v == first);
            if members.iter().all(same) {
                Ok(first)
            } else {
                Err("an operand that differs in a warp".to_string())
            }
        };
        let (a, b, adds) = (common(self, a)?, common(self, b)?, common(self, adds)? & 1 == 1);
        let a = Matrix::of(a, common(self, of_a)?)?;
        let b = Matrix::of(b, common(self, of_b)?)?;
        let first_row = leader / WARP * OWN_ROWS % ROWS;
        let mut load =
            |m: &Matrix, own: usize, term: usize| self.load(leader, Space::Shared, m.address(own, term), 2);
        let mut left = Vec::new();
        for row in 0..OWN_ROWS {
            for term in 0..TERMS {
                left.push(load(&a, first_row + row, term)?);
            }
        }
        let mut right = Vec::new();
        for column in 0..n {
            for term in 0..TERMS {
                right.push(load(&b, column, term)?);
            }
        }
        for (lane, &t) in members.iter().enumerate() {
            if !self.threads[t].products.fenced {
                return Err("a product by four warps without a fence before it".into());
            }
            for (i, register) in sums.iter().enumerate() {
                let Operand::Register(number) = register else {
                    return Err("a sum that is no register".into());
                };
                let (row, column) = (lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2);
                let mut sum = match (adds, self.threads[t].products.pending(*number)) {
                    (false, _) => 0,
                    (true, Some(pending)) => pending,
                    (true, None) => self.value(t, register)?,
                };
                for term in 0..TERMS {
                    let (x, y) = (left[row * TERMS + term], right[column * TERMS + term]);
                    sum = multiply_add(x, y, sum, ty, of);
                }
                let thread = &mut self.threads[t];
                thread.products.open.push((*number, sum));
                thread.registers[*number] = None;
            }
        }
        Ok(())
    }
}
