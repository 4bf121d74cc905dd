//! Library operations as an operation name and attributes, and back.

use super::reader::Attributes;
use super::value::{element, element_of, quote};
use surject_ir::{FftKind, GatherDims, LibOp, Routine, ScatterDims, Transpose, Window};

/// The operation of the dialect and its attributes, without `regions` and `captures`; none where sizes are those of a call.
pub(super) fn encode(op: &LibOp) -> Option<(&'static str, Vec<(&'static str, String)>)> {
    Some(match op {
        LibOp::GatherDynamicSliceSizes { .. } | LibOp::DynamicTruncate { .. } => return None,
        LibOp::Gather { dims, slice_sizes, indices_are_sorted } => (
            "surject.gather",
            vec![
                ("offset_dims", axes(&dims.offset_dims)),
                ("collapsed_slice_dims", axes(&dims.collapsed_slice_dims)),
                ("operand_batching_dims", axes(&dims.operand_batching_dims)),
                ("start_indices_batching_dims", axes(&dims.start_indices_batching_dims)),
                ("start_index_map", axes(&dims.start_index_map)),
                ("index_vector_dim", dims.index_vector_dim.to_string()),
                ("slice_sizes", sizes(slice_sizes)),
                ("indices_are_sorted", indices_are_sorted.to_string()),
            ],
        ),
        LibOp::Scatter { dims, indices_are_sorted, unique_indices } => (
            "surject.scatter",
            vec![
                ("update_window_dims", axes(&dims.update_window_dims)),
                ("inserted_window_dims", axes(&dims.inserted_window_dims)),
                ("input_batching_dims", axes(&dims.input_batching_dims)),
                ("scatter_indices_batching_dims", axes(&dims.scatter_indices_batching_dims)),
                ("scatter_dims_to_operand_dims", axes(&dims.scatter_dims_to_operand_dims)),
                ("index_vector_dim", dims.index_vector_dim.to_string()),
                ("indices_are_sorted", indices_are_sorted.to_string()),
                ("unique_indices", unique_indices.to_string()),
            ],
        ),
        LibOp::DynamicSlice { sizes: s } => ("surject.dynamic_slice", vec![("sizes", sizes(s))]),
        LibOp::DynamicUpdateSlice => ("surject.dynamic_update_slice", vec![]),
        LibOp::Sort { axis, stable } => {
            ("surject.sort", vec![("axis", axis.to_string()), ("stable", stable.to_string())])
        }
        LibOp::Reduce { axes: a } => ("surject.reduce", vec![("axes", axes(a))]),
        LibOp::ReduceWindow { window } => ("surject.reduce_window", encode_window(window)),
        LibOp::SelectAndScatter { window } => ("surject.select_and_scatter", encode_window(window)),
        LibOp::BitcastReshape { to } => ("surject.bitcast_reshape", vec![("to", element(*to).to_string())]),
        LibOp::Fft { kind, lengths } => {
            let word = match kind {
                FftKind::Fft => "fft",
                FftKind::Ifft => "ifft",
                FftKind::Rfft => "rfft",
                FftKind::Irfft => "irfft",
            };
            ("surject.fft", vec![("kind", quote(word)), ("lengths", sizes(lengths))])
        }
        LibOp::Constraint { sharding } => {
            ("surject.sharding_constraint", vec![("sharding", quote(&sharding.to_string()))])
        }
        LibOp::Devices { op } => ("surject.devices", vec![("op", quote(&op.to_string()))]),
        LibOp::Lapack { routine } => ("surject.lapack", vec![("routine", quote(routine.name()))]),
        LibOp::Cholesky { lower } => ("surject.cholesky", vec![("lower", lower.to_string())]),
        LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } => {
            let word = match transpose {
                Transpose::No => "no",
                Transpose::Transpose => "transpose",
                Transpose::Adjoint => "adjoint",
            };
            (
                "surject.triangular_solve",
                vec![
                    ("left_side", left_side.to_string()),
                    ("lower", lower.to_string()),
                    ("unit_diagonal", unit_diagonal.to_string()),
                    ("transpose", quote(word)),
                ],
            )
        }
    })
}

