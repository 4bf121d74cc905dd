//! Closing against enumeration: leaves and parameters behind strides, kernels, sums and numbers of elements.
//!
//! What "the largest that the bounds permit" means, from seed 004 (leaves commit upwards, interiors downwards, a hole of a
//! parameter is an error) and the stages of seed 000. An axis is *bounded* if an atom is written above it, directly or over
//! other axes. It *carries* if it is a leaf, or if a leaf gets its size from it: over relations and over axes above. Then
//!
//! 1. the answer is a solution;
//! 2. no solution has all the carrying bounded axes at their bounds that the answer has there, and another one;
//! 3. of the solutions with the same carrying bounded axes, none has every other axis as small and one smaller;
//! 4. the size of a parameter follows from the carrying bounded axes and from what is discarded; where it does not, the
//!    answer is an error, and only then;
//! 5. a problem with solutions is refused for a hole of a parameter, or because two leaves at their bounds make one axis of
//!    two sizes, and for nothing else.

#[allow(dead_code)] // Other tests use the rest.
mod generator;

use generator::Random;
use surject_shape::{Bindings, ShapeErrorKind, solve_text};

/// An axis: the unit is −1, every other number a size of the basis `default`.
type Value = i64;

const UNIT: Value = -1;
/// The largest size that is enumerated.
const LARGEST: Value = 12;
/// Solutions that are looked at for one problem.
const SOLUTIONS: usize = 60_000;

fn size(value: Value) -> Value {
    if value == UNIT { 1 } else { value }
}

#[derive(Clone, Copy)]
enum Term {
    Axis(usize),
    Known(Value),
}

enum Law {
    /// Input, stride, over, and dilation and size of a valid kernel.
    Affine(Term, i64, Term, Option<(i64, Term)>),
    /// Target and components.
    Concat(Term, Vec<Term>),
    /// The product of the sizes.
    Product(i64, Vec<Term>),
    Below(usize, usize),
}

impl Law {
    fn terms(&self) -> Vec<Term> {
        match self {
            Law::Affine(input, _, over, kernel) => {
                [*input, *over].into_iter().chain(kernel.map(|k| k.1)).collect()
            }
            Law::Concat(target, parts) => std::iter::once(*target).chain(parts.iter().copied()).collect(),
            Law::Product(_, factors) => factors.clone(),
            Law::Below(a, b) => vec![Term::Axis(*a), Term::Axis(*b)],
        }
    }

    fn axes(&self) -> Vec<usize> {
        let axis = |term: Term| if let Term::Axis(axis) = term { Some(axis) } else { None };
        self.terms().into_iter().filter_map(axis).collect()
    }

