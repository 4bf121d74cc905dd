//! Fourier transforms and factorisations as calls of libraries, on a device that has those of NVIDIA with their
//! conventions: matrices column by column, pivots from 1, operands that are overwritten.

use surject_codegen::kernels::schedule::Schedules;
use surject_cuda::{
    DeviceError, Library, Operation, Plan, Pooled, RunError, Session, Simulated, Step, settle,
};
use surject_gpu::Gpu;
use surject_gpu::program::compile;
use surject_ir::testing::random_args;
use surject_ir::{Buffer, Program, interp, parse};
use surject_runtime::compare::compare;

const MEMORY: u64 = 64 << 20;

fn read(text: &str) -> Program {
    parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn plan(program: &Program) -> Plan {
    let gpu = Gpu::named("sm_90a").unwrap();
    compile(program, "main", &gpu, &Schedules::default())
        .unwrap_or_else(|error| panic!("{error}\n{}", surject_ir::print(program)))
}

/// Runs a program twice on a device with all libraries, and once on one without any: the results agree with the
/// interpreter's, and the first device asked the host for nothing.
fn agree(program: &Program, args: &[Buffer]) {
    let text = surject_ir::print(program);
    let expected = interp::run(program, "main", args).unwrap();
    let check = |found: &[Buffer]| {
        assert_eq!(found.len(), expected.len(), "{text}");
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let report = compare(found, expected, 2e-4, 2e-4);
            assert!(report.passed(), "result {i}: {report}\n{text}");
        }
    };
    let plan = plan(program);
    let fail = |error: RunError| -> Vec<Buffer> { panic!("{error}\n{plan}") };
    let mut session = Session::new(Pooled::new(Simulated::new(MEMORY)), plan.clone()).unwrap();
    for _ in 0..2 {
        check(&session.run(args).unwrap_or_else(fail));
    }
    let counts = session.counts();
    assert!(counts.calls > 0 && counts.host == 0, "{counts:?}\n{}", session.plan());
    // Calls on streams in an order that nobody expects.
    let mut late = Session::new(Simulated::shuffled(MEMORY, args.len() as u64), plan.clone()).unwrap();
    check(&late.run(args).unwrap_or_else(fail));
    late.wait().unwrap_or_else(|error| panic!("{error}\n{plan}"));
    let mut bare = Simulated::new(MEMORY);
    bare.missing = Library::ALL.to_vec();
    let mut session = Session::new(bare, plan.clone()).unwrap();
    check(&session.run(args).unwrap_or_else(fail));
    assert!(session.counts().calls == 0 && session.counts().host > 0);
}

/// A program of one call, whose operands and results have these types.
fn program(call: &str, operands: &[String], results: &[String]) -> Program {
    let params: Vec<String> = operands.iter().enumerate().map(|(i, ty)| format!("a{i}: {ty}")).collect();
    let args: Vec<String> = (0..operands.len()).map(|i| format!("a{i}")).collect();
    let targets: Vec<String> = results.iter().enumerate().map(|(i, ty)| format!("r{i} : {ty}")).collect();
    let names: Vec<String> = (0..results.len()).map(|i| format!("r{i}")).collect();
    read(&format!(
        "program p\n\nfunc main({}) -> ({}) {{\n  {} = call {call}({})\n}}\n",
        params.join(", "),
        names.join(", "),
        targets.join(", "),
        args.join(", ")
    ))
}

fn random(program: &Program, seed: u64) -> Vec<Buffer> {
    random_args(program.function("main").unwrap(), seed)
}

/// The types with a batch or without one, and how matrices of a size are written.
const TYPES: [&str; 4] = ["f32", "f64", "c64", "c128"];

