//! The pretty forms of Shardy. What stands in their brackets is kept as the text of the attribute that the generic form
//! has there.

use super::attrs::number_of_type;
use super::cursor::{Cursor, Result};
use super::{Parser, TypeVec};
use crate::attr::Attribute;
use crate::diagnostic::{Diagnostic, Span, codes};
use crate::module::Op;
use crate::sharding::{Mesh, MeshAxis, ShardedDim};
use crate::table::{Piece, PieceValue};
use crate::types::ElementType;

impl<'s> Parser<'s> {
    /// `@name = <["x"=2]> {…}`
    pub(super) fn mesh(&mut self, op: &mut Op) -> Result<TypeVec> {
        op.attributes.set("sym_name", Attribute::String(self.c.symbol()?));
        self.c.expect("=")?;
        let body = self.bracketed('<')?;
        op.attributes.set("mesh", Attribute::Opaque(format!("#sdy.mesh{body}")));
        self.dictionary_into(op)?;
        Ok(Vec::new().into())
    }

    /// `{"x"} %a out_sharding=<@mesh, [{}]> {…} : T`
    pub(super) fn sharded(&mut self, op: &mut Op, before: &[Piece], after: &[Piece]) -> Result<TypeVec> {
        self.pieces(op, before)?;
        op.operands = vec![self.operand()?].into();
        self.pieces(op, after)?;
        self.dictionary_into(op)?;
        let types = self.same_types(op)?;
        // The one operation that only names its operand gives nothing back.
        let gives = op.spec().is_none_or(|spec| spec.results.min > 0);
        Ok(if gives { types } else { Vec::new().into() })
    }

    /// `<"name">(%a) in_shardings=[…] out_shardings=[…] (%b: T) {…} {…} : (T) -> U`
    pub(super) fn computation(&mut self, op: &mut Op, pieces: &[Piece]) -> Result<TypeVec> {
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

/// `<["x"=2, "y"=1], device_ids=[1, 0]>`
pub(crate) fn read_mesh(text: &str) -> Option<Mesh> {
    mesh_body(&mut Cursor::new(text))
}

fn mesh_body(c: &mut Cursor<'_>) -> Option<Mesh> {
    c.expect("<").ok()?;
    let axes = c.list("[", "]", |c| {
        let name = String::from_utf8_lossy(&c.string()?).into_owned();
        c.expect("=")?;
        Ok((name, c.int()?))
    });
    let mut mesh = Mesh { axes: axes.ok()?, ids: Vec::new() };
    if c.eat(",") {
        c.expect_word("device_ids").ok()?;
        c.expect("=").ok()?;
        mesh.ids = c.list("[", "]", |c| c.int()).ok()?;
    }
    c.expect(">").ok()?;
    Some(mesh)
}

/// A sharding whose mesh may be a name: `<@mesh, [{"x", ?}p1, {"y":(1)2}], replicated={"z"}>`.
pub(crate) struct ReadSharding {
    pub name: Option<String>,
    pub mesh: Option<Mesh>,
    pub dims: Vec<ShardedDim>,
    pub replicated: Vec<MeshAxis>,
    pub unreduced: Vec<MeshAxis>,
}

/// Reads `<@mesh, [{"x"}, {?}]>` with or without `#sdy.sharding` in front.
pub(crate) fn read_sharding(text: &str) -> Option<ReadSharding> {
    let mut c = Cursor::new(text.strip_prefix("#sdy.sharding").unwrap_or(text));
    let sharding = sharding_body(&mut c)?;
    (c.peek() == 0 && c.at_end()).then_some(sharding)
}

/// Reads `[<@mesh, [{"x"}]>, …]` with or without `#sdy.sharding_per_value<…>` around.
pub(crate) fn read_shardings(text: &str) -> Option<Vec<ReadSharding>> {
    let text = match text.strip_prefix("#sdy.sharding_per_value") {
        Some(rest) => rest.strip_prefix('<')?.strip_suffix('>')?,
        None => text,
    };
    let mut c = Cursor::new(text);
    let mut shardings = Vec::new();
    c.expect("[").ok()?;
    while !c.eat("]") {
        if !shardings.is_empty() {
            c.expect(",").ok()?;
        }
        shardings.push(sharding_body(&mut c)?);
    }
    (c.peek() == 0 && c.at_end()).then_some(shardings)
}

fn sharding_body(c: &mut Cursor<'_>) -> Option<ReadSharding> {
    c.expect("<").ok()?;
    let (name, mesh) = match c.peek() {
        b'@' => (Some(c.symbol().ok()?), None),
        _ => {
            c.expect_word("mesh").ok()?;
            (None, Some(mesh_body(c)?))
        }
    };
    c.expect(",").ok()?;
    c.expect("[").ok()?;
    let mut dims = Vec::new();
    while !c.eat("]") {
        if !dims.is_empty() {
            c.expect(",").ok()?;
        }
        dims.push(sharded_dim(c)?);
    }
    let mut read = ReadSharding { name, mesh, dims, replicated: Vec::new(), unreduced: Vec::new() };
    while c.eat(",") {
        let axes = match c.word("a list of axes").ok()? {
            "replicated" => &mut read.replicated,
            "unreduced" => &mut read.unreduced,
            _ => return None,
        };
        c.expect("=").ok()?;
        *axes = c.list("{", "}", mesh_axis).ok()?;
    }
    c.expect(">").ok()?;
    Some(read)
}

/// `{"x", "y":(1)2, ?}p1`
fn sharded_dim(c: &mut Cursor<'_>) -> Option<ShardedDim> {
    c.expect("{").ok()?;
    let mut dim = ShardedDim::default();
    while !c.eat("}") {
        if dim.open {
            return None;
        }
        if !dim.axes.is_empty() {
            c.expect(",").ok()?;
        }
        if c.eat("?") {
            dim.open = true;
        } else {
            dim.axes.push(mesh_axis(c).ok()?);
        }
    }
    if c.byte() == b'p' {
        let word = c.word("a priority").ok()?;
        dim.priority = Some(word.strip_prefix('p')?.parse().ok()?);
    }
    Some(dim)
}

/// `"x"`, or a part of it: `"x":(1)2`.
fn mesh_axis(c: &mut Cursor<'_>) -> Result<MeshAxis> {
    let name = String::from_utf8_lossy(&c.string()?).into_owned();
    let mut part = None;
    if c.eat(":") {
        c.expect("(")?;
        let before = c.int()?;
        c.expect(")")?;
        part = Some((before, c.int()?));
    }
    Ok(MeshAxis { name, part })
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
