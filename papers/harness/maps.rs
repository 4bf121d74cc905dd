//! Map blocks: index maps and what is asked of them.
//!
//! ```text
//! (o<4, d<3) -> [2*o + d] in [9]
//! injective: no, [0, 2] and [1, 0] collide
//! ```
//!
//! A block starts with one map, with two maps (questions about both: `then`, `through`, `fibre`), or with a line
//! `reshape [6,4] -> [3,8]`, whose answers are its steps. The other lines are a question, a colon and the answer.

use crate::blocks::Block;
use surject_index::{Fill, IndexMap, ReshapeStep, Space, Verdict};

/// Checks a map block.
pub fn check(block: &Block) -> Result<(), String> {
    answers(block).map_err(|e| format!("{}: {e}", block.place))
}

fn answers(block: &Block) -> Result<(), String> {
    let mut lines = block.text.lines().filter(|l| !l.trim().is_empty()).peekable();
    if let Some(shapes) = lines.peek().and_then(|l| l.strip_prefix("reshape ")) {
        let found = reshape(shapes)?;
        let written: Vec<&str> = lines.skip(1).collect();
        return same("the steps", &written.join("\n"), &found.join("\n"));
    }
    let mut maps: Vec<IndexMap> = Vec::new();
    while let Some(line) = lines.next_if(|l| l.starts_with('(')) {
        maps.push(line.parse().map_err(|e| format!("`{line}`: {e}"))?);
    }
    let first = maps.first().ok_or("the block starts with a map")?;
    let mut asked = 0;
    for line in lines {
        let (question, written) =
            line.split_once(": ").ok_or(format!("`{line}` is not `question: answer`"))?;
        let found =
            answer(question, first, maps.get(1)).ok_or(format!("nobody can answer `{question}` here"))?;
        same(question, written.trim(), &found)?;
        asked += 1;
    }
    if asked == 0 { Err("nothing is asked of the map".to_string()) } else { Ok(()) }
}

fn same(what: &str, written: &str, found: &str) -> Result<(), String> {
    if written == found {
        Ok(())
    } else {
        Err(format!("{what}: the paper says\n  {written}\nit is\n  {found}"))
    }
}

fn answer(question: &str, map: &IndexMap, other: Option<&IndexMap>) -> Option<String> {
    Some(match question {
        "injective" => match map.injective() {
            Verdict::Yes(_) => "yes".to_string(),
            Verdict::No(c) => format!("no, {:?} and {:?} collide", c.first, c.second),
            Verdict::Unknown => "unknown".to_string(),
        },
        "surjective" => match map.surjective() {
            Verdict::Yes(()) => "yes".to_string(),
            Verdict::No(u) => match u.position {
                Some(position) => format!("no, {position:?} is not reached"),
                None => "no, by counting".to_string(),
            },
            Verdict::Unknown => "unknown".to_string(),
        },
        "bijective" => plain(map.bijective()),
        "identity" => plain(map.is_identity().into()),
        "total" => plain(map.is_total().into()),
        "normal form" => map.to_string(),
        "inverse" => optional(map.inverse(Fill(0)).map(|m| m.to_string())),
        "then" => match map.then(other?) {
            Ok(composite) => composite.to_string(),
            Err(error) => format!("none, {error}"),
        },
        "through" => optional(map.through(other?).map(|m| m.to_string())),
        "fibre" => {
            let product = map.fibre_product(other?);
            optional(product.map(|p| format!("{} and {}", p.to_q, p.to_p)))
        }
        _ => return None,
    })
}

fn plain(verdict: Verdict) -> String {
    match verdict {
        Verdict::Yes(()) => "yes",
        Verdict::No(()) => "no",
        Verdict::Unknown => "unknown",
    }
    .to_string()
}

fn optional(text: Option<String>) -> String {
    text.unwrap_or_else(|| "none".to_string())
}

/// The steps of `[6,4] -> [3,8]`, one a line.
fn reshape(shapes: &str) -> Result<Vec<String>, String> {
    let (from, to) = shapes.split_once("->").ok_or("a reshape is written `[6,4] -> [3,8]`")?;
    let space = |text: &str| text.trim().parse::<Space>().map_err(|e| format!("`{}`: {e}", text.trim()));
    let plan = IndexMap::reshape(&space(from)?, &space(to)?).ok_or("there is no such reshape")?;
    let line = |step: &ReshapeStep| match step {
        ReshapeStep::Read(map) => format!("read: {map}"),
        ReshapeStep::Set(map) => format!("set: {map}"),
    };
    Ok(plan.steps().iter().map(line).collect())
}
