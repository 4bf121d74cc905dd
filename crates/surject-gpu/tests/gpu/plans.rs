//! Whole programs as plans, on a device that interprets PTX.

use crate::programs::program;
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::{Device, DeviceError, Plan, Pooled, RunError, Session, Simulated, Step};
use surject_gpu::Gpu;
use surject_gpu::program::{compile, planned};
use surject_ir::testing::{Options, random_args, random_program_with};
use surject_ir::{Buffer, Program, interp, parse};

/// Memory of the device of these tests.
const MEMORY: u64 = 64 << 20;

fn plan(program: &Program) -> Plan {
    let gpu = Gpu::named("sm_90a").unwrap();
    compile(program, "main", &gpu, &Schedules::default())
        .unwrap_or_else(|error| panic!("{error}\n{}", surject_ir::print(program)))
}

fn args(program: &Program, seed: u64) -> Vec<Buffer> {
    random_args(program.function("main").unwrap(), seed)
}

/// What a program gives, run twice on the device: the second time, launches are replayed.
fn runs(program: &Program, args: &[Buffer]) -> (Vec<Buffer>, surject_cuda::Counts) {
    let plan = plan(program);
    let mut session = Session::new(Pooled::new(Simulated::new(MEMORY)), plan.clone()).unwrap();
    let fail = |error: RunError| -> Vec<Buffer> { panic!("{error}\n{}", surject_ir::print(program)) };
    let first = session.run(args).unwrap_or_else(fail);
    let second = session.run(args).unwrap_or_else(fail);
    assert_eq!(first, second, "{}", surject_ir::print(program));
    // Streams in an order that nobody expects give the same bits, recorded or not.
    let mut late =
        Session::new(Simulated::shuffled(MEMORY, program.functions.len() as u64 + 1), plan).unwrap();
    for _ in 0..2 {
        assert_eq!(late.run(args).unwrap_or_else(fail), first, "{}", surject_ir::print(program));
    }
    late.wait().unwrap_or_else(|error| panic!("{error}"));
    (second, session.counts())
}

fn agree(program: &Program, args: &[Buffer]) -> surject_cuda::Counts {
    let expected = interp::run(program, "main", args).unwrap();
    let (found, counts) = runs(program, args);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        let report = surject_runtime::compare::compare(found, expected, 1e-4, 1e-4);
        assert!(report.passed(), "{report}\n{}", surject_ir::print(program));
    }
    counts
}

/// Assignments, loops, choices and library operations: what plans give is what the interpreter gives.
#[test]
fn random_programs_as_plans_give_what_the_interpreter_gives() {
    let (mut launched, mut on_host, mut replayed) = (0, 0, 0);
    for seed in 100..140 {
        let program = random_program_with(seed, 10, &Options::everything());
        let args = args(&program, seed);
        let limits = interp::Limits { iterations: Some(100) };
        if interp::run_within(&program, "main", &args, limits).is_err() {
            continue;
        }
        let counts = agree(&program, &args);
        launched += counts.launches;
        on_host += counts.host;
        replayed += counts.replays;
    }
    assert!(launched > 100 && on_host > 0 && replayed > 10, "{launched} {on_host} {replayed}");
}

/// The carried values change places, so that none may be overwritten before the others have it.
const LOOP: &str = "program p

func main(n: i32[], a: f32[8], b: f32[8]) -> (x, y, k) {
  zero : i32[] =: 0i32
  x : f32[8], y : f32[8], k : i32[] = while (a, b, zero) {
    cond(u0: f32[8], v0: f32[8], i0: i32[]) -> (go) {
      go : i1[] =: i0 < n
    }
    body(u: f32[8], v: f32[8], i: i32[]) -> (v, sum, next) {
      next : i32[] =: i + 1i32
      sum : f32[8] =: over j<8: u[j] + v[j]
    }
  }
}
";

#[test]
fn the_host_follows_scalars_of_the_device() {
    let program = parse(LOOP).unwrap_or_else(|error| panic!("{error}"));
    let mut session = Session::new(Simulated::new(MEMORY), plan(&program)).unwrap();
    for n in [0, 1, 5] {
        let mut args = args(&program, 3);
        args[0] = Buffer::from_bytes(surject_ir::DType::I32, &[], &i32::to_ne_bytes(n)).unwrap();
        let expected = interp::run(&program, "main", &args).unwrap();
        assert_eq!(session.run(&args).unwrap(), expected, "{n} rounds");
    }
}

