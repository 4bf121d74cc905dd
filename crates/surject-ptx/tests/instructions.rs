//! Single instructions: what each gives, and what is found to be wrong.

use surject_ptx::{Arg, Buffer, Grid, PtxError, parse, run};

/// Runs code on one thread that stores `%out` (64 bits) in the end.
fn one(code: &str) -> Result<u64, PtxError> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p) {{\n\
         .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .b64 %out, %q;\n\
         ld.param.u64 %q, [p];\n{code}\nst.global.b64 [%q], %out;\nret;\n}}\n"
    );
    let module = parse(&text)?;
    let mut buffers = vec![Buffer::unwritten(8)];
    run(&module, "k", &Grid { blocks: [1; 3], threads: 1, shared: 0 }, &[Arg::Buffer(0)], &mut buffers)?;
    Ok(u64::from_le_bytes(buffers[0].bytes().try_into().unwrap()))
}

#[test]
fn arithmetic_gives_what_the_manual_says() {
    let single = |x: f32| u64::from(x.to_bits());
    let cases: Vec<(&str, u64)> = vec![
        ("add.s32 %r1, 7, -9; cvt.s64.s32 %out, %r1;", -2i64 as u64),
        ("sub.s64 %out, 3, 5;", -2i64 as u64),
        ("mul.lo.s32 %r1, 65537, 65537; cvt.u64.u32 %out, %r1;", 131_073),
        ("mul.hi.u32 %r1, -1, -1; cvt.u64.u32 %out, %r1;", 0xffff_fffe),
        ("mul.hi.s32 %r1, -1, -1; cvt.u64.u32 %out, %r1;", 0),
        ("mul.wide.s32 %out, -3, 4;", -12i64 as u64),
        ("mul.wide.u32 %out, -1, 2;", 0x1_ffff_fffe),
        ("mad.lo.s32 %r1, 3, 4, 5; cvt.u64.u32 %out, %r1;", 17),
        ("mad.wide.u32 %out, 65536, 65536, 1;", (1 << 32) + 1),
        ("div.s32 %r1, -7, 2; cvt.s64.s32 %out, %r1;", -3i64 as u64),
        ("div.u32 %r1, -7, 2; cvt.u64.u32 %out, %r1;", 0x7fff_fffc),
        ("rem.s32 %r1, -7, 2; cvt.s64.s32 %out, %r1;", -1i64 as u64),
        ("min.s32 %r1, -7, 2; cvt.s64.s32 %out, %r1;", -7i64 as u64),
        ("max.u32 %r1, -7, 2; cvt.u64.u32 %out, %r1;", 0xffff_fff9),
        ("abs.s32 %r1, -7; cvt.u64.u32 %out, %r1;", 7),
        ("neg.s32 %r1, 7; cvt.s64.s32 %out, %r1;", -7i64 as u64),
        ("not.b64 %out, 0;", u64::MAX),
        ("and.b32 %r1, 12, 10; cvt.u64.u32 %out, %r1;", 8),
        ("xor.b32 %r1, 12, 10; cvt.u64.u32 %out, %r1;", 6),
        ("shl.b32 %r1, 1, 31; cvt.u64.u32 %out, %r1;", 1 << 31),
        ("shl.b32 %r1, 1, 32; cvt.u64.u32 %out, %r1;", 0),
        ("shr.s32 %r1, -8, 1; cvt.s64.s32 %out, %r1;", -4i64 as u64),
        ("shr.s32 %r1, -8, 40; cvt.s64.s32 %out, %r1;", -1i64 as u64),
        ("shr.u32 %r1, -8, 1; cvt.u64.u32 %out, %r1;", 0x7fff_fffc),
        ("popc.b64 %r1, -1; cvt.u64.u32 %out, %r1;", 64),
        ("clz.b32 %r1, 1; cvt.u64.u32 %out, %r1;", 31),
        ("brev.b32 %r1, 1; cvt.u64.u32 %out, %r1;", 1 << 31),
        ("bfe.u32 %r1, 0xabcd, 4, 8; cvt.u64.u32 %out, %r1;", 0xbc),
        ("bfe.s32 %r1, 0xabcd, 4, 8; cvt.s64.s32 %out, %r1;", 0xffff_ffff_ffff_ffbc),
        ("bfi.b32 %r1, 0xf, 0xa000, 4, 8; cvt.u64.u32 %out, %r1;", 0xa0f0),
        ("prmt.b32 %r1, 0x44332211, 0x88776655, 0x7610; cvt.u64.u32 %out, %r1;", 0x8877_2211),
        ("prmt.b32 %r1, 0x44332281, 0, 0x8888; cvt.u64.u32 %out, %r1;", 0xffff_ffff),
        ("lop3.b32 %r1, 12, 10, 9, 0x80; cvt.u64.u32 %out, %r1;", 8),
        ("shf.l.wrap.b32 %r1, 0x80000000, 1, 1; cvt.u64.u32 %out, %r1;", 3),
        ("shf.r.wrap.b32 %r1, 2, 1, 1; cvt.u64.u32 %out, %r1;", 0x8000_0001),
        ("add.rn.f32 %r1, 0f3F800000, 0f33800000; cvt.u64.u32 %out, %r1;", single(1.0)),
        ("mul.rn.f32 %r1, 0f40000000, 0fC0400000; cvt.u64.u32 %out, %r1;", single(-6.0)),
        (
            "fma.rn.f32 %r1, 0f3F800001, 0f3F800001, 0fBF800002; cvt.u64.u32 %out, %r1;",
            single(2f32.powi(-46)),
        ),
        ("div.rn.f64 %out, 0d3FF0000000000000, 0d4008000000000000;", (1.0f64 / 3.0).to_bits()),
        ("sqrt.rn.f32 %r1, 0f40000000; cvt.u64.u32 %out, %r1;", single(2f32.sqrt())),
        ("rcp.rn.f64 %out, 0d4008000000000000;", (1.0f64 / 3.0).to_bits()),
        ("max.f32 %r1, 0f7FC00000, 0f3F800000; cvt.u64.u32 %out, %r1;", single(1.0)),
        ("max.NaN.f32 %r1, 0f7FC00000, 0f3F800000; cvt.u64.u32 %out, %r1;", 0x7fc0_0000),
        ("max.f32 %r1, 0f80000000, 0f00000000; cvt.u64.u32 %out, %r1;", 0),
        ("min.f32 %r1, 0f00000000, 0f80000000; cvt.u64.u32 %out, %r1;", 0x8000_0000),
        ("neg.f64 %out, 0d3FF0000000000000;", (-1f64).to_bits()),
        ("copysign.f32 %r1, 0f80000000, 0f3F800000; cvt.u64.u32 %out, %r1;", single(-1.0)),
    ];
    for (code, expected) in cases {
        assert_eq!(one(code), Ok(expected), "{code}");
    }
}

