//! `surject infer`, and tensor source in `run` and `opt`: what is shown, what is computed, what is refused.

use crate::support::{root, surject};
use surject::Status;

fn program(name: &str) -> String {
    root().join(format!("tests/infer/{name}.sj")).to_str().expect("paths are text").to_string()
}

/// The output of the command, with the programs under their names alone.
fn shown(words: &[&str]) -> String {
    let text = surject(words).unwrap_or_else(|f| panic!("{words:?}: {f}"));
    let folder = root().join("tests/infer");
    text.replace(&format!("{}/", folder.display()), "")
}

const PROGRAMS: [&str; 6] = ["matmul", "mlp", "attention", "convolution", "concat", "train_step"];

#[test]
fn text() {
    for name in PROGRAMS {
        insta::assert_snapshot!(format!("infer__{name}"), shown(&["infer", &program(name)]));
    }
}

#[test]
fn json() {
    for name in PROGRAMS {
        insta::assert_snapshot!(format!("infer_json__{name}"), shown(&["infer", "--json", &program(name)]));
    }
}

#[test]
fn texts_of_the_command_line() {
    let words: [&[&str]; 9] = [
        &["-e", "input a: \"5->3\"; input b: \"4->5\"; output c; let c = a * b;"],
        &["-e", "a * b"],
        &["-e", "a +* b \"ij;jk=>ik\"", "--shape", "a=3,4", "--shape", "b=4,5"],
        &["-e", "ij;jk=>ik", "--shape", "3,4", "--shape", "4,5"],
        &["-e", "i,k; j,k => i^j,k", "--shape", "a=3,4", "--shape", "b=2,4"],
        &["-e", "2*o<+k; k => o", "--shape", "11", "--shape", "3"],
        &["-e", "relu({ w, o = [16] } * x)", "--shape", "x=8|4:rgb"],
        &["-e", "let s = a ++ \"...|... => 0\"; s.backprop; output s", "--shape", "a=3,2"],
        &["-e", "let [p, q] = x ++^ \"a^b => a; b\" [\"a\"]; set_dim(a, 2); output p, q;", "--shape", "x=5"],
    ];
    let all: Vec<String> = words
        .iter()
        .map(|w| {
            let words: Vec<&str> = std::iter::once("infer").chain(w.iter().copied()).collect();
            format!("$ surject {}\n{}", words.join(" "), shown(&words))
        })
        .collect();
    insta::assert_snapshot!("infer__command_line", all.join("\n"));
}

#[test]
fn dot_is_written() {
    let file = std::env::temp_dir().join(format!("surject-infer-{}.dot", std::process::id()));
    surject(&["infer", &program("mlp"), "--dot", file.to_str().expect("paths are text")]).expect("it infers");
    let text = std::fs::read_to_string(&file).expect("it was written");
    std::fs::remove_file(&file).expect("the file is ours");
    assert!(text.starts_with("digraph") && text.contains("8|16"), "{text}");
}

