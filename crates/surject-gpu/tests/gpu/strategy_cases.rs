//! Programs for each strategy.

use crate::programs::program;
use surject_ir::Program;

/// A strategy and a program that it is for, with its name; the sectors of global memory that a kernel may touch over those
/// that it needs, and its bank conflicts.
pub struct Case {
    pub strategy: &'static str,
    pub name: &'static str,
    pub program: Program,
    pub sectors: f64,
    pub conflicts: u64,
}

/// All programs. What matrix units summed, the interpreter stores pair by pair, each a sector of its own.
pub fn cases() -> Vec<Case> {
    moves().into_iter().chain(rows()).chain(products()).collect()
}

fn one(
    strategy: &'static str,
    name: &'static str,
    params: &str,
    text: &str,
    sectors: f64,
    conflicts: u64,
) -> Case {
    Case { strategy, name, program: program(params, text), sectors, conflicts }
}

fn softmax(rows: usize, n: usize) -> String {
    format!(
        "let m : f32[{rows}] =:max over i<{rows}, k<{n} at [i]: a[i,k]\n  \
         let e : f32[{rows},{n}] =: over i<{rows}, j<{n}: exp(a[i,j] - m[i])\n  \
         let s : f32[{rows}] =:+ over i<{rows}, k<{n} at [i]: e[i,k]\n  \
         y : f32[{rows},{n}] =: over i<{rows}, j<{n}: e[i,j] / s[i]"
    )
}

/// Sums along the second of three axes, or from its end.
fn sums(dtype: &str, [a, b, c]: [usize; 3], from_the_end: bool) -> String {
    let at = if from_the_end { "j + k".to_string() } else { format!("j + k - {}", b - 1) };
    format!(
        "y : {dtype}[{a},{b},{c}] =:+ over i<{a}, j<{b}, l<{c}, k<{b} at [i,j,l]: \
         (a[i,{at},l] where 0 <= {at} < {b} else 0.0{dtype})"
    )
}

fn product(dtype: &str, (m, n, k): (usize, usize, usize), left: &str, right: &str) -> String {
    format!("y : {dtype}[{m},{n}] =:+ over i<{m}, j<{n}, k<{k} at [i,j]: a[{left}] * b[{right}]")
}

