//! Arrays of `.npy` files as tensors.

use surject_stablehlo::ElementType;
use surject_stablehlo::interpret::Tensor;

/// The array of a file of version 1.0; two bytes without a kind are `bf16`.
pub fn read(bytes: &[u8]) -> Tensor {
    assert_eq!(&bytes[..6], b"\x93NUMPY");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
    let field = |name: &str| header.split_once(name).unwrap().1.split_once(':').unwrap().1.trim_start();
    let kind = field("'descr'").split('\'').nth(1).unwrap();
    let element = match kind {
        "|b1" => ElementType::I1,
        "|i1" => ElementType::I8,
        "|u1" => ElementType::U8,
        "<i2" => ElementType::I16,
        "<u2" => ElementType::U16,
        "<i4" => ElementType::I32,
        "<u4" => ElementType::U32,
        "<i8" => ElementType::I64,
        "<u8" => ElementType::U64,
        "<f2" => ElementType::F16,
        "<V2" | "|V2" => ElementType::BF16,
        "<f4" => ElementType::F32,
        "<f8" => ElementType::F64,
        "<c8" => ElementType::C64,
        "<c16" => ElementType::C128,
        other => panic!("elements {other}"),
    };
    assert!(field("'fortran_order'").starts_with("False"));
    let shape = field("'shape'").split_once('(').unwrap().1.split_once(')').unwrap().0;
    let shape: Vec<usize> = shape.split(',').filter_map(|n| n.trim().parse().ok()).collect();
    Tensor::new(element, &shape, bytes[10 + length..].to_vec()).unwrap()
}
