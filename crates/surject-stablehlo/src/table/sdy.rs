//! The rows of Shardy, which says on which devices the parts of tensors lie. JAX emits `mesh`, `sharding_constraint`,
//! `manual_computation` and `return`; the other operations are those of its partitioner.

use super::{
    ANY, AttrKind as K, AttrSpec, Form, OpSpec, Piece, PieceValue as V, Rule as R, n, op, optional, required,
};

const fn piece(label: &'static str, attribute: &'static str, value: V) -> Piece {
    Piece { label, attribute, value }
}

const SHARDING: V = V::Bracketed('<', "#sdy.sharding", "");
const PER_VALUE: V = V::Bracketed('[', "#sdy.sharding_per_value<", ">");
const AXES: V = V::Bracketed('{', "#sdy<axis_ref_list", ">");
const AXIS_LISTS: V = V::Bracketed('[', "#sdy<list_of_axis_ref_lists", ">");

const OUT: &[Piece] = &[piece("out_sharding", "out_sharding", SHARDING)];
const SHARDINGS: [Piece; 2] =
    [piece("in_shardings", "in_shardings", PER_VALUE), piece("out_shardings", "out_shardings", PER_VALUE)];

const fn sharded(
    name: &'static str,
    before: &'static [Piece],
    after: &'static [Piece],
    attributes: &'static [AttrSpec],
) -> OpSpec {
    op(name, n(1), n(1), Form::Sharded { before, after }, attributes, R::SameShape)
}

/// A collective with a list of axes before its operand.
const fn collective(name: &'static str, axes: &'static [Piece], attributes: &'static [AttrSpec]) -> OpSpec {
    sharded(name, axes, OUT, attributes)
}

const OUT_SHARDING: AttrSpec = required("out_sharding", K::Any);
const CONSTRAINT: &[Piece] = &[piece("", "sharding", SHARDING)];

/// Every operation of Shardy.
pub(super) const ROWS: &[OpSpec] = &[
    op(
        "sdy.mesh",
        n(0),
        n(0),
        Form::Mesh,
        &[required("sym_name", K::Str), required("mesh", K::Any)],
        R::None,
    ),
    sharded("sdy.sharding_constraint", &[], CONSTRAINT, &[required("sharding", K::Any)]),
    sharded("sdy.reshard", &[], CONSTRAINT, &[required("sharding", K::Any)]),
    sharded(
        "sdy.data_flow_edge",
        &[],
        &[piece("sharding", "sharding", SHARDING)],
        &[optional("sharding", K::Any)],
    ),
    sharded(
        "sdy.propagation_barrier",
        &[],
        &[piece("allowed_direction", "allowed_direction", V::Word(&["NONE", "FORWARD", "BACKWARD", "BOTH"]))],
        &[required("allowed_direction", K::I32)],
    ),
    op(
        "sdy.sharding_group",
        n(1),
        n(0),
        Form::Sharded { before: &[], after: &[piece("group_id", "group_id", V::Int)] },
        &[required("group_id", K::I64)],
        R::None,
    ),
    op(
        "sdy.manual_computation",
        ANY,
        ANY,
        Form::Computation {
            pieces: &[
                SHARDINGS[0],
                SHARDINGS[1],
                piece("manual_axes", "manual_axes", V::Bracketed('{', "#sdy<manual_axes", ">")),
            ],
        },
        &[
            required("in_shardings", K::Any),
            required("out_shardings", K::Any),
            required("manual_axes", K::Any),
        ],
        R::Computation,
    )
    .regions(n(1)),
    op(
        "sdy.named_computation",
        ANY,
        ANY,
        Form::Computation { pieces: &SHARDINGS },
        &[required("name", K::Str), optional("in_shardings", K::Any), optional("out_shardings", K::Any)],
        R::Computation,
    )
    .regions(n(1)),
    op("sdy.return", ANY, n(0), Form::Return, &[], R::None),
    op("sdy.constant", n(0), n(1), Form::Constant, &[required("value", K::Dense)], R::Constant),
    collective(
        "sdy.all_gather",
        &[piece("", "gathering_axes", AXIS_LISTS)],
        &[required("gathering_axes", K::Any), OUT_SHARDING],
    ),
    collective(
        "sdy.all_slice",
        &[piece("", "slicing_axes", AXIS_LISTS)],
        &[required("slicing_axes", K::Any), OUT_SHARDING],
    ),
    collective(
        "sdy.all_to_all",
        &[piece("", "params", V::Bracketed('[', "#sdy<all_to_all_param_list", ">"))],
        &[required("params", K::Any), OUT_SHARDING],
    ),
    collective(
        "sdy.all_reduce",
        &[piece("", "reduction_axes", AXES)],
        &[required("reduction_axes", K::Any), OUT_SHARDING],
    ),
    collective(
        "sdy.reduce_scatter",
        &[piece("", "reduce_scatter_axes", AXIS_LISTS)],
        &[required("reduce_scatter_axes", K::Any), OUT_SHARDING],
    ),
    collective("sdy.collective_permute", &[], &[OUT_SHARDING]),
];
