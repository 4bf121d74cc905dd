//! What the command promises: exit statuses, messages, the closing lines.

use crate::support::{own_case, surject};
use surject::Status;
use surject_runtime::{Buffer, DType, npy};

fn run_words(case: &crate::support::Case) -> Vec<&str> {
    let mut words = vec!["run", case.program.as_str(), "--rtol", "1e-5", "--atol", "1e-5"];
    case.inputs.iter().for_each(|i| words.extend(["-i", i]));
    words
}

#[test]
fn a_difference_has_status_1() {
    let case = own_case("softmax");
    let mut words = run_words(&case);
    words.extend(["--expect", &case.inputs[0]]);
    let failure = surject(&words).expect_err("the input is not the softmax");
    assert_eq!(failure.status, Status::Difference);
}

#[test]
fn missing_inputs_are_listed() {
    let case = own_case("mlp_forward");
    let failure = surject(&["run", &case.program]).expect_err("the program takes inputs");
    assert_eq!(failure.status, Status::BadInput);
    assert!(failure.message.contains("takes 5 inputs") && failure.message.contains("f32[9,14]"), "{failure}");
}

#[test]
fn an_input_of_another_shape_is_refused() {
    let (mlp, softmax) = (own_case("mlp_forward"), own_case("softmax"));
    let failure = surject(&["run", &softmax.program, "-i", &mlp.inputs[0]]).expect_err("the shapes differ");
    assert_eq!(failure.status, Status::BadInput);
    assert!(failure.message.contains("f32[7,19]") && failure.message.contains("f32[9,14]"), "{failure}");
}

#[test]
fn unknown_names_are_refused() {
    let case = own_case("softmax");
    for words in [
        vec!["run", "/no/such/file.mlir"],
        vec!["run", &case.program, "--func", "nowhere", "-i", &case.inputs[0]],
        vec!["run", &case.program, "--backend", "abacus"],
        vec!["opt", &case.program, "--exactness", "sloppy"],
        vec!["opt", &case.program, "--without", "no-such-law"],
        vec!["fly"],
    ] {
        assert_eq!(surject(&words).expect_err("it is refused").status, Status::BadInput, "{words:?}");
    }
}

#[test]
fn what_is_not_available_has_status_3() {
    let case = own_case("softmax");
    for words in [
        vec!["run", &case.program, "-i", &case.inputs[0], "--backend", "cuda"],
        vec!["opt", &case.program, "--emit", "ptx"],
    ] {
        assert_eq!(surject(&words).expect_err("it is refused").status, Status::Unsupported, "{words:?}");
    }
}

#[test]
fn timing_closes_with_its_line() {
    let case = own_case("softmax");
    let mut words = run_words(&case);
    words.push("--time");
    let text = surject(&words).expect("it runs");
    let last: Vec<&str> = text.lines().last().unwrap_or_default().split(' ').collect();
    assert_eq!(
        (last[0], last[1], last[3], last[5]),
        ("time:", "compile_ms", "median_ms", "min_ms"),
        "{text}"
    );
    assert!([2, 4, 6].iter().all(|&i| last[i].parse::<f64>().is_ok()), "{text}");
}