#[test]
fn a_plan_says_what_is_copied_for_the_host() {
    let program = parse(
        "program p\n\nfunc main(a: f32[4,4], k: i32[]) -> (y) {\n  b : f32[4,4] =: over i<4, j<4: a[i,j] + 1.0f32\n  \
         c : f32[4,4] = call cholesky{lower=true}(b)\n  s : f32[1,4] = call dynamic_slice{sizes=[1,4]}(c, k, k)\n  \
         y : f32[4] =: over j<4: s[0,j] * 2.0f32\n}\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let gpu = Gpu::named("sm_90a").unwrap();
    let plan = planned(&program, "main", &gpu, &Schedules::default()).unwrap().plan;
    insta::assert_snapshot!(plan.to_string());
}

#[test]
fn too_little_memory_is_an_error_that_says_for_what() {
    let program = program("a: f32[1000]", "y : f32[1000] =: over i<1000: a[i] + 1.0f32");
    let error = Session::new(Simulated::new(4096), plan(&program)).err().expect("there is too little");
    assert!(
        matches!(&error, RunError::Device { error: DeviceError::OutOfMemory { bytes: 4000, .. }, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("the argument `a`"), "{error}");
}

#[test]
fn a_kernel_that_does_not_load_is_named_with_its_assignment() {
    let program = program("a: f32[10]", "y : f32[10] =: over i<10: a[i] + 1.0f32");
    let mut plan = plan(&program);
    plan.ptx = plan.ptx.replacen("add.rn.f32", "add.wrong.f32", 1).replacen("add.f32", "add.wrong.f32", 1);
    let error = Session::new(Simulated::new(MEMORY), plan).err().expect("it is no PTX");
    assert!(
        matches!(&error, RunError::Kernel { kernel, assignment, .. } if kernel == "y_0" && assignment == "y"),
        "{error}"
    );
}

#[test]
fn a_fault_on_the_device_names_the_kernel() {
    let program = program("a: f32[10]", "y : f32[10] =: over i<10: a[i] + 1.0f32");
    let mut plan = plan(&program);
    // One block too many would write behind the end.
    let Some(Step::Launch { kernel, .. }) = plan.steps.first().cloned() else { panic!("a launch") };
    plan.ptx = plan.ptx.replacen("ret;", "bra.uni $NOWHERE;", 1);
    plan.kernels[kernel as usize].shape.threads += 32;
    let mut session = match Session::new(Simulated::new(MEMORY), plan) {
        Ok(session) => session,
        Err(RunError::Kernel { .. }) => return,
        Err(error) => panic!("{error}"),
    };
    let error = session.run(&args(&program, 0)).expect_err("the block has other threads");
    assert!(matches!(&error, RunError::Kernel { kernel, .. } if kernel == "y_0"), "{error}");
}

#[test]
fn memory_is_given_back_and_used_again() {
    let program = program("a: f32[100]", "y : f32[100] =: over i<100: a[i] + 1.0f32");
    let mut device = Pooled::new(Simulated::new(MEMORY));
    let plan = plan(&program);
    for round in 0..3 {
        Session::new(&mut device, plan.clone()).unwrap().run(&args(&program, round)).unwrap();
        // The second round finds what the first gave back.
        assert_eq!(device.device().held()[0], 2, "two memories: the arena and the argument");
        assert_eq!(device.device().held()[1..], [0, 0], "no module and no recording is left");
    }
    device.trim();
    assert_eq!(device.device().held(), [0, 0, 0]);
    assert_eq!(device.device().left, MEMORY);
    let _ = device.info();
}

/// Loops of a number of rounds that is known, one in another, with values that change places; what stays in them stands
/// before them, and what literals say is there before the first run.
const ROUNDS: &str = "program p

func main(a: f32[8], b: f32[8]) -> (x, y, k, s) {
  zero : i32[] =: 0i32
  none : f32[8] =: over j<8: f32(index(j)i32)
  x : f32[8], y : f32[8], k : i32[], s : f32[8] = while (a, b, zero, none) {
    cond(u0: f32[8], v0: f32[8], i0: i32[], s0: f32[8]) -> (go) {
      go : i1[] =: i0 < 7i32
    }
    body(u: f32[8], v: f32[8], i: i32[], s1: f32[8]) -> (v, sum, next, s3) {
      next : i32[] =: i + 1i32
      weight : f32[8] =: over j<8: sin(a[j])
      sum : f32[8] =: over j<8: u[j] * 0.5f32 + v[j] * weight[j] + f32(i[])
      three : i64[] =: 3i64
      s2 : f32[8], m : i64[] = while (s1, three) {
        cond(p0: f32[8], m0: i64[]) -> (on) {
          on : i1[] =: m0 > 0i64
        }
        body(p: f32[8], m1: i64[]) -> (q, m2) {
          q : f32[8] =: over j<8: p[7 - j] + 1.0f32
          m2 : i64[] =: m1 - 1i64
        }
      }
      s3 : f32[8] =: over j<8: s2[j] + sum[7 - j]
    }
  }
}
";

#[test]
fn a_loop_of_known_rounds_is_one_recording() {
    let program = parse(ROUNDS).unwrap_or_else(|error| panic!("{error}"));
    let made = plan(&program);
    insta::assert_snapshot!(made.to_string());
    let args = args(&program, 5);
    let expected = interp::run(&program, "main", &args).unwrap();
    let mut session = Session::new(Pooled::new(Simulated::new(MEMORY)), made).unwrap();
    for round in 0..3 {
        let found = session.run(&args).unwrap();
        for (found, expected) in found.iter().zip(&expected) {
            let report = surject_runtime::compare::compare(found, expected, 1e-5, 1e-5);
            assert!(report.passed(), "{report}");
        }
        let counts = session.counts();
        assert_eq!((counts.replays, counts.to_host), (round, 0), "the host decides nothing");
    }
}

#[test]
fn more_rounds_than_a_recording_holds_are_several() {
    let program = parse(
        "program p\n\nfunc main(a: f32[4]) -> (x) {\n  zero : i32[] =: 0i32\n  \
         x : f32[4], k : i32[] = while (a, zero) {\n    cond(u0: f32[4], i0: i32[]) -> (go) {\n      \
         go : i1[] =: 5001i32 > i0\n    }\n    body(u: f32[4], i: i32[]) -> (v, next) {\n      \
         next : i32[] =: i + 1i32\n      v : f32[4] =: over j<4: u[3 - j] * 0.999f32 + f32(i[])\n    }\n  }\n}\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let counts = agree(&program, &args(&program, 1));
    assert!((2..20).contains(&counts.replays) && counts.to_host == 0, "{counts:?}");
}

#[test]
fn reductions_down_columns_take_their_terms_in_order() {
    let text = include_str!("../../../surject-codegen/tests/kernels/library/columns.program");
    let program = parse(text).unwrap_or_else(|error| panic!("{error}"));
    for seed in 0..2 {
        agree(&program, &args(&program, seed));
    }
}