/// Matrices with distinct singular values and eigenvalues of the Hermitian part: a random one on a large diagonal.
fn well_conditioned(program: &Program, seed: u64) -> Vec<Buffer> {
    let mut args = random(program, seed);
    for arg in &mut args {
        let [.., m, n] = arg.shape() else { continue };
        let (m, n) = (*m, *n);
        for k in 0..arg.len() {
            let (row, column) = (k / n % m, k % n);
            let own = if row == column { 3.0 + row as f64 } else { 0.0 };
            let dtype = arg.dtype();
            let value = arg.get(k).as_complex() * 0.2 + own;
            let value = match dtype.is_complex() {
                true => surject_ir::Scalar::from_complex(dtype, value),
                false => surject_ir::Scalar::from_f64(dtype, value.re),
            };
            arg.set(k, value);
        }
    }
    args
}

#[test]
fn transforms_are_those_of_the_interpreter() {
    for (dtype, real) in [("c64", "f32"), ("c128", "f64")] {
        for (batch, lengths) in
            [("", vec![8]), ("3,", vec![7]), ("2,", vec![4, 6]), ("2,2,", vec![3, 4, 5]), ("", vec![1])]
        {
            let list = |sizes: &[usize]| sizes.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
            let mut halves = lengths.clone();
            *halves.last_mut().unwrap() = lengths.last().unwrap() / 2 + 1;
            let (whole, half) = (list(&lengths), list(&halves));
            for (kind, from, to) in [
                ("fft", format!("{dtype}[{batch}{whole}]"), format!("{dtype}[{batch}{whole}]")),
                ("ifft", format!("{dtype}[{batch}{whole}]"), format!("{dtype}[{batch}{whole}]")),
                ("rfft", format!("{real}[{batch}{whole}]"), format!("{dtype}[{batch}{half}]")),
                ("irfft", format!("{dtype}[{batch}{half}]"), format!("{real}[{batch}{whole}]")),
            ] {
                let program = program(&format!("fft{{kind={kind}, lengths=[{whole}]}}"), &[from], &[to]);
                agree(&program, &random(&program, 3));
            }
        }
    }
}

#[test]
fn factors_of_cholesky_are_those_of_the_interpreter() {
    for dtype in TYPES {
        for lower in [true, false] {
            for shape in ["5,5", "2,3,4,4", "1,1"] {
                let ty = format!("{dtype}[{shape}]");
                let program = program(
                    &format!("cholesky{{lower={lower}}}"),
                    std::slice::from_ref(&ty),
                    std::slice::from_ref(&ty),
                );
                agree(&program, &well_conditioned(&program, 1));
                // One without a factor: NaNs in its triangle, and nowhere else.
                agree(&program, &random(&program, 2));
            }
        }
    }
}

#[test]
fn triangular_systems_are_those_of_the_interpreter() {
    for (i, dtype) in TYPES.into_iter().enumerate() {
        for flags in 0..24 {
            let [left, lower, unit] = [flags & 1, flags >> 1 & 1, flags >> 2 & 1].map(|bit| bit == 1);
            let transpose = ["no", "transpose", "adjoint"][flags / 8];
            let batch = if i % 2 == 0 { "" } else { "2," };
            let sizes = if left { "4,3" } else { "3,4" };
            let call = format!(
                "triangular_solve{{left_side={left}, lower={lower}, unit_diagonal={unit}, transpose={transpose}}}"
            );
            let (a, b) = (format!("{dtype}[{batch}4,4]"), format!("{dtype}[{batch}{sizes}]"));
            let program = program(&call, &[a, b.clone()], &[b]);
            agree(&program, &well_conditioned(&program, flags as u64));
        }
    }
}

