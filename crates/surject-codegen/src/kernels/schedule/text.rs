//! The text form of schedules, and schedules of a user.

use super::place::{Line, Misfit};
use super::prefetch::Ahead;
use super::{Directive, Schedule, ScheduleError, resolved};
use crate::kernels::contraction::{Tiles, UnitTiles};
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use crate::kernels::running::Running;
use crate::kernels::transpose::TransposeTile;
use std::collections::BTreeMap;
use std::str::FromStr;
use surject_kernel::Level;

impl FromStr for Schedule {
    type Err = ScheduleError;

    /// One directive a line; what stands behind `//` is a comment.
    fn from_str(text: &str) -> Result<Schedule, ScheduleError> {
        let mut directives = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line = Line::read(i + 1, line);
            let words = line.words();
            if !words.is_empty() {
                directives.push(directive(&words).map_err(|fault| fault.on(&line))?);
            }
        }
        Ok(Schedule { directives })
    }
}

fn directive(words: &[&str]) -> Result<Directive, Fault> {
    Ok(match words {
        ["split", name, "by", by] => match by.parse() {
            Ok(by) if by > 0 => Directive::Split(name.to_string(), by),
            _ => {
                let message = format!("`{by}` is no positive number; write `split {name} by 8`");
                return Err(Fault::of(by, message));
            }
        },
        ["order", names @ ..] if !names.is_empty() => {
            Directive::Order(names.iter().map(|n| n.to_string()).collect())
        }
        ["parallel", name, level] => match Level::from_name(level) {
            Some(level) => Directive::Parallel(name.to_string(), level),
            None => {
                return Err(Fault::of(level, format!("`{level}` is no level: task, block, warp or thread")));
            }
        },
        ["range", name] => Directive::Range(name.to_string()),
        ["vectorise", name] => Directive::Vectorise(name.to_string()),
        ["unroll", name] => Directive::Unroll(name.to_string()),
        ["peel", name] => Directive::Peel(name.to_string()),
        ["triangular", name] => Directive::Triangular(name.to_string()),
        ["partial", name] => Directive::Partial { name: name.to_string(), blocks: Vec::new() },
        ["partial", name, "by", blocks @ ..] if !blocks.is_empty() => {
            Directive::Partial { name: name.to_string(), blocks: sizes(name, blocks)? }
        }
        ["jam", name] => Directive::Jam(name.to_string()),
        ["fma", name] => Directive::Fma(name.to_string()),
        ["pack", tensor, "at", at] => Directive::Pack { tensor: tensor.to_string(), at: at.to_string() },
        ["accumulate", blocks, "at", at] => {
            Directive::Accumulate { blocks: blocks.to_string(), at: at.to_string() }
        }
        ["keep", reduced, "at", at] => Directive::Keep { reduced: reduced.to_string(), at: at.to_string() },
        ["keys", name] => Directive::Keys(name.to_string()),
        ["inverse", name] => Directive::Inverse(name.to_string()),
        ["nontemporal"] => Directive::NonTemporal,
        ["epilogue", "serial"] => Directive::SerialEpilogue,
        ["prefetch", words @ ..] => Directive::Prefetch(Ahead::read(words)?),
        ["contract", words @ ..] => match UnitTiles::read(words) {
            Some(tiles) => Directive::Multiply(tiles?),
            None => Directive::Contract(Tiles::read(words)?),
        },
        ["transpose", words @ ..] => Directive::Transpose(TransposeTile::read(words)?),
        ["scan", words @ ..] => Directive::Scan(Running::read(words)?),
        _ => {
            let message = format!(
                "`{}` is no directive: split L by N, order L…, parallel L LEVEL, range L, vectorise L, unroll L, jam L, peel L, triangular L, partial L [by N…], fma L, \
                 pack TENSOR|left|right at L, accumulate K at L, keep L at L, keys L, inverse L, nontemporal, epilogue serial, prefetch TENSOR [along L] by N [in K] [soon], contract ROWS COLUMNS TERMS tile M N K thread M N|grid M N across T|warp M [N]|group|\
                 group tma, contract ROWS COLUMNS TERMS tile M N by tiles|dots task M N each N, transpose L L tile N N warps N|tiles N, scan L [across L] threads N each N|lanes N lines N [block N] [keys]",
                words.join(" ")
            );
            return Err(message.into());
        }
    })
}