/// What is done point by point, in vectors, by transpositions and by scans. (Long, as it is a list.)
fn moves() -> Vec<Case> {
    vec![
        one(
            "vectors",
            "elementwise f32",
            "a: f32[4096], b: f32[4096]",
            "y : f32[4096] =: over i<4096: a[i] * b[i]",
            1.01,
            0,
        ),
        one(
            "vectors",
            "a border of vectors",
            "a: f32[1000]",
            "y : f32[1000] =: over i<1000: a[i] * 2.0f32",
            1.1,
            0,
        ),
        one(
            "vectors",
            "elementwise bf16",
            "a: bf16[2048]",
            "y : bf16[2048] =: over i<2048: a[i] + 1.0bf16",
            1.01,
            0,
        ),
        one("vectors", "bytes", "a: i8[2048]", "y : i8[2048] =: over i<2048: a[i] + 1i8", 1.01, 0),
        one(
            "vectors",
            "a row for all rows",
            "a: f32[24,64], b: f32[64]",
            "y : f32[24,64] =: over i<24, j<64: a[i,j] + b[j]",
            1.5,
            0,
        ),
        one(
            "points",
            "a transposition by points",
            "a: f32[64,64]",
            "y : f32[64,64] =: over i<64, j<64: a[j,i]",
            5.0,
            0,
        ),
        one(
            "transposes",
            "a transposition",
            "a: f32[64,64]",
            "y : f32[64,64] =: over i<64, j<64: a[j,i]",
            1.01,
            0,
        ),
        one(
            "transposes",
            "a transposition of odd sizes",
            "a: f32[37,70]",
            "y : f32[70,37] =: over i<70, j<37: a[j,i]",
            1.5,
            0,
        ),
        one(
            "transposes",
            "a transposition of bf16",
            "a: bf16[64,96]",
            "y : bf16[96,64] =: over i<96, j<64: a[j,i]",
            1.01,
            0,
        ),
        one("transposes", "of bytes", "a: i8[64,64]", "y : i8[64,64] =: over i<64, j<64: a[j,i]", 1.01, 0),
        one(
            "transposes",
            "of f64",
            "a: f64[32,64]",
            "y : f64[64,32] =: over i<64, j<32: a[j,i] * 2.0f64",
            1.01,
            0,
        ),
        one(
            "transposes",
            "a matrix and its transposition",
            "a: f32[64,64], b: f32[64]",
            "y : f32[64,64] =: over i<64, j<64: a[i,j] + a[j,i] * b[i]",
            2.1,
            0,
        ),
        one(
            "transposes",
            "planes of an image",
            "a: f32[40,24,3]",
            "y : f32[3,40,24] =: over c<3, i<40, j<24: a[i,j,c]",
            1.3,
            40,
        ),
        one(
            "transposes",
            "an image of planes",
            "a: f32[3,40,32]",
            "y : f32[40,32,3] =: over i<40, j<32, c<3: a[c,i,j]",
            1.3,
            200,
        ),
        one(
            "transposes",
            "channels last",
            "a: f32[2,33,6,40]",
            "y : f32[2,6,40,33] =: over n<2, i<6, j<40, c<33: a[n,c,i,j]",
            1.6,
            0,
        ),
        one(
            "transposes",
            "a border around a transposition",
            "a: f32[60,64]",
            "y : f32[64,64] =: over i<64, j<64: (a[j - 2,i] where 0 <= j - 2 < 60 else 7.0f32)",
            1.5,
            0,
        ),
        one(
            "scans",
            "sums so far down columns",
            "a: f32[2,40,256]",
            &sums("f32", [2, 40, 256], false),
            1.01,
            0,
        ),
        one("scans", "odd columns from the end", "a: f64[3,21,70]", &sums("f64", [3, 21, 70], true), 1.5, 0),
        one("scans", "a line of a block", "a: f32[5,512,1]", &sums("f32", [5, 512, 1], false), 1.1, 0),
        one("scans", "an odd line from its end", "a: f32[3,301,1]", &sums("f32", [3, 301, 1], true), 5.0, 0),
        one("scans", "halves in a line", "a: bf16[2,1700,1]", &sums("bf16", [2, 1700, 1], false), 1.2, 0),
        one(
            "scans",
            "products so far, and what is made of them",
            "a: f32[200], b: f32[200]",
            "let p : f32[200] =:* over i<200, k<200 at [i]: (a[i + k - 199] where 0 <= i + k - 199 < 200 else 1.0f32)\n  \
             y : f32[200] =: over i<200: p[i] * b[i] + 1.0f32",
            1.3,
            0,
        ),
    ]
}

