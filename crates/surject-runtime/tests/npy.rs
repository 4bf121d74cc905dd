//! `.npy` files: round trips, byte orders, Fortran order, and files that are not what they claim.

use proptest::prelude::*;
use std::path::PathBuf;
use surject_runtime::npy::{self, NpyError};
use surject_runtime::{Buffer, DType, Scalar};

/// A file of version 1.0 with this header dictionary.
fn file(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let order = if fortran { "True" } else { "False" };
    with_header(&format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}"), data)
}

fn with_header(header: &str, data: &[u8]) -> Vec<u8> {
    let mut text = header.to_owned();
    while !(10 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

/// A path of its own for every test, in the folder that cargo gives to tests.
fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn numbered(dtype: DType, shape: &[usize]) -> Buffer {
    let count = shape.iter().product::<usize>() as i128;
    let values: Vec<Scalar> = (0..count).map(|i| Scalar::from_i128(dtype, i - 3)).collect();
    Buffer::from_scalars(dtype, shape, &values).unwrap()
}

#[test]
fn every_type_round_trips_through_a_file() {
    for dtype in DType::ALL {
        for shape in [&[][..], &[0], &[5], &[2, 3], &[2, 0, 3], &[1, 2, 3, 4]] {
            let buffer = numbered(dtype, shape);
            let path = path(&npy::file_name(&format!("round-trip-{dtype}-{}", shape.len()), dtype));
            npy::write(&path, &buffer).unwrap();
            assert_eq!(npy::read(&path).unwrap(), buffer, "{dtype}{shape:?}");
            assert_eq!(std::fs::read(&path).unwrap(), npy::to_bytes(&buffer).unwrap());
            std::fs::remove_file(&path).unwrap();
        }
    }
}

proptest! {
    #[test]
    fn any_bits_round_trip(which in 1usize..15, rows in 0usize..5, columns in 0usize..7, seed in any::<u64>()) {
        let dtype = DType::ALL[which];
        let bytes: Vec<u8> =
            (0..rows * columns * dtype.size()).map(|i| (seed.rotate_left(i as u32 % 61) >> 11) as u8).collect();
        let buffer = Buffer::from_bytes(dtype, &[rows, columns], &bytes).unwrap();
        let name = npy::file_name("x", dtype);
        prop_assert_eq!(npy::from_bytes(&npy::to_bytes(&buffer).unwrap(), &name).unwrap(), buffer);
    }

    /// Big-endian and column-major files, made by hand from the row-major elements.
    #[test]
    fn byte_and_element_order(which in 0usize..15, a in 1usize..4, b in 1usize..4, c in 1usize..4, big: bool) {
        let dtype = DType::ALL[which];
        let descr = match dtype {
            DType::I1 => "b1".to_owned(),
            DType::BF16 => "u2".to_owned(),
            d => {
                let kind = if d.is_complex() { 'c' } else if d.is_float() { 'f' } else if d.is_signed_int() { 'i' } else { 'u' };
                format!("{kind}{}", d.size())
            }
        };
        let order = if dtype.size() == 1 { '|' } else if big { '>' } else { '<' };
        let want = numbered(dtype, &[a, b, c]);
        let mut data = Vec::new();
        for k in 0..c {
            for j in 0..b {
                for i in 0..a {
                    let value = want.get((i * b + j) * c + k).to_bytes();
                    for part in value[..dtype.size()].chunks(dtype.part().size()) {
                        let mut part = part.to_vec();
                        if big {
                            part.reverse();
                        }
                        data.extend(part);
                    }
                }
            }
        }
        let bytes = file(&format!("{order}{descr}"), true, &format!("({a}, {b}, {c})"), &data);
        prop_assert_eq!(npy::from_bytes(&bytes, npy::file_name("x", dtype)).unwrap(), want);
    }

    /// Whatever the file, no panic: a valid file with some bytes changed.
    #[test]
    fn damaged_files_are_errors_or_tensors(changes in prop::collection::vec((0usize..140, any::<u8>()), 0..6), cut in 0usize..200) {
        let mut bytes = npy::to_bytes(&numbered(DType::I32, &[2, 3])).unwrap();
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut);
        let _ = npy::from_bytes(&bytes, "x.npy");
    }

    /// The same for texts that look like headers.
    #[test]
    fn odd_headers_are_errors_or_tensors(text in r"\{'descr': '[<>|][a-zV][0-9]{1,3}(\[ns\])?', 'fortran_order': (True|False|1), 'shape': [(\[][0-9, _x+e\-]{0,30}[)\]], \}") {
        let _ = npy::from_bytes(&with_header(&text, &[0; 64]), "x.npy");
    }
}

#[test]
fn truth_is_normalised_and_trailing_bytes_ignored() {
    let got = npy::from_bytes(&file("|b1", false, "(3,)", &[0, 1, 7, 9, 9]), "x.npy").unwrap();
    assert_eq!(got.bytes(), [0, 1, 1]);
}

#[test]
fn later_versions() {
    let first = file("<i2", false, "(2,)", &[1, 0, 2, 0]);
    for version in [2, 3] {
        let mut bytes = first[..10].to_vec();
        bytes[6] = version;
        bytes.extend([0, 0]);
        bytes.extend(&first[10..]);
        assert_eq!(npy::from_bytes(&bytes, "x.npy").unwrap().bytes(), [1, 0, 2, 0]);
    }
}

#[test]
fn bfloat16_by_name() {
    let ones = file("<u2", false, "(1,)", &[0x80, 0x3f]);
    assert_eq!(npy::from_bytes(&ones, "w.bf16.npy").unwrap().get(0), Scalar::one(DType::BF16));
    assert_eq!(npy::from_bytes(&ones, "w.npy").unwrap().dtype(), DType::U16);
    let ml_dtypes = file("|V2", false, "(1,)", &[0x80, 0x3f]);
    assert_eq!(npy::from_bytes(&ml_dtypes, "w.bf16.npy").unwrap().get(0), Scalar::one(DType::BF16));
    let wrong = npy::from_bytes(&file("<f4", false, "()", &[0; 4]), "dir/w.bf16.npy").unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "dir/w.bf16.npy: names that end with `.bf16.npy` hold bfloat16 as uint16, and only they do; found '<f4'"
    );
    let buffer = numbered(DType::BF16, &[2]);
    assert!(matches!(npy::write(path("w.npy"), &buffer), Err(NpyError::Bf16 { .. })));
    assert!(matches!(
        npy::write(path("w.bf16.npy"), &numbered(DType::F32, &[2])),
        Err(NpyError::Bf16 { .. })
    ));
}

