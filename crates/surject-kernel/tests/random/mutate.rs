//! Changes of one token of a text, and of one part of a kernel.

use crate::generate::Choices;
use std::ops::Range;
use surject_kernel::{Affine, Kernel, Mem, PartMut, Region, Type, Value};

/// Words that are put in the place of others, beside those of the text itself: numbers at the ends of their types, what no
/// type has, and what is no token.
const WORDS: [&str; 36] = [
    "0",
    "1",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "4294967295",
    "4294967296",
    "%4294967295",
    "%4294967296",
    "1e999",
    "0.1",
    "0x0",
    "0x1ffffffffffffffffffffffffffffffff",
    "-",
    "*",
    "+",
    "{",
    "}",
    "[",
    "(",
    "f32x65537",
    "f32x0",
    "i64",
    "c64",
    "lane",
    "inf",
    "nan",
    "bits",
    "true",
    "global",
    "`",
    "`\\q`",
    "``",
    "é",
    "\"",
];

/// The places of the tokens of a text.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let mut end = start + c.len_utf8();
        if c.is_whitespace() {
            continue;
        }
        if c == '`' {
            let mut escaped = false;
            for (at, c) in chars.by_ref() {
                end = at + c.len_utf8();
                if c == '`' && !escaped {
                    break;
                }
                escaped = c == '\\' && !escaped;
            }
        } else if c.is_alphanumeric() || c == '%' || c == '_' {
            while let Some(&(at, c)) = chars.peek() {
                if !c.is_alphanumeric() && c != '_' && c != '.' {
                    break;
                }
                end = at + c.len_utf8();
                chars.next();
            }
        } else if c == '<' && chars.peek().is_some_and(|next| next.1 == '=') {
            chars.next();
            end += 1;
        }
        found.push(start..end);
    }
    found
}

/// The text without each of its tokens, with each two neighbours in the other order, and with some tokens replaced.
pub fn mutants<'t>(text: &'t str, replacements: &'t [u32]) -> impl Iterator<Item = String> + 't {
    let tokens = tokens(text);
    let changed = move |range: Range<usize>, by: &str| {
        let (before, after) = (&text[..range.start], &text[range.end..]);
        format!("{before}{by}{after}")
    };
    let deleted = tokens.clone().into_iter().map(move |token| changed(token, ""));
    let pairs: Vec<[Range<usize>; 2]> =
        tokens.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect();
    let swapped = pairs.into_iter().map(move |[first, second]| {
        let between = &text[first.end..second.start];
        changed(
            first.start..second.end,
            &format!("{}{between}{}", &text[second.clone()], &text[first.clone()]),
        )
    });
    let mut choices = Choices::new(replacements);
    let replaced = (0..replacements.len() / 3).map(move |_| {
        let token = tokens[choices.below(tokens.len())].clone();
        let own = choices.below(2) == 0;
        let word = choices.below(tokens.len() * WORDS.len());
        let word = if own { &text[tokens[word % tokens.len()].clone()] } else { WORDS[word % WORDS.len()] };
        changed(token, word)
    });
    deleted.chain(swapped).chain(replaced)
}

/// Numbers at the ends of types, and beyond.
const NUMBERS: [&str; 6] = [
    "4294967303",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211457",
];

/// The text with each of its numbers replaced by large ones, but for elements, which may be rounded; and the number.
pub fn with_numbers(text: &str) -> impl Iterator<Item = (String, &'static str)> + '_ {
    let rounded = ["splat", "constant", " else "];
    let line = |at: usize| {
        let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
        text[start..].lines().next().unwrap_or("")
    };
    let is_number = |token: &Range<usize>| text[token.clone()].bytes().all(|b| b.is_ascii_digit());
    let exact = move |token: &Range<usize>| !rounded.iter().any(|word| line(token.start).contains(word));
    let numbers = tokens(text).into_iter().filter(is_number).filter(exact);
    numbers.flat_map(move |token| {
        let (before, after) = (&text[..token.start], &text[token.end..]);
        NUMBERS.map(|number| (format!("{before}{number}{after}"), number))
    })
}

/// Is this one of the tokens of a text?
pub fn has_token(text: &str, wanted: &str) -> bool {
    tokens(text).into_iter().any(|token| &text[token] == wanted)
}

/// Changes a part of a kernel to something that may not exist, or have another type.
pub fn damage(kernel: &mut Kernel, choices: &[u32]) {
    let mut choices = Choices::new(choices);
    let mut count = 0;
    visit(&mut kernel.body, &mut |_| count += 1);
    let (at, number) = (choices.below(count), choices.below(kernel.types.len() + 3) as u32);
    match choices.below(3) {
        0 if !kernel.types.is_empty() => _ = kernel.types.pop(),
        1 if !kernel.types.is_empty() => {
            let value = choices.below(kernel.types.len());
            kernel.types[value] = Type { lanes: 0, ..kernel.types[value] };
        }
        _ => {}
    }
    let mut seen = 0;
    visit(&mut kernel.body, &mut |part| {
        if seen == at {
            match part {
                PartMut::Value(value) => *value = Value(number),
                PartMut::Affine(affine) => *affine = Affine::from(Value(number)),
                PartMut::Mem(mem) => *mem = Mem(number),
                PartMut::Region(region) => {
                    region.params.pop();
                    region.yields.push(Value(number));
                }
            }
        }
        seen += 1;
    });
}

/// Shows every part of every statement.
fn visit(region: &mut Region, f: &mut dyn FnMut(PartMut<'_>)) {
    for statement in &mut region.body {
        for result in &mut statement.results {
            f(PartMut::Value(result));
        }
        let mut inside = Vec::new();
        statement.op.parts_mut(&mut |part| match part {
            PartMut::Region(region) => {
                f(PartMut::Region(region));
                inside.push(std::mem::take(region));
            }
            part => f(part),
        });
        let mut inside = inside.into_iter();
        statement.op.parts_mut(&mut |part| {
            if let PartMut::Region(region) = part
                && let Some(mut own) = inside.next()
            {
                visit(&mut own, f);
                *region = own;
            }
        });
    }
}
