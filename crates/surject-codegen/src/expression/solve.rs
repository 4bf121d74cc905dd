//! Base change: an accumulation, seen from a point of the loops, as a reduction over the points that reach it.
//!
//! Of `acc ⊕ M f` at the position `c(loops)` the terms are the points `p` with `M(p) = c`. The equations are
//! solved for the axes of `p`: what is solved becomes an affine expression of the loops (with a guard where it may
//! leave its range), what stays free becomes a reduction loop.

use crate::expression::address::{Guard, GuardFact, Lin, LoopId, LoopSet};

/// The points that reach a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fibre {
    /// One expression per axis of the product space, over the loops of the position and the unknowns that are free.
    pub axes: Vec<Lin>,
    /// Where the points exist.
    pub guards: Vec<Guard>,
    /// The unknowns that are free, in the order of their axes.
    pub free: Vec<LoopId>,
}

/// Why the points have no such form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They would have if this loop were split into an outer loop and an inner one of this extent.
    Split(LoopId, i64),
    /// They would have if each of these loops had a fixed remainder modulo its number: the position is that of a
    /// stride. Splitting a loop, as [`Refusal::Split`] would, is not enough.
    Residues(Vec<(LoopId, i64)>, Option<(LoopId, i64)>),
    /// They have not.
    NotAffine,
}

/// Solves `Σ_j m_aj · unknown_j + o_a = position_a`. `map` holds the left sides over the unknowns, whose extents
/// (like those of the loops of `position`) are in `extents`.
pub fn solve(map: &[Lin], position: &[Lin], unknowns: &[LoopId], extents: &[i64]) -> Result<Fibre, Refusal> {
    let mut equations = Vec::with_capacity(map.len());
    for (left, right) in map.iter().zip(position) {
        equations.push(left.plus(right, -1).ok_or(Refusal::NotAffine)?);
    }
    let all: LoopSet = unknowns.iter().copied().collect();
    let mut system = System { extents, unknowns: all, solved: Vec::new(), guards: Vec::new() };
    while !equations.is_empty() {
        system.step(&mut equations)?;
    }
    let axes: Vec<Lin> = unknowns
        .iter()
        .map(|&u| system.solved.iter().find(|s| s.0 == u).map_or_else(|| Lin::var(u), |s| s.1.clone()))
        .collect();
    let free = unknowns.iter().copied().filter(|u| system.solved.iter().all(|s| s.0 != *u)).collect();
    Ok(Fibre { axes, guards: system.guards, free })
}

/// Unknowns with their values, and what must be zero besides.
type Digits = (Vec<(LoopId, Lin)>, Option<Lin>);

struct System<'a> {
    extents: &'a [i64],
    unknowns: LoopSet,
    solved: Vec<(LoopId, Lin)>,
    guards: Vec<Guard>,
}

