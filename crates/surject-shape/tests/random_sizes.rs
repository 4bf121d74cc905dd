//! Random constraint problems with symbolic sizes against the problems with numbers for these sizes (reference/extents.md,
//! section 4): what is solved once is what each of them solves to, what is refuted once none of them solves.

use surject_index::{Extent, ExtentEnv, ScalarSemantics};
use surject_shape::{ShapeErrorKind, Solution, solve_text};

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }

    /// A variable, a symbolic size or a number.
    fn term(&mut self) -> String {
        match self.below(8) {
            0 | 1 => self.of(&["n", "m"]).to_string(),
            2 => self.of(&["{n + 1}", "{2*n}", "{n + m}", "{n*m}"]).to_string(),
            3 | 4 => (1 + self.below(5)).to_string(),
            5 => "unit".to_string(),
            _ => self.variable(),
        }
    }

    fn known(&mut self) -> String {
        loop {
            let term = self.term();
            if !VARIABLES.contains(&&*term) && term != "unit" {
                return term;
            }
        }
    }

    fn variable(&mut self) -> String {
        self.of(&VARIABLES).to_string()
    }

    fn constraint(&mut self) -> String {
        match self.below(11) {
            0 | 1 => format!("dim {} = {}", self.variable(), self.term()),
            2 | 3 => format!("dim {} <= {}", self.term(), self.term()),
            4 => format!("dim {} = {} ^ {}", self.variable(), self.known(), self.known()),
            5 => format!("dim {} = {} ^ {}", self.known(), 1 + self.below(3), self.variable()),
            6 => format!("dim {} = {}*{}", self.variable(), 1 + self.below(3), self.known()),
            7 => format!("dim {} = {}*{}", self.known(), 1 + self.below(3), self.variable()),
            8 => format!("dim {} = 1*{} < + {}", self.known(), self.variable(), 1 + self.below(3)),
            9 => format!("total 1*{} = {},{}", self.known(), 1 + self.below(3), self.variable()),
            _ => format!("leaf dim {}", self.variable()),
        }
    }

    fn fact(&mut self) -> String {
        match self.below(6) {
            0 => format!("{} >= {}", self.of(&["n", "m"]), 1 + self.below(4)),
            1 => format!("n % {} == 0", 2 + self.below(2)),
            2 => self.of(&["m == n", "m > n", "m >= n", "n == 2*m", "m <= 4"]).to_string(),
            3 => format!("{} == {}", self.of(&["n", "m"]), 1 + self.below(4)),
            _ => format!("n >= {}", 1 + self.below(4)),
        }
    }
}

const VARIABLES: [&str; 4] = ["a", "b", "c", "d"];

/// The values of `n` and `m`.
struct Sizes([u64; 2]);

impl ExtentEnv for Sizes {
    fn input_axis(&self, _: usize, _: usize) -> Option<u64> {
        None
    }

    fn runtime_scalar(&self, _: usize, _: ScalarSemantics) -> Option<u64> {
        None
    }

    fn symbol(&self, name: &str) -> Option<u64> {
        match name {
            "n" => Some(self.0[0]),
            "m" => Some(self.0[1]),
            _ => None,
        }
    }
}

/// A text with numbers for the sizes; `None` where an expression is no size.
fn with_numbers(text: &str, sizes: &Sizes) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let length = if c == '{' { rest.find('}')? + 1 } else { word.len().max(c.len_utf8()) };
        let part = &rest[..length];
        match part.trim_matches(['{', '}']).parse::<Extent>() {
            Ok(size) if c == '{' || part == "n" || part == "m" => out += &size.eval(sizes).ok()?.to_string(),
            _ => out += part,
        }
        rest = &rest[length..];
    }
    Some(out)
}

fn solve(text: &str) -> Solution {
    solve_text("random.con", text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// What a solution says of a variable at these sizes.
fn value(text: &str, sizes: &Sizes) -> String {
    match text.parse::<Extent>() {
        Ok(size) if size.as_const().is_none() && !VARIABLES.contains(&text) && text != "unit" => {
            size.eval(sizes).map_or_else(|e| e.to_string(), |n| n.to_string())
        }
        _ => text.to_string(),
    }
}

#[test]
fn random_problems_agree_with_those_of_numbers() {
    let mut random = Random(48);
    let (mut solved, mut refuted, mut undecided, mut compared) = (0, 0, 0, 0);
    let mut failures = Vec::new();
    for _ in 0..3000 {
        let facts: Vec<String> = (0..random.below(3)).map(|_| random.fact()).collect();
        let constraints: Vec<String> = (0..1 + random.below(5)).map(|_| random.constraint()).collect();
        let body = constraints.join("\n");
        let head = match facts.is_empty() {
            true => "size n, m\n".to_string(),
            false => format!("size n, m\nwhere {}\n", facts.join(", ")),
        };
        let text = head + &body;
        // Facts that contradict each other are an error of the text.
        let Ok(solution) = solve_text("random.con", &text) else { continue };
        match &solution.outcome {
            Err(error) if error.kind == ShapeErrorKind::UndecidedSize => {
                undecided += 1;
                assert!(error.message.contains("would decide it"), "{}\n{text}", error.message);
                continue;
            }
            Err(error) if solution.status() == "undecided" => panic!("{}\n{text}", error.message),
            Err(_) => refuted += 1,
            Ok(_) => solved += 1,
        }
        for n in 1..6 {
            for m in 1..6 {
                let sizes = Sizes([n, m]);
                let holds = |fact: &String| {
                    let fact: surject_index::Fact = fact.parse().expect("a fact");
                    let (left, right) = (fact.left.eval(&sizes).unwrap(), fact.right.eval(&sizes).unwrap());
                    match fact.relation {
                        surject_index::Relation::Eq => left == right,
                        surject_index::Relation::Ne => left != right,
                        surject_index::Relation::Le => left <= right,
                        surject_index::Relation::Lt => left < right,
                        surject_index::Relation::Divides => right % left == 0,
                    }
                };
                if !facts.iter().all(holds) {
                    continue;
                }
                let Some(numbers) = with_numbers(&body, &sizes) else { continue };
                let plain = solve(&numbers);
                compared += 1;
                let fail = |what: String| format!("{what} at n = {n}, m = {m}\n{text}\n");
                match (&solution.outcome, &plain.outcome) {
                    (Ok(symbolic), Ok(plain)) => {
                        for ((name, found), (_, expected)) in symbolic.dims.iter().zip(&plain.dims) {
                            // A symbolic size never broadcasts, also where it is 1; a number that is found may.
                            let found_one = value(found, &sizes) == "1" && expected == "unit";
                            if value(found, &sizes) != *expected && !found_one {
                                failures.push(fail(format!("{name} is {found} for {expected}")));
                            }
                        }
                    }
                    (Ok(_), Err(error)) => failures.push(fail(format!("solved, but {}", error.message))),
                    (Err(error), Ok(_)) => failures.push(fail(format!("refuted: {}", error.message))),
                    (Err(_), Err(_)) => {}
                }
            }
        }
    }
    println!("{solved} solved, {refuted} refuted, {undecided} undecided, {compared} compared");
    assert!(failures.is_empty(), "{}: {}", failures.len(), failures[..failures.len().min(12)].join("\n"));
    assert!(solved > 500 && refuted > 200 && undecided > 200 && compared > 5000);
}
