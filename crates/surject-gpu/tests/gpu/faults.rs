//! A device that fails: what a run says, and what is left of it on the device.

use crate::programs::program;
use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::{Device, DeviceError, Operation, Plan, Pooled, RunError, Session, Simulated, settle};
use surject_gpu::Gpu;
use surject_gpu::program::compile;
use surject_ir::testing::random_args;
use surject_ir::{Buffer, Program, parse};

const MEMORY: u64 = 64 << 20;

/// Kernels enough for a recording, a call of a library, a constant, and two results.
const CHAIN: &str = "program p

func main(a: f32[4,4]) -> (d, e) {
  weight : f32[4] = constant [1.0, 2.0, 3.0, 4.0]
  b : f32[4,4] =: over i<4, j<4: a[i,j] + weight[j]
  s : f32[4] =:+ over i<4, j<4 at [i]: b[i,j]
  m : f32[4] =:max over i<4, j<4 at [j]: b[i,j] * s[i]
  c : f32[4,4] = call triangular_solve{left_side=true, lower=true, unit_diagonal=true, transpose=no}(b, a)
  d : f32[4,4] =: over i<4, j<4: c[i,j] * m[j]
  e : f32[4] =:+ over i<4, j<4 at [i]: sin(c[i,j])
}
";

fn chain() -> Program {
    parse(CHAIN).unwrap_or_else(|error| panic!("{error}"))
}

fn plan(program: &Program) -> Plan {
    let gpu = Gpu::named("sm_90a").unwrap();
    compile(program, "main", &gpu, &Schedules::default()).unwrap_or_else(|error| panic!("{error}"))
}

fn args(program: &Program) -> Vec<Buffer> {
    random_args(program.function("main").unwrap(), 1)
}

fn lost() -> DeviceError {
    DeviceError::Lost("it fell off the bus".into())
}

/// Runs a plan several times on a device in which an operation fails after so many of its kind; the error, and that
/// nothing is left on the device. `None` where nothing failed.
fn fails(
    program: &Program,
    plan: &Plan,
    operation: Operation,
    after: usize,
    error: DeviceError,
) -> Option<RunError> {
    let mut device = Simulated::new(MEMORY);
    device.fail(operation, after, error);
    let args = args(program);
    let run = |device: &mut Simulated| {
        let mut session = Session::new(device, plan.clone())?;
        (0..3).try_for_each(|_| session.run(&args).map(drop))
    };
    let found = run(&mut device).err();
    assert_eq!(device.held(), [0, 0, 0], "{operation:?} after {after}: {found:?}");
    assert_eq!((device.left, device.events()), (MEMORY, 0));
    found
}

/// Every operation of three runs fails once: each failure is an error that says what was done, and nothing is left.
#[test]
fn whatever_fails_is_said_and_nothing_is_left() {
    let program = chain();
    let plan = plan(&program);
    for (operation, least) in [
        (Operation::Allocate, 3),
        (Operation::Upload, 4),
        (Operation::Download, 6),
        (Operation::Load, 1),
        (Operation::Launch, 8),
        (Operation::Prepare, 1),
        (Operation::Call, 2),
        (Operation::Recorded, 1),
        (Operation::Replay, 2),
        (Operation::Select, 3),
        (Operation::Event, 3),
        (Operation::Signal, 3),
        (Operation::Wait, 3),
    ] {
        let mut count = 0;
        while let Some(error) = fails(&program, &plan, operation, count, lost()) {
            let text = error.to_string();
            assert!(text.contains("the GPU is lost: it fell off the bus"), "{text}");
            let named = match operation {
                Operation::Launch => matches!(error, RunError::Kernel { .. }),
                Operation::Prepare | Operation::Call => {
                    matches!(&error, RunError::Call { call, assignment, .. }
                        if call == "cublasStrsm" && assignment == "c")
                }
                Operation::Replay => matches!(error, RunError::Kernel { .. } | RunError::Call { .. }),
                _ => true,
            };
            assert!(named, "{operation:?} after {count}: {error:?}");
            count += 1;
        }
        assert!(count >= least, "{operation:?} failed {count} times");
    }
}

