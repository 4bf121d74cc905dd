//! The conformance cases of projections and of the index maps of convolutions and concatenations, each a test by its id.
//!
//! An id is that of the collection this project started from; where `SURJECT_SHAPE_CASES` names its file, the test
//! `every_case_has_a_test` checks that none of its section on projections is left out. The cases are written out here.

mod notation;

use notation::{einsum, projections, sized};
use surject_index::{Fill, Verdict};
use surject_projection::{Equation, Part, Pin, ProjectionError, Projections, Slot, System, derive};
use surject_shape::{Logic, Role};

/// Product space, index maps and reductions, on one line.
fn shown(record: &Projections) -> String {
    record.to_string().trim_end().replace('\n', "; ")
}

#[track_caller]
fn shows(record: Result<Projections, ProjectionError>, expected: &str) -> Projections {
    let record = record.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shown(&record), expected);
    record
}

/// Injective and surjective.
#[track_caller]
fn writes(record: &Projections, injective: bool, surjective: bool) {
    assert_eq!(record.injective(), Ok(Verdict::from(injective)), "injective");
    assert_eq!(record.surjective(), Ok(Verdict::from(surjective)), "surjective");
}

/// The accesses of the only piece: components, margins before and after.
fn margins(record: &Projections, operand: usize) -> (Vec<u64>, Vec<u64>) {
    let pieces = record.pieces().unwrap();
    let access = pieces[0].operands[operand].as_ref().unwrap();
    (access.before().to_vec(), access.after().iter().map(|n| n.as_const().unwrap()).collect())
}

/// What each piece does: its loops, and the maps of the result and of the operands that take part.
fn pieces(record: &Projections) -> Vec<String> {
    let map = |access: &surject_projection::Access| access.read_map(Fill(0)).to_string();
    let pieces = record.pieces().unwrap_or_else(|e| panic!("{e}"));
    pieces
        .iter()
        .map(|piece| {
            let sources = piece.operands.iter().enumerate().filter_map(|(i, o)| Some((i + 1, o.as_ref()?)));
            let sources: Vec<String> = sources.map(|(i, o)| format!("rhs{i} {}", map(o))).collect();
            format!("lhs {}; {}", map(&piece.result), sources.join("; "))
        })
        .collect()
}

const FILL: Logic = Logic::Terminal(Role::Leaf);

