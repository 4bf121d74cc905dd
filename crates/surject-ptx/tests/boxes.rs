//! Boxes of tensors and barriers with phases: what they give, and what is found to be wrong.

use surject_ptx::{Arg, Buffer, Grid, PtxError, TensorMap, parse, run};

/// Bytes of a line, and lines of a tensor: 40 elements of 16 bits in lines of 48.
const PITCH: usize = 96;
const LINES: usize = 6;
const ELEMENTS: usize = 40;

fn map(sizes: [u32; 2], swizzled: bool) -> TensorMap {
    TensorMap {
        buffer: 0,
        extents: vec![ELEMENTS as u64, LINES as u64],
        strides: vec![2, PITCH as u64],
        sizes: sizes.to_vec(),
        swizzled,
    }
}

/// One thread asks for a box; all copy it to the result as it lies in shared memory. `wait` and `expect` are what stands in
/// the place of the wait for it, and of the bytes that are expected; the box goes to `to`.
struct Case<'a> {
    map: TensorMap,
    place: [i32; 2],
    to: usize,
    expect: &'a str,
    wait: &'a str,
}

const WAIT: &str = "{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared.b64 P1, [%r9], 0, 1000; @P1 bra.uni DONE; \
                    bra.uni LAB_WAIT; DONE: }";

fn copied(case: &Case<'_>) -> Result<Vec<u8>, PtxError> {
    let Case { map, place: [x, y], to, expect, wait } = case;
    let bytes = 2 * map.sizes.iter().product::<u32>() as usize;
    let expect = expect.replace("BYTES", &bytes.to_string());
    let mut code = String::new();
    for at in (0..bytes).step_by(32 * 4) {
        code += &format!("ld.shared.b32 %r3, [%r2+{}]; st.global.b32 [%q+{at}], %r3;\n", to + at);
    }
    let text = format!(
        ".version 8.0\n.target sm_90a\n.address_size 64\n\
         .visible .entry k(.param .u64 x, .param .u64 p, .param .align 64 .b8 m[128]) {{\n\
         .shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b8 full[8];\n\
         .reg .pred %p<3>; .reg .b32 %r<20>; .reg .b64 %rd<9>; .reg .b64 %q, %o;\n\
         ld.param.u64 %q, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %o, %r1, 4; add.s64 %q, %q, %o;\n\
         shl.b32 %r2, %r1, 2; mov.u32 %r4, tile; add.s32 %r2, %r2, %r4;\n\
         mov.b32 %r9, full; mov.b64 %rd1, m; cvta.param.u64 %rd2, %rd1;\n\
         setp.ne.u32 %p1, %r1, 0;\n@%p1 bra AFTER;\n\
         mov.b32 %r5, 1; mbarrier.init.shared.b64 [full], %r5; fence.mbarrier_init.release.cluster;\n\
         {expect}\n\
         mov.b32 %r6, {x}; mov.b32 %r7, {y}; mov.b64 %rd3, tile; add.s64 %rd3, %rd3, {to};\n\
         cvta.shared.u64 %rd4, %rd3; cvta.to.shared::cluster.u64 %rd5, %rd4;\n\
         cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%rd5], [%rd2, {{%r6, %r7}}], [full];\n\
         AFTER:\nbar.sync 0;\n{wait}\n{code}ret;\n}}\n"
    );
    let module = parse(&text)?;
    let tensor: Vec<u8> = (0..LINES * PITCH).map(|i| (i % 251) as u8).collect();
    let mut buffers = vec![Buffer::of(&tensor), Buffer::unwritten(bytes)];
    let grid = Grid { blocks: [1; 3], threads: 32, shared: 0 };
    run(&module, "k", &grid, &[Arg::Buffer(0), Arg::Buffer(1), Arg::Map(map.clone())], &mut buffers)?;
    Ok(buffers[1].bytes().to_vec())
}

/// A box by its definition: zero outside of the tensor, and parts of 16 bytes exchanged in lines of 128.
fn expected(map: &TensorMap, place: [i32; 2]) -> Vec<u8> {
    let line = 2 * map.sizes[0] as usize;
    let mut bytes = vec![0; line * map.sizes[1] as usize];
    for j in 0..map.sizes[1] as usize {
        for i in 0..map.sizes[0] as usize {
            let (x, y) = (place[0] + i as i32, place[1] + j as i32);
            let inside = (0..ELEMENTS as i32).contains(&x) && (0..LINES as i32).contains(&y);
            let at = line * j + 2 * i;
            let at = if map.swizzled { at ^ (at / 128 % 8) << 4 } else { at };
            for byte in 0..2 {
                let from = PITCH as i32 * y + 2 * x + byte as i32;
                bytes[at + byte] = if inside { (from % 251) as u8 } else { 0 };
            }
        }
    }
    bytes
}

const EXPECT: &str = "mov.b32 %r8, BYTES; mbarrier.arrive.expect_tx.shared.b64 %rd6, [full], %r8;";

#[test]
fn boxes_are_what_their_maps_say() {
    for (sizes, swizzled) in
        [([64, 8], true), ([64, 16], true), ([16, 4], false), ([64, 8], false), ([8, 16], false)]
    {
        for place in [[0, 0], [8, 2], [-3, 1], [30, 4], [0, -2], [100, 0]] {
            let map = map(sizes, swizzled);
            let case = Case { map: map.clone(), place, to: 1024, expect: EXPECT, wait: WAIT };
            let found = copied(&case).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(found, expected(&map, place), "{sizes:?} {swizzled} {place:?}");
        }
    }
}

#[test]
fn what_is_wrong_with_boxes_is_found() {
    let good = || Case { map: map([64, 8], true), place: [0, 0], to: 0, expect: EXPECT, wait: WAIT };
    let fails = |case: &Case<'_>, what: &str| {
        let found = copied(case).expect_err(what).to_string();
        assert!(found.contains(what), "{found}");
    };
    fails(&Case { wait: "", ..good() }, "is read before anything is written there");
    fails(&Case { to: 128, ..good() }, "which is not aligned");
    fails(&Case { to: 7680, ..good() }, "which is not aligned");
    fails(&Case { to: 7680, map: map([64, 8], false), ..good() }, "of shared memory, which has");
    fails(&Case { map: map([128, 8], true), ..good() }, "that no machine copies");
    fails(&Case { map: map([4, 8], false), ..good() }, "that no machine copies");
    let more = EXPECT.replace("BYTES", "1040");
    fails(&Case { expect: &more, ..good() }, "16 bytes are missing");
    let fewer = EXPECT.replace("BYTES", "1008");
    fails(&Case { expect: &fewer, ..good() }, "more than it waits for");
    let without = "mbarrier.arrive.shared.b64 %rd6, [full];";
    fails(&Case { expect: without, ..good() }, "is read before anything is written there");
    let twice = format!("{EXPECT}\nmbarrier.arrive.shared.b64 %rd6, [full];");
    fails(&Case { expect: &twice, ..good() }, "more arrivals than it waits for");
    fails(&Case { expect: "", ..good() }, "gets 1024 bytes");
}
