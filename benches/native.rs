//! Machine code: compiling it and running it. The only bench binary that links MLIR.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use surject_benches::{TRANSFORMER_BLOCK, arguments, layernorm, matmul, program, softmax};
use surject_egraph::{Options, optimise};
use surject_ir::{Buffer, Program};
use surject_mlir::{CompileOptions, Executable, compile};

fn optimised(text: &str) -> Program {
    optimise(&program(text), &Options::default()).unwrap().program
}

fn compiled(program: &Program) -> Executable {
    compile(program, "main", &CompileOptions::default()).unwrap()
}

fn compiling(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    let texts = [
        ("matmul_256", matmul(256)),
        ("softmax_256", softmax(256, 256)),
        ("layernorm_256", layernorm(256, 256)),
        ("transformer_block", TRANSFORMER_BLOCK.to_string()),
    ];
    for (name, text) in texts {
        let program = optimised(&text);
        group.bench_function(name, |b| b.iter(|| compiled(black_box(&program))));
    }
    group.finish();
}

/// Each workload with its floating-point operations, or the bytes that must at least be moved.
fn running(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    let matrix = 4 * 256 * 256;
    let workloads = [
        ("matmul_256", matmul(256), Throughput::Elements(2 * 256 * 256 * 256)),
        ("softmax_256", softmax(256, 256), Throughput::Bytes(2 * matrix)),
        ("layernorm_256", layernorm(256, 256), Throughput::Bytes(2 * matrix)),
    ];
    for (name, text, throughput) in workloads {
        let program = optimised(&text);
        let executable = compiled(&program);
        let args = arguments(&program);
        let args: Vec<&Buffer> = args.iter().collect();
        let mut results = executable.result_buffers();
        group.throughput(throughput);
        group.bench_function(name, |b| {
            b.iter(|| executable.run_into(black_box(&args), black_box(&mut results)).unwrap());
        });
    }
    group.finish();
}

/// What a call costs beside its kernels: a program of one kernel that adds eight numbers.
fn calling(c: &mut Criterion) {
    let text = "func main(x: f32[8], y: f32[8]) -> (z) {\n  z : f32[8] =: over i<8: x[i] + y[i]\n}\n";
    let program = surject_ir::parse(text).unwrap();
    let executable = compiled(&program);
    let args = arguments(&program);
    let borrowed: Vec<&Buffer> = args.iter().collect();
    let mut results = executable.result_buffers();
    let mut group = c.benchmark_group("call");
    group.bench_function("run_into", |b| {
        b.iter(|| executable.run_into(black_box(&borrowed), black_box(&mut results)).unwrap());
    });
    group.bench_function("run", |b| b.iter(|| executable.run(black_box(&args)).unwrap()));
    group.bench_function("run_owned", |b| {
        b.iter_batched(|| args.clone(), |args| executable.run_owned(args).unwrap(), BatchSize::SmallInput);
    });
    group.finish();
}

criterion_group!(benches, compiling, running, calling);
criterion_main!(benches);
