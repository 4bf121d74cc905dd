//! Windows that are summed side by side.

use crate::assignments::check_text;
use crate::harness::*;
use surject_ir::{Buffer, DType, Scalar};

/// Sums over windows of each channel.
struct Depthwise {
    dtype: &'static str,
    image: [i64; 2],
    channels: i64,
    window: [i64; 2],
    stride: i64,
    dilation: i64,
    before: i64,
    out: [i64; 2],
}

const PLAIN: Depthwise = Depthwise {
    dtype: "f32",
    image: [9, 23],
    channels: 35,
    window: [5, 5],
    stride: 1,
    dilation: 1,
    before: 2,
    out: [9, 23],
};

impl Depthwise {
    fn text(&self, value: &str) -> String {
        let Depthwise {
            dtype,
            image: [h, w],
            channels,
            window: [m, n],
            stride,
            dilation,
            before,
            out: [j, k],
        } = self;
        let zero = if dtype.starts_with('f') { "0.0" } else { "0" };
        let row = format!("{stride}*j + {dilation}*m - {before}");
        let column = format!("{stride}*k + {dilation}*n - {before}");
        format!(
            "func main(x: {dtype}[2,{h},{w},{channels}], w: {dtype}[{m},{n},{channels}], b: {dtype}[{channels}]) -> (y) {{
  let s : {dtype}[2,{j},{k},{channels}] =:+ over i<2, j<{j}, k<{k}, l<{channels}, m<{m}, n<{n} at [i,j,k,l]: \
             (x[i,{row},{column},l] where 0 <= {column} < {w} and 0 <= {row} < {h} else {zero}{dtype}) * w[m,n,l]
  y : {dtype}[2,{j},{k},{channels}] =: over i<2, j<{j}, k<{k}, l<{channels}: {value}
}}
"
        )
    }
}

/// Rows of channels of every length, beyond the image and inside of it, with strides and dilations, and what comes after.
#[test]
fn depthwise_windows() {
    for windows in [
        PLAIN,
        Depthwise { channels: 16, ..PLAIN },
        Depthwise { channels: 5, dtype: "f64", ..PLAIN },
        Depthwise { channels: 12, dtype: "i32", ..PLAIN },
        // Nothing lies outside.
        Depthwise { before: 0, out: [5, 19], ..PLAIN },
        // More than the image on each side, in rows that are shorter than a block.
        Depthwise { image: [3, 6], window: [7, 7], before: 3, out: [3, 6], ..PLAIN },
        Depthwise { stride: 2, out: [5, 12], ..PLAIN },
        Depthwise { dilation: 3, window: [3, 4], before: 3, out: [9, 20], ..PLAIN },
        Depthwise { image: [1, 40], window: [1, 4], before: 0, out: [1, 37], ..PLAIN },
        Depthwise { image: [2, 60], window: [2, 31], before: 0, out: [1, 30], ..PLAIN },
    ] {
        for value in ["s[i,j,k,l]", "max(s[i,j,k,l] + b[l], b[l])"] {
            check_text(&windows.text(value), &["windows unrolled and jammed"]);
        }
    }
}

/// Factors of a channel that lie one behind the other are stored first, channels side by side.
#[test]
fn factors_channel_by_channel() {
    let text =
        PLAIN.text("s[i,j,k,l]").replace("w: f32[5,5,35]", "w: f32[35,5,5]").replace("w[m,n,l]", "w[l,m,n]");
    check_text(&text, &["windows unrolled and jammed", "kernel_1"]);
}

/// Windows that have nothing in common are read as they lie in memory; what many results need is summed once.
#[test]
fn windows_that_do_not_meet() {
    let apart = Depthwise { image: [8, 24], window: [2, 2], stride: 2, before: 0, out: [4, 12], ..PLAIN };
    let many = PLAIN
        .text("s[i,j,k,l]")
        .replace("y : f32[2,9,23,35] =: over i<2,", "y : f32[2,6,9,23,35] =: over i<2, r<6,");
    for (text, points) in [(apart.text("s[i,j,k,l]"), ""), (many, "[2 6 9")] {
        let program = surject_ir::parse(&text).unwrap();
        let plans = check_on(program.functions[0].clone(), 1e-4, None, &[surject_codegen::Target::wide()]);
        assert!(!plans[0].contains(&format!("jammed {points}")), "{}", plans[0]);
    }
}

/// Zeros outside of the image are multiplied as others are: with infinity they are not a number.
#[test]
fn what_lies_outside_counts() {
    let program = surject_ir::parse(&PLAIN.text("s[i,j,k,l]")).unwrap();
    let function = program.functions[0].clone();
    let mut args: Vec<Buffer> =
        function.params.iter().enumerate().map(|(i, &p)| values(function.ty(p), i as u64 + 7)).collect();
    args[1] = Buffer::splat(Scalar::from_f64(DType::F32, f64::INFINITY), &[5, 5, 35]);
    check_with(function, 1e-4, Some(args));
}
