//! `.npy` files to and from [`Buffer`].
//!
//! Every element type that npy has is read in both byte orders and in C and Fortran order; files are written
//! little-endian in C order. A file whose name ends with `.bf16.npy` holds bfloat16 bit patterns as `uint16`,
//! because npy has no bfloat16.
//!
//! Headers are read and written by `npyz`; the bytes are converted here, because a buffer's element type is
//! known at run time only. Nothing is allocated before the file is known to be long enough, and the limits of
//! the header parser (it overflows on huge shapes and recurses on nested brackets) are checked before it runs.

use crate::{Buffer, DType};
use npyz::{Endianness, NpyHeader, Order, TypeChar, TypeStr, WriterBuilder};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum NpyError {
    /// The file is missing, not readable or not writable.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// No npy magic, an unknown version, or a header that does not parse.
    #[error("{}: not an npy file: {reason}", path.display())]
    NotNpy { path: PathBuf, reason: String },
    /// The element type has no counterpart (strings, records, objects, dates, 128-bit floats, …).
    #[error("{}: element type {descr} is not supported (supported: bool, int and uint of 8 to 64 bits, float of 16, 32 and 64 bits, complex of 64 and 128 bits)", path.display())]
    DType { path: PathBuf, descr: String },
    /// A `.bf16.npy` file holds something else than `uint16`, or a bfloat16 buffer (another buffer) is to be
    /// written under another name (that name).
    #[error("{}: names that end with `.bf16.npy` hold bfloat16 as uint16, and only they do; found {found}", path.display())]
    Bf16 { path: PathBuf, found: String },
    /// Fewer bytes than the header promises.
    #[error("{}: truncated: the header promises {expected} bytes of data, the file has {found}", path.display())]
    Truncated { path: PathBuf, expected: u64, found: u64 },
    /// The tensor does not fit in memory.
    #[error("{}: the shape {shape:?} does not fit in memory", path.display())]
    TooLarge { path: PathBuf, shape: Vec<u64> },
}

/// The longest header that is read, in bytes (numpy itself refuses more than 10 000).
const MAX_HEADER: usize = 65_536;

/// The deepest nesting of brackets in a header; a record type has three levels.
const MAX_BRACKETS: usize = 64;

/// Does this file name say that it holds bfloat16 (`NAME.bf16.npy`)?
pub fn is_bf16_name(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".bf16.npy"))
}

/// The file name for a tensor of this element type: `STEM.npy`, or `STEM.bf16.npy` for bfloat16.
pub fn file_name(stem: &str, dtype: DType) -> String {
    format!("{stem}{}", if dtype == DType::BF16 { ".bf16.npy" } else { ".npy" })
}

/// Reads a file. Bytes after the data are ignored, as numpy does.
pub fn read(path: impl AsRef<Path>) -> Result<Buffer, NpyError> {
    let path = path.as_ref();
    let io_error = |source| NpyError::Io { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(io_error)?;
    let about = file.metadata().map_err(io_error)?;
    if about.is_file() {
        read_from(&mut file, about.len(), path)
    } else {
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io_error)?;
        from_bytes(&bytes, path)
    }
}

/// Reads the content of a file; `path` serves errors and tells bfloat16 by its name.
pub fn from_bytes(bytes: &[u8], path: impl AsRef<Path>) -> Result<Buffer, NpyError> {
    let mut reader = bytes;
    read_from(&mut reader, bytes.len() as u64, path.as_ref())
}

/// Writes a file, little-endian, in C order. A bfloat16 buffer needs a name that ends with `.bf16.npy` (see
/// [`file_name`]), any other buffer a name that does not.
pub fn write(path: impl AsRef<Path>, buffer: &Buffer) -> Result<(), NpyError> {
    let path = path.as_ref();
    if is_bf16_name(path) != (buffer.dtype() == DType::BF16) {
        return Err(NpyError::Bf16 { path: path.to_owned(), found: buffer.dtype().to_string() });
    }
    let io_error = |source| NpyError::Io { path: path.to_owned(), source };
    let header = header_bytes(buffer).map_err(io_error)?;
    let mut file = File::create(path).map_err(io_error)?;
    file.write_all(&header).and_then(|()| file.write_all(buffer.bytes())).map_err(io_error)
}

