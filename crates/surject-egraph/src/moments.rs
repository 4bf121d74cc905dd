//! The variance of what no cache holds, in blocks: `+ (x - mean)²` needs the mean of all terms before the first of its
//! own, so all of `x` comes from memory twice.
//!
//! Blocks have means and sums of their own, for which a block is at hand; those of all are made of them (T. F. Chan,
//! G. H. Golub and R. J. LeVeque, *Updating formulae and a pairwise algorithm for computing sample variances*, 1979):
//!
//! ```text
//! Σ (x - c)²  =  Σ_b ( Σ_{i in b} (x_i - m_b)²  +  n_b (m_b - c)² )      m_b = Σ_{i in b} x_i / n_b
//! ```
//!
//! Nothing of this cancels, as sums of squares would. It is the laws `acc-acc` and `factor` over blocks: sums in parts,
//! and what does not change along a part is taken out of its sum. Like [`crate::factors`] this comes after it is decided
//! what is stored.

use crate::factors::{Opened, Sums, kept, replaced};
use crate::live::nested;
use std::collections::{HashMap, HashSet};
use surject_index::{Affine, Component, Extent, IndexMap, Space};
use surject_ir::range::Ranges;
use surject_ir::{
    AccOp, BinaryOp, Block, DType, FieldId, FieldKind, Function, Scalar, Statement, StatementKind, TypeError,
    Var,
};

/// Bytes that a sum runs through before it is at the same place again, from which on no cache holds them.
const FAR: i64 = 16 << 20;
/// The most bytes of a block, and the least terms.
const BLOCK: i64 = 128 << 10;
const TERMS: i64 = 16;

/// Makes variances in blocks, where it saves a pass over memory; gives their number.
pub(crate) fn in_blocks(function: &mut Function) -> Result<usize, TypeError> {
    from(function, FAR)
}

/// As [`in_blocks`], for sums that run through so many bytes.
fn from(function: &mut Function, far: i64) -> Result<usize, TypeError> {
    let mut body = std::mem::take(&mut function.body);
    let mut sums = Sums::new(function, Ranges::default(), false);
    let done = blocks(&mut sums, &mut body, far);
    function.body = body;
    done
}

fn blocks(sums: &mut Sums<'_>, block: &mut Block, far: i64) -> Result<usize, TypeError> {
    let mut count = 0;
    for statement in &mut block.statements {
        for inner in nested(statement) {
            count += blocks(sums, inner, far)?;
        }
    }
    while let Some(variance) = find(sums, block, far)?
        && write(sums, block, &variance)?
    {
        count += 1;
    }
    Ok(count)
}

/// A sum of squared distances from the mean.
struct Variance {
    /// It, and the sum that the mean is made of.
    of_squares: FieldId,
    of_terms: FieldId,
    /// What is summed, and where to.
    terms: FieldId,
    map: IndexMap,
    /// The mean, and the map of the sum in it, which keeps the same axes.
    mean: FieldId,
    of_mean: IndexMap,
    cut: Cut,
    /// A point of the sum's space from a block and a point in it.
    point: IndexMap,
    /// The statement that needs it first.
    at: usize,
}

/// How the space of a sum is cut into blocks.
struct Cut {
    /// Axes outside of the blocks and inside, in the order of memory; an axis that is cut is among both.
    outside: Vec<(usize, i64)>,
    inside: Vec<(usize, i64)>,
}

fn space(axes: &[(usize, i64)]) -> Space {
    Space::new(axes.iter().map(|a| Extent::from(a.1.unsigned_abs())))
}