#[test]
fn conversions_round_and_saturate() {
    let cases: Vec<(&str, u64)> = vec![
        ("cvt.rn.f32.s32 %r1, 16777217; cvt.u64.u32 %out, %r1;", 16_777_216f32.to_bits().into()),
        ("cvt.rn.f32.u64 %r1, -1; cvt.u64.u32 %out, %r1;", 18_446_744_073_709_551_616f32.to_bits().into()),
        ("cvt.rzi.s32.f32 %r1, 0fC0200000; cvt.s64.s32 %out, %r1;", -2i64 as u64),
        ("cvt.rzi.s32.f32 %r1, 0f7F800000; cvt.s64.s32 %out, %r1;", 0x7fff_ffff),
        ("cvt.rzi.u32.f32 %r1, 0fBF800000; cvt.u64.u32 %out, %r1;", 0),
        ("cvt.rzi.s64.f64 %out, 0d7FF8000000000000;", 0),
        ("cvt.rni.f32.f32 %r1, 0f40200000; cvt.u64.u32 %out, %r1;", 2f32.to_bits().into()),
        ("cvt.rmi.f32.f32 %r1, 0fC0200000; cvt.u64.u32 %out, %r1;", (-3f32).to_bits().into()),
        ("cvt.rpi.f64.f64 %out, 0dC004000000000000;", (-2f64).to_bits()),
        ("cvt.rn.f16.f32 %h1, 0f3F801000; cvt.u64.u16 %out, %h1;", 0x3c00),
        ("cvt.rn.f16.f32 %h1, 0f3F801001; cvt.u64.u16 %out, %h1;", 0x3c01),
        ("cvt.rn.bf16.f32 %h1, 0f3F808000; cvt.u64.u16 %out, %h1;", 0x3f80),
        ("mov.b16 %h1, 0x3C00; cvt.f32.f16 %r1, %h1; cvt.u64.u32 %out, %r1;", 1f32.to_bits().into()),
        ("cvt.rn.bf16x2.f32 %r1, 0f3F800000, 0f40000000; cvt.u64.u32 %out, %r1;", 0x3f80_4000),
        ("cvt.rn.f32.f64 %r1, 0d3FF0000010000000; cvt.u64.u32 %out, %r1;", 1f32.to_bits().into()),
        ("cvt.f64.f32 %out, 0f3F800000;", 1f64.to_bits()),
        ("cvt.s32.s8 %r1, 0xff; cvt.u64.u32 %out, %r1;", 0xffff_ffff),
        // A register that is wider than the type of the result gets its sign.
        ("cvt.s8.s32 %h1, 0x1f7; cvt.s64.s16 %out, %h1;", -9i64 as u64),
        ("cvt.s8.s32 %r1, 0xf7; cvt.s64.s32 %out, %r1;", -9i64 as u64),
        ("cvt.s8.s32 %h1, 0xf7; mul.wide.s16 %r1, %h1, %h1; cvt.s64.s32 %out, %r1;", 81),
        ("cvt.u8.u32 %h1, 0x1f7; cvt.s64.s16 %out, %h1;", 0xf7),
        ("cvt.u32.u8 %r1, 0x1ff; cvt.u64.u32 %out, %r1;", 0xff),
        (
            "mov.b32 %r1, 0x80; st.global.b8 [%q], %r1; ld.global.s8 %r2, [%q]; cvt.s64.s32 %out, %r2;",
            -128i64 as u64,
        ),
        ("mov.b32 %r1, 0x80; st.global.b8 [%q], %r1; ld.global.u8 %r2, [%q]; cvt.s64.s32 %out, %r2;", 128),
        ("max.NaN.f16x2 %r1, 0x3C004000, 0x40003C00; cvt.u64.u32 %out, %r1;", 0x4000_4000),
        ("mov.b16 %h1, 0x4000; add.rn.f32.bf16 %r1, %h1, 0f3F800000; cvt.u64.u32 %out, %r1;", 0x4040_0000),
        ("mov.b16 %h1, 0x4000; sub.rn.f32.f16 %r1, %h1, 0f3F800000; cvt.u64.u32 %out, %r1;", 0x3f80_0000),
        (
            "mov.b16 %h1, 0x4000; fma.rn.f32.bf16 %r1, %h1, %h1, 0f3F800000; cvt.u64.u32 %out, %r1;",
            0x40a0_0000,
        ),
        ("mul.rn.f32x2 %out, 0x3F80000040000000, 0x4040000040400000;", 0x4040_0000_40c0_0000),
        ("add.rn.f32x2 %out, 0x3F80000040000000, 0x4040000040400000;", 0x4080_0000_40a0_0000),
        (
            "fma.rn.f32x2 %out, 0x3F80000040000000, 0x4040000040400000, 0x3F8000003F800000;",
            0x4080_0000_40e0_0000,
        ),
        ("fma.rn.bf16x2 %r1, 0x3F804000, 0x40003F80, 0x00003F80; cvt.u64.u32 %out, %r1;", 0x4000_4040),
        // 1.0078125² − 1 lies between two: to the even one.
        ("mov.b16 %h1, 0x3F81; fma.rn.bf16 %h2, %h1, %h1, 0xBF80; cvt.u64.u16 %out, %h2;", 0x3c80),
        ("cvt.sat.s8.s32 %r1, 300; cvt.u64.u32 %out, %r1;", 127),
    ];
    for (code, expected) in cases {
        assert_eq!(one(code), Ok(expected), "{code}");
    }
}