/// The library operation of this name and these attributes; `None` if the name is not one.
pub(super) fn decode(name: &str, a: &Attributes<'_, '_>) -> Option<Result<LibOp, String>> {
    let op = match name {
        "surject.gather" => gather(a),
        "surject.scatter" => scatter(a),
        "surject.dynamic_slice" => a.unsigned("sizes").map(|sizes| LibOp::DynamicSlice { sizes }),
        "surject.dynamic_update_slice" => Ok(LibOp::DynamicUpdateSlice),
        "surject.sort" => a.size("axis").and_then(|axis| Ok(LibOp::Sort { axis, stable: a.bool("stable")? })),
        "surject.reduce" => a.axes("axes").map(|axes| LibOp::Reduce { axes }),
        "surject.reduce_window" => decode_window(a).map(|window| LibOp::ReduceWindow { window }),
        "surject.select_and_scatter" => decode_window(a).map(|window| LibOp::SelectAndScatter { window }),
        "surject.bitcast_reshape" => {
            let to = a.printed("to").map(|text| element_of(&text).ok_or(text));
            to.and_then(|to| to.map_err(|text| format!("`to` is {text}, not an element type")))
                .map(|to| LibOp::BitcastReshape { to })
        }
        "surject.fft" => fft(a),
        "surject.cholesky" => a.bool("lower").map(|lower| LibOp::Cholesky { lower }),
        "surject.triangular_solve" => triangular_solve(a),
        "surject.sharding_constraint" => {
            let sharding = a.string("sharding").and_then(|text| text.parse());
            sharding.map(|sharding| LibOp::Constraint { sharding })
        }
        "surject.devices" => {
            let op = a.string("op").and_then(|text| text.parse());
            op.map(|op| LibOp::Devices { op })
        }
        "surject.lapack" => a.string("routine").and_then(|name| {
            let routine =
                Routine::from_name(&name).ok_or_else(|| format!("`{name}` is not a routine of LAPACK"));
            routine.map(|routine| LibOp::Lapack { routine })
        }),
        _ => return None,
    };
    Some(op)
}

fn gather(a: &Attributes<'_, '_>) -> Result<LibOp, String> {
    Ok(LibOp::Gather {
        dims: GatherDims {
            offset_dims: a.axes("offset_dims")?,
            collapsed_slice_dims: a.axes("collapsed_slice_dims")?,
            operand_batching_dims: a.axes("operand_batching_dims")?,
            start_indices_batching_dims: a.axes("start_indices_batching_dims")?,
            start_index_map: a.axes("start_index_map")?,
            index_vector_dim: a.size("index_vector_dim")?,
        },
        slice_sizes: a.unsigned("slice_sizes")?,
        indices_are_sorted: a.bool("indices_are_sorted")?,
    })
}

fn scatter(a: &Attributes<'_, '_>) -> Result<LibOp, String> {
    Ok(LibOp::Scatter {
        dims: ScatterDims {
            update_window_dims: a.axes("update_window_dims")?,
            inserted_window_dims: a.axes("inserted_window_dims")?,
            input_batching_dims: a.axes("input_batching_dims")?,
            scatter_indices_batching_dims: a.axes("scatter_indices_batching_dims")?,
            scatter_dims_to_operand_dims: a.axes("scatter_dims_to_operand_dims")?,
            index_vector_dim: a.size("index_vector_dim")?,
        },
        indices_are_sorted: a.bool("indices_are_sorted")?,
        unique_indices: a.bool("unique_indices")?,
    })
}

fn fft(a: &Attributes<'_, '_>) -> Result<LibOp, String> {
    let kind = match a.string("kind")?.as_str() {
        "fft" => FftKind::Fft,
        "ifft" => FftKind::Ifft,
        "rfft" => FftKind::Rfft,
        "irfft" => FftKind::Irfft,
        other => return Err(format!("`{other}` is not a kind of Fourier transform")),
    };
    Ok(LibOp::Fft { kind, lengths: a.unsigned("lengths")? })
}

fn triangular_solve(a: &Attributes<'_, '_>) -> Result<LibOp, String> {
    let transpose = match a.string("transpose")?.as_str() {
        "no" => Transpose::No,
        "transpose" => Transpose::Transpose,
        "adjoint" => Transpose::Adjoint,
        other => return Err(format!("`{other}` is not a transposition")),
    };
    Ok(LibOp::TriangularSolve {
        left_side: a.bool("left_side")?,
        lower: a.bool("lower")?,
        unit_diagonal: a.bool("unit_diagonal")?,
        transpose,
    })
}

fn encode_window(window: &Window) -> Vec<(&'static str, String)> {
    let padding = |side: fn(&(i64, i64)) -> i64| array(window.padding.iter().map(side));
    vec![
        ("sizes", sizes(&window.sizes)),
        ("strides", sizes(&window.strides)),
        ("base_dilations", sizes(&window.base_dilations)),
        ("window_dilations", sizes(&window.window_dilations)),
        ("padding_low", padding(|p| p.0)),
        ("padding_high", padding(|p| p.1)),
    ]
}

fn decode_window(a: &Attributes<'_, '_>) -> Result<Window, String> {
    let (low, high) = (a.ints("padding_low")?, a.ints("padding_high")?);
    if low.len() != high.len() {
        return Err("`padding_low` and `padding_high` differ in length".into());
    }
    Ok(Window {
        sizes: a.unsigned("sizes")?,
        strides: a.unsigned("strides")?,
        base_dilations: a.unsigned("base_dilations")?,
        window_dilations: a.unsigned("window_dilations")?,
        padding: low.into_iter().zip(high).collect(),
    })
}

fn axes(axes: &[usize]) -> String {
    array(axes)
}

fn sizes(sizes: &[u64]) -> String {
    array(sizes)
}

/// `array<i64: …>`
pub(super) fn array<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    let values: Vec<String> = values.into_iter().map(|v| v.to_string()).collect();
    if values.is_empty() { "array<i64>".into() } else { format!("array<i64: {}>", values.join(", ")) }
}
