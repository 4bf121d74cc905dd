//! What happens before machine code: reading, importing, optimising, generating MLIR text. Links no MLIR.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use surject_benches::{TRANSFORMER_BLOCK, layernorm, matmul, program, softmax, stack};
use surject_codegen::Target;
use surject_egraph::{Options, optimise};
use surject_lift::{ImportOptions, import};
use surject_stablehlo::artifact;

/// The programs by name: one block, and stacks of it.
fn transformers(layers: &[usize]) -> Vec<(String, String)> {
    let stacks = layers.iter().map(|&n| (format!("transformer_x{n}"), stack(TRANSFORMER_BLOCK, n)));
    std::iter::once(("transformer_block".to_string(), TRANSFORMER_BLOCK.to_string())).chain(stacks).collect()
}

fn reading(c: &mut Criterion) {
    let mut group = c.benchmark_group("parse");
    for (name, text) in transformers(&[12, 96]) {
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(&name, |b| b.iter(|| surject_stablehlo::parse(black_box(&text)).unwrap()));
    }
    group.finish();
    let mut group = c.benchmark_group("verify");
    for (name, text) in transformers(&[12]) {
        let module = surject_stablehlo::parse(&text).unwrap();
        group.bench_function(&name, |b| b.iter(|| surject_stablehlo::verify(black_box(&module)).unwrap()));
    }
    group.finish();
}

fn writing(c: &mut Criterion) {
    let mut group = c.benchmark_group("print");
    for (name, text) in transformers(&[12]) {
        let module = surject_stablehlo::parse(&text).unwrap();
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(&name, |b| b.iter(|| surject_stablehlo::print(black_box(&module))));
    }
    group.finish();
    let mut group = c.benchmark_group("artifact");
    for (name, text) in transformers(&[12]) {
        let module = surject_stablehlo::parse(&text).unwrap();
        let bytes = artifact::write(&module, None).unwrap();
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function(format!("read {name}"), |b| {
            b.iter(|| surject_stablehlo::parse(black_box(&bytes)).unwrap())
        });
        group.bench_function(format!("write {name}"), |b| {
            b.iter(|| artifact::write(black_box(&module), None).unwrap())
        });
    }
    group.finish();
}

fn importing(c: &mut Criterion) {
    let mut group = c.benchmark_group("import");
    for (name, text) in transformers(&[12]) {
        let module = surject_stablehlo::parse(&text).unwrap();
        let options =
            ImportOptions { file: "bench.mlir", source: text.as_bytes(), ..ImportOptions::default() };
        group.bench_function(&name, |b| b.iter(|| import(black_box(&module), &options).unwrap()));
    }
    group.finish();
}

fn optimising(c: &mut Criterion) {
    let mut group = c.benchmark_group("optimise");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    for (name, text) in transformers(&[12]) {
        let program = program(&text);
        group.bench_function(&name, |b| {
            b.iter(|| optimise(black_box(&program), &Options::default()).unwrap())
        });
    }
    group.finish();
}

fn lowering(c: &mut Criterion) {
    let mut group = c.benchmark_group("lower");
    let target = Target::host();
    let texts = [
        ("matmul_256", matmul(256)),
        ("softmax_256", softmax(256, 256)),
        ("layernorm_256", layernorm(256, 256)),
        ("transformer_block", TRANSFORMER_BLOCK.to_string()),
    ];
    for (name, text) in texts {
        let optimised = optimise(&program(&text), &Options::default()).unwrap().program;
        let scheduled = Some(surject_cpu::chosen(&target));
        let options = surject_codegen::Options { scheduled, ..Default::default() };
        let lower = || surject_codegen::lower(black_box(&optimised), "main", &target, &options).unwrap();
        group.bench_function(name, |b| b.iter(lower));
    }
    group.finish();
}

criterion_group!(benches, reading, writing, importing, optimising, lowering);
criterion_main!(benches);
