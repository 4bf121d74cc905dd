//! Loops in parts: guards that always hold, terms that do not exist, and panels whose last part is short.

use crate::schedules::Whole;
use surject_codegen::kernels::run::{assignments, kernels, run};
use surject_codegen::kernels::schedule::Schedules;
use surject_ir::parse;

/// The kernel of the only assignment by a schedule, which gives what the reference does.
pub fn checked(program: &str, schedule: &str) -> String {
    let program = parse(&format!("program p\n\n{program}")).unwrap_or_else(|error| panic!("{error}"));
    let function = program.function("main").unwrap();
    let schedule: Schedules = format!("kernel y_0\n{schedule}").parse().unwrap();
    let args = surject_ir::testing::random_args(function, 7);
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    let found = run(&program, "main", &args, &Whole, &Default::default(), &schedule).unwrap();
    assert_eq!(found.0, expected);
    let field = assignments(function)[0].1;
    let made = kernels(function, field, &Whole, "y", &schedule).unwrap();
    made.kernels[0].launch.kernel.to_string()
}

/// Does a schedule fit the only assignment? The error says why not.
pub fn fits(program: &str, schedule: &str) -> Result<(), String> {
    let program = parse(&format!("program p\n\n{program}")).unwrap_or_else(|error| panic!("{error}"));
    let function = program.function("main").unwrap();
    let field = assignments(function)[0].1;
    let made = kernels(function, field, &Whole, "y", &schedule.parse().unwrap());
    made.map(drop).map_err(|error| error.to_string())
}

/// Both parts of a loop that a split cuts run over blocks: no term behind the last one is joined.
#[test]
fn blocks_have_no_terms_that_do_not_exist() {
    let program = "func main(x: u8[3,5]) -> (y) {\n  y : u8[3] =:min over i<3, k<5 at [i]: x[i,k]\n}\n";
    let kernel = checked(program, "split k0 by 8\norder k0.i k0.o\naccumulate k0.o at i0");
    assert!(kernel.contains("holds"), "{kernel}");
}

/// The last block of terms is an iteration like the others, with a bound of its own: a kernel has one copy of its tiles. Panels whose
/// vectors lie along the terms are filled by statements of their own there.
#[test]
fn the_last_block_of_terms_has_a_bound_of_its_own() {
    let program = "func main(x: i32[12,19], z: i32[19,16]) -> (y) {
  y : i32[12,16] =:+ over i<12, j<16, k<19 at [i,j]: x[i,k] * z[k,j]
}
";
    let tiles = "split k0 by 8\norder k0.o k0.i\nsplit i0 by 4\nsplit i1 by 8\norder i1.o i0.o i0.i i1.i\njam i0.i\n\
                 vectorise i1.i\naccumulate k0.o at i1.o\n";
    let sums = |kernel: &str| kernel.matches("mul ").count() + kernel.matches("fma ").count();
    let right = checked(program, &format!("{tiles}pack right at k0.o"));
    assert!(right.contains("= min ") && sums(&right) == 4 && !right.contains("else {"), "{right}");
    let left = checked(program, &format!("{tiles}pack left at k0.o"));
    assert!(left.contains("= min ") && sums(&left) == 4 && left.contains("else {"), "{left}");
}

/// Where every task has one block, whole blocks have no guards: the loop over a task's only block is not the one inside of it.
#[test]
fn blocks_that_are_tasks_are_whole_but_the_last() {
    let program = "func main(x: i32[5,13]) -> (y) {\n  y : i32[13] =:+ over i<13, k<5 at [i]: x[k,i]\n}\n";
    let split = "split i0 by 8\nsplit i0.o by 1\norder i0.o.o i0.o.i i0.i\n";
    let kernel = checked(program, &format!("{split}parallel i0.o.o task\nvectorise i0.i"));
    let loads: Vec<&str> = kernel.lines().filter(|line| line.contains("load v0")).collect();
    assert!(loads.len() == 2 && loads.iter().filter(|line| line.contains("where")).count() == 1, "{kernel}");
}