/// How many iterations of a loop of a sum blocks have.
fn sizes(name: &str, words: &[&str]) -> Result<Vec<i64>, Fault> {
    let size = |word: &&str| match word.parse() {
        Ok(size) if size > 0 => Ok(size),
        _ => {
            let message = format!("`{word}` is no positive number; write `partial {name} by 4096 128`");
            Err(Fault::of(word, message))
        }
    };
    words.iter().map(size).collect()
}

/// Schedules of the kernels of a program that its user has written, by the names of the kernels.
///
/// The text has a line `kernel NAME` for each of them, and below it the directives of its schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedules {
    entries: BTreeMap<String, Entry>,
}

/// The schedule of a kernel, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    schedule: Schedule,
    /// The line of the name, then that of each directive.
    lines: Vec<Line>,
}

impl Schedules {
    /// The schedule of a kernel, if there is one.
    pub fn get(&self, name: &str) -> Option<&Schedule> {
        self.entries.get(name).map(|entry| &entry.schedule)
    }

    /// Is there a schedule for a kernel of the assignment to a variable of this name? Its kernels are called `NAME_0`, `NAME_1`, ….
    pub fn names_kernel_of(&self, variable: &str) -> bool {
        let is_number = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
        let of_it =
            |name: &String| name.rsplit_once('_').is_some_and(|(v, rest)| v == variable && is_number(rest));
        self.entries.keys().any(of_it)
    }

    /// Does every schedule have an expression among these, by their names, and fit it?
    pub fn check<'a>(
        &self,
        expressions: impl Fn(&str) -> Option<&'a Expression>,
    ) -> Result<(), ScheduleError> {
        self.each(|name, schedule| {
            let Some(expression) = expressions(name) else {
                let message = format!(
                    "no assignment of the program has a kernel `{name}`; `--emit schedule` lists them"
                );
                return Err(Misfit { directive: None, fault: Fault::of(name, message) });
            };
            resolved(expression, schedule).map(drop)
        })
    }

    /// Are all directives as they should be? A fault is that of the directive of a number.
    pub(crate) fn directives_hold(
        &self,
        hold: impl Fn(&Schedule) -> Result<(), (usize, Fault)>,
    ) -> Result<(), ScheduleError> {
        self.each(|_, schedule| hold(schedule).map_err(|(i, fault)| fault.at(i)))
    }

    /// Checks every schedule, in the order of the text; says where in the text it is wrong.
    fn each(&self, check: impl Fn(&str, &Schedule) -> Result<(), Misfit>) -> Result<(), ScheduleError> {
        let mut entries: Vec<(&String, &Entry)> = self.entries.iter().collect();
        entries.sort_by_key(|(_, entry)| entry.lines.first().map(Line::number));
        for (name, Entry { schedule, lines }) in entries {
            check(name, schedule).map_err(|Misfit { directive, fault }| {
                let line = directive.and_then(|i| lines.get(i + 1)).or(lines.first());
                match line {
                    Some(line) => fault.on(line),
                    None => ScheduleError { span: None, message: fault.message },
                }
            })?;
        }
        Ok(())
    }
}

impl FromStr for Schedules {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Schedules, ScheduleError> {
        let mut schedules = Schedules::default();
        let mut name = None;
        for (i, line) in text.lines().enumerate() {
            let line = Line::read(i + 1, line);
            match (&line.words()[..], &name) {
                ([], _) => {}
                (&["kernel", new], _) => {
                    if schedules.entries.contains_key(new) {
                        let message = format!("the kernel `{new}` has a schedule above");
                        return Err(Fault::of(new, message).on(&line));
                    }
                    name = Some(new.to_string());
                    let entry = Entry { schedule: Schedule::default(), lines: vec![line] };
                    schedules.entries.extend(name.clone().map(|name| (name, entry)));
                }
                (words, Some(name)) => {
                    let directive = directive(words).map_err(|fault| fault.on(&line))?;
                    if let Some(entry) = schedules.entries.get_mut(name) {
                        entry.schedule.directives.push(directive);
                        entry.lines.push(line);
                    }
                }
                (_, None) => {
                    return Err(Fault::from("expected `kernel NAME` before the first directive").on(&line));
                }
            }
        }
        Ok(schedules)
    }
}
