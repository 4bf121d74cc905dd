//! Files that must be read (`tests/pass`) and files that must be refused with a pinned message (`tests/fail`, the
//! message beside the file as `.txt`; `SURJECT_UPDATE=1` writes it).

use std::path::{Path, PathBuf};

use surject_stablehlo::{Module, parse, parse_and_verify, print, print_generic, verify};

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(root).expect("the folder is part of the crate");
    let mut out: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    out.retain(|p| p.extension().is_some_and(|e| e == extension));
    out.sort();
    assert!(!out.is_empty());
    out
}

fn read(path: &Path, text: &str) -> Module {
    let module = parse(text).unwrap_or_else(|e| panic!("{}", e.render(&path.display().to_string(), text)));
    if let Err(errors) = verify(&module) {
        panic!("{}", errors[0].render(&path.display().to_string(), text));
    }
    module
}

#[test]
fn files_that_pass_read_back_from_both_forms() {
    for path in files("pass", "mlir") {
        let text = std::fs::read_to_string(&path).expect("readable");
        let module = read(&path, &text);
        for printed in [print(&module), print_generic(&module)] {
            let again = read(&path, &printed);
            assert!(module.same(&again), "{}\n{printed}\n{}", path.display(), print(&again));
            assert_eq!(print(&again), print(&module), "{}", path.display());
        }
    }
}

#[test]
fn files_that_fail_say_why() {
    let mut wrong = Vec::new();
    for path in files("fail", "mlir") {
        let source = std::fs::read(&path).expect("readable");
        let name = path.file_name().expect("a file").to_string_lossy().into_owned();
        let message = match parse_and_verify(&source) {
            Ok(_) => "accepted".to_string(),
            Err(error) => error.render(&name, &source),
        };
        let pinned = path.with_extension("txt");
        if std::env::var_os("SURJECT_UPDATE").is_some() {
            std::fs::write(&pinned, &message).expect("writable");
        }
        if std::fs::read_to_string(&pinned).unwrap_or_default() != message || message == "accepted" {
            wrong.push(format!("{name}:\n{message}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