/// The content of a file that holds this buffer (bfloat16 as `uint16`).
pub fn to_bytes(buffer: &Buffer) -> io::Result<Vec<u8>> {
    let mut bytes = header_bytes(buffer)?;
    bytes.extend_from_slice(buffer.bytes());
    Ok(bytes)
}

fn header_bytes(buffer: &Buffer) -> io::Result<Vec<u8>> {
    let descr = match buffer.dtype() {
        DType::I1 => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 | DType::BF16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
    };
    let descr: TypeStr =
        descr.parse().map_err(|e| io::Error::new(io::ErrorKind::InvalidData, format!("{e}")))?;
    let shape: Vec<u64> = buffer.shape().iter().map(|&d| d as u64).collect();
    let mut header = Vec::new();
    npyz::WriteOptions::new_header_only()
        .dtype(npyz::DType::new_scalar(descr))
        .shape(&shape)
        .writer(&mut header)
        .write_header_only()?;
    Ok(header)
}

/// Reads from a source that holds `size` bytes in all.
fn read_from(reader: &mut impl Read, size: u64, path: &Path) -> Result<Buffer, NpyError> {
    let io_error = |source| NpyError::Io { path: path.to_owned(), source };
    let text = header_text(reader, size, path)?;
    let header = NpyHeader::from_reader(&text[..])
        .map_err(|e| NpyError::NotNpy { path: path.to_owned(), reason: e.to_string() })?;
    let (dtype, big_endian) = element_type(&header, path)?;
    let too_large = || NpyError::TooLarge { path: path.to_owned(), shape: header.shape().to_vec() };
    let shape: Option<Vec<usize>> = header.shape().iter().map(|&d| usize::try_from(d).ok()).collect();
    let shape = shape.ok_or_else(too_large)?;
    let expected = header
        .len()
        .checked_mul(dtype.size() as u64)
        .filter(|&n| isize::try_from(n).is_ok_and(|n| n < isize::MAX - 64))
        .ok_or_else(too_large)?;
    let found = size.saturating_sub(text.len() as u64);
    if found < expected {
        return Err(NpyError::Truncated { path: path.to_owned(), expected, found });
    }
    let mut buffer = Buffer::zeros(dtype, &shape);
    reader.read_exact(buffer.bytes_mut()).map_err(io_error)?;
    let part = dtype.part().size();
    if big_endian && part > 1 {
        buffer.bytes_mut().chunks_exact_mut(part).for_each(<[u8]>::reverse);
    }
    if dtype == DType::I1 {
        buffer.bytes_mut().iter_mut().for_each(|b| *b = (*b != 0) as u8);
    }
    match header.order() {
        Order::C => Ok(buffer),
        Order::Fortran => Ok(from_fortran(&buffer)),
    }
}