/// Wrong inputs: the arguments, and the status they must end with.
#[test]
fn wrong_inputs_point_at_the_place() {
    use Status::{BadInput, Shape};
    let wrong: [(&str, &[&str], Status); 22] = [
        ("no_semicolon", &["-e", "let y = a * b let z = y"], BadInput),
        ("unfinished", &["-e", "let y = (a * b"], BadInput),
        ("unknown_sign", &["-e", "a # b"], BadInput),
        ("spec_without_arrow", &["-e", "a +* b \"ij;jk=ik\""], BadInput),
        ("bare_spec", &["-e", "ij;jk=>i^"], BadInput),
        ("unknown_name", &["-e", "input a; output b;"], BadInput),
        ("unknown_function", &["-e", "rellu(a)"], BadInput),
        ("wrong_sort", &["-e", "input a; let f = |x| x; output f;"], BadInput),
        ("arity_of_the_spec", &["-e", "a +* b \"ij=>i\""], BadInput),
        ("shape_notation", &["-e", "a * b", "--shape", "a=3;;4"], BadInput),
        ("shape_of_nothing", &["-e", "a * b", "--shape", "c=3"], BadInput),
        ("no_file", &["/no/such/file.sj"], BadInput),
        ("inner_sizes", &["-e", "a * b", "--shape", "a=5->3", "--shape", "b=4->6"], Shape),
        ("spec_sizes", &["-e", "ij;jk=>ik", "--shape", "3,4", "--shape", "5,6"], Shape),
        ("basis", &["-e", "a + b", "--shape", "a=3:rgb", "--shape", "b=3:xyz"], Shape),
        ("too_many_axes", &["-e", "ij=>i", "--shape", "3,4,5"], Shape),
        ("stride", &["-e", "2*o=+k; k => o", "--shape", "7", "--shape", "3"], Shape),
        ("hidden", &["-e", "{ w2, o = [3] } * ({ w1 } * x)", "--shape", "x=4"], Shape),
        ("pointwise", &["-e", "a * b", "--shape", "a=3,4", "--shape", "b=4"], Shape),
        ("size_zero", &["-e", "a + 1", "--shape", "a=0,3"], BadInput),
        // What `run` must refuse, whatever its shapes are.
        ("no_gradient", &["-e", "input x: \"3\"; let g = x.grad; output g;"], BadInput),
        ("twice_written", &["-e", "input x: \"3,4\"; { v } =:?/ x ~logic:\"i,j => i\"; output v;"], BadInput),
    ];
    let mut all = String::new();
    for (name, words, status) in wrong {
        let words: Vec<&str> = std::iter::once("infer").chain(words.iter().copied()).collect();
        match surject(&words) {
            Ok(text) => all += &format!("# {name}: accepted\n{text}\n"),
            Err(failure) => {
                all += &format!("# {name}: status {}\n{failure}\n\n", failure.status as u8);
                if failure.status != status {
                    all += &format!("EXPECTED {status:?}\n");
                }
            }
        }
    }
    insta::assert_snapshot!("infer__wrong", all);
    assert!(!all.contains("accepted") && !all.contains("EXPECTED"), "{all}");
}

#[test]
fn errors_have_a_json_form() {
    let words = ["surject", "infer", "--json", "-e", "a * b", "--shape", "a=5->3", "--shape", "b=4->6"];
    let arguments = <surject::cli::Arguments as clap::Parser>::try_parse_from(words).expect("good usage");
    let mut out = Vec::new();
    let failure = surject::cli::execute(arguments, &mut out).expect_err("5 is not 6");
    assert_eq!(failure.status, Status::Shape);
    let text = String::from_utf8(out).expect("JSON is text");
    insta::assert_snapshot!("infer_json__error", text);
}

/// A folder of its own for files of a test.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("surject-sj-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
    folder
}

fn write(file: &std::path::Path, shape: &[usize], value: impl Fn(usize) -> f64) -> String {
    use surject::runtime::{Buffer, DType, Scalar, npy};
    let count = shape.iter().product();
    let values: Vec<Scalar> = (0..count).map(|i| Scalar::from_f64(DType::F32, value(i))).collect();
    let buffer = Buffer::from_scalars(DType::F32, shape, &values).expect("as many values as positions");
    npy::write(file, &buffer).expect("the folder is writable");
    file.to_str().expect("paths are text").to_string()
}