impl Cut {
    /// A point of the whole space from a block and a point in it.
    fn point(&self, whole: &Space) -> Option<IndexMap> {
        let rank = self.outside.len() + self.inside.len();
        let position = |a: usize| -> Affine {
            let mut sum = Affine::fixed(rank, 0);
            let inside = self.inside.iter().position(|i| i.0 == a);
            if let Some(o) = self.outside.iter().position(|o| o.0 == a) {
                sum.coeffs[o] = inside.map_or(1, |i| self.inside[i].1);
            }
            if let Some(i) = inside {
                sum.coeffs[self.outside.len() + i] = 1;
            }
            sum
        };
        let both = space(&self.outside).product(&space(&self.inside));
        IndexMap::total(both, whole.clone(), (0..whole.rank()).map(position).collect()).ok()
    }
}

/// The first variance that is better made in blocks.
fn find(sums: &mut Sums<'_>, block: &Block, far: i64) -> Result<Option<Variance>, TypeError> {
    let stored: HashMap<Var, FieldId> = block
        .statements
        .iter()
        .filter_map(|s| match s.kind {
            StatementKind::Store { target, field } => Some((target, field)),
            _ => None,
        })
        .collect();
    for (at, statement) in block.statements.iter().enumerate() {
        let StatementKind::Store { field, .. } = statement.kind else { continue };
        for id in sums.f.fields.reachable(&[field]) {
            if let Some(found) = variance(sums, id, &stored, far)? {
                let needs = |s: &Statement| match s.kind {
                    StatementKind::Store { field, .. } => {
                        sums.f.fields.reachable(&[field]).contains(&found.of_terms)
                    }
                    _ => false,
                };
                let first = block.statements.iter().position(needs).unwrap_or(at);
                return Ok(Some(Variance { at: first.min(at), ..found }));
            }
        }
    }
    Ok(None)
}

fn variance(
    sums: &mut Sums<'_>,
    id: FieldId,
    stored: &HashMap<Var, FieldId>,
    far: i64,
) -> Result<Option<Variance>, TypeError> {
    let FieldKind::Acc { op: AccOp::Add, map, of } = &sums.f.fields[id].kind else { return Ok(None) };
    let (map, of) = (map.clone(), *of);
    if !matches!(sums.f.fields[id].dtype, DType::F32 | DType::F64) {
        return Ok(None);
    }
    let Opened::Product(x, y) = sums.opened(of)? else { return Ok(None) };
    if x != y {
        return Ok(None);
    }
    let Some((terms, centre)) = difference(sums, x)? else { return Ok(None) };
    let Some((mean, of_terms, of_mean)) = mean(sums, centre, terms, &map, stored)? else { return Ok(None) };
    let Some(cut) = cut(sums, terms, &map, far) else { return Ok(None) };
    let point = cut.point(map.domain());
    let of_squares = id;
    Ok(point.map(|point| Variance { of_squares, of_terms, terms, map, mean, of_mean, cut, point, at: 0 }))
}

/// A field as a difference, behind reads too.
fn difference(sums: &mut Sums<'_>, id: FieldId) -> Result<Option<(FieldId, FieldId)>, TypeError> {
    let (map, of) = sums.behind(id);
    match sums.f.fields[of].kind {
        FieldKind::Binary { op: BinaryOp::Sub, x, y } => Ok(Some((sums.read(&map, x)?, sums.read(&map, y)?))),
        _ => Ok(None),
    }
}

/// The axes that a map keeps, if it leaves no position out.
fn onto(map: &IndexMap) -> Option<Vec<Option<usize>>> {
    kept(map).filter(|_| map.surjective().is_yes())
}

