//! Plans of the programs that the measured prototype reports.
mod support;
use support::*;
use surject_egraph::{Options, optimise};

fn show(name: &str, p: &surject_ir::Program, tol: f64) -> surject_egraph::Optimised {
    let o = optimise(p, &Options::default()).unwrap();
    eprintln!("== {name}\n{}", o.report);
    eprintln!("{}", dump(&o.program));
    agree(p, &o.program, tol);
    o
}

#[test]
fn mlp_is_two_kernels() {
    let o = show("mlp", &mlp(8, 16, 12, 5), 1e-5);
    assert_eq!(o.report.stores().1, 2);
}

#[test]
fn softmax_is_small() {
    let o = show("softmax", &softmax(8, 16), 1e-5);
    assert_eq!(o.report.stores().1, 1);
}

#[test]
fn layernorm_is_small() {
    let o = show("layernorm", &layernorm(8, 16), 1e-5);
    assert_eq!(o.report.stores().1, 1);
}

#[test]
fn attention_stores_no_transpose() {
    let o = show("attention", &attention(2, 6, 8, 2), 1e-5);
    assert_eq!(o.report.stores().1, 7);
}

#[test]
fn blocks_scale() {
    for layers in [1, 2, 12] {
        let p = blocks(layers, 2, 256, 512, 8);
        let o = optimise(&p, &Options::default()).unwrap();
        eprintln!("== {layers} blocks\n{}", o.report);
        if layers == 1 {
            eprintln!("{}", dump(&o.program));
        }
    }
}
