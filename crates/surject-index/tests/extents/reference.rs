//! The queries of the reference (reference/extents.md, section 3.5), with the answers that it asks for: where every size is at least
//! 1, and where sizes may be 0. Where it gives one answer, it is asked of both unless it needs a divisor.

use surject_index::{Facts, Verdict};

/// Number, query, facts, the answer for sizes of at least 1, and for sizes of at least 0 (empty: not asked).
const QUERIES: [(&str, &str, &str, &str, &str); 46] = [
    ("Q01", "(a+1)*b == a*b+b", "", "True", "True"),
    ("Q02", "a == b", "", "Unknown", "Unknown"),
    ("Q03", "a == a+1", "", "False", "False"),
    ("Q04", "2*a == 2*b+1", "", "False", "False"),
    ("Q05", "a >= 1", "", "True", "Unknown"),
    ("Q06", "a*b >= a", "", "True", "Unknown"),
    ("Q07", "a*b >= a", "b >= 2", "True", "True"),
    ("Q08", "a*a >= a", "", "True", "True"),
    ("Q09", "max(a,b) == max(b,a)", "", "True", "True"),
    ("Q10", "max(a,b)+min(a,b) == a+b", "", "True", "True"),
    ("Q11", "max(a,b)*min(a,b) == a*b", "", "True", "True"),
    ("Q12", "max(a,b)+1 == max(a+1,b+1)", "", "True", "True"),
    ("Q13", "2*max(a,b) == max(2*a,2*b)", "", "True", "True"),
    ("Q14", "max(a,c) <= max(b,c)", "a <= b", "True", "True"),
    ("Q14", "min(a,c) <= min(b,c)", "a <= b", "True", "True"),
    ("Q15", "max(a,b) == a", "a >= b", "True", "True"),
    ("Q16", "min(a,16) <= 16", "", "True", "True"),
    ("Q17", "(a*b)/b == a", "", "True", ""),
    ("Q18", "(a/2)*2 == a", "", "Unknown", "Unknown"),
    ("Q19", "(a/2)*2 == a", "mod(a,2) == 0", "True", "True"),
    ("Q20", "a/2 == b", "a == 2*b", "True", "True"),
    ("Q20", "a % 2 == 0", "a == 2*b", "True", "True"),
    ("Q21", "(a/2)/3 == a/6", "", "True", "True"),
    ("Q22", "(a+2*b)/2 == a/2 + b", "", "True", "True"),
    ("Q23", "4*(a/4) + a%4 == a", "", "True", "True"),
    ("Q24", "a/b <= a", "", "True", ""),
    ("Q25", "a%b <= a", "", "True", ""),
    ("Q25", "a%b < b", "", "True", ""),
    ("Q26", "a*c >= b*c", "a >= b", "True", "True"),
    ("Q27", "a/c <= b/c", "a <= b", "True", ""),
    ("Q27", "c/b <= c/a", "a <= b", "True", ""),
    ("Q28", "((a+127)/128)*128 >= a", "", "True", "True"),
    ("Q28", "((a+127)/128)*128 <= a+127", "", "True", "True"),
    ("Q29", "max(a-b,0)+min(a,b) == a", "", "True", "True"),
    ("Q31", "a*b - a - b + 1 >= 0", "", "True", "Unknown"),
    ("Q33", "a >= 2", "", "Unknown", "Unknown"),
    ("Q34", "a >= 0", "b <= 0", "", "True"),
    ("Q37", "min(r,a)*c <= a*c", "", "True", "True"),
    ("A-25", "a*b >= a", "", "True", "Unknown"),
    ("A-25", "a*a >= a", "", "True", "True"),
    ("A-25", "max(a,b) == max(b,a)", "", "True", "True"),
    ("A-25", "max(a,b)+min(a,b) == a+b", "", "True", "True"),
    ("A-25", "(a/2)/3 == a/6", "", "True", "True"),
    ("A-25", "(a+2*b)/2 == a/2 + b", "", "True", "True"),
    ("A-26", "a == b", "", "Unknown", "Unknown"),
    ("A-26", "(a/2)*2 == a", "", "Unknown", "Unknown"),
];

#[test]
fn the_reference_has_its_answers() {
    let mut wrong = Vec::new();
    for (number, query, facts, one, zero) in QUERIES {
        let claim = query.parse().unwrap_or_else(|e| panic!("{query}: {e}"));
        let positive = "a >= 1, b >= 1, c >= 1, r >= 1";
        let both = if facts.is_empty() { positive.to_string() } else { format!("{facts}, {positive}") };
        for (facts, expected) in [(both.as_str(), one), (facts, zero)] {
            if expected.is_empty() {
                continue;
            }
            let facts: Facts = facts.parse().unwrap_or_else(|e| panic!("{facts}: {e}"));
            let found = match facts.holds(&claim) {
                Verdict::Yes(()) => "True",
                Verdict::No(()) => "False",
                Verdict::Unknown => "Unknown",
            };
            if found != expected {
                wrong.push(format!("{number} `{query}` where `{facts:?}`: {found}, not {expected}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Q30, Q32, Q35: a divisor that may be 0 leaves the answer open or true where it is defined; facts that contradict each other are
/// found.
#[test]
fn facts_and_definedness() {
    let none = Facts::default();
    let claim = "a/(b-1) >= 0".parse().unwrap();
    assert!(!none.holds(&claim).is_no());
    assert!(!none.is_size(&"a/(b-1)".parse().unwrap()).is_yes());
    let facts: Facts = "a*b >= 6, b <= 2".parse().unwrap();
    assert!(!facts.holds(&"a >= 3".parse().unwrap()).is_no());
    assert!("a >= b + 1, b >= a".parse::<Facts>().is_err());
    assert!("b <= 0".parse::<Facts>().is_ok());
}