#[test]
fn routines_of_lapack_are_those_of_the_interpreter() {
    for (i, dtype) in TYPES.into_iter().enumerate() {
        let real = ["f32", "f64", "f32", "f64"][i];
        let batch = if i % 2 == 0 { "" } else { "2," };
        let of = |ty: &str, sizes: &[usize]| {
            let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
            format!("{ty}[{batch}{}]", sizes.join(",")).replace(",]", "]")
        };
        let run = |routine: &str, operands: &[String], results: &[String]| {
            let program = program(&format!("lapack{{routine={routine}}}"), operands, results);
            agree(&program, &well_conditioned(&program, i as u64));
            program
        };
        for (m, n) in [(4, 4), (5, 3), (3, 5)] {
            let k = m.min(n);
            let a = of(dtype, &[m, n]);
            let lu = [a.clone(), of("i32", &[k]), of("i32", &[m]), of("i32", &[])];
            let program = run("getrf", std::slice::from_ref(&a), &lu);
            // Rows that change places.
            agree(&program, &random(&program, 7));
            run("geqrf", std::slice::from_ref(&a), &[a.clone(), of(dtype, &[k])]);
            if m >= n {
                run("orgqr", &[a.clone(), of(dtype, &[k])], std::slice::from_ref(&a));
            }
            for side in ["left", "right"] {
                let sizes = if side == "left" { [m, 2] } else { [2, m] };
                let c = of(dtype, &sizes);
                for adjoint in ["", "_adjoint"] {
                    let operands = [a.clone(), of(dtype, &[k]), c.clone()];
                    run(&format!("ormqr_{side}{adjoint}"), &operands, std::slice::from_ref(&c));
                }
            }
            for full in [false, true] {
                let program = read(&values(dtype, real, [m, n], full));
                agree(&program, &well_conditioned(&program, 5));
            }
        }
        for triangle in ["lower", "upper"] {
            let program = read(&vectors(dtype, real, triangle));
            agree(&program, &well_conditioned(&program, 6));
        }
    }
}

/// The conjugate of an element, as text.
fn conjugate(dtype: &str, element: &str) -> String {
    match dtype.starts_with('c') {
        true => format!("complex(real({element}), neg(imag({element})))"),
        false => element.to_string(),
    }
}

/// Singular vectors are free up to a phase each, those without values up to more: what they are orthogonal to, and what
/// they give with the values, is not.
fn values(dtype: &str, real: &str, [m, n]: [usize; 2], full: bool) -> String {
    let k = m.min(n);
    let (lefts, rights, routine) = if full { (m, n, "gesdd_full") } else { (k, k, "gesdd") };
    let (left, right) = (conjugate(dtype, "u[b,p,i]"), conjugate(dtype, "v[b,j,p]"));
    format!(
        "program p

func main(a: {dtype}[2,{m},{n}]) -> (s, whole, left, right, info) {{
  s : {real}[2,{k}], u : {dtype}[2,{m},{lefts}], v : {dtype}[2,{rights},{n}], info : i32[2] = \
             call lapack{{routine={routine}}}(a)
  whole : {dtype}[2,{m},{n}] =:+ over b<2, i<{m}, j<{n}, p<{k} at [b,i,j]: u[b,i,p] * {dtype}(s[b,p]) * v[b,p,j]
  left : {dtype}[2,{lefts},{lefts}] =:+ over b<2, i<{lefts}, j<{lefts}, p<{m} at [b,i,j]: {left} * u[b,p,j]
  right : {dtype}[2,{rights},{rights}] =:+ over b<2, i<{rights}, j<{rights}, p<{n} at [b,i,j]: v[b,i,p] * {right}
}}
"
    )
}

/// Of eigenvectors, what the matrix makes of them beside what their values do.
fn vectors(dtype: &str, real: &str, triangle: &str) -> String {
    let adjoint = conjugate(dtype, "a[b,j,i]");
    let right = conjugate(dtype, "v[b,j,p]");
    format!(
        "program p

func main(a: {dtype}[2,4,4]) -> (w, whole, info) {{
  h : {dtype}[2,4,4] =: over b<2, i<4, j<4: a[b,i,j] + {adjoint}
  v : {dtype}[2,4,4], w : {real}[2,4], info : i32[2] = call lapack{{routine=heevd_{triangle}}}(h)
  whole : {dtype}[2,4,4] =:+ over b<2, i<4, j<4, p<4 at [b,i,j]: v[b,i,p] * {dtype}(w[b,p]) * {right}
}}
"
    )
}

const SOLVER: &str = "program p

