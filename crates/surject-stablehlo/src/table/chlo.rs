//! The rows of CHLO, the client operations that StableHLO programs may hold.

use super::{
    ANY, Absent, AttrKind as K, AttrSpec, Elements as E, Form, OpSpec, Rule as R, Types, attr, listed, n, op,
    optional, required,
};

const BROADCAST: &[AttrSpec] = &[optional("broadcast_dimensions", K::I64s)];

const fn broadcast(name: &'static str, elements: E) -> OpSpec {
    op(name, n(2), n(1), listed(&[], Types::Functional), BROADCAST, R::ChloBroadcast(elements))
}

const fn unary(name: &'static str) -> OpSpec {
    op(name, n(1), n(1), listed(&[], Types::Arrow), &[], R::Elementwise(E::FloatOrComplex))
}

const fn predicate(name: &'static str) -> OpSpec {
    op(name, n(1), n(1), listed(&[], Types::Arrow), &[], R::Predicate(E::Float))
}

const fn binary(name: &'static str, elements: E) -> OpSpec {
    op(name, n(2), n(1), listed(&[], Types::Arrow), &[], R::Elementwise(elements))
}

/// Every CHLO operation.
pub(super) const ROWS: &[OpSpec] = &[
    broadcast("chlo.broadcast_add", E::Any),
    broadcast("chlo.broadcast_and", E::IntegerOrBool),
    broadcast("chlo.broadcast_atan2", E::FloatOrComplex),
    op(
        "chlo.broadcast_complex",
        n(2),
        n(1),
        listed(&[], Types::Functional),
        BROADCAST,
        R::ChloBroadcastComplex,
    ),
    broadcast("chlo.broadcast_divide", E::NotBool),
    broadcast("chlo.broadcast_maximum", E::Any),
    broadcast("chlo.broadcast_minimum", E::Any),
    broadcast("chlo.broadcast_multiply", E::Any),
    broadcast("chlo.broadcast_next_after", E::Float),
    broadcast("chlo.broadcast_or", E::IntegerOrBool),
    broadcast("chlo.broadcast_polygamma", E::Float),
    broadcast("chlo.broadcast_power", E::NotBool),
    broadcast("chlo.broadcast_remainder", E::NotBool),
    broadcast("chlo.broadcast_shift_left", E::Integer),
    broadcast("chlo.broadcast_shift_right_arithmetic", E::Integer),
    broadcast("chlo.broadcast_shift_right_logical", E::Integer),
    broadcast("chlo.broadcast_subtract", E::NotBool),
    broadcast("chlo.broadcast_xor", E::IntegerOrBool),
    broadcast("chlo.broadcast_zeta", E::Float),
    op(
        "chlo.broadcast_compare",
        n(2),
        n(1),
        listed(&[], Types::Functional),
        &[
            optional("broadcast_dimensions", K::I64s),
            required("comparison_direction", K::Enum("comparison_direction")),
            optional("compare_type", K::Enum("comparison_type")),
        ],
        R::ChloBroadcastCompare,
    ),
    op("chlo.broadcast_select", n(3), n(1), listed(&[], Types::Functional), &[], R::ChloBroadcastSelect),
    unary("chlo.acos"),
    unary("chlo.acosh"),
    unary("chlo.asin"),
    unary("chlo.asinh"),
    unary("chlo.atan"),
    unary("chlo.atanh"),
    unary("chlo.bessel_i1e"),
    unary("chlo.conj"),
    unary("chlo.cosh"),
    unary("chlo.digamma"),
    unary("chlo.erf"),
    unary("chlo.erf_inv"),
    unary("chlo.erfc"),
    unary("chlo.lgamma"),
    unary("chlo.sinh"),
    unary("chlo.tan"),
    op("chlo.square", n(1), n(1), listed(&[], Types::Arrow), &[], R::Elementwise(E::NotBool)),
    op("chlo._asin_acos_kernel", n(1), n(1), listed(&[], Types::Arrow), &[], R::None),
    predicate("chlo.is_inf"),
    predicate("chlo.is_neg_inf"),
    predicate("chlo.is_pos_inf"),
    binary("chlo.next_after", E::Float),
    binary("chlo.polygamma", E::Float),
    binary("chlo.zeta", E::Float),
    binary("chlo.mulhi", E::Integer),
    op("chlo.constant", n(0), n(1), Form::Constant, &[required("value", K::Any)], R::Constant),
    op("chlo.constant_like", n(1), n(1), Form::Generic, &[required("value", K::Any)], R::ConstantLike),
    op(
        "chlo.top_k",
        n(1),
        n(2),
        Form::Listed { labels: &[("k", "k")], types: Types::Arrow, parenthesised: true },
        &[required("k", K::I64)],
        R::TopK,
    )
    .named(&["values", "indices"]),
    op(
        "chlo.ragged_dot",
        n(3),
        n(1),
        Form::Generic,
        &[
            required("ragged_dot_dimension_numbers", K::Any),
            optional("precision_config", K::Enums("precision")),
        ],
        R::RaggedDot,
    ),
    op(
        "chlo.scan",
        ANY,
        ANY,
        Form::Generic,
        &[required("dimension", K::I64), attr("is_reverse", K::Bool, Absent::Bool(false))],
        R::Scan,
    )
    .regions(n(1)),
];
