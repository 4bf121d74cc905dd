//! What the record of an operation looks like: product space, index maps, reductions, pieces.

mod notation;

use notation::{einsum, projections, sized};
use std::fmt::Write;
use surject_index::{Fill, Verdict};
use surject_projection::{ProjectionError, Projections, Slot};
use surject_shape::{Logic, Role};

/// A record, its decisions, and its pieces as maps.
fn listing(title: &str, record: Result<Projections, ProjectionError>) -> String {
    let record = record.unwrap_or_else(|e| panic!("{title}: {e}"));
    let word = |v: Verdict| match v {
        Verdict::Yes(()) => "yes",
        Verdict::No(()) => "no",
        Verdict::Unknown => "unknown",
    };
    let mut text = format!("# {title}\n{record}");
    let (injective, surjective) = (record.injective().unwrap(), record.surjective().unwrap());
    writeln!(text, "injective {}, surjective {}", word(injective), word(surjective)).unwrap();
    for piece in record.pieces().or_else(|_| record.joint_pieces()).unwrap() {
        writeln!(text, "  write {}", piece.result.read_map(Fill(0))).unwrap();
        if !piece.result.is_total() {
            let (push, slice) = piece.result.push();
            writeln!(text, "  push  {push}\n  slice {slice}").unwrap();
        }
        for (i, access) in piece.operands.iter().enumerate() {
            match access {
                Some(access) => writeln!(text, "  read{} {}", i + 1, access.read_map(Fill(0))).unwrap(),
                None => writeln!(text, "  read{} none", i + 1).unwrap(),
            }
        }
    }
    text
}

#[test]
fn core() {
    let list = [
        listing("matrix product", einsum("ij;jk=>ik", &["4,5", "5,6", "4,6"])),
        listing("composition", projections(&Logic::Compose, &["2|5->3", "4->5", "2|4->3"], &[])),
        listing("broadcast", projections(&Logic::Pointwise, &["", "1:*,4", "2|3,4", "2|3,4"], &[])),
        listing("transposition", projections(&Logic::Transpose, &["2|3->4,5", "2|4,5->3"], &[])),
        listing("slice", projections(&Logic::BatchSlice { range: Some(9) }, &["9,2|3->4", "2|3->4"], &[])),
        listing("fill", projections(&Logic::Terminal(Role::Leaf), &["2|1->3"], &[])),
        listing("diagonal", einsum("ii=>i", &["3,3", "3"])),
        listing(
            "row variables",
            einsum("..v..|a->b; n|b->c => n,..v..|a->c", &["2,3|4->5", "7|5->6", "7,2,3|4->6"]),
        ),
    ];
    insta::assert_snapshot!(list.join("\n"));
}

#[test]
fn convolutions() {
    let list = [
        listing(
            "padded",
            einsum("h=+kh, w=+kw, ic; kh, kw, ic, oc => h, w, oc", &["5,5,2", "3,3,2,4", "5,5,4"]),
        ),
        listing("strided", einsum("2*h=+kh, ic; kh, ic, oc => h, oc", &["6,2", "3,2,4", "3,4"])),
        listing("dilated, padded", einsum("h=+2*kh; kh => h", &["7", "3", "7"])),
        listing("an even kernel", einsum("h=+kh; kh => h", &["7", "4", "7"])),
        listing("valid", einsum("2*h<+3*kh; kh => h", &["11", "3", "3"])),
        listing("valid with an offset", einsum("2*h<+1+kh; kh => h", &["5", "1", "3"])),
        listing(
            "pooling",
            sized("2*h<+wh, 2*w<+ww, c => h, w, c", &["4,6,3", "2,3,3"], &[("wh", 2), ("ww", 2)]),
        ),
        listing("one output position", einsum("h<+kh; kh => h", &["3", "3", "1"])),
        listing(
            "its gradient",
            einsum("h=+2*kh; kh => h", &["7", "3", "7"])
                .map(|r| r.readdressed(Slot::Operand(0), &[Slot::Result, Slot::Operand(1)]).unwrap()),
        ),
    ];
    insta::assert_snapshot!(list.join("\n"));
}

#[test]
fn concatenations() {
    let list = [
        listing("two", einsum("a; b => a^b", &["3", "2", "5"])),
        listing("a unit component", einsum("a, ...; b, ... => a^b, ...", &["1,3", "4,3", "5,3"])),
        listing("a part", einsum("2^b^3 => b,", &["9", "4"])),
        listing("the other components", sized("a^b^c => a^c", &["9", "5"], &[("a", 2)])),
        listing("sum over components", sized("a^b, c => c", &["5,2", "2"], &[("a", 2)])),
        listing(
            "a block matrix",
            einsum("a,c; a,d; b,c; b,d => a^b, c^d", &["1,2", "1,3", "4,2", "4,3", "5,5"]),
        ),
        listing("a hole", einsum("a; b => a^2^b", &["1", "3", "6"])),
        listing("a product with a part", einsum("a^b; b => b", &["5", "2", "2"])),
        listing("nothing in common", sized("a^b => c^a", &["5", "6"], &[("a", 0)])),
    ];
    insta::assert_snapshot!(list.join("\n"));
}
