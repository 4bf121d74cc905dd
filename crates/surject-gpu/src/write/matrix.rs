//! Products of matrices by a warp: by its matrix units where they have the types, else each thread computes elements.
//!
//! Fragments are those of `mma.sync` (PTX ISA, "Matrix Fragments for mma"). With `g = lane / 4` and `t = lane mod 4`, a
//! thread has of `a` the rows `g` and `g + 8`, of `b` the column `g`, and of the sum the rows `g` and `g + 8` in the
//! columns `2 t` and `2 t + 1`.

mod load;

use self::load::{MatrixBits, Source, Strides};
use super::fragments::{Columns, Fragments};
use super::{Agent, Done, KernelWriter, WARP, Writer, element, stored};
use surject_ir::{BinaryOp, DType};
use surject_kernel::{Factors, MatMulSizes, Space, Tile, Type};

/// A product that one instruction does.
struct Unit {
    m: usize,
    n: usize,
    k: usize,
    /// Elements of `a` and `b` side by side in a register, and the type of that register.
    packed: usize,
    register: &'static str,
    /// The PTX type of the operands where the types of registers do not say it.
    operands: Option<&'static str>,
}

fn unit(operands: DType, factors: Factors, sum: DType) -> Option<Unit> {
    if factors == Factors::Tf32 {
        return Some(Unit { m: 16, n: 8, k: 8, packed: 1, register: "i32", operands: Some("tf32") });
    }
    Some(match (operands, sum) {
        (DType::F16, DType::F32) => {
            Unit { m: 16, n: 8, k: 16, packed: 2, register: "vector<2xf16>", operands: None }
        }
        (DType::BF16, DType::F32) => {
            Unit { m: 16, n: 8, k: 16, packed: 2, register: "i32", operands: Some("bf16") }
        }
        (DType::I8, DType::I32) => {
            Unit { m: 16, n: 8, k: 32, packed: 4, register: "i32", operands: Some("s8") }
        }
        (DType::U8, DType::I32) => {
            Unit { m: 16, n: 8, k: 32, packed: 4, register: "i32", operands: Some("u8") }
        }
        (DType::F64, DType::F64) => Unit { m: 8, n: 8, k: 4, packed: 1, register: "f64", operands: None },
        _ => return None,
    })
}

impl Unit {
    /// Rows of a thread in `a` and in the sum.
    fn rows(&self) -> &'static [i64] {
        if self.m == 8 { &[0] } else { &[0, 8] }
    }

    /// Where the parts of a thread along `k` begin.
    fn halves(&self) -> Vec<i64> {
        if self.m == 8 { vec![0] } else { vec![0, self.k as i64 / 2] }
    }
}

/// Which elements of fragments a thread has: the number of its row of `a` and column of `b`, twice its number among the
/// four threads of these, and the first of its elements along `k`.
struct OwnElements {
    group: String,
    pair: String,
    place: String,
}

/// A matrix: its tile, the number of its first element, and what divides the numbers of its rows and columns.
struct Matrix<'a> {
    tile: &'a Tile,
    first: String,
    divisor: i64,
    dtype: DType,
}

