//! Which kernels are well formed.
//!
//! What a verified kernel may still do wrong depends on values: accesses out of bounds, races, barriers that not all
//! threads reach, reads of what nothing wrote. The interpreter finds these.

mod boxes;
mod control;
mod memory;
mod operations;

use crate::{Kernel, Level, Mem, Op, Part, Region, Space, Statement, Type, Value, print_statement};
use std::collections::HashSet;
use std::fmt;

/// Why a kernel is not well formed, and in which statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The name of the kernel.
    pub kernel: String,
    /// The statement, where one is to blame.
    pub statement: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`: {}", self.kernel, self.message)?;
        self.statement.as_ref().map_or(Ok(()), |statement| write!(f, "\n  in `{statement}`"))
    }
}

impl std::error::Error for VerifyError {}

/// Checks a kernel:
///
/// * Each value is defined once, before it is used, in a region around its use; memory likewise.
/// * Types fit: operands of one type where an operation asks for that, lanes, element types of memory, `i64` in
///   addresses. A lane in an expression needs lanes in what it addresses.
/// * Levels nest: a task stands alone, a block alone or as one of a grid inside of a block, a warp inside of a block, a thread inside of a block or a warp. Parallel loops
///   carry nothing. Memory of a level is made inside of a loop of that level and of none further in.
/// * A barrier with phases is an element of shared `i64` memory that nothing else uses; the block makes it, outside of its warps,
///   and warps wait there. A box that is copied is one that a machine can copy ([`crate::TensorMap::check`]).
/// * What is only read is not written, and the other way round. Registers and stacks are used by whoever made them.
pub fn verify(kernel: &Kernel) -> Result<(), VerifyError> {
    let mut verifier = Verifier {
        kernel,
        defined: HashSet::new(),
        ever: HashSet::new(),
        made: Vec::new(),
        ever_made: HashSet::new(),
        levels: Vec::new(),
        phases: boxes::phases(&kernel.body),
    };
    verifier.kernel().map_err(|fault| VerifyError {
        kernel: kernel.name.clone(),
        statement: fault.statement,
        message: fault.message,
    })
}

/// What is wrong, and where.
struct Fault {
    statement: Option<String>,
    message: String,
}

type Checked = Result<(), Fault>;

fn fault(message: impl Into<String>) -> Checked {
    Err(Fault { statement: None, message: message.into() })
}

fn need(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { fault(message()) }
}

struct Verifier<'a> {
    kernel: &'a Kernel,
    /// Values that are defined at this place.
    defined: HashSet<Value>,
    /// Values that are defined anywhere so far.
    ever: HashSet<Value>,
    /// Memory that is made at this place, and inside of how many parallel loops.
    made: Vec<(Mem, usize)>,
    /// Memory that is made anywhere so far.
    ever_made: HashSet<Mem>,
    /// The parallel loops around this place.
    levels: Vec<Level>,
    /// The memory of barriers with phases.
    phases: HashSet<Mem>,
}

impl Verifier<'_> {
    fn kernel(&mut self) -> Checked {
        let kernel = self.kernel;
        for &size in &kernel.sizes {
            self.define(size)?;
            need(kernel.ty(size) == Type::index(), || format!("the size {size} is no i64"))?;
        }
        let mut names = HashSet::new();
        for memory in &kernel.memory {
            let name = &memory.name;
            need(names.insert(name), || format!("two memories are called `{name}`"))?;
            need(!memory.dtype.is_complex(), || format!("`{name}` has complex elements: they are two"))?;
        }
        for &param in &kernel.params {
            self.known(param)?;
            let memory = kernel.mem(param);
            need(memory.space == Space::Global, || format!("the parameter `{}` is not global", memory.name))?;
            self.affine(&memory.elements, 1)?;
            need(self.ever_made.insert(param), || format!("`{}` is two parameters", memory.name))?;
            self.made.push((param, 0));
        }
        self.region(&kernel.body)?;
        need(kernel.body.yields.is_empty(), || "a kernel yields nothing".into())
    }

    fn known(&self, mem: Mem) -> Checked {
        need((mem.0 as usize) < self.kernel.memory.len(), || format!("there is no memory {}", mem.0))
    }

    fn define(&mut self, value: Value) -> Checked {
        need((value.0 as usize) < self.kernel.types.len(), || format!("{value} has no type"))?;
        let ty = self.kernel.ty(value);
        let exists = (1..=Type::MOST_LANES).contains(&ty.lanes) && !ty.dtype.is_complex();
        need(exists, || format!("no value has the type {ty}"))?;
        self.defined.insert(value);
        need(self.ever.insert(value), || format!("{value} is defined twice"))
    }

    /// The type of a value that is used here.
    fn ty(&self, value: Value) -> Result<Type, Fault> {
        if self.defined.contains(&value) {
            return Ok(self.kernel.ty(value));
        }
        fault(format!("{value} is not defined before its use")).map(|()| Type::index())
    }

    fn region(&mut self, region: &Region) -> Checked {
        let (defined, made) = (self.defined.clone(), self.made.len());
        region.params.iter().try_for_each(|&p| self.define(p))?;
        for statement in &region.body {
            self.statement(statement).map_err(|mut fault| {
                fault.statement.get_or_insert_with(|| print_statement(self.kernel, statement));
                fault
            })?;
        }
        region.yields.iter().try_for_each(|&v| self.ty(v).map(|_| ()))?;
        self.defined = defined;
        self.made.truncate(made);
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Checked {
        let Statement { results, op } = statement;
        let mut checked = Ok(());
        op.parts(&mut |part| {
            if checked.is_ok() {
                checked = match part {
                    Part::Value(&value) => self.ty(value).map(|_| ()),
                    Part::Mem(&mem) => self.known(mem),
                    Part::Affine(_) | Part::Region(_) => Ok(()),
                };
            }
        });
        checked?;
        let types: Vec<Type> = results
            .iter()
            .map(|&v| self.kernel.types.get(v.0 as usize).copied())
            .collect::<Option<_>>()
            .unwrap_or_default();
        need(types.len() == results.len(), || "a result has no type".into())?;
        match op {
            Op::For { .. } | Op::If { .. } => self.control(statement)?,
            _ => match (results.len(), self.effect(op)?) {
                (0, None) => {}
                (0, Some(_)) => return fault("the result has no name"),
                (1, Some(wanted)) => {
                    need(wanted.fits(types[0]), || format!("the result is {}, not {}", wanted, types[0]))?;
                    self.with_result(op, types[0])?;
                }
                (_, wanted) => {
                    let count = usize::from(wanted.is_some());
                    return fault(format!(
                        "there are {} results where there should be {count}",
                        results.len()
                    ));
                }
            },
        }
        results.iter().try_for_each(|&v| self.define(v))
    }
}
