//! Functions of complex numbers at special points, compiled.

use crate::harness::*;
use surject_codegen::Target;
use surject_ir::testing::{ComplexValue, complex_values};
use surject_ir::{Buffer, DType, Scalar};

#[test]
fn complex_functions_at_special_points() {
    let values = complex_values();
    let mut names: Vec<&str> = values.iter().map(|v| v.name).collect();
    names.dedup();
    let mut faults = Vec::new();
    for (name, dtype) in names.iter().flat_map(|n| [DType::C64, DType::C128].map(|d| (n, d))) {
        let points: Vec<(&ComplexValue, Vec<Scalar>)> =
            values.iter().filter(|v| v.name == *name).filter_map(|v| Some((v, v.args(dtype)?))).collect();
        let count = points[0].1.len();
        let args: Vec<Buffer> = (0..count)
            .map(|k| {
                let line: Vec<Scalar> = points.iter().map(|p| p.1[k]).collect();
                Buffer::from_scalars(dtype, &[line.len()], &line).unwrap()
            })
            .collect();
        let sizes = [points.len() as u64];
        let (mut f, p) = function(&vec![(dtype, &sizes[..]); count]);
        let field = match (points[0].0.unary(), points[0].0.binary()) {
            (Some(op), _) => f.fields.unary(op, p[0]).unwrap(),
            (_, Some(op)) => f.fields.binary(op, p[0], p[1]).unwrap(),
            _ => panic!("no operation `{name}`"),
        };
        result(&mut f, field);
        let found = crate::math::run(f, &args, &Target::host()).swap_remove(0);
        faults.extend(points.iter().enumerate().filter_map(|(i, p)| p.0.fault(found.get(i))));
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults[..faults.len().min(200)].join("\n"));
}
