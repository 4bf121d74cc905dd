//! Sums that are the same along an axis of their result: they are made once, without the axis, and stored.
//!
//! ```text
//! t[i,j] = Σ_k b[j,k]     becomes     s[j] = Σ_k b[j,k]  and  t[i,j] = s[j]
//! ```
//!
//! Gradients of sums are full of them: the product of a cotangent of ones by the transpose of a matrix is one. What is
//! the same along the last axis stays where it is, as the statistics of a row do, unless it is all that is stored: a loop
//! along the rows finds it once a row. Like [`crate::early`] this comes after it is decided what is stored.

use crate::factors::{Sums, change_sums, kept, put_instead, stored_before};
use surject_index::{Affine, IndexMap};
use surject_ir::{Block, FieldId, FieldKind, Function, TypeError};

/// Terms that are not summed any more, at least: fewer take no longer than one more tensor does.
const SAVED: f64 = 32_768.0;

/// Makes such sums once; gives their number.
pub(crate) fn make_once(function: &mut Function) -> Result<usize, TypeError> {
    change_sums(function, true, |sums, id, stored| Ok(spread(sums, id, id == stored)), write)
}

/// A sum, and the axes of its product space along which its terms are not the same.
struct Spread {
    id: FieldId,
    axes: Vec<usize>,
}

/// Such a sum, if it is one; is it all that is stored?
fn spread(sums: &mut Sums<'_>, id: FieldId, stored: bool) -> Option<Spread> {
    let FieldKind::Acc { map, of, .. } = &sums.f.fields[id].kind else { return None };
    let (map, of) = (map.clone(), *of);
    let axes: Vec<usize> = kept(&map)?.into_iter().flatten().collect();
    let sizes = map.domain().sizes()?;
    if !map.is_total() || !map.surjective().is_yes() || sizes.contains(&0) {
        return None;
    }
    let deps = sums.deps(of);
    let same = |a: &usize| axes.contains(a) && sizes[*a] > 1 && !deps.contains(*a);
    let last = axes.iter().rfind(|&&a| sizes[a] > 1)?;
    let points = |axes: &[usize]| axes.iter().map(|&a| sizes[a] as f64).product::<f64>();
    let all: Vec<usize> = (0..sizes.len()).collect();
    let left: Vec<usize> = all.iter().copied().filter(|a| !same(a)).collect();
    let summed = left.iter().any(|a| !axes.contains(a) && sizes[*a] > 1);
    let pays = points(&all) - points(&left) >= SAVED;
    (left.len() < all.len() && summed && pays && (stored || !same(last))).then_some(Spread { id, axes: left })
}

/// Stores the sum without what it is the same along, and puts a read of it in the place of what was there.
fn write(sums: &mut Sums<'_>, block: &mut Block, at: usize, spread: &Spread) -> Result<bool, TypeError> {
    let Spread { id, axes } = spread;
    let FieldKind::Acc { op, map, of } = &sums.f.fields[*id].kind else { return Ok(false) };
    let (op, map, of) = (*op, map.clone(), *of);
    let Some(components) = kept(&map) else { return Ok(false) };
    let whole = map.domain();
    let own = whole.select(axes);
    let place = |axis: usize| axes.iter().position(|&a| a == axis);
    // The axes that are left of the result: where they are among its own, and among those of the sum.
    let (from, to): (Vec<usize>, Vec<usize>) =
        components.iter().enumerate().filter_map(|(p, axis)| Some((p, place((*axis)?)?))).unzip();
    let component = |a| place(a).map_or(Affine::fixed(axes.len(), 0), |p| Affine::axis(axes.len(), p));
    let Ok(point) = IndexMap::total(own.clone(), whole.clone(), (0..whole.rank()).map(component).collect())
    else {
        return Ok(false);
    };
    let terms = sums.read(&point, of)?;
    let part = sums.f.fields.acc(op, IndexMap::projection(&own, &to), terms)?;
    let stored = stored_before(sums, block, at, part);
    let again = sums.read(&IndexMap::projection(map.codomain(), &from), stored)?;
    put_instead(sums.f, block, *id, again)?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::{interp, testing};

    /// The number of sums that changed, and the text; results are the same.
    fn changed(text: &str) -> (usize, String) {
        let mut program = surject_ir::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let inputs = testing::random_args(program.main().unwrap(), 11);
        let before = interp::run(&program, "main", &inputs).unwrap();
        let count = make_once(&mut program.functions[0]).unwrap();
        surject_ir::verify(&program).unwrap();
        assert_eq!(before, interp::run(&program, "main", &inputs).unwrap(), "{text}");
        (count, surject_ir::print(&program))
    }

    #[test]
    fn sums_that_are_the_same_along_an_axis() {
        let text = "func main(w: f32[60,40], x: f32[30,50], g: f32[30,60], z: f32[3,20,33]) -> (a, b, c, d) {
  a : f32[30,60] =: over i<30, j<60: g[i,j] * (+ over i<30, j<60, k<40 at [i,j]: w[j,k])
  b : f32[50,40] =:max over i<50, j<40, k<30 at [i,j]: x[k,i]
  c : f32[3,1,70,33] =: over i<3, j<1, k<70, l<33: exp((+ over i<3, j<1, k<70, l<33, m<20 at [i,j,k,l]: (z[i - 1,m,l] where 0 <= i - 1 < 3 else 0.0f32)))
  d : f32[30,60] =: over i<30, j<60: g[i,j] + (+ over i<30, j<60, k<40 at [i,j]: w[j,k])
}
";
        let (count, after) = changed(text);
        assert_eq!(count, 3, "{after}");
        insta::assert_snapshot!(after);
    }

    /// The statistics of rows, what is not worth it, what is no sum, and what depends on all axes.
    #[test]
    fn what_stays() {
        for text in [
            "func main(x: f32[30,50]) -> (y) {\n  y : f32[30,70] =: over i<30, j<70: exp((+ over i<30, j<70, k<50 at [i,j]: x[i,k]))\n}\n",
            "func main(x: f32[30,50]) -> (y) {\n  y : f32[20,30] =: over i<20, j<30: exp((+ over i<20, j<30, k<50 at [i,j]: x[j,k]))\n}\n",
            "func main(x: f32[50]) -> (y) {\n  y : f32[900,50] =:+ over i<900, j<50 at [i,j]: x[j]\n}\n",
            "func main(x: f32[30,50], w: f32[50,70]) -> (y) {\n  y : f32[30,70] =:+ over i<30, j<70, k<50 at [i,j]: x[i,k] * w[k,j]\n}\n",
        ] {
            let (count, after) = changed(text);
            assert_eq!(count, 0, "{after}");
        }
    }
}
