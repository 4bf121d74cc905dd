//! The sorts of the runtime, which call code back: here it is interpreted too.

use super::control::Stop;
use super::memory::Pointer;
use super::{FaultKind, Process, Word};

/// A tensor that is sorted into another.
struct Operand {
    from: u64,
    to: u64,
    size: u64,
}

/// Lines of so many elements, so many elements apart.
#[derive(Clone, Copy)]
struct Lines {
    outer: u64,
    length: u64,
    inner: u64,
}

impl Lines {
    /// The number of an element of a line.
    fn position(&self, line: u64, element: u64) -> u64 {
        line / self.inner * self.length * self.inner + element * self.inner + line % self.inner
    }
}

/// How many operands the two functions have: they are those of [`surject_runtime::library::surject_sort`] and
/// [`surject_runtime::library::surject_sort_keys`].
const COMPARED: usize = 8;
const BY_KEYS: usize = 10;

impl Process<'_> {
    /// Sorts as one of the functions of the runtime; `None`: it is none of these.
    pub(super) fn sorts(&mut self, name: &str, bits: &[u64]) -> Result<Option<u64>, Stop> {
        let by_keys = match (name, bits.len()) {
            ("surject_sort", COMPARED) => false,
            ("surject_sort_keys", BY_KEYS) => true,
            _ => return Ok(None),
        };
        let (count, [inputs, outputs, sizes]) = (bits[0], [bits[1], bits[2], bits[3]]);
        let lines = Lines { outer: bits[4], length: bits[5], inner: bits[6] };
        let code = self.function_at(bits[7])?;
        let mut operands = Vec::new();
        for i in 0..count {
            let mut entry = |table: u64| -> Result<u64, FaultKind> {
                let found = self.memory.read(table + 8 * i, 8)?;
                Ok(found.try_into().map_or(0, u64::from_le_bytes))
            };
            operands.push(Operand { from: entry(inputs)?, to: entry(outputs)?, size: entry(sizes)? });
        }
        let stack = self.memory.stack();
        let mut ran = Ok(());
        for line in 0..lines.outer * lines.inner {
            let order = match by_keys {
                true => self.order_of_keys(code, &operands, lines, line, bits[8]),
                false => self.order_of_pairs(code, &operands, lines, line),
            };
            ran = order.and_then(|order| self.permute(&operands, lines, line, &order));
            if ran.is_err() {
                break;
            }
        }
        self.memory.unwind(stack);
        ran.map(|()| Some(0))
    }

    /// The order of a line by the keys that code computes, of so many bits.
    fn order_of_keys(
        &mut self,
        code: usize,
        operands: &[Operand],
        lines: Lines,
        line: u64,
        bits: u64,
    ) -> Result<Vec<u64>, Stop> {
        let width = if bits <= 32 { 4 } else { 8 };
        let keys = self.memory.on_stack(lines.length as usize * width);
        let mut table: Vec<Pointer> =
            operands.iter().map(|o| Pointer(o.from + lines.position(line, 0) * o.size)).collect();
        table.push(keys);
        let table = self.temporary(&table);
        self.run(code, &[0, 0, table.0].map(Word::One))?;
        let bytes = self.memory.read(keys.0, lines.length as usize * width)?;
        let key = |i: u64| {
            let mut word = [0; 8];
            word[..width].copy_from_slice(&bytes[i as usize * width..][..width]);
            u64::from_le_bytes(word)
        };
        let mut order: Vec<u64> = (0..lines.length).collect();
        order.sort_by_key(|&i| key(i));
        Ok(order)
    }

    /// The order of a line by the comparison that code makes of two elements of each operand. Merges runs, so that any
    /// answers give some order.
    fn order_of_pairs(
        &mut self,
        code: usize,
        operands: &[Operand],
        lines: Lines,
        line: u64,
    ) -> Result<Vec<u64>, Stop> {
        let mut order: Vec<u64> = (0..lines.length).collect();
        let mut run = 1;
        while run < order.len() {
            let mut merged = Vec::with_capacity(order.len());
            for pair in order.chunks(2 * run) {
                let (low, high) = pair.split_at(run.min(pair.len()));
                let (mut low, mut high) = (low.iter().peekable(), high.iter().peekable());
                while let (Some(&&a), Some(&&b)) = (low.peek(), high.peek()) {
                    let second =
                        self.comes_before(code, operands, [b, a].map(|k| lines.position(line, k)))?;
                    merged.extend(if second { high.next() } else { low.next() });
                }
                merged.extend(low.chain(high));
            }
            order = merged;
            run *= 2;
        }
        Ok(order)
    }

    /// Does code say that the elements at a position come before those at another?
    fn comes_before(&mut self, code: usize, operands: &[Operand], pair: [u64; 2]) -> Result<bool, Stop> {
        let at = |o: &Operand| pair.map(|position| Pointer(o.from + position * o.size));
        let stack = self.memory.stack();
        let answer = self.memory.on_stack(1);
        let table: Vec<Pointer> = operands.iter().flat_map(at).chain([answer]).collect();
        let table = self.temporary(&table);
        self.run(code, &[0, 0, table.0].map(Word::One))?;
        let before = self.memory.read(answer.0, 1)?[0] != 0;
        self.memory.unwind(stack);
        Ok(before)
    }

    fn permute(&mut self, operands: &[Operand], lines: Lines, line: u64, order: &[u64]) -> Result<(), Stop> {
        for Operand { from, to, size } in operands {
            for (k, &source) in order.iter().enumerate() {
                let moved = self.memory.read(from + lines.position(line, source) * size, *size as usize)?;
                self.memory.write(to + lines.position(line, k as u64) * size, &moved)?;
            }
        }
        Ok(())
    }

    /// Addresses on the stack.
    fn temporary(&mut self, pointers: &[Pointer]) -> Pointer {
        let at = self.memory.on_stack(8 * pointers.len());
        let bytes: Vec<u8> = pointers.iter().flat_map(|p| p.0.to_le_bytes()).collect();
        self.memory.set(at, &bytes);
        at
    }
}
