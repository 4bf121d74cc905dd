//! Input of any kind gives a module or an error: no panic, no stack overflow, in bounded time and memory.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use surject_stablehlo::{Diagnostic, Module, parse, parse_and_verify, print, print_generic};

/// The programs that are mutated: those of `tests/pass`.
fn programs() -> Vec<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/pass");
    let mut paths: Vec<_> =
        std::fs::read_dir(root).expect("part of the crate").flatten().map(|e| e.path()).collect();
    paths.sort();
    paths.iter().map(|p| std::fs::read_to_string(p).expect("readable")).collect()
}

/// Reads, and if that works prints: neither may panic; errors must render.
fn exercise(source: &[u8]) {
    match parse_and_verify(source) {
        Ok(module) => {
            print(&module);
            print_generic(&module);
        }
        Err(error) => {
            assert!(error.render("f", source).contains("error[SJ"));
            if let Ok(module) = parse(source) {
                print(&module);
            }
        }
    }
}

fn quick(source: &[u8]) -> Result<Module, Diagnostic> {
    let start = Instant::now();
    let result = parse_and_verify(source);
    // A second on an idle machine in release; tests run unoptimised beside other work.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    if let Err(error) = &result {
        assert!(error.render("f", source).len() < 10_000);
    }
    result
}

fn expect_code(source: &str, code: &str) {
    match quick(source.as_bytes()) {
        Err(error) => assert_eq!(error.code, code, "{error}"),
        Ok(_) => panic!("accepted"),
    }
}

#[test]
fn deep_nesting_is_refused() {
    let n = 100_000;
    let attribute = |open: &str| format!("module attributes {{a = {}", open.repeat(n));
    expect_code(&attribute("["), "SJ0105");
    expect_code(&attribute("{a = "), "SJ0105");
    expect_code(&format!("func.func @f(%a: {}", "tuple<".repeat(n)), "SJ0105");
    expect_code(&format!("func.func @f(%a: {}", "(".repeat(n)), "SJ0105");
    expect_code(&format!("func.func @f(%a: tensor<{}", "complex<".repeat(n)), "SJ0105");
    expect_code(&format!("func.func @f() {{\n{}", "\"x.y\"() ({\n".repeat(n)), "SJ0105");
    expect_code(&format!("func.func @f() {{\n \"x.y\"() {{a = #x.y{}", "<".repeat(n)), "SJ0101");
    let aliases: String = (0..n).map(|i| format!("#a{i} = #a{}\n", i + 1)).collect();
    expect_code(&format!("module attributes {{a = #a0}} {{}}\n{aliases}"), "SJ0105");
}

#[test]
fn nesting_within_the_limit_works() {
    let n = 60;
    let source =
        format!("func.func @f() {{\n{}{}return\n}}", "\"x.y\"() ({\n".repeat(n), "}) : () -> ()\n".repeat(n));
    let module = quick(source.as_bytes()).expect("valid");
    assert!(module.same(&parse(print_generic(&module)).expect("valid")));
}

#[test]
fn aliases_of_aliases_do_not_explode() {
    let mut source = String::from("#a0 = [1, 2, 3, 4, 5, 6, 7, 8]\n");
    for i in 1..60 {
        source.push_str(&format!("#a{i} = [#a{0}, #a{0}]\n", i - 1));
    }
    expect_code(&format!("{source}module attributes {{a = #a59}} {{}}"), "SJ0117");
}

#[test]
fn huge_shapes_are_refused_or_kept_small() {
    expect_code("func.func @f(%a: tensor<4294967296x4294967296xf32>) { return }", "SJ0117");
    expect_code(&format!("func.func @f(%a: tensor<{}f32>) {{ return }}", "1x".repeat(100_000)), "SJ0117");
    let splat = "func.func @f() -> tensor<1000000x1000000xf32> {
        %0 = stablehlo.constant dense<1.0> : tensor<1000000x1000000xf32>
        %1 = stablehlo.constant dense<\"0x0000803F\"> : tensor<1000000x1000000xf32>
        %2 = stablehlo.constant dense<true> : tensor<1000000x1000000xi1>
        return %1 : tensor<1000000x1000000xf32> }";
    let module = quick(splat.as_bytes()).expect("valid");
    assert!(module.same(&parse(print(&module)).expect("valid")));
    expect_code(
        "func.func @f() {\n%0 = stablehlo.constant dense<[1]> : tensor<1000000000000xi8>\nreturn }",
        "SJ0109",
    );
    expect_code(
        "func.func @f() {\n%0 = stablehlo.constant dense<\"0x0102\"> : tensor<1000000000000xi8>\nreturn }",
        "SJ0109",
    );
    expect_code("func.func @f() {\n%0:4000000000 = \"x.y\"() : () -> i32\nreturn }", "SJ0114");
}

#[test]
fn a_line_of_100_megabytes() {
    let mut source = String::from("module attributes {a = \"");
    source.push_str(&"x".repeat(100_000_000));
    source.push_str("\", b = @@}");
    let error = quick(source.as_bytes()).expect_err("wrong");
    let shown = error.render("f", &source);
    assert!(shown.len() < 2000 && shown.contains("…"), "{shown}");
}

#[test]
fn many_attributes_and_long_types_stay_cheap() {
    let keys: String = (0..200_000).rev().map(|i| format!("k{i:06} = {i}, ")).collect();
    expect_code(&format!("module attributes {{{keys}k000000}} {{}}"), "SJ0108");
    quick(format!("module attributes {{{keys}last}} {{ func.func @f() {{ return }} }}").as_bytes())
        .expect("valid");
    let types = "tensor<2x3xf32>, ".repeat(50_000);
    let source = format!("func.func @f(%a: tensor<f32>) {{\n\"x.y\"(%a) : ({types}i32) -> ()\nreturn }}");
    expect_code(&source, "SJ0114");
    let call = format!("func.func @f() {{\n%0 = call @f() : () -> ({types}i32)\nreturn }}");
    expect_code(&call, "SJ0114");
}

#[test]
fn every_truncation_is_an_error_or_a_module() {
    for program in programs() {
        for end in 0..program.len() {
            exercise(&program.as_bytes()[..end]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_changed(which in 0usize..64, changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let programs = programs();
        let mut bytes = programs[which % programs.len()].clone().into_bytes();
        for (index, byte) in changes {
            let at = index.index(bytes.len());
            bytes[at] = byte;
        }
        exercise(&bytes);
    }

    #[test]
    fn tokens_deleted_doubled_and_swapped(
        which in 0usize..64,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3u8), 1..6),
    ) {
        let programs = programs();
        let text = &programs[which % programs.len()];
        let mut tokens: Vec<&str> = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).collect();
        for (a, b, kind) in changes {
            let (a, b) = (a.index(tokens.len()), b.index(tokens.len()));
            match kind {
                0 => { tokens.remove(a); }
                1 => { let token = tokens[b]; tokens.insert(a, token); }
                _ => tokens.swap(a, b),
            }
        }
        exercise(tokens.concat().as_bytes());
    }

    #[test]
    fn noise(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&bytes);
    }
}