/// Is a field, at every point of a sum's space, the mean of the terms that go where the point goes? Gives the mean, the
/// sum in it, and the map of that.
fn mean(
    sums: &mut Sums<'_>,
    centre: FieldId,
    terms: FieldId,
    map: &IndexMap,
    stored: &HashMap<Var, FieldId>,
) -> Result<Option<(FieldId, FieldId, IndexMap)>, TypeError> {
    let FieldKind::Read { map: place, of } = &sums.f.fields[centre].kind else { return Ok(None) };
    let (place, mean) = (place.clone(), *of);
    let made = match &sums.f.fields[mean].kind {
        FieldKind::Tensor(var) => stored.get(var).copied(),
        _ => Some(mean),
    };
    let Some(FieldKind::Binary { op: BinaryOp::Div, x, y }) = made.map(|m| sums.f.fields[m].kind.clone())
    else {
        return Ok(None);
    };
    let FieldKind::Acc { op: AccOp::Add, map: of_mean, of } = &sums.f.fields[x].kind else { return Ok(None) };
    let (of_mean, of) = (of_mean.clone(), *of);
    let (Some(axes), Some(of_axes)) = (onto(map), onto(&of_mean)) else { return Ok(None) };
    // Every point reads the mean at its own place.
    let at = |(component, axis): (&Affine, &Option<usize>)| match component.component() {
        Component::Iter(a) => *axis == Some(a),
        Component::Fixed(0) => axis.is_none(),
        _ => false,
    };
    let own = place.is_total() && place.components().iter().zip(&of_axes).all(at);
    let set = |axes: &[Option<usize>]| axes.iter().copied().flatten().collect::<HashSet<usize>>();
    let points = |space: &Space| space.points().map(|n| n as f64);
    let (Some(all), Some(values)) = (points(map.domain()), points(map.codomain())) else { return Ok(None) };
    let count = FieldKind::Const(Scalar::from_f64(sums.f.fields[y].dtype, all / values));
    let same = own
        && of_mean.domain() == map.domain()
        && set(&axes) == set(&of_axes)
        && sums.f.fields[y].kind == count
        && sums.read(&IndexMap::identity(map.domain()), of)? == terms;
    Ok(same.then_some((mean, x, of_mean)))
}

/// Blocks of a sum that runs through more than the caches hold.
fn cut(sums: &Sums<'_>, terms: FieldId, map: &IndexMap, far: i64) -> Option<Cut> {
    let sizes = map.domain().sizes()?;
    let size = sums.f.fields[terms].dtype.size() as i64;
    let order = in_memory(sums, terms, map.domain())?;
    let summed = map.free_axes();
    let first = order.iter().position(|a| summed.contains(a))?;
    let bytes = |axes: &[usize]| axes.iter().try_fold(size, |n, &a| n.checked_mul(sizes[a]));
    if bytes(&order[first..])? < far {
        return None;
    }
    // From the last axis on, as long as a block is small; then a part of the next.
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    let (mut count, mut room, mut open) = (1, BLOCK / size, true);
    for &a in order.iter().rev() {
        let n = sizes[a];
        if !summed.contains(&a) {
            outside.push((a, n));
            room /= n;
            continue;
        }
        let most = if open { room } else { 1 };
        let part = if n <= most { n } else { (1..=most.min(n)).rev().find(|d| n % d == 0).unwrap_or(1) };
        open &= part == n;
        if part > 1 {
            inside.push((a, part));
        }
        if n / part > 1 || part == 1 {
            outside.push((a, n / part));
        }
        (count, room) = (count * part, room / part);
    }
    inside.reverse();
    outside.reverse();
    (count >= TERMS).then_some(Cut { outside, inside })
}

/// The axes of a space as they lie in memory, the last one side by side: as the largest tensor has them that a field
/// without reductions reads.
fn in_memory(sums: &Sums<'_>, terms: FieldId, space: &Space) -> Option<Vec<usize>> {
    let fields = &sums.f.fields;
    let reached = fields.reachable(&[terms]);
    if reached.iter().any(|&id| matches!(fields[id].kind, FieldKind::Acc { .. })) {
        return None;
    }
    let read = |&id: &FieldId| match &fields[id].kind {
        FieldKind::Tensor(_) if id == terms => Some(IndexMap::identity(space)),
        FieldKind::Read { map, of } if map.domain() == space => {
            matches!(fields[*of].kind, FieldKind::Tensor(_)).then(|| map.clone())
        }
        _ => None,
    };
    let orders = reached.iter().filter_map(read).filter_map(|map| map.is_projection());
    orders.filter(|axes| axes.len() == space.rank()).max()
}

