//! `surject convert`, `fmt` and `refine`, and programs that are artifacts.

use crate::support::{cases, surject};
use std::path::PathBuf;
use surject::Status;

/// A folder of this test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("surject-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder is writable");
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("paths are text").to_string()
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, text).expect("the folder is writable");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

const TAN: &str = "module @m {
  func.func public @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.tan %arg0 : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
";

#[test]
fn text_becomes_an_artifact_and_text_again() {
    let folder = Folder::new("convert");
    let (a, b, c) = (folder.write("a.mlir", TAN), folder.path("b.mlirbc"), folder.path("c.mlir"));
    surject(&["convert", &a, &b, "--target-version", "1.10.0"]).expect("it converts");
    surject(&["convert", &b, &c]).expect("it converts");
    assert_eq!(std::fs::read_to_string(&c).expect("it was written"), TAN);
    let generic = surject(&["convert", &b, "-", "--generic"]).expect("it converts");
    assert!(generic.contains("\"stablehlo.tan\"(%arg0)"), "{generic}");
    let failure = surject(&["convert", &a, &b, "--target-version", "1.3.0"]).expect_err("1.3 has no tan");
    assert_eq!(failure.status, Status::BadInput);
    assert!(
        failure.message.contains("a.mlir:3:") && failure.message.contains("'stablehlo.tan'"),
        "{failure}"
    );
    let failure = surject(&["convert", &a, &b, "--target-version", "7.0"]).expect_err("there is no 7.0");
    assert_eq!(failure.status, Status::BadInput);
}

#[test]
fn files_are_formatted_in_place() {
    let folder = Folder::new("fmt");
    let text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }\n\
        // -----\nfunc.func @g() { return }\n";
    let file = folder.write("a.mlir", text);
    assert_eq!(surject(&["fmt", "--check", &file]).expect_err("it differs").status, Status::Difference);
    surject(&["fmt", &file]).expect("it formats");
    surject(&["fmt", "--check", &file]).expect("it is formatted");
    let formatted = std::fs::read_to_string(&file).expect("it was written");
    assert!(formatted.contains("func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {\n"), "{formatted}");
    let file = folder.write("b.mlir", &format!("// why\n{text}"));
    assert_eq!(surject(&["fmt", &file]).expect_err("comments are kept").status, Status::BadInput);
    assert!(surject(&["fmt", "--stdout", &file]).expect("it prints").contains("func.func @g()"));
}

#[test]
fn shapes_become_static() {
    let folder = Folder::new("refine");
    let text = "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  \
        %0 = stablehlo.add %x, %x : tensor<?x4xf32>\n  return %0 : tensor<?x4xf32>\n}\n";
    let file = folder.write("a.mlir", text);
    let refined = surject(&["refine", &file, "--args", "tensor<3x4xf32>"]).expect("it refines");
    assert!(refined.contains("stablehlo.add %arg0, %arg0 : tensor<3x4xf32>"), "{refined}");
    let failure = surject(&["refine", &file, "--args", "tensor<3x5xf32>"]).expect_err("5 is not 4");
    assert!(failure.message.contains("cannot be tensor<3x5xf32>"), "{failure}");
}

#[test]
fn artifacts_run_like_text() {
    let folder = Folder::new("artifacts");
    for case in cases().iter().filter(|c| matches!(c.name.as_str(), "mlp_forward" | "softmax" | "top_k")) {
        let artifact = std::path::Path::new(&case.program).with_extension("mlirbc");
        let program = match artifact.exists() {
            true => artifact.to_str().expect("paths are text").to_string(),
            false => {
                let file = folder.path(&format!("{}.mlirbc", case.name));
                surject(&["convert", &case.program, &file]).expect("it converts");
                file
            }
        };
        let mut words = vec!["run", &program, "--backend", "interp", "--rtol", "1e-5", "--atol", "1e-5"];
        case.inputs.iter().for_each(|i| words.extend(["-i", i]));
        case.outputs.iter().for_each(|o| words.extend(["--expect", o]));
        surject(&words).unwrap_or_else(|e| panic!("{program}: {e}"));
    }
}
