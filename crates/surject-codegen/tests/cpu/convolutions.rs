//! Convolutions, and gradients of their weights.

use crate::contractions::lowered;
use crate::harness::*;
use surject_codegen::{Target, Thresholds};
use surject_index::{Affine, Fill, IndexMap};
use surject_ir::{AccOp, BinaryOp, DType, Function, Scalar};

/// A convolution with padding and stride, as its own im2col.
pub fn convolution(n: u64, size: u64, channels: u64, filters: u64, stride: i64) -> Function {
    let (mut f, p) =
        function(&[(DType::F32, &[n, size, size, channels]), (DType::F32, &[3, 3, channels, filters])]);
    let out = (size - 1) / stride as u64 + 1;
    let all = space(&[n, out, out, filters, 3, 3, channels]);
    let at = |o: usize, w: usize| {
        let mut a = Affine::strided(7, o, stride, -1);
        a.coeffs[w] = 1;
        a
    };
    let components = vec![Affine::axis(7, 0), at(1, 4), at(2, 5), Affine::axis(7, 6)];
    let zero = Fill(Scalar::zero(DType::F32).bits());
    let map =
        IndexMap::partial(all.clone(), space(&[n, size, size, channels]), components, vec![], zero).unwrap();
    let x = f.fields.read(map, p[0]).unwrap();
    let w = f.fields.read(IndexMap::projection(&all, &[4, 5, 6, 3]), p[1]).unwrap();
    let product = f.fields.binary(BinaryOp::Mul, x, w).unwrap();
    let y = f.fields.acc(AccOp::Add, IndexMap::projection(&all, &[0, 1, 2, 3]), product).unwrap();
    result(&mut f, y);
    f
}

#[test]
fn convolutions() {
    check_with(convolution(2, 9, 5, 20, 1), 1e-4, None);
    check_with(convolution(1, 12, 16, 33, 2), 1e-4, None);
    // Rows of a panel apart in memory, and a last loop of the rows that is no multiple of a tile.
    check_with(convolution(2, 16, 3, 20, 2), 1e-4, None);
    check_with(convolution(2, 15, 3, 20, 1), 1e-4, None);
    check_with(convolution(1, 30, 3, 9, 2), 1e-4, None);
    // Tiles inside, at a border, and across the end of a row.
    for (batch, size, channels, filters, stride) in
        [(1, 40, 4, 20, 1), (2, 27, 7, 64, 1), (1, 49, 5, 33, 2), (1, 33, 17, 16, 1), (2, 20, 3, 130, 1)]
    {
        check_with(convolution(batch, size, channels, filters, stride), 1e-4, None);
    }
}

#[test]
fn rows_at_a_border_are_copied() {
    // Whole vectors of channels, and a last one that begins earlier; tiles that go on in the next row of the image.
    for (batch, size, channels, filters, stride) in
        [(1, 26, 32, 33, 1), (2, 25, 16, 40, 1), (1, 33, 19, 40, 1), (1, 49, 19, 40, 2)]
    {
        check_with(convolution(batch, size, channels, filters, stride), 1e-4, None);
    }
}

#[test]
fn tensors_have_a_frame() {
    // The rows of a tile in one loop, cut off at its end, and in two; windows that step over elements.
    for (batch, size, channels, filters, stride) in [
        (1, 20, 16, 40, 1),
        (2, 13, 19, 40, 1),
        (2, 16, 35, 70, 2),
        (1, 21, 12, 40, 1),
        (2, 16, 24, 16, 1),
        (4, 8, 16, 64, 1),
        (6, 31, 3, 8, 2),
    ] {
        check_with(convolution(batch, size, channels, filters, stride), 1e-4, None);
    }
}

