//! A cursor over the bytes of an artifact. It knows the offset of every byte in the file and reads nothing past its
//! end; every count is checked against the bytes that are left, so no length in a file is trusted.

use crate::diagnostic::{Diagnostic, Span, codes};

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

/// A part of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bytes<'b> {
    file: &'b [u8],
    /// Offset of the next byte.
    at: usize,
    /// Offset past the last byte.
    end: usize,
    /// Offset to which alignments are relative.
    base: usize,
}

impl<'b> Bytes<'b> {
    /// The bytes of the file from `start` to `end`, both within it.
    pub fn new(file: &'b [u8], start: usize, end: usize) -> Bytes<'b> {
        Bytes { file, at: start, end, base: start }
    }

    pub fn offset(&self) -> usize {
        self.at
    }

    pub fn left(&self) -> usize {
        self.end - self.at
    }

    pub fn is_empty(&self) -> bool {
        self.at == self.end
    }

    /// A malformed artifact, at the next byte.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        malformed(self.at, message)
    }

    fn truncated(&self, what: &str) -> Diagnostic {
        Diagnostic::new(codes::TRUNCATED, Span::new(self.at, self.at), format!("the bytes end within {what}"))
            .expected(format!("more bytes than the {} that are left", self.left()))
            .help("is the file complete?")
    }

    pub fn byte(&mut self, what: &str) -> Result<u8> {
        Ok(self.take(1, what)?[0])
    }

    /// The next `count` bytes.
    pub fn take(&mut self, count: usize, what: &str) -> Result<&'b [u8]> {
        if count > self.left() {
            return Err(self.truncated(what));
        }
        let bytes = &self.file[self.at..self.at + count];
        self.at += count;
        Ok(bytes)
    }

    /// The next `count` bytes as a part of their own.
    pub fn part(&mut self, count: usize, what: &str) -> Result<Bytes<'b>> {
        let start = self.at;
        self.take(count, what)?;
        Ok(Bytes { at: start, end: self.at, ..*self })
    }

    /// An integer whose first byte says in its trailing zeros how many bytes follow.
    pub fn varint(&mut self, what: &str) -> Result<u64> {
        let first = self.byte(what)?;
        let more = first.trailing_zeros() as usize;
        let mut wide = [0u8; 8];
        if more == 8 {
            wide.copy_from_slice(self.take(8, what)?);
            return Ok(u64::from_le_bytes(wide));
        }
        wide[0] = first;
        wide[1..=more].copy_from_slice(self.take(more, what)?);
        Ok(u64::from_le_bytes(wide) >> (more + 1))
    }

    /// The same for a signed integer, whose lowest bit is its sign.
    pub fn signed(&mut self, what: &str) -> Result<i64> {
        let value = self.varint(what)?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// An integer whose lowest bit is a flag.
    pub fn flagged(&mut self, what: &str) -> Result<(u64, bool)> {
        let value = self.varint(what)?;
        Ok((value >> 1, value & 1 == 1))
    }

    /// How many things follow, each of at least `bytes` bytes.
    pub fn count(&mut self, bytes: usize, what: &str) -> Result<usize> {
        let start = *self;
        let count = self.varint(what)?;
        self.checked(count, bytes, what).map_err(|_| start.too_many(count, what))
    }

    /// `count` as a number of things of at least `bytes` bytes that follow.
    pub fn checked(&self, count: u64, bytes: usize, what: &str) -> Result<usize> {
        match usize::try_from(count) {
            Ok(count) if count <= self.left() / bytes.max(1) => Ok(count),
            _ => Err(self.too_many(count, what)),
        }
    }

    fn too_many(&self, count: u64, what: &str) -> Diagnostic {
        self.error(format!("{count} {what} in the {} bytes that are left", self.left()))
            .help("is the file complete?")
    }

    /// A list of signed integers.
    pub fn signed_list(&mut self, what: &str) -> Result<Vec<i64>> {
        let count = self.count(1, what)?;
        (0..count).map(|_| self.signed(what)).collect()
    }

    /// An integer of a known width: one byte up to 8 bits, else a signed varint, of which the low bits count. Wider
    /// ones than 64 bits do not occur in programs.
    pub fn known_width(&mut self, bits: u32, what: &str) -> Result<u64> {
        let value = if bits <= 8 { u64::from(self.byte(what)?) } else { self.signed(what)? as u64 };
        Ok(if bits >= 64 { value } else { value & ((1 << bits) - 1) })
    }

    /// A section: its number and its bytes.
    pub fn section(&mut self) -> Result<(u8, Bytes<'b>)> {
        let tag = self.byte("the number of a section")?;
        let length = self.varint("the length of a section")?;
        if tag & 0x80 != 0 {
            let start = *self;
            let alignment = self.varint("the alignment of a section")?;
            if !alignment.is_power_of_two() {
                return Err(start.error(format!("an alignment of {alignment}")).expected("a power of two"));
            }
            // Padding takes fewer bytes than the alignment, and there are no more than are left.
            let position = (self.at - self.base) as u64;
            let padding = position.next_multiple_of(alignment.min(1 << 32)) - position;
            let padding = self.checked(padding, 1, "bytes of padding")?;
            self.take(padding, "the padding of a section")?;
        }
        let length = self.checked(length, 1, "bytes of a section")?;
        Ok((tag & 0x7F, self.part(length, "a section")?))
    }
}

/// A malformed artifact: what is wrong, and where.
pub(super) fn malformed(at: usize, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(codes::BYTECODE, Span::new(at, at + 1), message)
}
