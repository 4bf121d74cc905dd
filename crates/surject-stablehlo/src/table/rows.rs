//! The rows of StableHLO, `func` and the checking dialects.

use super::{
    ANY, Absent, Arity, AttrKind as K, AttrSpec, Elements as E, Form, OpSpec, Rule as R, SOME, Types, attr,
    listed, n, op, optional, required,
};

const SAME: Form = listed(&[], Types::Same);
const FUNCTIONAL: Form = listed(&[], Types::Functional);
const NO_ATTRS: &[AttrSpec] = &[];
const ACCURACY: &[AttrSpec] = &[optional("result_accuracy", K::ResultAccuracy)];

const fn unary(name: &'static str, elements: E) -> OpSpec {
    op(name, n(1), n(1), SAME, NO_ATTRS, R::Elementwise(elements))
}

const fn accurate(name: &'static str) -> OpSpec {
    op(name, n(1), n(1), SAME, ACCURACY, R::Accurate)
}

const fn binary(name: &'static str, elements: E) -> OpSpec {
    op(name, n(2), n(1), SAME, NO_ATTRS, R::Elementwise(elements))
}

const fn generic(
    name: &'static str,
    operands: Arity,
    results: Arity,
    attributes: &'static [AttrSpec],
    rule: R,
) -> OpSpec {
    op(name, operands, results, Form::Generic, attributes, rule)
}

const CONVOLUTION: &[AttrSpec] = &[
    required("dimension_numbers", K::Conv),
    attr("window_strides", K::I64s, Absent::Ones),
    attr("padding", K::Pairs, Absent::ZeroPairs),
    attr("lhs_dilation", K::I64s, Absent::Ones),
    attr("rhs_dilation", K::I64s, Absent::Ones),
    attr("window_reversal", K::Bools, Absent::Falses),
    required("feature_group_count", K::I64),
    required("batch_group_count", K::I64),
    optional("precision_config", K::Enums("precision")),
];

/// As the former; the padding is an operand.
const DYNAMIC_CONV: &[AttrSpec] = &[
    required("dimension_numbers", K::Conv),
    attr("window_strides", K::I64s, Absent::Ones),
    attr("lhs_dilation", K::I64s, Absent::Ones),
    attr("rhs_dilation", K::I64s, Absent::Ones),
    attr("window_reversal", K::Bools, Absent::Falses),
    required("feature_group_count", K::I64),
    required("batch_group_count", K::I64),
    optional("precision_config", K::Enums("precision")),
];

const BATCH_NORM: &[AttrSpec] = &[required("epsilon", K::F32), required("feature_index", K::I64)];

const REPLICA_GROUPS: AttrSpec = required("replica_groups", K::Any);
const CHANNEL: AttrSpec = optional("channel_handle", K::Channel);
const GLOBAL_IDS: AttrSpec = optional("use_global_device_ids", K::Unit);

