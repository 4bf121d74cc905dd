//! Random constraint problems, each named by its family and its seed.

use std::collections::HashMap;

const DIMS: [&str; 4] = ["a", "b", "c", "d"];
const ROWS: [&str; 3] = ["r", "s", "t"];

/// A small generator of numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

/// Which kinds of constraints a problem has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// Equations and inequalities over axes and rows, and leaves.
    Relations,
    /// These with numbers of elements, exact axes and least sizes.
    Sizes,
    /// These with concatenations and affine axes, over axes mostly.
    Arithmetic,
    /// Every kind, parameters too.
    All,
}

fn dim(random: &mut Random) -> String {
    match random.below(10) {
        0..=3 => DIMS[random.below(4)].to_string(),
        4 => "unit".into(),
        5 => "1".into(),
        6 => "2".into(),
        7 => "3".into(),
        8 => "3:x".into(),
        _ => "2:x".into(),
    }
}

/// More often a variable.
fn open_dim(random: &mut Random) -> String {
    if random.below(3) > 0 { DIMS[random.below(4)].to_string() } else { dim(random) }
}

fn row(random: &mut Random) -> String {
    let (lead, trail) = match random.below(6) {
        0 => (1, 1),
        1 => (1, 0),
        2 => (2, 0),
        3 => (0, 2),
        4 => (0, 1),
        _ => (0, 0),
    };
    let mut parts: Vec<String> = (0..lead).map(|_| dim(random)).collect();
    parts.push(if random.below(4) == 0 { "<>".into() } else { format!("..{}..", ROWS[random.below(3)]) });
    parts.extend((0..trail).map(|_| dim(random)));
    parts.join(",")
}

fn several(random: &mut Random, from: usize, to: usize, one: fn(&mut Random) -> String, by: &str) -> String {
    let count = from + random.below(to - from + 1);
    (0..count).map(|_| one(random)).collect::<Vec<_>>().join(by)
}

fn relation(random: &mut Random) -> String {
    let sign = if random.below(2) == 0 { "=" } else { "<=" };
    match random.below(10) {
        0..=3 => format!("dim {} {sign} {}", dim(random), dim(random)),
        _ => format!("row {} {sign} {}", row(random), row(random)),
    }
}

fn role(random: &mut Random, parameters: bool) -> String {
    let role = match random.below(6) {
        0 if parameters => "param",
        1 if parameters => "param rest",
        _ => "leaf",
    };
    match random.below(2) {
        0 => format!("{role} row ..{}..", ROWS[random.below(3)]),
        _ => format!("{} dim {}", role.split(' ').next().unwrap_or(role), DIMS[random.below(4)]),
    }
}

fn size(random: &mut Random) -> String {
    match random.below(6) {
        0 => format!("atleast {} {}", DIMS[random.below(4)], 1 + random.below(3)),
        1 | 2 => {
            let n = [1, 2, 3, 4, 6, 9][random.below(6)];
            format!("total {n} = {}", several(random, 1, 2, row, "; "))
        }
        3 => {
            let by = if random.below(2) == 0 { String::new() } else { format!(" / {}", dim(random)) };
            let coefficient = 1 + random.below(3);
            format!(
                "total {coefficient}*{} = {}{by}",
                DIMS[random.below(4)],
                several(random, 1, 2, row, "; ")
            )
        }
        _ => format!("exact {} = {}", several(random, 1, 3, dim, ","), several(random, 1, 2, row, "; ")),
    }
}

fn arithmetic(random: &mut Random) -> String {
    match random.below(7) {
        0..=2 => format!("dim {} = {}", open_dim(random), several(random, 2, 3, open_dim, " ^ ")),
        3 => format!("discard {}", DIMS[random.below(4)]),
        _ => {
            let (input, stride, over) = (open_dim(random), 1 + random.below(3), open_dim(random));
            let kernel = match random.below(4) {
                0 => String::new(),
                1 => format!("=+{}*{}", 1 + random.below(2), open_dim(random)),
                _ => format!("<+{}*{}", 1 + random.below(2), open_dim(random)),
            };
            let offset = if random.below(12) == 0 && stride > 1 { " offset 1" } else { "" };
            format!("dim {input} = {stride}*{over}{kernel}{offset}")
        }
    }
}

/// The lines of a problem.
pub fn lines(family: Family, seed: u64) -> Vec<String> {
    let salt = match family {
        Family::Relations => 0x5DEE_CE66,
        Family::Sizes => 0x1234_5678,
        Family::Arithmetic => 0x0BAD_CAFE,
        Family::All => 0x7777_1111,
    };
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ salt);
    random.below(7);
    (0..2 + random.below(6))
        .map(|_| match (family, random.below(12)) {
            (Family::Relations, 0..=9) | (Family::Sizes, 0..=5) => relation(&mut random),
            (Family::Sizes, 6..=9) => size(&mut random),
            (Family::Arithmetic, 0..=5) | (Family::All, 0..=2) => arithmetic(&mut random),
            (Family::Arithmetic, 6..=8) => {
                let sign = if random.below(2) == 0 { "=" } else { "<=" };
                format!("dim {} {sign} {}", dim(&mut random), dim(&mut random))
            }
            (Family::Arithmetic, 9) => relation(&mut random),
            (Family::All, 3..=6) => relation(&mut random),
            (Family::All, 7..=9) => size(&mut random),
            (family, _) => role(&mut random, family == Family::All),
        })
        .collect()
}

/// A problem under other names.
pub struct Renamed {
    pub text: String,
    names: HashMap<String, String>,
}

impl Renamed {
    /// The name that a name had.
    pub fn back(&self, name: &str) -> String {
        self.names.get(name).cloned().unwrap_or_else(|| name.to_string())
    }
}

/// Gives each variable the name of another, or a new one.
pub fn renamed(text: &str, random: &mut Random) -> Renamed {
    let mut targets = ["d", "z", "a", "long_name", "c"].map(String::from).to_vec();
    let mut rows = ["t", "q", "r", "w"].map(String::from).to_vec();
    let mut to: HashMap<&str, String> = HashMap::new();
    for (old, pool) in DIMS.iter().map(|d| (d, 0)).chain(ROWS.iter().map(|r| (r, 1))).collect::<Vec<_>>() {
        let pool = if pool == 0 { &mut targets } else { &mut rows };
        let at = random.below(pool.len());
        to.insert(old, pool.swap_remove(at));
    }
    let mut out = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        // The basis `x` and keywords are longer or other words; variables are single letters.
        if c.is_alphanumeric() || c == '_' || c == ':' {
            word.push(c);
            continue;
        }
        match to.get(word.as_str()) {
            Some(new) => out.push_str(new),
            None => out.push_str(&word),
        }
        word.clear();
        out.push(c);
    }
    let names = to.iter().map(|(old, new)| (new.clone(), (*old).to_string())).collect();
    Renamed { text: out, names }
}
