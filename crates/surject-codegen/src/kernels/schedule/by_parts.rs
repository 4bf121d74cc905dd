//! Schedules of kernels of which others run a range of parts.

use super::{Directive, Schedule, fits};
use crate::kernels::expression::Expression;
use surject_kernel::Level;

/// A loop over the points of an expression whose iterations are parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartLoop {
    /// Its name.
    pub name: String,
    /// How many of its iterations, one after the other, a part has. They divide its extent.
    pub steps: i64,
}

impl Schedule {
    /// The same schedule with a task for every part: the loops of the parts, outermost first, stand outside of all others. `None`
    /// where it has tasks already, is a form of its own, or does something else with these loops.
    /// It is long because it is flat: one arm a directive.
    pub fn by_parts(&self, expression: &Expression, parts: &[PartLoop]) -> Option<Schedule> {
        let mut directives = Vec::new();
        let mut names: Vec<String> = expression.loops().into_iter().map(|l| l.name).collect();
        let mut outer = Vec::new();
        for PartLoop { name, steps } in parts {
            let at = names.iter().position(|n| n == name)?;
            if *steps == 1 {
                outer.push(name.clone());
                continue;
            }
            let split = [format!("{name}.o"), format!("{name}.i")];
            directives.push(Directive::Split(name.clone(), *steps));
            outer.push(split[0].clone());
            names.splice(at..=at, split);
        }
        // What is left of a loop that is cut into parts has the name of its inner part.
        let renamed = |name: &str| -> String {
            let cut = parts.iter().filter(|p| p.steps > 1).find_map(|p| {
                let end = name.strip_prefix(p.name.as_str())?;
                (end.is_empty() || end.starts_with('.')).then(|| format!("{}.i{end}", p.name))
            });
            cut.unwrap_or_else(|| name.to_string())
        };
        let mut ordered = None;
        let mut rest = Vec::new();
        for directive in &self.directives {
            match directive {
                Directive::Split(name, by) => {
                    let name = renamed(name);
                    if let Some(at) = names.iter().position(|n| *n == name) {
                        names.splice(at..=at, [format!("{name}.o"), format!("{name}.i")]);
                    }
                    directives.push(Directive::Split(name, *by));
                }
                Directive::Order(order) => {
                    let order: Vec<String> = order.iter().map(|name| renamed(name)).collect();
                    match order.iter().any(|name| names.contains(name)) {
                        true => ordered = Some(order),
                        false => rest.push(Directive::Order(order)),
                    }
                }
                Directive::Vectorise(name) => rest.push(Directive::Vectorise(renamed(name))),
                Directive::Unroll(name) => rest.push(Directive::Unroll(renamed(name))),
                Directive::Jam(name) => rest.push(Directive::Jam(renamed(name))),
                Directive::Peel(name) => rest.push(Directive::Peel(renamed(name))),
                Directive::Triangular(name) => rest.push(Directive::Triangular(renamed(name))),
                Directive::Partial { name, blocks } => {
                    rest.push(Directive::Partial { name: renamed(name), blocks: blocks.clone() });
                }
                Directive::Fma(_)
                | Directive::Keep { .. }
                | Directive::Keys(_)
                | Directive::Inverse(_)
                | Directive::NonTemporal
                | Directive::SerialEpilogue
                | Directive::Prefetch(_) => rest.push(directive.clone()),
                Directive::Parallel(..)
                | Directive::Range(_)
                | Directive::Pack { .. }
                | Directive::Accumulate { .. }
                | Directive::Contract(_)
                | Directive::Multiply(_)
                | Directive::Transpose(_)
                | Directive::Scan(_) => return None,
            }
        }
        // The loops of parts are there as they are.
        if outer.iter().any(|name| !names.contains(name)) {
            return None;
        }
        let inner = ordered.unwrap_or_else(|| names.clone());
        let inner = inner.into_iter().filter(|name| !outer.contains(name));
        directives.push(Directive::Order(outer.iter().cloned().chain(inner).collect()));
        // Parts that are joined to the same results run one after the other.
        let is_joined = |p: &PartLoop| expression.find(&p.name).is_some_and(|l| !l.parallel);
        match (parts.iter().any(is_joined), &outer[..]) {
            (true, [only]) => directives.push(Directive::Range(only.clone())),
            (true, _) => return None,
            (false, _) => {
                directives.extend(outer.into_iter().map(|name| Directive::Parallel(name, Level::Task)));
            }
        }
        directives.extend(rest);
        let schedule = Schedule { directives };
        fits(expression, &schedule).is_ok().then_some(schedule)
    }
}
