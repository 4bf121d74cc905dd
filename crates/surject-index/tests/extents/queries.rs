//! 72 queries, what JAX 0.10.2 answers and what we do.
//!
//! `queries.txt` has a line for each: the query, facts beside "every size is at least 1", JAX's answer (an `==` that it
//! cannot prove is `False` there), ours, and ours where sizes may be 0.

use crate::brute::witnesses;
use surject_index::{Fact, Facts, Verdict};

struct Query {
    text: String,
    claim: Fact,
    /// The facts when sizes are at least 1, and when they may be 0.
    facts: [Facts; 2],
    jax: String,
    expected: [String; 2],
}

fn queries() -> Vec<Query> {
    let lines = include_str!("queries.txt").lines();
    let query = |line: &str| {
        let [claim, facts, jax, one, zero] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let positive = "a >= 1, b >= 1, c >= 1, d >= 1";
        let both = if facts.is_empty() { positive.to_string() } else { format!("{facts}, {positive}") };
        Query {
            text: line.to_string(),
            claim: claim.parse().unwrap_or_else(|e| panic!("{line}: {e}")),
            facts: [both.parse().unwrap(), facts.parse().unwrap()],
            jax: jax.to_string(),
            expected: [one.to_string(), zero.to_string()],
        }
    };
    lines.map(query).collect()
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Yes(()) => "True",
        Verdict::No(()) => "False",
        Verdict::Unknown => "Unknown",
    }
}

#[test]
fn every_query_has_its_answer() {
    let (mut wrong, mut more, mut lost) = (Vec::new(), 0, Vec::new());
    let queries = queries();
    assert_eq!(queries.len(), 72);
    for query in &queries {
        for (facts, expected) in query.facts.iter().zip(&query.expected) {
            let verdict = facts.holds(&query.claim);
            if word(verdict) != expected {
                wrong.push(format!("{} [{facts}]: {}", query.text, word(verdict)));
            }
            let (yes, no) = witnesses(&query.claim, facts, 7);
            assert!(!(verdict.is_yes() && no || verdict.is_no() && yes), "{} is wrong", query.text);
        }
        // JAX's `False` for `==` says that it found no proof; it is a decision where the two always differ.
        let verdict = query.facts[0].holds(&query.claim);
        let is_decided = match query.jax.as_str() {
            "True" => true,
            "False" => verdict.is_no(),
            _ => false,
        };
        more += usize::from(!is_decided && !verdict.is_unknown());
        if query.jax == "True" && !verdict.is_yes() {
            lost.push(&query.text);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(lost.is_empty(), "{lost:?}");
    assert!(more >= 20, "{more} more than JAX");
    println!("{more} more than JAX");
}
