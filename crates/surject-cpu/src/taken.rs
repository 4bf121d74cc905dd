//! Products that are kernels before anything else is decided of them.

use crate::Cpu;
use crate::strategies::{Streams, Windows, is_far};
use surject_codegen::kernels::contraction::Factor;
use surject_codegen::kernels::expression::{AccessInfo, Expression, LoopInfo};
use surject_codegen::kernels::machine::{Strategy, choose};
use surject_codegen::kernels::schedule::Directive;

pub(crate) mod parts;
pub(crate) mod stored;

/// The products below which a kernel that does several assignments at once saves more than tiles do.
const FEW: f64 = 2e6;

/// The same of images, whose windows have several loops: small ones have few tasks.
const FEW_OF_IMAGES: f64 = 1e7;

/// The same of windows of each channel.
const FEW_OF_WINDOWS: f64 = 1e5;

/// The fewest rows of a product, those of one loop, and terms.
const ROWS: i64 = 32;
const RUN: i64 = 8;
const TERMS: i64 = 48;

/// Terms of a window that lie next to each other, below which it matters that windows overlap.
const SHORT: i64 = 32;

/// The terms beside which stores do not count, the bytes of results that no cache has, and those of a line.
const MANY: i64 = 96;
const LARGE: f64 = 16e6;
const ALIGNED: i64 = 64;

/// The terms from which on it pays to put rows into panels whose terms lie far apart ([`is_far`]).
const LONG: i64 = 512;

/// The fewest terms that lie next to each other where columns do not: so many are transposed at once.
const TURNED: i64 = 8;

/// Is an expression a product of two matrices or images, or many of them, that fills tiles? Of other products it is decided first
/// what is stored, and what is summed in parts.
/// It is long because it is a list of refusals.
pub(crate) fn takes(cpu: &Cpu, expression: &Expression) -> Result<(), &'static str> {
    if cpu.vector_bytes == 0 {
        return Err("the processor has no vectors");
    }
    if are_windows(cpu, expression) || is_streamed(cpu, expression) {
        return Ok(());
    }
    if expression.unit_factors().is_some() {
        return Err("factors have 8 or 16 bits");
    }
    let reductions = expression.reductions();
    let [sum] = &reductions[..] else { return Err("it has not one reduction") };
    if !sum.sums_products {
        return Err("it sums no products");
    }
    let loops = expression.loops();
    if loops.iter().any(|l| l.extent > 1 && !sum.outer.contains(&l.name)) {
        return Err("a sum is there for several results");
    }
    if expression.gathers() {
        return Err("some of the factors are gathered");
    }
    let depends = |a: &AccessInfo, name: &str| a.stride(name) != 0;
    let accesses = expression.accesses();
    let of_terms = |a: &&AccessInfo| !a.stored && sum.loops.iter().any(|term| depends(a, term));
    let loads: Vec<&AccessInfo> = accesses.iter().filter(of_terms).collect();
    let [one, other] = factors(expression, &loads).ok_or("it does not multiply two tensors")?;
    if [&one, &other].iter().any(|f| f.bytes != expression.element_bytes()) {
        return Err("factors are converted");
    }
    let stored = |name: &str| accesses.iter().filter(|a| a.stored).all(|a| a.stride(name) == 1);
    let lanes = (cpu.vector_bytes / expression.element_bytes().max(1)) as i64;
    let column = loops.iter().find(|l| l.parallel && l.extent >= lanes && stored(&l.name));
    let column = column.ok_or("results that lie next to each other do not fill vectors")?;
    let (columns, rows) = if depends(&one.access, &column.name) { (one, other) } else { (other, one) };
    if rows.operations > 0 {
        return Err("a factor of rows that is computed would be computed again for blocks of columns");
    }
    if columns.operations > 0 && expression.has_formulas() {
        return Err("formulas of its factors would be computed again for blocks of rows");
    }
    let (columns, rows) = (&columns.access, &rows.access);
    if depends(rows, &column.name) {
        return Err("both factors depend on the results that lie next to each other");
    }
    if columns.guarded || accesses.iter().any(|a| a.guarded && !of_terms(&a)) {
        return Err("some of what columns have in common does not exist");
    }
    let terms: Vec<LoopInfo> = sum.loops.iter().filter_map(|term| expression.find(term)).collect();
    let next = |l: &LoopInfo| l.extent >= TURNED && columns.stride(&l.name) == 1;
    if columns.stride(&column.name) != 1 && !terms.iter().any(next) {
        return Err("the factors of neighbours do not lie next to each other");
    }
    let products = terms.iter().map(|l| l.extent).product::<i64>();
    if is_far(rows, &terms) && products < LONG {
        return Err("the terms of a row lie far from each other");
    }
    let of_rows = || loops.iter().rev().filter(|l| depends(rows, &l.name) && !depends(columns, &l.name));
    let run = of_rows().find(|l| l.extent > 1).map_or(1, |l| l.extent);
    if run < RUN || of_rows().map(|l| l.extent).product::<i64>() < ROWS {
        return Err("too few rows have the same factors");
    }
    let (runs, terms) = (terms, products);
    let points = loops.iter().map(|l| l.extent as f64).product::<f64>();
    let overlaps = terms_next(&runs, rows).is_some_and(|next| {
        next < SHORT && of_rows().any(|l| (1..next).contains(&rows.stride(&l.name).abs()))
    });
    if overlaps {
        return Err("windows of few channels overlap");
    }
    let uneven = |a: &AccessInfo| {
        let row = |l: &LoopInfo| depends(rows, &l.name) && a.stride(&l.name) * a.bytes as i64 % ALIGNED != 0;
        a.stored && a.elements * a.bytes as f64 > LARGE && loops.iter().any(row)
    };
    if terms < MANY && accesses.iter().any(uneven) {
        return Err("rows of large results, which are most of the time, do not begin with lines");
    }
    let few = if runs.len() > 1 { FEW_OF_IMAGES } else { FEW };
    if terms < TERMS || points * (terms as f64) < few {
        return Err("it has too few products");
    }
    Ok(())
}