/// Rows and columns that are reduced. (Long, as it is a list.)
fn rows() -> Vec<Case> {
    vec![
        one(
            "points",
            "short rows",
            "a: f32[300,17]",
            "y : f32[300,17] =: over i<300, j<17: a[i,j] * 2.0f32",
            1.2,
            0,
        ),
        one(
            "vectors",
            "channels of a picture",
            "a: f32[2,6,6,64], b: f32[64]",
            "y : f32[2,6,6,64] =: over n<2, i<6, j<6, c<64: a[n,i,j,c] * b[c]",
            1.3,
            0,
        ),
        one(
            "columns",
            "sums down columns",
            "a: f32[64,256]",
            "y : f32[256] =:+ over i<256, k<64 at [i]: a[k,i]",
            1.01,
            0,
        ),
        one(
            "columns",
            "odd columns",
            "a: f32[45,70]",
            "y : f32[70] =:+ over i<70, k<45 at [i]: a[k,i]",
            1.5,
            0,
        ),
        one(
            "columns",
            "maxima down columns of halves",
            "a: f16[3,40,256]",
            "y : f16[3,256] =:max over g<3, i<256, k<40 at [g,i]: a[g,k,i]",
            1.1,
            0,
        ),
        one(
            "columns",
            "columns that are normalised",
            "a: f32[48,128]",
            "let m : f32[128] =: over i<128: (+ over i<128, k<48 at [i]: a[k,i]) / 48.0f32\n  \
             let d : f32[48,128] =: over k<48, i<128: a[k,i] - m[i]\n  \
             let v : f32[128] =: over i<128: (+ over i<128, k<48 at [i]: d[k,i] * d[k,i]) / 48.0f32\n  \
             y : f32[48,128] =: over k<48, i<128: d[k,i] / sqrt(v[i] + 0.001f32)",
            2.1,
            0,
        ),
        one(
            "warps",
            "layer norm",
            "a: f32[6,128]",
            "let m : f32[6] =: over i<6: (+ over i<6, k<128 at [i]: a[i,k]) / 128.0f32\n  \
             let d : f32[6,128] =: over i<6, j<128: a[i,j] - m[i]\n  \
             let v : f32[6] =: over i<6: (+ over i<6, k<128 at [i]: d[i,k] * d[i,k]) / 128.0f32\n  \
             y : f32[6,128] =: over i<6, j<128: d[i,j] / sqrt(v[i] + 0.001f32)",
            1.01,
            0,
        ),
        one(
            "points",
            "odd rows",
            "a: f32[33,65]",
            "y : f32[33,65] =: over i<33, j<65: a[i,j] + 1.0f32",
            1.5,
            0,
        ),
        one("warps", "row sums", "a: f32[16,256]", "y : f32[16] =:+ over i<16, k<256 at [i]: a[i,k]", 1.1, 0),
        one(
            "warps",
            "odd row sums",
            "a: f32[6,100]",
            "y : f32[6] =:+ over i<6, k<100 at [i]: a[i,k]",
            1.3,
            0,
        ),
        one("warps", "softmax", "a: f32[8,256]", &softmax(8, 256), 1.01, 0),
        one("warps", "softmax of odd rows", "a: f32[4,75]", &softmax(4, 75), 1.5, 0),
        one(
            "warps",
            "maxima of halves",
            "a: f16[8,512]",
            "y : f16[8] =:max over i<8, k<512 at [i]: a[i,k]",
            1.1,
            0,
        ),
        one(
            "blocks",
            "long row sums",
            "a: f32[3,4096]",
            "y : f32[3] =:+ over i<3, k<4096 at [i]: a[i,k] * a[i,k]",
            1.1,
            0,
        ),
        one("blocks", "long softmax", "a: f32[2,2048]", &softmax(2, 2048), 1.01, 0),
        // In two stages.
        one("all", "a sum of all", "a: f32[65536]", "y : f32[] =:+ over k<65536 at []: a[k] * a[k]", 1.1, 0),
        one(
            "all",
            "sums of columns",
            "a: f64[512,40]",
            "y : f64[40] =:+ over i<40, k<512 at [i]: a[k,i]",
            2.0,
            0,
        ),
        one(
            "all",
            "a mean of halves",
            "a: bf16[3,16384]",
            "y : bf16[3] =: over i<3: (+ over i<3, k<16384 at [i]: a[i,k]) / 16384.0bf16",
            1.1,
            0,
        ),
        one(
            "blocks",
            "odd long rows",
            "a: f64[2,700]",
            "y : f64[2] =:+ over i<2, k<700 at [i]: a[i,k]",
            1.2,
            0,
        ),
    ]
}

