//! Files of parameters: what is written comes back, and what does not fit is refused by name.

use proptest::prelude::*;
use std::path::Path;
use surject_runtime::{Buffer, DType};
use surject_train::{Params, Random, TrainError, data};

const TYPES: [DType; 13] = [
    DType::I1,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

fn arbitrary(dtype: DType, shape: &[usize], seed: u64) -> Buffer {
    let mut random = Random::new(seed);
    let mut buffer = Buffer::zeros(dtype, shape);
    let mask = if dtype == DType::I1 { 1 } else { 0xff };
    buffer.bytes_mut().iter_mut().for_each(|b| *b = random.next_u64() as u8 & mask);
    buffer
}

fn two() -> Params {
    let mut params = Params::new();
    params.insert("w", data::f32_buffer(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).unwrap()).unwrap();
    params.insert("b", data::f32_buffer(&[0.5, -0.5], &[2]).unwrap()).unwrap();
    params
}

/// The message, with the folder of the test cut out.
fn message(error: &TrainError, folder: &Path) -> String {
    error.to_string().replace(&format!("{}/", folder.display()), "")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_bit_comes_back(kinds in prop::collection::vec((0..TYPES.len(), prop::collection::vec(0usize..4, 0..4)), 0..6), seed: u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.safetensors");
        let mut params = Params::new();
        for (i, (kind, shape)) in kinds.iter().enumerate() {
            params.insert(format!("tensor {i}"), arbitrary(TYPES[*kind], shape, seed ^ i as u64)).unwrap();
        }
        params.save(&path).unwrap();
        prop_assert_eq!(&Params::load(&path).unwrap(), &params);
        let mut zeros = Params::new();
        for (name, value) in params.iter() {
            zeros.insert(name, Buffer::zeros(value.dtype(), value.shape())).unwrap();
        }
        zeros.restore(&path).unwrap();
        prop_assert_eq!(&zeros, &params);
    }

    #[test]
    fn damage_is_an_error_or_another_value_but_no_panic(at in 0usize..400, byte: u8, cut in 0usize..400) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.safetensors");
        two().save(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at % bytes.len();
        bytes[at] = byte;
        std::fs::write(&path, &bytes).unwrap();
        let _ = two().restore(&path);
        std::fs::write(&path, &bytes[..cut.min(bytes.len())]).unwrap();
        let _ = two().restore(&path);
    }
}

#[test]
fn files_are_the_same_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = |name: &str| {
        let path = folder.path().join(name);
        two().save(&path).unwrap();
        std::fs::read(path).unwrap()
    };
    assert_eq!(bytes("a"), bytes("b"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left behind");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.safetensors");
    let refused = |params: &Params, program: &Params| {
        params.save(&path).unwrap();
        let mut restored = program.clone();
        let error = restored.restore(&path).unwrap_err();
        assert_eq!(&restored, program, "nothing is changed");
        message(&error, folder.path())
    };
    let with = |name: &str, value: Buffer| {
        let mut params = two();
        params.insert(name, value).unwrap();
        params
    };
    let mut other = Params::new();
    other.insert("w", data::f32_buffer(&[0.0; 6], &[3, 2]).unwrap()).unwrap();
    other.insert("b", data::f32_buffer(&[0.0; 2], &[2]).unwrap()).unwrap();
    let mut double = Params::new();
    double.insert("w", Buffer::zeros(DType::F64, &[2, 3])).unwrap();
    double.insert("b", data::f32_buffer(&[0.0; 2], &[2]).unwrap()).unwrap();
    let more = with("momentum.w", Buffer::zeros(DType::F32, &[2, 3]));
    insta::assert_snapshot!(
        [
            refused(&two(), &more),
            refused(&more, &two()),
            refused(&Params::new(), &two()),
            refused(&other, &two()),
            refused(&double, &two()),
        ]
        .join("\n\n")
    );
}

#[test]
fn files_that_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.safetensors");
    let mut found = Vec::new();
    let mut load = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        found.push(message(&Params::load(&path).unwrap_err(), folder.path()));
    };
    load(b"");
    load(b"a text that is long enough");
    load(&[255; 64]);
    let header = br#"{"t":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]}}  "#;
    let header = &header[..56];
    load(&[&56u64.to_le_bytes()[..], header, &[2]].concat());
    let header = br#"{"t":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}}      "#;
    load(&[&64u64.to_le_bytes()[..], header, &[2]].concat());
    found.push(message(&Params::load(folder.path().join("missing")).unwrap_err(), folder.path()));
    let mut complex = Params::new();
    complex.insert("z", Buffer::zeros(DType::C128, &[1])).unwrap();
    found.push(message(&complex.save(&path).unwrap_err(), folder.path()));
    found.push(message(&complex.insert("z", Buffer::zeros(DType::F32, &[])).unwrap_err(), folder.path()));
    insta::assert_snapshot!(found.join("\n\n"));
}