/// The factors of a product: two tensors, or what is computed of some.
fn factors(expression: &Expression, loads: &[&AccessInfo]) -> Option<[Factor; 2]> {
    if let Some(factors) = expression.factors() {
        return Some(factors);
    }
    let &[one, other] = loads else { return None };
    Some([one, other].map(|load| {
        let loops = load.strides.iter().map(|(name, _)| name.clone()).collect();
        Factor { operations: 0, bytes: load.bytes, loops, access: load.clone() }
    }))
}

/// Are they sums over windows of each channel, of products that are many, which run in step? Measured beside the code generator before
/// with AVX2 (Zen 3), windows of 9 to 49 terms and 20 to 512 channels: 1.06 to 2 times its speed, on one thread and on two.
/// Of one image, whose rows are tasks, each of which looks at its guards, it is 0.95 to 1.2.
fn are_windows(cpu: &Cpu, expression: &Expression) -> bool {
    let reductions = expression.reductions();
    let [sum] = &reductions[..] else { return false };
    let terms = sum.loops.iter().filter_map(|term| expression.find(term)).map(|l| l.extent as f64);
    let points = expression.loops().iter().map(|l| l.extent as f64).product::<f64>();
    let is_alike = |a: &AccessInfo| a.bytes == expression.element_bytes() && [4, 8].contains(&a.bytes);
    let is_guarded = expression.accesses().iter().any(|a| a.guarded);
    sum.sums_products
        && points * terms.product::<f64>() >= FEW_OF_WINDOWS
        && !expression.has_formulas()
        && expression.accesses().iter().all(is_alike)
        && Windows(cpu.clone()).propose(expression).is_ok()
        && choose(cpu, expression).is_ok_and(|choice| {
            let peeled = |d: &&Directive| matches!(d, Directive::Peel(_));
            let inside = choice.proposal.schedule.directives.iter().filter(peeled).count();
            choice.strategy == Windows::NAME && (!is_guarded || inside == 2)
        })
}

/// Is it few rows times a large matrix, which is read in its order in memory? Measured beside the code generator before with AVX2 (Zen 3): one row
/// 0.95 to 1.06 times its speed (0.9 where rows of the matrix do not begin with lines), eight rows 1.2 to 1.6.
fn is_streamed(cpu: &Cpu, expression: &Expression) -> bool {
    let reductions = expression.reductions();
    let [sum] = &reductions[..] else { return false };
    let is_alike = |a: &AccessInfo| a.bytes == expression.element_bytes() && a.bytes >= 4 && !a.guarded;
    // One row has nothing to do but wait for memory.
    let has_one_row = expression.loops().iter().filter(|l| l.extent > 1).count() == 1;
    let starts_lines = |a: &AccessInfo| {
        let strides = a.strides.iter().map(|s| s.1.abs() * a.bytes as i64);
        strides.filter(|&by| by > ALIGNED).all(|by| by % ALIGNED == 0)
    };
    sum.sums_products
        && expression.loops().iter().all(|l| l.extent == 1 || sum.outer.contains(&l.name))
        && !expression.has_formulas()
        && !expression.gathers()
        && expression.accesses().iter().all(|a| is_alike(a) && (!has_one_row || starts_lines(a)))
        && Streams(cpu.clone()).propose(expression).is_ok()
        && choose(cpu, expression).is_ok_and(|choice| choice.strategy == Streams::NAME)
}

/// How many terms of a row lie next to each other, if some do.
fn terms_next(terms: &[LoopInfo], rows: &AccessInfo) -> Option<i64> {
    terms.iter().filter(|l| rows.stride(&l.name) == 1).map(|l| l.extent).max()
}
