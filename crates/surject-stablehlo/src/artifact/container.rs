//! The container of MLIR bytecode: a header, and sections with tables that the operations refer to.
//!
//! Source: MLIR's documentation of its bytecode format (`mlir/docs/BytecodeFormat.md`). Versions 0 to 6 are read.

use super::bytes::{Bytes, Result, malformed};
use crate::diagnostic::Diagnostic;

/// The first bytes of every file.
pub(super) const MAGIC: &[u8; 4] = b"ML\xEFR";
/// The newest version that is known.
pub(super) const NEWEST: u64 = 6;

/// Versions from which on a feature of the container is there.
pub(super) mod since {
    pub const DIALECT_VERSIONS: u64 = 1;
    pub const ISOLATED_SECTIONS: u64 = 2;
    pub const USE_LISTS: u64 = 3;
    pub const ARGUMENT_LOCATION_FLAG: u64 = 4;
    pub const PROPERTIES: u64 = 5;
}

/// Numbers of the sections.
pub(super) mod section {
    pub const STRING: u8 = 0;
    pub const DIALECT: u8 = 1;
    pub const ATTR_TYPE: u8 = 2;
    pub const ATTR_TYPE_OFFSET: u8 = 3;
    pub const IR: u8 = 4;
    pub const PROPERTIES: u8 = 8;
    pub const COUNT: u8 = 9;
}

/// The name of an operation.
pub(super) struct OpName<'b> {
    pub dialect: &'b str,
    pub name: &'b str,
}

/// The encoding of an attribute or a type.
#[derive(Clone, Copy)]
pub(super) struct Entry<'b> {
    pub dialect: &'b str,
    /// Whether the dialect encodes it; else it is text.
    pub custom: bool,
    pub bytes: Bytes<'b>,
}

/// A file taken apart.
pub(super) struct Container<'b> {
    pub version: u64,
    pub producer: &'b str,
    pub strings: Vec<&'b [u8]>,
    pub ops: Vec<OpName<'b>>,
    pub attributes: Vec<Entry<'b>>,
    pub types: Vec<Entry<'b>>,
    pub properties: Vec<Bytes<'b>>,
    pub ir: Bytes<'b>,
}

impl<'b> Container<'b> {
    /// Takes the bytes `start..end` of a file apart.
    pub fn open(file: &'b [u8], start: usize, end: usize) -> Result<Container<'b>> {
        let mut bytes = Bytes::new(file, start, end);
        if bytes.take(MAGIC.len(), "the first four bytes")? != MAGIC {
            return Err(malformed(start, "these bytes are no MLIR bytecode").expected("'ML\\xEFR'"));
        }
        let before = bytes.offset();
        let version = bytes.varint("the version")?;
        if version > NEWEST {
            return Err(malformed(before, format!("version {version} of MLIR bytecode is not known"))
                .expected(format!("a version up to {NEWEST}"))
                .help("write the artifact for an older version of StableHLO"));
        }
        let producer = producer(&mut bytes)?;
        let mut sections: [Option<Bytes<'b>>; section::COUNT as usize] = [None; section::COUNT as usize];
        while !bytes.is_empty() {
            let at = bytes.offset();
            let (number, body) = bytes.section()?;
            match sections.get_mut(number as usize) {
                Some(slot @ None) => *slot = Some(body),
                Some(Some(_)) => return Err(malformed(at, format!("section {number} stands twice"))),
                None => return Err(malformed(at, format!("there is no section {number}"))),
            }
        }
        let find = |number: u8, name: &str| {
            let missing =
                || malformed(end, format!("the {name} section is missing")).help("is the file complete?");
            sections[number as usize].ok_or_else(missing)
        };
        let strings = strings(find(section::STRING, "string")?)?;
        let (dialects, ops) = dialects(find(section::DIALECT, "dialect")?, &strings, version)?;
        let offsets = find(section::ATTR_TYPE_OFFSET, "attribute and type offset")?;
        let encodings = find(section::ATTR_TYPE, "attribute and type")?;
        let (attributes, types) = entries(offsets, encodings, &dialects)?;
        let properties = match sections[section::PROPERTIES as usize] {
            Some(body) => properties(body)?,
            None => Vec::new(),
        };
        let ir = find(section::IR, "operation")?;
        Ok(Container { version, producer, strings, ops, attributes, types, properties, ir })
    }
}

/// Who wrote the file, up to a zero byte.
fn producer<'b>(bytes: &mut Bytes<'b>) -> Result<&'b str> {
    let start = *bytes;
    let mut length = 0;
    while bytes.byte("the name of the producer")? != 0 {
        length += 1;
    }
    utf8(&start, start.clone().take(length, "the name of the producer")?)
}

