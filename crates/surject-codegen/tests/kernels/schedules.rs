//! Schedules as text: what they mean, and what is said of those that do not fit.

use crate::toy::Toy;
use surject_codegen::kernels::ability::Ability;
use surject_codegen::kernels::expression::Expression;
use surject_codegen::kernels::machine::{Machine, Proposal, Strategy, choose};
use surject_codegen::kernels::run::{assignments, expressions, kernel_by, kernels};
use surject_codegen::kernels::schedule::{Directive, Schedule, ScheduleError, Schedules, Span};
use surject_ir::{Buffer, DType, Program, Scalar, parse};
use surject_kernel::Level;

/// A machine that has everything.
pub struct Whole;

impl Machine for Whole {
    fn name(&self) -> &str {
        "whole"
    }

    fn strategies(&self) -> Vec<Box<dyn Strategy>> {
        Toy.strategies()
    }
}

/// The sums of the rows of a matrix, and a scatter that is no function of its target.
const PROGRAM: &str = "program p

func main(x: f32[16,20]) -> (y, z) {
  y : f32[16] =:+ over i<16, k<20 at [i]: x[i,k]
  z : f32[31] =:+ over i<16, j<16 at [i+j]: x[i,j]
}
";

fn program() -> Program {
    parse(PROGRAM).unwrap_or_else(|error| panic!("{error}"))
}

/// The kernel of the sums, by a schedule.
fn scheduled(text: &str) -> surject_kernel::Kernel {
    let program = program();
    let function = program.function("main").unwrap();
    let field = assignments(function)[0].1;
    let made = kernels(function, field, &Whole, "y", &text.parse().unwrap()).unwrap();
    made.kernels[0].launch.kernel.clone()
}

#[test]
fn a_schedule_reads_as_it_prints() {
    let text = "split i0 by 8\norder i0.o i0.i\nparallel i0.o task\nvectorise i0.i\nunroll k0\npartial k0\n\
                partial k0 by 4096 128\nrange i1\nprefetch v0 along i0 by 8 soon\n";
    let schedule: Schedule = text.parse().unwrap();
    assert_eq!(schedule.to_string(), text);
    let text = "scan i0 threads 256 each 4\nscan i1 across i2 threads 64 each 1\nscan i1 across i2 lanes 64 lines 2\n\
                scan i1 lanes 16 lines 7 block 32\nscan i1 across i2 lanes 8 lines 1 block 9 keys\nscan i0 lanes 1 lines 1 keys\n\
                transpose i1 i0 tile 32 32 warps 8\ntranspose i1 i0 tile 16 16 task 4 8 group 2 each 1\n\
                transpose i1 i0 tile 16 8 task 4 8 group 8 each 3 staged ahead past\n\
                jam i0.i\npeel i0.o\ntriangular k0.o\nfma k0\naccumulate k0.o at i1.o\npack v1 at i1.o\nkeep k0 at i1\nkeys k0\ninverse i1\nnontemporal\nepilogue serial\npack left at i1\n\
                prefetch v0 by 2048\nprefetch v0 by -64 in k0 soon\n";
    let schedule: Schedule = text.parse().unwrap();
    assert_eq!(schedule.to_string(), text);
}

#[test]
fn a_schedule_shapes_the_kernel() {
    let text = "
        kernel y_0            // rows in tasks, terms in lanes
        parallel i0 task
        split k0 by 8
        vectorise k0.i
    ";
    insta::assert_snapshot!(scheduled(text));
}

/// Loops that tasks share are one; what lies further on is prefetched while it is summed.
#[test]
fn tasks_share_several_loops_and_prefetch() {
    let text = "
        kernel y_0
        split i0 by 4
        parallel i0.o task
        parallel i0.i task
        split k0 by 4
        vectorise k0.i
        prefetch v0 by 20 in k0 soon
    ";
    insta::assert_snapshot!(scheduled(text));
}

/// Every row is summed by the threads of a warp, each of which sums some of its terms.
#[test]
fn threads_share_a_reduction() {
    let text = "
        kernel y_0
        split i0 by 4
        parallel i0.o block
        parallel i0.i warp
        split k0 by 8
        parallel k0.i thread
    ";
    insta::assert_snapshot!(scheduled(text));
}