#[test]
fn subnormal_numbers_are_kept_unless_they_are_to_be_flushed() {
    let folder = std::env::temp_dir().join(format!("surject-subnormals-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).to_str().expect("paths are text").to_string();
    let (program, input) = (path("program.mlir"), path("in0.npy"));
    let text = "func.func @main(%x: tensor<400000xf32>) -> tensor<400000xf32> {\n\
                  %half = stablehlo.constant dense<0.5> : tensor<400000xf32>\n\
                  %0 = stablehlo.multiply %x, %half : tensor<400000xf32>\n\
                  return %0 : tensor<400000xf32>\n}\n";
    std::fs::write(&program, text).expect("a file");
    // The smallest normal number, many times: enough for several threads.
    for (name, bits) in [("in0", 1u32 << 23), ("keep", 1 << 22), ("flush", 0)] {
        let bytes = bits.to_le_bytes().repeat(400_000);
        let tensor = Buffer::from_bytes(DType::F32, &[400_000], &bytes).expect("as many bytes");
        npy::write(path(&format!("{name}.npy")), &tensor).expect("a file");
    }
    for mode in ["keep", "flush"] {
        let expected = path(&format!("{mode}.npy"));
        let words = ["run", &program, "-i", &input, "--subnormals", mode, "--expect", &expected];
        let exact = ["--rtol", "0", "--atol", "0"];
        let outcome = surject(&[words.as_slice(), &exact].concat());
        assert!(outcome.is_ok(), "{mode}: {outcome:?}");
    }
    let words = ["run", &program, "-i", &input, "--subnormals", "flush", "--backend", "interp"];
    assert_eq!(surject(&words).expect_err("the interpreter keeps them").status, Status::BadInput);
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn symbolic_sizes_are_those_of_the_files() {
    let folder = std::env::temp_dir().join(format!("surject-symbolic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name).to_str().expect("paths are text").to_string();
    let program = path("product.program");
    let text = "func main(a: f32[in0.0,in0.1], b: f32[in0.1,in1.1]) -> (c) {\n  \
                c : f32[in0.0,in1.1] =:+ over i<in0.0, j<in0.1, k<in1.1 at [i,k]: a[i,j] * b[j,k]\n}\n";
    std::fs::write(&program, text).expect("a file");
    let ones = |name: &str, shape: &[usize], value: f32| {
        let bytes = value.to_le_bytes().repeat(shape.iter().product());
        let tensor = Buffer::from_bytes(DType::F32, shape, &bytes).expect("as many bytes");
        npy::write(path(name), &tensor).expect("a file");
        path(name)
    };
    // One program, the sizes of each call.
    for (m, n, k) in [(2, 3, 4), (1, 5, 1), (7, 1, 2)] {
        let (a, b) = (ones("a.npy", &[m, n], 1.0), ones("b.npy", &[n, k], 2.0));
        let expected = ones("c.npy", &[m, k], 2.0 * n as f32);
        let words = ["run", &program, "-i", &a, &b, "--backend", "interp", "--expect", &expected];
        assert!(surject(&words).expect("it runs").starts_with("out0 ok"), "{m} {n} {k}");
    }
    let (a, b) = (ones("a.npy", &[2, 3], 1.0), ones("b.npy", &[5, 4], 1.0));
    let words = ["run", &program, "-i", &a, &b, "--backend", "interp"];
    let failure = surject(&words).expect_err("3 is not 5");
    assert_eq!(failure.status, Status::BadInput);
    let message = failure.message.replace(&format!("{}/", folder.display()), "");
    let expected = "\
product.program:1:32: the input `b` is f32[in0.1,in1.1], the file holds f32[5,4]
  |
1 | func main(a: f32[in0.0,in0.1], b: f32[in0.1,in1.1]) -> (c) {
  |                                ^^^^^^^^^^^^^^^^^^^
  = axis 0 of b.npy has 5 positions where `in0.1` is 3
  = `in0.1` is 3: axis 1 of the input `a`, a.npy
  = help: give files whose shapes agree, in the order of the parameters
";
    assert_eq!(message, expected);
    let failure = surject(&["run", &program, "-i", &a, "--backend", "interp"]).expect_err("one is missing");
    assert!(failure.message.contains("takes 2 inputs"), "{failure}");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn check_counts() {
    let file = std::env::temp_dir().join(format!("surject-check-{}.mlir", std::process::id()));
    std::fs::write(
        &file,
        "func.func @right() {
           %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
           %b = stablehlo.add %a, %a : tensor<2xf32>
           check.expect_eq_const %b, dense<[2.0, 4.0]> : tensor<2xf32>
           return
         }
         func.func @wrong() {
           %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
           %b = stablehlo.multiply %a, %a : tensor<2xf32>
           check.expect_almost_eq_const %b, dense<[1.0, 3.0]> : tensor<2xf32>
           return
         }",
    )
    .expect("the temporary folder is writable");
    let file = file.to_str().expect("paths are text");
    assert_eq!(surject(&["check", file]).expect_err("one is wrong").status, Status::Difference);
    std::fs::write(
        file,
        "func.func @plain(%a: tensor<2xf32>) -> tensor<2xf32> { return %a : tensor<2xf32> }",
    )
    .expect("the file is ours");
    let failure = surject(&["check", file]).expect_err("nothing is checked");
    assert_eq!(failure.status, Status::BadInput);
    assert!(failure.message.contains("check.expect_"), "{failure}");
    std::fs::remove_file(file).expect("the file is ours");
}

/// What `opt` writes after a stage it reads again, and takes to the stages after it.
#[test]
fn every_stage_picks_up_where_another_stopped() {
    let case = own_case("softmax");
    let folder = std::env::temp_dir().join(format!("surject-stop-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let stop = |from: &str, stage: &str, extension: &str| {
        let to = folder.join(format!("{stage}.{extension}")).display().to_string();
        surject(&["opt", from, "--stop-after", stage, "-o", &to]).unwrap_or_else(|f| panic!("{stage}: {f}"));
        to
    };
    let whole = |form: &str| surject(&["opt", &case.program, "--emit", form]).expect("the program compiles");
    let dialect = stop(&case.program, "dialect", "mlir");
    let egraph = stop(&dialect, "egraph", "mlir");
    // The e-graph has nothing left to do to what it gave.
    let again = surject(&["opt", &egraph, "--emit", "dialect"]).expect("the module is read");
    assert_eq!(std::fs::read_to_string(&egraph).expect("written"), again);
    let mlir = stop(&egraph, "mlir", "mlir");
    assert_eq!(std::fs::read_to_string(&mlir).expect("written"), whole("mlir"));
    for form in ["llvm-dialect", "llvm", "asm"] {
        let text = surject(&["opt", &mlir, "--emit", form]).unwrap_or_else(|f| panic!("{form}: {f}"));
        assert_eq!(text, whole(form), "{form}");
    }
    let schedule = stop(&egraph, "schedule", "txt");
    let kernel = stop(&egraph, "kernel", "kernel");
    let kernels = surject(&["opt", &egraph, "--emit", "kernel", "--schedule", &schedule]);
    assert_eq!(std::fs::read_to_string(&kernel).expect("written"), kernels.expect("the schedules fit"));
    let printed = surject(&["opt", &kernel]).expect("the kernels are verified");
    assert_eq!(std::fs::read_to_string(&kernel).expect("written"), printed);
    // Kernels become MLIR for their machine, as from the program.
    for (form, machine) in [("cpu", "generic"), ("gpu", "sm_90a")] {
        let from = |file: &str| surject(&["opt", file, "--emit", form, "--machine", machine]);
        let given = surject(&["opt", &egraph, "--emit", "kernel", "--machine", machine]).expect("kernels");
        std::fs::write(&kernel, given).expect("the folder is writable");
        assert_eq!(from(&kernel).expect("kernels are read"), from(&egraph).expect("the program has kernels"));
    }
    let failure = surject(&["opt", &kernel, "--mlir-passes", "cse"]).expect_err("the dialect is behind");
    assert!(failure.message.contains("--mlir-passes is for a stage"), "{failure}");
    // A later stage has no earlier form.
    for (file, form) in [(&mlir, "dialect"), (&kernel, "stablehlo")] {
        let failure = surject(&["opt", file, "--emit", form]).expect_err("there is no way back");
        assert!(failure.message.contains("from here, --emit gives"), "{failure}");
    }
    let failure = surject(&["run", &kernel]).expect_err("kernels are no program");
    assert!(failure.message.contains("a stage behind that of a program"), "{failure}");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn passes_of_mlir_run_before_the_egraph() {
    let case = own_case("softmax");
    let run = |passes: &str| surject(&["opt", &case.program, "--emit", "program", "--mlir-passes", passes]);
    assert_eq!(
        run("canonicalize,cse").unwrap(),
        surject(&["opt", &case.program, "--emit", "program"]).unwrap()
    );
    let failure = run("nosuch").expect_err("there is no such pass");
    assert!(failure.message.contains("--mlir-passes") && failure.message.contains("'nosuch'"), "{failure}");
}

#[test]
fn pipelines_are_printed_for_mlir_opt() {
    let text = surject(&["doctor", "--pipelines"]).expect("it only prints");
    assert_eq!(text.matches("mlir-opt-22 --pass-pipeline='builtin.module(").count(), 2, "{text}");
}

#[test]
fn machines_are_those_of_kernels() {
    let case = own_case("softmax");
    for words in [["opt", &case.program, "--machine", "avx2"], ["run", &case.program, "--machine", "avx2"]] {
        let failure = surject(&words).expect_err("no other form has machines");
        assert!(failure.message.contains("needs `--"), "{failure}");
    }
}

#[test]
fn kernels_run_as_native_code() {
    let case = own_case("softmax");
    let run = |words: &[&str]| {
        let mut all = vec!["run", &case.program, "-i", &case.inputs[0], "--backend", "kernel", "--native"];
        all.extend(words);
        surject(&all)
    };
    let text = run(&["--machine", "avx2", "--profile"]).expect("the kernels are compiled");
    assert!(text.contains("kernel `v10_0` by its schedule"), "{text}");
    let failure = run(&["--machine", "sm_90a"]).expect_err("this processor is no GPU");
    assert!(failure.message.contains("`sm_90a` is no CPU, which compiled code needs"), "{failure}");
    let failure =
        surject(&["run", &case.program, "-i", &case.inputs[0], "--native"]).expect_err("no kernels");
    assert!(failure.message.contains("it needs `--backend kernel`"), "{failure}");
}

/// The schedules of `host` are those by which the command makes kernels for this processor.
#[test]
fn this_processor_is_a_machine() {
    let case = own_case("softmax");
    let folder = std::env::temp_dir().join(format!("surject-host-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let file = folder.join("softmax.schedule").display().to_string();
    let schedule = surject(&["opt", &case.program, "--emit", "schedule", "--machine", "host"]);
    std::fs::write(&file, schedule.expect("schedules")).expect("the folder is writable");
    let kernels = |words: &[&str]| {
        let mut all = vec!["opt", &case.program, "--emit", "kernel", "--machine", "host"];
        all.extend(words);
        surject(&all).expect("kernels")
    };
    assert_eq!(kernels(&["--schedule", &file]), kernels(&[]));
    let failure = surject(&["opt", &case.program, "--emit", "schedule", "--machine", "there"]);
    let message = failure.expect_err("no such machine").message;
    assert!(message.contains("there is no machine `there`; there are host, generic"), "{message}");
}

#[test]
fn compiled_programs_take_kernels_that_the_user_schedules() {
    let case = own_case("softmax");
    let folder = std::env::temp_dir().join(format!("surject-scheduled-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let file = folder.join("softmax.schedule").display().to_string();
    let schedule =
        surject(&["opt", &case.program, "--emit", "schedule", "--machine", "generic"]).expect("schedules");
    std::fs::write(&file, schedule).expect("the folder is writable");
    let run = |words: &[&str]| {
        let mut all = vec!["run", &case.program, "-i", &case.inputs[0], "--schedule", &file];
        all.extend(words);
        surject(&all)
    };
    let checked = run(&["--expect", &case.outputs[0]]).expect("it runs");
    assert!(checked.starts_with("out0 ok"), "{checked}");
    let plan = surject(&["opt", &case.program, "--emit", "plan", "--schedule", &file]).expect("a plan");
    assert!(plan.contains("kernel `v10_0` by its schedule"), "{plan}");
    let code = surject(&["opt", &case.program, "--emit", "mlir", "--schedule", &file]).expect("code");
    let own = surject(&["opt", &case.program, "--emit", "mlir"]).expect("code");
    assert_ne!(code, own);
    std::fs::write(&file, "kernel v10_7\n").expect("the folder is writable");
    let failure = run(&[]).expect_err("there is no such kernel");
    assert!(failure.message.contains("no assignment of the program has a kernel `v10_7`"), "{failure}");
    let failure = run(&["--machine", "sm_90a"]).expect_err("a GPU");
    assert!(failure.message.contains("`sm_90a` is no CPU, which compiled code needs"), "{failure}");
    let failure = run(&["--backend", "interp"]).expect_err("no kernels");
    assert!(failure.message.contains("--schedule needs `--backend cpu`"), "{failure}");
}

/// What `--emit schedule` prints is read again, with library operations too; what is wrong is pointed at.
#[test]
fn schedules_are_read_as_they_are_printed() {
    let case = own_case("sorting");
    let folder = std::env::temp_dir().join(format!("surject-schedules-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let file = folder.join("s.txt").display().to_string();
    let kernels = |words: &[&str]| {
        let mut all = vec!["opt", &case.program, "--emit", "kernel", "--machine", "avx2"];
        all.extend(words);
        surject(&all)
    };
    let schedule = surject(&["opt", &case.program, "--emit", "schedule", "--machine", "avx2"]);
    std::fs::write(&file, schedule.expect("schedules")).expect("the folder is writable");
    assert_eq!(kernels(&["--schedule", &file]).expect("they fit"), kernels(&[]).expect("kernels"));
    let said = |bytes: &[u8]| {
        std::fs::write(&file, bytes).expect("the folder is writable");
        let failure = kernels(&["--schedule", &file]).expect_err("it is wrong");
        assert_eq!(failure.status, Status::BadInput);
        failure.message.replace(&file, "s.txt")
    };
    let cases: [&[u8]; 5] = [
        b"kernel v1_1_0\n\tsplit i0  by q9\n",
        b"kernel v1_1_0\nsplit q9 by 4 // a loop\n",
        b"kernel v1_1_0\nsplit i0 by 9223372036854775807\n",
        b"kernel v0_0\n",
        b"kernel v1_1_0\nspl\xffit i0 by 4\n",
    ];
    insta::assert_snapshot!(cases.map(said).join("\n"));
    let _ = std::fs::remove_dir_all(&folder);
}

/// A machine takes schedules of what it has, and says of others what it has instead.
#[test]
fn schedules_for_another_machine_are_refused() {
    let case = own_case("softmax");
    let folder = std::env::temp_dir().join(format!("surject-machines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    let file = folder.join("s.txt").display().to_string();
    let run = |machine: &str, schedule: &str| {
        std::fs::write(&file, schedule).expect("the folder is writable");
        let mut words = run_words(&case);
        words.extend(["--expect", &case.outputs[0], "--backend", "kernel", "--schedule", &file]);
        words.extend(["--machine", machine].into_iter().filter(|_| !machine.is_empty()));
        surject(&words)
    };
    // What a machine proposes it takes.
    let machines = ["generic", "avx2", "avx512", "amx", "sm_80", "sm_90", "sm_90a", "sm_100"];
    for machine in machines {
        let own = surject(&["opt", &case.program, "--emit", "schedule", "--machine", machine]);
        let text = run(machine, &own.expect("schedules")).unwrap_or_else(|e| panic!("{machine}: {e}"));
        assert!(text.starts_with("out0 ok"), "{machine}: {text}");
    }
    let threads =
        "kernel v10_0\nsplit i0 by 7\norder i0.o i1 i0.i\nparallel i0.o block\nparallel i0.i thread\n";
    let cases = [
        ("avx2", threads),
        ("", threads),
        ("sm_90a", "kernel v10_0\n  parallel i0 task // all rows\n"),
        ("generic", "kernel v10_0\nvectorise i1\n"),
        ("generic", "kernel v10_0\nfma k0\n"),
        ("sm_80", "kernel v10_0\njam i1\n"),
        ("sm_80", "kernel v10_0\npack v0 at i0\n"),
        ("sm_80", "kernel v10_0\nkeys k0\n"),
        ("sm_80", "kernel v10_0\ncontract i0 i1 k0 tile 64 64 64 group\n"),
        ("sm_100", "kernel v10_0\ncontract i0 i1 k0 tile 64 64 64 group tma\n"),
        ("avx512", "kernel v10_0\ncontract i0 i1 k0 tile 64 64 64 warp 32\n"),
        ("avx512", "kernel v10_0\ncontract i0 i1 k0 tile 32 32 by tiles task 64 64 each 1\n"),
        ("generic", "kernel v10_0\ncontract i0 i1 k0 tile 32 32 by dots task 64 64 each 1\n"),
        ("avx2", "kernel v10_0\ntranspose i0 i1 tile 32 32 warps 8\n"),
        ("sm_90a", "kernel v10_0\nscan i1 lanes 8 lines 1\n"),
    ];
    let said = cases.map(|(machine, schedule)| {
        let failure = run(machine, schedule).expect_err(schedule);
        assert_eq!(failure.status, Status::BadInput);
        failure.message.replace(&file, "s.txt")
    });
    insta::assert_snapshot!(said.join("\n"));
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn compiled_code_is_interpreted_for_any_processor() {
    let case = own_case("softmax");
    for machine in [&[][..], &["--machine", "generic"], &["--machine", "avx2"], &["--machine", "avx512"]] {
        let mut words = run_words(&case);
        words.extend(["--backend", "code", "--expect", &case.outputs[0]]);
        words.extend(machine);
        let text = surject(&words).expect("it runs");
        assert!(text.starts_with("out0 ok"), "{text}");
    }
    let mut words = run_words(&case);
    words.extend(["--backend", "code", "--machine", "sm_90a"]);
    let failure = surject(&words).expect_err("a GPU");
    assert!(
        failure.message.contains("there is no processor `sm_90a`; there are generic, avx2, avx512"),
        "{failure}"
    );
}

#[test]
fn forms_of_kernels_are_told() {
    let file = std::env::temp_dir().join(format!("surject-forms-{}.program", std::process::id()));
    let file = file.display().to_string();
    // Nobody takes results of 8 bits from the kernel IR.
    let program = "func main(a: f32[64,300]) -> (r) {\n  r : u8[64,300] =: over i<64, j<300: u8(a[i,j])\n}\n";
    std::fs::write(&file, program).expect("the folder is writable");
    let text = surject(&["opt", &file, "--emit", "forms"]).expect("a plan");
    assert!(
        text.contains("  form: rows\n") && text.contains("  no product: there is no reduction"),
        "{text}"
    );
    let failure = surject(&["opt", &file, "--emit", "forms", "--machine", "sm_90a"]).expect_err("a GPU");
    assert!(failure.message.contains("`--emit schedule`"), "{failure}");
}

#[test]
fn doctor_reports() {
    let text = surject(&["doctor"]).expect("it only reports");
    assert!(text.contains("MLIR") && text.contains("processor"), "{text}");
}
