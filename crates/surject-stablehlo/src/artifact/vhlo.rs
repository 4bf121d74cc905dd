//! The operations of VHLO, the versioned copy of StableHLO that artifacts hold: names, versions, attributes.
//!
//! An operation whose attributes changed has a row for each of its versions. Names of attributes are in the order in
//! which the bytes of their properties stand: that of the alphabet. Source: the reference's `VhloOps.td`.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::version::Version;
use rustc_hash::FxBuildHasher;

/// One version of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VhloOp {
    /// `dot_general` of `vhlo.dot_general_v2`.
    pub name: &'static str,
    /// 2 of `vhlo.dot_general_v2`.
    pub number: u8,
    /// The version of StableHLO that introduced it.
    pub since: Version,
    /// Its attributes, all of which it must have.
    pub attributes: &'static [&'static str],
}

/// From the beginning on.
const fn op(name: &'static str, attributes: &'static [&'static str]) -> VhloOp {
    VhloOp { name, number: 1, since: Version::MINIMUM, attributes }
}

const fn later(
    name: &'static str,
    number: u8,
    since: Version,
    attributes: &'static [&'static str],
) -> VhloOp {
    VhloOp { name, number, since, attributes }
}

const fn v(major: u32, minor: u32) -> Version {
    Version::new(major, minor)
}

const NONE: &[&str] = &[];
const ACCURACY: &[&str] = &["result_accuracy"];
const BATCH_NORM: &[&str] = &["epsilon", "feature_index"];
const ALL_REDUCE: &[&str] = &["channel_id", "replica_groups", "use_global_device_ids"];
const ALL_GATHER: &[&str] = &["all_gather_dim", "channel_id", "replica_groups", "use_global_device_ids"];
const ALL_TO_ALL: &[&str] =
    &["channel_id", "concat_dimension", "replica_groups", "split_count", "split_dimension"];
const CHANNEL: &[&str] = &["channel_id", "channel_type", "is_host_transfer"];
const CHANNEL_PAIRS: &[&str] = &["channel_id", "channel_type", "is_host_transfer", "source_target_pairs"];
const COMPOSITE: &[&str] = &["composite_attributes", "decomposition", "name", "version"];
const DIMENSION: &[&str] = &["dimension"];
const DIMENSIONS: &[&str] = &["dimensions"];
const CONVOLUTION: &[&str] = &[
    "batch_group_count",
    "feature_group_count",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "lhs_dilation",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
    "padding",
    "precision_config",
    "rhs_dilation",
    "window_reversal",
    "window_strides",
];
/// As the former, the padding an operand.
const DYNAMIC_CONV: &[&str] = &[
    "batch_group_count",
    "feature_group_count",
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "lhs_dilation",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
    "precision_config",
    "rhs_dilation",
    "window_reversal",
    "window_strides",
];

