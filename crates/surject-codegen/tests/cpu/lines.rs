//! Lines of tensors that indices choose.

use crate::harness::*;
use crate::library::{F, I, binary, call, gather_of_lines};
use crate::scatters::scatter_of_lines;
use surject_codegen::{Target, Thresholds};
use surject_index::IndexMap;
use surject_ir::*;

/// Lines that indices choose, `index` being the shape of these: of rows, of the last axis of a batch, and of several axes.
fn lines_of(dtype: DType, (rows, width): (u64, u64), index: &[u64]) -> Function {
    call(gather_of_lines(width, index.len() - 1), &[(dtype, &[rows, width]), (I, index)], |_| vec![])
}

/// Lines of which some are asked for ahead and the last ones are not; of parts of a line of memory, and across several.
#[test]
fn lines_that_are_chosen() {
    for (dtype, width) in
        [(F, 2u64), (F, 4), (F, 8), (F, 16), (F, 1), (F, 24), (F, 63), (DType::U8, 16), (DType::F64, 130)]
    {
        check(lines_of(dtype, (50, width), &[600, 1]));
        check(lines_of(dtype, (50, width), &[5, 40, 1]));
    }
    // Computed from, and summed, where they are read.
    for (indices, summed) in [(&[9u64, 40, 1][..], 1usize), (&[9, 40, 1], 2), (&[200, 1], 1)] {
        let mut f = lines_of(F, (50, 72), indices);
        let found = f.tensor(f.body.results[0]);
        let twice = f.fields.binary(BinaryOp::Add, found, found).unwrap();
        let whole = f.fields[twice].space.clone();
        let kept: Vec<usize> = (0..indices.len()).filter(|&axis| axis != summed).collect();
        let map = IndexMap::projection(&whole, &kept);
        let sum = f.fields.acc(AccOp::Add, map, twice).unwrap();
        f.body.results.clear();
        result(&mut f, sum);
        check_with(f, 1e-5, None);
    }
}

/// What is far away is asked for, and what no cache holds is stored past them; what is near is not.
#[test]
fn lines_that_are_asked_for() {
    let target = Target { has_non_temporal_stores: true, ..Target::wide() };
    for (rows, width, count, asked, past) in [
        (50_000u64, 512u64, 16_384u64, true, true),
        (3_000_000, 16, 1 << 20, true, true),
        (50_000, 512, 40, false, false),
        (100, 512, 16_384, false, true),
    ] {
        let program =
            Program { name: String::new(), functions: vec![lines_of(F, (rows, width), &[count, 1])] };
        let text = lower(&program, "main", &target).unwrap().text;
        assert_eq!((text.contains("prefetch"), text.contains("nontemporal")), (asked, past), "{text}");
    }
}

/// Updates of lines that are far away ask for those of later ones.
#[test]
fn lines_that_are_asked_for_by_scatters() {
    for (rows, asked) in [(50_000u64, true), (100, false)] {
        let params: &[(DType, &[u64])] = &[(F, &[rows, 256]), (I, &[900, 1]), (F, &[900, 256])];
        let f = call(scatter_of_lines(), params, |f| vec![binary(f, BinaryOp::Add, F)]);
        let program = Program { name: String::new(), functions: vec![f] };
        let text = lower(&program, "main", &Target::wide()).unwrap().text;
        assert_eq!(text.contains("prefetch"), asked, "{text}");
    }
}

/// Indices of which a task has a part at a time: none beyond it is read.
#[test]
fn lines_by_indices_of_a_chain() {
    let (mut f, p) = function(&[(F, &[50, 72]), (I, &[200, 9])]);
    let largest = IndexMap::projection(&space(&[200, 9]), &[0]);
    let largest = f.fields.acc(AccOp::Max, largest, p[1]).unwrap();
    let indices = store(&mut f, largest);
    let op = gather_of_lines(72, 1);
    let lines = f.var("", TensorType::new(F, space(&[200, 72])));
    let (targets, args) = (vec![lines], vec![f.params[0], indices]);
    f.body.statements.push(Statement::new(StatementKind::Call { targets, op, args, regions: vec![] }));
    let found = f.tensor(lines);
    let sum = f.fields.acc(AccOp::Add, IndexMap::projection(&space(&[200, 72]), &[0]), found).unwrap();
    result(&mut f, sum);
    let program = Program { name: String::new(), functions: vec![f.clone()] };
    let module =
        lower(&program, "main", &Target { thresholds: Thresholds::least(), ..Target::wide() }).unwrap();
    let plan = module.plan.to_string();
    assert!(plan.contains("fused") && !module.text.contains("hint = 2"), "{plan}");
    check_with(f, 1e-5, None);
}