/// A product whose rows run in step, in lanes of columns, with a panel of the right operand.
const TILES: &str = "kernel y_0
split i0 by 3
split i1 by 4
order i1.o i0.o i0.i i1.i
parallel i1.o task
jam i0.i
vectorise i1.i
fma k0
pack v1 at i1.o
";

const PRODUCT: &str = "program p

func main(x: f32[7,5], z: f32[5,10]) -> (y) {
  y : f32[7,10] =:+ over i<7, j<10, k<5 at [i,j]: x[i,k] * z[k,j]
}
";

#[test]
fn rows_in_step_share_a_panel() {
    let program = parse(PRODUCT).unwrap();
    let function = program.function("main").unwrap();
    let field = assignments(function)[0].1;
    let made = kernels(function, field, &Whole, "y", &TILES.parse().unwrap()).unwrap();
    insta::assert_snapshot!(made.kernels[0].launch.kernel);
}

/// The values of a factor have a panel, and what is made of the sums is computed in a loop.
#[test]
fn factors_and_results_are_computed_once() {
    let text = PRODUCT.replace("at [i,j]: x[i,k] * z[k,j]", "at [i,j]: (x[i,k] * x[i,k]) * z[k,j]");
    let text = text
        .replace("  y : ", "  let s : ")
        .replace("]\n}", "]\n  y : f32[7,10] =: over i<7, j<10: sqrt(s[i,j])\n}");
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let function = program.function("main").unwrap();
    let field = assignments(function)[0].1;
    let schedule = format!("{TILES}pack left at i0.o\nepilogue serial\n");
    let made = kernels(function, field, &Whole, "y", &schedule.parse().unwrap()).unwrap();
    insta::assert_snapshot!(made.kernels[0].launch.kernel);
}

/// The softmax of rows, whose exponentials are kept, and whose largest elements are found as integers.
const SOFTMAX: &str = "program p

func main(x: f32[6,37]) -> (y) {
  let m : f32[6] =:max over i<6, j<37 at [i]: x[i,j]
  let e : f32[6,37] =: over i<6, j<37: exp(x[i,j] - m[i])
  let s : f32[6] =:+ over i<6, j<37 at [i]: e[i,j]
  y : f32[6,37] =: over i<6, j<37: e[i,j] / s[i]
}
";

const ROWS: &str = "kernel y_0
split i1 by 8
vectorise i1.i
split k0 by 8
vectorise k0.i
keys k0
inverse i1
keep k0 at i1
";

/// In lanes that do not divide rows, with elements of every kind, results are those of the interpreter.
#[test]
fn rows_keep_and_compare_what_they_need() {
    let program = parse(SOFTMAX).unwrap();
    let special = [f32::NAN, f32::NEG_INFINITY, -0.0, 0.0, f32::INFINITY, 1e-40, -1e38];
    let value = |i: usize| match (i / 37, i % 5) {
        (row @ 2.., 0) => special[(i / 5 + row) % special.len()],
        _ => (i * 37 % 101) as f32 / 8.0 - 6.0,
    };
    let values: Vec<f32> = (0..6 * 37).map(value).collect();
    let scalars: Vec<Scalar> = values.iter().map(|&v| Scalar::from_f64(DType::F32, v.into())).collect();
    let args = [Buffer::from_scalars(DType::F32, &[6, 37], &scalars).unwrap()];
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    let options = surject_kernel::interpret::Options::default();
    let found =
        surject_codegen::kernels::run::run(&program, "main", &args, &Whole, &options, &ROWS.parse().unwrap());
    let report = surject_runtime::compare::compare(&found.unwrap().0[0], &expected[0], 1e-6, 1e-6);
    assert!(report.passed(), "{report}");
}

/// The same product, two terms at a time for all rows of some columns, whose sums are in memory meanwhile.
const BLOCKS: &str = "kernel y_0
split i0 by 3
split i1 by 4
split k0 by 2
order i1.o i0.o i0.i i1.i
parallel i1.o task
jam i0.i
vectorise i1.i
fma k0
accumulate k0.o at i1.o
pack v0 at k0.o
";

