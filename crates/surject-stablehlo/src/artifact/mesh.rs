//! Groups of a collective by the axes of a mesh, `#stablehlo.replica_group_mesh_axes<…>`: kept as text in memory, and
//! encoded here.

use super::encode::Result;
use super::pool::{Piece, Pieces, Pool};
use crate::attr::Attribute;

/// The number of the attribute; none where the text is another attribute.
pub(super) fn encode(pool: &mut Pool, text: &str) -> Result<Option<usize>> {
    let Some(fields) = fields(text, "#stablehlo.replica_group_mesh_axes") else { return Ok(None) };
    let mesh = match field(&fields, "mesh")? {
        name if name.starts_with('@') => {
            let name = name[1..].trim_matches('"');
            pool.vhlo(&Attribute::String(name.to_string()))?
        }
        text => mesh_of(pool, text)?,
    };
    let axes = list(pool, field(&fields, "axes")?, axis)?;
    Ok(Some(make(pool, 23, |p| [mesh, axes].map(|id| p.push(Piece::Attribute(id))))))
}

/// `#stablehlo.mesh<axes=[<name = "x", size = 2>], device_ids=dense<…>>`
fn mesh_of(pool: &mut Pool, text: &str) -> Result<usize> {
    let fields = fields(text, "#stablehlo.mesh").ok_or("a mesh that is not known")?;
    let axes = list(pool, field(&fields, "axes")?, |pool, text| {
        let fields = self::fields(text, "#stablehlo.mesh_axis").ok_or("an axis that is not known")?;
        let name = name(pool, &fields)?;
        let size: i64 = field(&fields, "size")?.parse().map_err(|_| "an axis without a size")?;
        Ok(make(pool, 24, |p| {
            p.push(Piece::Attribute(name));
            p.signed(size);
        }))
    })?;
    let devices = match fields.iter().find(|f| f.0 == "device_ids") {
        Some((_, text)) => {
            let elements = crate::parse::parse_attribute(text).map_err(|e| e.message)?;
            Some(pool.vhlo(&elements)?)
        }
        None => None,
    };
    Ok(make(pool, 25, |p| {
        p.push(Piece::Attribute(axes));
        match devices {
            Some(id) => p.push(Piece::Optional(id)),
            None => p.varint(0),
        }
    }))
}

/// `#stablehlo.axis_ref<name = "x", sub_axis_info = (1)2>`
fn axis(pool: &mut Pool, text: &str) -> Result<usize> {
    let fields = fields(text, "#stablehlo.axis_ref").ok_or("an axis that is not known")?;
    let name = name(pool, &fields)?;
    let part = match fields.iter().find(|f| f.0 == "sub_axis_info") {
        Some((_, text)) => {
            let wrong = "a part of an axis that is not known";
            let (before, size) = text.strip_prefix('(').and_then(|t| t.split_once(')')).ok_or(wrong)?;
            let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wrong);
            let (before, size) = (number(before)?, number(size)?);
            Some(make(pool, 21, |p| {
                p.signed(before);
                p.signed(size);
            }))
        }
        None => None,
    };
    Ok(make(pool, 22, |p| {
        p.push(Piece::Attribute(name));
        p.varint(u64::from(part.is_some()));
        if let Some(id) = part {
            p.push(Piece::Attribute(id));
        }
    }))
}

fn make<T>(pool: &mut Pool, code: u64, fill: impl FnOnce(&mut Pieces) -> T) -> usize {
    let mut pieces = Pieces::default();
    pieces.varint(code);
    fill(&mut pieces);
    pool.attribute("vhlo", pieces)
}

fn name(pool: &mut Pool, fields: &[(&str, &str)]) -> Result<usize> {
    let name = crate::parse::parse_attribute(field(fields, "name")?).map_err(|e| e.message)?;
    pool.vhlo(&name)
}

/// `[a, b]` of attributes.
fn list(pool: &mut Pool, text: &str, mut item: impl FnMut(&mut Pool, &str) -> Result<usize>) -> Result<usize> {
    let inside = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')).ok_or("a list that is none")?;
    let mut pieces = Pieces::default();
    let texts = split(inside);
    pieces.varint(1);
    pieces.varint(texts.len() as u64);
    for text in texts {
        let id = item(pool, text)?;
        pieces.push(Piece::Attribute(id));
    }
    Ok(pool.attribute("vhlo", pieces))
}

/// The fields of `#name<a = x, b=y>`, of which the name may be left out.
fn fields<'t>(text: &'t str, name: &str) -> Option<Vec<(&'t str, &'t str)>> {
    let text = text.trim();
    let inside = text.strip_prefix(name).unwrap_or(text).strip_prefix('<')?.strip_suffix('>')?;
    split(inside).into_iter().map(|f| f.split_once('=').map(|(k, v)| (k.trim(), v.trim()))).collect()
}

fn field<'t>(fields: &[(&str, &'t str)], name: &str) -> Result<&'t str> {
    let found = fields.iter().find(|f| f.0 == name);
    found.map(|f| f.1).ok_or_else(|| format!("a mesh without '{name}'"))
}

/// The parts of a text between the commas that stand in no bracket or string.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut quoted, mut start) = (Vec::new(), 0i32, false, 0);
    for (i, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '<' | '[' | '(' | '{' if !quoted => depth += 1,
            '>' | ']' | ')' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(text[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}