/// Conditions in every form: on one axis alone, backwards, wider than the tensor, on both sides of it, twice on one axis;
/// and those that do not belong to an address, which keep their conditions. A value outside need not be zero.
#[test]
fn frames_of_every_form() {
    let cases = [
        // Along one axis alone; the windows of the other one overlap.
        ("8,24,40", "x[i + m,j + n - 1,o]", "0 <= j + n - 1 < 24", true),
        ("6,26,40", "x[i + m - 1,j + n,o]", "0 <= i + m - 1 < 6", true),
        // Backwards, and with steps.
        ("6,24,40", "x[i + m - 1,24 - j - n,o]", "0 <= 24 - j - n < 24 and 0 <= i + m - 1 < 6", true),
        ("6,24,40", "x[i - 2*m + 2,j + 2*n - 2,o]", "0 <= j + 2*n - 2 < 24 and 0 <= i - 2*m + 2 < 6", true),
        // The tensor is smaller than what is read, or lies in it from an offset on.
        ("4,9,40", "x[i + m - 2,j + n - 7,o]", "0 <= j + n - 7 < 9 and 0 <= i + m - 2 < 4", true),
        // Not all of the tensor.
        (
            "6,24,40",
            "x[i + m - 1,j + n - 1,o]",
            "0 <= j + n - 1 < 22 and 0 <= i + m - 1 < 6 and 0 <= j + n - 3 < 23",
            true,
        ),
        // A loop in two conditions.
        (
            "6,24,40",
            "x[i + m - 1,j + n - 1,o]",
            "0 <= j + n - 1 < 24 and 0 <= i + m - 1 < 6 and 0 <= 25 - i - j < 26",
            false,
        ),
    ];
    for (shape, read, holds, framed) in cases {
        for fill in ["0.0f32", "2.5f32"] {
            let text = format!(
                "func main(x: f32[{shape}], w: f32[3,3,40,20]) -> (y) {{
  y : f32[6,24,20] =:+ over i<6, j<24, l<20, m<3, n<3, o<40 at [i,j,l]: ({read} where {holds} else {fill}) * w[m,n,o,l]
}}
"
            );
            let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            // Where it is tried, whether it pays or not.
            let target = Target { thresholds: Thresholds::least(), ..Target::wide() };
            let plan = crate::harness::lowered(&program, "main", &target).plan.to_string();
            assert_eq!(plan.contains("<- x@arg0  "), framed, "{text}{plan}");
            check_with(program.functions[0].clone(), 1e-4, None);
        }
    }
}

/// Windows over 8-bit integers: the pairs of few channels are vectors of fewer lanes, whether that is a whole number or not.
#[test]
fn windows_over_narrow_integers() {
    for channels in [8, 11, 24, 35] {
        let text = format!(
            "func main(x: i8[1,12,13,{channels}], w: i8[3,3,{channels},20]) -> (y) {{
  t : i32[1,12,13,{channels}] =: over i<1, j<12, k<13, l<{channels}: i32(x[i,j,k,l])
  y : i32[1,12,13,20] =:+ over i<1, j<12, k<13, l<20, m<3, n<3, o<{channels} at [i,j,k,l]: (t[i,j + m - 1,k + n - 1,o] \
             where 0 <= k + n - 1 < 13 and 0 <= j + m - 1 < 12 else 0i32) * i32(w[m,n,o,l])
}}
"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let module = lowered(program.functions[0].clone());
        assert!(!module.plan.to_string().contains("t@"), "{}", module.plan);
        check_with(program.functions[0].clone(), 0.0, None);
    }
}