/// The file up to its data, checked so far that the header parser can neither overflow nor exhaust the stack.
fn header_text(reader: &mut impl Read, size: u64, path: &Path) -> Result<Vec<u8>, NpyError> {
    let not_npy = |reason: &str| NpyError::NotNpy { path: path.to_owned(), reason: reason.to_owned() };
    let io_error = |source: io::Error| match source.kind() {
        io::ErrorKind::UnexpectedEof => not_npy("it ends inside the header"),
        _ => NpyError::Io { path: path.to_owned(), source },
    };
    let mut text = vec![0; 10];
    reader.read_exact(&mut text).map_err(io_error)?;
    if &text[..6] != b"\x93NUMPY" {
        return Err(not_npy("the magic bytes \\x93NUMPY are missing"));
    }
    let length = match text[6] {
        1 => u16::from_le_bytes([text[8], text[9]]) as usize,
        2 | 3 => {
            let mut high = [0; 2];
            reader.read_exact(&mut high).map_err(io_error)?;
            text.extend(high);
            u32::from_le_bytes([text[8], text[9], high[0], high[1]]) as usize
        }
        _ => return Err(not_npy(&format!("unknown version {}.{}", text[6], text[7]))),
    };
    if length > MAX_HEADER || length as u64 > size {
        return Err(not_npy(&format!("a header of {length} bytes")));
    }
    let start = text.len();
    text.resize(start + length, 0);
    reader.read_exact(&mut text[start..]).map_err(io_error)?;

    let header = &text[start..];
    if header.iter().filter(|b| b"([{".contains(b)).count() > MAX_BRACKETS {
        return Err(not_npy("too many brackets in the header"));
    }
    // No backslash, so no escapes; the numbers are plain decimal, so that their product can be taken here. It
    // includes the size in `descr`, so it bounds the number of bytes.
    let mut product = 1u64;
    for number in header.split(|b| !b.is_ascii_alphanumeric() && *b != b'_' && *b != b'\\') {
        if number.first().is_none_or(|b| !b.is_ascii_digit()) {
            continue;
        }
        let value = std::str::from_utf8(number).ok().filter(|n| n.bytes().all(|b| b.is_ascii_digit()));
        let value = value.ok_or_else(|| not_npy("an odd number in the header"))?;
        let value: Option<u64> = value.parse().ok();
        product = value
            .and_then(|v| product.checked_mul(v.max(1)))
            .ok_or_else(|| not_npy("the shape does not fit in 64 bits"))?;
    }
    if header.contains(&b'\\') {
        return Err(not_npy("an escape in the header"));
    }
    Ok(text)
}

/// The element type of the data, and whether it is big-endian.
fn element_type(header: &NpyHeader, path: &Path) -> Result<(DType, bool), NpyError> {
    let unsupported = || NpyError::DType { path: path.to_owned(), descr: header.dtype().descr() };
    let npyz::DType::Plain(descr) = header.dtype() else { return Err(unsupported()) };
    let big_endian = descr.endianness() == Endianness::Big;
    let kind = (descr.type_char(), descr.size_field());
    if is_bf16_name(path) {
        // `V2` is what numpy writes for an array of ml_dtypes.bfloat16.
        return match kind {
            (TypeChar::Uint | TypeChar::RawData, 2) => Ok((DType::BF16, big_endian)),
            _ => Err(NpyError::Bf16 { path: path.to_owned(), found: header.dtype().descr() }),
        };
    }
    let dtype = match kind {
        (TypeChar::Bool, 1) => DType::I1,
        (TypeChar::Int, 1) => DType::I8,
        (TypeChar::Int, 2) => DType::I16,
        (TypeChar::Int, 4) => DType::I32,
        (TypeChar::Int, 8) => DType::I64,
        (TypeChar::Uint, 1) => DType::U8,
        (TypeChar::Uint, 2) => DType::U16,
        (TypeChar::Uint, 4) => DType::U32,
        (TypeChar::Uint, 8) => DType::U64,
        (TypeChar::Float, 2) => DType::F16,
        (TypeChar::Float, 4) => DType::F32,
        (TypeChar::Float, 8) => DType::F64,
        (TypeChar::Complex, 8) => DType::C64,
        (TypeChar::Complex, 16) => DType::C128,
        _ => return Err(unsupported()),
    };
    Ok((dtype, big_endian))
}

/// The same tensor in row-major order, from a buffer whose elements lie in column-major order.
fn from_fortran(columns: &Buffer) -> Buffer {
    let (shape, size) = (columns.shape(), columns.dtype().size());
    let strides: Vec<usize> = shape
        .iter()
        .scan(1usize, |stride, &d| {
            let this = *stride;
            *stride *= d;
            Some(this)
        })
        .collect();
    let mut rows = Buffer::zeros(columns.dtype(), shape);
    let mut index = vec![0; shape.len()];
    let mut from = 0;
    let source = columns.bytes();
    for element in rows.bytes_mut().chunks_exact_mut(size) {
        element.copy_from_slice(&source[from * size..][..size]);
        for axis in (0..shape.len()).rev() {
            index[axis] += 1;
            from += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            from -= index[axis] * strides[axis];
            index[axis] = 0;
        }
    }
    rows
}
