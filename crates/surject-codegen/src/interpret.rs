//! Lowered functions on the interpreter of code: what compiled code does, without MLIR and for any processor.

use crate::LoweredModule;
use crate::code::Module;
use crate::code::interpret::{Fault, Options, Pointer, Process};
use surject_ir::{Buffer, TensorType};
use thiserror::Error;

/// Why a run has no results.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum InterpretError {
    /// The code does what it must not, or what the interpreter does not know ([`Fault::is_limit`]).
    #[error(transparent)]
    Fault(#[from] Fault),
    /// An element of a result that nothing writes.
    #[error("result {0} is not written")]
    Unwritten(usize),
    /// The arguments are not those of the function, or a part of the module is text alone.
    #[error("{0}")]
    Malformed(String),
}

impl LoweredModule {
    /// Runs the function on the interpreter of code. No result has the memory of an argument.
    pub fn interpret(&self, arguments: &[Buffer], options: Options) -> Result<Vec<Buffer>, InterpretError> {
        let malformed = |what: &str| InterpretError::Malformed(what.to_string());
        let fits = |(buffer, ty): (&Buffer, &TensorType)| {
            buffer.dtype() == ty.dtype && shape(ty).is_some_and(|shape| shape == buffer.shape())
        };
        if arguments.len() != self.params.len() || !arguments.iter().zip(&self.params).all(fits) {
            return Err(malformed("the arguments are not those of the function"));
        }
        let modules: Option<Vec<&Module>> = self.parts.iter().map(|part| part.code.as_ref()).collect();
        let mut process =
            Process::new(modules.ok_or_else(|| malformed("a part without operations"))?, options);
        let given = arguments.iter().enumerate();
        let given: Vec<Pointer> =
            given.map(|(i, b)| process.allocate_with(format!("argument {i}"), b.bytes())).collect();
        let mut results = Vec::new();
        for (i, ty) in self.results.iter().enumerate() {
            let shape = shape(ty).ok_or_else(|| malformed("a result of unknown size"))?;
            let bytes = shape.iter().product::<usize>() * ty.dtype.size();
            results.push(Place { at: process.allocate(format!("result {i}"), bytes), bytes, shape });
        }
        let own = results.iter().map(|place| place.at);
        // Memory that results lend is their own: none has that of an argument.
        let lent = self.lent.iter().map(|lent| results[lent.result].at);
        let all: Vec<Pointer> = own.chain(lent).collect();
        let arena = process.allocate("the arena", self.arena_bytes as usize);
        let constants = self.constants.iter().enumerate();
        let constants: Vec<Pointer> =
            constants.map(|(i, c)| process.allocate_with(format!("constant {i}"), c.bytes())).collect();
        let tables = [("arguments", &given), ("results", &all), ("constants", &constants)];
        let [given, all, constants] =
            tables.map(|(name, table)| process.array(format!("the addresses of {name}"), table));
        for entry in self.init.iter().chain([&self.entry]) {
            process.call(entry, &[given, all, arena, constants])?;
        }
        let mut found = Vec::new();
        for (i, (Place { at, bytes, shape }, ty)) in results.iter().zip(&self.results).enumerate() {
            let held = process.bytes(*at, *bytes).filter(|_| process.is_written(*at, *bytes));
            let buffer = held.and_then(|held| Buffer::from_bytes(ty.dtype, shape, held));
            found.push(buffer.ok_or(InterpretError::Unwritten(i))?);
        }
        Ok(found)
    }
}

/// Where a result is.
struct Place {
    at: Pointer,
    bytes: usize,
    shape: Vec<usize>,
}

/// The sizes of a tensor, where they are known.
fn shape(ty: &TensorType) -> Option<Vec<usize>> {
    let sizes = ty.space.sizes()?;
    sizes.iter().map(|&n| usize::try_from(n).ok()).collect()
}
