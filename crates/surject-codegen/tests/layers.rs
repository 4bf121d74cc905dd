//! The layers that the front pages name: a file uses those of its own and those before it, and nothing behind it.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The names of a path, from the root of the crate on.
type Names = Vec<String>;

/// The tokens of a source file: names, `::`, braces and other characters. Literals and comments name nothing.
fn tokens(stream: TokenStream) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut is_joint = false;
    for tree in stream {
        let was_joint = std::mem::take(&mut is_joint);
        match tree {
            TokenTree::Group(group) => {
                let [open, close] = match group.delimiter() {
                    Delimiter::Parenthesis => ["(", ")"],
                    Delimiter::Brace => ["{", "}"],
                    Delimiter::Bracket => ["[", "]"],
                    Delimiter::None => ["", ""],
                };
                all.push(open.to_string());
                all.extend(tokens(group.stream()));
                all.push(close.to_string());
            }
            TokenTree::Ident(name) => all.push(name.to_string()),
            TokenTree::Punct(mark) => {
                is_joint = mark.as_char() == ':' && mark.spacing() == Spacing::Joint;
                match all.last_mut() {
                    Some(last) if was_joint && mark.as_char() == ':' => last.push(':'),
                    _ => all.push(mark.as_char().to_string()),
                }
            }
            TokenTree::Literal(_) => {}
        }
    }
    all
}

/// The paths of a tree of uses behind a prefix; the token that ends it is left.
fn tree(prefix: &[String], tokens: &mut std::slice::Iter<'_, String>, found: &mut Vec<Names>) {
    let mut path = prefix.to_vec();
    while let Some(token) = tokens.as_slice().first() {
        match token.as_str() {
            ";" | "," | "}" => break,
            "{" => {
                while tokens.next().is_some_and(|t| t != "}") {
                    tree(&path, tokens, found);
                    if tokens.as_slice().first().is_none_or(|t| t == "}") {
                        break;
                    }
                }
                tokens.next();
                return;
            }
            // The name that it gets here.
            "as" => {
                tokens.next();
            }
            "::" => {}
            name => path.push(name.to_string()),
        }
        tokens.next();
    }
    if path.len() > prefix.len() {
        found.push(path);
    }
}

/// What a module of the crate names, from the root on: in declarations of uses, and on the spot.
fn named(module: &[&str], text: &str) -> Vec<Names> {
    let all = tokens(text.parse().expect("the file is Rust"));
    let mut found = Vec::new();
    // The modules that stand in the file itself, with the braces around each.
    let (mut inner, mut depth): (Vec<(usize, String)>, usize) = (Vec::new(), 0);
    let mut rest = all.iter();
    let mut before = ["", ""];
    while let Some(token) = rest.as_slice().first().map(String::as_str) {
        let next = rest.as_slice().get(1).map(String::as_str);
        let mut paths = Vec::new();
        match token {
            "use" => {
                rest.next();
                tree(&[], &mut rest, &mut paths);
            }
            // Not `pub(in crate::…)`.
            "crate" | "super" | "self" if next == Some("::") && before != ["(", "in"] => {
                while let [name, colons, ..] = rest.as_slice()
                    && colons == "::"
                {
                    paths.resize(1, Vec::new());
                    paths[0].push(name.clone());
                    rest.nth(1);
                }
                paths[0].extend(rest.next().filter(|t| t.starts_with(|c: char| c.is_alphabetic())).cloned());
            }
            _ => {
                match (token, rest.as_slice()) {
                    ("mod", [_, name, brace, ..]) if brace == "{" => inner.push((depth, name.clone())),
                    ("{", _) => depth += 1,
                    ("}", _) => {
                        depth = depth.saturating_sub(1);
                        inner.pop_if(|m| m.0 == depth);
                    }
                    _ => {}
                }
                rest.next();
            }
        }
        before = [before[1], token];
        for path in paths {
            let mut from: Names = module.iter().map(ToString::to_string).collect();
            from.extend(inner.iter().map(|m| m.1.clone()));
            let mut names = path.into_iter().peekable();
            match names.peek().map(String::as_str) {
                Some("crate") => {
                    from.clear();
                    names.next();
                }
                Some("self") => drop(names.next()),
                Some("super") => {
                    while names.next_if(|n| n == "super").is_some() {
                        from.pop();
                    }
                }
                _ => continue,
            }
            from.extend(names);
            found.push(from);
        }
    }
    found
}

