//! Sums that are made before products: in `+ a * b` over `i` and `k`, where only `a` depends on `i`, the sum of `a` over
//! `i` comes first.
//!
//! ```text
//! Σ_{i,k} a[i,k] b[k,j]  =  Σ_k ( Σ_i a[i,k] ) b[k,j]
//! ```
//!
//! It is the elimination of a variable of sum-product networks (R. Dechter, *Bucket elimination*, 1999), and the laws
//! `acc-acc` and `factor` together: a sum in parts, and what does not change along a part is taken out of it. A mean of
//! the rows of a product is such a sum, as the sum of a product and a mean of a layer's outputs over a sequence are.
//! Like [`crate::factors`] this comes after it is decided what is stored; the inner sum is stored too.

use crate::algebra::Axes;
use crate::factors::{Product, Sums, change_sums, kept, put_instead, section, stored_before};
use surject_index::{Affine, IndexMap, Space};
use surject_ir::range::Range;
use surject_ir::{AccOp, BinaryOp, Block, DType, FieldId, FieldKind, Function, Scalar, TypeError, UnaryOp};

/// Terms that are not summed any more, at least: fewer take no longer than one more tensor does.
const SAVED: f64 = 32_768.0;
/// What is left of a sum's terms, at most, as a share.
const LEFT: f64 = 0.5;

/// Makes sums before products, where that is less work; gives their number.
pub(crate) fn sum_early(function: &mut Function, any: bool) -> Result<usize, TypeError> {
    change_sums(function, any, |sums, id, _| split(sums, id), write)
}

/// A sum of which some axes are summed before others.
struct Split {
    id: FieldId,
    map: IndexMap,
    product: Product,
    /// The axes that are summed first, and those that what is summed first depends on.
    first: Vec<usize>,
    of: Axes,
}

/// How a sum is better made in two, if it is.
fn split(sums: &mut Sums<'_>, id: FieldId) -> Result<Option<Split>, TypeError> {
    let FieldKind::Acc { op: AccOp::Add, map, of } = &sums.f.fields[id].kind else { return Ok(None) };
    let (map, of) = (map.clone(), *of);
    let dtype = sums.f.fields[id].dtype;
    if !matches!(dtype, DType::F32 | DType::F64) || kept(&map).is_none() || !map.surjective().is_yes() {
        return Ok(None);
    }
    let Some(sizes) = map.domain().sizes() else { return Ok(None) };
    let summed: Vec<usize> = map.free_axes().into_iter().filter(|&a| sizes[a] > 1).collect();
    let points = |axes: &mut dyn Iterator<Item = usize>| axes.map(|a| sizes[a] as f64).product::<f64>();
    let all = points(&mut (0..sizes.len()));
    if summed.len() < 2 || sizes.contains(&0) {
        return Ok(None);
    }
    let Some(product) = sums.product(of, &summed)? else { return Ok(None) };
    let deps: Vec<Axes> = product.varying.iter().map(|f| sums.deps(f.0)).collect();
    let mut best: Option<(f64, Vec<usize>, Axes)> = None;
    for &axis in &summed {
        let of = deps.iter().filter(|d| d.contains(axis)).fold(Axes::NONE, |all, &d| all.union(d));
        let alone = |&a: &usize| deps.iter().all(|d| !d.contains(a) || d.contains(axis)) && of.contains(a);
        let first: Vec<usize> = summed.iter().copied().filter(alone).collect();
        // Something is left to multiply with.
        let rest = deps.iter().any(|d| !d.contains(axis)) || !product.fixed.is_empty();
        let work = points(&mut of.iter(sizes.len())) + all / points(&mut first.iter().copied());
        let pays = work <= LEFT * all && all - work >= SAVED;
        if rest && of.contains(axis) && pays && best.as_ref().is_none_or(|b| work < b.0) {
            best = Some((work, first, of));
        }
    }
    let Some((_, first, of)) = best else { return Ok(None) };
    // Otherwise what is summed first might overflow where the products do not.
    let count = first.iter().map(|&a| sizes[a].unsigned_abs()).try_fold(1u64, u64::checked_mul);
    let stays = sums.any || only_two(sums, &product, &first, (dtype, count));
    Ok(stays.then_some(Split { id, map, product, first, of }))
}