/// Blocks of rows and columns, of which the last ones are not whole, run the same statements. Inside of a block that may be the last
/// one, rows in step are there once where panels have all that they read and the last ones are few, else twice; results are stored by
/// whole vectors and by the last one.
#[test]
fn blocks_that_may_be_the_last_one_are_there_once() {
    let program = |rows: usize, columns: usize| {
        format!(
            "func main(x: i32[{rows},7], z: i32[7,{columns}]) -> (y) {{
  y : i32[{rows},{columns}] =:+ over i<{rows}, j<{columns}, k<7 at [i,j]: x[i,k] * z[k,j]
}}
"
        )
    };
    let tiles = "split k0 by 4\norder k0.o k0.i\nsplit i0 by 3\nsplit i1 by 8\nsplit i0.o by 3\nsplit i1.o by 2\nsplit i1.o.o by 2\n\
                 order i0.o.o i1.o.o.o i1.o.o.i i0.o.i i1.o.i i0.i i1.i\njam i0.i\nvectorise i1.i\n\
                 accumulate k0.o at i0.o.o\n";
    let sums = |kernel: &str| kernel.matches("mul ").count() + kernel.matches("fma ").count();
    let panels =
        |names: &[&str]| -> String { names.iter().map(|name| format!("pack {name} at k0.o\n")).collect() };
    let (both, right) = (panels(&["left", "right"]), panels(&["right"]));
    // One row and one column of the last blocks are missing of 98 and of 103.
    let few = program(98, 103);
    assert_eq!(sums(&checked(&few, &format!("{tiles}{both}"))), 3);
    // Rows are read in place: three in step, and two of the last block.
    assert_eq!(sums(&checked(&few, &format!("{tiles}{right}"))), 3 + 2);
    // Two of three rows and seven of eight columns of the last blocks are missing.
    assert_eq!(sums(&checked(&program(13, 17), &format!("{tiles}{both}"))), 2 * (3 + 1));
    for (rows, columns) in
        [(2, 3), (3, 8), (9, 16), (10, 17), (18, 32), (19, 47), (31, 33), (36, 64), (37, 65)]
    {
        for packed in [&both, &right, &String::new()] {
            checked(&program(rows, columns), &format!("{tiles}{packed}"));
        }
    }
}

/// Windows of a channel: of the blocks between the first one and the last one no load has a guard for its columns.
#[test]
fn iterations_in_which_guards_hold_are_a_loop_by_themselves() {
    let program = "func main(x: f32[21,8], z: f32[3,8]) -> (y) {
  y : f32[21,8] =:+ over i<21, c<8, m<3 at [i,c]: (x[i + m - 1,c] where 0 <= i + m - 1 < 21 else 0.0f32) * z[m,c]
}
";
    let plain = "split i0 by 4\norder i0.o i0.i i1\njam i0.i\nvectorise i1\nunroll k0\n";
    let [plain, peeled] = [plain.to_string(), format!("{plain}peel i0.o")].map(|s| checked(program, &s));
    let guarded = |kernel: &str| kernel.lines().filter(|line| line.contains("where")).count();
    assert!(plain.contains("= 0 to 5 {") && guarded(&plain) > 0, "{plain}");
    let middle = peeled.split_once("= 1 to 5 {").expect("a loop between the ends").1;
    let middle = middle.split_once("\n  }").unwrap().0;
    assert_eq!(guarded(middle), 0, "{peeled}");
}

/// The columns of a panel lie apart in the tensor: squares of eight are transposed. Of the last block five columns exist.
#[test]
fn panels_are_transposed_in_registers() {
    let program = "func main(x: i32[10,19], z: i32[21,19]) -> (y) {
  y : i32[10,21] =:+ over i<10, j<21, k<19 at [i,j]: x[i,k] * z[j,k]
}
";
    let schedule =
        "split i0 by 3\nsplit i1 by 16\norder i1.o i0.o i0.i i1.i\njam i0.i\nvectorise i1.i\npack v1 at i1.o";
    let kernel = checked(program, schedule);
    assert!(kernel.contains("shuffle"), "{kernel}");
    // No panel is filled by element, nor looks at whether a column exists.
    let filled = kernel.lines().filter(|line| line.contains("load v1"));
    assert!(filled.clone().count() > 0);
    assert!(filled.clone().all(|line| line.ends_with("i32x8") && !line.contains("< 21")), "{kernel}");
}