#[test]
fn comparisons_choose() {
    let cases: Vec<(&str, u64)> = vec![
        ("setp.lt.s32 %p1, -1, 1; selp.b64 %out, 5, 6, %p1;", 5),
        ("setp.lt.u32 %p1, -1, 1; selp.b64 %out, 5, 6, %p1;", 6),
        ("setp.eq.f32 %p1, 0f00000000, 0f80000000; selp.b64 %out, 5, 6, %p1;", 5),
        ("setp.neu.f32 %p1, 0f7FC00000, 0f7FC00000; selp.b64 %out, 5, 6, %p1;", 5),
        ("setp.ne.f32 %p1, 0f7FC00000, 0f7FC00000; selp.b64 %out, 5, 6, %p1;", 6),
        ("setp.nan.f64 %p1, 0d7FF8000000000000, 0d0000000000000000; selp.b64 %out, 5, 6, %p1;", 5),
        ("setp.lt.s32 %p1, 1, 2; setp.gt.and.s32 %p2, 1, 2, %p1; selp.b64 %out, 5, 6, %p2;", 6),
        ("setp.lt.s32 %p1|%p2, 1, 2; selp.b64 %out, 5, 6, %p2;", 6),
        (
            "setp.lt.s32 %p1, 1, 2; mov.u64 %out, 1; @!%p1 bra end; mov.u64 %out, 2; end: add.s64 %out, %out, 40;",
            42,
        ),
        (
            "setp.lt.s32 %p1, 1, 2; mov.u64 %out, 1; @%p1 bra end; mov.u64 %out, 2; end: add.s64 %out, %out, 40;",
            41,
        ),
        (
            "mov.b64 %d1, 0x1122334455667788; mov.b64 {%r1, %r2}, %d1; mov.b64 %out, {%r2, %r1};",
            0x5566_7788_1122_3344,
        ),
        ("mov.b32 %r1, 0x11223344; mov.b32 {_, %h2}, %r1; cvt.u64.u16 %out, %h2;", 0x1122),
    ];
    for (code, expected) in cases {
        assert_eq!(one(code), Ok(expected), "{code}");
    }
}

