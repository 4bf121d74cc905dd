//! Random index maps of the families that programs contain: identities, permutations, reversals, projections,
//! broadcasts, strides and offsets, windows, mixed radix, and pads.

use super::Size;
use super::rng::Rng;
use surject_index::{Affine, Extent, Fill, Guard, IndexMap, Space};

/// What a map should be. The families are chosen to make it likely; whether it holds is decided afterwards.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Want {
    pub identity: bool,
    pub total: bool,
    pub partial: bool,
    pub injective: bool,
    pub surjective: bool,
    /// Is something accumulated along it? Then several points share a position, more often than not.
    pub reduces: bool,
}

/// A random space.
pub(super) fn space(rng: &mut Rng, size: &Size) -> Space {
    let scalar = rng.chance(1, 8);
    let rank = if scalar { 0 } else { 1 + rng.below(size.rank as u64) };
    let sizes: Vec<u64> = (0..rank).map(|_| extent(rng, size)).collect();
    Space::of(&sizes)
}

/// A random extent, at times 0.
fn extent(rng: &mut Rng, size: &Size) -> u64 {
    match () {
        _ if size.empty && rng.chance(1, 16) => 0,
        _ if size.long && rng.chance(1, 3) => rng.pick(&super::build::LONG).unwrap_or(1),
        _ => 1 + rng.below(size.extent),
    }
}

/// Components under construction. Axes of the domain that is still open are appended.
struct Sketch {
    domain: Vec<u64>,
    codomain: Vec<u64>,
    /// Terms (axis, coefficient) and offset of each component.
    components: Vec<(Vec<(usize, i64)>, i64)>,
}

/// A random map between these ends, where they are given.
pub(super) fn map(
    rng: &mut Rng,
    size: &Size,
    domain: Option<&Space>,
    codomain: Option<&Space>,
    want: Want,
    fill: u128,
) -> Option<IndexMap> {
    if want.identity || (!want.partial && rng.chance(1, if want.reduces { 40 } else { 12 })) {
        let same = match (domain, codomain) {
            (Some(d), Some(c)) if d != c => None,
            (d, c) => d.or(c).cloned().or_else(|| Some(space(rng, size))),
        };
        if let Some(same) = same {
            return Some(IndexMap::identity(&same));
        }
        if want.identity {
            return None;
        }
    }
    let partial = want.partial || (!want.total && rng.chance(1, 3));
    let sizes = |space: &Space| -> Option<Vec<u64>> {
        Some(space.sizes()?.iter().map(|n| n.unsigned_abs()).collect())
    };
    let mut sketch = match (domain, codomain) {
        (Some(d), Some(c)) => between(rng, sizes(d)?, sizes(c)?, want, partial)?,
        (Some(d), None) => from_domain(rng, size, sizes(d)?, want, partial),
        (None, Some(c)) => into_codomain(rng, size, sizes(c)?, want, partial),
        (None, None) => {
            let start = sizes(&space(rng, size))?;
            if rng.chance(1, 2) {
                from_domain(rng, size, start, want, partial)
            } else {
                into_codomain(rng, size, start, want, partial)
            }
        }
    };
    if domain.is_none() {
        sketch.shuffle_domain(rng);
    }
    sketch.finish(rng, partial, fill)
}

impl Sketch {
    fn axis(&mut self, extent: u64) -> usize {
        self.domain.push(extent);
        self.domain.len() - 1
    }

    fn shuffle_domain(&mut self, rng: &mut Rng) {
        let mut order: Vec<usize> = (0..self.domain.len()).collect();
        rng.shuffle(&mut order);
        self.domain = order.iter().map(|&a| self.domain[a]).collect();
        for (terms, _) in &mut self.components {
            for (axis, _) in terms.iter_mut() {
                *axis = order.iter().position(|&a| a == *axis).unwrap_or(*axis);
            }
        }
    }

    fn finish(self, rng: &mut Rng, partial: bool, fill: u128) -> Option<IndexMap> {
        let rank = self.domain.len();
        let affine = |(terms, offset): &(Vec<(usize, i64)>, i64)| {
            let mut affine = Affine::fixed(rank, *offset);
            terms.iter().for_each(|&(axis, c)| affine.coeffs[axis] += c);
            affine
        };
        let components: Vec<Affine> = self.components.iter().map(affine).collect();
        let (domain, codomain) = (Space::of(&self.domain), Space::of(&self.codomain));
        if !partial {
            return IndexMap::total(domain, codomain, components).ok();
        }
        let mut guards = Vec::new();
        if rank > 0 && rng.chance(1, 3) {
            let mut expr = Affine::strided(rank, rng.below(rank as u64) as usize, 1, rng.between(-1, 1));
            if rng.chance(1, 3) {
                expr.coeffs[rng.below(rank as u64) as usize] += rng.between(-1, 1);
            }
            guards.push(Guard { expr, bound: Extent::Const(rng.below(4)) });
        }
        IndexMap::partial(domain, codomain, components, guards, Fill(fill)).ok()
    }
}

/// The offset and coefficient of a whole axis, at times reversed.
fn whole(rng: &mut Rng, axis: usize, extent: u64) -> (Vec<(usize, i64)>, i64) {
    if extent > 1 && rng.chance(1, 5) { (vec![(axis, -1)], extent as i64 - 1) } else { (vec![(axis, 1)], 0) }
}