/// Are the terms products of one factor that is summed first and one that is not, which may leave that sum?
fn only_two(sums: &mut Sums<'_>, product: &Product, first: &[usize], of: (DType, Option<u64>)) -> bool {
    let all: Vec<(FieldId, bool)> = product.varying.iter().chain(&product.fixed).copied().collect();
    let &[(x, false), (y, false)] = &all[..] else { return false };
    let mut is_first = |id: FieldId| {
        let deps = sums.deps(id);
        first.iter().any(|&a| deps.contains(a))
    };
    let (early, late) = match (is_first(x), is_first(y)) {
        (true, false) => (x, y),
        (false, true) => (y, x),
        _ => return false,
    };
    !product.negative && Range::leaves(sums.range(early), sums.range(late), false, of.0, of.1)
}

/// Stores the sum that comes first, and puts the sum of its products in the place of what was there.
fn write(sums: &mut Sums<'_>, block: &mut Block, at: usize, split: &Split) -> Result<bool, TypeError> {
    let Split { id, map, product, first, of } = split;
    let whole = map.domain().clone();
    let inner: Vec<usize> = of.iter(whole.rank()).collect();
    let made: Vec<usize> = inner.iter().copied().filter(|a| !first.contains(a)).collect();
    let outer: Vec<usize> = (0..whole.rank()).filter(|a| !first.contains(a)).collect();
    let place = |axes: &[usize], axis: usize| axes.iter().position(|&a| a == axis);
    // A point of the whole space from its place on some axes; what reads there depends on no other.
    let from = |axes: &[usize]| {
        let component =
            |a| place(axes, a).map_or(Affine::fixed(axes.len(), 0), |p| Affine::axis(axes.len(), p));
        IndexMap::total(whole.select(axes), whole.clone(), (0..whole.rank()).map(component).collect())
    };
    let between = |domain: &[usize], axes: &[usize]| -> Option<IndexMap> {
        let places: Option<Vec<usize>> = axes.iter().map(|&a| place(domain, a)).collect();
        Some(IndexMap::projection(&whole.select(domain), &places?))
    };
    let (Ok(inner_point), Ok(outer_point)) = (from(&inner), from(&outer)) else { return Ok(false) };
    let (Some(to_made), Some(to_part)) = (between(&inner, &made), between(&outer, &made)) else {
        return Ok(false);
    };
    let Some(to_result) = without(map, &outer, &whole.select(&outer)) else { return Ok(false) };

    let (mut early, mut late) = (Vec::new(), Vec::new());
    for &(factor, below) in product.varying.iter().chain(&product.fixed) {
        let deps = sums.deps(factor);
        match first.iter().any(|&a| deps.contains(a)) {
            true => early.push((sums.read(&inner_point, factor)?, below)),
            false => late.push((sums.read(&outer_point, factor)?, below)),
        }
    }
    let terms = multiplied(sums, early)?;
    let part = sums.f.fields.acc(AccOp::Add, to_made, terms)?;
    let stored = stored_before(sums, block, at, part);
    late.push((sums.read(&to_part, stored)?, false));
    let mut terms = multiplied(sums, late)?;
    if product.negative {
        terms = sums.f.fields.unary(UnaryOp::Neg, terms)?;
    }
    let sum = match section(&to_result) {
        Some(point)
            if to_result.free_axes().iter().all(|&a| to_result.domain().extent(a).as_const() == Some(1)) =>
        {
            let read = sums.read(&point, terms)?;
            // What was a sum is never -0.0.
            if sums.range(read).negative_zero {
                let zero =
                    sums.f.fields.constant(to_result.codomain(), Scalar::zero(sums.f.fields[read].dtype));
                sums.f.fields.binary(BinaryOp::Add, read, zero)?
            } else {
                read
            }
        }
        _ => sums.f.fields.acc(AccOp::Add, to_result, terms)?,
    };

    put_instead(sums.f, block, *id, sum)?;
    Ok(true)
}

/// A map of a sum whose domain has these axes alone, all that it keeps among them.
fn without(map: &IndexMap, axes: &[usize], domain: &Space) -> Option<IndexMap> {
    let rank = axes.len();
    let component = |axis: Option<usize>| match axis {
        Some(axis) => axes.iter().position(|&a| a == axis).map(|p| Affine::axis(rank, p)),
        None => Some(Affine::fixed(rank, 0)),
    };
    let components = kept(map)?.into_iter().map(component).collect::<Option<_>>()?;
    IndexMap::total(domain.clone(), map.codomain().clone(), components).ok()
}

