//! What the strategies of a CPU choose, and that it gives what the reference does.

use surject_codegen::kernels::machine::{Machine, choose};
use surject_codegen::kernels::run::{expressions, run};
use surject_cpu::Cpu;
use surject_ir::{Program, parse};

/// A program whose assignment a CPU makes with these directives among others.
fn chosen(text: &str, machine: &str, directives: &[&str]) -> (Program, Cpu) {
    let program = parse(&format!("program p\n\n{text}")).unwrap_or_else(|error| panic!("{error}"));
    let cpu = Cpu::named(machine).unwrap();
    let found = expressions(program.function("main").unwrap()).unwrap();
    let chosen = choose(&cpu, &found[0].1).unwrap().proposal.schedule.to_string();
    for directive in directives {
        assert!(chosen.contains(directive), "{machine}: no `{directive}` in\n{chosen}");
    }
    (program, cpu)
}

/// The same, and its results are those of the reference.
fn check(text: &str, machine: &str, directives: &[&str]) {
    let (program, cpu) = chosen(text, machine, directives);
    let function = program.function("main").unwrap();
    let args = surject_ir::testing::random_args(function, 5);
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    let found = run(&program, "main", &args, &cpu, &Default::default(), &Default::default()).unwrap();
    let report = surject_runtime::compare::compare(&found.0[0], &expected[0], 1e-4, 1e-4);
    assert!(report.passed(), "{}: {report}", cpu.name());
}

#[test]
fn windows_of_a_channel_run_in_step() {
    let program = "func main(x: f32[5,21,24], z: f32[3,3,24]) -> (y) {
  y : f32[5,21,24] =:+ over j<5, i<21, c<24, m<3, n<3 at [j,i,c]: (x[j + m - 1,i + n - 1,c] where 0 <= i + n - 1 < 21 and 0 <= j + m - 1 < 5 else 0.0f32) * z[m,n,c]
}
";
    for machine in ["avx2", "avx512"] {
        check(program, machine, &["jam i1.i", "unroll k1", "peel i0\n", "peel i1.o"]);
    }
    // Narrow registers hold channels by twos.
    let program = program.replace("24", "32");
    check(&program, "avx2", &["split i2 by 16", "split i1 by 4", "peel i0\n"]);
    check(&program, "avx512", &["split i2 by 16", "split i1 by 7", "peel i0\n"]);
}

#[test]
fn small_windows_are_written_out() {
    let program = "func main(x: f32[9,11,37]) -> (y) {
  y : f32[4,5,37] =:max over j<4, i<5, c<37, m<2, n<2 at [j,i,c]: x[2*j + m,2*i + n,c]
}
";
    for machine in ["avx2", "avx512"] {
        check(program, machine, &["unroll k0", "unroll k1"]);
    }
}

#[test]
fn long_sums_take_their_terms_in_blocks() {
    let program = "func main(x: f32[16400,130], z: f32[16400,16]) -> (y) {
  y : f32[130,16] =:+ over i<130, j<16, k<16400 at [i,j]: x[k,i] * z[k,j]
}
";
    chosen(program, "avx512", &["accumulate k0.o at i0.o", "jam i0.i", "partial k0.o by 32"]);
}

/// Several rows times a large matrix, of which wide vectors prefetch the terms that come next.
#[test]
fn few_rows_stream_a_large_matrix() {
    let program = "func main(x: f32[7,1100], z: f32[1100,1010]) -> (y) {
  y : f32[7,1010] =:+ over i<7, j<1010, k<1100 at [i,j]: x[i,k] * z[k,j]
}
";
    check(program, "avx512", &["split k0 by 16", "accumulate k0.o at i1", "prefetch v1 by 16160 in k0\n"]);
    check(program, "avx2", &["split k0 by 8", "accumulate k0.o at i1"]);
}

/// Long rows are prefetched, unless the processor does it better by itself.
#[test]
fn terms_are_prefetched_where_it_pays() {
    let program = parse(
        "program p\n\nfunc main(x: f32[600,1024]) -> (y) {\n  y : f32[600] =:+ over i<600, k<1024 at [i]: x[i,k]\n}\n",
    );
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let found = expressions(program.function("main").unwrap()).unwrap();
    for prefetches_terms in [true, false] {
        let cpu = Cpu { prefetches_terms, ..Cpu::named("avx512").unwrap() };
        let schedule = choose(&cpu, &found[0].1).unwrap().proposal.schedule.to_string();
        assert_eq!(schedule.contains("prefetch v0 by 2048 in k0"), prefetches_terms, "{schedule}");
    }
}