func main(a: f32[4,4], z: c64[2,8]) -> (x, y) {
  b : f32[4,4] =: over i<4, j<4: a[i,j] * 0.5f32
  c : f32[4,4] = call cholesky{lower=true}(b)
  x : f32[4,4] =: over i<4, j<4: c[i,j] + 1.0f32
  w : c64[2,8] = call fft{kind=ifft, lengths=[8]}(z)
  y : c64[2,8] =: over i<2, j<8: w[i,7 - j]
}
";

#[test]
fn a_plan_has_both_forms_until_a_device_says_which() {
    let plan = plan(&read(SOLVER));
    insta::assert_snapshot!("both_forms", plan.to_string());
    let mut settled = plan.clone();
    settle(&mut settled, &mut Simulated::new(MEMORY)).unwrap();
    insta::assert_snapshot!("by_libraries", settled.to_string());
    assert!(settled.peak_bytes() > plan.peak_bytes(), "the workspaces are counted");
    let mut device = Simulated::new(MEMORY);
    device.missing = vec![Library::Cusolver];
    let mut settled = plan;
    settle(&mut settled, &mut device).unwrap();
    insta::assert_snapshot!("without_cusolver", settled.to_string());
}

/// A transform in a loop of known rounds, and a system in one whose end the device decides: what loops carry is never
/// overwritten before it is read.
const LOOPS: &str = "program p

func main(z: c64[8], a: f32[3,3], b: f32[3,2]) -> (y, x, n) {
  zero : i32[] =: 0i32
  y : c64[8], k : i32[] = while (z, zero) {
    cond(u0: c64[8], i0: i32[]) -> (go) {
      go : i1[] =: i0 < 5i32
    }
    body(u: c64[8], i: i32[]) -> (w, next) {
      next : i32[] =: i + 1i32
      v : c64[8] = call fft{kind=fft, lengths=[8]}(u)
      w : c64[8] =: over j<8: complex(real(v[j]) * 0.25f32, imag(v[7 - j]) * 0.25f32)
    }
  }
  x : f32[3,2], n : i32[] = while (b, zero) {
    cond(s0: f32[3,2], m0: i32[]) -> (on) {
      top : f32[] =:max over i<3, j<2 at []: abs(s0[i,j])
      on : i1[] =: select(top[] > 0.01f32, m0 < 9i32, false)
    }
    body(s: f32[3,2], m: i32[]) -> (t, more) {
      more : i32[] =: m + 1i32
      t : f32[3,2] = call triangular_solve{left_side=true, lower=true, unit_diagonal=false, transpose=no}(a, s)
    }
  }
}
";

#[test]
fn calls_in_loops_find_what_the_loops_carry() {
    let program = read(LOOPS);
    for seed in 0..4 {
        agree(&program, &well_conditioned(&program, seed));
    }
}

/// Transforms and triangular systems are recorded with the kernels around them. A device that refuses that does them one by
/// one, and says so; factorisations are never recorded.
#[test]
fn calls_are_recorded_where_their_library_allows_it() {
    let program = read(LOOPS);
    let args = well_conditioned(&program, 1);
    let expected = interp::run(&program, "main", &args).unwrap();
    let plan = plan(&program);
    for (refuses, shuffled) in [(false, None), (false, Some(3)), (true, None), (true, Some(5))] {
        let mut device = shuffled.map_or_else(|| Simulated::new(MEMORY), |s| Simulated::shuffled(MEMORY, s));
        device.unrecorded = if refuses { Library::ALL.to_vec() } else { Vec::new() };
        let mut session = Session::new(device, plan.clone()).unwrap();
        let mut calls = Vec::new();
        for _ in 0..4 {
            for (found, expected) in session.run(&args).unwrap().iter().zip(&expected) {
                let report = compare(found, expected, 2e-4, 2e-4);
                assert!(report.passed(), "{report}\n{plan}");
            }
            calls.push(session.counts());
        }
        let counts = calls[3];
        assert_eq!(!session.refused().is_empty(), refuses, "{counts:?}");
        assert!(session.refused().iter().all(|why| why.contains("it is not recorded")));
        // Once all is recorded, no call is made one by one.
        assert_eq!(calls[2].calls == calls[3].calls, !refuses, "{calls:?}\n{plan}");
        assert!(counts.host == 0 && (refuses || counts.replays > 4), "{counts:?}");
    }
    let solver = self::plan(&read(SOLVER));
    let args = well_conditioned(&read(SOLVER), 2);
    let mut session = Session::new(Simulated::new(MEMORY), solver).unwrap();
    let counts = [(); 3].map(|()| session.run(&args).map(|_| session.counts().calls).unwrap());
    assert!(counts[2] > counts[1], "{counts:?}");
}