#[test]
fn blocks_of_terms_are_joined_to_sums_in_memory() {
    let program = parse(PRODUCT).unwrap();
    let function = program.function("main").unwrap();
    let field = assignments(function)[0].1;
    let made = kernels(function, field, &Whole, "y", &BLOCKS.parse().unwrap()).unwrap();
    insta::assert_snapshot!(made.kernels[0].launch.kernel);
}

/// Nine columns are left of 41: they are in sixteen lanes instead of thirty-two.
#[test]
fn the_last_part_of_lanes_has_shorter_vectors() {
    let program = parse(&PRODUCT.replace("10", "41")).unwrap();
    let function = program.function("main").unwrap();
    let field = assignments(function)[0].1;
    let args = surject_ir::testing::random_args(function, 3);
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    for schedule in [TILES, BLOCKS] {
        let schedule = schedule.replace("i1.o", "i1.o.i").replace("fma k0\n", "");
        let schedule = schedule.replace("split i1 by 4", "split i1 by 32\nsplit i1.o by 2");
        let schedule =
            schedule.replace("order i1.o.i", "order i1.o.o i1.o.i").replace("el i1.o.i", "el i1.o.o");
        let schedule: Schedules = schedule.parse().unwrap();
        let made = kernels(function, field, &Whole, "y", &schedule).unwrap();
        let text = made.kernels[0].launch.kernel.to_string();
        assert!(text.contains(": f32x32") && text.contains(": f32x16") && !text.contains("f32x8"), "{text}");
        let found = surject_codegen::kernels::run::run(
            &program,
            "main",
            &args,
            &Whole,
            &Default::default(),
            &schedule,
        );
        assert_eq!(found.unwrap().0, expected);
    }
}

/// Tasks of three blocks of four of 29 rows, of which the last has two blocks and a row.
#[test]
fn tasks_share_what_no_chunk_divides() {
    let program = parse(&PRODUCT.replace('7', "29")).unwrap();
    let function = program.function("main").unwrap();
    let args = surject_ir::testing::random_args(function, 3);
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    for (split, order) in
        [("split i0 by 12", "i0.o i0.i"), ("split i0 by 4\nsplit i0.o by 3", "i0.o.o i0.o.i i0.i")]
    {
        let tasks = order.split(' ').next().unwrap();
        let text = format!("kernel y_0\n{split}\norder {order} i1\nparallel {tasks} task\nvectorise i1\n");
        let schedule: Schedules = text.parse().unwrap();
        let field = assignments(function)[0].1;
        let made = kernels(function, field, &Whole, "y", &schedule).unwrap();
        let kernel = made.kernels[0].launch.kernel.to_string();
        assert!(kernel.contains("= min ") && !kernel.contains("where"), "{kernel}");
        let run = surject_codegen::kernels::run::run;
        let found = run(&program, "main", &args, &Whole, &Default::default(), &schedule);
        assert_eq!(found.unwrap().0, expected, "{kernel}");
    }
}

/// The least and the largest of rows, and their sums, of which one needs another.
const JOINT: &str = "func main(x: f32[5,40]) -> (y) {
  let a : f32[5] =:min over i<5, k<40 at [i]: x[i,k]
  let b : f32[5] =:max over i<5, k<40 at [i]: x[i,k]
  let c : f32[5] =:+ over i<5, k<40 at [i]: x[i,k] - b[i]
  y : f32[5] =: over i<5: c[i] / (b[i] - a[i])
}
";

/// Two reductions are computed in one pass, and the third in one of its own.
#[test]
fn reductions_over_the_same_loops_share_a_pass() {
    let program = parse(JOINT).unwrap();
    let function = program.function("main").unwrap();
    let field = assignments(function)[0].1;
    let schedule: Schedules = "kernel y_0\nsplit k0 by 8\nvectorise k0.i\n".parse().unwrap();
    let made = kernels(function, field, &Whole, "y", &schedule).unwrap();
    insta::assert_snapshot!(made.kernels[0].launch.kernel);
    let args = surject_ir::testing::random_args(function, 3);
    let expected = surject_ir::interp::run(&program, "main", &args).unwrap();
    let run = surject_codegen::kernels::run::run;
    let found = run(&program, "main", &args, &Whole, &Default::default(), &schedule).unwrap().0;
    let report = surject_runtime::compare::compare(&found[0], &expected[0], 1e-5, 1e-6);
    assert!(report.passed(), "{report}");
}

