//! Guesses that were wrong: about markers, and in closing, in small problems and in parts of large ones.

#[allow(dead_code)] // Other tests measure.
mod workloads;

use std::sync::Arc;
use surject_shape::{Constraint, Dim, DimTerm, Elems, Origin, Role, Row, ShapeErrorKind, Solver};
use workloads::WORKLOADS;

fn origin(text: &str) -> Arc<Origin> {
    Arc::new(Origin::operation(text))
}

fn lead(sizes: &[u64], rest: Row) -> Row {
    Row { lead: sizes.iter().map(|n| DimTerm::from(*n)).collect(), ..rest }
}

/// An equation gives a row its axes; that its marker stands elsewhere is found out later, and nothing is refused.
#[test]
fn markers_are_taken_back() {
    let mut solver = Solver::new();
    let (r, q, s) = (solver.fresh_row(), solver.fresh_row(), solver.fresh_row());
    solver.add(Constraint::RowEq(r.into(), Row::closed([2u64, 3])), &origin("r = 2,3")).unwrap();
    solver.add(Constraint::RowLe(r.into(), s.into()), &origin("r below s")).unwrap();
    solver.add(Constraint::RowLe(lead(&[2], q.into()), r.into()), &origin("2,q below r")).unwrap();
    solver.close().unwrap();
    assert_eq!(solver.ground_row(r).unwrap().to_string(), "2,<>,3");
    assert_eq!(solver.ground_row(s).unwrap().to_string(), "2,<>,3");
    // The session goes on, and what was closed stays.
    let t = solver.fresh_row();
    solver.add(Constraint::RowLe(s.into(), t.into()), &origin("s below t")).unwrap();
    solver.finish(&[t.into()]).unwrap();
    assert_eq!(solver.ground_row(t).unwrap().to_string(), "2,<>,3");
}

/// What was closed is kept when markers are taken back later.
#[test]
fn what_was_closed_stays() {
    let mut solver = Solver::new();
    let (x, bound) = (solver.fresh_row(), Row::closed([5u64]));
    solver.add(Constraint::Terminal(x.into(), Role::Leaf), &origin("x")).unwrap();
    solver.add(Constraint::RowLe(x.into(), bound), &origin("x below 5")).unwrap();
    solver.finish(&[x.into()]).unwrap();
    assert_eq!(solver.ground_row(x).unwrap().to_string(), "<>,5");
    let (r, q) = (solver.fresh_row(), solver.fresh_row());
    solver.add(Constraint::RowEq(r.into(), Row::closed([2u64, 3])), &origin("r = 2,3")).unwrap();
    solver.add(Constraint::RowLe(lead(&[2], q.into()), r.into()), &origin("2,q below r")).unwrap();
    // A bound that would have made another size of x.
    solver.add(Constraint::RowLe(x.into(), Row::closed([5u64, 5])), &origin("x below 5,5")).unwrap();
    solver.close().unwrap();
    assert_eq!(solver.ground_row(x).unwrap().to_string(), "<>,5");
    let error =
        solver.add(Constraint::RowLe(x.into(), Row::closed([7u64])), &origin("x below 7")).unwrap_err();
    assert_eq!(error.kind, ShapeErrorKind::SizeMismatch);
}

/// Four elements below `2,<>,2,9`: one axis of four does not fit, two of two do.
fn four_elements(solver: &mut Solver) -> surject_shape::RowVar {
    let row = solver.fresh_row();
    let total = Constraint::Total { elems: Elems::Number(4), rows: vec![row.into()], divided_by: Vec::new() };
    solver.add(total, &origin("four elements")).unwrap();
    let bound = lead(&[2], Row::closed([Dim::new(2), Dim::new(9)]));
    solver.add(Constraint::RowLe(row.into(), bound), &origin("below")).unwrap();
    row
}

#[test]
fn closing_is_searched_in_parts() {
    for operations in [0, 400] {
        let mut built = (WORKLOADS[1].build)(operations).unwrap();
        let rows: Vec<_> = (0..3).map(|_| four_elements(&mut built.solver)).collect();
        let solver = &mut built.solver;
        assert!(operations == 0 || solver.constraints() > 1_000);
        solver.close().unwrap();
        for row in rows {
            assert_eq!(solver.ground_row(row).unwrap().to_string(), "2,<>,2,unit");
        }
        if operations > 0 {
            assert_eq!(solver.ground_shape(&built.last).unwrap().to_string(), built.expected);
        }
    }
}