/// A loop in step outside of one whose last part is cut runs once there, too.
#[test]
fn loops_outside_of_a_last_part_run_as_ever() {
    let program = "func main(x: i32[4,2]) -> (y) {\n  y : i32[4,2] =: over i<4, j<2: x[i,j] + x[i,j]\n}\n";
    let schedule = "split i0 by 3\nsplit i0.o by 3\norder i0.o.i i0.i i0.o.o\njam i0.i\njam i0.o.o\n";
    let kernel = checked(program, schedule);
    assert!(kernel.contains("load v0[7]") && !kernel.contains("load v0[8]"), "{kernel}");
}

/// Every second term of a sum that is written out is summed apart. The sums are exact.
#[test]
fn terms_that_are_written_out_are_summed_in_two_parts() {
    let program = "func main(x: i8[3,16]) -> (y) {\n  y : f64[3] =:+ over i<3, k<16 at [i]: f64(x[i,k])\n}\n";
    for schedule in ["unroll k0\n", "split k0 by 8\nunroll k0.i\n", "jam i0\nunroll k0\n"] {
        let kernel = checked(program, schedule);
        let sums: Vec<&str> = kernel.lines().filter(|line| line.contains(" add ")).collect();
        let last = sums.last().and_then(|line| line.split_once(" add ")).expect("a sum").1;
        let terms = last.split([',', ':']).map(str::trim).take(2);
        // Both operands are sums.
        let is_sum = |value: &str| sums.iter().any(|line| line.trim().starts_with(&format!("{value} =")));
        assert!(terms.into_iter().all(is_sum), "{schedule}{kernel}");
    }
}

/// A sum over what a window meets loads nothing where that lies outside of the tensor. (The interpreter finds loads that do.)
#[test]
fn windows_that_meet_one_element_load_no_other() {
    let diagonal = "func main(x: u32[3]) -> (y) {
  let t : u32[3,5] =:max over i<3 at [i,i + 1]: x[i]
  y : u32[5] =:xor over i<3, j<5 at [j]: t[i,j]
}
";
    let kernel = checked(diagonal, "order i0");
    assert!(
        kernel.lines().filter(|line| line.contains("load")).all(|line| line.contains("where")),
        "{kernel}"
    );
    let places = "func main(x: i32[9,2]) -> (y) {
  y : i32[10] =:max over i<10, j<9 at [i]: (+ over i<9, j<2 at [i + j,i]: x[i,j])
}
";
    checked(places, "order i0\nparallel i0 task");
}

/// One element of a panel that has vectors is read wherever it lies.
#[test]
fn elements_of_panels_in_vectors_are_read_one_by_one() {
    let program = "func main(x: i32[5,4]) -> (y) {
  y : i32[5,4] =: over i<5, k<4: (x[i - 2*k + 1,k] where 0 <= i - 2*k + 1 < 5 else 3i32)
}
";
    let schedule = "split i0 by 4\nsplit i1 by 8\norder i1.o i1.i i0.o i0.i\nvectorise i0.i\npack v0 at i1.i\ntriangular i0.o";
    checked(program, schedule);
}

/// A panel for a block of terms has those of one reduction: another one over the same loop reads more.
#[test]
fn a_panel_of_a_block_is_read_by_reductions_in_blocks() {
    let program = "func main(x: i64[3], z: i64[4]) -> (y) {
  let p : i64[3,4] =: over i<3, j<4: x[i] * z[j]
  y : i64[] =: (+ over i<3, j<4 at []: p[i,j]) * (max over i<3 at []: x[i])
}
";
    let schedule = "kernel y_0\norder i0\naccumulate k1 at i0\npack v0 at k1";
    let refused = fits(program, schedule).unwrap_err();
    assert!(refused.contains("take blocks"), "{refused}");
}
