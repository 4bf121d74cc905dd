//! The pretty forms of Shardy, mirroring those of the parser.

use std::fmt::Write;

use super::attrs::{quoted, symbol};
use super::{Header, Printer};
use crate::attr::Attribute;
use crate::module::Op;
use crate::table::{Piece, PieceValue, Types};

impl Printer<'_> {
    /// `@name = <["x"=2]> {…}`
    pub(super) fn mesh(&mut self, op: &Op) -> Option<()> {
        let Attribute::Opaque(body) = op.attributes.get("mesh")? else { return None };
        let body = body.strip_prefix("#sdy.mesh")?;
        self.out.push(' ');
        symbol(&mut self.out, op.string("sym_name").ok()?);
        _ = write!(self.out, " = {body}");
        self.rest(op, &["sym_name", "mesh"]);
        Some(())
    }

    /// `{"x"} %a out_sharding=<@mesh, [{}]> {…} : T`
    pub(super) fn sharded(&mut self, op: &Op, before: &[Piece], after: &[Piece]) -> Option<()> {
        self.pieces(op, before)?;
        self.out.push(' ');
        self.operands(&op.operands);
        self.pieces(op, after)?;
        let shown: Vec<&str> = before.iter().chain(after).map(|piece| piece.attribute).collect();
        self.rest(op, &shown);
        self.types(op, if op.results.is_empty() { Types::Operand } else { Types::Same })
    }

    /// `<"name">(%a) in_shardings=[…] out_shardings=[…] (%b: T) {…} {…} : (T) -> U`
    pub(super) fn computation(&mut self, op: &Op, pieces: &[Piece]) -> Option<()> {
        let [body] = op.regions.as_slice() else { return None };
        let mut shown: Vec<&str> = pieces.iter().map(|piece| piece.attribute).collect();
        if let Ok(name) = op.string("name") {
            self.out.push('<');
            quoted(&mut self.out, name.as_bytes());
            self.out.push('>');
            shown.push("name");
        }
        self.arguments(op);
        self.pieces(op, pieces)?;
        self.out.push_str(" (");
        for (i, (value, ty)) in body.params.iter().enumerate() {
            self.comma(i);
            _ = write!(self.out, "%{}: {ty}", self.names.get(*value));
        }
        self.out.push_str(") ");
        self.region(body, Header::None, false);
        self.rest(op, &shown);
        self.functional(op);
        Some(())
    }

    fn pieces(&mut self, op: &Op, pieces: &[Piece]) -> Option<()> {
        for piece in pieces {
            let Some(value) = op.attributes.get(piece.attribute) else { continue };
            self.out.push(' ');
            if !piece.label.is_empty() {
                _ = write!(self.out, "{}=", piece.label);
            }
            match (piece.value, value) {
                (PieceValue::Bracketed(_, prefix, suffix), Attribute::Opaque(text)) => {
                    self.out.push_str(text.strip_prefix(prefix)?.strip_suffix(suffix)?);
                }
                (PieceValue::Word(words), value) => {
                    self.out.push_str(words.get(usize::try_from(value.as_i64()?).ok()?)?);
                }
                (PieceValue::Int, value) => _ = write!(self.out, "{}", value.as_i64()?),
                _ => return None,
            }
        }
        Some(())
    }
}