fn utf8<'b>(at: &Bytes<'_>, bytes: &'b [u8]) -> Result<&'b str> {
    std::str::from_utf8(bytes).map_err(|_| at.error("a name that is not UTF-8"))
}

/// The strings, whose lengths stand before them in reverse order; each ends in a zero byte that belongs to none.
fn strings(mut bytes: Bytes<'_>) -> Result<Vec<&[u8]>> {
    let count = bytes.count(2, "strings")?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(bytes.count(1, "bytes of a string")?);
    }
    let mut out = Vec::with_capacity(count);
    for length in lengths.into_iter().rev() {
        let at = bytes;
        match bytes.take(length, "the strings")?.split_last() {
            Some((0, string)) => out.push(string),
            _ => return Err(at.error("a string that does not end in a zero byte")),
        }
    }
    Ok(out)
}

/// A string by its number.
pub(super) fn string<'b>(strings: &[&'b [u8]], bytes: &Bytes<'_>, index: u64) -> Result<&'b [u8]> {
    let found = usize::try_from(index).ok().and_then(|i| strings.get(i).copied());
    found.ok_or_else(|| bytes.error(format!("string {index} of {}", strings.len())))
}

/// The names of the dialects, and of the operations by dialect.
fn dialects<'b>(
    mut bytes: Bytes<'b>,
    strings: &[&'b [u8]],
    version: u64,
) -> Result<(Vec<&'b str>, Vec<OpName<'b>>)> {
    let count = bytes.count(1, "dialects")?;
    let mut names = Vec::with_capacity(count);
    for _ in 0..count {
        let (index, versioned) = match version >= since::DIALECT_VERSIONS {
            true => bytes.flagged("the name of a dialect")?,
            false => (bytes.varint("the name of a dialect")?, false),
        };
        names.push(utf8(&bytes, string(strings, &bytes, index)?)?);
        if versioned {
            // No dialect of programs looks at a version of its own.
            bytes.section()?;
        }
    }
    if version >= since::ARGUMENT_LOCATION_FLAG {
        bytes.count(1, "names of operations")?;
    }
    let mut ops = Vec::new();
    while !bytes.is_empty() {
        let dialect = dialect(&mut bytes, &names)?;
        for _ in 0..bytes.count(1, "names of operations")? {
            let index = match version >= since::PROPERTIES {
                true => bytes.flagged("the name of an operation")?.0,
                false => bytes.varint("the name of an operation")?,
            };
            let name = utf8(&bytes, string(strings, &bytes, index)?)?;
            ops.push(OpName { dialect, name });
        }
    }
    Ok((names, ops))
}

fn dialect<'b>(bytes: &mut Bytes<'_>, names: &[&'b str]) -> Result<&'b str> {
    let at = *bytes;
    let index = bytes.varint("the number of a dialect")?;
    let found = usize::try_from(index).ok().and_then(|i| names.get(i).copied());
    found.ok_or_else(|| at.error(format!("dialect {index} of {}", names.len())))
}

/// Where each attribute and each type is encoded.
fn entries<'b>(
    mut offsets: Bytes<'b>,
    mut encodings: Bytes<'b>,
    dialects: &[&'b str],
) -> Result<(Vec<Entry<'b>>, Vec<Entry<'b>>)> {
    let attributes = offsets.count(1, "attributes")?;
    let types = offsets.count(1, "types")?;
    let total = attributes + types;
    let mut out = Vec::with_capacity(total.min(offsets.left()));
    while out.len() < total {
        let dialect = dialect(&mut offsets, dialects)?;
        let count = offsets.count(1, "attributes and types")?;
        if count == 0 || count > total - out.len() {
            let rest = total - out.len();
            return Err(offsets.error(format!("a group of {count} where {rest} attributes and types are left")));
        }
        for _ in 0..count {
            let (size, custom) = offsets.flagged("the size of an attribute or type")?;
            let size = encodings.checked(size, 1, "bytes of an attribute or type")?;
            out.push(Entry { dialect, custom, bytes: encodings.part(size, "an attribute or type")? });
        }
    }
    let types = out.split_off(attributes);
    Ok((out, types))
}

/// The bytes of the properties of operations.
fn properties(mut bytes: Bytes<'_>) -> std::result::Result<Vec<Bytes<'_>>, Diagnostic> {
    let count = bytes.count(1, "properties")?;
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let size = bytes.count(1, "bytes of properties")?;
        out.push(bytes.part(size, "properties")?);
    }
    Ok(out)
}
