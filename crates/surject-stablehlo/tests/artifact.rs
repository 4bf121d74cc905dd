//! Portable artifacts: reading, writing for every version, and hostile files.

use std::path::PathBuf;

use surject_stablehlo::artifact::{self, Version};
use surject_stablehlo::{Module, parse, parse_and_verify, print, verify};

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/artifact"))
}

/// Every version that brought something new.
const VERSIONS: &[&str] = &[
    "0.9.0", "0.10.0", "0.11.0", "0.12.0", "0.14.0", "0.15.0", "0.16.0", "0.17.0", "0.18.0", "0.19.0", "0.20.0",
    "1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0", "1.7.0", "1.8.0", "1.8.4", "1.9.0", "1.10.0",
    "1.11.0", "1.12.0", "1.13.0", "1.14.0", "1.15.0", "1.16.0", "1.17.0", "1.18.0", "1.19.0", "1.20.0",
];

fn version(text: &str) -> Version {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The programs of `artifact/ops.mlir`, which hold every operation and type: name, text, module.
fn programs() -> Vec<(String, String, Module)> {
    let file = std::fs::read_to_string(folder().join("ops.mlir")).expect("part of the crate");
    let program = |text: &str| {
        let module = parse(text).unwrap_or_else(|e| panic!("{}", e.render("ops.mlir", text)));
        let name = module.functions[0].name.clone();
        (module.name.clone().unwrap_or(name), text.to_string(), module)
    };
    file.split("// -----").map(program).collect()
}

/// Programs that JAX exported: name, text, artifact; none where there are no shared cases.
fn cases() -> Vec<(String, String, Vec<u8>)> {
    let root = std::env::var_os("SURJECT_CASES")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/jax"));
    let Ok(entries) = std::fs::read_dir(&root) else {
        eprintln!("no cases under {}: skipped", root.display());
        return Vec::new();
    };
    let mut out = Vec::new();
    for path in entries.flatten().map(|e| e.path()) {
        let text = std::fs::read_to_string(path.join("program.mlir"));
        if let (Ok(text), Ok(artifact)) = (text, std::fs::read(path.join("program.mlirbc"))) {
            out.push((path.display().to_string(), text, artifact));
        }
    }
    out.sort();
    out
}

/// The first version for which a module can be written.
fn first_version(module: &Module) -> &'static str {
    let writes = |v: &&&str| artifact::write(module, Some(version(v))).is_ok();
    VERSIONS.iter().find(writes).unwrap_or_else(|| panic!("{}", print(module)))
}

#[test]
fn every_version_reads_back() {
    for (name, _, module) in programs() {
        let first = first_version(&module);
        for text in VERSIONS {
            let target = version(text);
            match artifact::write(&module, Some(target)) {
                Ok(bytes) => {
                    assert!(target >= version(first), "{name} for {text}");
                    assert_eq!(artifact::producer(&bytes), Ok(format!("StableHLO_v{text}")));
                    let again = parse(&bytes).unwrap_or_else(|e| panic!("{name} {}", e.render(text, &bytes)));
                    assert!(again.same(&module), "{name} for {text}:\n{}\n{}", print(&module), print(&again));
                }
                Err(error) => {
                    assert!(target < version(first), "{name} for {text}: {error}");
                    assert_eq!(error.code, "SJ0118", "{name} for {text}: {error}");
                }
            }
        }
    }
}

#[test]
fn what_a_version_lacks_is_named() {
    // The versions that jaxlib 0.10.2 (StableHLO 1.17) accepts for the same programs.
    let wanted = [
        ("unary", "0.9.0"),
        ("tangent", "1.4.0"),
        ("accurate", "1.10.0"),
        ("accurate_exponential", "1.9.0"),
        ("floats8_fnuz", "0.10.0"),
        ("floats8_b11", "0.11.0"),
        ("two_bits", "1.2.0"),
        ("floats8_ieee", "1.7.0"),
        ("small_floats", "1.8.0"),
        ("batched_gather", "1.1.0"),
        ("batched_scatter", "1.1.0"),
        ("algorithm", "1.6.0"),
        ("promotion", "0.17.0"),
        ("dynamic_conv", "0.9.0"),
        ("collective_broadcast", "0.16.0"),
        ("several_operands", "1.5.0"),
        ("mesh_axes", "1.16.0"),
        ("transfer_pairs", "1.12.0"),
        ("custom", "0.9.0"),
        ("custom_dictionary", "1.3.0"),
        ("composite", "0.19.0"),
        ("asynchronous", "1.15.0"),
        ("buffers", "1.13.0"),
        ("tilings", "1.18.0"),
        ("collective_reduce", "1.19.0"),
        ("dynamic_root", "1.20.0"),
    ];
    let programs = programs();
    for (name, first) in wanted {
        let found = programs.iter().find(|p| p.0 == name).unwrap_or_else(|| panic!("no program {name}"));
        assert_eq!(first_version(&found.2), first, "{name}");
    }
    let (_, text, module) = programs.iter().find(|p| p.0 == "tangent").expect("it is there");
    let error = artifact::write(module, Some(version("1.3.0"))).expect_err("1.3 has no tangent");
    let message = error.render("tan.mlir", text);
    assert!(message.contains("StableHLO 1.3.0 lacks 'stablehlo.tan'"), "{message}");
    assert!(message.contains("1.4.0") && message.contains("tan.mlir:3:"), "{message}");
    for wrong in ["0.8.0", "1.99.0", "one", "1.2.3.4", ""] {
        assert_eq!(wrong.parse::<Version>().expect_err(wrong).code, "SJ0118");
    }
}