#[test]
fn errors_name_the_file_and_the_cause() {
    let missing = npy::read("no/such/file.npy").unwrap_err();
    assert!(matches!(missing, NpyError::Io { .. }));
    assert!(missing.to_string().starts_with("no/such/file.npy: No such file"), "{missing}");
    assert!(matches!(npy::read(env!("CARGO_TARGET_TMPDIR")), Err(NpyError::Io { .. })));

    let error = |bytes: &[u8]| npy::from_bytes(bytes, "x.npy").unwrap_err().to_string();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"hello, world".to_vec(), "x.npy: not an npy file: the magic bytes \\x93NUMPY are missing"),
        (b"\x93NUM".to_vec(), "x.npy: not an npy file: it ends inside the header"),
        (b"\x93NUMPY\x09\x00\x00\x00".to_vec(), "x.npy: not an npy file: unknown version 9.0"),
        (
            b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec(),
            "x.npy: not an npy file: a header of 4294967295 bytes",
        ),
        (
            file("<f4", false, "(2, 3)", &[0; 20]),
            "x.npy: truncated: the header promises 24 bytes of data, the file has 20",
        ),
        (
            file("<f8", false, "(1000000, 1000000, 10)", &[0; 20]),
            "x.npy: truncated: the header promises 80000000000000 bytes of data, the file has 20",
        ),
        (
            file("<f4", false, "(4294967296, 4294967296)", &[]),
            "x.npy: not an npy file: the shape does not fit in 64 bits",
        ),
        (
            file("<f4", false, "(0, 4294967296, 4294967296)", &[]),
            "x.npy: not an npy file: the shape does not fit in 64 bits",
        ),
        (file("<f4", false, "(0x10,)", &[]), "x.npy: not an npy file: an odd number in the header"),
        (with_header(&"[".repeat(20_000), &[]), "x.npy: not an npy file: too many brackets in the header"),
    ];
    for (bytes, message) in cases {
        assert_eq!(error(&bytes), message);
    }
    for descr in ["<f16", "|S3", "<U2", "<M8[ns]", "|O", "|V2"] {
        let message = error(&file(descr, false, "()", &[0; 64]));
        assert!(message.starts_with(&format!("x.npy: element type '{descr}' is not supported")), "{message}");
    }
    let record = with_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", &[0; 4]);
    assert!(error(&record).contains("is not supported"), "{}", error(&record));
}