/// Which layers of an order a module uses that do not come before its own; a layer is a name behind a prefix.
fn behind(order: &[String], prefix: &[&str], module: &[&str], named: &[Names]) -> Vec<String> {
    let layer = |path: &[&str]| {
        let own = path.strip_prefix(prefix)?.first()?;
        order.iter().position(|l| l == own)
    };
    let Some(own) = layer(module) else { return Vec::new() };
    let of = |path: &Names| layer(&path.iter().map(String::as_str).collect::<Vec<_>>());
    let later = named.iter().filter(|path| of(path).is_some_and(|at| at > own));
    later.map(|path| format!("{} uses {}", module.join("::"), path.join("::"))).collect()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All modules of the crate but its root, with what they name. What the root exports again counts as where it is.
fn modules() -> Vec<(Names, Vec<Names>)> {
    let root = source();
    let exported: HashMap<String, Names> =
        named(&[], &read(&root.join("lib.rs")).replace("pub use ", "use self::"))
            .into_iter()
            .filter_map(|path| Some((path.last()?.clone(), path)))
            .collect();
    let mut work = vec![root.clone()];
    let mut all = Vec::new();
    while let Some(path) = work.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("the folder is readable");
            work.extend(entries.map(|entry| entry.expect("an entry").path()));
            continue;
        }
        let relative = path.strip_prefix(&root).expect("a file of the crate").with_extension("");
        let module: Names = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if path.extension().is_some_and(|e| e == "rs") && module != ["lib"] {
            let names: Vec<&str> = module.iter().map(String::as_str).collect();
            let mut found = named(&names, &read(&path));
            for path in &mut found {
                if let ([name], Some(there)) = (&path[..], path.first().and_then(|n| exported.get(n))) {
                    assert_eq!(there.last(), Some(name));
                    *path = there.clone();
                }
            }
            all.push((module, found));
        }
    }
    assert!(all.len() > 100, "{} files", all.len());
    all
}

/// The names between backticks in the numbered items of a front page, each once.
fn items(front: &str) -> Vec<String> {
    let page = front.lines().filter_map(|l| l.strip_prefix("//!"));
    let mut all: Vec<String> = Vec::new();
    let mut in_item = false;
    for line in page {
        let is_first = line.trim_start().split_once(". ").is_some_and(|(n, _)| n.parse::<u32>().is_ok());
        in_item = is_first || in_item && !line.trim().is_empty();
        for name in line.split('`').skip(1).step_by(2).filter(|_| in_item) {
            let is_module = source().join(format!("{name}.rs")).exists()
                || source().join(format!("kernels/{name}.rs")).exists();
            if is_module && !all.iter().any(|n| n == name) {
                all.push(name.to_string());
            }
        }
    }
    all
}

/// The folders of the code generator are layers, in the order of its front page.
#[test]
fn folders_use_only_those_before_them() {
    let order = items(&read(&source().join("lib.rs")));
    let expected = [
        "machine",
        "expression",
        "normalise",
        "schedule",
        "kernels",
        "planned",
        "materialise",
        "library",
        "program",
    ];
    assert_eq!(order, expected);
    let found: Vec<String> = modules()
        .iter()
        .flat_map(|(module, named)| {
            let module: Vec<&str> = module.iter().map(String::as_str).collect();
            behind(&order, &[], &module, named)
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// So are the modules of kernels, in the order of theirs, which names them all.
#[test]
fn modules_of_kernels_use_only_those_before_them() {
    let order = items(&read(&source().join("kernels.rs")));
    let found: Vec<String> = modules()
        .iter()
        .filter(|(module, _)| module[0] == "kernels" && module.len() > 1)
        .flat_map(|(module, named)| {
            assert!(order.contains(&module[1]), "the front page does not name `{}`", module[1]);
            let module: Vec<&str> = module.iter().map(String::as_str).collect();
            behind(&order, &["kernels"], &module, named)
        })
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// However a use is written, it is found; comments and texts are none.
#[test]
fn uses_are_found_however_they_are_written() {
    let order = ["expression", "schedule", "planned"].map(String::from);
    let module = ["schedule", "blocks"];
    let uses = [
        "use crate::planned::row;",
        "use crate::planned;",
        "use crate::planned as emit;",
        "use crate::{expression::dag, planned::row};",
        "use crate::{expression::{dag, build}, planned::{self, row}};",
        "use crate::{expression::{dag, build,}, machine, planned::row,};",
        "use super::super::planned::row;",
        "fn f() { super::super::planned::row::f() }",
        "fn f(x: crate::planned::Row) {}",
        "mod tests { use super::super::super::planned::row; }",
        "mod tests { fn f() {} }\nuse super::super::planned::row;",
        "fn f() -> char { '\"' }\nuse crate::planned::row;",
        "fn f() -> &'static str { r#\"a \" b\"# }\nuse crate::planned::row;",
    ];
    for text in uses {
        assert!(!behind(&order, &[], &module, &named(&module, text)).is_empty(), "{text}");
    }
    let others = [
        "use crate::expression::dag;",
        "use super::super::schedule::units;",
        "use super::planned;",
        "mod tests { use super::super::planned::row; }",
        "// crate::planned::row",
        "fn f() -> &'static str { \"crate::planned::row\" }",
        "pub(in crate::planned) fn f() {}",
        "use planned::row;",
    ];
    for text in others {
        assert_eq!(behind(&order, &[], &module, &named(&module, text)), Vec::<String>::new(), "{text}");
    }
}