macro_rules! cases {
    ($($id:ident $body:block)*) => {
        $(#[test] #[allow(non_snake_case)] fn $id() { $body })*
        const IDS: &[&str] = &[$(stringify!($id)),*];
    };
}

cases! {
    PJ01 {
        let record = shows(einsum("ij;jk=>ik", &["4,5", "5,6", "4,6"]),
            "product space {i:4, k:6, j:5}; lhs [i, k]; rhs1 [i, j]; rhs2 [j, k]; reductions {j}");
        writes(&record, false, true);
    }
    PJ03 {
        for scalar in ["", "1:*", "1:*,1:*"] {
            let record = projections(&Logic::Pointwise, &[scalar, "3,4", "3,4"], &[]).unwrap();
            assert!(record.operands[0].iter().all(|index| *index == surject_projection::Index::Fixed(0)));
            assert_eq!(record.result, record.operands[1]);
            writes(&record, true, true);
        }
        shows(projections(&Logic::Pointwise, &["1:*,1:*", "3,4", "3,4"], &[]),
            "product space {o0:3, o1:4}; lhs [o0, o1]; rhs1 [0, 0]; rhs2 [o0, o1]; reductions {}");
    }
    PJ05 {
        shows(projections(&Logic::Compose, &["5->3", "4->5", "4->3"], &[]),
            "product space {o:3, i:4, k:5}; lhs [o, i]; rhs1 [o, k]; rhs2 [k, i]; reductions {k}");
    }
    PJ07 {
        shows(projections(&Logic::Compose, &["4->3", "4", "3"], &[]),
            "product space {o:3, k:4}; lhs [o]; rhs1 [o, k]; rhs2 [k]; reductions {k}");
    }
    PJ09 {
        let record = shows(einsum("i=>ii", &["5", "5,5"]), "product space {i:5}; lhs [i, i]; rhs1 [i]; reductions {}");
        writes(&record, true, false);
    }
    PJ11 {
        let record = einsum("ij=>ji", &["3,4", "4,3"]).unwrap();
        writes(&record, true, true);
    }
    PJ13 {
        let record = shows(
            einsum("oh=+kh, ow=+kw, ic; kh, kw, ic, oc => oh, ow, oc", &["5,5,1", "3,3,1,4", "5,5,4"]),
            "product space {oh:5, ow:5, oc:4, kh:3, kw:3}; lhs [oh, ow, oc]; rhs1 [oh+kh-1, ow+kw-1, 0]; \
             rhs2 [kh, kw, 0, oc]; reductions {kh, kw}");
        // The cells that are met are one on either side; the second one on the right that a buffer may keep is never read.
        assert_eq!(margins(&record, 0), (vec![1, 1, 0], vec![1, 1, 0]));
    }
    PJ15 {
        let record = shows(einsum("3*o<+2*k; k => o", &["11", "3", "3"]),
            "product space {o:3, k:3}; lhs [o]; rhs1 [3*o+2*k]; rhs2 [k]; reductions {k}");
        assert_eq!(margins(&record, 0), (vec![0], vec![0]));
        // The offset shifts every window, so the last one overhangs by as much.
        let record = shows(einsum("3*o<+1+2*k; k => o", &["11", "3", "3"]),
            "product space {o:3, k:3}; lhs [o]; rhs1 [3*o+2*k+1]; rhs2 [k]; reductions {k}");
        assert_eq!(margins(&record, 0), (vec![0], vec![1]));
    }
    PJ17 {
        let record = shows(einsum("2*oh<+kh, c; kh => oh, c", &["3,2", "3", "1,2"]),
            "product space {c:2, kh:3}; lhs [0, c]; rhs1 [kh, c]; rhs2 [kh]; reductions {kh}");
        writes(&record, false, true);
        shows(einsum("oh=+kh; kh => oh", &["1", "3", "1"]),
            "product space {kh:3}; lhs [0]; rhs1 [kh-1]; rhs2 [kh]; reductions {kh}");
    }
    PJ19 {
        let record = shows(einsum("a; b => a^b", &["3", "2", "5"]),
            "product space {a:3^b:2}; lhs [a^b]; rhs1 [a]; rhs2 [b]; reductions {}");
        assert_eq!(record.factors.len(), 1);
        assert_eq!(pieces(&record), [
            "lhs (i<3) -> [i] in [5]; rhs1 (i<3) -> [i] in [3]",
            "lhs (i<2) -> [i + 3] in [5]; rhs2 (i<2) -> [i] in [2]",
        ]);
        writes(&record, true, true);
    }
    PJ21 {
        let record = shows(einsum("a; b => a^b", &["1", "4", "5"]),
            "product space {a:1^b:4}; lhs [a^b]; rhs1 [a]; rhs2 [b]; reductions {}");
        assert!(matches!(&record.result[0], surject_projection::Index::Concat(parts)
            if matches!(parts[..], [Part::Loop(_), Part::Loop(_)])));
        writes(&record, true, true);
    }
    PJ23 {
        let record = einsum("a; a; b => a^b", &["3", "3", "2", "5"]).unwrap();
        let error = record.pieces().unwrap_err();
        assert_eq!(error.code(), "SJ0434");
        assert!(error.to_string().contains("operand 1 and operand 2 both have elements where `a` is active"), "{error}");
        // Where all operands have to take part, two of them are as they should be.
        let record = einsum("a^b; b => b", &["5", "2", "2"]).unwrap();
        assert_eq!(record.joint_pieces().unwrap().len(), 1);
    }
    PJ25 {
        shows(einsum("i;j=>ij", &["3", "3", "3,3"]),
            "product space {i:3, j:3}; lhs [i, j]; rhs1 [i]; rhs2 [j]; reductions {}");
    }
    PJ27 {
        let record = shows(projections(&FILL, &["3,4"], &[]), "product space {o0:3, o1:4}; lhs [o0, o1]; reductions {}");
        writes(&record, true, true);
        shows(einsum("=>ij", &["3,4"]), "product space {i:3, j:4}; lhs [i, j]; reductions {}");
    }
    PJ29 {
        for (spec, shapes) in [
            ("oh, wh => 2*oh<+wh", ["3,2", "6"]),
            ("i, k => 5*i<+k", ["4,5", "20"]),
            ("i, k => 5*i<+k", ["4,3", "18"]),
            ("i, j => 3*i<+j", ["4,3", "12"]),
            ("s, t => s, s<+t", ["4,3", "4,6"]),
        ] {
            let record = einsum(spec, &shapes).unwrap_or_else(|e| panic!("{spec}: {e}"));
            assert_eq!(record.injective(), Ok(Verdict::Yes(())), "{spec}");
        }
        let record = einsum("i, j => 3*i<+j", &["4,4", "13"]).unwrap();
        assert_eq!(record.injective(), Ok(Verdict::No(())));
    }
    PJ31 {
        let record = shows(einsum("oh, wh => 2*oh<+wh", &["3,2", "6"]),
            "product space {oh:3, wh:2}; lhs [2*oh+wh]; rhs1 [oh, wh]; reductions {}");
        writes(&record, true, true);
    }
    PJ33 {
        // The sliced axis is marked as iterated, too.
        shows(projections(&Logic::BatchSlice { range: Some(2) }, &["2,7|3->4", "7|3->4"], &[]),
            "product space {b:7, o:4, i:3}; lhs [b, o, i]; rhs1 [@, b, o, i]; reductions {}");
        let (mut system, axis) = matrix_product();
        system.equations.push(Equation::Pinned(axis, Pin::Fixed(2)));
        shows(system.solve(), "product space {i:4, k:6}; lhs [i, k]; rhs1 [i, 2]; rhs2 [2, k]; reductions {}");
        system.equations.push(Equation::Iterated(axis));
        shows(system.solve(), "product space {i:4, k:6}; lhs [i, k]; rhs1 [i, 2]; rhs2 [2, k]; reductions {}");
    }
    PJ35 {
        let (mut system, axis) = matrix_product();
        system.equations.push(Equation::Pinned(axis, Pin::Fixed(2)));
        system.equations.push(Equation::Pinned(system.axes().1[1][0], Pin::Fixed(3)));
        let error = system.solve().unwrap_err();
        assert_eq!(error.code(), "SJ0430");
        assert!(error.to_string().contains("output axis 2 of operand 1 is at 2, and output axis 1 of operand 2 is at 3"),
            "{error}");
        let last = system.equations.len() - 1;
        system.equations[last] = Equation::Pinned(axis, Pin::External);
        assert_eq!(system.solve().unwrap_err().code(), "SJ0430");
    }

    CV01 {
        let record = einsum("1*oh=+1*kh, 1*ow=+1*kw, ic; kh, kw, ic, oc => oh, ow, oc",
            &["5,5,2", "3,3,2,4", "5,5,4"]).unwrap();
        assert_eq!(record.loops.len(), 6);
        writes(&record, false, true);
    }
    CV03 {
        let record = shows(einsum("2*oh=+kh, 2*ow=+kw, ic; kh, kw, ic, oc => oh, ow, oc", &["6,6,1", "3,3,1,4", "3,3,4"]),
            "product space {oh:3, ow:3, oc:4, kh:3, kw:3}; lhs [oh, ow, oc]; rhs1 [2*oh+kh-1, 2*ow+kw-1, 0]; \
             rhs2 [kh, kw, 0, oc]; reductions {kh, kw}");
        // A stride of 2 does not reach beyond the right end.
        assert_eq!(margins(&record, 0), (vec![1, 1, 0], vec![0, 0, 0]));
    }
    CV05 {
        // Backwards through CV03: the same maps by their slots.
        let forward = einsum("2*oh=+kh, 2*ow=+kw, ic; kh, kw, ic, oc => oh, ow, oc",
            &["6,6,1", "3,3,1,4", "3,3,4"]).unwrap();
        let input = forward.readdressed(Slot::Operand(0), &[Slot::Result, Slot::Operand(1)]).unwrap();
        assert_eq!(shown(&input),
            "product space {oh:3, ow:3, oc:4, kh:3, kw:3}; lhs [2*oh+kh-1, 2*ow+kw-1, 0]; rhs1 [oh, ow, oc]; \
             rhs2 [kh, kw, 0, oc]; reductions {oc}");
        writes(&input, false, true);
        let (push, slice) = input.pieces().unwrap()[0].result.push();
        assert!(push.is_total() && slice.is_total());
        assert_eq!((push.codomain().to_string(), slice.domain().to_string()), ("[7,7,1]".into(), "[6,6,1]".into()));
        let kernel = forward.readdressed(Slot::Operand(1), &[Slot::Result, Slot::Operand(0)]).unwrap();
        assert_eq!(kernel.reductions().len(), 2);
    }
    CV07 {
        let record = sized("2*oh<+wh, 2*ow<+ww, c => oh, ow, c", &["7,7,2", "3,3,2"], &[("wh", 3), ("ww", 3)]);
        shows(record, "product space {oh:3, ow:3, c:2, wh:3, ww:3}; lhs [oh, ow, c]; \
             rhs1 [2*oh+wh, 2*ow+ww, c]; reductions {wh, ww}");
        // Without padding the window follows from the sizes; with padding it does not.
        let follows = einsum("2*oh<+wh, c => oh, c", &["7,2", "3,2"]).unwrap();
        assert_eq!(follows.loops[2].size, 3.into());
        assert_eq!(einsum("2*oh=+wh, c => oh, c", &["6,2", "3,2"]).unwrap_err().code(), "SJ0432");
    }
    CV09 {
        let record = sized("2*oh<+wh, 2*ow<+ww, c => oh, ow, c", &["4,4,3", "2,2,3"], &[("wh", 2), ("ww", 2)]).unwrap();
        writes(&record.readdressed(Slot::Operand(0), &[Slot::Result]).unwrap(), true, true);
    }
    CV11 {
        shows(einsum("2*oh<+kh, 2*ow<+kw; kh, kw => oh, ow", &["4,4", "2,2", "2,2"]),
            "product space {oh:2, ow:2, kh:2, kw:2}; lhs [oh, ow]; rhs1 [2*oh+kh, 2*ow+kw]; rhs2 [kh, kw]; \
             reductions {kh, kw}");
    }
    CV17 {
        let [even, odd] = ["..., 2*o => ..., o", "..., 2*o+1 => ..., o"].map(|s| einsum(s, &["3,8", "3,4"]).unwrap());
        assert_eq!(shown(&even), "product space {o0:3, o:4}; lhs [o0, o]; rhs1 [o0, 2*o]; reductions {}");
        assert_eq!(shown(&odd), "product space {o0:3, o:4}; lhs [o0, o]; rhs1 [o0, 2*o+1]; reductions {}");
        for back in ["..., o => ..., 2*o", "..., o => ..., 2*o+1"] {
            writes(&einsum(back, &["3,4", "3,8"]).unwrap(), true, false);
        }
    }
    BL01 { writes(&einsum("a; b => a^b", &["3", "2", "5"]).unwrap(), true, true); }
    BL03 {
        for shapes in [["2", "1", "2", "5"], ["1", "3", "2", "6"], ["2", "3", "1", "6"]] {
            let record = einsum("a; b; c => a^b^c", &shapes).unwrap();
            assert_eq!(record.pieces().unwrap().len(), 3);
            writes(&record, true, true);
        }
    }
    BL05 {
        // Stacking: each operand has an axis of size one to be stacked along.
        let record = einsum("a, ...; b, ... => a^b, ...", &["1,3", "1,3", "2,3"]).unwrap();
        assert_eq!(pieces(&record), [
            "lhs (i<1, j<3) -> [0, j] in [2,3]; rhs1 (i<1, j<3) -> [0, j] in [1,3]",
            "lhs (i<1, j<3) -> [1, j] in [2,3]; rhs2 (i<1, j<3) -> [0, j] in [1,3]",
        ]);
    }
    BL07 {
        // A block matrix in one operation: two coupled factors, four pieces.
        let record = shows(einsum("a,c; a,d; b,c; b,d => a^b, c^d", &["1,2", "1,3", "4,2", "4,3", "5,5"]),
            "product space {a:1^b:4, c:2^d:3}; lhs [a^b, c^d]; rhs1 [a, c]; rhs2 [a, d]; rhs3 [b, c]; rhs4 [b, d]; \
             reductions {}");
        assert_eq!(record.pieces().unwrap().len(), 4);
        writes(&record, true, true);
    }
    BL13 {
        let forward = einsum("a; b; c => a^b^c", &["2", "3", "2", "7"]).unwrap();
        for (i, extent) in [2, 3, 2].into_iter().enumerate() {
            let gradient = forward.readdressed(Slot::Operand(i), &[Slot::Result]).unwrap();
            assert_eq!(gradient.pieces().unwrap().len(), 1);
            assert_eq!(gradient.result_extents, [extent.into()]);
            writes(&gradient, true, true);
        }
    }
    BL17 {
        // A component that the other side does not take is passed over, whether it is empty or not.
        for (shapes, rhs) in [(["5", "3"], "a^2"), (["5", "5"], "a")] {
            let record = einsum("a^b=>a", &shapes).unwrap();
            assert_eq!(shown(&record), format!("product space {{a:{0}}}; lhs [a]; rhs1 [{rhs}]; reductions {{}}", shapes[1]));
            writes(&record, true, true);
        }
        let record = shows(einsum("a^b=>b", &["5", "3"]), "product space {b:3}; lhs [b]; rhs1 [2^b]; reductions {}");
        assert_eq!(pieces(&record), ["lhs (i<3) -> [i] in [3]; rhs1 (i<3) -> [i + 2] in [5]"]);
        let record = shows(sized("a^b=>a^b", &["5", "5"], &[("a", 2)]),
            "product space {a:2^b:3}; lhs [a^b]; rhs1 [a^b]; reductions {}");
        writes(&record, true, true);
        // `b` is a source for every component.
        let record = shows(einsum("a; b=>a^c", &["3", "2", "7"]),
            "product space {a:3^c:4, b:2}; lhs [a^c]; rhs1 [a]; rhs2 [b]; reductions {b}");
        assert_eq!(record.pieces().unwrap_err().code(), "SJ0434");
        let record = shows(sized("b^c=>a,", &["5", "2"], &[("b", 1)]),
            "product space {a:2, b:1^c:4}; lhs [a]; rhs1 [b^c]; reductions {b, c}");
        writes(&record, false, true);
    }
    BL19 {
        let record = sized("a^b^c=>b,", &["9", "4"], &[("a", 2), ("c", 3)]);
        shows(record, "product space {b:4}; lhs [b]; rhs1 [2^b^3]; reductions {}");
        assert_eq!(einsum("a^b^c=>b,", &["9", "4"]).unwrap_err().code(), "SJ0432");
        // A number is the size of a component that nothing names.
        shows(einsum("2^b^3=>b,", &["9", "4"]), "product space {b:4}; lhs [b]; rhs1 [2^b^3]; reductions {}");
    }
}

/// `ij;jk=>ik`, and the second axis of its first operand.
fn matrix_product() -> (System, surject_projection::AxisId) {
    let shapes = ["4,5", "5,6", "4,6"].map(notation::shape);
    let system =
        System::new(&notation::spec("ij;jk=>ik"), &shapes[..2], &shapes[2], &Default::default()).unwrap();
    let axis = system.axes().1[0][1];
    (system, axis)
}

/// PJ37 is about the names of slots, which this crate does not know.
#[test]
fn every_case_has_a_test() {
    let Ok(file) = std::env::var("SURJECT_SHAPE_CASES") else { return };
    let text = std::fs::read_to_string(file).unwrap();
    let listed = text.lines().filter_map(|l| l.strip_prefix("| ")?.split(' ').next());
    let missing: Vec<&str> =
        listed.filter(|id| id.starts_with("PJ") && *id != "PJ37" && !IDS.contains(id)).collect();
    assert!(missing.is_empty(), "no test for {missing:?}");
}

/// A record is derived from sizes of its own operation only.
#[test]
fn shapes_that_do_not_fit_are_refused() {
    let refused = |logic: &Logic, shapes: &[&str]| projections(logic, shapes, &[]).unwrap_err().code();
    assert_eq!(refused(&notation::spec("ij;jk=>ik"), &["4,5", "6,7", "4,7"]), "SJ0431");
    assert_eq!(refused(&notation::spec("ij;jk=>ik"), &["4,5", "5,6"]), "SJ0411");
    assert_eq!(refused(&notation::spec("ij=>i"), &["4,5,6", "4"]), "SJ0403");
    assert_eq!(refused(&notation::spec("i=>i3"), &["4", "4,3"]), "SJ0438");
    assert_eq!(refused(&notation::spec("2*o=>o"), &["7", "3"]), "SJ0431");
    assert_eq!(refused(&notation::spec("a;b=>a^b"), &["3", "2", "6"]), "SJ0431");
    assert_eq!(refused(&notation::spec("a=>a^a"), &["3", "6"]), "SJ0435");
    assert_eq!(refused(&notation::spec("i..i..=>i"), &["3,4", "3"]), "SJ0411");
    assert_eq!(refused(&Logic::Pointwise, &["3,4", "4"]), "SJ0403");
    assert_eq!(refused(&Logic::Pointwise, &["3", "4"]), "SJ0431");
    assert_eq!(refused(&Logic::Pointwise, &["3,<>", "<>,3"]), "SJ0403");
    assert_eq!(refused(&Logic::Compose, &["3"]), "SJ0411");
    assert!(derive(&FILL, &[notation::shape("3")], &notation::shape("3"), &Default::default()).is_err());
    let huge = u64::MAX.to_string();
    assert_eq!(refused(&notation::spec("2*o=>o"), &[&huge, &huge]), "SJ0437");
    let record = einsum("i=>i", &[&huge, &huge]).unwrap();
    assert_eq!(record.pieces().unwrap_err().code(), "SJ0437");
}

/// Markers decide which axes of a broadcast meet.
#[test]
fn flanks_align_at_their_edges() {
    shows(
        projections(&Logic::Pointwise, &["3,<>,4", "<>,5,4", "3,<>,5,4"], &[]),
        "product space {o0:3, o1:5, o2:4}; lhs [o0, o1, o2]; rhs1 [o0, o2]; rhs2 [o1, o2]; reductions {}",
    );
    shows(
        projections(&Logic::Pointwise, &["3,<>", "3,<>,3"], &[]),
        "product space {o0:3, o1:3}; lhs [o0, o1]; rhs1 [o0]; reductions {}",
    );
    // Equations are blind to the marker.
    shows(
        einsum("ij=>ji", &["3,<>,4", "<>,4,3"]),
        "product space {j:4, i:3}; lhs [j, i]; rhs1 [i, j]; reductions {}",
    );
}

/// The unit is severed, not joined: the inputs of `a` are summed although `b` has one position for all of them.
#[test]
fn broadcasting_severs() {
    let record = projections(&Logic::Compose, &["5->3", "1:*", "3"], &[]);
    shows(record, "product space {o:3, k:5}; lhs [o]; rhs1 [o, k]; rhs2 [0]; reductions {k}");
    shows(
        projections(&Logic::ComposeAccumulate, &["5->3", "4->5", "1:*", "4->3"], &[]),
        "product space {o:3, i:4, k:5}; lhs [o, i]; rhs1 [o, k]; rhs2 [k, i]; rhs3 [0]; reductions {k}",
    );
    shows(
        projections(&Logic::Transpose, &["7|3->1:*", "7|5->3"], &[]),
        "product space {b:7, o:3, i:5}; lhs [b, o, i]; rhs1 [b, 0, o]; reductions {}",
    );
}
