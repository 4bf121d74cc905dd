//! Matrices of a warp: fragments as `mma.sync` has them (PTX ISA, "Matrix Fragments for mma").

use crate::arithmetic::multiply_add;
use crate::code::{Op, Operand, Order, Space, Ty};
use crate::machine::Block;

/// The registers of an operand.
fn registers(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(list) => list,
        one => std::slice::from_ref(one),
    }
}

/// Row and column of element `i` of a thread's part of `a`, of `m × k`; by the bits of an element.
fn left(lane: usize, i: usize, bits: u32, k: usize) -> (usize, usize) {
    let (group, number) = (lane / 4, lane % 4);
    match bits {
        64 => (group, number),
        // Elements in a register, and registers: rows first, then the other half along k.
        _ => {
            let packed = 32 / bits as usize;
            let register = i / packed;
            let row = group + 8 * (register % 2);
            (row, number * packed + i % packed + register / 2 * (k / 2))
        }
    }
}

/// Row and column of an element of `b`, of `k × n`.
fn right(lane: usize, i: usize, bits: u32, k: usize) -> (usize, usize) {
    let (group, number) = (lane / 4, lane % 4);
    match bits {
        64 => (number, group),
        _ => {
            let packed = 32 / bits as usize;
            (number * packed + i % packed + i / packed * (k / 2), group)
        }
    }
}

/// Row and column of an element of the sum.
fn sum(lane: usize, i: usize) -> (usize, usize) {
    (lane / 4 + i / 2 * 8, lane % 4 * 2 + i % 2)
}

impl Block<'_> {
    /// The elements that the registers of an operand hold.
    fn elements(&self, thread: usize, operand: &Operand, ty: Ty) -> Result<Vec<u64>, String> {
        let mut found = Vec::new();
        let packed = (32 / ty.bits as usize).max(1);
        for register in registers(operand) {
            let value = self.value(thread, register)?;
            for i in 0..packed {
                found.push(value >> (ty.bits as usize * i).min(63) & ty.mask());
            }
        }
        Ok(found)
    }

    /// `d, a, b, c`: `d = a · b + c`.
    pub(crate) fn multiply(
        &mut self,
        op: &Op,
        operands: &[Operand],
        members: &[usize],
    ) -> Result<(), String> {
        let &Op::MatMul { m, n, k, operands: ty, kept, sum: of } = op else { return Ok(()) };
        let mut a = vec![None; m * k];
        let mut b = vec![None; k * n];
        let mut c = vec![None; m * n];
        for (lane, &t) in members.iter().enumerate() {
            for (i, value) in self.elements(t, &operands[1], ty)?.into_iter().enumerate() {
                let (row, column) = left(lane, i, ty.bits, k);
                // The third part of a type that fills half of a product.
                if let Some(place) = a.get_mut(row * k + column).filter(|_| column < k) {
                    *place = Some(value & kept);
                }
            }
            for (i, value) in self.elements(t, &operands[2], ty)?.into_iter().enumerate() {
                let (row, column) = right(lane, i, ty.bits, k);
                if let Some(place) = b.get_mut(row * n + column).filter(|_| row < k) {
                    *place = Some(value & kept);
                }
            }
            for (i, value) in self.elements(t, &operands[3], of)?.into_iter().enumerate() {
                let (row, column) = sum(lane, i);
                c[row * n + column] = Some(value);
            }
        }
        let missing = || "an element of a matrix is missing".to_string();
        let [a, b, mut c] = [a, b, c].map(|all| all.into_iter().collect::<Option<Vec<u64>>>());
        let (a, b) = (a.ok_or_else(missing)?, b.ok_or_else(missing)?);
        let c = c.as_mut().ok_or_else(missing)?;
        for i in 0..m {
            for j in 0..n {
                for t in 0..k {
                    c[i * n + j] = multiply_add(a[i * k + t], b[t * n + j], c[i * n + j], ty, of);
                }
            }
        }
        for (lane, &t) in members.iter().enumerate() {
            let results = registers(&operands[0]);
            let packed = (32 / of.bits as usize).max(1);
            for (r, register) in results.iter().enumerate() {
                let value = (0..packed).fold(0, |value, i| {
                    let (row, column) = sum(lane, r * packed + i);
                    value | c[row * n + column] << (of.bits as usize * i).min(63)
                });
                self.set_register(t, register, value)?;
            }
        }
        Ok(())
    }

    /// Matrices of 8 × 8 elements of 16 bits, from shared memory: eight threads give the addresses of the rows of each.
    pub(crate) fn load_matrix(
        &mut self,
        count: usize,
        order: Order,
        operands: &[Operand],
        members: &[usize],
    ) -> Result<(), String> {
        let targets = registers(&operands[0]);
        for matrix in 0..count {
            let mut rows = Vec::new();
            for row in 0..8 {
                let thread = members[matrix * 8 + row];
                let address = self.address(thread, &operands[1])?;
                if address % 16 != 0 {
                    return Err("a row of a matrix that is not aligned to 16 bytes".into());
                }
                let mut elements = Vec::new();
                for column in 0..8 {
                    elements.push(self.load(thread, Space::Shared, address + 2 * column, 2)?);
                }
                rows.push(elements);
            }
            for (lane, &thread) in members.iter().enumerate() {
                let (row, column) = (lane / 4, lane % 4 * 2);
                let element = |i: usize| match order {
                    Order::ByRows => rows[row][column + i],
                    Order::Transposed => rows[column + i][row],
                };
                let value = element(0) | element(1) << 16;
                self.set_register(thread, &targets[matrix], value)?;
            }
        }
        Ok(())
    }
}