/// Writes the sums of the blocks, and what is made of them in place of the sums.
fn write(sums: &mut Sums<'_>, block: &mut Block, variance: &Variance) -> Result<bool, TypeError> {
    let Variance { of_squares, of_terms, terms, map, mean, of_mean, cut, point, at } = variance;
    let dtype = sums.f.fields[*terms].dtype;
    let outer = space(&cut.outside);
    let both = point.domain();
    let to_block = IndexMap::projection(both, &(0..cut.outside.len()).collect::<Vec<_>>());
    // Where a block goes.
    let rank = cut.outside.len();
    let through = |map: &IndexMap| -> Option<IndexMap> {
        let place = |a: usize| cut.outside.iter().position(|o| o.0 == a).map(|o| Affine::axis(rank, o));
        let component = |axis: Option<usize>| axis.map_or(Some(Affine::fixed(rank, 0)), place);
        let components = kept(map)?.into_iter().map(component).collect::<Option<_>>()?;
        IndexMap::total(outer.clone(), map.codomain().clone(), components).ok()
    };
    let (Some(to_all), Some(to_mean)) = (through(map), through(of_mean)) else { return Ok(false) };

    let x = sums.read(point, *terms)?;
    let part = sums.f.fields.acc(AccOp::Add, to_block.clone(), x)?;
    let part_var = sums.f.var_for("part", part);
    let part_sum = sums.f.tensor(part_var);
    let n = cut.inside.iter().map(|i| i.1).product::<i64>() as f64;
    let n = sums.f.fields.constant(&outer, Scalar::from_f64(dtype, n));
    let centre = sums.f.fields.binary(BinaryOp::Div, part_sum, n)?;
    let inside = sums.read(&to_block, centre)?;
    let distance = sums.f.fields.binary(BinaryOp::Sub, x, inside)?;
    let square = sums.f.fields.binary(BinaryOp::Mul, distance, distance)?;
    let squares = sums.f.fields.acc(AccOp::Add, to_block, square)?;
    let squares_var = sums.f.var_for("squares", squares);
    let squares_sum = sums.f.tensor(squares_var);

    let all = sums.f.fields.acc(AccOp::Add, to_mean.clone(), part_sum)?;
    let mean = sums.read(&to_mean, *mean)?;
    let apart = sums.f.fields.binary(BinaryOp::Sub, centre, mean)?;
    let apart_squared = sums.f.fields.binary(BinaryOp::Mul, apart, apart)?;
    let between = sums.f.fields.binary(BinaryOp::Mul, n, apart_squared)?;
    let both = sums.f.fields.binary(BinaryOp::Add, squares_sum, between)?;
    let all_squares = sums.f.fields.acc(AccOp::Add, to_all, both)?;

    // A mean that is not stored is made of the parts too.
    let first = HashMap::from([(*of_terms, all)]);
    let all_squares = replaced(sums.f, all_squares, &first)?;
    let new = HashMap::from([(*of_terms, all), (*of_squares, all_squares)]);
    for statement in &mut block.statements {
        if let StatementKind::Store { field, .. } = &mut statement.kind {
            *field = replaced(sums.f, *field, &new)?;
        }
    }
    let origin = block.statements[*at].origin.clone();
    let store =
        |target, field| Statement { kind: StatementKind::Store { target, field }, origin: origin.clone() };
    block.statements.splice(*at..*at, [store(part_var, part), store(squares_var, squares)]);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::{interp, testing};

    /// What a program gives before and after, and its text after.
    fn changed(text: &str, far: i64) -> (usize, [Vec<Vec<f64>>; 2], String) {
        let mut program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let inputs = testing::random_args(program.main().unwrap(), 7);
        let run = |program: &surject_ir::Program| -> Vec<Vec<f64>> {
            let results = interp::run(program, "main", &inputs).unwrap();
            results.iter().map(|r| (0..r.len()).map(|i| r.get(i).as_f64()).collect()).collect()
        };
        let before = run(&program);
        let count = from(&mut program.functions[0], far).unwrap();
        surject_ir::verify(&program).unwrap();
        (count, [before, run(&program)], surject_ir::print(&program))
    }

    fn close([before, after]: [Vec<Vec<f64>>; 2]) {
        for (x, y) in before.iter().flatten().zip(after.iter().flatten()) {
            assert!((x - y).abs() <= 1e-9 * x.abs().max(1.0), "{x} {y}");
        }
    }

    fn batch(n: u64, h: u64, w: u64, c: u64) -> String {
        let count = n * h * w;
        format!(
            "func main(x: f64[{n},{h},{w},{c}]) -> (y) {{
  m : f64[{c}] =: over i<{c}: (+ over i<{c}, j<{n}, k<{h}, l<{w} at [i]: x[j,k,l,i]) / {count}.0f64
  let d : f64[{n},{h},{w},{c}] =: over j<{n}, k<{h}, l<{w}, i<{c}: x[j,k,l,i] - m[i]
  v : f64[{c}] =: over i<{c}: (+ over i<{c}, j<{n}, k<{h}, l<{w} at [i]: d[j,k,l,i] * d[j,k,l,i]) / {count}.0f64
  y : f64[{n},{h},{w},{c}] =: over j<{n}, k<{h}, l<{w}, i<{c}: d[j,k,l,i] / sqrt(v[i])
}}
"
        )
    }

    #[test]
    fn variances_of_channels() {
        for (n, h, w, c) in [(5, 7, 20, 3), (2, 96, 24, 64), (3, 16, 1, 9)] {
            let (count, results, text) = changed(&batch(n, h, w, c), 64);
            assert_eq!(count, 1, "{text}");
            close(results);
        }
        insta::assert_snapshot!(changed(&batch(2, 96, 24, 64), 64).2);
    }

    #[test]
    fn variances_of_rows_and_of_everything() {
        let text = "func main(x: f64[6,10,32]) -> (s, y) {
  let m : f64[1,1,1] =: over i<1, j<1, k<1: (+ over i<6, j<10, k<32 at [0,0,0]: x[i,j,k]) / 1920.0f64
  let d : f64[6,10,32] =: over i<6, j<10, k<32: x[i,j,k] - m[0,0,0]
  s : f64[] =: sqrt((+ over i<6, j<10, k<32 at []: d[i,j,k] * d[i,j,k]) / 1920.0f64)
  let a : f64[6] =: over i<6: (+ over i<6, j<10, k<32 at [i]: x[i,j,k]) / 320.0f64
  let b : f64[6,10,32] =: over i<6, j<10, k<32: x[i,j,k] - a[i]
  y : f64[6] =:+ over i<6, j<10, k<32 at [i]: b[i,j,k] * b[i,j,k]
}
";
        let (count, results, text) = changed(text, 64);
        assert_eq!(count, 2, "{text}");
        close(results);
    }

    /// A centre that is no mean, the mean of something else, sums that fit in the caches, and lengths that have no
    /// divisor.
    #[test]
    fn what_stays() {
        let mean = batch(5, 7, 20, 3);
        for (text, far) in [
            (mean.clone(), FAR),
            (mean.replacen("700.0f64", "701.0f64", 1), 64),
            (mean.replacen("x[j,k,l,i])", "abs(x[j,k,l,i]))", 1), 64),
            (mean.replacen("x[j,k,l,i])", "x[j,k,19 - l,i])", 1), 64),
            (batch(1, 1, 23, 3000), 64),
        ] {
            let (count, _, after) = changed(&text, far);
            assert_eq!(count, 0, "{after}");
        }
    }
}
