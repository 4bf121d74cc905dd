//! Affine equations over a box, solved by a change of variables into another box.
//!
//! `reference/egraph.md` section 8: *digit split*, *unit elimination*, *axis split*; and two-variable equations
//! as arithmetic progressions. Every step is an exact reparametrisation of the solutions, so what comes out
//! counts each solution once. It is how fibre products and common refinements of reshapes are found.

use crate::map::gcd;
use crate::{Affine, Component, Extent, Space};

/// The solutions of equations over a box.
#[derive(Clone, Debug)]
pub(crate) enum Solutions {
    /// There is none.
    Empty,
    /// A box, and the original variables in terms of its axes.
    Box {
        /// The box.
        space: Space,
        /// One expression per original variable.
        variables: Vec<Affine>,
    },
    /// Not found to be a box.
    Unknown,
}

/// Solves `equation = 0`, for every equation, over a box. The first `preferred` variables stay variables where
/// there is a choice, and variables keep their order; an axis of extent 1 survives only if it is preferred.
/// Extents must not be zero.
pub(crate) fn solve(space: &Space, preferred: usize, equations: Vec<Affine>) -> Solutions {
    let rank = space.rank();
    let mut solver = Solver {
        variables: (0..rank)
            .map(|v| Variable { extent: space.extent(v).clone(), key: vec![v], live: true })
            .collect(),
        originals: (0..rank).map(|v| Affine::axis(rank, v)).collect(),
        equations,
        preferred,
    };
    for v in 0..rank {
        if space.extent(v).as_const() == Some(1) {
            for expr in solver.originals.iter_mut().chain(&mut solver.equations) {
                expr.coeffs[v] = 0;
            }
            solver.variables[v].live = v < preferred;
        }
    }
    match solver.run() {
        Some(true) => solver.finish(),
        Some(false) => Solutions::Empty,
        None => Solutions::Unknown,
    }
}

struct Variable {
    extent: Extent,
    /// The original variable, then the parts taken of it: orders the axes of the result.
    key: Vec<usize>,
    live: bool,
}

struct Solver {
    variables: Vec<Variable>,
    originals: Vec<Affine>,
    equations: Vec<Affine>,
    preferred: usize,
}

/// What a step did.
enum Step {
    /// Something changed.
    Progress,
    /// Nothing to do.
    Idle,
    /// There is no solution.
    Contradiction,
}

impl Solver {
    /// `Some(true)`: no equation is left. `Some(false)`: no solution. `None`: stuck, or overflow.
    fn run(&mut self) -> Option<bool> {
        // Every split of an axis divides an extent, so the bound is never met by honest inputs.
        for _ in 0..512 {
            let step = match self.normalise()? {
                Step::Idle => match self.split_digits()? {
                    Step::Idle => match self.eliminate()? {
                        Step::Idle => match self.two_variables()? {
                            Step::Idle => self.split_axis()?,
                            step => step,
                        },
                        step => step,
                    },
                    step => step,
                },
                step => step,
            };
            match step {
                Step::Contradiction => return Some(false),
                Step::Progress => {}
                Step::Idle => return self.equations.is_empty().then_some(true),
            }
        }
        None
    }

    fn space(&self) -> Space {
        Space::new(self.variables.iter().map(|v| v.extent.clone()))
    }

    /// Replaces a variable by an expression that does not use it.
    fn substitute(&mut self, variable: usize, by: &Affine) -> Option<()> {
        for expr in self.originals.iter_mut().chain(&mut self.equations) {
            let factor = std::mem::take(&mut expr.coeffs[variable]);
            if factor != 0 {
                *expr = expr.add_scaled(by, factor)?;
            }
        }
        self.variables[variable].live = false;
        self.variables[variable].extent = Extent::Const(1);
        Some(())
    }

