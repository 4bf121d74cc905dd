//! The envelope of files that `jax.export` saves: a flatbuffer whose root table holds the artifact as a list of bytes.
//!
//! Source: the schema `jax/_src/export/serialization.fbs` (field 13, `mlir_module_serialized`) and the format of
//! flatbuffers. Nothing but that field is read.

use std::ops::Range;

use super::container::MAGIC;

/// The number of the field, counted from 0.
const FIELD: usize = 13;

/// Where the artifact stands in a file that is such a buffer.
pub(super) fn module(bytes: &[u8]) -> Option<Range<usize>> {
    let u32_at = |at: usize| -> Option<usize> {
        let word: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(word)).ok()
    };
    let u16_at = |at: usize| -> Option<usize> {
        let word: [u8; 2] = bytes.get(at..at.checked_add(2)?)?.try_into().ok()?;
        Some(usize::from(u16::from_le_bytes(word)))
    };
    // The root table begins with the distance back to the table of the places of its fields.
    let table = u32_at(0)?;
    let back = i64::from(u32_at(table)? as u32 as i32);
    let places = usize::try_from(i64::try_from(table).ok()?.checked_sub(back)?).ok()?;
    let slot = 4 + 2 * FIELD;
    if u16_at(places)? < slot + 2 {
        return None;
    }
    let field = match u16_at(places.checked_add(slot)?)? {
        0 => return None,
        offset => table.checked_add(offset)?,
    };
    let list = field.checked_add(u32_at(field)?)?;
    let length = u32_at(list)?;
    let start = list.checked_add(4)?;
    let end = start.checked_add(length)?;
    bytes.get(start..end)?.starts_with(MAGIC).then_some(start..end)
}