/// What does not fit is refused where it stands.
#[test]
fn what_does_not_fit_is_said_where_it_stands() {
    let program = program();
    let function = program.function("main").unwrap();
    let expressions = expressions(function).unwrap();
    let find = |name: &str| expressions.iter().find(|e| e.0 == name).map(|e| &e.1);
    let cases = [
        "split i0 by 8",
        "kernel nothing_0",
        "kernel y_0\nsplit i0 by 0",
        "kernel y_0\nsplit q by 8",
        "kernel y_0\nsplit i0 by 9223372036854775807",
        "kernel y_0\nsplit i0 by 4611686018427387904\nsplit i0.i by 2147483648",
        "kernel y_0\nsplit i0 by 99999999999999999999",
        "kernel y_0\nparallel k0 task",
        "kernel y_0\nparallel i0 thread",
        "kernel y_0\nparallel i0 core",
        "kernel y_0\nsplit k0 by 2\nvectorise k0.o",
        "kernel y_0\nsplit i0 by 3\nsplit i0.i by 2",
        "kernel y_0\nsplit i0 by 4\norder i0.o",
        "kernel y_0\nsplit i0 by 4\norder i0.o i0.o i0.i",
        "kernel y_0\nsplit i0 by 4\nsplit k0 by 4\nvectorise i0.i\nvectorise k0.i",
        "kernel y_0\nsplit i0 by 4\nvectorise i0.o",
        "kernel y_0\nunroll i0\nparallel i0 task",
        "kernel y_0\nparallel i0 block\nsplit k0 by 3\nparallel k0.i thread",
        "kernel y_0\nsplit k0 by 4\nparallel k0.i thread",
        "kernel y_0\nsplit i0 by 4\nparallel i0.o block\nparallel i0.i thread\nsplit k0 by 8\nparallel k0.i thread",
        "kernel y_0\nfuse i0",
        "kernel y_0\nscan i0 threads 32",
        "kernel y_0\nscan i0 threads 32 each 4",
        "kernel y_0\nscan i0 lanes 16 lines 1 block",
        "kernel y_0\nscan i0 lanes 16 lines 1 block none",
        "kernel y_0\nscan i0 lanes 16 lines 1 block 32 sorted",
        "kernel y_0\nparallel i0 block\nsplit k0 by 2\nparallel k0.i thread\nparallel k0.o thread",
        "kernel y_0\nunroll k0\nkernel y_0\nunroll k0",
        "kernel y_0\njam k0",
        "kernel y_0\nsplit i0 by 4\njam i0.o",
        "kernel y_0\nsplit i0 by 4\njam i0.i\nparallel i0.o block",
        "kernel y_0\nfma k0",
        "kernel y_0\nfma q",
        "kernel y_0\npeel q",
        "kernel y_0\nunroll i0\npeel i0",
        "kernel y_0\nkeys k0",
        "kernel y_0\ninverse q",
        "kernel y_0\nprefetch v7 by 64",
        "kernel y_0\nprefetch v0 by 0",
        "kernel y_0\nprefetch v0 by 64 in i0",
        "kernel y_0\nprefetch v0 at i0",
        "kernel y_0\nkeep k0 at i0",
        "kernel y_0\nkeep k0 at k0",
        "kernel y_0\npack v7 at i0",
        "kernel y_0\npack out at i0",
        "kernel y_0\npack v0 at k0",
        "kernel y_0\npack v0 at i0\npack v0 at i0",
        "kernel y_0\nunroll i0\npack v0 at i0",
        "kernel y_0\naccumulate q at i0",
        "kernel y_0\naccumulate k0 at k0",
        "kernel y_0\nsplit k0 by 4\nvectorise k0.i\naccumulate k0.o at i0",
        "kernel y_0\naccumulate k0 at i0\naccumulate k0 at i0",
        "kernel y_0\nunroll i0\naccumulate k0 at i0",
        "kernel y_0\npartial k0",
        "kernel y_0\npartial i0 by 2",
        "kernel y_0\npartial k0 by 4 8",
        "kernel y_0\npartial k0 by 0",
        "kernel y_0\npartial k0 by 4\npartial k0 by 2",
        "kernel y_0\nsplit k0 by 4\nvectorise k0.i\npartial k0.i by 2",
        "kernel y_0\nrange k0",
        "kernel y_0\nprefetch v0 along i0 by 8",
        "kernel y_0\nscan i0 lanes 16 lines 1",
        "kernel y_0\ntranspose i0 k0 tile 16 16 task 1 1 group 1 each 1",
        "kernel y_0\ntranspose i0 k0 tile 16 16 task 1 1 group 1 each 1 past past",
        "kernel y_0\ntranspose i0 k0 tile 16 16 tiles 1",
    ];
    let said: Vec<String> = cases
        .iter()
        .map(|text| {
            let error = text.parse::<Schedules>().and_then(|s| s.check(find)).expect_err(text);
            format!("{}\n    {error}", marked(text, &error))
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

/// What a scan asks for that it has not.
#[test]
fn scans_have_lines_and_steps() {
    let text = "program p

func main(x: f32[4,16]) -> (y) {
  y : f32[4,16] =:+ over i<4, j<16, k<16 at [i,j]: (x[i,j + k - 15] where 0 <= j + k - 15 < 16 else -0.0f32)
}
";
    let program = parse(text).unwrap();
    let found = expressions(program.function("main").unwrap()).unwrap();
    let find = |name: &str| found.iter().find(|(n, _)| n == name).map(|(_, expression)| expression);
    let said = |directive: &str| {
        let text = format!("kernel y_0\n{directive}");
        text.parse::<Schedules>().and_then(|s| s.check(find)).map_err(|error| format!("{directive}: {error}"))
    };
    said("scan i1 lanes 8 lines 3 block 1").unwrap();
    let wrong = [
        "scan i1 lanes 8 lines 3 keys",
        "scan i1 lanes 8 lines 3 block 0",
        "scan i1 lanes 8 lines 0",
        "scan i1 lanes 12 lines 1",
        "scan i0 lanes 8 lines 1",
    ];
    insta::assert_snapshot!(wrong.map(|directive| said(directive).unwrap_err()).join("\n"));
}

/// The lines of a text, with a mark below the words that an error is about.
fn marked(text: &str, error: &ScheduleError) -> String {
    let span = error.span.clone().expect("it has a place");
    let marks = |i: usize| {
        let Span { line, columns } = &span;
        let (before, below) = (" ".repeat(columns.start - 1), "^".repeat(columns.len()));
        if i + 1 == *line { format!("\n{before}{below}") } else { String::new() }
    };
    let lines = text.lines().enumerate().map(|(i, line)| format!("{line}{}", marks(i)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Words are found as they stand: behind others, beside blanks, before comments, and among several with commas between.
#[test]
fn places_of_words_are_those_of_the_text() {
    let program = program();
    let expressions = expressions(program.function("main").unwrap()).unwrap();
    let find = |name: &str| expressions.iter().find(|e| e.0 == name).map(|e| &e.1);
    let cases = [
        "kernel y_0 // split q\n\t split  q   by 4 // q",
        "// kernel é\n  kernel  y_0\n  split i0 by 16\n\n  order i0.o q // i0.i",
        "kernel y_0\ncontract i0 k0 k0 tile 64 x 32 thread 8 4",
    ];
    let said = |text: &&str| {
        let error = text.parse::<Schedules>().and_then(|s| s.check(find)).expect_err(text);
        format!("{}\n    {error}", marked(text, &error))
    };
    insta::assert_snapshot!(cases.iter().map(said).collect::<Vec<_>>().join("\n"));
    // One of several loops over rows.
    let text = "program p\n\nfunc main(x: f32[4,8,16], z: f32[16,8]) -> (y) {
  y : f32[4,8,8] =:+ over i<4, l<8, j<8, k<16 at [i,l,j]: x[i,l,k] * z[k,j]\n}\n";
    let product = parse(text).unwrap_or_else(|error| panic!("{error}"));
    let found = surject_codegen::kernels::run::expressions(product.function("main").unwrap()).unwrap();
    let text = "kernel y_0\n contract i0,i2 i2 k0 tile 64 64 32 thread 8 4".parse::<Schedules>().unwrap();
    let error = text.check(|_| Some(&found[0].1)).unwrap_err();
    assert_eq!(error.span, Some(Span { line: 2, columns: 14..16 }), "{error}");
    // A schedule without text is as it prints.
    let schedule: Schedule = "unroll i0\n// a comment\nparallel   i0 task".parse().unwrap();
    let error = schedule.check(find("y_0").unwrap()).unwrap_err();
    assert_eq!(error.span, Some(Span { line: 2, columns: 10..12 }));
}

/// A machine runs what it has, and says of the rest what it has instead.
#[test]
fn a_machine_refuses_what_it_has_not() {
    let program = program();
    let expressions = expressions(program.function("main").unwrap()).unwrap();
    let expression = &expressions.iter().find(|e| e.0 == "y_0").unwrap().1;
    let schedule: Schedule = "parallel i0 task\nunroll k0".parse().unwrap();
    kernel_by(expression, &Toy, "y_0", schedule).unwrap();
    let schedule: Schedule = "parallel i0 task\nvectorise k0".parse().unwrap();
    let error = kernel_by(expression, &Toy, "y_0", schedule).unwrap_err().to_string();
    assert!(error.ends_with("the kernel `y_0`: line 2: `toy` has no vectors; it has tasks"), "{error}");
    let text = "kernel y_0\nsplit i0 by 4\nparallel i0.o block";
    let error = text.parse::<Schedules>().unwrap().check_for(&Toy).unwrap_err();
    let said = "`toy` has no blocks; it has tasks";
    assert_eq!((error.span, error.message.as_str()), (Some(Span { line: 3, columns: 15..20 }), said));
}

/// A strategy of a machine proposes only what the machine has.
#[test]
fn a_proposal_that_its_machine_does_not_have_is_a_fault() {
    struct Blocks;
    impl Strategy for Blocks {
        fn name(&self) -> &'static str {
            "blocks"
        }

        fn propose(&self, expression: &Expression) -> Result<Proposal, String> {
            let first = expression.loops().remove(0).name;
            let directives = vec![Directive::Parallel(first, Level::Block)];
            Ok(Proposal { schedule: Schedule { directives }, cost: 1.0 })
        }
    }
    struct Wrong;
    impl Machine for Wrong {
        fn name(&self) -> &str {
            "wrong"
        }

        fn abilities(&self) -> Vec<Ability> {
            vec![Ability::Tasks]
        }

        fn strategies(&self) -> Vec<Box<dyn Strategy>> {
            vec![Box::new(Blocks)]
        }
    }
    let program = program();
    let expressions = expressions(program.function("main").unwrap()).unwrap();
    let error = choose(&Wrong, &expressions[0].1).unwrap_err().to_string();
    assert!(error.contains("the strategy `blocks`: line 1: `wrong` has no blocks"), "{error}");
}

/// Panels and sums are on the stack of a thread: all together have a limit, as each has.
#[test]
fn panels_and_sums_fit_the_stack_of_a_thread() {
    let text = "program p

func main(x: f32[128,1024], z: f32[1024,1024]) -> (y) {
  y : f32[128,1024] =:+ over i<128, j<1024, k<1024 at [i,j]: x[i,k] * z[k,j]
}
";
    let program = parse(text).unwrap();
    let expressions = expressions(program.function("main").unwrap()).unwrap();
    let find = |name: &str| expressions.iter().find(|e| e.0 == name).map(|e| &e.1);
    let check = |more: &str| {
        let text = format!("kernel y_0\nsplit i1 by 80\norder i1.o i0 i1.i\nsplit k0 by 128\n{more}");
        text.parse::<Schedules>().and_then(|s| s.check(find)).map_err(|error| error.to_string())
    };
    check("pack v1 at i1.o").unwrap();
    check("pack v0 at i1.o").unwrap();
    check("accumulate k0.o at i1.o\npack v1 at k0.o\npack v0 at k0.o").unwrap();
    let error = check("pack v1 at i1.o\npack v0 at i1.o").unwrap_err();
    assert!(error.contains("panels and sums of 851968 bytes; a kernel has at most 786432"), "{error}");
}