/// Results that no cache near by has, of sums of few terms, are stored row by row.
#[test]
fn results_of_few_terms_are_stored_row_by_row() {
    let program = "func main(x: f32[2,783], z: f32[2,509], w: f32[783,509]) -> (y) {
  let s : f32[783,509] =:+ over i<783, j<509, k<2 at [i,j]: x[k,i] * (z[k,j] * 0.5f32)
  y : f32[783,509] =: over i<783, j<509: w[i,j] - s[i,j]
}
";
    check(program, "avx512", &["order i0.o i0.i i1.o i1.i"]);
}

/// Where vectors are half a line, columns have panels of a block of terms; so have rows whose terms lie far apart, and
/// what is computed of columns.
#[test]
fn factors_have_panels_of_a_block_of_terms() {
    let program = "func main(x: f32[600,290], z: f32[600,45]) -> (y) {
  y : f32[290,45] =:+ over i<290, j<45, k<600 at [i,j]: x[k,i] * (z[k,j] * 0.5 f32)
}
";
    check(program, "avx2", &["pack left at k0.o", "pack right at i1.o", "accumulate k0.o at i0.o"]);
    let program = "func main(x: f32[700,600], z: f32[600,500]) -> (y) {
  y : f32[700,500] =:+ over i<700, j<500, k<600 at [i,j]: x[i,k] * z[k,j]
}
";
    chosen(program, "avx2", &["split k0 by 200", "pack v1 at k0.o", "accumulate k0.o at i1.o"]);
    // Neighbours of columns lie apart: squares are transposed.
    let program = program.replace("z: f32[600,500]", "z: f32[500,600]").replace("z[k,j]", "z[j,k]");
    chosen(&program, "avx2", &["split k0 by 200", "pack v1 at k0.o"]);
}

/// A formula is not written for every row of a tile.
#[test]
fn results_with_formulas_are_computed_in_a_loop() {
    let program = "func main(x: f32[61,70], z: f32[70,53], b: f32[53]) -> (y) {
  let s : f32[61,53] =:+ over i<61, j<53, k<70 at [i,j]: x[i,k] * z[k,j]
  y : f32[61,53] =: over i<61, j<53: tanh(s[i,j] + b[j])
}
";
    for machine in ["avx2", "avx512"] {
        check(program, machine, &["jam i0.i", "epilogue serial"]);
    }
}

#[test]
fn columns_that_nearly_fill_a_vector_are_tiles() {
    let program = "func main(x: f32[3,20,15], z: f32[3,15,15]) -> (y) {
  y : f32[18,15] =:+ over i<18, j<15, m<3, k<15 at [i,j]: x[m,i,k] * z[m,k,j]
}
";
    check(program, "avx512", &["jam i0.i", "vectorise i1.i"]);
}

/// Lines in lanes and lines that are neighbours in lanes, forwards and backwards, with vectors that are not whole.
#[test]
fn lines_are_scanned_in_lanes() {
    let sum = "func main(x: f32[5,1100]) -> (y) {
  y : f32[5,1100] =:+ over i<5, j<1100, k<1100 at [i,j]: (x[i,j + k - 1099] where 0 <= j + k - 1099 < 1100 else -0.0f32)
}
";
    check(sum, "avx512", &["scan i1 lanes 16 lines 5 block 32\n"]);
    check(sum, "avx2", &["scan i1 lanes 8 lines 5 block 32\n"]);
    check(sum, "generic", &["scan i1 lanes 1 lines 5 block 33\n"]);
    let largest = "func main(x: f32[70,43]) -> (y) {
  y : f32[70,43] =:max over i<70, j<43, k<70 at [i,j]: (x[i + k,j] where 0 <= i + k < 70 else -inf_f32)
}
";
    check(largest, "avx512", &["scan i0 across i1 lanes 32 lines 2 keys\n"]);
    check(largest, "generic", &["scan i0 lanes 1 lines 43 keys\n"]);
}

/// Tasks have as many lines, but for the last one.
#[test]
fn tasks_share_lines_that_they_do_not_divide() {
    let program = "func main(x: i32[1021,1019]) -> (y) {
  y : i32[1021,1019] =:+ over i<1021, j<1019, k<1019 at [i,j]: (x[i,j + k] where 0 <= j + k < 1019 else 0i32)
}
";
    chosen(program, "avx512", &["scan i1 lanes 16 lines 16\n"]);
}

