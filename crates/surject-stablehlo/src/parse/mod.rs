//! The reader: text to [`Module`].

mod alias;
mod attrs;
mod cursor;
mod dense;
mod foreign;
mod forms;
mod module;
mod names;
mod ops;
mod recover;
mod sharding;
mod stablehlo;
mod structured;
mod types;

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::Module;
use crate::types::Type;
use cursor::{Cursor, Result};
pub(crate) use sharding::{ReadSharding, read_mesh, read_names, read_sharding, read_shardings, read_symbol};

/// Types, attributes and regions may nest so deeply; deeper text is refused before the stack is at risk.
pub const MAX_NESTING: usize = 128;

/// Reads a module, or a bare list of functions, from text or from a portable artifact (alone, or in the envelope of a
/// file that `jax.export` saved).
///
/// The result is well-formed SSA (every operand is defined and of the type the text gives it) but not verified
/// against the rules of the operations: see [`crate::verify()`] and [`crate::parse_and_verify`].
pub fn parse(source: impl AsRef<[u8]>) -> std::result::Result<Module, Diagnostic> {
    let bytes = source.as_ref();
    if let Some(range) = crate::artifact::locate(bytes) {
        return crate::artifact::read(bytes, range);
    }
    let mut parser = Parser::new(readable(bytes)?);
    parser.module()?;
    parser.module.shrink_to_fit();
    Ok(parser.module)
}

/// All mistakes of a source: those of reading it, which goes on at the next operation after each, and those that the
/// verifier finds in what could be read. In the order of the text; empty for a valid module.
pub fn check(source: impl AsRef<[u8]>) -> Vec<Diagnostic> {
    let bytes = source.as_ref();
    if let Some(range) = crate::artifact::locate(bytes) {
        let verified = crate::artifact::read(bytes, range)
            .map_or_else(|error| vec![error], |module| crate::verify(&module).err().unwrap_or_default());
        return verified;
    }
    let text = match readable(bytes) {
        Ok(text) => text,
        Err(error) => return vec![error],
    };
    let mut parser = Parser::new(text);
    parser.recovery = Some(recover::Recovery::default());
    if let Err(error) = parser.module() {
        parser.note(error);
    }
    let Parser { module, recovery, .. } = parser;
    let recovery = recovery.unwrap_or_default();
    let mut errors = recovery.errors;
    let found = crate::verify::verify_functions(&module, &recovery.broken);
    // A call of a function that could not be read is no mistake.
    errors.extend(found.into_iter().filter(|e| !recovery.lost_symbol || e.code != codes::UNKNOWN_NAME));
    errors.sort_by_key(|e| e.span.start);
    errors
}

/// The attribute that a text spells.
pub(crate) fn parse_attribute(text: &str) -> Result<crate::attr::Attribute> {
    let mut parser = Parser::new(text);
    let attribute = parser.attribute()?;
    parser.end().map(|()| attribute)
}

/// The type that a text spells.
pub(crate) fn parse_type(text: &str) -> Result<crate::types::Type> {
    let mut parser = Parser::new(text);
    let ty = parser.ty()?;
    parser.end().map(|()| ty)
}

/// The types that a text lists, separated by commas.
pub(crate) fn parse_types(text: &str) -> Result<Vec<crate::types::Type>> {
    let mut parser = Parser::new(text);
    if parser.c.peek() == 0 && parser.c.at_end() {
        return Ok(Vec::new());
    }
    let types = parser.type_list()?;
    parser.end().map(|()| types.into_vec())
}

/// The source as text.
fn readable(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("the byte 0x{:02X} at offset {at} is not UTF-8 text", bytes[at]);
        Diagnostic::new(codes::NOT_TEXT, Span::new(at, at + 1), message)
            .expected("StableHLO text in UTF-8")
            .help("is this a binary file, or text in another encoding?")
    })
}

/// Types of operands or of results, which are few.
type TypeVec = SmallVec<[Type; 2]>;

/// The state of reading one source.
pub(crate) struct Parser<'s> {
    c: Cursor<'s>,
    depth: usize,
    module: Module,
    names: names::Names<'s>,
    /// The tensor types so far, by their text: a program has few, and writes them often.
    tensors: HashMap<&'s str, Type, FxBuildHasher>,
    /// Names of the functions so far.
    symbols: HashSet<String>,
    aliases: alias::Aliases<'s>,
    /// Where all mistakes are wanted, not the first alone.
    recovery: Option<recover::Recovery<'s>>,
    /// The comparisons in the dictionary at hand, which StableHLO and CHLO each have of their own; whether they are of CHLO.
    comparisons: Vec<(Span, bool)>,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str) -> Parser<'s> {
        Parser {
            c: Cursor::new(text),
            depth: 0,
            module: Module::default(),
            names: names::Names::default(),
            tensors: HashMap::default(),
            symbols: HashSet::new(),
            aliases: alias::Aliases::default(),
            recovery: None,
            comparisons: Vec::new(),
        }
    }

    /// An error unless all of the text was read.
    fn end(&mut self) -> Result<()> {
        match self.c.peek() {
            0 if self.c.at_end() => Ok(()),
            _ => Err(self.c.unexpected("nothing more")),
        }
    }

    /// Goes one level deeper.
    fn enter(&mut self) -> Result<()> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            let span = Span::new(self.c.pos, self.c.pos + 1);
            return Err(Diagnostic::new(
                codes::NESTING,
                span,
                format!("nested more than {MAX_NESTING} levels deep"),
            )
            .help("programs nest a few levels; is this file what it should be?"));
        }
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }
}