/// A map into a space: an axis of the domain, or two, for each axis of it.
fn into_codomain(rng: &mut Rng, size: &Size, codomain: Vec<u64>, want: Want, partial: bool) -> Sketch {
    let mut sketch = Sketch { domain: Vec::new(), codomain, components: Vec::new() };
    for position in 0..sketch.codomain.len() {
        let n = sketch.codomain[position];
        let divisor = (2..n).find(|&d| n.is_multiple_of(d));
        let free = !want.surjective;
        let component = match rng.below(8) {
            _ if partial && rng.chance(1, 2) => {
                let axis = sketch.axis(1 + rng.below(n + 2));
                (vec![(axis, rng.pick(&[1, 1, 2, -1]).unwrap_or(1))], rng.between(-2, n as i64))
            }
            _ if n == 0 => {
                let axis = sketch.axis(0);
                (vec![(axis, 1)], 0)
            }
            0 if let Some(d) = divisor => {
                let (outer, inner) = (sketch.axis(n / d), sketch.axis(d));
                (vec![(outer, d as i64), (inner, 1)], 0)
            }
            1 if n == 1 && rng.chance(1, 2) => (Vec::new(), 0),
            1 | 2 if free => (Vec::new(), rng.below(n) as i64),
            3 | 4 if free => {
                let stride = 1 + rng.below(2);
                let offset = rng.below(n);
                let most = (n - 1 - offset) / stride + 1;
                let axis = sketch.axis(rng.below(most) + 1);
                (vec![(axis, stride as i64)], offset as i64)
            }
            5 if n > 1 && !want.injective => {
                let first = 1 + rng.below(n);
                let (i, j) = (sketch.axis(first), sketch.axis(n + 1 - first));
                (vec![(i, 1), (j, 1)], 0)
            }
            6 if free && !want.injective && !sketch.domain.is_empty() => {
                let axis = rng.below(sketch.domain.len() as u64) as usize;
                if sketch.domain[axis] <= n { (vec![(axis, 1)], 0) } else { (Vec::new(), 0) }
            }
            _ => {
                let axis = sketch.axis(n);
                whole(rng, axis, n)
            }
        };
        sketch.components.push(component);
    }
    let extra = match want.injective {
        true => 0,
        false if want.reduces => rng.below(3),
        false => rng.below(2),
    };
    for _ in 0..extra {
        let extent = extent(rng, size);
        sketch.axis(extent);
    }
    if rng.chance(1, 8) {
        sketch.axis(1);
    }
    sketch
}

/// A map out of a space: each axis of the codomain is an axis of it, or two.
fn from_domain(rng: &mut Rng, size: &Size, domain: Vec<u64>, want: Want, partial: bool) -> Sketch {
    let mut order: Vec<usize> = (0..domain.len()).collect();
    if rng.chance(2, 3) {
        rng.shuffle(&mut order);
    }
    let mut sketch = Sketch { domain, codomain: Vec::new(), components: Vec::new() };
    while let Some(axis) = order.pop() {
        let n = sketch.domain[axis];
        let free = !want.surjective;
        match rng.below(8) {
            0 | 1 if !want.injective => continue,
            6 | 7 if want.reduces && !want.injective => continue,
            2 if !order.is_empty() => {
                let other = order.pop().unwrap_or(axis);
                let m = sketch.domain[other];
                if want.injective || rng.chance(1, 2) {
                    sketch.codomain.push(n * m);
                    sketch.components.push((vec![(axis, m.max(1) as i64), (other, 1)], 0));
                } else {
                    sketch.codomain.push(if n == 0 || m == 0 { 0 } else { n + m - 1 });
                    sketch.components.push((vec![(axis, 1), (other, 1)], 0));
                }
            }
            3 | 4 if free || partial => {
                let stride = 1 + rng.below(2);
                let offset = rng.below(3);
                let reach = if n == 0 { 0 } else { (n - 1) * stride + offset + 1 };
                let missing = if partial { rng.below(3) } else { 0 };
                sketch.codomain.push((reach + rng.below(2)).saturating_sub(missing));
                let shift = if partial { rng.between(-2, 0) } else { 0 };
                sketch.components.push((vec![(axis, stride as i64)], offset as i64 + shift));
            }
            5 if free && rng.chance(1, 2) => {
                let c = rng.below(size.extent);
                sketch.codomain.push(c + 1 + rng.below(2));
                sketch.components.push((Vec::new(), c as i64));
                order.push(axis);
            }
            _ if n == 1 && rng.chance(1, 3) => continue,
            _ => {
                sketch.codomain.push(n);
                let component = whole(rng, axis, n);
                sketch.components.push(component);
            }
        }
    }
    if rng.chance(1, 8) {
        sketch.codomain.push(1);
        sketch.components.push((Vec::new(), 0));
    }
    sketch
}

/// A map between two given spaces.
fn between(rng: &mut Rng, domain: Vec<u64>, codomain: Vec<u64>, want: Want, partial: bool) -> Option<Sketch> {
    let mut unused: Vec<usize> = (0..domain.len()).collect();
    if rng.chance(1, 2) {
        rng.shuffle(&mut unused);
    }
    let mut sketch = Sketch { domain, codomain, components: Vec::new() };
    for position in 0..sketch.codomain.len() {
        let n = sketch.codomain[position];
        let fits = |axis: usize, sketch: &Sketch| {
            let m = sketch.domain[axis];
            partial || if want.surjective { m == n } else { m <= n }
        };
        let place = unused.iter().position(|&axis| fits(axis, &sketch));
        let component = match place {
            Some(place) if !rng.chance(1, 6) || want.injective => {
                let axis = if want.injective { unused.remove(place) } else { unused[place] };
                let slack = n.saturating_sub(sketch.domain[axis]);
                match partial {
                    true => (vec![(axis, 1)], rng.between(-1, 1)),
                    false if slack == 0 => whole(rng, axis, n),
                    false => (vec![(axis, 1)], rng.below(slack + 1) as i64),
                }
            }
            _ if n == 0 && !partial => return None,
            _ => (Vec::new(), rng.below(n) as i64),
        };
        sketch.components.push(component);
    }
    Some(sketch)
}
