//! How fragments of factors are loaded from shared memory: several matrices at a time by `ldmatrix`, where they lie as it
//! needs them.

use super::{Matrix, Unit};
use crate::write::fragments::{Columns, Fragments};
use crate::write::{Done, KernelWriter, Writer};
use surject_kernel::{MatMulSizes, Space};

/// How fragments of the right factor are loaded.
pub(super) enum Source {
    /// By `ldmatrix`, from the row that this thread names.
    Matrices(String),
    /// The same of bytes whose columns are neighbours.
    Bytes(Bytes),
    /// One by one.
    Elements(Columns),
}

/// How `ldmatrix` loads bytes whose columns are neighbours.
pub(super) struct Bytes {
    /// The row that this thread names.
    pub(super) at: String,
    /// Which bytes of two registers are the terms of an even column, and of an odd one (`prmt`).
    picked: [String; 2],
}

/// How far neighbours in an operand are apart.
#[derive(Clone, Copy)]
pub(super) struct Strides {
    /// Its own elements: rows of the left factor, columns of the right one.
    pub(super) own: i64,
    /// Its terms.
    pub(super) terms: i64,
}

/// Which bits of the number of one of four matrices say where it is.
#[derive(Clone, Copy)]
pub(super) struct MatrixBits {
    /// Whether it is further along the terms.
    pub(super) terms: i64,
    /// Whether it is further along the own elements.
    pub(super) own: i64,
}

