//! The text of a plan.

use super::{Kernel, Place, Plan, Step, Tensor, TensorId};
use crate::order::{Notes, Orders, Times, notes};
use std::fmt::{self, Write};

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sizes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        write!(f, "{}[{}]", self.dtype, sizes.join(","))
    }
}

impl fmt::Display for Plan {
    /// The memory, the tensors and the steps. What the host does says how many bytes are copied for it. Where there are
    /// several streams, every step says its own, and what it waits for there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constants = self.constant_bytes();
        writeln!(f, "plan {} for {}", self.name, self.architecture)?;
        writeln!(
            f,
            "memory: arena {} bytes, constants {constants}, with arguments {} at most",
            self.arena_bytes,
            self.peak_bytes()
        )?;
        if !self.is_settled() {
            writeln!(f, "  and workspaces of libraries, whose sizes the device says")?;
        }
        for tensor in &self.tensors {
            match tensor.place {
                Place::Arena(at) => writeln!(f, "  {:<16} {tensor} at {at}", tensor.name)?,
                Place::Argument(n) => writeln!(f, "  {:<16} {tensor} argument {n}", tensor.name)?,
                Place::Constant(n) => writeln!(f, "  {:<16} {tensor} constant {n}", tensor.name)?,
            }
        }
        let orders = Orders::of(self);
        let notes = notes(self, &orders);
        let list = |steps, f: &mut fmt::Formatter<'_>| {
            let mut text = String::new();
            self.print(steps, 1, &notes, &mut text)?;
            f.write_str(&text)
        };
        if !self.init.is_empty() {
            writeln!(f, "once:")?;
            list(&self.init, f)?;
        }
        match orders.steps.streams {
            0 | 1 => writeln!(f, "steps:")?,
            streams => writeln!(f, "steps:  // on {streams} streams")?,
        }
        list(&self.steps, f)?;
        let order = &orders.steps;
        if order.times == Times::Modelled && !order.items.is_empty() {
            let one = match order.streams {
                0 | 1 => String::new(),
                _ => format!("; {:.2} us on one stream", order.serial_us),
            };
            writeln!(f, "modelled: {:.2} us{one}", order.us)?;
        }
        let results: Vec<&str> = self.results.iter().map(|&r| self.tensor(r).name.as_str()).collect();
        writeln!(f, "results: {}", results.join(", "))
    }
}

impl Plan {
    fn print(&self, steps: &[Step], depth: usize, notes: &Notes, f: &mut String) -> fmt::Result {
        let names = |ids: &[TensorId]| {
            ids.iter().map(|&id| self.tensor(id).name.as_str()).collect::<Vec<&str>>().join(", ")
        };
        let bytes = |ids: &[TensorId]| ids.iter().filter_map(|&id| self.tensor(id).bytes()).sum::<u64>();
        let indent = "  ".repeat(depth);
        for step in steps {
            let from = f.len();
            match step {
                Step::Launch { kernel, tensors } => {
                    writeln!(f, "{indent}{}", self.launch(*kernel, &names(tensors)))?;
                }
                Step::Copy { from, to } => {
                    writeln!(
                        f,
                        "{indent}copy {} to {}, {} bytes",
                        names(&[*from]),
                        names(&[*to]),
                        bytes(&[*from])
                    )?;
                }
                Step::Call { call, tensors } => {
                    let call = &self.calls[*call as usize].call;
                    writeln!(f, "{indent}{} {call}({})", call.library(), names(tensors))?;
                }
                Step::Either { device, host } => {
                    writeln!(f, "{indent}where the device has {}", self.libraries(device))?;
                    self.print(device, depth + 1, notes, f)?;
                    writeln!(f, "{indent}else")?;
                    self.print(host, depth + 1, notes, f)?;
                }
                Step::Host { program, inputs, outputs } => {
                    let step = &self.host[*program as usize];
                    writeln!(
                        f,
                        "{indent}host {}: {} = {}({}), {} bytes to the host, {} back",
                        step.operation,
                        names(outputs),
                        step.operation,
                        names(inputs),
                        bytes(inputs),
                        bytes(outputs)
                    )?;
                    if let Some(reason) = &step.reason {
                        writeln!(f, "{indent}  // {reason}")?;
                    }
                }
                Step::While { condition, test, body } => {
                    writeln!(f, "{indent}while {} of", names(&[*test]))?;
                    self.print(condition, depth + 1, notes, f)?;
                    writeln!(f, "{indent}do")?;
                    self.print(body, depth + 1, notes, f)?;
                }
                Step::Repeat { count, body } => {
                    writeln!(f, "{indent}repeat {count} times")?;
                    self.print(body, depth + 1, notes, f)?;
                }
                Step::Choose { index, branches } => {
                    writeln!(f, "{indent}choose by {}", names(&[*index]))?;
                    for (n, branch) in branches.iter().enumerate() {
                        writeln!(f, "{indent}branch {n}")?;
                        self.print(branch, depth + 1, notes, f)?;
                    }
                }
            }
            if let Some(note) = notes.get(&std::ptr::from_ref(step))
                && let Some(end) = f[from..].find('\n')
            {
                f.insert_str(from + end, &format!("  // {note}"));
            }
        }
        Ok(())
    }

    /// A launch of a kernel on tensors of these names.
    fn launch(&self, kernel: u32, tensors: &str) -> String {
        let Kernel { name, shape, .. } = &self.kernels[kernel as usize];
        let [x, y, z] = shape.blocks;
        let blocks = match (y, z) {
            (1, 1) => x.to_string(),
            (_, 1) => format!("{x}x{y}"),
            _ => format!("{x}x{y}x{z}"),
        };
        let shared = match shape.shared {
            0 => String::new(),
            n => format!(", {n} bytes of shared memory"),
        };
        format!("{name}({tensors}) on {blocks} blocks of {}{shared}", shape.threads)
    }

    /// The libraries that steps call.
    fn libraries(&self, steps: &[Step]) -> String {
        let called = steps.iter().filter_map(|step| match step {
            Step::Call { call, .. } => Some(self.calls[*call as usize].call.library().to_string()),
            _ => None,
        });
        let mut all: Vec<String> = called.collect();
        all.dedup();
        all.join(" and ")
    }
}
