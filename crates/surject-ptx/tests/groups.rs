//! Products of matrices by four warps: what they give, and what is found to be wrong.

use std::fmt::Write;
use surject_ptx::{Arg, Buffer, Grid, PtxError, parse, run};

const TERMS: usize = 64;

/// Bits of a small integer as `bf16`.
fn bf16(value: i32) -> u16 {
    ((value as f32).to_bits() >> 16) as u16
}

/// A matrix of so many rows (or columns) and 64 terms as it lies in shared memory: in lines of 128 bytes, whose parts of 16
/// bytes are exchanged in groups of eight lines.
fn image(own: usize, by_elements: bool, value: &dyn Fn(usize, usize) -> i32) -> Vec<u8> {
    let mut bytes = vec![0; 2 * own * TERMS];
    for i in 0..own {
        for term in 0..TERMS {
            let (line, at) = if by_elements { (i / 64 * TERMS + term, i % 64) } else { (i, term) };
            let place = 128 * line + 16 * ((at / 8) ^ (line % 8)) + 2 * (at % 8);
            bytes[place..place + 2].copy_from_slice(&bf16(value(i, term)).to_le_bytes());
        }
    }
    bytes
}

/// What a kernel leaves out.
#[derive(Clone, Copy, PartialEq)]
enum Without {
    Nothing,
    Fence,
    Wait,
}

/// `d = a · b + d` of 64 rows, `n` columns and 64 terms, in four instructions; `d` is 1 before.
fn product(
    n: usize,
    transposed: [bool; 2],
    images: &[Vec<u8>; 2],
    without: Without,
) -> Result<Vec<f32>, PtxError> {
    let bytes = images[0].len() + images[1].len();
    let mut code = String::new();
    for at in (0..bytes).step_by(128 * 4) {
        writeln!(code, "ld.global.b32 %r3, [%x+{at}]; st.shared.b32 [%r2+{at}], %r3;").unwrap();
    }
    let sums: Vec<String> = (0..n / 2).map(|i| format!("%f{i}")).collect();
    sums.iter().for_each(|f| writeln!(code, "mov.b32 {f}, 0f3F800000;").unwrap());
    code += "fence.proxy.async.shared::cta; bar.sync 0;\n";
    if without != Without::Fence {
        code += "wgmma.fence.sync.aligned;\n";
    }
    for step in 0..TERMS / 16 {
        let descriptor = |first: usize, by_elements: bool| {
            let first = first + if by_elements { 16 * 128 * step } else { 32 * step };
            (first / 16) as u64 | (8192 / 16) << 16 | (1024 / 16) << 32 | 1 << 62
        };
        let (a, b) = (descriptor(0, transposed[0]), descriptor(images[0].len(), transposed[1]));
        let [ta, tb] = transposed.map(u8::from);
        writeln!(
            code,
            "mov.b64 %d1, {a}; mov.b64 %d2, {b};\n\
             wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16 {{{}}}, %d1, %d2, 1, 1, 1, {ta}, {tb};",
            sums.join(", ")
        )
        .unwrap();
    }
    code += "wgmma.commit_group.sync.aligned;\n";
    if without != Without::Wait {
        code += "wgmma.wait_group.sync.aligned 0;\n";
    }
    sums.iter().enumerate().for_each(|(i, f)| writeln!(code, "st.global.b32 [%q+{}], {f};", 4 * i).unwrap());
    let text = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 p, .param .u64 x) {{\n\
         .shared .align 1024 .b8 tile[{bytes}];\n\
         .reg .b32 %r<9>; .reg .f32 %f<128>; .reg .b64 %d<9>; .reg .b64 %q, %x, %o;\n\
         ld.param.u64 %q, [p]; ld.param.u64 %x, [x]; mov.u32 %r1, %tid.x;\n\
         mul.wide.u32 %o, %r1, 4; add.s64 %x, %x, %o; mul.wide.u32 %o, %r1, {}; add.s64 %q, %q, %o;\n\
         shl.b32 %r2, %r1, 2; mov.u32 %r4, tile; add.s32 %r2, %r2, %r4;\n{code}ret;\n}}\n",
        2 * n
    );
    let module = parse(&text)?;
    let mut buffers = vec![Buffer::unwritten(4 * 64 * n), Buffer::of(&images.concat())];
    let grid = Grid { blocks: [1; 3], threads: 128, shared: 0 };
    run(&module, "k", &grid, &[Arg::Buffer(0), Arg::Buffer(1)], &mut buffers)?;
    // Each thread stored what it has, one after the other: 16 rows of a warp, fragments of 8 columns.
    let mut all = vec![0.0; 64 * n];
    for (i, word) in buffers[0].bytes().chunks(4).enumerate() {
        let (thread, i) = (i / (n / 2), i % (n / 2));
        let (warp, lane) = (thread / 32, thread % 32);
        let row = 16 * warp + 8 * (i / 2 % 2) + lane / 4;
        let column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
        all[row * n + column] = f32::from_le_bytes(word.try_into().unwrap());
    }
    Ok(all)
}

fn left(row: usize, term: usize) -> i32 {
    (row * 7 + term * 3) as i32 % 11 - 5
}

fn right(column: usize, term: usize) -> i32 {
    (column * 5 + term) as i32 % 13 - 6
}

#[test]
fn four_warps_multiply_what_descriptors_name() {
    for n in [64, 128] {
        for transposed in [[false, false], [false, true], [true, false], [true, true]] {
            let images = [image(64, transposed[0], &left), image(n, transposed[1], &right)];
            let found = product(n, transposed, &images, Without::Nothing).unwrap_or_else(|e| panic!("{e}"));
            for row in 0..64 {
                for column in 0..n {
                    let sum: i32 = (0..TERMS).map(|t| left(row, t) * right(column, t)).sum();
                    assert_eq!(found[row * n + column], (sum + 1) as f32, "{row} {column} {transposed:?}");
                }
            }
        }
    }
}

#[test]
fn products_need_fences_and_waits() {
    let images = [image(64, false, &left), image(64, false, &right)];
    let message = |without| product(64, [false; 2], &images, without).unwrap_err().to_string();
    assert!(message(Without::Fence).contains("without a fence before it"));
    assert!(message(Without::Wait).contains("is read before it is written"));
}