impl System<'_> {
    /// The unknowns of an equation and their coefficients, the largest first.
    fn unknowns_of(&self, equation: &Lin) -> Vec<(LoopId, i64)> {
        let mut found: Vec<_> =
            equation.terms.iter().copied().filter(|t| self.unknowns.contains(t.0)).collect();
        found.sort_by_key(|&(l, c)| (std::cmp::Reverse(c.unsigned_abs()), l));
        found
    }

    fn extent(&self, l: LoopId) -> i64 {
        self.extents[l.0 as usize]
    }

    /// Removes at least one equation.
    fn step(&mut self, equations: &mut Vec<Lin>) -> Result<(), Refusal> {
        // Equations without unknowns are conditions on the loops.
        if let Some(i) = equations.iter().position(|e| self.unknowns_of(e).is_empty()) {
            let expr = equations.remove(i);
            self.require(Guard { expr, bound: 1 });
            return Ok(());
        }
        let by_count = |&i: &usize| self.unknowns_of(&equations[i]).len();
        let order = {
            let mut order: Vec<usize> = (0..equations.len()).collect();
            order.sort_by_key(by_count);
            order
        };
        let (mut refusal, mut weak) = (Refusal::NotAffine, Refusal::NotAffine);
        for &i in &order {
            match self.digits(&equations[i]) {
                Ok((solutions, remainder)) => {
                    equations.remove(i);
                    for (l, value) in solutions {
                        self.assign(l, value, equations)?;
                    }
                    if let Some(expr) = remainder {
                        self.require(Guard { expr, bound: 1 });
                    }
                    return Ok(());
                }
                // The remainders of one loop are asked for where nothing else helps.
                Err(one @ Refusal::Residues(_, None)) if matches!(&one, Refusal::Residues(all, _) if all.len() == 1) =>
                {
                    weak = one;
                }
                Err(other) if refusal == Refusal::NotAffine => refusal = other,
                Err(_) => {}
            }
        }
        if refusal != Refusal::NotAffine {
            return Err(refusal);
        }
        // A unit coefficient: the axis with the largest extent is solved, the others stay free.
        for &i in &order {
            let units = self.unknowns_of(&equations[i]).into_iter().filter(|t| t.1.abs() == 1);
            if let Some((l, c)) = units.max_by_key(|t| self.extent(t.0)) {
                let mut rest = equations.remove(i);
                rest.terms.retain(|t| t.0 != l);
                let value = rest.times(-c).ok_or(Refusal::NotAffine)?;
                return self.assign(l, value, equations);
            }
        }
        Err(weak)
    }

    /// Solves an equation whose unknowns are the digits of a mixed radix: every coefficient is larger than what
    /// the smaller ones can sum up to. Gives the digits, and what must be zero in the end.
    fn digits(&self, equation: &Lin) -> Result<Digits, Refusal> {
        let unknowns = self.unknowns_of(equation);
        let negative = unknowns.iter().all(|t| t.1 < 0);
        if !negative && !unknowns.iter().all(|t| t.1 > 0) {
            return Err(Refusal::NotAffine);
        }
        // Σ m_j u_j = rest, with positive m_j.
        let mut rest = equation.clone();
        rest.terms.retain(|t| !self.unknowns.contains(t.0));
        let mut rest = rest.times(if negative { 1 } else { -1 }).ok_or(Refusal::NotAffine)?;
        let mut below = 0i64;
        for &(l, c) in unknowns.iter().rev() {
            let reach =
                c.checked_abs().and_then(|c| c.checked_mul(self.extent(l) - 1)).ok_or(Refusal::NotAffine)?;
            if c.abs() <= below {
                return Err(Refusal::NotAffine);
            }
            below = below.checked_add(reach).ok_or(Refusal::NotAffine)?;
        }
        let mut solutions = Vec::with_capacity(unknowns.len());
        for (position, &(l, c)) in unknowns.iter().enumerate() {
            let radix = c.abs();
            let mut digit = Lin::constant(rest.offset.div_euclid(radix));
            let mut lower = Lin::constant(rest.offset.rem_euclid(radix));
            for &(k, f) in &rest.terms {
                if f % radix == 0 {
                    digit.terms.push((k, f / radix));
                } else {
                    lower.terms.push((k, f));
                }
            }
            let last = position + 1 == unknowns.len();
            let fits = lower.range(self.extents).is_some_and(|digit| digit.low >= 0 && digit.high < radix);
            // With one unknown of coefficient 1 everything is divisible; otherwise what is left must be a
            // remainder, or the quotient is not what it seems.
            if !fits {
                return Err(self.split(&lower, radix));
            }
            solutions.push((l, digit));
            rest = lower;
            if last && rest == Lin::default() {
                return Ok((solutions, None));
            }
        }
        Ok((solutions, Some(rest)))
    }

    /// The split of a loop that would make a remainder fit, or the remainders that would make it known.
    fn split(&self, lower: &Lin, radix: i64) -> Refusal {
        let mut split = None;
        for &(l, f) in &lower.terms {
            if f > 0 && radix % f == 0 {
                let inner = radix / f;
                if inner > 1 && self.extent(l) > inner && self.extent(l) % inner == 0 {
                    split = Some((l, inner));
                    break;
                }
            }
        }
        match (split, &lower.terms[..]) {
            (Some((l, inner)), [_]) => Refusal::Split(l, inner),
            (_, [_, ..]) => {
                let modulus = |f: i64| radix / gcd(radix, f);
                Refusal::Residues(lower.terms.iter().map(|&(l, f)| (l, modulus(f))).collect(), split)
            }
            _ => Refusal::NotAffine,
        }
    }

    /// Records a solution and puts it into everything that uses the unknown.
    fn assign(&mut self, l: LoopId, value: Lin, equations: &mut [Lin]) -> Result<(), Refusal> {
        for (_, lin) in &mut self.solved {
            *lin = lin.substitute(l, &value).ok_or(Refusal::NotAffine)?;
        }
        for guard in &mut self.guards {
            guard.expr = guard.expr.substitute(l, &value).ok_or(Refusal::NotAffine)?;
        }
        for equation in equations {
            *equation = equation.substitute(l, &value).ok_or(Refusal::NotAffine)?;
        }
        self.require(Guard { expr: value.clone(), bound: self.extent(l) });
        self.solved.push((l, value));
        Ok(())
    }

    fn require(&mut self, guard: Guard) {
        if guard.fact(self.extents) != GuardFact::Always && !self.guards.contains(&guard) {
            self.guards.push(guard);
        }
    }
}