    fn add_variable(&mut self, extent: Extent, key: Vec<usize>) -> usize {
        for expr in self.originals.iter_mut().chain(&mut self.equations) {
            expr.coeffs.push(0);
        }
        self.variables.push(Variable { extent, key, live: true });
        self.variables.len() - 1
    }

    /// Drops trivial equations, divides out common factors, solves equations in one variable.
    fn normalise(&mut self) -> Option<Step> {
        for index in 0..self.equations.len() {
            let equation = &mut self.equations[index];
            let factor = equation.coeffs.iter().fold(0, |g, c| gcd(g, c.unsigned_abs()));
            if factor == 0 {
                if equation.offset != 0 {
                    return Some(Step::Contradiction);
                }
                self.equations.swap_remove(index);
                return Some(Step::Progress);
            }
            let factor = i64::try_from(factor).ok()?;
            if equation.offset % factor != 0 {
                return Some(Step::Contradiction);
            }
            equation.coeffs.iter_mut().for_each(|c| *c /= factor);
            equation.offset /= factor;
            let used: Vec<usize> = equation.used_axes().take(2).collect();
            if let &[variable] = used.as_slice() {
                let value = if equation.coeffs[variable] == 1 {
                    equation.offset.checked_neg()?
                } else {
                    equation.offset
                };
                let extent = self.variables[variable].extent.as_const()?;
                if value < 0 || value as u64 >= extent {
                    return Some(Step::Contradiction);
                }
                self.substitute(variable, &Affine::fixed(self.variables.len(), value))?;
                return Some(Step::Progress);
            }
        }
        Some(Step::Idle)
    }

    /// `g·X + Y = 0` with `|Y| < g` over the box: `X = 0` and `Y = 0`.
    fn split_digits(&mut self) -> Option<Step> {
        let space = self.space();
        for index in 0..self.equations.len() {
            if let Some((high, low)) = split_digits(&self.equations[index], &space) {
                self.equations[index] = high;
                self.equations.push(low);
                return Some(Step::Progress);
            }
        }
        Some(Step::Idle)
    }

    /// Replaces a variable of coefficient ±1 by the rest, where the rest stays in its range.
    fn eliminate(&mut self) -> Option<Step> {
        let space = self.space();
        let candidates = || {
            let unit = |(index, e): (usize, &Affine)| {
                let unit = e.used_axes().filter(|&v| e.coeffs[v].unsigned_abs() == 1);
                unit.map(|v| (index, v)).collect::<Vec<_>>()
            };
            self.equations.iter().enumerate().flat_map(unit)
        };
        let mut order: Vec<(usize, usize)> = candidates().collect();
        // Variables that are not preferred first, and then later ones.
        order.sort_by(|a, b| {
            let rank = |v: usize| (self.variables[v].key[0] >= self.preferred, &self.variables[v].key);
            rank(b.1).cmp(&rank(a.1))
        });
        for (index, variable) in order {
            let mut rest = self.equations[index].clone();
            let factor = std::mem::take(&mut rest.coeffs[variable]).checked_neg()?;
            let rest = Affine::fixed(rest.rank(), 0).add_scaled(&rest, factor)?;
            if in_range(&rest, &space, &self.variables[variable].extent) {
                self.equations.swap_remove(index);
                self.substitute(variable, &rest)?;
                return Some(Step::Progress);
            }
        }
        Some(Step::Idle)
    }