/// Images that are mirrored, with holes around them, and channels that are put together: pixels are the lanes.
#[test]
fn short_rows_lie_in_lanes() {
    let programs = [
        "func main(x: f32[3,37,3]) -> (y) {\n  y : f32[3,37,3] =: over b<3, i<37, c<3: x[b,-i + 36,c]\n}\n",
        "func main(x: u8[3,70,3]) -> (y) {\n  y : u8[3,76,3] =: over b<3, i<76, c<3: (x[b,i - 3,c] where 0 <= i - 3 < 70 else 0u8)\n}\n",
        "func main(x: f32[150,2], z: f32[150]) -> (y) {\n  y : f32[150,2] =: over i<150, c<2: \
         (x[i,0] where 0 <= c < 1 else 0.0f32) * z[i] + (x[i,1] where 0 <= c - 1 < 1 else 0.0f32)\n}\n",
        "func main(x: u8[90,3], w: f32[3]) -> (y) {\n  y : f32[90,3] =: over i<90, c<3: f32(x[i,c]) / 255.0f32 - w[c]\n}\n",
    ];
    for program in programs {
        for machine in ["avx2", "avx512"] {
            let (_, cpu) = chosen(program, machine, &["jam i"]);
            assert!(cpu.vector_bytes > 0);
            check(program, machine, &[]);
        }
    }
}

/// Sums of short rows, and windows along them: a row is a lane, terms are written out, and nothing is read outside of a row.
#[test]
fn sums_of_short_rows_lie_in_lanes() {
    let programs = [
        "func main(x: f32[300,11]) -> (y) {\n  y : f32[300] =:max over i<300, j<11 at [i]: x[i,j]\n}\n",
        "func main(x: f64[300,3]) -> (y) {\n  y : f64[300] =:+ over i<300, j<3 at [i]: x[i,j]\n}\n",
        "func main(x: f32[2000,8]) -> (y) {\n  y : f32[2000] =:+ over i<2000, j<8 at [i]: \
         x[i,j] * (x[i,j - 1] where 0 <= j - 1 < 7 else 1.0f32)\n}\n",
        "func main(x: f32[301,5]) -> (y) {\n  y : f32[301,5] =:+ over i<301, j<5, k<3 at [i,j]: \
         (x[i,j + k - 1] where 0 <= j + k - 1 < 5 else -0.0f32)\n}\n",
    ];
    for program in programs {
        for machine in ["avx2", "avx512"] {
            check(program, machine, &["unroll k0", "vectorise i0.i"]);
        }
    }
}

/// Results that the last cache does not hold go past it, in whole lines.
#[test]
fn large_results_go_past_the_caches() {
    let program = |rows: usize, columns: usize| {
        format!(
            "func main(x: f32[{rows},{columns}], z: f32[{columns}]) -> (y) {{\n  y : f32[{rows},{columns}] =: over i<{rows}, j<{columns}: x[i,j] + z[j]\n}}\n"
        )
    };
    let schedule = |text: &str| {
        let program = parse(&format!("program p\n\n{text}")).unwrap();
        let found = expressions(program.function("main").unwrap()).unwrap();
        choose(&Cpu::named("avx512").unwrap(), &found[0].1).unwrap().proposal.schedule.to_string()
    };
    assert!(schedule(&program(4096, 4096)).contains("nontemporal"));
    // They fit, or rows begin inside of lines.
    assert!(!schedule(&program(512, 512)).contains("nontemporal"));
    assert!(!schedule(&program(4096, 4099)).contains("nontemporal"));
}

/// Three outer iterations leave one of two threads without work: the next loop is shared.
#[test]
fn tasks_share_the_loop_that_all_threads_get_some_of() {
    let text = "func main(x: f32[3,64,1000]) -> (y) {\n  y : f32[3,64,1000] =: over b<3, i<64, j<1000: exp(x[b,i,-j + 999])\n}\n";
    let program = parse(&format!("program p\n\n{text}")).unwrap();
    let found = expressions(program.function("main").unwrap()).unwrap();
    let cpu = Cpu { threads: 2, ..Cpu::named("avx512").unwrap() };
    let schedule = choose(&cpu, &found[0].1).unwrap().proposal.schedule.to_string();
    assert!(!schedule.contains("parallel i0 task"), "{schedule}");
    assert!(schedule.contains("task"), "{schedule}");
}