/// The greatest common divisor.
pub fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lin(terms: &[(u8, i64)], offset: i64) -> Lin {
        Lin { terms: terms.iter().map(|&(l, c)| (LoopId(l), c)).collect(), offset }
    }

    #[test]
    fn a_projection_leaves_the_reduced_axis_free() {
        // position (q0), map (u1, u2) -> u1
        let fibre =
            solve(&[lin(&[(1, 1)], 0)], &[lin(&[(0, 1)], 0)], &[LoopId(1), LoopId(2)], &[4, 4, 5]).unwrap();
        assert_eq!(fibre.axes, vec![lin(&[(0, 1)], 0), lin(&[(2, 1)], 0)]);
        assert!(fibre.guards.is_empty());
        assert_eq!(fibre.free, vec![LoopId(2)]);
    }

    #[test]
    fn merged_axes_are_read_off_as_digits() {
        // 8 q0 + q1 = 8 u2 + u3
        let merged = |a, b| lin(&[(a, 8), (b, 1)], 0);
        let fibre = solve(&[merged(2, 3)], &[merged(0, 1)], &[LoopId(2), LoopId(3)], &[4, 8, 4, 8]).unwrap();
        assert_eq!(fibre.axes, vec![lin(&[(0, 1)], 0), lin(&[(1, 1)], 0)]);
        // q0 = 8 u1 + u2 needs q0 in two digits
        let refusal = solve(&[merged(1, 2)], &[lin(&[(0, 1)], 0)], &[LoopId(1), LoopId(2)], &[32, 4, 8]);
        assert_eq!(refusal, Err(Refusal::Split(LoopId(0), 8)));
    }

    #[test]
    fn windows_solve_the_long_axis_under_a_guard() {
        // q0 = u1 + u2, u1 < 10, u2 < 3, q0 < 12
        let fibre =
            solve(&[lin(&[(1, 1), (2, 1)], 0)], &[lin(&[(0, 1)], 0)], &[LoopId(1), LoopId(2)], &[12, 10, 3]);
        let fibre = fibre.unwrap();
        assert_eq!(fibre.axes[0], lin(&[(0, 1), (2, -1)], 0));
        assert_eq!(fibre.guards, vec![Guard { expr: lin(&[(0, 1), (2, -1)], 0), bound: 10 }]);
        assert_eq!(fibre.free, vec![LoopId(2)]);
    }

    #[test]
    fn a_diagonal_becomes_a_condition() {
        // (q0, q1) = (u2, u2)
        let fibre = solve(
            &[lin(&[(2, 1)], 0), lin(&[(2, 1)], 0)],
            &[lin(&[(0, 1)], 0), lin(&[(1, 1)], 0)],
            &[LoopId(2)],
            &[4, 4, 4],
        );
        let fibre = fibre.unwrap();
        assert_eq!(fibre.guards.len(), 1);
        assert!(fibre.free.is_empty());
    }

    #[test]
    fn strides_split_the_loop_or_refuse() {
        // q0 = 2 u1
        let map = [lin(&[(1, 2)], 0)];
        let refused = |n| solve(&map, &[lin(&[(0, 1)], 0)], &[LoopId(1)], &[n, 4]).unwrap_err();
        assert_eq!(refused(8), Refusal::Split(LoopId(0), 2));
        assert_eq!(refused(7), Refusal::Residues(vec![(LoopId(0), 2)], None));
    }

    #[test]
    fn strides_of_a_window_ask_for_remainders() {
        // 6 u3 = 4 q0 + q1 - 1: q0 has 3 remainders that matter, q1 has 6.
        let position = [lin(&[(0, 4), (1, 1)], -1)];
        let refused = solve(&[lin(&[(3, 6)], 0)], &position, &[LoopId(3)], &[50, 5, 1, 9]).unwrap_err();
        assert_eq!(refused, Refusal::Residues(vec![(LoopId(0), 3), (LoopId(1), 6)], None));
        // q0 = 3 q0' + 1, q1 = 6 q1' + 3: what is left is a multiple. With 6 q1' + 4 there is no point.
        let fixed = |r: i64| [lin(&[(0, 12), (1, 6)], 3 + r)];
        let fibre = solve(&[lin(&[(3, 6)], 0)], &fixed(3), &[LoopId(3)], &[16, 1, 1, 50]).unwrap();
        assert_eq!(fibre.axes, vec![lin(&[(0, 2), (1, 1)], 1)]);
        let none = solve(&[lin(&[(3, 6)], 0)], &fixed(4), &[LoopId(3)], &[16, 1, 1, 50]).unwrap();
        assert!(none.guards.iter().any(|g| g.fact(&[16, 1, 1, 50]) == GuardFact::Never));
    }
}
