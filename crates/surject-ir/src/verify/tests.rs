use crate::*;
use surject_index::{IndexMap, Space};

fn vector(n: u64) -> TensorType {
    TensorType::new(DType::F32, Space::of(&[n]))
}

/// `y = x + x`, yielded.
fn double() -> Function {
    let mut f = Function::new("main");
    let x = f.var("x", vector(3));
    f.params.push(x);
    let field = f.tensor(x);
    let field = f.fields.binary(BinaryOp::Add, field, field).unwrap();
    let target = f.var_for("y", field);
    let origin = Some("a.mlir:2:5".into());
    f.body.statements.push(Statement { kind: StatementKind::Store { target, field }, origin });
    f.body.results.push(target);
    f
}

fn message(f: Function) -> String {
    verify(&Program { name: String::new(), functions: vec![f] }).unwrap_err().to_string()
}

#[test]
fn a_good_program() {
    verify(&Program { name: String::new(), functions: vec![double()] }).unwrap();
    let program = Program { name: String::new(), functions: vec![double(), double()] };
    assert_eq!(verify(&program).unwrap_err().to_string(), "function `main`: the name is used twice");
}

#[test]
fn definitions_and_uses() {
    let mut f = double();
    f.params.clear();
    assert_eq!(message(f), "a.mlir:2:5: function `main`, variable `x`: it is used where it is not defined");
    let mut f = double();
    f.body.statements.push(f.body.statements[0].clone());
    assert_eq!(message(f), "a.mlir:2:5: function `main`, variable `y`: it is defined twice");
    let mut f = double();
    f.body.results.push(Var(9));
    assert_eq!(message(f), "function `main`: there is no variable number 9");
    let mut f = double();
    f.vars[1].ty = vector(4);
    assert_eq!(
        message(f),
        "a.mlir:2:5: function `main`, variable `y`: the field is f32[3] where f32[4] is needed"
    );
    let mut f = double();
    f.vars[1].name = "x".into();
    assert_eq!(message(f), "function `main`, variable `x`: the name is used twice");
}

#[test]
fn what_a_region_defines_stays_inside() {
    let mut f = double();
    let index = f.var("index", TensorType::scalar(DType::I32));
    f.params.push(index);
    let inner = f.var("inner", vector(3));
    let outer = f.var("outer", vector(3));
    let mut store = f.body.statements[0].clone();
    // The branch captures `x` from outside.
    let StatementKind::Store { target, .. } = &mut store.kind else { unreachable!() };
    *target = inner;
    let branch = Region { params: vec![], body: Block { statements: vec![store], results: vec![inner] } };
    let kind = StatementKind::If { targets: vec![outer], index, branches: vec![branch] };
    f.body.statements.push(Statement::new(kind));
    verify(&Program { name: String::new(), functions: vec![f.clone()] }).unwrap();
    f.body.results.push(inner);
    assert_eq!(message(f), "function `main`, variable `inner`: it is used where it is not defined");
}

#[test]
fn calls() {
    let mut f = double();
    let x = f.params[0];
    let target = f.var("t", vector(2));
    let op = LibOp::DynamicSlice { sizes: vec![2] };
    let call = StatementKind::Call { targets: vec![target], op, args: vec![x], regions: vec![] };
    f.body.statements.push(Statement::new(call));
    assert_eq!(
        message(f),
        "function `main`, variable `t`: `dynamic_slice`: it has 0 start indices where 1 are needed"
    );
}

#[test]
fn symbolic_extents() {
    let n = surject_index::Extent::input_axis(0, 0);
    let space = Space::new([n, 3u64.into()]);
    let mut f = Function::new("main");
    let x = f.var("x", TensorType::new(DType::F32, space.clone()));
    f.params.push(x);
    let field = f.tensor(x);
    let field = f.fields.acc(AccOp::Add, IndexMap::projection(&space, &[0]), field).unwrap();
    let target = f.var_for("y", field);
    f.body.statements.push(Statement::new(StatementKind::Store { target, field }));
    f.body.results.push(target);
    let program = Program { name: String::new(), functions: vec![f] };
    verify(&program).unwrap();
    let ones = Buffer::splat(Scalar::one(DType::F32), &[2, 3]);
    let threes = Buffer::splat(Scalar::from_f64(DType::F32, 3.0), &[2]);
    assert_eq!(interp::run(&program, "main", &[ones]).unwrap(), [threes]);
}