/// Every version of every operation; later ones of a name behind earlier ones.
const OPS: &[VhloOp] = &[
    op("abs", NONE),
    op("add", NONE),
    op("after_all", NONE),
    op("all_gather", ALL_GATHER),
    later("all_gather", 2, v(1, 5), ALL_GATHER),
    op("all_reduce", ALL_REDUCE),
    later("all_reduce", 2, v(1, 5), ALL_REDUCE),
    op("all_to_all", ALL_TO_ALL),
    later("all_to_all", 2, v(1, 5), ALL_TO_ALL),
    op("and", NONE),
    later("async_done", 1, v(1, 15), NONE),
    later("async_start", 1, v(1, 15), NONE),
    op("atan2", NONE),
    op("batch_norm_grad", BATCH_NORM),
    op("batch_norm_inference", BATCH_NORM),
    op("batch_norm_training", BATCH_NORM),
    op("bitcast_convert", NONE),
    op("broadcast", &["broadcast_sizes"]),
    op("broadcast_in_dim", &["broadcast_dimensions"]),
    op("call", &["callee"]),
    op("case", NONE),
    op("cbrt", NONE),
    later("cbrt", 2, v(1, 10), ACCURACY),
    op("ceil", NONE),
    op("cholesky", &["lower"]),
    op("clamp", NONE),
    later("collective_broadcast", 1, v(0, 16), &["channel_id", "replica_groups"]),
    later("collective_broadcast", 2, v(1, 20), &["channel_id", "has_dynamic_root", "replica_groups"]),
    op("collective_permute", &["channel_id", "source_target_pairs"]),
    later("collective_reduce", 1, v(1, 19), &["channel_id", "replica_groups"]),
    op("compare", &["compare_type", "comparison_direction"]),
    op("complex", NONE),
    later("composite", 1, v(0, 19), COMPOSITE),
    later("composite", 2, v(1, 14), COMPOSITE),
    op("concatenate", DIMENSION),
    op("constant", &["value"]),
    op("convert", NONE),
    op("convolution", CONVOLUTION),
    op("cosine", NONE),
    later("cosine", 2, v(1, 10), ACCURACY),
    op("count_leading_zeros", NONE),
    op("create_token", NONE),
    op("cross-replica-sum", &["replica_groups"]),
    op(
        "custom_call",
        &[
            "api_version",
            "backend_config",
            "call_target_name",
            "called_computations",
            "has_side_effect",
            "operand_layouts",
            "output_operand_aliases",
            "result_layouts",
        ],
    ),
    later(
        "custom_call",
        2,
        v(1, 18),
        &[
            "api_version",
            "backend_config",
            "call_target_name",
            "called_computations",
            "has_side_effect",
            "operand_layouts",
            "output_operand_aliases",
            "result_layouts",
            "result_tilings",
        ],
    ),
    op("divide", NONE),
    op("dot", &["precision_config"]),
    op(
        "dot_general",
        &[
            "lhs_batching_dimensions",
            "lhs_contracting_dimensions",
            "precision_config",
            "rhs_batching_dimensions",
            "rhs_contracting_dimensions",
        ],
    ),
    later(
        "dot_general",
        2,
        v(1, 6),
        &[
            "accumulation_type",
            "allow_imprecise_accumulation",
            "lhs_batching_dimensions",
            "lhs_component_count",
            "lhs_contracting_dimensions",
            "lhs_precision_type",
            "num_primitive_operations",
            "precision_config",
            "rhs_batching_dimensions",
            "rhs_component_count",
            "rhs_contracting_dimensions",
            "rhs_precision_type",
        ],
    ),
    op(
        "dynamic_broadcast_in_dim",
        &["broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"],
    ),
    op("dynamic_conv", CONVOLUTION),
    later("dynamic_conv", 2, v(0, 20), DYNAMIC_CONV),
    op(
        "dynamic_gather",
        &["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "start_index_map"],
    ),
    later(
        "dynamic_gather",
        2,
        v(1, 1),
        &[
            "collapsed_slice_dims",
            "index_vector_dim",
            "indices_are_sorted",
            "offset_dims",
            "operand_batching_dims",
            "start_index_map",
            "start_indices_batching_dims",
        ],
    ),
    op("dynamic_iota", &["iota_dimension"]),
    op("dynamic_pad", NONE),
    op("dynamic_reshape", NONE),
    op("dynamic_slice", &["slice_sizes"]),
    op("dynamic_update_slice", NONE),
    op("einsum", &["einsum_config"]),
    op("exponential", NONE),
    later("exponential", 2, v(1, 9), ACCURACY),
    op("exponential_minus_one", NONE),
    later("exponential_minus_one", 2, v(1, 10), ACCURACY),
    op("fft", &["fft_length", "fft_type"]),
    op("floor", NONE),
    op("func", &["arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"]),
    op(
        "gather",
        &[
            "collapsed_slice_dims",
            "index_vector_dim",
            "indices_are_sorted",
            "offset_dims",
            "slice_sizes",
            "start_index_map",
        ],
    ),
    later(
        "gather",
        2,
        v(1, 1),
        &[
            "collapsed_slice_dims",
            "index_vector_dim",
            "indices_are_sorted",
            "offset_dims",
            "operand_batching_dims",
            "slice_sizes",
            "start_index_map",
            "start_indices_batching_dims",
        ],
    ),
    op("get_dimension_size", DIMENSION),
    op("get_tuple_element", &["index"]),
    op("if", NONE),
    op("imag", NONE),
    op("infeed", &["infeed_config", "layout"]),
    op("iota", &["iota_dimension"]),
    op("is_finite", NONE),
    op("log", NONE),
    later("log", 2, v(1, 10), ACCURACY),
    op("log_plus_one", NONE),
    later("log_plus_one", 2, v(1, 10), ACCURACY),
    op("logistic", NONE),
    later("logistic", 2, v(1, 10), ACCURACY),
    op("map", DIMENSIONS),
    op("maximum", NONE),
    op("minimum", NONE),
    op("multiply", NONE),
    op("negate", NONE),
    op("not", NONE),
    op("optimization_barrier", NONE),
    op("or", NONE),
    op("outfeed", &["outfeed_config"]),
    op("pad", &["edge_padding_high", "edge_padding_low", "interior_padding"]),
    op("partition_id", NONE),
    op("popcnt", NONE),
    op("power", NONE),
    op("real", NONE),
    op("real_dynamic_slice", NONE),
    op("recv", CHANNEL),
    later("recv", 2, v(1, 12), CHANNEL_PAIRS),
    op("reduce", DIMENSIONS),
    op("reduce_precision", &["exponent_bits", "mantissa_bits"]),
    op("reduce_scatter", &["channel_id", "replica_groups", "scatter_dimension", "use_global_device_ids"]),
    op(
        "reduce_window",
        &["base_dilations", "padding", "window_dilations", "window_dimensions", "window_strides"],
    ),
    op("remainder", NONE),
    op("replica_id", NONE),
    op("reshape", NONE),
    op("return", NONE),
    op("reverse", DIMENSIONS),
    op("rng", &["rng_distribution"]),
    op("rng_bit_generator", &["rng_algorithm"]),
    op("round_nearest_afz", NONE),
    op("round_nearest_even", NONE),
    op("rsqrt", NONE),
    later("rsqrt", 2, v(1, 10), ACCURACY),
    op(
        "scatter",
        &[
            "index_vector_dim",
            "indices_are_sorted",
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "unique_indices",
            "update_window_dims",
        ],
    ),
    later(
        "scatter",
        2,
        v(1, 1),
        &[
            "index_vector_dim",
            "indices_are_sorted",
            "input_batching_dims",
            "inserted_window_dims",
            "scatter_dims_to_operand_dims",
            "scatter_indices_batching_dims",
            "unique_indices",
            "update_window_dims",
        ],
    ),
    op("select", NONE),
    op("select_and_scatter", &["padding", "window_dimensions", "window_strides"]),
    op("send", CHANNEL),
    later("send", 2, v(1, 12), CHANNEL_PAIRS),
    op("set_dimension_size", DIMENSION),
    op("shift_left", NONE),
    op("shift_right_arithmetic", NONE),
    op("shift_right_logical", NONE),
    op("sign", NONE),
    op("sine", NONE),
    later("sine", 2, v(1, 10), ACCURACY),
    op("slice", &["limit_indices", "start_indices", "strides"]),
    op("sort", &["dimension", "is_stable"]),
    op("sqrt", NONE),
    later("sqrt", 2, v(1, 10), ACCURACY),
    op("subtract", NONE),
    later("tan", 1, v(1, 4), NONE),
    later("tan", 2, v(1, 10), ACCURACY),
    op("tanh", NONE),
    later("tanh", 2, v(1, 10), ACCURACY),
    op("torch_index_select", &["batch_dims", "dim"]),
    op("transpose", &["permutation"]),
    op("triangular_solve", &["left_side", "lower", "transpose_a", "unit_diagonal"]),
    op("tuple", NONE),
    op("unary_einsum", &["einsum_config"]),
    op("uniform_dequantize", NONE),
    op("uniform_quantize", NONE),
    op("while", NONE),
    op("xor", NONE),
];

/// The rows of an operation by its name without dialect and version, oldest first; empty where there is none.
pub(super) fn versions(name: &str) -> &'static [VhloOp] {
    static INDEX: OnceLock<HashMap<&'static str, (usize, usize), FxBuildHasher>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let mut index: HashMap<&'static str, (usize, usize), FxBuildHasher> = HashMap::default();
        for (i, row) in OPS.iter().enumerate() {
            index.entry(row.name).and_modify(|range| range.1 = i + 1).or_insert((i, i + 1));
        }
        index
    });
    index.get(name).map_or(&[], |(start, end)| &OPS[*start..*end])
}

