//! The tables of an artifact that is being written: strings, attributes, types, properties, names of operations.
//!
//! Attributes and types are numbered by dialect, so their numbers are known only when all are there. Until then bytes
//! that hold such numbers are kept as [`Pieces`].

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::container::{MAGIC, section, since};
use super::encode::Dialect;
use super::version::Version;
use super::vhlo::VhloOp;
use crate::types::TensorType;

/// What stands between bytes: numbers that are not known yet, and what need not be copied before the end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece {
    Blob(Box<Arc<[u8]>>),
    /// The number of an attribute.
    Attribute(usize),
    /// The number of an attribute, as one that may be missing.
    Optional(usize),
    /// The number of a type.
    Type(usize),
    /// The number of a type, with a flag.
    Flagged(usize, bool),
    /// The number of the name of an operation.
    Op(usize),
    /// Operations in a section of their own.
    Section(Box<Pieces>),
}

/// What an attribute, the properties of an operation, or operations are made of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pieces {
    bytes: Vec<u8>,
    /// What comes in front of which byte, in order.
    pieces: Vec<(usize, Piece)>,
}

impl Pieces {
    pub fn push(&mut self, piece: Piece) {
        self.pieces.push((self.bytes.len(), piece));
    }

    pub fn extend(&mut self, other: Pieces) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.pieces.extend(other.pieces.into_iter().map(|(at, piece)| (start + at, piece)));
    }

    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn varint(&mut self, value: u64) {
        varint(&mut self.bytes, value);
    }

    pub fn signed(&mut self, value: i64) {
        varint(&mut self.bytes, ((value << 1) ^ (value >> 63)) as u64);
    }

    pub fn signed_list(&mut self, values: &[i64]) {
        self.varint(values.len() as u64);
        values.iter().for_each(|v| self.signed(*v));
    }

    /// The low `bits` bits of a value.
    pub fn known_width(&mut self, bits: u32, value: u64) {
        match bits {
            0..=8 => self.byte(value as u8),
            64.. => self.signed(value as i64),
            bits => self.signed((value & ((1 << bits) - 1)) as i64),
        }
    }

    /// Bytes behind their number.
    pub fn blob(&mut self, bytes: Arc<[u8]>) {
        self.varint(bytes.len() as u64);
        if bytes.len() > 256 { self.push(Piece::Blob(Box::new(bytes))) } else { self.raw(&bytes) }
    }
}

/// Appends an integer whose first byte says in its trailing zeros how many bytes follow.
fn varint(out: &mut Vec<u8>, value: u64) {
    if value < 1 << 7 {
        return out.push((value << 1 | 1) as u8);
    }
    let bits = 64 - value.leading_zeros();
    let bytes = bits.div_ceil(7) as usize;
    if bytes > 8 {
        out.push(0);
        return out.extend_from_slice(&value.to_le_bytes());
    }
    let tagged = (value << 1 | 1) << (bytes - 1);
    out.extend_from_slice(&tagged.to_le_bytes()[..bytes]);
}

/// Things that are equal have one number.
struct Interned<K> {
    items: IndexSet<K, FxBuildHasher>,
    uses: Vec<u64>,
}

impl<K: Eq + Hash> Interned<K> {
    fn new() -> Interned<K> {
        Interned { items: IndexSet::default(), uses: Vec::new() }
    }

    fn get(&mut self, key: K) -> usize {
        let (index, new) = self.items.insert_full(key);
        if new {
            self.uses.push(0);
        }
        self.uses[index] += 1;
        index
    }
}

