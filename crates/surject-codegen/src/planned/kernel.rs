//! A kernel, and what all kernels begin and end with.

use crate::code::{Declaration, Function, Statement};
use crate::expression::dag::Buf;
use crate::expression::output::Output;
use crate::normalise::pulled::Pulled;
use crate::planned::recipe::Recipe;
use std::sync::Arc;

/// A function of tasks, each done by a worker: `@kernel_N(%task: i64, %worker: i64, %ptrs: !llvm.ptr)`. Tasks that run
/// at the same time have different workers, whose numbers are below [`Target::threads`] and below the number of tasks.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The body of the function.
    pub(crate) body: Vec<Statement>,
    /// The tensors whose addresses are at `%ptrs`, in order.
    pub buffers: Vec<Buf>,
    /// The number of tasks.
    pub tasks: i64,
    /// Outside functions it calls, and functions that it shares with other kernels.
    pub(crate) declarations: Vec<Declaration>,
    /// What it is, for the plan.
    pub summary: String,
    /// The form it has, for the plan.
    pub form: Form,
    /// More functions it needs, which belong to it.
    pub(crate) functions: Vec<Function>,
    /// The tensors it writes, among `buffers`: the output first, then what is its own.
    pub writes: Vec<Buf>,
    /// An estimate of its work, in cycles of one core.
    pub cycles: f64,
    /// How many cycles longer it takes if it is compiled with the least effort, if that is known.
    pub loss: Option<f64>,
    /// Is it compiled with the least effort?
    pub cold: bool,
    /// The registers of its widest vectors, for which one operation of the text is as many instructions.
    pub registers: usize,
    /// What it computes, while the machine has not made it yet: it has no body then.
    pub(crate) rows: Option<Arc<Pulled>>,
    /// What it was made from, if its work can be cut.
    pub recipe: Option<Arc<Recipe>>,
    /// Tensors that may have the memory of the output: of each the kernel reads the elements at the address of the
    /// output alone, every one before it is written, and every point of the output is evaluated once.
    pub in_place: Vec<Buf>,
    /// Does it copy the one tensor it reads to its output, bit for bit?
    pub copies: bool,
}

/// The form of a kernel, and why it has no other that was tried before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Form {
    /// Its name. Empty: the kernel is that of a library operation, sends its results, or was joined from others.
    pub name: &'static str,
    /// The forms that were tried before, with what is missing for each.
    pub refused: Vec<(&'static str, &'static str)>,
}

/// What makes a kernel different from others: its body, the functions that belong to it, and its tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Code<'a> {
    body: &'a [Statement],
    functions: &'a [Function],
    tasks: i64,
}

impl Kernel {
    /// A kernel of which nothing else is known: its work is no part of what others do, and memory is its own.
    pub(crate) fn plain(
        body: Vec<Statement>,
        tasks: i64,
        buffers: Vec<Buf>,
        writes: Vec<Buf>,
        summary: String,
    ) -> Kernel {
        Kernel {
            body,
            buffers,
            tasks,
            declarations: Vec::new(),
            summary,
            form: Form::default(),
            functions: Vec::new(),
            writes,
            cycles: 0.0,
            loss: None,
            cold: false,
            registers: 1,
            rows: None,
            recipe: None,
            in_place: Vec::new(),
            copies: false,
        }
    }

    /// What makes it different from others.
    pub(crate) fn code(&self) -> Code<'_> {
        Code { body: &self.body, functions: &self.functions, tasks: self.tasks }
    }

    /// The kernel, of which no part runs together with a part of another.
    pub(crate) fn alone(self) -> Kernel {
        let recipe = self.recipe.and_then(|r| r.alone()).map(Arc::new);
        Kernel { recipe, ..self }
    }
}

/// The tensors that outputs go to, in order.
pub fn written(outputs: &[Output]) -> Vec<Buf> {
    let mut all: Vec<Buf> = Vec::new();
    for output in outputs {
        if !all.contains(&output.to) {
            all.push(output.to);
        }
    }
    all
}