#[test]
fn gradients_of_weights() {
    // dw[i,j,c,f] = sum over n, y, x of x[n,y+i-1,x+j-1,c] dy[n,y,x,f], with channels that do not fill a tile.
    for (size, channels, filters, dtype) in [
        (9, 7, 20, DType::F32),
        (6, 15, 33, DType::F32),
        (5, 29, 16, DType::F64),
        (7, 23, 24, DType::I32),
        (8, 20, 36, DType::F32),
    ] {
        let (mut f, p) = function(&[(dtype, &[2, size, size, channels]), (dtype, &[2, size, size, filters])]);
        let all = space(&[3, 3, channels, filters, 2, size, size]);
        let at = |o: usize, w: usize| {
            let mut a = Affine::strided(7, o, 1, -1);
            a.coeffs[w] = 1;
            a
        };
        let components = vec![Affine::axis(7, 4), at(5, 0), at(6, 1), Affine::axis(7, 2)];
        let zero = Fill(Scalar::zero(dtype).bits());
        let map = IndexMap::partial(all.clone(), space(&[2, size, size, channels]), components, vec![], zero)
            .unwrap();
        let x = f.fields.read(map, p[0]).unwrap();
        let y = f.fields.read(IndexMap::projection(&all, &[4, 5, 6, 3]), p[1]).unwrap();
        let product = f.fields.binary(BinaryOp::Mul, x, y).unwrap();
        let w = f.fields.acc(AccOp::Add, IndexMap::projection(&all, &[0, 1, 2, 3]), product).unwrap();
        result(&mut f, w);
        check_with(f, 1e-4, None);
    }
}

/// dw[f,c,i,j] = sum over n, y, x of x[n,c,y+i-1,x+j-1] dy[n,f,y,x]: long sums are not cut along the elements that lie side
/// by side.
#[test]
fn gradients_of_weights_of_planes() {
    let (size, channels, filters) = (28, 8, 16);
    let text = format!(
        "func main(x: f32[16,{channels},{size},{size}], y: f32[16,{filters},{size},{size}]) -> (w) {{
  w : f32[{filters},{channels},3,3] =:+ over f<{filters}, c<{channels}, i<3, j<3, y<{size}, x<{size}, n<16 at [f,c,i,j]: \
(x[n,c,y + i - 1,x + j - 1] where 0 <= y + i - 1 < {size} and 0 <= x + j - 1 < {size} else 0.0f32) * y[n,f,y,x]
}}
"
    );
    let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    check_with(program.functions[0].clone(), 1e-4, None);
}

/// The groups of a row lie beside each other, so that tasks have all of them.
#[test]
fn groups_of_a_convolution() {
    for (groups, rows, columns) in [(4, 300, 16), (3, 301, 15), (4, 37, 33)] {
        let text = format!(
            "func main(x: f32[{rows},{groups},20], y: f32[{groups},20,{columns}]) -> (z) {{\n  \
             z : f32[{rows},{groups},{columns}] =:+ over i<{rows}, g<{groups}, j<{columns}, k<20 at [i,g,j]: \
             x[i,g,k] * y[g,k,j]\n}}\n"
        );
        let program = surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for function in program.functions {
            check(function);
        }
    }
}

/// Windows with many channels and few features.
#[test]
fn windows_with_few_features() {
    let text = |[height, channels, features]: [u64; 3], stride: u64, weights: &str| {
        let sizes = match weights {
            "w[l,m,n,o]" => format!("3,3,{channels},{features}"),
            _ => format!("{features},{channels},3,3"),
        };
        let out = height.div_ceil(stride);
        format!(
            "func main(x: f32[2,{height},9,{channels}], w: f32[{sizes}]) -> (y) {{
  y : f32[2,{out},9,{features}] =:+ over i<2, j<{out}, k<9, o<{features}, l<3, m<3, n<{channels} at [i,j,k,o]: (x[i,{stride}*j + l - 1,k + m - 1,n] where 0 <= {stride}*j + l - 1 < {height} and 0 <= k + m - 1 < 9 else 0.0f32) * {weights}
}}
"
        )
    };
    let parsed = |text: String| surject_ir::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    for (sizes, stride) in [([11, 20, 1], 1), ([10, 40, 3], 1), ([11, 16, 2], 2), ([9, 33, 7], 3)] {
        for weights in ["w[l,m,n,o]", "w[o,n,l,m]"] {
            check_with(parsed(text(sizes, stride, weights)).functions[0].clone(), 1e-4, None);
        }
    }
}