impl Writer<'_> {
    pub(super) fn matmul(
        &mut self,
        (sizes, factors): (MatMulSizes, Factors),
        [acc, a, b]: [&Tile; 3],
    ) -> Done<()> {
        if self.agent != Agent::Warp {
            return Err("a product of matrices outside of warps".into());
        }
        let own = |t: &Tile| matches!(self.kernel.mem(t.mem).space, Space::Register | Space::Stack);
        let fragments = self.fragments_of(sizes, [acc, b])?;
        if own(a) || own(b) || own(acc) && fragments.is_none() {
            return Err(
                "a product of matrices in memory of the warp; it is done in shared or global memory".into()
            );
        }
        let [acc, a, b] = [self.matrix(acc)?, self.matrix(a)?, self.matrix(b)?];
        let fits = |u: &Unit| {
            sizes.m.is_multiple_of(u.m) && sizes.n.is_multiple_of(u.n) && sizes.k.is_multiple_of(u.k)
        };
        match (unit(a.dtype, factors, acc.dtype).filter(fits), &fragments) {
            (Some(unit), Some(sums)) => self.in_fragments(sizes, &unit, [&a, &b], sums),
            (Some(unit), None) => self.by_units(sizes, &unit, [&acc, &a, &b]),
            (None, _) if factors == Factors::Tf32 => {
                let MatMulSizes { m, n, k } = sizes;
                Err(format!("a product of tf32 of {m} by {n} by {k}, which no matrix unit does"))
            }
            (None, Some(_)) => {
                Err(format!("a product of {} in sums of a warp, which no matrix unit does", a.dtype))
            }
            (None, None) => self.by_elements(sizes, &acc, &a, &b),
        }
    }

    /// Refuses a product that only a CPU does.
    pub(super) fn is_of_gpu(&self, factors: Factors, [acc, a, b]: [&Tile; 3]) -> Done<()> {
        let dtype = |t: &Tile| self.kernel.mem(t.mem).dtype;
        let interleaved = [acc, a, b].iter().any(|t| t.interleaved != 1);
        match factors == Factors::Flushed || dtype(a) != dtype(b) || interleaved {
            true => Err("a product of matrices in a form that a CPU has".into()),
            false => Ok(()),
        }
    }

    fn matrix<'a>(&mut self, tile: &'a Tile) -> Done<Matrix<'a>> {
        let first = self.affine(&tile.at, 0)?;
        let divisor = self.divisor(&tile.at);
        Ok(Matrix { tile, first, divisor, dtype: self.kernel.mem(tile.mem).dtype })
    }

    /// The number of an element; rows and columns are numbers of this thread and further ones.
    fn cell(
        &mut self,
        m: &Matrix<'_>,
        (row, more_rows): (&str, i64),
        (column, more_columns): (&str, i64),
    ) -> String {
        let offset = more_rows * m.tile.row + more_columns * m.tile.column;
        let mut at = m.first.clone();
        for (number, by) in [(row, m.tile.row), (column, m.tile.column)] {
            let by = self.index(by);
            let part = self.op(&format!("arith.muli {number}, {by} overflow<nsw> : i64"));
            at = self.op(&format!("arith.addi {at}, {part} overflow<nsw> : i64"));
        }
        if offset != 0 {
            let offset = self.index(offset);
            at = self.op(&format!("arith.addi {at}, {offset} overflow<nsw> : i64"));
        }
        at
    }

    fn element_of(&mut self, m: &Matrix<'_>, at: &str) -> Done<String> {
        let address = self.address(m.tile.mem, at)?;
        let pointer = if self.kernel.mem(m.tile.mem).space == Space::Shared { 3 } else { 1 };
        let size = m.dtype.size();
        Ok(self.op(&format!(
            "llvm.load {address} {{alignment = {size} : i64}} : !llvm.ptr<{pointer}> -> {}",
            stored(m.dtype)
        )))
    }

    /// The bits of an `f32` rounded to 10 bits of mantissa, to nearest even, but for what is behind those: the matrix units
    /// ignore it. `cvt.rna.tf32.f32` would round ties up, and `cvt.rn` needs sm_90.
    fn rounded_to_tf32(&mut self, bits: &str) -> String {
        let constant = |w: &mut Self, value: i64| w.op(&format!("llvm.mlir.constant({value} : i32) : i32"));
        let (place, one, half, nan) =
            (constant(self, 13), constant(self, 1), constant(self, 0xFFF), constant(self, 0x7FFF_E000));
        let digit = self.op(&format!("arith.shrui {bits}, {place} : i32"));
        let digit = self.op(&format!("arith.andi {digit}, {one} : i32"));
        let more = self.op(&format!("arith.addi {digit}, {half} : i32"));
        let sum = self.op(&format!("arith.addi {bits}, {more} : i32"));
        let float = self.op(&format!("llvm.bitcast {bits} : i32 to f32"));
        let odd = self.op(&format!("arith.cmpf uno, {float}, {float} : f32"));
        self.op(&format!("arith.select {odd}, {nan}, {sum} : i32"))
    }

    /// Elements that lie side by side along `k`, in a register. `along` is how far apart they are in memory.
    fn packed(
        &mut self,
        m: &Matrix<'_>,
        unit: &Unit,
        cell: &dyn Fn(&mut Self, i64) -> String,
        along: i64,
    ) -> Done<String> {
        let across = m.tile.row + m.tile.column - along;
        let lanes = unit.packed as i64;
        let aligned = along == 1 && m.divisor % lanes == 0 && across % lanes == 0;
        let first = cell(self, 0);
        if unit.packed == 1 {
            let element = self.element_of(m, &first)?;
            if unit.operands != Some("tf32") {
                return Ok(element);
            }
            let bits = self.op(&format!("llvm.bitcast {element} : f32 to i32"));
            return Ok(self.rounded_to_tf32(&bits));
        }
        if aligned {
            // Pairs and quadruples begin at multiples of their number.
            let address = self.address(m.tile.mem, &first)?;
            let pointer = if self.kernel.mem(m.tile.mem).space == Space::Shared { 3 } else { 1 };
            return Ok(self.op(&format!(
                "llvm.load {address} {{alignment = 4 : i64}} : !llvm.ptr<{pointer}> -> {}",
                unit.register
            )));
        }
        let mut parts = vec![self.element_of(m, &first)?];
        for i in 1..lanes {
            let at = cell(self, i);
            parts.push(self.element_of(m, &at)?);
        }
        let vector = self.joined(&parts, element(m.dtype));
        if unit.register.starts_with("vector") {
            return Ok(vector);
        }
        let (_, ty) = self.vector(m.dtype, unit.packed);
        Ok(self.op(&format!("llvm.bitcast {vector} : {ty} to {}", unit.register)))
    }

    /// The matrix units sum products in memory.
    fn by_units(&mut self, sizes: MatMulSizes, unit: &Unit, [acc, a, b]: [&Matrix<'_>; 3]) -> Done<()> {
        let own = self.own_elements(unit);
        for i in (0..sizes.m as i64).step_by(unit.m) {
            for j in (0..sizes.n as i64).step_by(unit.n) {
                let mut places = Vec::new();
                for &row in unit.rows() {
                    for column in 0..2 {
                        places.push(self.cell(acc, (&own.group, i + row), (&own.pair, j + column)));
                    }
                }
                let mut sum: Vec<String> =
                    places.iter().map(|at| self.element_of(acc, at)).collect::<Done<_>>()?;
                for k in (0..sizes.k as i64).step_by(unit.k) {
                    let left = self.left_elements(a, unit, &own, i, k)?;
                    let right = self.right_elements(b, unit, (&own, Columns::InOrder), k, j)?;
                    sum = self.product_of_fragments(unit, &left, &right, &sum, acc.dtype);
                }
                for (at, value) in places.iter().zip(&sum) {
                    self.store_cell(acc, at, value)?;
                }
            }
        }
        Ok(())
    }

    /// The matrix units sum products in registers; each fragment of an operand is loaded once.
    fn in_fragments(
        &mut self,
        sizes: MatMulSizes,
        unit: &Unit,
        [a, b]: [&Matrix<'_>; 2],
        sums: &Fragments,
    ) -> Done<()> {
        let own = self.own_elements(unit);
        let of_a = Strides { own: a.tile.row, terms: a.tile.column };
        let of_b = Strides { own: b.tile.column, terms: b.tile.row };
        let bits = MatrixBits { terms: 1, own: 0 };
        let at_a = self.loads_matrices(unit, a, of_a).then(|| self.first_of_lane(unit, a, of_a, bits));
        let from_b = self.right_source(sizes, unit, b, sums);
        let (columns, each) = (sizes.n / unit.n, 2 * unit.rows().len());
        let count = sizes.m / unit.m * columns;
        let mut values: Vec<Vec<String>> = (0..count)
            .map(|tile| (each * tile..each * (tile + 1)).map(|slot| self.load_slot(sums, slot)).collect())
            .collect();
        for k in (0..sizes.k as i64).step_by(unit.k) {
            let mut left = Vec::new();
            for i in (0..sizes.m as i64).step_by(unit.m) {
                left.push(match &at_a {
                    Some(at) => self
                        .load_matrices(a, at, i * of_a.own + k * of_a.terms, of_a.terms != 1, unit)?
                        .into(),
                    None => self.left_elements(a, unit, &own, i, k)?,
                });
            }
            let mut right: Vec<Vec<String>> = Vec::new();
            let at_once = if matches!(from_b, Source::Elements(_)) { unit.n } else { 2 * unit.n };
            for j in (0..sizes.n as i64).step_by(at_once) {
                let offset = j * of_b.own + k * of_b.terms;
                match &from_b {
                    Source::Matrices(at) => {
                        let both = self.load_matrices(b, at, offset, of_b.terms != 1, unit)?;
                        right.extend(both.chunks(2).map(<[String]>::to_vec));
                    }
                    Source::Bytes(bytes) => {
                        let words = self.load_matrices(b, &bytes.at, offset, true, unit)?;
                        right.extend(self.columns_of_bytes(bytes, &words));
                    }
                    Source::Elements(order) => {
                        right.push(self.right_elements(b, unit, (&own, *order), k, j)?);
                    }
                }
            }
            for (i, left) in left.iter().enumerate() {
                for (j, right) in right.iter().enumerate() {
                    let tile = i * columns + j;
                    values[tile] = self.product_of_fragments(unit, left, right, &values[tile], sums.dtype);
                }
            }
        }
        for (slot, value) in values.iter().flatten().enumerate() {
            self.store_slot(sums, slot, value);
        }
        Ok(())
    }

    /// Which elements of fragments this thread has.
    fn own_elements(&mut self, unit: &Unit) -> OwnElements {
        let lane = self.numbers[1].clone();
        let (two, three, width) = (self.index(2), self.index(3), self.index(unit.packed as i64));
        let group = self.op(&format!("arith.shrui {lane}, {two} : i64"));
        let number = self.op(&format!("arith.andi {lane}, {three} : i64"));
        let pair = self.op(&format!("arith.muli {number}, {two} overflow<nsw> : i64"));
        let place = self.op(&format!("arith.muli {number}, {width} overflow<nsw> : i64"));
        OwnElements { group, pair, place }
    }

    /// What a thread has of the fragment of `a` that begins at a row and a term.
    fn left_elements(
        &mut self,
        a: &Matrix<'_>,
        unit: &Unit,
        own: &OwnElements,
        i: i64,
        k: i64,
    ) -> Done<Vec<String>> {
        let mut left = Vec::new();
        for half in unit.halves() {
            for &row in unit.rows() {
                let cell =
                    |w: &mut Self, more: i64| w.cell(a, (&own.group, i + row), (&own.place, k + half + more));
                left.push(self.packed(a, unit, &cell, a.tile.column)?);
            }
        }
        Ok(left)
    }

    /// What a thread has of the fragment of `b` that begins at a term and a column.
    fn right_elements(
        &mut self,
        b: &Matrix<'_>,
        unit: &Unit,
        (own, order): (&OwnElements, Columns),
        k: i64,
        j: i64,
    ) -> Done<Vec<String>> {
        let (column, first) = match order {
            Columns::InOrder => (own.group.clone(), j),
            Columns::Alternating => {
                let two = self.index(2);
                let even = self.op(&format!("arith.muli {}, {two} overflow<nsw> : i64", own.group));
                (even, j / 16 * 16 + j % 16 / 8)
            }
        };
        let mut right = Vec::new();
        for half in unit.halves() {
            let cell = |w: &mut Self, more: i64| w.cell(b, (&own.place, k + half + more), (&column, first));
            right.push(self.packed(b, unit, &cell, b.tile.row)?);
        }
        Ok(right)
    }

    /// The sums after one product of fragments.
    fn product_of_fragments(
        &mut self,
        unit: &Unit,
        left: &[String],
        right: &[String],
        sum: &[String],
        dtype: DType,
    ) -> Vec<String> {
        let sum_type = element(dtype);
        let structure = format!("!llvm.struct<({})>", vec![sum_type; sum.len()].join(", "));
        let mut attributes = String::new();
        if let Some(name) = unit.operands {
            attributes = format!(
                "multiplicandAPtxType = #nvvm.mma_type<{name}>, multiplicandBPtxType = #nvvm.mma_type<{name}>, "
            );
            if dtype.is_int() {
                attributes += "intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, ";
            }
        }
        let register = unit.register;
        let product = self.op(&format!(
            "nvvm.mma.sync A[{}] B[{}] C[{}] {{{attributes}layoutA = #nvvm.mma_layout<row>, \
             layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = {}, n = {}, k = {}>}} : \
             ({register}, {register}, {sum_type}) -> {structure}",
            left.join(", "),
            right.join(", "),
            sum.join(", "),
            unit.m,
            unit.n,
            unit.k
        ));
        (0..sum.len()).map(|s| self.op(&format!("llvm.extractvalue {product}[{s}] : {structure}"))).collect()
    }

    fn store_cell(&mut self, m: &Matrix<'_>, at: &str, value: &str) -> Done<()> {
        let address = self.address(m.tile.mem, at)?;
        let pointer = if self.kernel.mem(m.tile.mem).space == Space::Shared { 3 } else { 1 };
        let (size, ty) = (m.dtype.size(), element(m.dtype));
        self.line(&format!(
            "llvm.store {value}, {address} {{alignment = {size} : i64}} : {ty}, !llvm.ptr<{pointer}>"
        ));
        Ok(())
    }

    /// Each thread computes every 32nd element, its terms one after the other.
    fn by_elements(
        &mut self,
        sizes: MatMulSizes,
        acc: &Matrix<'_>,
        a: &Matrix<'_>,
        b: &Matrix<'_>,
    ) -> Done<()> {
        let dtype = acc.dtype;
        if !matches!(dtype, DType::F32 | DType::F64) && !dtype.is_int() {
            return Err(format!("a product of matrices that is summed in {dtype}"));
        }
        let all = (sizes.m * sizes.n) as i64;
        let lane = self.numbers[1].clone();
        let (to, by, columns, terms) =
            (self.index(all), self.index(WARP), self.index(sizes.n as i64), self.index(sizes.k as i64));
        let (zero, one) = (self.index(0), self.index(1));
        let number = self.fresh();
        self.line(&format!("scf.for {number} = {lane} to {to} step {by} : i64 {{"));
        self.inside(|w| {
            let row = w.op(&format!("arith.divui {number}, {columns} : i64"));
            let column = w.op(&format!("arith.remui {number}, {columns} : i64"));
            let at = w.cell(acc, (&row, 0), (&column, 0));
            let first = w.element_of(acc, &at)?;
            let (term, carried, result) = (w.fresh(), w.fresh(), w.fresh());
            let t = element(dtype);
            w.line(&format!(
                "{result} = scf.for {term} = {zero} to {terms} step {one} iter_args({carried} = {first}) -> ({t}) : i64 {{"
            ));
            w.inside(|w| {
                let left = w.cell(a, (&row, 0), (&term, 0));
                let right = w.cell(b, (&term, 0), (&column, 0));
                let (left, right) = (w.element_of(a, &left)?, w.element_of(b, &right)?);
                let (left, right) = (w.factor(&left, a.dtype, dtype)?, w.factor(&right, a.dtype, dtype)?);
                let product = w.arithmetic(BinaryOp::Mul, &left, &right, Type::scalar(dtype))?;
                let sum = w.arithmetic(BinaryOp::Add, &carried, &product, Type::scalar(dtype))?;
                w.line(&format!("scf.yield {sum} : {t}"));
                Ok(())
            })?;
            w.line("}");
            w.store_cell(acc, &at, &result)
        })?;
        self.line("}");
        Ok(())
    }

    /// A factor in the type of the sum.
    fn factor(&mut self, name: &str, own: DType, sum: DType) -> Done<String> {
        match own == sum {
            true => Ok(name.to_string()),
            false if own.is_float() && sum.is_int() => Err(format!("a product of {own} in {sum}")),
            false => Ok(self.cast(name, Type::scalar(own), sum)),
        }
    }
}