    /// `a·x + b·y + o = 0`: the solutions are an arithmetic progression, so a new variable counts them.
    fn two_variables(&mut self) -> Option<Step> {
        for index in 0..self.equations.len() {
            let equation = &self.equations[index];
            let used: Vec<usize> = equation.used_axes().collect();
            let &[x, y] = used.as_slice() else { continue };
            let (Some(nx), Some(ny)) = (self.size(x), self.size(y)) else { continue };
            let (a, b, o) = (equation.coeffs[x], equation.coeffs[y], equation.offset);
            let Some((start, step, count)) = progression(a.into(), b.into(), o.into(), nx.into(), ny.into())?
            else {
                return Some(Step::Contradiction);
            };
            self.equations.swap_remove(index);
            let key = self.variables[x].key.clone().min(self.variables[y].key.clone());
            let variable = self.add_variable(Extent::Const(count), key);
            let rank = self.variables.len();
            let single = count == 1;
            for (old, start, step) in [(x, start.0, step.0), (y, start.1, step.1)] {
                self.substitute(old, &Affine::strided(rank, variable, if single { 0 } else { step }, start))?;
            }
            self.variables[variable].live = !single;
            return Some(Step::Progress);
        }
        Some(Step::Idle)
    }

    /// Where a coefficient `u` divides another one `g`, and `g/u` divides the extent of the variable of `u`:
    /// that variable becomes `(g/u)·major + minor`.
    fn split_axis(&mut self) -> Option<Step> {
        let Some((variable, size, ratio)) = self.splittable() else { return Some(Step::Idle) };
        let part = |part: usize| {
            let mut key = self.variables[variable].key.clone();
            key.push(part);
            key
        };
        let (major, minor) = (part(0), part(1));
        let major = self.add_variable(Extent::Const((size / ratio).unsigned_abs()), major);
        let minor = self.add_variable(Extent::Const(ratio.unsigned_abs()), minor);
        let mut whole = Affine::fixed(self.variables.len(), 0);
        (whole.coeffs[major], whole.coeffs[minor]) = (ratio, 1);
        self.substitute(variable, &whole)?;
        Some(Step::Progress)
    }

    /// A variable to split, its size and the ratio.
    fn splittable(&self) -> Option<(usize, i64, i64)> {
        for equation in &self.equations {
            for variable in equation.used_axes() {
                let unit = equation.coeffs[variable].unsigned_abs();
                let Some(size) = self.size(variable) else { continue };
                let ratios = equation.coeffs.iter().map(|c| c.unsigned_abs()).filter(|c| c % unit == 0);
                let ratios = ratios.filter_map(|c| i64::try_from(c / unit).ok());
                let ratio = ratios.filter(|&r| r > 1 && r < size && size % r == 0).min();
                if let Some(ratio) = ratio {
                    return Some((variable, size, ratio));
                }
            }
        }
        None
    }

    fn size(&self, variable: usize) -> Option<i64> {
        self.variables[variable].extent.as_const().and_then(|n| i64::try_from(n).ok())
    }

    /// Numbers the axes of the result.
    fn finish(self) -> Solutions {
        let mut axes: Vec<usize> = (0..self.variables.len()).filter(|&v| self.variables[v].live).collect();
        axes.sort_by(|&a, &b| self.variables[a].key.cmp(&self.variables[b].key));
        let space = Space::new(axes.iter().map(|&v| self.variables[v].extent.clone()));
        let renumber =
            |e: &Affine| Affine { coeffs: axes.iter().map(|&v| e.coeffs[v]).collect(), offset: e.offset };
        Solutions::Box { space, variables: self.originals.iter().map(renumber).collect() }
    }
}

/// Is `0 ≤ expr < extent` over the box?
fn in_range(expr: &Affine, space: &Space, extent: &Extent) -> bool {
    match (expr.component(), expr.range(space), extent.as_const()) {
        (Component::Iter(axis), _, _) if space.extent(axis) == extent => true,
        (_, Some((low, high)), Some(n)) => low >= 0 && (high as u64) < n,
        _ => false,
    }
}

