//! Random maps, and brute force.
#![allow(dead_code)] // Each test binary uses its own part.

use std::collections::HashMap;
use surject_index::{Affine, Extent, Fill, Guard, IndexMap, Space};

/// A deterministic generator (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `low..=high`.
    pub fn range(&mut self, low: i64, high: i64) -> i64 {
        low + (self.next() % (high - low + 1) as u64) as i64
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    pub fn space(&mut self, max_rank: i64, low: i64, high: i64) -> Space {
        let rank = self.range(0, max_rank);
        Space::new((0..rank).map(|_| Extent::Const(self.range(low, high) as u64)))
    }

    /// Extents from 1, or from 0 with this probability.
    pub fn space_with_zeros(&mut self, max_rank: i64, percent: u64, high: i64) -> Space {
        let low = if self.chance(percent) { 0 } else { 1 };
        self.space(max_rank, low, high)
    }

    pub fn affine(&mut self, rank: usize, coeff: i64, offset: i64) -> Affine {
        let coeffs = (0..rank).map(|_| if self.chance(50) { self.range(-coeff, coeff) } else { 0 }).collect();
        Affine { coeffs, offset: self.range(-offset, offset) }
    }

    /// A total map from a space; its codomain is the tight box, or a little more.
    pub fn total(&mut self, domain: &Space, max_rank: i64) -> IndexMap {
        let rank = self.range(0, max_rank);
        let mut extents = Vec::new();
        let mut components = Vec::new();
        for _ in 0..rank {
            let mut c = self.affine(domain.rank(), 3, 3);
            match c.range(domain) {
                Some((low, high)) => {
                    let (before, after) =
                        if self.chance(70) { (0, 0) } else { (self.range(0, 2), self.range(0, 2)) };
                    c.offset += before - low;
                    extents.push(Extent::Const((high - low + 1 + before + after) as u64));
                }
                None => extents.push(Extent::Const(self.range(0, 4) as u64)),
            }
            components.push(c);
        }
        IndexMap::total(domain.clone(), Space::new(extents), components).expect("in range by construction")
    }

    /// A total map into a given space, by rejection.
    pub fn total_into(&mut self, domain: &Space, codomain: &Space) -> Option<IndexMap> {
        for _ in 0..20 {
            let components = (0..codomain.rank())
                .map(|axis| {
                    for _ in 0..20 {
                        let mut c = self.affine(domain.rank(), 3, 0);
                        if let Some((low, high)) = c.range(domain) {
                            let n = codomain.extent(axis).as_const().unwrap() as i64;
                            if high - low < n {
                                c.offset += self.range(0, n - 1 - (high - low)) - low;
                                return c;
                            }
                        }
                    }
                    Affine::fixed(domain.rank(), 0)
                })
                .collect();
            if let Ok(map) = IndexMap::total(domain.clone(), codomain.clone(), components) {
                return Some(map);
            }
        }
        None
    }

    /// A partial map into a given space: components that may leave it, and further guards.
    pub fn partial_into(&mut self, domain: &Space, codomain: &Space, fill: Fill) -> IndexMap {
        let components = (0..codomain.rank()).map(|_| self.affine(domain.rank(), 3, 3)).collect();
        let guards = (0..self.range(0, 2))
            .map(|_| {
                let bound = Extent::Const(self.range(0, 6) as u64);
                Guard { expr: self.affine(domain.rank(), 3, 3), bound }
            })
            .collect();
        IndexMap::partial(domain.clone(), codomain.clone(), components, guards, fill).expect("arity")
    }
}

/// Every pair of a point and its position.
pub fn graph(map: &IndexMap) -> Vec<(Vec<i64>, Vec<i64>)> {
    map.domain().iter_points().unwrap().filter_map(|p| map.apply(&p).map(|d| (p, d))).collect()
}

/// The points of each position.
pub fn fibres(map: &IndexMap) -> HashMap<Vec<i64>, Vec<Vec<i64>>> {
    let mut result: HashMap<_, Vec<_>> = HashMap::new();
    for (p, d) in graph(map) {
        result.entry(d).or_default().push(p);
    }
    result
}

pub fn brute_injective(map: &IndexMap) -> bool {
    fibres(map).values().all(|f| f.len() == 1)
}

pub fn brute_surjective(map: &IndexMap) -> bool {
    fibres(map).len() as u64 == map.codomain().points().unwrap()
}

/// Is every mapped point's position inside the codomain?
pub fn well_formed(map: &IndexMap) -> bool {
    let sizes = map.codomain().sizes().unwrap();
    graph(map).iter().all(|(_, d)| d.iter().zip(&sizes).all(|(&x, &n)| 0 <= x && x < n))
}