    fn holds(&self, values: &[Value]) -> bool {
        let get = |term: Term| match term {
            Term::Axis(axis) => values[axis],
            Term::Known(value) => value,
        };
        match self {
            Law::Affine(input, stride, over, kernel) => {
                let (input, over) = (get(*input), get(*over));
                match kernel {
                    None if *stride == 1 => input == over,
                    None => size(over) > 0 && input == stride * size(over),
                    Some((dilation, kernel)) => {
                        let kernel = size(get(*kernel));
                        size(over) > 0
                            && kernel > 0
                            && input == stride * (size(over) - 1) + dilation * (kernel - 1) + 1
                    }
                }
            }
            Law::Concat(target, parts) => {
                let full: Vec<Value> = parts.iter().map(|p| get(*p)).filter(|p| *p != 0).collect();
                match full.as_slice() {
                    [] => get(*target) == 0,
                    [one] => get(*target) == *one,
                    many => get(*target) == many.iter().map(|v| size(*v)).sum::<i64>(),
                }
            }
            Law::Product(number, factors) => {
                factors.iter().map(|f| size(get(*f))).product::<i64>() == *number
            }
            Law::Below(a, b) => values[*a] == UNIT || values[*a] == values[*b],
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Inner,
    Leaf,
    Param,
}

struct Problem {
    lines: Vec<String>,
    names: Vec<String>,
    laws: Vec<Law>,
    bounds: Vec<Vec<Value>>,
    roles: Vec<Role>,
    discarded: Vec<bool>,
    /// Rows of axes: a name and the axes.
    rows: Vec<(String, Vec<usize>)>,
}

impl Problem {
    fn new(seed: u64) -> Problem {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xC105_1496);
        random.below(5);
        let count = 2 + random.below(3);
        let mut p = Problem {
            lines: Vec::new(),
            names: ["a", "b", "c", "d"][..count].iter().map(|n| n.to_string()).collect(),
            laws: Vec::new(),
            bounds: vec![Vec::new(); count],
            roles: vec![Role::Inner; count],
            discarded: vec![false; count],
            rows: Vec::new(),
        };
        for _ in 0..1 + random.below(2) {
            p.relation(&mut random, count);
        }
        for _ in 0..random.below(3) {
            let (axis, bound) = (random.below(count), 2 + random.below(4) as Value);
            p.lines.push(format!("dim {} <= {bound}", p.names[axis]));
            p.bounds[axis].push(bound);
        }
        let above = random.below(count);
        for _ in 0..[0, 0, 0, 0, 0, 1, 2, 3][random.below(8)] {
            let a = random.below(count);
            p.lines.push(format!("dim {} <= {}", p.names[a], p.names[above]));
            p.laws.push(Law::Below(a, above));
        }
        if random.below(5) == 0 {
            p.row(&mut random, count);
        }
        for axis in 0..count {
            match random.below(8) {
                0..=2 => p.role(axis, Role::Leaf),
                3 => p.role(axis, Role::Param),
                _ => {}
            }
        }
        if random.below(4) == 0 {
            let axis = random.below(count);
            p.lines.push(format!("discard {}", p.names[axis]));
            p.discarded[axis] = true;
        }
        p
    }

    fn role(&mut self, axis: usize, role: Role) {
        let word = if role == Role::Leaf { "leaf" } else { "param" };
        self.lines.push(format!("{word} dim {}", self.names[axis]));
        self.roles[axis] = role;
    }

    fn term(&self, random: &mut Random, count: usize) -> (Term, String) {
        match random.below(7) {
            0 => {
                let n = 1 + random.below(7) as Value;
                (Term::Known(n), n.to_string())
            }
            _ => {
                let axis = random.below(count);
                (Term::Axis(axis), self.names[axis].clone())
            }
        }
    }

    fn relation(&mut self, random: &mut Random, count: usize) {
        let (first, name) = self.term(random, count);
        let (mut second, mut over) = self.term(random, count);
        let (mut third, mut size) = self.term(random, count);
        // An axis twice is rarely of any size.
        for _ in 0..3 {
            if over == name {
                (second, over) = self.term(random, count);
            }
            if size == name || size == over {
                (third, size) = self.term(random, count);
            }
        }
        let (stride, dilation) = (1 + random.below(2) as i64, 1 + random.below(2) as i64);
        let (line, law) = match random.below(6) {
            0 => {
                (format!("dim {name} = {}*{over}", stride + 1), Law::Affine(first, stride + 1, second, None))
            }
            1 | 2 => (
                format!("dim {name} = {stride}*{over}<+{dilation}*{size}"),
                Law::Affine(first, stride, second, Some((dilation, third))),
            ),
            3 => (format!("dim {name} = {over} ^ {size}"), Law::Concat(first, vec![second, third])),
            4 => {
                let (fourth, last) = self.term(random, count);
                (
                    format!("dim {name} = {over} ^ {size} ^ {last}"),
                    Law::Concat(first, vec![second, third, fourth]),
                )
            }
            _ => {
                let number = [2, 3, 4, 6, 8, 12][random.below(6)];
                (format!("total {number} = {name},{over}"), Law::Product(number, vec![first, second]))
            }
        };
        self.lines.push(line);
        self.laws.push(law);
    }

    /// A leaf row under a bound, whose axes have a number of elements together with an axis.
    fn row(&mut self, random: &mut Random, count: usize) {
        let bounds: Vec<Value> = (0..1 + random.below(2)).map(|_| 2 + random.below(3) as Value).collect();
        let axes: Vec<usize> = bounds
            .iter()
            .map(|bound| {
                self.names.push(String::new());
                self.bounds.push(vec![*bound]);
                self.roles.push(Role::Leaf);
                self.discarded.push(false);
                self.names.len() - 1
            })
            .collect();
        let number = [2, 3, 4, 6, 8, 12][random.below(6)];
        let (term, name) = self.term(random, count);
        let mut factors: Vec<Term> = axes.iter().map(|a| Term::Axis(*a)).collect();
        factors.push(term);
        let text: Vec<String> = bounds.iter().map(Value::to_string).collect();
        self.lines
            .push(format!("leaf row ..r..\nrow ..r.. <= {}\ntotal {number} = ..r..; {name}", text.join(",")));
        self.laws.push(Law::Product(number, factors));
        self.rows.push(("r".into(), axes));
    }

    /// The atom that every solution has an axis below: those of its own, and of the axes above.
    fn bound(&self, axis: usize) -> Vec<Value> {
        let mut all = self.bounds[axis].clone();
        let mut seen = vec![axis];
        let mut work = vec![axis];
        while let Some(at) = work.pop() {
            for law in &self.laws {
                if let Law::Below(a, b) = law
                    && *a == at
                    && !seen.contains(b)
                {
                    seen.push(*b);
                    work.push(*b);
                    all.extend(&self.bounds[*b]);
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether an axis is below another.
    fn is_ordered(&self, axis: usize) -> bool {
        self.laws.iter().any(|law| matches!(law, Law::Below(a, b) if *a == axis && a != b))
    }

    /// All solutions up to the largest size; `None` where these are too many.
    fn solutions(&self) -> Option<Vec<Vec<Value>>> {
        let count = self.names.len();
        let bounds: Vec<Vec<Value>> = (0..count).map(|a| self.bound(a)).collect();
        let domain = |axis: usize| -> Vec<Value> {
            let mut all = match bounds[axis].as_slice() {
                [] => std::iter::once(UNIT).chain(1..=LARGEST).collect(),
                [one] => vec![UNIT, *one],
                _ => vec![UNIT],
            };
            // What broadcasts, or is broadcast to, has positions.
            let ordered = |law: &Law| matches!(law, Law::Below(a, b) if *a == axis || *b == axis);
            if self.discarded[axis] && bounds[axis].is_empty() && !self.laws.iter().any(ordered) {
                all.push(0);
            }
            all
        };
        let domains: Vec<Vec<Value>> = (0..count).map(domain).collect();
        let mut ready: Vec<Vec<&Law>> = vec![Vec::new(); count + 1];
        for law in &self.laws {
            ready[law.axes().into_iter().map(|a| a + 1).max().unwrap_or(0)].push(law);
        }
        let mut found = Vec::new();
        let mut values = vec![UNIT; count];
        if !ready[0].iter().all(|law| law.holds(&values)) {
            return Some(found);
        }
        let mut tried = vec![0; count];
        let mut depth = 0;
        loop {
            if depth == count {
                found.push(values.clone());
                if found.len() > SOLUTIONS {
                    return None;
                }
                depth -= 1;
                continue;
            }
            let Some(value) = domains[depth].get(tried[depth]) else {
                tried[depth] = 0;
                if depth == 0 {
                    return Some(found);
                }
                depth -= 1;
                continue;
            };
            tried[depth] += 1;
            values[depth] = *value;
            if ready[depth + 1].iter().all(|law| law.holds(&values)) {
                depth += 1;
            }
        }
    }

    /// The bounded axes that carry, with an atom that all solutions have above them.
    fn carrying(&self, all: &[Vec<Value>], before: &Bindings) -> Vec<usize> {
        let known = |axis: usize| before.dim(&self.names[axis]).is_some();
        let same = |axis: usize| all.iter().all(|s| s[axis] == all[0][axis]).then(|| all[0][axis]);
        let above = |axis: usize| {
            let over = self.laws.iter().filter_map(move |law| match law {
                // What is forced by whichever of several axes is no unit, propagation does not see.
                Law::Below(a, b) if *a == axis && known(*b) => Some(*b),
                _ => None,
            });
            over.filter_map(same).any(|value| value > 1)
        };
        let bounded = |axis: usize| same(axis).is_none() && (self.bound(axis).len() == 1 || above(axis));
        let leaf = |axis: usize| self.roles[axis] != Role::Inner;
        let count = self.names.len();
        let mut seen: Vec<usize> = Vec::new();
        // A leaf with a bound of its own has its size from that.
        let mut work: Vec<usize> =
            (0..count).filter(|a| leaf(*a) && !bounded(*a) && same(*a).is_none()).collect();
        while let Some(axis) = work.pop() {
            if seen.contains(&axis) || same(axis).is_some() || (leaf(axis) && bounded(axis)) {
                continue;
            }
            seen.push(axis);
            for law in &self.laws {
                match law {
                    Law::Below(a, b) if *a == axis => work.push(*b),
                    // What is no unit is the axis above it.
                    Law::Below(a, b) if *b == axis && all.iter().all(|s| s[*a] != UNIT) => work.push(*a),
                    Law::Below(..) => {}
                    law if law.axes().contains(&axis) => work.extend(law.axes()),
                    _ => {}
                }
            }
        }
        // A leaf below an axis that is no unit takes its size, whatever that is, unless it is counted itself.
        let below = |axis: usize| {
            let over = |law: &Law| matches!(law, Law::Below(a, b) if *a == axis && a != b && all.iter().all(|s| size(s[*b]) > 1));
            let counted = |law: &Law| !matches!(law, Law::Below(..)) && law.axes().contains(&axis);
            leaf(axis) && self.laws.iter().any(over) && !self.laws.iter().any(counted)
        };
        (0..count).filter(|a| (bounded(*a) && (leaf(*a) || seen.contains(a))) || below(*a)).collect()
    }
}

/// What is wrong with the outcome of a problem.
fn wrong(problem: &Problem, counts: &mut [usize; 6]) -> Option<String> {
    let text = problem.lines.join("\n");
    let solution = solve_text("random.con", &text).unwrap();
    let Some(all) = problem.solutions() else {
        counts[4] += 1;
        return None;
    };
    let carrying = if all.is_empty() { Vec::new() } else { problem.carrying(&all, &solution.before_closing) };
    let at_bound = |s: &[Value], axis: usize| s[axis] != UNIT;
    let bindings = match &solution.outcome {
        Ok(bindings) => bindings,
        Err(error) if all.is_empty() => {
            // That there is no solution is not always found out.
            counts[if error.kind == ShapeErrorKind::Undecided { 5 } else { 1 }] += 1;
            return None;
        }
        Err(error) if error.kind == ShapeErrorKind::MissingHidden => {
            counts[2] += 1;
            // There is a parameter that the largest solutions leave open.
            let largest = |s: &&Vec<Value>| {
                !all.iter().any(|other| {
                    carrying.iter().all(|a| at_bound(other, *a) || !at_bound(s, *a))
                        && carrying.iter().any(|a| at_bound(other, *a) && !at_bound(s, *a))
                })
            };
            let largest: Vec<&Vec<Value>> = all.iter().filter(largest).collect();
            let open = (0..problem.names.len()).filter(|a| problem.roles[*a] == Role::Param).any(|axis| {
                largest.iter().any(|s| size(s[axis]) != size(largest[0][axis])) || problem.laws.is_empty()
            });
            let free = (0..problem.names.len()).any(|a| {
                problem.roles[a] == Role::Param && !problem.laws.iter().any(|l| l.axes().contains(&a))
            });
            // A larger solution may be beyond what is enumerated; and that two relations leave a sum of what they leave open
            // alone is not found out.
            let doubtful = all.iter().any(|s| s.iter().any(|v| size(*v) * 3 > LARGEST))
                || (0..problem.names.len()).any(|a| problem.is_ordered(a));
            return (!open && !free && !doubtful).then(|| "every parameter is determined".to_string());
        }
        Err(error) if error.message.contains("both broadcast to one axis") => {
            counts[3] += 1;
            let leaves: Vec<usize> =
                carrying.iter().copied().filter(|a| problem.roles[*a] != Role::Inner).collect();
            let together = all.iter().any(|s| leaves.iter().all(|a| at_bound(s, *a)));
            return together.then(|| "all leaves can be at their bounds".to_string());
        }
        Err(error) => return Some(format!("refused, and {:?} is a solution: {}", all[0], error.kind.code())),
    };
    let read = |text: &str| match text {
        "unit" => UNIT,
        text => text.parse().unwrap(),
    };
    let mut answer = vec![UNIT; problem.names.len()];
    for (axis, name) in problem.names.iter().enumerate().filter(|(_, n)| !n.is_empty()) {
        answer[axis] = bindings.dim(name).map_or(UNIT, read);
    }
    for (name, axes) in &problem.rows {
        let row: Vec<&str> = bindings.row(name).unwrap().split(',').filter(|t| *t != "<>").collect();
        if row.len() != axes.len() {
            return Some(format!("the row has {} axes, its bound {}", row.len(), axes.len()));
        }
        axes.iter().zip(row).for_each(|(axis, text)| answer[*axis] = read(text));
    }
    counts[0] += 1;
    // Variables that no line mentions have no value.
    let mentioned =
        |axis: usize| problem.names[axis].is_empty() || bindings.dim(&problem.names[axis]).is_some();
    if !problem.laws.iter().all(|law| law.holds(&answer)) {
        return Some("not a solution".into());
    }
    // Other solutions may be beyond what is enumerated.
    if answer.iter().any(|v| *v > LARGEST) {
        counts[4] += 1;
        return None;
    }
    let small = |axis: &usize| !carrying.contains(axis) && mentioned(*axis) && !problem.is_ordered(*axis);
    let others: Vec<usize> = (0..answer.len()).filter(small).collect();
    for other in &all {
        let no_less = carrying.iter().all(|a| at_bound(other, *a) || !at_bound(&answer, *a));
        if no_less && carrying.iter().any(|a| at_bound(other, *a) && !at_bound(&answer, *a)) {
            return Some(format!("more axes are at their bounds in {other:?}"));
        }
        if !carrying.iter().all(|a| at_bound(other, *a) == at_bound(&answer, *a)) {
            continue;
        }
        // What is below an axis has its bound from there, which depends on the solution: only those are compared that agree.
        if (0..answer.len()).any(|a| problem.is_ordered(a) && other[a] != answer[a]) {
            continue;
        }
        let small = others.iter().all(|a| size(other[*a]) <= size(answer[*a]));
        if small && others.iter().any(|a| size(other[*a]) < size(answer[*a])) {
            return Some(format!("axes are smaller in {other:?}"));
        }
        let same_rest = (0..answer.len()).all(|a| !problem.discarded[a] || other[a] == answer[a]);
        let parameter = others
            .iter()
            .find(|a| problem.roles[**a] == Role::Param && size(other[**a]) != size(answer[**a]));
        if let (true, Some(axis)) = (same_rest, parameter) {
            return Some(format!("nothing determines the parameter `{}`: {other:?}", problem.names[*axis]));
        }
    }
    None
}

#[test]
fn every_answer_is_the_largest_that_the_bounds_permit() {
    let seeds = std::env::var("SURJECT_SHAPE_SEEDS").ok().and_then(|s| s.parse().ok()).unwrap_or(10_000);
    let (mut counts, mut faults) = ([0; 6], Vec::new());
    for seed in 0..seeds {
        let problem = Problem::new(seed);
        if let Some(what) = wrong(&problem, &mut counts) {
            let text = problem.lines.join("\n");
            let solution = solve_text("random.con", &text).unwrap();
            faults.push(format!("{seed}: {what}\n{text}\n{solution}"));
        }
    }
    let [solved, refuted, hidden, clashes, skipped, open] = counts;
    eprintln!(
        "{solved} solved, {refuted} refuted, {hidden} hidden, {clashes} clashes, {skipped} skipped, {open} open"
    );
    assert!(faults.is_empty(), "{} of {seeds}\n{}", faults.len(), faults[..faults.len().min(6)].join("\n\n"));
    let seeds = seeds as usize;
    assert!(skipped * 20 < seeds && open * 500 < seeds && solved * 4 > seeds);
}