/// Runs code on the threads of a block; each has `%r1`, its number, and stores `%r2`.
fn block(threads: u32, declared: &str, code: &str) -> Result<Vec<u32>, PtxError> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{declared}\n.visible .entry k(.param .u64 p, .param .u64 x) {{\n\
         .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %d<9>; .reg .b64 %q, %x, %o;\n\
         ld.param.u64 %q, [p]; ld.param.u64 %x, [x]; mov.u32 %r1, %tid.x;\n{code}\n\
         mul.wide.u32 %o, %r1, 4; add.s64 %q, %q, %o; st.global.b32 [%q], %r2;\nret;\n}}\n"
    );
    let module = parse(&text)?;
    let bytes: Vec<u8> = (0..4 * threads).map(|i| (i / 4 * 3 + 1) as u8 * u8::from(i % 4 == 0)).collect();
    let mut buffers = vec![Buffer::unwritten(4 * threads as usize), Buffer::of(&bytes)];
    let grid = Grid { blocks: [1; 3], threads, shared: 0 };
    run(&module, "k", &grid, &[Arg::Buffer(0), Arg::Buffer(1)], &mut buffers)?;
    let words = buffers[0].bytes().chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap()));
    Ok(words.collect())
}

#[test]
fn threads_of_a_warp_exchange_values_and_votes() {
    let shuffle = |kind: &str, by: u32, clamp: u32| {
        block(32, "", &format!("shfl.sync.{kind}.b32 %r2|%p1, %r1, {by}, {clamp}, -1;")).unwrap()
    };
    assert!(shuffle("bfly", 5, 31).iter().enumerate().all(|(i, &v)| v == i as u32 ^ 5));
    assert!(
        shuffle("up", 3, 0)
            .iter()
            .enumerate()
            .all(|(i, &v)| v == if i < 3 { i as u32 } else { i as u32 - 3 })
    );
    assert!(
        shuffle("down", 3, 31)
            .iter()
            .enumerate()
            .all(|(i, &v)| v == if i > 28 { i as u32 } else { i as u32 + 3 })
    );
    assert!(shuffle("idx", 7, 31).iter().all(|&v| v == 7));
    // Segments of eight threads.
    assert!(shuffle("idx", 7, 0x181f).iter().enumerate().all(|(i, &v)| v == i as u32 / 8 * 8 + 7));
    let ballot = "and.b32 %r3, %r1, 1; setp.eq.s32 %p1, %r3, 0; vote.sync.ballot.b32 %r2, %p1, -1;";
    assert_eq!(block(32, "", ballot).unwrap(), [0x5555_5555; 32]);
    let any = "setp.eq.s32 %p1, %r1, 9; vote.sync.any.pred %p2, %p1, -1; selp.b32 %r2, 1, 0, %p2;";
    assert_eq!(block(32, "", any).unwrap(), [1; 32]);
    // One that does not take part, and one that has ended.
    let alone =
        "mov.b32 %r2, 0; setp.eq.s32 %p1, %r1, 9; @%p1 bra end; shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1; end:";
    let fault = block(32, "", alone).unwrap_err().to_string();
    assert!(fault.contains("has ended") || fault.contains("do not come"), "{fault}");
    let outside = "mov.b32 %r2, 0; setp.gt.s32 %p1, %r1, 7; @%p1 bra end; shfl.sync.bfly.b32 %r2, %r1, 8, 31, 0xff; end:";
    let fault = block(32, "", outside).unwrap_err().to_string();
    assert!(fault.contains("does not take part"), "{fault}");
}

