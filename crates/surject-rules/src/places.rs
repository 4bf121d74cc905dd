//! Where an index map takes the points of its domain, in row-major order.

use surject_index::IndexMap;

/// The row-major offset in the codomain for each point of the domain; `None` where a guard fails. No answer for a
/// space of unknown size.
pub(crate) fn places(map: &IndexMap) -> Option<Vec<Option<usize>>> {
    let sizes = map.codomain().sizes()?;
    if !map.is_total() {
        let place = |p: Vec<i64>| match map.apply(&p) {
            Some(at) => offset(&sizes, &at).map(Some),
            None => Some(None),
        };
        return map.domain().iter_points()?.map(place).collect();
    }
    // A total map is one affine expression of the linear offset.
    let domain = map.domain().sizes()?;
    let mut steps = vec![0i64; domain.len()];
    let mut start = 0i64;
    for (component, &size) in map.components().iter().zip(&sizes) {
        start = start * size + component.offset;
        steps.iter_mut().zip(&component.coeffs).for_each(|(step, c)| *step = *step * size + c);
    }
    let points = usize::try_from(map.domain().points()?).ok()?;
    let mut result = Vec::with_capacity(points);
    let mut point = vec![0i64; domain.len()];
    let mut at = start;
    for _ in 0..points {
        result.push(Some(usize::try_from(at).ok()?));
        for axis in (0..domain.len()).rev() {
            point[axis] += 1;
            at += steps[axis];
            if point[axis] < domain[axis] {
                break;
            }
            at -= steps[axis] * domain[axis];
            point[axis] = 0;
        }
    }
    Some(result)
}

/// The row-major offset of a position.
fn offset(sizes: &[i64], at: &[i64]) -> Option<usize> {
    usize::try_from(sizes.iter().zip(at).fold(0, |offset, (n, i)| offset * n + i)).ok()
}