#[test]
fn what_no_library_has_says_why() {
    let ty = "f32[3,3]".to_string();
    let results = ["c64[3]", "c64[3,3]", "c64[3,3]", "i32[]"].map(String::from);
    let plan = plan(&program("lapack{routine=geev}", &[ty], &results));
    assert!(plan.is_settled() && plan.steps.iter().any(|step| matches!(step, Step::Host { .. })));
    assert!(plan.to_string().contains("// cuSOLVER has no `geev`"), "{plan}");
}

/// Small matrices of a batch are factored by one call of cuBLAS; where it is missing, by one of cuSOLVER for each.
#[test]
fn small_matrices_are_factored_together() {
    let calls = |plan: &Plan| plan.calls.iter().map(|step| step.call.to_string()).collect::<Vec<String>>();
    for (routine, shape, results, [together, each]) in [
        (
            "getrf",
            "f32[3,4,4]",
            &["f32[3,4,4]", "i32[3,4]", "i32[3,4]", "i32[3]"][..],
            ["cublasSgetrfBatched of 3 times 4x4", "cusolverDnSgetrf of 3 times 4x4"],
        ),
        (
            "geqrf",
            "c128[2,5,3]",
            &["c128[2,5,3]", "c128[2,3]"],
            ["cublasZgeqrfBatched of 2 times 5x3", "cusolverDnZgeqrf of 2 times 5x3"],
        ),
    ] {
        let results: Vec<String> = results.iter().map(ToString::to_string).collect();
        let program = program(&format!("lapack{{routine={routine}}}"), &[shape.into()], &results);
        let args = well_conditioned(&program, 3);
        let plan = plan(&program);
        assert_eq!(calls(&plan), [together]);
        let mut whole = Session::new(Simulated::new(MEMORY), plan.clone()).unwrap();
        let mut device = Simulated::new(MEMORY);
        device.missing = vec![Library::Cublas];
        let mut parts = Session::new(device, plan.clone()).unwrap();
        assert_eq!(calls(parts.plan()), [each]);
        assert_eq!(parts.run(&args).unwrap(), whole.run(&args).unwrap());
        assert_eq!((parts.counts().host, whole.counts().calls), (0, 1));
        let mut device = Simulated::new(MEMORY);
        device.missing = vec![Library::Cublas, Library::Cusolver];
        let host = Session::new(device, plan.clone()).unwrap();
        assert!(host.plan().to_string().contains("// cuSOLVER is not there"), "{}", host.plan());
        let mut device = Simulated::new(MEMORY);
        device.fail(Operation::Call, 0, DeviceError::Lost("it fell off the bus".into()));
        let error = Session::new(device, plan).unwrap().run(&args).expect_err("the call fails");
        let name = together.split(' ').next().unwrap();
        assert!(matches!(&error, RunError::Call { call, .. } if call == name), "{error}");
    }
    // Matrices that are no squares, and large ones, are factored one by one.
    for (shape, m, n) in [("f32[2,5,3]", 5, 3), ("f32[2,300,300]", 300, 300)] {
        let results =
            [shape.to_string(), format!("i32[2,{}]", m.min(n)), format!("i32[2,{m}]"), "i32[2]".into()];
        let plan = plan(&program("lapack{routine=getrf}", &[shape.to_string()], &results));
        assert_eq!(calls(&plan), [format!("cusolverDnSgetrf of 2 times {m}x{n}")]);
    }
}