const SHARED: &str = ".shared .align 16 .b8 tile[256];";

#[test]
fn barriers_order_what_threads_write_and_read() {
    let code = "shl.b32 %r3, %r1, 2; mov.u32 %r4, tile; add.s32 %r5, %r4, %r3; st.shared.b32 [%r5], %r1;\n\
                bar.sync 0; xor.b32 %r6, %r3, 252; add.s32 %r6, %r4, %r6; ld.shared.b32 %r2, [%r6];";
    let found = block(64, SHARED, code).unwrap();
    assert!(found.iter().enumerate().all(|(i, &v)| v == 63 - i as u32));
    let fault = block(64, SHARED, &code.replace("bar.sync 0; ", "")).unwrap_err().to_string();
    assert!(fault.contains("is read before anything is written"), "{fault}");
    let some = code.replace("bar.sync 0;", "setp.eq.s32 %p1, %r1, 5; @%p1 bra over; bar.sync 0; over:");
    let fault = block(64, SHARED, &some).unwrap_err().to_string();
    assert!(
        fault.contains("before anything is written") || fault.contains("come to this barrier"),
        "{fault}"
    );
    let more = code.replace("xor.b32 %r6, %r3, 252", "add.s32 %r6, %r3, 4");
    assert!(block(64, SHARED, &more).unwrap_err().to_string().contains("byte 256 of shared memory"));
    let odd = code.replace("[%r5]", "[%r5+2]");
    assert!(block(64, SHARED, &odd).unwrap_err().to_string().contains("not aligned"));
}

#[test]
fn copies_in_the_background_come_after_a_wait() {
    let code = "shl.b32 %r3, %r1, 2; mov.u32 %r4, tile; add.s32 %r5, %r4, %r3; cvt.u64.u32 %d1, %r3; add.s64 %d1, %x, %d1;\n\
                cp.async.ca.shared.global [%r5], [%d1], 4; cp.async.commit_group; cp.async.wait_group 0;\n\
                ld.shared.b32 %r2, [%r5];";
    let found = block(32, SHARED, code).unwrap();
    assert!(found.iter().enumerate().all(|(i, &v)| v == 3 * i as u32 + 1));
    let early = block(32, SHARED, &code.replace("wait_group 0", "wait_group 1")).unwrap_err().to_string();
    assert!(early.contains("is read before anything is written"), "{early}");
}

#[test]
fn atomic_operations_join() {
    let code = "atom.global.add.u32 %r3, [%x], 2; mov.b32 %r2, %r3;";
    let found = block(4, "", code).unwrap();
    assert_eq!(found, [1, 3, 5, 7]);
    let code = "red.global.max.s32 [%x], 9; ld.global.b32 %r2, [%x];";
    assert_eq!(block(2, "", code).unwrap(), [9, 9]);
}

