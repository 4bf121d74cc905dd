//! What a printed plan says of streams and events.

use super::{Item, Order, Orders, Start, What, Why};
use crate::{Plan, Step};
use std::collections::HashMap;

/// What stands behind a step, by its address.
pub(crate) type Notes = HashMap<*const Step, String>;

/// The stream of each step, and what it waits for there and why; nothing where one stream does all.
pub(crate) fn notes(plan: &Plan, orders: &Orders) -> Notes {
    let mut writer = Writer { plan, notes: Notes::new() };
    for (steps, order) in [(&plan.init, &orders.init), (&plan.steps, &orders.steps)] {
        if order.streams > 1 {
            writer.list(steps, order, 0);
        }
    }
    writer.notes
}

struct Writer<'p> {
    plan: &'p Plan,
    notes: Notes,
}

impl Writer<'_> {
    fn list(&mut self, steps: &[Step], order: &Order, base: u32) {
        for (n, item) in order.items.iter().enumerate() {
            let stream = (base + item.stream) % self.plan.streams.max(1);
            let mut words = vec![format!("stream {stream}")];
            if item.start == Start::Waits {
                words.push("after the begin of these steps".into());
            }
            words.extend(item.after.iter().map(|after| {
                let other = self.label(steps, &order.items[after.item]);
                let name = |id| &self.plan.tensor(id).name;
                match after.why {
                    Why::Reads => format!("after {other}, which writes `{}`", name(after.other)),
                    _ if after.other != after.tensor => {
                        format!(
                            "after {other}, as `{}` takes the memory of `{}`",
                            name(after.tensor),
                            name(after.other)
                        )
                    }
                    Why::OverwritesRead => {
                        format!("after {other}, which reads `{}` before", name(after.other))
                    }
                    Why::OverwritesWritten => {
                        format!("after {other}, which writes `{}` before", name(after.other))
                    }
                }
            }));
            let arguments = item.arguments.iter().filter_map(|&n| self.plan.params.get(n as usize));
            let arguments: Vec<String> =
                arguments.map(|&id| format!("`{}`", self.plan.tensor(id).name)).collect();
            if !arguments.is_empty() {
                words.push(format!("after the copy of {} to the device", arguments.join(" and ")));
            }
            if n + 1 == order.items.len() && !order.joins.is_empty() {
                let all: Vec<String> =
                    order.joins.iter().map(|&item| self.label(steps, &order.items[item])).collect();
                words.push(format!("then stream {base} waits for {}", all.join(" and ")));
            }
            self.item(steps, item, stream, words);
        }
    }

    fn item(&mut self, steps: &[Step], item: &Item, stream: u32, words: Vec<String>) {
        let own = words.join(", ");
        let at = match &item.what {
            What::Step(at) => *at,
            What::Nested(at, orders) => {
                for (list, order) in lists(&steps[*at]).into_iter().zip(orders) {
                    self.list(list, order, stream);
                }
                *at
            }
            What::Rounds(at, section) => {
                if let [body] = lists(&steps[*at])[..] {
                    self.list(body, &section.order, stream);
                }
                *at
            }
            What::Section(range, section) => {
                self.list(&steps[range.clone()], &section.order, stream);
                if let ([first, .., last], [_, more @ ..]) = (&steps[range.clone()], &words[..])
                    && !more.is_empty()
                {
                    let together = format!("; from here to {}: {}", self.step(last), more.join(", "));
                    self.notes.entry(first).or_default().push_str(&together);
                } else if let [only] = &steps[range.clone()] {
                    self.notes.insert(only, own);
                }
                return;
            }
        };
        self.notes.insert(&steps[at], own);
    }

    /// A step in a few words.
    fn step(&self, step: &Step) -> String {
        match step {
            Step::Launch { kernel, .. } => format!("`{}`", self.plan.kernels[*kernel as usize].name),
            Step::Copy { to, .. } => format!("the copy to `{}`", self.plan.tensor(*to).name),
            Step::Call { call, .. } => format!("`{}`", self.plan.calls[*call as usize].call.name()),
            Step::Host { program, .. } => {
                format!("the host's {}", self.plan.host[*program as usize].operation)
            }
            Step::Either { .. } => "either form".into(),
            Step::While { .. } | Step::Repeat { .. } => "the loop".into(),
            Step::Choose { .. } => "the choice".into(),
        }
    }

    /// An item in a few words.
    fn label(&self, steps: &[Step], item: &Item) -> String {
        match &item.what {
            What::Step(at) | What::Nested(at, _) | What::Rounds(at, _) => self.step(&steps[*at]),
            What::Section(range, _) => match &steps[range.clone()] {
                [only] => self.step(only),
                [first, .., last] => format!("{} to {}", self.step(first), self.step(last)),
                [] => "nothing".into(),
            },
        }
    }
}

/// The lists in a step, in the order of their orders.
pub(crate) fn lists(step: &Step) -> Vec<&[Step]> {
    match step {
        Step::Repeat { body, .. } => vec![body],
        Step::While { condition, body, .. } => vec![condition, body],
        Step::Choose { branches, .. } => branches.iter().map(Vec::as_slice).collect(),
        Step::Either { device, host } => vec![device, host],
        Step::Launch { .. } | Step::Copy { .. } | Step::Call { .. } | Step::Host { .. } => Vec::new(),
    }
}