/// Products of matrices, and what is like them. (Long, as it is a list.)
fn products() -> Vec<Case> {
    vec![
        one(
            "tiles",
            "product f32",
            "a: f32[64,64], b: f32[64,128]",
            &product("f32", (64, 128, 64), "i,k", "k,j"),
            5.0,
            100_000,
        ),
        one(
            "tiles",
            "odd product",
            "a: f32[70,45], b: f32[45,130]",
            &product("f32", (70, 130, 45), "i,k", "k,j"),
            6.0,
            100_000,
        ),
        one(
            "tiles",
            "product by columns",
            "a: f32[40,64], b: f32[128,40]",
            &product("f32", (64, 128, 40), "k,i", "j,k"),
            5.0,
            100_000,
        ),
        one(
            "tiles",
            "product bf16",
            "a: bf16[64,32], b: bf16[32,128]",
            &product("bf16", (64, 128, 32), "i,k", "k,j"),
            5.0,
            100_000,
        ),
        one(
            "matrix units",
            "units of bf16",
            "a: bf16[64,64], b: bf16[64,64]",
            &product("bf16", (64, 64, 64), "i,k", "k,j"),
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "units of f16",
            "a: f16[70,40], b: f16[90,40]",
            &product("f16", (70, 90, 40), "i,k", "j,k"),
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "copies in the background",
            "a: bf16[64,160], b: bf16[160,64]",
            &product("bf16", (64, 64, 160), "i,k", "k,j"),
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "units by columns",
            "a: f16[128,64], b: f16[128,64]",
            &product("f16", (64, 64, 128), "k,i", "k,j"),
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "converted factors",
            "a: bf16[64,96], b: bf16[64,96]",
            "y : f32[64,64] =:+ over i<64, j<64, k<96 at [i,j]: f32(a[i,k]) * f32(b[j,k])",
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "units of bytes",
            "a: i8[64,70], b: i8[70,64]",
            "y : i32[64,64] =:+ over i<64, j<64, k<70 at [i,j]: i32(a[i,k]) * i32(b[k,j])",
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "units of bytes without signs",
            "a: u8[32,128], b: u8[96,128]",
            "y : i32[32,96] =:+ over i<32, j<96, k<128 at [i,j]: i32(a[i,k]) * i32(b[j,k])",
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "units of tf32",
            "a: f32[64,96], b: f32[70,96]",
            "y : f32[64,70] =:+ over i<64, j<70, k<96 at [i,j]: \
             reduce_precision<8,10>(a[i,k]) * reduce_precision<8,10>(b[j,k])",
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "units of tf32 by columns",
            "a: f32[40,64], b: f32[40,72]",
            "y : f32[64,72] =:+ over i<64, j<72, k<40 at [i,j]: \
             reduce_precision<8,10>(a[k,i]) * reduce_precision<8,10>(b[k,j])",
            7.0,
            100_000,
        ),
        one(
            "matrix units",
            "units of f64",
            "a: f64[64,40], b: f64[40,72]",
            &product("f64", (64, 72, 40), "i,k", "k,j"),
            7.0,
            100_000,
        ),
        one(
            "tiles",
            "pixels as rows",
            "a: f32[2,8,10,16], b: f32[2,2,16,32]",
            "y : f32[2,7,9,32] =:+ over n<2, p<7, q<9, o<32, u<2, v<2, c<16 at [n,p,q,o]: a[n,p+u,q+v,c] * b[u,v,c,o]",
            20.0,
            1_000_000,
        ),
        one(
            "matrix units",
            "pixels of halves as rows",
            "a: bf16[2,8,11,32], b: bf16[2,2,32,32]",
            "y : f32[2,7,9,32] =:+ over n<2, p<7, q<9, o<32, u<2, v<2, c<32 at [n,p,q,o]: \
             f32(a[n,p+u,q+v,c]) * f32(b[u,v,c,o])",
            20.0,
            1_000_000,
        ),
        one(
            "tiles",
            "products of heads",
            "a: f32[2,3,32,64], b: f32[2,3,32,64]",
            "y : f32[2,3,32,32] =:+ over g<2, h<3, i<32, j<32, k<64 at [g,h,i,j]: a[g,h,i,k] * b[g,h,j,k]",
            3.0,
            100_000,
        ),
        one(
            "tiles",
            "convolution",
            "a: f32[2,2,34,32], b: f32[2,3,32,32]",
            "y : f32[2,32,32] =:+ over n<2, q<32, o<32, u<2, v<3, c<32 at [n,q,o]: a[n,u,q+v,c] * b[u,v,c,o]",
            10.0,
            1_000_000,
        ),
        one(
            "tiles",
            "product f64",
            "a: f64[32,40], b: f64[40,64]",
            &product("f64", (32, 64, 40), "i,k", "k,j"),
            3.0,
            100_000,
        ),
        one(
            "tiles",
            "product with a bias",
            "a: f32[64,32], b: f32[32,64], c: f32[64]",
            "let p : f32[64,64] =:+ over i<64, j<64, k<32 at [i,j]: a[i,k] * b[k,j]\n  \
             y : f32[64,64] =: over i<64, j<64: max(p[i,j] + c[j], 0.0f32)",
            3.0,
            100_000,
        ),
        one(
            "tiles",
            "products",
            "a: i32[3,32,32], b: i32[3,32,64]",
            "y : i32[3,32,64] =:+ over g<3, i<32, j<64, k<32 at [g,i,j]: a[g,i,k] * b[g,k,j]",
            4.0,
            100_000,
        ),
    ]
}