#[test]
fn a_training_step_runs_from_state_to_state() {
    let folder = folder("train");
    let x = write(&folder.join("x.npy"), &[8, 4], |i| (i as f64 * 0.7).sin());
    let target = write(&folder.join("t.npy"), &[8, 1], |i| i as f64 / 8.0);
    let state = folder.join("state");
    let state = state.to_str().expect("paths are text");
    let file = program("train_step");
    let step = |backend: &str, index: &str| {
        let words = ["run", &file, "-i", &x, &target, "--index", index, "--backend", backend, "--seed", "3"];
        let more = ["--state", state, "--out", state];
        surject(&[words.as_slice(), more.as_slice()].concat()).expect("it runs");
        let loss = surject::runtime::npy::read(folder.join("state/out0.npy")).expect("it was written");
        loss.get(0).as_f64()
    };
    let losses: Vec<f64> = (0..4).map(|k| step("interp", &format!("step={k}"))).collect();
    assert!(losses.windows(2).all(|w| w[1] < w[0]), "{losses:?}");
    // The state goes on from where the other back end left it.
    let next = step("cpu", "step=4");
    assert!(next < losses[3], "{next} after {losses:?}");
    let shown =
        surject(&["run", &file, "-i", &x, &target, "--index", "step=5", "--state", state]).expect("it runs");
    assert!(shown.contains("out0 loss") && shown.contains("state w") && shown.contains("state b"), "{shown}");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn inputs_of_tensor_source_are_checked() {
    let folder = folder("inputs");
    let x = write(&folder.join("x.npy"), &[8, 4], |_| 1.0);
    let file = program("train_step");
    let refused = |words: &[&str]| {
        let words: Vec<&str> = ["run", file.as_str()].into_iter().chain(words.iter().copied()).collect();
        let failure = surject(&words).expect_err("it is refused");
        assert_eq!(failure.status, Status::BadInput, "{failure}");
        failure.message
    };
    let missing = refused(&["-i", &x]);
    assert!(missing.contains("takes 2 inputs (x: f32[8,4], target: f32[8,1])"), "{missing}");
    assert!(refused(&["-i", &x, &x, "--index", "step=1"]).contains("the input `target` is f32[8,1]"));
    let t = write(&folder.join("t.npy"), &[8, 1], |_| 1.0);
    assert!(refused(&["-i", &x, &t, "--index", "stop=1"]).contains("there is no static index `stop`"));
    assert!(refused(&["-i", &x, &t, "--index", "step"]).contains("--index NAME=K"));
    assert!(refused(&["-i", &x, &t, "--index", "step=100"]).contains("below 100"));
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn the_program_of_the_demo_runs_alike_on_both_back_ends() {
    let file = program("conv_dense");
    let image = file.replace(".sj", ".npy");
    let folder = folder("demo");
    let out = folder.to_str().expect("paths are text");
    surject(&["run", &file, "-i", &image, "--seed", "1", "--backend", "interp", "--out", out])
        .expect("it runs");
    let expected = folder.join("out0.npy");
    let words = ["run", &file, "-i", &image, "--seed", "1", "--expect", expected.to_str().expect("text")];
    let text = surject(&words).unwrap_or_else(|f| panic!("{f}"));
    assert!(text.starts_with("out0 ok"), "{text}");
    let shown = shown(&["infer", &file]);
    assert!(shown.contains("scores") && shown.contains("4|10"), "{shown}");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn tensor_source_has_every_form() {
    for form in ["program", "dialect", "stablehlo", "plan", "llvm"] {
        let text =
            surject(&["opt", &program("mlp"), "--emit", form]).unwrap_or_else(|f| panic!("{form}: {f}"));
        assert!(!text.is_empty(), "{form}");
    }
    insta::assert_snapshot!("infer__mlp_program", shown(&["opt", &program("mlp"), "--emit", "program"]));
}

#[test]
fn shape_errors_of_programs_have_status_4() {
    let folder = folder("wrong");
    let file = folder.join("wrong.sj");
    std::fs::write(&file, "input a: \"5->3\";\ninput b: \"4->6\";\nlet c = a * b;\noutput c;\n")
        .expect("writable");
    let file = file.to_str().expect("paths are text");
    for command in ["run", "opt", "infer"] {
        let failure = surject(&[command, file]).expect_err("5 is not 6");
        assert_eq!(failure.status, Status::Shape, "{command}: {failure}");
        assert!(failure.message.contains("wrong.sj:3:9") && failure.message.contains("^^^"), "{failure}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}