/// An attribute or type: its dialect, whether the dialect encodes it, its encoding.
pub(super) type Encoding = (Cow<'static, str>, bool, Pieces);

/// The tables.
pub(super) struct Pool {
    pub version: Version,
    strings: Interned<Vec<u8>>,
    attributes: Interned<Encoding>,
    types: Interned<Encoding>,
    properties: Interned<Pieces>,
    ops: Interned<(Cow<'static, str>, Cow<'static, str>)>,
    /// Numbers of what occurs often, by what it is made from.
    pub known: Known,
}

/// Numbers of types, lists, locations and names that were asked for before.
#[derive(Default)]
pub(super) struct Known {
    vhlo_tensors: HashMap<Arc<TensorType>, usize, FxBuildHasher>,
    builtin_tensors: HashMap<Arc<TensorType>, usize, FxBuildHasher>,
    pub lists: HashMap<Vec<i64>, usize, FxBuildHasher>,
    pub locations: HashMap<Arc<str>, usize, FxBuildHasher>,
    /// Names of operations of VHLO by their rows.
    ops: HashMap<*const VhloOp, usize, FxBuildHasher>,
}

impl Known {
    pub fn tensors(&mut self, dialect: Dialect) -> &mut HashMap<Arc<TensorType>, usize, FxBuildHasher> {
        match dialect {
            Dialect::Vhlo => &mut self.vhlo_tensors,
            Dialect::Builtin => &mut self.builtin_tensors,
        }
    }
}

impl Pool {
    pub fn new(version: Version) -> Pool {
        Pool {
            version,
            strings: Interned::new(),
            attributes: Interned::new(),
            types: Interned::new(),
            properties: Interned::new(),
            ops: Interned::new(),
            known: Known::default(),
        }
    }

    /// The version of the container.
    pub fn container(&self) -> u64 {
        self.version.container()
    }

    pub fn string(&mut self, bytes: &[u8]) -> u64 {
        match self.strings.items.get_index_of(bytes) {
            Some(index) => index as u64,
            None => self.strings.get(bytes.to_vec()) as u64,
        }
    }

    pub fn attribute(&mut self, dialect: &'static str, pieces: Pieces) -> usize {
        self.attributes.get((Cow::Borrowed(dialect), true, pieces))
    }

    /// An attribute that is written as its text.
    pub fn text_attribute(&mut self, dialect: &str, text: &str) -> usize {
        let mut pieces = Pieces::default();
        pieces.raw(text.as_bytes());
        pieces.byte(0);
        self.attributes.get((Cow::Owned(dialect.to_string()), false, pieces))
    }

    pub fn ty(&mut self, dialect: &'static str, pieces: Pieces) -> usize {
        self.types.get((Cow::Borrowed(dialect), true, pieces))
    }

    pub fn property(&mut self, pieces: Pieces) -> usize {
        self.properties.get(pieces)
    }

    /// Counts another use of an attribute.
    pub fn again(&mut self, attribute: usize) -> usize {
        self.attributes.uses[attribute] += 1;
        attribute
    }

    /// Counts another use of a type.
    pub fn type_again(&mut self, ty: usize) -> usize {
        self.types.uses[ty] += 1;
        ty
    }

    pub fn op(&mut self, dialect: &str, name: &str) -> Piece {
        Piece::Op(self.ops.get((Cow::Owned(dialect.to_string()), Cow::Owned(name.to_string()))))
    }

    /// The name of an operation of VHLO.
    pub fn vhlo_op(&mut self, row: &'static VhloOp) -> Piece {
        if let Some(known) = self.known.ops.get(&std::ptr::from_ref(row)) {
            return Piece::Op(*known);
        }
        let name = format!("{}_v{}", row.name, row.number);
        let number = self.ops.get((Cow::Borrowed("vhlo"), Cow::Owned(name)));
        self.known.ops.insert(row, number);
        Piece::Op(number)
    }

    /// The whole file around the operations.
    pub fn write(mut self, ir: &Pieces) -> Vec<u8> {
        let container = self.container();
        let mut dialects: Vec<String> = vec!["builtin".to_string(), "vhlo".to_string()];
        let entries = self.attributes.items.iter().chain(&self.types.items).map(|e| e.0.as_ref());
        for dialect in self.ops.items.iter().map(|op| op.0.as_ref()).chain(entries) {
            if !dialects.iter().any(|d| d == dialect) {
                dialects.push(dialect.to_string());
            }
        }
        let place = |name: &str| dialects.iter().position(|d| d == name).unwrap_or(0);
        let order = |items: &Interned<Encoding>| {
            let mut order: Vec<usize> = (0..items.items.len()).collect();
            order.sort_by_key(|i| (place(&items.items[*i].0), std::cmp::Reverse(items.uses[*i])));
            order
        };
        let (attributes, types) = (order(&self.attributes), order(&self.types));
        let mut ops: Vec<usize> = (0..self.ops.items.len()).collect();
        ops.sort_by_key(|i| place(&self.ops.items[*i].0));
        let numbers =
            Numbers { attributes: inverse(&attributes), types: inverse(&types), ops: inverse(&ops) };

        let mut body = Vec::new();
        // Names are strings as well, so this section comes before the strings.
        let mut names = Vec::new();
        varint(&mut names, dialects.len() as u64);
        for dialect in &dialects {
            let index = self.strings.get(dialect.clone().into_bytes()) as u64;
            varint(&mut names, if container >= since::DIALECT_VERSIONS { index << 1 } else { index });
        }
        if container >= since::ARGUMENT_LOCATION_FLAG {
            varint(&mut names, ops.len() as u64);
        }
        for (i, dialect) in dialects.iter().enumerate() {
            let group: Vec<&usize> = ops.iter().filter(|op| self.ops.items[**op].0 == *dialect).collect();
            if group.is_empty() {
                continue;
            }
            varint(&mut names, i as u64);
            varint(&mut names, group.len() as u64);
            for op in group {
                let index = self.strings.get(self.ops.items[*op].1.as_bytes().to_vec()) as u64;
                varint(&mut names, if container >= since::PROPERTIES { index << 1 | 1 } else { index });
            }
        }
        append(&mut body, section::DIALECT, &names);

        let (mut offsets, mut encodings) = (Vec::new(), Vec::new());
        varint(&mut offsets, attributes.len() as u64);
        varint(&mut offsets, types.len() as u64);
        for (items, order) in [(&self.attributes, &attributes), (&self.types, &types)] {
            for group in order.chunk_by(|a, b| items.items[*a].0 == items.items[*b].0) {
                varint(&mut offsets, place(&items.items[group[0]].0) as u64);
                varint(&mut offsets, group.len() as u64);
                for item in group {
                    let (_, custom, pieces) = &items.items[*item];
                    let start = encodings.len();
                    numbers.append(&mut encodings, pieces);
                    varint(&mut offsets, ((encodings.len() - start) as u64) << 1 | u64::from(*custom));
                }
            }
        }
        append(&mut body, section::ATTR_TYPE_OFFSET, &offsets);
        append(&mut body, section::ATTR_TYPE, &encodings);

        let mut operations = Vec::new();
        numbers.append(&mut operations, ir);
        append(&mut body, section::IR, &operations);

        let mut strings = Vec::new();
        varint(&mut strings, self.strings.items.len() as u64);
        for string in self.strings.items.iter().rev() {
            varint(&mut strings, string.len() as u64 + 1);
        }
        for string in &self.strings.items {
            strings.extend_from_slice(string);
            strings.push(0);
        }
        append(&mut body, section::STRING, &strings);

        if container >= since::PROPERTIES {
            let mut properties = Vec::new();
            varint(&mut properties, self.properties.items.len() as u64);
            for pieces in &self.properties.items {
                let mut bytes = Vec::new();
                numbers.append(&mut bytes, pieces);
                varint(&mut properties, bytes.len() as u64);
                properties.extend_from_slice(&bytes);
            }
            append(&mut body, section::PROPERTIES, &properties);
        }

        let mut out = MAGIC.to_vec();
        varint(&mut out, container);
        out.extend_from_slice(format!("StableHLO_v{}", self.version).as_bytes());
        out.push(0);
        out.extend_from_slice(&body);
        out
    }
}

fn append(out: &mut Vec<u8>, number: u8, body: &[u8]) {
    out.push(number);
    varint(out, body.len() as u64);
    out.extend_from_slice(body);
}

fn inverse(order: &[usize]) -> Vec<u64> {
    let mut numbers = vec![0; order.len()];
    for (number, item) in order.iter().enumerate() {
        numbers[*item] = number as u64;
    }
    numbers
}

/// The numbers that attributes, types and names of operations got.
struct Numbers {
    attributes: Vec<u64>,
    types: Vec<u64>,
    ops: Vec<u64>,
}

impl Numbers {
    fn append(&self, out: &mut Vec<u8>, pieces: &Pieces) {
        let mut done = 0;
        for (at, piece) in &pieces.pieces {
            out.extend_from_slice(&pieces.bytes[done..*at]);
            done = *at;
            match piece {
                Piece::Blob(bytes) => out.extend_from_slice(bytes),
                Piece::Attribute(id) => varint(out, self.attributes[*id]),
                Piece::Optional(id) => varint(out, self.attributes[*id] << 1 | 1),
                Piece::Type(id) => varint(out, self.types[*id]),
                Piece::Flagged(id, flag) => varint(out, self.types[*id] << 1 | u64::from(*flag)),
                Piece::Op(id) => varint(out, self.ops[*id]),
                Piece::Section(inside) => {
                    let mut body = Vec::new();
                    self.append(&mut body, inside);
                    append(out, section::IR, &body);
                }
            }
        }
        out.extend_from_slice(&pieces.bytes[done..]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::bytes::Bytes;
    use super::*;

    #[test]
    fn integers_read_back() {
        let mut values: Vec<u64> = (0..64).flat_map(|i| [1u64 << i, (1u64 << i) - 1, !(1u64 << i)]).collect();
        values.push(u64::MAX);
        for value in values {
            let mut pieces = Pieces::default();
            pieces.varint(value);
            pieces.signed(value as i64);
            let mut read = Bytes::new(&pieces.bytes, 0, pieces.bytes.len());
            assert_eq!(read.varint("a number"), Ok(value));
            assert_eq!(read.signed("a number"), Ok(value as i64));
            assert!(read.is_empty());
        }
    }
}