#[test]
fn artifacts_of_jaxlib_read_as_it_reads_them() {
    // `samples/NAME@VERSION.mlirbc` were written by jaxlib, `NAME.mlir` is what it reads back from them.
    let mut count = 0;
    for entry in std::fs::read_dir(folder().join("samples")).expect("part of the crate").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "mlirbc") {
            continue;
        }
        let stem = path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        let name = stem.split('@').next().unwrap_or_default();
        let text = std::fs::read_to_string(path.with_file_name(format!("{name}.mlir"))).expect("beside it");
        let wanted = parse(&text).unwrap_or_else(|e| panic!("{}", e.render(name, &text)));
        let bytes = std::fs::read(&path).expect("readable");
        let found = parse(&bytes).unwrap_or_else(|e| panic!("{}", e.render(stem, &bytes)));
        assert!(found.same(&wanted), "{stem}:\n{}\n{}", print(&wanted), print(&found));
        assert_eq!(print(&found), text, "{stem}");
        count += 1;
    }
    assert!(count >= 8, "{count} samples");
}

#[test]
fn files_that_jax_saved_are_read_through_their_envelope() {
    let bytes = std::fs::read(folder().join("samples/symbolic.jaxexport")).expect("part of the crate");
    assert!(artifact::is_artifact(&bytes) && !bytes.starts_with(b"ML\xEFR"));
    let module = parse_and_verify(&bytes).unwrap_or_else(|e| panic!("{}", e.render("symbolic", &bytes)));
    assert!(module.function("main").is_some());
    assert!(print(&module).contains("tensor<?x4xf32>"));
}

#[test]
fn artifacts_of_jax_survive_a_round_trip() {
    for (path, _, artifact) in cases() {
        let module = parse_and_verify(&artifact).unwrap_or_else(|e| panic!("{}", e.render(&path, &artifact)));
        let again = artifact::write(&module, None).unwrap_or_else(|e| panic!("{path}: {e}"));
        let again = parse(&again).unwrap_or_else(|e| panic!("{}", e.render(&path, &again)));
        assert!(again.same(&module), "{path}");
        let text = print(&module);
        let again = parse(&text).unwrap_or_else(|e| panic!("{}", e.render(&path, &text)));
        assert!(again.same(&module), "{path}");
    }
}

#[test]
fn texts_of_jax_survive_a_round_trip() {
    for (path, text, _) in cases() {
        let module = parse(&text).unwrap_or_else(|e| panic!("{}", e.render(&path, &text)));
        let bytes = artifact::write(&module, None).unwrap_or_else(|e| panic!("{path}: {e}"));
        let again = parse(&bytes).unwrap_or_else(|e| panic!("{}", e.render(&path, &bytes)));
        assert!(again.same(&module), "{path}\n{}", print(&again));
    }
}

/// A generator of numbers that gives the same ones each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let mixed = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        mixed ^ (mixed >> 29)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// Cuts, changes or repeats some bytes.
fn mutate(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + numbers.below(3) {
        if bytes.is_empty() {
            break;
        }
        let at = numbers.below(bytes.len());
        match numbers.below(8) {
            0 => bytes.truncate(at),
            1 => bytes[at] ^= 1 << numbers.below(8),
            2 => bytes[at] = [0, 1, 3, 0x7F, 0x80, 0xFE, 0xFF][numbers.below(7)],
            3 => bytes[at] = numbers.next() as u8,
            // A number of the largest size where some other stood.
            4 => {
                let large = numbers.next().to_le_bytes();
                bytes[at] = 0;
                for (i, byte) in large.iter().enumerate() {
                    if let Some(slot) = bytes.get_mut(at + 1 + i) {
                        *slot = *byte;
                    }
                }
            }
            5 => {
                let count = numbers.below(16).min(bytes.len() - at);
                bytes.drain(at..at + count);
            }
            6 => {
                let count = numbers.below(16).min(bytes.len() - at);
                let part = bytes[at..at + count].to_vec();
                let to = numbers.below(bytes.len());
                bytes.splice(to..to, part);
            }
            _ => bytes[at] = bytes[at].wrapping_add(2),
        }
    }
    bytes
}

