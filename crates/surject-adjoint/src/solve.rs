//! The points that a map sends to a position, as a box: the pull form of a push.

use surject_index::{Affine, Extent, Fill, Guard, IndexMap, Space};

/// The pull form may have this many times the points of the domain. Where it has more (a strided window has), most
/// of them would be outside the guards, and the push is cheaper.
const WASTE: u64 = 4;

/// For `M : P → D` a box `R = D × (some axes of P)` with a partial map to `P` and the projection onto `D`, so that
/// the guarded points of `R` are the pairs `(d, p)` with `M(p) = d` (and `p` inside the guards of `M`), each once:
/// `acc + M g = acc + to_codomain (read to_domain g)`.
///
/// Each component gives one equation, which is solved for an axis that has the coefficient ±1 in it. `None` where a
/// component has none, where sizes are not known, or where `R` is too large.
pub(crate) fn solutions(map: &IndexMap, fill: Fill) -> Option<(IndexMap, IndexMap)> {
    let (domain, codomain) = (map.domain(), map.codomain());
    let sizes = domain.sizes()?;
    let (n, d) = (domain.rank(), codomain.rank());
    // The coordinates: those of D, then those of P. An axis of P that is solved becomes an expression of the others.
    let mut axes: Vec<Affine> = (0..n).map(|a| Affine::axis(d + n, d + a)).collect();
    let mut solved = vec![false; n];
    for (j, component) in map.components().iter().enumerate() {
        if codomain.extent(j).as_const() == Some(1) && component.used_axes().next().is_none() {
            continue;
        }
        let form = component.substitute(&axes, d + n)?;
        let candidate = |&a: &usize| !solved[a] && form.coeffs[d + a].abs() == 1;
        let axis = (0..n).filter(candidate).max_by_key(|&a| sizes[a])?;
        // d_j = sign · axis + rest, so axis = sign · (d_j − rest).
        let sign = form.coeffs[d + axis];
        let mut rest = form;
        rest.coeffs[d + axis] = 0;
        let solution = Affine::fixed(d + n, 0).add_scaled(&Affine::axis(d + n, j), sign)?;
        let solution = solution.add_scaled(&rest, sign.checked_neg()?)?;
        for expression in &mut axes {
            let factor = std::mem::take(&mut expression.coeffs[d + axis]);
            *expression = expression.add_scaled(&solution, factor)?;
        }
        solved[axis] = true;
    }
    // Drop the coordinates that are solved.
    let kept: Vec<usize> = (0..d).chain((0..n).filter(|&a| !solved[a]).map(|a| d + a)).collect();
    let drop = |e: &Affine| Affine { coeffs: kept.iter().map(|&k| e.coeffs[k]).collect(), offset: e.offset };
    let free = (0..n).filter(|&a| !solved[a]).map(|a| domain.extent(a).clone());
    let extents: Vec<Extent> = codomain.extents().iter().cloned().chain(free).collect();
    let space = Space::new(extents);
    if space.points()? > domain.points()?.checked_mul(WASTE)? {
        return None;
    }
    let components: Vec<Affine> = axes.iter().map(drop).collect();
    let pull = |g: &Guard| {
        let expr = g.expr.substitute(&components, space.rank())?;
        Some(Guard { expr, bound: g.bound.clone() })
    };
    let guards = map.guards().iter().map(pull).collect::<Option<Vec<_>>>()?;
    let to_domain = IndexMap::partial(space.clone(), domain.clone(), components, guards, fill).ok()?;
    let to_codomain = IndexMap::projection(&space, &(0..d).collect::<Vec<_>>());
    Some((to_domain, to_codomain))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// The pairs of the pull form are those of the map, each once.
    fn check(text: &str) {
        let map: IndexMap = text.parse().unwrap();
        let (to_domain, to_codomain) = solutions(&map, Fill(0)).unwrap_or_else(|| panic!("{text}"));
        assert!(to_codomain.is_projection().is_some());
        let mut pairs: BTreeMap<(Vec<i64>, Vec<i64>), usize> = BTreeMap::new();
        for p in map.domain().iter_points().unwrap() {
            if let Some(d) = map.apply(&p) {
                pairs.insert((d, p.to_vec()), 0);
            }
        }
        for r in to_domain.domain().iter_points().unwrap() {
            if let Some(p) = to_domain.apply(&r) {
                let d = to_codomain.apply(&r).unwrap();
                *pairs.get_mut(&(d, p)).unwrap_or_else(|| panic!("{text}: a pair too many")) += 1;
            }
        }
        assert!(pairs.values().all(|&n| n == 1), "{text}: {pairs:?}");
    }

    #[test]
    fn windows() {
        check("(o<7, k<3) -> [o + k] in [9]");
        check("(o<9, k<3) -> [o + k - 1] in [9] where 0 <= o + k - 1 < 9 else 0x0");
        check(
            "(n<2, o<5, p<5, k<3, l<2) -> [n, o + 2*k - 1, p - l + 1] in [2,6,7] where 0 <= o + 2*k - 1 < 6 else 0x0",
        );
        check("(i<4, j<3) -> [i + j, 2 - j] in [6,3]");
        check("(i<5, j<2) -> [i, 0, j] in [5,1,2]");
    }

    #[test]
    fn strided_windows_are_pushed() {
        let map: IndexMap = "(o<50, k<3) -> [2*o + k] in [101]".parse().unwrap();
        assert!(solutions(&map, Fill(0)).is_none());
    }
}