/// Every StableHLO operation, then `func`, `check` and `interpreter`.
pub(super) const ROWS: &[OpSpec] = &[
    // Elementwise.
    op("stablehlo.abs", n(1), n(1), SAME, NO_ATTRS, R::Abs),
    accurate("stablehlo.cbrt"),
    unary("stablehlo.ceil", E::Float),
    op("stablehlo.convert", n(1), n(1), SAME, NO_ATTRS, R::Convert),
    unary("stablehlo.count_leading_zeros", E::Integer),
    accurate("stablehlo.cosine"),
    accurate("stablehlo.exponential"),
    accurate("stablehlo.exponential_minus_one"),
    unary("stablehlo.floor", E::Float),
    op("stablehlo.imag", n(1), n(1), SAME, NO_ATTRS, R::RealPart),
    op("stablehlo.is_finite", n(1), n(1), FUNCTIONAL, NO_ATTRS, R::Predicate(E::Float)),
    accurate("stablehlo.log"),
    accurate("stablehlo.log_plus_one"),
    accurate("stablehlo.logistic"),
    unary("stablehlo.negate", E::NotBool),
    unary("stablehlo.not", E::IntegerOrBool),
    unary("stablehlo.popcnt", E::Integer),
    op("stablehlo.real", n(1), n(1), SAME, NO_ATTRS, R::RealPart),
    unary("stablehlo.round_nearest_afz", E::Float),
    unary("stablehlo.round_nearest_even", E::Float),
    accurate("stablehlo.rsqrt"),
    unary("stablehlo.sign", E::SignedFloatOrComplex),
    accurate("stablehlo.sine"),
    accurate("stablehlo.sqrt"),
    accurate("stablehlo.tan"),
    accurate("stablehlo.tanh"),
    op(
        "stablehlo.reduce_precision",
        n(1),
        n(1),
        Form::ReducePrecision,
        &[required("exponent_bits", K::I32), required("mantissa_bits", K::I32)],
        R::ReducePrecision,
    ),
    op("stablehlo.bitcast_convert", n(1), n(1), FUNCTIONAL, NO_ATTRS, R::BitcastConvert),
    op("stablehlo.add", n(2), n(1), SAME, NO_ATTRS, R::Add),
    binary("stablehlo.atan2", E::FloatOrComplex),
    binary("stablehlo.divide", E::NotBool),
    binary("stablehlo.maximum", E::Any),
    binary("stablehlo.minimum", E::Any),
    binary("stablehlo.multiply", E::Any),
    binary("stablehlo.power", E::NotBool),
    binary("stablehlo.remainder", E::NotBool),
    binary("stablehlo.shift_left", E::Integer),
    binary("stablehlo.shift_right_arithmetic", E::Integer),
    binary("stablehlo.shift_right_logical", E::Integer),
    binary("stablehlo.subtract", E::NotBool),
    binary("stablehlo.and", E::IntegerOrBool),
    binary("stablehlo.or", E::IntegerOrBool),
    binary("stablehlo.xor", E::IntegerOrBool),
    op("stablehlo.complex", n(2), n(1), Form::Complex, NO_ATTRS, R::Complex),
    op(
        "stablehlo.compare",
        n(2),
        n(1),
        Form::Compare,
        &[
            required("comparison_direction", K::Enum("comparison_direction")),
            optional("compare_type", K::Enum("comparison_type")),
        ],
        R::Compare,
    ),
    op("stablehlo.select", n(3), n(1), Form::Select, NO_ATTRS, R::Select),
    op("stablehlo.clamp", n(3), n(1), SAME, NO_ATTRS, R::Clamp),
    generic("stablehlo.map", SOME, n(1), &[required("dimensions", K::I64s)], R::Map).regions(n(1)),
    // Sources and data movement.
    op("stablehlo.constant", n(0), n(1), Form::Constant, &[required("value", K::Any)], R::Constant),
    op(
        "stablehlo.iota",
        n(0),
        n(1),
        listed(&[("dim", "iota_dimension")], Types::Same),
        &[required("iota_dimension", K::I64)],
        R::Iota,
    ),
    op(
        "stablehlo.broadcast_in_dim",
        n(1),
        n(1),
        listed(&[("dims", "broadcast_dimensions")], Types::Functional),
        &[required("broadcast_dimensions", K::I64s)],
        R::BroadcastInDim,
    ),
    op(
        "stablehlo.broadcast",
        n(1),
        n(1),
        listed(&[("sizes", "broadcast_sizes")], Types::Functional),
        &[required("broadcast_sizes", K::I64s)],
        R::Broadcast,
    ),
    op("stablehlo.reshape", n(1), n(1), FUNCTIONAL, NO_ATTRS, R::Reshape),
    op(
        "stablehlo.transpose",
        n(1),
        n(1),
        listed(&[("dims", "permutation")], Types::Functional),
        &[required("permutation", K::I64s)],
        R::Transpose,
    ),
    op(
        "stablehlo.reverse",
        n(1),
        n(1),
        listed(&[("dims", "dimensions")], Types::Same),
        &[required("dimensions", K::I64s)],
        R::Reverse,
    ),
    op(
        "stablehlo.slice",
        n(1),
        n(1),
        Form::Slice,
        &[
            required("start_indices", K::I64s),
            required("limit_indices", K::I64s),
            required("strides", K::I64s),
        ],
        R::Slice,
    ),
    op(
        "stablehlo.concatenate",
        SOME,
        n(1),
        listed(&[("dim", "dimension")], Types::Functional),
        &[required("dimension", K::I64)],
        R::Concatenate,
    ),
    op(
        "stablehlo.pad",
        n(2),
        n(1),
        listed(
            &[("low", "edge_padding_low"), ("high", "edge_padding_high"), ("interior", "interior_padding")],
            Types::Functional,
        ),
        &[
            required("edge_padding_low", K::I64s),
            required("edge_padding_high", K::I64s),
            required("interior_padding", K::I64s),
        ],
        R::Pad,
    ),
    op(
        "stablehlo.dynamic_slice",
        SOME,
        n(1),
        listed(&[("sizes", "slice_sizes")], Types::Functional),
        &[required("slice_sizes", K::I64s)],
        R::DynamicSlice,
    ),
    op(
        "stablehlo.dynamic_update_slice",
        Arity::at_least(2),
        n(1),
        FUNCTIONAL,
        NO_ATTRS,
        R::DynamicUpdateSlice,
    ),
    generic(
        "stablehlo.gather",
        n(2),
        n(1),
        &[
            required("dimension_numbers", K::Gather),
            required("slice_sizes", K::I64s),
            attr("indices_are_sorted", K::Bool, Absent::Bool(false)),
        ],
        R::Gather,
    ),
    generic(
        "stablehlo.scatter",
        Arity::at_least(3),
        SOME,
        &[
            required("scatter_dimension_numbers", K::Scatter),
            attr("indices_are_sorted", K::Bool, Absent::Bool(false)),
            attr("unique_indices", K::Bool, Absent::Bool(false)),
        ],
        R::Scatter,
    )
    .regions(n(1)),
    generic(
        "stablehlo.torch_index_select",
        n(2),
        n(1),
        &[required("dim", K::I64), required("batch_dims", K::I64)],
        R::TorchIndexSelect,
    ),
    // Contractions.
    op(
        "stablehlo.dot_general",
        n(2),
        n(1),
        Form::DotGeneral,
        &[
            required("dot_dimension_numbers", K::Dot),
            optional("precision_config", K::Enums("precision")),
            optional("algorithm", K::DotAlgorithm),
        ],
        R::DotGeneral,
    ),
    op(
        "stablehlo.dot",
        n(2),
        n(1),
        listed(&[("precision", "precision_config")], Types::Functional),
        &[optional("precision_config", K::Enums("precision"))],
        R::Dot,
    ),
    op(
        "stablehlo.einsum",
        n(2),
        n(1),
        listed(&[("config", "einsum_config")], Types::Functional),
        &[required("einsum_config", K::Str)],
        R::Einsum,
    ),
    op(
        "stablehlo.unary_einsum",
        n(1),
        n(1),
        listed(&[("config", "einsum_config")], Types::Functional),
        &[required("einsum_config", K::Str)],
        R::Einsum,
    ),
    op("stablehlo.convolution", n(2), n(1), Form::Convolution, CONVOLUTION, R::Convolution),
    // Reductions.
    op(
        "stablehlo.reduce",
        Arity::at_least(2),
        SOME,
        Form::Reduce,
        &[required("dimensions", K::I64s)],
        R::Reduce,
    )
    .regions(n(1)),
    generic(
        "stablehlo.reduce_window",
        Arity::at_least(2),
        SOME,
        &[
            required("window_dimensions", K::I64s),
            attr("window_strides", K::I64s, Absent::Ones),
            attr("base_dilations", K::I64s, Absent::Ones),
            attr("window_dilations", K::I64s, Absent::Ones),
            attr("padding", K::Pairs, Absent::ZeroPairs),
        ],
        R::ReduceWindow,
    )
    .regions(n(1)),
    generic(
        "stablehlo.select_and_scatter",
        n(3),
        n(1),
        &[
            attr("window_dimensions", K::I64s, Absent::Ones),
            attr("window_strides", K::I64s, Absent::Ones),
            attr("padding", K::Pairs, Absent::ZeroPairs),
        ],
        R::SelectAndScatter,
    )
    .regions(n(2)),
    // Library algorithms.
    generic(
        "stablehlo.sort",
        SOME,
        SOME,
        &[attr("dimension", K::I64, Absent::Int(-1)), attr("is_stable", K::Bool, Absent::Bool(false))],
        R::Sort,
    )
    .regions(n(1)),
    op(
        "stablehlo.fft",
        n(1),
        n(1),
        listed(&[("type", "fft_type"), ("length", "fft_length")], Types::Functional),
        &[required("fft_type", K::Enum("fft_type")), required("fft_length", K::I64s)],
        R::Fft,
    ),
    op(
        "stablehlo.cholesky",
        n(1),
        n(1),
        listed(&[("lower", "lower")], Types::Same),
        &[attr("lower", K::Bool, Absent::Bool(false))],
        R::Cholesky,
    ),
    generic(
        "stablehlo.triangular_solve",
        n(2),
        n(1),
        &[
            required("left_side", K::Bool),
            required("lower", K::Bool),
            required("unit_diagonal", K::Bool),
            required("transpose_a", K::Enum("transpose")),
        ],
        R::TriangularSolve,
    ),
    op(
        "stablehlo.rng",
        n(3),
        n(1),
        listed(&[("distribution", "rng_distribution")], Types::Functional),
        &[required("rng_distribution", K::Enum("rng_distribution"))],
        R::Rng,
    ),
    op(
        "stablehlo.rng_bit_generator",
        n(1),
        n(2),
        listed(&[("algorithm", "rng_algorithm")], Types::Functional),
        &[required("rng_algorithm", K::Enum("rng_algorithm"))],
        R::RngBitGenerator,
    )
    .named(&["output_state", "output"]),
    generic("stablehlo.batch_norm_training", n(3), n(3), BATCH_NORM, R::BatchNormTraining).named(&[
        "output",
        "batch_mean",
        "batch_var",
    ]),
    generic("stablehlo.batch_norm_inference", n(5), n(1), BATCH_NORM, R::BatchNormInference),
    generic("stablehlo.batch_norm_grad", n(5), n(3), BATCH_NORM, R::BatchNormGrad).named(&[
        "grad_operand",
        "grad_scale",
        "grad_offset",
    ]),
    // Control flow.
    generic("stablehlo.if", n(1), ANY, NO_ATTRS, R::If).regions(n(2)),
    generic("stablehlo.case", n(1), ANY, NO_ATTRS, R::Case).regions(SOME),
    op("stablehlo.while", ANY, ANY, Form::While, NO_ATTRS, R::While).regions(n(2)),
    op("stablehlo.return", ANY, n(0), Form::Return, NO_ATTRS, R::None),
    op("stablehlo.optimization_barrier", ANY, ANY, Form::Barrier, NO_ATTRS, R::Barrier),
    op("stablehlo.after_all", ANY, n(1), SAME, NO_ATTRS, R::AfterAll),
    op("stablehlo.create_token", n(0), n(1), SAME, NO_ATTRS, R::AfterAll),
    op("stablehlo.tuple", ANY, n(1), Form::Tuple, NO_ATTRS, R::Tuple),
    op(
        "stablehlo.get_tuple_element",
        n(1),
        n(1),
        Form::GetTupleElement,
        &[required("index", K::I32)],
        R::GetTupleElement,
    ),
    op(
        "stablehlo.composite",
        ANY,
        ANY,
        Form::Composite,
        &[
            required("name", K::Str),
            required("decomposition", K::Symbol),
            attr("version", K::I32, Absent::Int(0)),
            optional("composite_attributes", K::Dict),
        ],
        R::Composite,
    )
    .regions(ANY),
    op(
        "stablehlo.custom_call",
        ANY,
        ANY,
        Form::CustomCall,
        &[
            required("call_target_name", K::Str),
            optional("has_side_effect", K::Bool),
            optional("backend_config", K::Any),
            optional("api_version", K::I32),
            optional("called_computations", K::Array),
            optional("operand_layouts", K::Array),
            optional("result_layouts", K::Array),
            optional("output_operand_aliases", K::Array),
        ],
        R::CustomCall,
    ),
    // Dynamic shapes.
    op(
        "stablehlo.dynamic_broadcast_in_dim",
        n(2),
        n(1),
        listed(&[("dims", "broadcast_dimensions")], Types::Functional),
        &[
            required("broadcast_dimensions", K::I64s),
            optional("known_expanding_dimensions", K::I64s),
            optional("known_nonexpanding_dimensions", K::I64s),
        ],
        R::DynamicBroadcastInDim,
    ),
    op(
        "stablehlo.dynamic_iota",
        n(1),
        n(1),
        listed(&[("dim", "iota_dimension")], Types::Functional),
        &[required("iota_dimension", K::I64)],
        R::DynamicIota,
    ),
    op("stablehlo.dynamic_reshape", n(2), n(1), FUNCTIONAL, NO_ATTRS, R::DynamicReshape),
    op("stablehlo.dynamic_pad", n(5), n(1), FUNCTIONAL, NO_ATTRS, R::DynamicPad),
    op("stablehlo.real_dynamic_slice", n(4), n(1), FUNCTIONAL, NO_ATTRS, R::RealDynamicSlice),
    generic(
        "stablehlo.dynamic_gather",
        n(3),
        n(1),
        &[required("dimension_numbers", K::Gather), attr("indices_are_sorted", K::Bool, Absent::Bool(false))],
        R::DynamicGather,
    ),
    generic("stablehlo.dynamic_conv", n(3), n(1), DYNAMIC_CONV, R::DynamicConv),
    op(
        "stablehlo.get_dimension_size",
        n(1),
        n(1),
        listed(&[("dim", "dimension")], Types::Functional),
        &[required("dimension", K::I64)],
        R::GetDimensionSize,
    ),
    op(
        "stablehlo.set_dimension_size",
        n(2),
        n(1),
        listed(&[("dim", "dimension")], Types::Functional),
        &[required("dimension", K::I64)],
        R::SetDimensionSize,
    ),
    // Collectives and input/output.
    generic(
        "stablehlo.all_gather",
        SOME,
        SOME,
        &[required("all_gather_dim", K::I64), REPLICA_GROUPS, CHANNEL, GLOBAL_IDS],
        R::AllGather,
    ),
    generic("stablehlo.all_reduce", SOME, SOME, &[REPLICA_GROUPS, CHANNEL, GLOBAL_IDS], R::AllReduce)
        .regions(n(1)),
    generic(
        "stablehlo.reduce_scatter",
        n(1),
        n(1),
        &[required("scatter_dimension", K::I64), REPLICA_GROUPS, CHANNEL, GLOBAL_IDS],
        R::ReduceScatter,
    )
    .regions(n(1)),
    generic(
        "stablehlo.all_to_all",
        SOME,
        SOME,
        &[
            required("split_dimension", K::I64),
            required("concat_dimension", K::I64),
            required("split_count", K::I64),
            REPLICA_GROUPS,
            CHANNEL,
        ],
        R::AllToAll,
    ),
    generic(
        "stablehlo.collective_broadcast",
        SOME,
        n(1),
        &[REPLICA_GROUPS, CHANNEL, optional("has_dynamic_root", K::Any)],
        R::CollectiveBroadcast,
    ),
    generic(
        "stablehlo.collective_permute",
        n(1),
        n(1),
        &[required("source_target_pairs", K::Pairs), CHANNEL],
        R::CollectivePermute,
    ),
    generic("stablehlo.collective_reduce", SOME, SOME, &[REPLICA_GROUPS, CHANNEL], R::CollectiveReduce)
        .regions(Arity { min: 0, max: 1 }),
    generic("stablehlo.cross-replica-sum", n(1), n(1), &[REPLICA_GROUPS], R::CrossReplicaSum),
    op("stablehlo.partition_id", n(0), n(1), SAME, NO_ATTRS, R::ProcessId),
    op("stablehlo.replica_id", n(0), n(1), SAME, NO_ATTRS, R::ProcessId),
    generic(
        "stablehlo.infeed",
        n(1),
        SOME,
        &[optional("infeed_config", K::Str), optional("layout", K::Array)],
        R::Infeed,
    ),
    generic("stablehlo.outfeed", SOME, n(1), &[optional("outfeed_config", K::Str)], R::Outfeed),
    generic(
        "stablehlo.send",
        SOME,
        n(1),
        &[
            required("channel_handle", K::Channel),
            attr("is_host_transfer", K::Bool, Absent::Bool(false)),
            optional("source_target_pairs", K::Pairs),
        ],
        R::Send,
    ),
    generic(
        "stablehlo.recv",
        n(1),
        SOME,
        &[
            required("channel_handle", K::Channel),
            attr("is_host_transfer", K::Bool, Absent::Bool(false)),
            optional("source_target_pairs", K::Pairs),
        ],
        R::Recv,
    ),
    generic("stablehlo.async_start", ANY, n(1), NO_ATTRS, R::AsyncStart).regions(n(1)),
    generic("stablehlo.async_done", n(1), ANY, NO_ATTRS, R::AsyncDone),
    // Quantized.
    op("stablehlo.uniform_quantize", n(1), n(1), SAME, NO_ATTRS, R::UniformQuantize),
    op("stablehlo.uniform_dequantize", n(1), n(1), SAME, NO_ATTRS, R::UniformDequantize),
    // Functions.
    op("func.call", ANY, ANY, Form::Call, &[required("callee", K::Symbol)], R::Call),
    op("func.return", ANY, n(0), Form::Return, NO_ATTRS, R::None),
    // Checks.
    op("check.expect_eq", n(2), n(0), listed(&[], Types::Operand), NO_ATTRS, R::CheckPair),
    op("check.expect_eq_const", n(1), n(0), Form::CheckConst, &[required("value", K::Dense)], R::CheckConst),
    op(
        "check.expect_almost_eq",
        n(2),
        n(0),
        listed(&[("tolerance", "tolerance")], Types::Operand),
        &[optional("tolerance", K::F64)],
        R::CheckPair,
    ),
    op(
        "check.expect_almost_eq_const",
        n(1),
        n(0),
        Form::CheckConst,
        &[required("value", K::Dense), optional("tolerance", K::F64)],
        R::CheckConst,
    ),
    op(
        "check.expect_close",
        n(2),
        n(0),
        listed(
            &[("max_ulp_difference", "max_ulp_difference"), ("min_ulp_difference", "min_ulp_difference")],
            Types::Operands,
        ),
        &[required("max_ulp_difference", K::U64), optional("min_ulp_difference", K::U64)],
        R::CheckPair,
    ),
    op(
        "check.expect_serialized_eq",
        n(1),
        n(0),
        listed(&[("probe_id", "probe_id")], Types::Operand),
        &[required("probe_id", K::Str), optional("iteration", K::Any)],
        R::None,
    ),
    op("interpreter.print", n(1), n(0), listed(&[], Types::Operand), NO_ATTRS, R::None),
    op(
        "interpreter.probe",
        n(1),
        n(1),
        listed(&[("probe_id", "probe_id")], Types::Same),
        &[required("probe_id", K::Str)],
        R::None,
    ),
    generic("interpreter.run_parallel", ANY, ANY, &[required("programs", K::Array)], R::None),
];