/// Splits `expr = 0` into the two equations that it is equivalent to over the box, where a common divisor `g`
/// of some terms exceeds whatever the other terms can amount to. Both have a variable.
pub(crate) fn split_digits(expr: &Affine, space: &Space) -> Option<(Affine, Affine)> {
    let mut used: Vec<u64> = expr.coeffs.iter().map(|c| c.unsigned_abs()).filter(|&c| c != 0).collect();
    used.sort_unstable_by(|a, b| b.cmp(a));
    used.dedup();
    // Candidates: every coefficient, and the common divisors of the largest ones.
    let mut divisors = used.clone();
    divisors.extend(used.iter().scan(0, |g, &c| {
        *g = gcd(*g, c);
        Some(*g)
    }));
    divisors.sort_unstable_by(|a, b| b.cmp(a));
    divisors.dedup();
    for g in divisors {
        let Ok(g) = i64::try_from(g) else { continue };
        if g < 2 {
            break;
        }
        let rank = expr.rank();
        let (mut high, mut low) = (Affine::fixed(rank, 0), Affine::fixed(rank, expr.offset));
        for (axis, &c) in expr.coeffs.iter().enumerate() {
            if c % g == 0 {
                high.coeffs[axis] = c / g;
            } else {
                low.coeffs[axis] = c;
            }
        }
        if low.used_axes().next().is_none() {
            continue;
        }
        let Some((min, max)) = low.range(space) else { continue };
        // A multiple `g·t` of the constant goes to the high digits, such that -g < Y - g·t < g.
        let (min, max, wide) = (i128::from(min), i128::from(max), i128::from(g));
        let t = (max - wide).div_euclid(wide) + 1;
        if min - wide * t > -wide && max - wide * t < wide {
            high.offset = i64::try_from(t).ok()?;
            low.offset = i64::try_from(i128::from(expr.offset) - wide * t).ok()?;
            return Some((high, low));
        }
    }
    None
}

/// The pairs `(x, y)` in a box of sizes `(nx, ny)` with `a·x + b·y + o = 0`, as first pair, step and count; the
/// first number of the step is positive. The outer `None` is an overflow, the inner one no solution.
#[allow(clippy::type_complexity)] // Two pairs and a count say it best.
fn progression(
    a: i128,
    b: i128,
    o: i128,
    nx: i128,
    ny: i128,
) -> Option<Option<((i64, i64), (i64, i64), u64)>> {
    let (g, s, t) = extended_gcd(a, b);
    if o % g != 0 {
        return Some(None);
    }
    // One solution over the integers; all others differ by multiples of the step.
    let k = -o / g;
    let (x0, y0) = (s.checked_mul(k)?, t.checked_mul(k)?);
    let (mut dx, mut dy) = (b / g, -a / g);
    if dx < 0 {
        (dx, dy) = (-dx, -dy);
    }
    let interval = |start: i128, step: i128, size: i128| {
        // 0 ≤ start + step·m < size
        let (low, high) = if step > 0 { (-start, size - 1 - start) } else { (start - size + 1, start) };
        let step = step.abs();
        (-((-low).div_euclid(step)), high.div_euclid(step))
    };
    let (xl, xh) = interval(x0, dx, nx);
    let (yl, yh) = interval(y0, dy, ny);
    let (low, high) = (xl.max(yl), xh.min(yh));
    if low > high {
        return Some(None);
    }
    let first = (x0.checked_add(dx.checked_mul(low)?)?, y0.checked_add(dy.checked_mul(low)?)?);
    let narrow = |v: i128| i64::try_from(v).ok();
    let count = u64::try_from(high - low + 1).ok()?;
    Some(Some(((narrow(first.0)?, narrow(first.1)?), (narrow(dx)?, narrow(dy)?), count)))
}

/// `(g, s, t)` with `s·a + t·b = g = gcd(a, b) > 0`, for `a` and `b` not both zero.
fn extended_gcd(a: i128, b: i128) -> (i128, i128, i128) {
    let (mut old, mut new) = ((a, 1, 0), (b, 0, 1));
    while new.0 != 0 {
        let q = old.0.div_euclid(new.0);
        (old, new) = (new, (old.0 - q * new.0, old.1 - q * new.1, old.2 - q * new.2));
    }
    if old.0 < 0 { (-old.0, -old.1, -old.2) } else { old }
}
