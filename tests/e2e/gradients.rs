//! `surject grad`: gradients of imported programs, written back as StableHLO, run.

use crate::support::{root, surject};
use surject::Status;

/// A program of the adjoint crate's tests, with its inputs and what JAX gives: the value, then the gradients.
fn case(name: &str) -> (String, Vec<String>, Vec<String>) {
    let folder = root().join("crates/surject-adjoint/tests/programs").join(name);
    let path = |file: String| folder.join(file).to_str().expect("paths are text").to_string();
    let numbered = |stem: &str| -> Vec<String> {
        let paths = (0..).map(|i| path(format!("{stem}{i}.npy")));
        paths.take_while(|p| std::path::Path::new(p).exists()).collect()
    };
    let expected = numbered("out").into_iter().chain(numbered("grad")).collect();
    (path("program.mlir".to_string()), numbered("in"), expected)
}

#[test]
fn the_gradient_of_a_network_is_a_module_that_runs() {
    let (program, inputs, expected) = case("mlp");
    let folder = std::env::temp_dir().join(format!("surject-grad-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the gradient");
    let written = folder.join("grad.mlir").to_str().expect("paths are text").to_string();
    surject(&["grad", &program, "-o", &written]).expect("it has a gradient");
    let text = std::fs::read_to_string(&written).expect("it was written");
    insta::assert_snapshot!(text);
    let mut words = vec!["run", &written, "--rtol", "1e-9", "--atol", "1e-10"];
    inputs.iter().for_each(|i| words.extend(["-i", i]));
    expected.iter().for_each(|e| words.extend(["--expect", e]));
    surject(&words).expect("the gradients are those of JAX");
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

#[test]
fn gradients_are_chosen() {
    let (program, _, _) = case("mlp");
    let all = surject(&["grad", &program, "--emit", "program"]).expect("it has a gradient");
    let one = surject(&["grad", &program, "--wrt", "3", "--no-results", "--emit", "program"]);
    let one = one.expect("it has a gradient");
    assert!(one.len() < all.len() && one.contains("-> (d_arg3)"), "{one}");
    let vjp = surject(&["grad", &program, "--vjp", "--wrt", "0,2", "--emit", "program"]).expect("it has one");
    assert!(vjp.contains(", d_v"), "{vjp}");
}

#[test]
fn what_has_no_gradient_is_refused() {
    let softmax = crate::support::own_case("softmax");
    for (words, status, code) in [
        (vec!["grad", softmax.program.as_str()], Status::BadInput, "SJ0603"),
        (vec!["grad", &softmax.program, "--vjp", "--wrt", "9"], Status::BadInput, "SJ0603"),
    ] {
        let failure = surject(&words).expect_err("it is refused");
        assert_eq!(failure.status, status, "{failure}");
        assert!(failure.message.contains(code) && failure.message.contains("help"), "{failure}");
    }
}
