//! The pretty forms of Shardy. What stands in their brackets is kept as the text of the attribute that the generic form
//! has there.

use super::Parser;
use super::attrs::number_of_type;
use super::cursor::{Cursor, Result};
use crate::attr::Attribute;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::Op;
use crate::sharding::{Mesh, ShardedDims};
use crate::table::{Piece, PieceValue};
use crate::types::{ElementType, Type};

impl<'s> Parser<'s> {
    /// `@name = <["x"=2]> {…}`
    pub(super) fn mesh(&mut self, op: &mut Op) -> Result<Vec<Type>> {
        op.attributes.set("sym_name", Attribute::String(self.c.symbol()?));
        self.c.expect("=")?;
        let body = self.bracketed('<')?;
        op.attributes.set("mesh", Attribute::Opaque(format!("#sdy.mesh{body}")));
        self.dictionary_into(op)?;
        Ok(Vec::new())
    }

    /// `{"x"} %a out_sharding=<@mesh, [{}]> {…} : T`
    pub(super) fn sharded(&mut self, op: &mut Op, before: &[Piece], after: &[Piece]) -> Result<Vec<Type>> {
        self.pieces(op, before)?;
        op.operands = vec![self.operand()?];
        self.pieces(op, after)?;
        self.dictionary_into(op)?;
        let types = self.same_types(op)?;
        // The one operation that only names its operand gives nothing back.
        let gives = op.spec().is_none_or(|spec| spec.results.min > 0);
        Ok(if gives { types } else { Vec::new() })
    }

    /// `<"name">(%a) in_shardings=[…] out_shardings=[…] (%b: T) {…} {…} : (T) -> U`
    pub(super) fn computation(&mut self, op: &mut Op, pieces: &[Piece]) -> Result<Vec<Type>> {
        if self.c.eat("<") {
            op.attributes
                .set("name", Attribute::String(String::from_utf8_lossy(&self.c.string()?).into_owned()));
            self.c.expect(">")?;
        }
        op.operands = self.operands_in_parens()?;
        self.pieces(op, pieces)?;
        let mut params = Vec::new();
        self.c.expect("(")?;
        if !self.c.eat(")") {
            loop {
                params.push(self.named_type()?);
                if !self.c.eat(",") {
                    break;
                }
            }
            if !self.c.eat(")") {
                return Err(self.c.unexpected("',' or ')'"));
            }
        }
        let body = self.region(false, params)?;
        op.regions.push(body);
        self.dictionary_into(op)?;
        self.functional(&op.name, &op.operands)
    }

    /// The attributes that a form has here; one that may be left out is passed over where it is not there.
    fn pieces(&mut self, op: &mut Op, pieces: &[Piece]) -> Result<()> {
        for piece in pieces {
            if !piece.label.is_empty() {
                let optional = op
                    .spec()
                    .and_then(|spec| spec.attribute(piece.attribute))
                    .is_some_and(|attribute| attribute.absent != crate::table::Absent::Required);
                if optional && self.c.peek_word() != piece.label {
                    continue;
                }
                self.c.expect_word(piece.label)?;
                self.c.expect("=")?;
            }
            let value = match piece.value {
                PieceValue::Bracketed(open, prefix, suffix) => {
                    let text = self.bracketed(open)?;
                    Attribute::Opaque(format!("{prefix}{text}{suffix}"))
                }
                PieceValue::Word(words) => {
                    self.c.ws();
                    let start = self.c.pos;
                    let word = self.c.word("a word")?;
                    let place = words.iter().position(|w| *w == word).ok_or_else(|| {
                        Diagnostic::new(
                            codes::ATTRIBUTE,
                            Span::new(start, self.c.pos),
                            format!("'{word}' is no {}", piece.label.replace('_', " ")),
                        )
                        .expected(format!("one of {}", words.join(", ")))
                    })?;
                    Attribute::i32(place as i32)
                }
                PieceValue::Int => number_of_type(&self.c.number()?, ElementType::I64)?,
            };
            op.attributes.set(piece.attribute, value);
        }
        Ok(())
    }

    fn bracketed(&mut self, open: char) -> Result<&'s str> {
        if self.c.peek() != open as u8 {
            return Err(self.c.unexpected(format!("'{open}'")));
        }
        self.c.balanced()
    }
}

/// `<["x"=2, "y"=1], …>`
pub(crate) fn read_mesh(text: &str) -> Option<Mesh> {
    let mut c = Cursor::new(text);
    c.expect("<").ok()?;
    let axes = c.list("[", "]", |c| {
        let name = String::from_utf8_lossy(&c.string()?).into_owned();
        c.expect("=")?;
        Ok((name, c.int()?))
    });
    Some(Mesh { axes: axes.ok()? })
}

/// The name of the mesh or the mesh itself, and what is said of the dimensions, of `<@mesh, [{"x"}, {?}]>` with or without
/// `#sdy.sharding` in front; none where it says more.
pub(crate) fn read_sharding(text: &str) -> Option<(Option<String>, Option<Mesh>, ShardedDims)> {
    let mut c = Cursor::new(text.strip_prefix("#sdy.sharding").unwrap_or(text));
    c.expect("<").ok()?;
    let (name, mesh) = match c.peek() {
        b'@' => (Some(c.symbol().ok()?), None),
        _ => {
            c.expect_word("mesh").ok()?;
            (None, Some(read_mesh(c.balanced().ok()?)?))
        }
    };
    c.expect(",").ok()?;
    c.expect("[").ok()?;
    let mut dims = Vec::new();
    while !c.eat("]") {
        if !dims.is_empty() {
            c.expect(",").ok()?;
        }
        c.expect("{").ok()?;
        let (mut axes, mut open) = (Vec::new(), false);
        while !c.eat("}") {
            if open {
                return None;
            }
            if !axes.is_empty() {
                c.expect(",").ok()?;
            }
            if c.eat("?") {
                open = true;
            } else {
                axes.push(String::from_utf8_lossy(&c.string().ok()?).into_owned());
            }
        }
        dims.push((axes, open));
    }
    c.expect(">").ok()?;
    Some((name, mesh, dims))
}

/// The strings of a list of names in any brackets.
pub(crate) fn read_names(text: &str) -> Vec<String> {
    let mut c = Cursor::new(text);
    let mut names = Vec::new();
    while let Some(at) = text[c.pos..].find('"') {
        c.pos += at;
        let Ok(name) = c.string() else { break };
        names.push(String::from_utf8_lossy(&name).into_owned());
    }
    names
}

/// The symbol that the text starts with, without `@`.
pub(crate) fn read_symbol(text: &str) -> Option<String> {
    Cursor::new(text).symbol().ok()
}