/// The product of factors; `true`: of its denominator.
fn multiplied(sums: &mut Sums<'_>, mut factors: Vec<(FieldId, bool)>) -> Result<FieldId, TypeError> {
    factors.sort_by_key(|f| f.1);
    let mut product = match factors[0] {
        (_, true) => {
            let (space, dtype) =
                (sums.f.fields[factors[0].0].space.clone(), sums.f.fields[factors[0].0].dtype);
            sums.f.fields.constant(&space, Scalar::from_f64(dtype, 1.0))
        }
        (factor, false) => {
            factors.remove(0);
            factor
        }
    };
    for (factor, below) in factors {
        product = sums.f.fields.binary(if below { BinaryOp::Div } else { BinaryOp::Mul }, product, factor)?;
    }
    Ok(product)
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::{interp, testing};

    /// The number of sums that changed, and the text; results are the same.
    fn changed(text: &str) -> (usize, String) {
        let mut program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let inputs = testing::random_args(program.main().unwrap(), 11);
        let run = |program: &surject_ir::Program| -> Vec<Vec<f64>> {
            let results = interp::run(program, "main", &inputs).unwrap();
            results.iter().map(|r| (0..r.len()).map(|i| r.get(i).as_f64()).collect()).collect()
        };
        let before = run(&program);
        let count = sum_early(&mut program.functions[0], true).unwrap();
        surject_ir::verify(&program).unwrap();
        for (x, y) in before.iter().flatten().zip(run(&program).iter().flatten()) {
            assert!((x - y).abs() <= 1e-9 * x.abs().max(1.0), "{x} {y}\n{text}");
        }
        (count, surject_ir::print(&program))
    }

    #[test]
    fn parts_of_products() {
        let text = "func main(x: f64[40,30], w: f64[30,50], q: f64[3,9,20,31], k: f64[31,47], g: f64[3,20], z: f64[2,66,5], c: f64[3,5,40]) -> (a, b, d, e, f) {
  a : f64[50] =:+ over j<50, i<40, k<30 at [j]: x[i,k] * w[k,j]
  b : f64[] =:+ over i<40, k<30, j<50 at []: neg(x[i,k]) * w[k,j]
  d : f64[3,20,47] =: over i<3, j<20, k<47: exp(g[i,j]) * (+ over i<3, j<20, k<47, l<9, m<31 at [i,j,k]: q[i,l,j,m] * k[m,k] / (g[i,j] * g[i,j] + 2.0f64))
  e : f64[2,40] =:+ over i<2, o<40, p<64, k<3, l<5 at [i,o]: (z[i,p + k - 1,l] where 0 <= p + k - 1 < 60 else 0.0f64) * c[k,l,o]
  f : f64[2,66,1,40] =:+ over i<2, j<66, z<1, o<40, m<5, n<3 at [i,j,z,o]: z[i,j,m] * c[n,m,o]
}
";
        let (count, after) = changed(text);
        assert_eq!(count, 5, "{after}");
        insta::assert_snapshot!(after);
    }

    /// Everything depends on what is summed, little is saved, or the inner sum has as many terms.
    #[test]
    fn what_stays() {
        for text in [
            "func main(x: f64[40,30], w: f64[30,50]) -> (y) {\n  y : f64[40,50] =:+ over i<40, j<50, k<30 at [i,j]: x[i,k] * w[k,j]\n}\n",
            "func main(x: f64[10,30], w: f64[30,50]) -> (y) {\n  y : f64[50] =:+ over i<10, j<50, k<30 at [j]: x[i,k] * w[k,j]\n}\n",
            "func main(x: f64[400,300], w: f64[300]) -> (y) {\n  y : f64[] =:+ over i<400, k<300 at []: x[i,k] * w[k]\n}\n",
            "func main(x: f64[40,30], w: f64[30,50]) -> (y) {\n  y : f64[50] =:max over i<40, j<50, k<30 at [j]: x[i,k] * w[k,j]\n}\n",
            "func main(x: f64[40,30], w: f64[30,50]) -> (y) {\n  y : f64[50] =:+ over i<40, j<50, k<30 at [j]: x[i,k] + w[k,j]\n}\n",
        ] {
            let (count, after) = changed(text);
            assert_eq!(count, 0, "{after}");
        }
    }
}