/// What a device reports when it is waited for is said of the last kernel or call before.
#[test]
fn what_is_reported_late_names_what_came_before() {
    let program = chain();
    let error = fails(&program, &plan(&program), Operation::Download, 0, lost()).expect("a failure");
    assert!(
        matches!(&error, RunError::Kernel { kernel, .. } if kernel.contains("or one before it")),
        "{error:?}"
    );
    let only = parse(
        "program p\n\nfunc main(a: f32[4,4]) -> (c) {\n  c : f32[4,4] = call triangular_solve{left_side=true, \
         lower=true, unit_diagonal=true, transpose=no}(a, a)\n}\n",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let error = fails(&only, &plan(&only), Operation::Download, 0, lost()).expect("a failure");
    assert!(error.to_string().starts_with("`cublasStrsm or one before it"), "{error}");
}

/// A library that refuses a call leaves it to the host, and the plan says why.
#[test]
fn a_refused_call_is_the_hosts() {
    let program = chain();
    let mut device = Simulated::new(MEMORY);
    let error = DeviceError::Library {
        library: surject_cuda::Library::Cublas,
        call: "cublasStrsm".into(),
        reason: "CUBLAS_STATUS_ARCH_MISMATCH".into(),
    };
    device.fail(Operation::Prepare, 0, error);
    let mut session = Session::new(device, plan(&program)).unwrap();
    let reason = "// cuBLAS refuses cublasStrsm: CUBLAS_STATUS_ARCH_MISMATCH";
    assert!(session.plan().to_string().contains(reason), "{}", session.plan());
    session.run(&args(&program)).unwrap();
    assert_eq!((session.counts().host, session.counts().calls), (1, 0));
}

/// The peak that a plan says is what it takes, workspaces included: so many bytes are enough, and one less is not.
#[test]
fn a_plan_takes_the_memory_that_it_says() {
    let program = chain();
    let mut settled = plan(&program);
    settle(&mut settled, &mut Simulated::new(MEMORY)).unwrap();
    let peak = settled.peak_bytes();
    let mut session = Session::new(Simulated::new(peak), plan(&program)).unwrap();
    session.run(&args(&program)).unwrap();
    assert_eq!(session.device().left, 0);
    let error = Session::new(Simulated::new(peak - 1), plan(&program)).err().expect("one byte is missing");
    assert!(matches!(error, RunError::Device { error: DeviceError::OutOfMemory { .. }, .. }), "{error:?}");
}

/// Constants go to the device once, arguments before every run: a constant, and four times an argument.
#[test]
fn constants_are_copied_once() {
    let program = chain();
    let mut device = Simulated::new(MEMORY);
    device.fail(Operation::Upload, 5, lost());
    let mut session = Session::new(device, plan(&program)).unwrap();
    for _ in 0..4 {
        session.run(&args(&program)).unwrap();
    }
    let error = session.run(&args(&program)).expect_err("the sixth copy");
    assert!(error.to_string().starts_with("copying argument 0"), "{error}");
}

/// Memory that waits is given back to the device before it is said that there is none.
#[test]
fn memory_that_waits_serves_other_sizes() {
    let mut device = Pooled::new(Simulated::new(4096));
    let first = device.allocate(2048).unwrap();
    device.free(first);
    assert_eq!(device.bytes(), (0, 2048));
    let second = device.allocate(4096).unwrap();
    assert_eq!(device.bytes(), (4096, 0));
    let error = device.allocate(512).expect_err("there is no more");
    assert_eq!(error, DeviceError::OutOfMemory { bytes: 512, free: Some(0) });
    device.free(second);
    device.allocate(512).unwrap();
}

/// Plans with calls that do not fit are refused before anything is asked of a device.
#[test]
fn damaged_calls_are_refused() {
    let program = program("a: f32[4,4]", "y : f32[4,4] = call cholesky{lower=true}(a)");
    let whole = plan(&program);
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = whole.clone();
        change(&mut plan);
        let error = plan.check().expect_err("it is damaged").to_string();
        let run = Session::new(Simulated::new(MEMORY), plan).err().expect("it is damaged");
        assert_eq!(run.to_string(), error);
        error
    };
    use surject_cuda::Step;
    use surject_cuda::call::{Routine, Triangle};
    let call = |plan: &mut Plan, change: &dyn Fn(&mut u32, &mut Vec<surject_cuda::TensorId>)| {
        for step in &mut plan.steps {
            let Step::Either { device, .. } = step else { continue };
            for step in device {
                if let Step::Call { call, tensors } = step {
                    change(call, tensors);
                }
            }
        }
    };
    let error = refused(&|plan| call(plan, &|number, _| *number = 7));
    assert!(error.contains("a call of a library, or with tensors, that there are not"), "{error}");
    let error = refused(&|plan| call(plan, &|_, tensors| _ = tensors.pop()));
    assert!(error.contains("`cusolverDnSpotrf` with too many or too few operands"), "{error}");
    let error = refused(&|plan| call(plan, &|_, tensors| tensors.swap(0, 1)));
    assert!(error.contains("with an operand of another type"), "{error}");
    let error = refused(&|plan| plan.calls[0].call.batch = u64::MAX);
    assert!(error.contains("parts, which the libraries do not count in 32 bits"), "{error}");
    let error = refused(&|plan| {
        plan.calls[0].call.routine = Routine::Potrf { triangle: Triangle::Lower, n: u64::MAX };
    });
    assert!(error.contains("a size that the libraries do not count in 32 bits"), "{error}");
    let params = whole.params.clone();
    let error = refused(&|plan| call(plan, &|_, tensors| tensors[0] = params[0]));
    assert!(error.contains("overwrites an argument or a constant"), "{error}");
}