#[test]
fn mutants_give_errors_or_modules() {
    let mut sources: Vec<Vec<u8>> = Vec::new();
    for (_, _, module) in programs() {
        let first = version(first_version(&module));
        for target in [Some(first), None] {
            sources.push(artifact::write(&module, target).expect("it writes"));
        }
    }
    sources.push(std::fs::read(folder().join("samples/symbolic.jaxexport")).expect("part of the crate"));
    sources.extend(cases().into_iter().map(|c| c.2));
    let mut numbers = Numbers(47);
    let (mut refused, mut read) = (0, 0);
    for _ in 0..2_500 {
        let source = &sources[numbers.below(sources.len())];
        let mutant = mutate(source, &mut numbers);
        match parse(&mutant) {
            Ok(module) => {
                // Whatever was read can be verified and printed.
                _ = verify(&module);
                assert!(!print(&module).is_empty());
                read += 1;
            }
            Err(error) => {
                let message = error.render("mutant", &mutant);
                assert!(message.contains("error[SJ") && message.len() < 10_000, "{message}");
                if artifact::is_artifact(&mutant) {
                    assert!(error.span.start <= mutant.len(), "{message}");
                }
                refused += 1;
            }
        }
    }
    assert!(refused > 1_000 && read > 0, "{refused} refused, {read} read");
}

#[test]
fn every_truncation_is_refused() {
    let (_, _, module) = programs().swap_remove(0);
    let bytes = artifact::write(&module, None).expect("it writes");
    for end in 4..bytes.len() {
        assert!(parse(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
}

/// A file with the given attributes and types of MLIR's own dialect, and a module with the attribute 0.
fn bomb(attributes: &[Vec<u8>], types: &[Vec<u8>]) -> Vec<u8> {
    fn number(out: &mut Vec<u8>, value: u64) {
        out.push(0);
        out.extend(value.to_le_bytes());
    }
    let section = |number: u8, body: Vec<u8>| {
        let mut out = vec![number, 0];
        out.extend((body.len() as u64).to_le_bytes());
        out.extend(body);
        out
    };
    let (mut offsets, mut encodings) = (Vec::new(), Vec::new());
    number(&mut offsets, attributes.len() as u64);
    number(&mut offsets, types.len() as u64);
    for group in [attributes, types].into_iter().filter(|g| !g.is_empty()) {
        number(&mut offsets, 0);
        number(&mut offsets, group.len() as u64);
        for entry in group {
            number(&mut offsets, (entry.len() as u64) << 1 | 1);
            encodings.extend(entry);
        }
    }
    let mut out = b"ML\xEFR\x0Dtest\0".to_vec();
    // One dialect, `builtin`, with the operation `module`.
    out.extend(section(1, vec![3, 1, 3, 1, 3, 7]));
    out.extend(section(3, offsets));
    out.extend(section(2, encodings));
    // A module with attributes, its location the last attribute, without regions.
    let mut ir = vec![5, 1, 1];
    number(&mut ir, attributes.len() as u64 - 1);
    number(&mut ir, 0);
    out.extend(section(4, ir));
    out.extend(section(0, [&[5u8, 0x0F, 0x11][..], b"builtin\0module\0"].concat()));
    out
}

#[test]
fn entries_that_refer_to_themselves_or_unfold_are_refused() {
    // A list of itself.
    let circle = bomb(&[vec![1, 3, 1], vec![0x1F]], &[]);
    let error = parse(&circle).expect_err("a circle");
    assert!(error.message.contains("refers to itself"), "{error}");
    // Each attribute is a list of the next one, twice.
    let mut doubled: Vec<Vec<u8>> = (1..100u64).map(|i| vec![1, 5, (i << 1 | 1) as u8, (i << 1 | 1) as u8]).collect();
    doubled.truncate(60);
    doubled.push(vec![0x1F]);
    let error = parse(&bomb(&doubled, &[])).expect_err("it unfolds to 2^60 parts");
    assert_eq!(error.code, "SJ0117", "{error}");
    // Each attribute is a list of the next one: deeper than text may nest.
    let mut deep: Vec<Vec<u8>> = (1..400u64)
        .map(|i| {
            let mut entry = vec![1, 3, 0];
            entry.extend(i.to_le_bytes());
            entry
        })
        .collect();
    deep.push(vec![0x1F]);
    let error = parse(&bomb(&deep, &[])).expect_err("it nests deeply");
    assert_eq!(error.code, "SJ0105", "{error}");
}