/// The row of `dot_general_v2`.
pub(super) fn lookup(versioned: &str) -> Option<&'static VhloOp> {
    let (name, number) = versioned.rsplit_once("_v")?;
    let number: u8 = number.parse().ok()?;
    versions(name).iter().find(|row| row.number == number)
}

/// The row that a version of StableHLO uses; none where it lacks the operation.
pub(super) fn for_version(name: &str, version: Version) -> Option<&'static VhloOp> {
    versions(name).iter().rev().find(|row| row.since <= version)
}

/// Every row, for tests of the table.
#[cfg(test)]
pub(super) fn all() -> &'static [VhloOp] {
    OPS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order() {
        for row in all() {
            assert!(row.attributes.is_sorted(), "{row:?}");
        }
        for pair in all().windows(2) {
            let order = (pair[0].name, pair[0].number) < (pair[1].name, pair[1].number);
            assert!(order || pair[0].name.replace('_', "") < pair[1].name.replace('_', ""), "{pair:?}");
            if pair[0].name == pair[1].name {
                assert!(pair[0].since < pair[1].since, "{pair:?}");
            }
        }
    }

    #[test]
    fn every_operation_of_stablehlo_has_a_row() {
        for row in crate::table::all().filter(|row| row.name.starts_with("stablehlo.")) {
            let name = &row.name["stablehlo.".len()..];
            assert!(!versions(name).is_empty(), "{name}");
        }
        assert_eq!(lookup("dot_general_v2").map(|row| row.attributes.len()), Some(12));
        assert!(lookup("dot_general_v3").is_none());
    }
}
