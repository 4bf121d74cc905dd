//! Expressions whose kernels come from here by themselves.

use crate::Cpu;
use crate::strategies::{Columns, Transposes};
use surject_codegen::kernels::expression::{AccessInfo, Expression};
use surject_codegen::kernels::machine::choose;

/// The products below which a kernel that does several assignments at once saves more than tiles do.
const FEW: f64 = 4e6;

/// The fewest rows and terms of a product, and vectors of columns.
const ROWS: i64 = 64;
const TERMS: i64 = 96;
const VECTORS: i64 = 3;

/// The bytes between terms of a row beyond which tiles read a page for each.
const FAR: i64 = 1024;

/// Has an expression kernels that are at least as fast as the emitter's? Products have (see [`product`]), and short rows
/// and transpositions ([`moved`]). An error says why it is none of them.
pub(crate) fn takes(cpu: &Cpu, expression: &Expression) -> Result<(), &'static str> {
    if cpu.vector_bytes == 0 {
        return Err("the processor has no vectors");
    }
    moved(cpu, expression).or_else(|_| product(cpu, expression))
}

/// The most bytes that are transposed through the caches; more go past them, and the emitter does that.
const CACHED: f64 = 16e6;

/// The bytes of a line of memory: the emitter transposes whole lines of narrower vectors.
const LINE: usize = 64;

/// Are rows so short that each lane has one, or is it a transposition that the caches hold? Measured beside the emitter's with
/// AVX-512 (Zen 4), on one thread and on two: short rows have 0.97 to 1.08 times its speed, transpositions 1.0 to 1.6 times. As code
/// for AVX2 short rows have 1.0 to 1.5 times, transpositions 0.74 to 0.96.
fn moved(cpu: &Cpu, expression: &Expression) -> Result<(), &'static str> {
    let accesses = expression.accesses();
    if accesses.iter().any(|a| a.guarded) || expression.gathers() {
        return Err("some of its elements do not exist, or are gathered");
    }
    if accesses.iter().any(|a| ![4, 8].contains(&a.bytes)) {
        return Err("nobody has measured kernels for elements of 8 and 16 bits");
    }
    let reductions = expression.reductions();
    if reductions.len() > 1 && reductions.iter().any(|r| r.sums_products) {
        return Err("its sums wait for each other, and the emitter's are in two parts");
    }
    let moves: f64 = expression.traffic().iter().map(|t| t.bytes).sum();
    match choose(cpu, expression).map(|choice| choice.strategy) {
        Ok(Columns::NAME) => Ok(()),
        Ok(Transposes::NAME) if moves <= CACHED && cpu.vector_bytes >= LINE => Ok(()),
        _ => Err("its rows are not short, and it is no transposition in the caches"),
    }
}

/// Is an expression a product of two matrices, or many of them, that fills tiles? Measured beside the emitter's
/// (`papers/kernels`; one Intel processor): 1.05 to 1.2 times its speed with AVX-512, on one thread and on two, and 1.1 to 1.3
/// times as code for AVX2.
fn product(cpu: &Cpu, expression: &Expression) -> Result<(), &'static str> {
    if expression.unit_factors().is_some() {
        return Err("nobody has measured kernels for factors of 8 and 16 bits");
    }
    let reductions = expression.reductions();
    let [sum] = &reductions[..] else { return Err("it has not one reduction") };
    let (true, [term]) = (sum.sums_products, &sum.loops[..]) else {
        return Err("it is no product of two matrices");
    };
    let loops = expression.loops();
    if loops.iter().any(|l| l.extent > 1 && !sum.outer.contains(&l.name)) {
        return Err("a sum is there for several results");
    }
    let accesses = expression.accesses();
    if accesses.iter().any(|a| a.guarded) || expression.gathers() {
        return Err("some of the factors do not exist, or are gathered");
    }
    if expression.has_formulas() {
        return Err("the formulas of its results would be written for every row of a tile");
    }
    let depends = |a: &AccessInfo, name: &str| a.stride(name) != 0;
    let factors: Vec<&AccessInfo> = accesses.iter().filter(|a| !a.stored && depends(a, term)).collect();
    let [one, other] = factors[..] else { return Err("it does not multiply two tensors") };
    if [one, other].iter().any(|a| a.bytes != expression.element_bytes()) {
        return Err("factors are converted");
    }
    let stored = |name: &str| accesses.iter().filter(|a| a.stored).all(|a| a.stride(name) == 1);
    let lanes = (cpu.vector_bytes / expression.element_bytes().max(1)) as i64;
    let column = loops.iter().find(|l| l.parallel && l.extent >= VECTORS * lanes && stored(&l.name));
    let column = column.ok_or("results that lie next to each other do not fill vectors")?;
    let (columns, rows) = if depends(one, &column.name) { (one, other) } else { (other, one) };
    if columns.stride(&column.name) != 1 || depends(rows, &column.name) {
        return Err("the factors of neighbours do not lie next to each other");
    }
    if (rows.stride(term) * rows.bytes as i64).abs() > FAR {
        return Err("the terms of a row lie far from each other");
    }
    let row =
        loops.iter().rev().find(|l| l.extent > 1 && depends(rows, &l.name) && !depends(columns, &l.name));
    if row.is_none_or(|l| l.extent < ROWS) {
        return Err("too few rows have the same factors");
    }
    let terms = expression.find(term).map_or(0, |l| l.extent);
    let points = loops.iter().map(|l| l.extent as f64).product::<f64>();
    if terms < TERMS || points * (terms as f64) < FEW {
        return Err("it has too few products");
    }
    Ok(())
}