impl Writer<'_> {
    /// How fragments of the right factor are loaded, two columns of them at once where `ldmatrix` does it.
    pub(super) fn right_source(
        &mut self,
        sizes: MatMulSizes,
        unit: &Unit,
        b: &Matrix<'_>,
        sums: &Fragments,
    ) -> Source {
        let by = Strides { own: b.tile.column, terms: b.tile.row };
        if sums.order == Columns::Alternating {
            let shared = self.kernel.mem(b.tile.mem).space == Space::Shared;
            return match shared && by.terms % 16 == 0 && b.divisor % 16 == 0 {
                true => Source::Bytes(self.rows_of_bytes(b)),
                false => Source::Elements(sums.order),
            };
        }
        match sizes.n.is_multiple_of(2 * unit.n) && self.loads_matrices(unit, b, by) {
            true => Source::Matrices(self.first_of_lane(unit, b, by, MatrixBits { terms: 0, own: 1 })),
            false => Source::Elements(sums.order),
        }
    }

    /// The row of 16 bytes, columns of a term, that a lane names. Transposed, pairs of bytes of two terms come together: the
    /// terms that a thread has of a product are four neighbours, two of one matrix and two of the next one. Which of them
    /// stand in the first one differs between the rows, so that all rows of a matrix lie in different banks.
    fn rows_of_bytes(&mut self, b: &Matrix<'_>) -> Bytes {
        let lane = self.numbers[1].clone();
        let one = self.index(1);
        let bit = |w: &mut Self, number: i64| {
            let number = w.index(number);
            let part = w.op(&format!("arith.shrui {lane}, {number} : i64"));
            w.op(&format!("arith.andi {part}, {one} : i64"))
        };
        let (second, late) = (bit(self, 3), bit(self, 2));
        let pair = self.op(&format!("arith.xori {second}, {late} : i64"));
        // Bits of the lane, and how many terms further each of them is.
        let bits = [(bit(self, 0), 1), (bit(self, 1), 4), (late, 8), (pair, 2), (bit(self, 4), 16)];
        let mut at = b.first.clone();
        for (bit, terms) in bits {
            let by = self.index(terms * b.tile.row);
            let part = self.op(&format!("arith.muli {bit}, {by} overflow<nsw> : i64"));
            at = self.op(&format!("arith.addi {at}, {part} overflow<nsw> : i64"));
        }
        // Of the terms of a thread that is late among its four, the first two come last.
        let late = bit(self, 1);
        let late = self.op(&format!("arith.trunci {late} : i64 to i1"));
        let picked = [[0x2064, 0x6420], [0x3175, 0x7531]].map(|orders| {
            let [swapped, whole] = orders.map(|order| self.constant(&order.to_string(), "i32"));
            self.op(&format!("arith.select {late}, {swapped}, {whole} : i32"))
        });
        Bytes { at, picked }
    }

    /// The even columns, and the odd ones, of what is loaded by such rows.
    pub(super) fn columns_of_bytes(&mut self, bytes: &Bytes, words: &[String; 4]) -> [Vec<String>; 2] {
        bytes.picked.each_ref().map(|picked| {
            let mut all = Vec::new();
            for pair in words.chunks(2) {
                let (first, second) = (&pair[0], &pair[1]);
                all.push(self.op(&format!(
                    "llvm.call_intrinsic \"llvm.nvvm.prmt\"({first}, {second}, {picked}) : (i32, i32, i32) -> i32"
                )));
            }
            all
        })
    }

    /// Does `ldmatrix` load the fragments of an operand: what lies next to each other begins at multiples of 16 bytes in
    /// shared memory, 8 elements of 16 bits, or along the terms 4 of 32 bits or 16 of 8 bits?
    pub(super) fn loads_matrices(&self, unit: &Unit, m: &Matrix<'_>, by: Strides) -> bool {
        let (next, across) = (by.own.min(by.terms), by.own.max(by.terms));
        let shared = self.kernel.mem(m.tile.mem).space == Space::Shared;
        let known = match m.dtype.size() {
            2 => next == 1,
            1 => by.terms == 1,
            4 => by.terms == 1 && unit.operands == Some("tf32"),
            _ => false,
        };
        let row = 16 / m.dtype.size() as i64;
        shared && known && across % row == 0 && m.divisor % row == 0
    }

    /// The row of 16 bytes that a lane names, of one of four matrices of 8 by 8 words of 16 bits: along the own elements of
    /// an operand, and along the terms.
    pub(super) fn first_of_lane(
        &mut self,
        unit: &Unit,
        m: &Matrix<'_>,
        by: Strides,
        bits: MatrixBits,
    ) -> String {
        let lane = self.numbers[1].clone();
        let (one, seven) = (self.index(1), self.index(7));
        let within = self.op(&format!("arith.andi {lane}, {seven} : i64"));
        let further = |w: &mut Self, bit: i64, size: i64| {
            let (bit, size) = (w.index(3 + bit), w.index(size));
            let part = w.op(&format!("arith.shrui {lane}, {bit} : i64"));
            let part = w.op(&format!("arith.andi {part}, {one} : i64"));
            w.op(&format!("arith.muli {part}, {size} overflow<nsw> : i64"))
        };
        let term = further(self, bits.terms, unit.k as i64 / 2);
        let own = further(self, bits.own, 8);
        // The eight rows of a matrix lie across what lies next to each other.
        let across =
            self.op(&format!("arith.addi {within}, {} : i64", if by.terms == 1 { &own } else { &term }));
        let (own, term) = if by.terms == 1 { (&across, &term) } else { (&own, &across) };
        let mut at = m.first.clone();
        for (number, by) in [(own, by.own), (term, by.terms)] {
            let by = self.index(by);
            let part = self.op(&format!("arith.muli {number}, {by} overflow<nsw> : i64"));
            at = self.op(&format!("arith.addi {at}, {part} overflow<nsw> : i64"));
        }
        at
    }

    /// Four matrices of 8 by 8, in one register of every thread each.
    pub(super) fn load_matrices(
        &mut self,
        m: &Matrix<'_>,
        at: &str,
        offset: i64,
        transposed: bool,
        unit: &Unit,
    ) -> Done<[String; 4]> {
        let offset = self.index(offset);
        let at = self.op(&format!("arith.addi {at}, {offset} overflow<nsw> : i64"));
        let address = self.address(m.tile.mem, &at)?;
        let layout = if transposed { "col" } else { "row" };
        let structure = "!llvm.struct<(i32, i32, i32, i32)>";
        let loaded = self.op(&format!(
            "nvvm.ldmatrix {address} {{eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<{layout}>, \
             num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}} : (!llvm.ptr<3>) -> {structure}"
        ));
        Ok([0, 1, 2, 3].map(|i| {
            let word = self.op(&format!("llvm.extractvalue {loaded}[{i}] : {structure}"));
            match unit.register {
                "i32" if unit.operands == Some("tf32") => self.rounded_to_tf32(&word),
                "i32" => word,
                register => self.op(&format!("llvm.bitcast {word} : i32 to {register}")),
            }
        }))
    }
}