#[test]
fn matrices_are_multiplied_as_the_manual_lays_them_out() {
    // a[i][k] = i, b[k][j] = 1 where k = j: the sum is a[i][j] for the first eight columns.
    let code = "shr.u32 %r3, %r1, 2; and.b32 %r4, %r1, 3; shl.b32 %r5, %r4, 1;\n\
        cvt.rn.f32.u32 %r6, %r3; cvt.rn.f16.f32 %h1, %r6; mov.b32 %r10, {%h1, %h1};\n\
        add.s32 %r7, %r3, 8; cvt.rn.f32.u32 %r6, %r7; cvt.rn.f16.f32 %h1, %r6; mov.b32 %r11, {%h1, %h1};\n\
        setp.eq.s32 %p1, %r5, %r3; selp.b16 %h2, 0x3C00, 0, %p1;\n\
        add.s32 %r8, %r5, 1; setp.eq.s32 %p2, %r8, %r3; selp.b16 %h3, 0x3C00, 0, %p2; mov.b32 %r12, {%h2, %h3};\n\
        mov.b32 %r13, 0; mov.b32 %r14, 0;\n\
        mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r20, %r21, %r22, %r23}, {%r10, %r11, %r10, %r11},\n\
        {%r12, %r13}, {%r14, %r14, %r14, %r14};\n\
        add.rn.f32 %r24, %r21, %r23; cvt.rzi.s32.f32 %r2, %r24;";
    let found = block(32, "", code).unwrap();
    // Rows g and g + 8.
    assert!(found.iter().enumerate().all(|(i, &v)| v == 2 * (i as u32 / 4) + 8), "{found:?}");
    let load = "shl.b32 %r3, %r1, 2; mov.u32 %r4, tile; add.s32 %r5, %r4, %r3; st.shared.b32 [%r5], %r1; bar.sync 0;\n\
        and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4; add.s32 %r6, %r4, %r6;\n\
        ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r6];";
    assert!(block(32, SHARED, load).unwrap().iter().enumerate().all(|(i, &v)| v == i as u32));
}

/// Of an element of tf32, matrix units ignore the 13 last bits.
#[test]
fn factors_of_tf32_are_cut_off() {
    // a is 1 + 2^-10 + 2^-11, which would be rounded up, and b is 2: sums of eight products.
    let code = "mov.b32 %r3, 0x3F803000; mov.b32 %r4, 0x40001FFF; mov.b32 %r5, 0;\n\
        mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r6, %r7, %r8, %r9}, {%r3, %r3, %r3, %r3},\n\
        {%r4, %r4}, {%r5, %r5, %r5, %r5}; mov.b32 %r2, %r6;";
    let found = block(32, "", code).unwrap();
    let sum = 16.0 * (1.0f32 + 1.0 / 1024.0);
    assert!(found.iter().all(|&bits| bits == sum.to_bits()), "{found:x?}");
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    assert!(
        one("add.s32 %r1, %r2, 1; mov.u64 %out, 0;").unwrap_err().to_string().contains("%r2 is read before")
    );
    assert!(one("st.global.b64 [%q+8], %q;").unwrap_err().to_string().contains("byte 8 of tensor 0"));
    assert!(one("ld.global.b64 %out, [%q];").unwrap_err().to_string().contains("before anything is written"));
    assert!(one("ld.global.b64 %out, [%q+16];").unwrap_err().to_string().contains("byte 16 of tensor 0"));
    assert!(one("mov.u64 %out, 0; bar.sync 1;").unwrap_err().to_string().contains("only the barrier 0"));
    for (code, message) in [
        ("frobnicate.s32 %r1;", "`frobnicate.s32` is not known"),
        ("add.ftz.f32 %r1, %r2, %r3;", "`.ftz` of `add.ftz.f32` is not known"),
        ("ex2.approx.f32 %r1, %r2;", "is not known"),
        ("bra nowhere;", "no label `nowhere`"),
        ("add.s32 %r1, %z, 1;", "no register"),
    ] {
        let error = one(code).unwrap_err();
        assert!(matches!(error, PtxError::Text { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
}
