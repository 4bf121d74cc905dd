//! Library operations as a name and attributes, for the text form.

use crate::{DType, DeviceOp, FftKind, GatherDims, LibOp, Routine, ScatterDims, Sharding, Transpose, Window};
use std::fmt;
use surject_index::{Extent, ScalarSemantics};

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attr {
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A word: an element type or a kind.
    Word(String),
    /// A symbolic size, in quotation marks.
    Size(Extent),
    /// Any text, in single quotation marks.
    Text(String),
    /// A list.
    List(Vec<Attr>),
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Attr::Int(n) => write!(f, "{n}"),
            Attr::Bool(b) => write!(f, "{b}"),
            Attr::Word(w) => f.write_str(w),
            Attr::Size(size) => write!(f, "\"{size}\""),
            Attr::Text(text) => f.write_str(&crate::literal::quote(text, '\'')),
            Attr::List(items) => {
                f.write_str("[")?;
                for (i, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if i > 0 { "," } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A Rust value as an attribute and back.
trait Attribute: Sized {
    fn write(&self) -> Attr;
    fn read(attr: &Attr) -> Option<Self>;
}

macro_rules! integer {
    ($($int:ty),*) => {$(
        impl Attribute for $int {
            fn write(&self) -> Attr {
                // Sizes and axes beyond the range of i64 do not occur in memory; the verifier refuses them.
                Attr::Int(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn read(attr: &Attr) -> Option<$int> {
                match attr {
                    Attr::Int(n) => <$int>::try_from(*n).ok(),
                    _ => None,
                }
            }
        }
    )*};
}
integer!(usize, u64, i64);

impl Attribute for Extent {
    fn write(&self) -> Attr {
        match self {
            Extent::Const(value) => value.write(),
            Extent::Expr(_) => Attr::Size(self.clone()),
        }
    }

    fn read(attr: &Attr) -> Option<Extent> {
        match attr {
            Attr::Size(size) => Some(size.clone()),
            _ => u64::read(attr).map(Extent::Const),
        }
    }
}

impl Attribute for bool {
    fn write(&self) -> Attr {
        Attr::Bool(*self)
    }

    fn read(attr: &Attr) -> Option<bool> {
        match attr {
            Attr::Bool(b) => Some(*b),
            _ => None,
        }
    }
}

impl<T: Attribute> Attribute for Vec<T> {
    fn write(&self) -> Attr {
        Attr::List(self.iter().map(T::write).collect())
    }

    fn read(attr: &Attr) -> Option<Vec<T>> {
        match attr {
            Attr::List(items) => items.iter().map(T::read).collect(),
            _ => None,
        }
    }
}

impl Attribute for (i64, i64) {
    fn write(&self) -> Attr {
        Attr::List(vec![Attr::Int(self.0), Attr::Int(self.1)])
    }

    fn read(attr: &Attr) -> Option<(i64, i64)> {
        match attr {
            Attr::List(items) => match items[..] {
                [Attr::Int(a), Attr::Int(b)] => Some((a, b)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Kinds by their words.
macro_rules! words {
    ($kind:ident, $($variant:ident = $word:literal),*) => {
        impl Attribute for $kind {
            fn write(&self) -> Attr {
                Attr::Word(match self { $($kind::$variant => $word,)* }.into())
            }

            fn read(attr: &Attr) -> Option<$kind> {
                match attr {
                    Attr::Word(word) => match word.as_str() { $($word => Some($kind::$variant),)* _ => None },
                    _ => None,
                }
            }
        }
    };
}
words!(FftKind, Fft = "fft", Ifft = "ifft", Rfft = "rfft", Irfft = "irfft");
words!(ScalarSemantics, DynamicTruncateSize = "truncate_size", IntegerSize = "size");
words!(Transpose, No = "no", Transpose = "transpose", Adjoint = "adjoint");

macro_rules! texts {
    ($($kind:ty),*) => {$(
        impl Attribute for $kind {
            fn write(&self) -> Attr {
                Attr::Text(self.to_string())
            }

            fn read(attr: &Attr) -> Option<$kind> {
                match attr {
                    Attr::Text(text) => text.parse().ok(),
                    _ => None,
                }
            }
        }
    )*};
}
texts!(Sharding, DeviceOp);

impl Attribute for Routine {
    fn write(&self) -> Attr {
        Attr::Word(self.name().into())
    }

    fn read(attr: &Attr) -> Option<Routine> {
        match attr {
            Attr::Word(word) => Routine::from_name(word),
            _ => None,
        }
    }
}

impl Attribute for DType {
    fn write(&self) -> Attr {
        Attr::Word(self.name().into())
    }

    fn read(attr: &Attr) -> Option<DType> {
        match attr {
            Attr::Word(word) => word.parse().ok(),
            _ => None,
        }
    }
}

/// The attributes of a structure, and the structure from attributes taken one by one.
macro_rules! structure {
    ($write:ident, $read:ident, $structure:ident { $($field:ident),* }) => {
        fn $write(value: &$structure) -> Vec<(&'static str, Attr)> {
            vec![$((stringify!($field), value.$field.write()),)*]
        }

        fn $read(take: &mut Taken<'_>) -> Result<$structure, String> {
            Ok($structure { $($field: take.get(stringify!($field))?,)* })
        }
    };
}
structure!(
    write_gather,
    read_gather,
    GatherDims {
        offset_dims,
        collapsed_slice_dims,
        operand_batching_dims,
        start_indices_batching_dims,
        start_index_map,
        index_vector_dim
    }
);
structure!(
    write_scatter,
    read_scatter,
    ScatterDims {
        update_window_dims,
        inserted_window_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        scatter_dims_to_operand_dims,
        index_vector_dim
    }
);
structure!(write_window, read_window, Window { sizes, strides, base_dilations, window_dilations, padding });

/// Attributes that were read, each to be used once.
struct Taken<'a> {
    attrs: &'a [(String, Attr)],
    used: usize,
}

impl Taken<'_> {
    fn get<T: Attribute>(&mut self, name: &str) -> Result<T, String> {
        let found = self.attrs.iter().find(|(n, _)| n == name).map(|(_, attr)| attr);
        let attr = found.ok_or_else(|| format!("the attribute `{name}` is missing"))?;
        self.used += 1;
        T::read(attr).ok_or_else(|| format!("the attribute `{name}` cannot be {attr}"))
    }
}

impl LibOp {
    /// The attributes, in the order of the text form.
    pub fn attributes(&self) -> Vec<(&'static str, Attr)> {
        match self {
            LibOp::Gather { dims, slice_sizes, indices_are_sorted } => {
                let mut attrs = write_gather(dims);
                attrs.push(("slice_sizes", slice_sizes.write()));
                attrs.push(("indices_are_sorted", indices_are_sorted.write()));
                attrs
            }
            LibOp::GatherDynamicSliceSizes { dims, slice_sizes, indices_are_sorted } => {
                let mut attrs = write_gather(dims);
                attrs.push(("slice_sizes", slice_sizes.write()));
                attrs.push(("indices_are_sorted", indices_are_sorted.write()));
                attrs
            }
            LibOp::DynamicTruncate { axis, semantics, size } => {
                vec![("axis", axis.write()), ("semantics", semantics.write()), ("size", size.write())]
            }
            LibOp::Scatter { dims, indices_are_sorted, unique_indices } => {
                let mut attrs = write_scatter(dims);
                attrs.push(("indices_are_sorted", indices_are_sorted.write()));
                attrs.push(("unique_indices", unique_indices.write()));
                attrs
            }
            LibOp::DynamicSlice { sizes } => vec![("sizes", sizes.write())],
            LibOp::DynamicUpdateSlice => Vec::new(),
            LibOp::Sort { axis, stable } => vec![("axis", axis.write()), ("stable", stable.write())],
            LibOp::Reduce { axes } => vec![("axes", axes.write())],
            LibOp::ReduceWindow { window } | LibOp::SelectAndScatter { window } => write_window(window),
            LibOp::BitcastReshape { to } => vec![("to", to.write())],
            LibOp::Fft { kind, lengths } => vec![("kind", kind.write()), ("lengths", lengths.write())],
            LibOp::Cholesky { lower } => vec![("lower", lower.write())],
            LibOp::TriangularSolve { left_side, lower, unit_diagonal, transpose } => vec![
                ("left_side", left_side.write()),
                ("lower", lower.write()),
                ("unit_diagonal", unit_diagonal.write()),
                ("transpose", transpose.write()),
            ],
            LibOp::Lapack { routine } => vec![("routine", routine.write())],
            LibOp::Constraint { sharding } => vec![("sharding", sharding.write())],
            LibOp::Devices { op } => vec![("op", op.write())],
        }
    }

    /// The operation of this name with these attributes: all of them, and no other.
    pub fn from_attributes(name: &str, attrs: &[(String, Attr)]) -> Result<LibOp, String> {
        let mut take = Taken { attrs, used: 0 };
        let op = match name {
            "gather" => LibOp::Gather {
                dims: read_gather(&mut take)?,
                slice_sizes: take.get("slice_sizes")?,
                indices_are_sorted: take.get("indices_are_sorted")?,
            },
            "gather_dynamic_slice_sizes" => LibOp::GatherDynamicSliceSizes {
                dims: read_gather(&mut take)?,
                slice_sizes: take.get("slice_sizes")?,
                indices_are_sorted: take.get("indices_are_sorted")?,
            },
            "dynamic_truncate" => LibOp::DynamicTruncate {
                axis: take.get("axis")?,
                semantics: take.get("semantics")?,
                size: take.get("size")?,
            },
            "scatter" => LibOp::Scatter {
                dims: read_scatter(&mut take)?,
                indices_are_sorted: take.get("indices_are_sorted")?,
                unique_indices: take.get("unique_indices")?,
            },
            "dynamic_slice" => LibOp::DynamicSlice { sizes: take.get("sizes")? },
            "dynamic_update_slice" => LibOp::DynamicUpdateSlice,
            "sort" => LibOp::Sort { axis: take.get("axis")?, stable: take.get("stable")? },
            "reduce" => LibOp::Reduce { axes: take.get("axes")? },
            "reduce_window" => LibOp::ReduceWindow { window: read_window(&mut take)? },
            "select_and_scatter" => LibOp::SelectAndScatter { window: read_window(&mut take)? },
            "bitcast_reshape" => LibOp::BitcastReshape { to: take.get("to")? },
            "fft" => LibOp::Fft { kind: take.get("kind")?, lengths: take.get("lengths")? },
            "cholesky" => LibOp::Cholesky { lower: take.get("lower")? },
            "triangular_solve" => LibOp::TriangularSolve {
                left_side: take.get("left_side")?,
                lower: take.get("lower")?,
                unit_diagonal: take.get("unit_diagonal")?,
                transpose: take.get("transpose")?,
            },
            "lapack" => LibOp::Lapack { routine: take.get("routine")? },
            "sharding_constraint" => LibOp::Constraint { sharding: take.get("sharding")? },
            "devices" => LibOp::Devices { op: take.get("op")? },
            _ => return Err(format!("there is no library operation `{name}`")),
        };
        if take.used != attrs.len() {
            return Err(format!("`{name}` has {} attributes; {} were given", take.used, attrs.len()));
        }
        Ok(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_survive_their_attributes() {
        let window = Window {
            sizes: vec![2, 3],
            strides: vec![1, 2],
            base_dilations: vec![1, 1],
            window_dilations: vec![2, 1],
            padding: vec![(-1, 2), (0, 0)],
        };
        let gather =
            GatherDims { offset_dims: vec![1], start_index_map: vec![0, 2], ..GatherDims::default() };
        let scatter =
            ScatterDims { inserted_window_dims: vec![3], index_vector_dim: 1, ..ScatterDims::default() };
        for op in [
            LibOp::Gather { dims: gather.clone(), slice_sizes: vec![1, 7], indices_are_sorted: true },
            LibOp::GatherDynamicSliceSizes {
                dims: gather,
                slice_sizes: vec![Extent::Const(1), "2*n + 1".parse().unwrap()],
                indices_are_sorted: false,
            },
            LibOp::DynamicTruncate {
                axis: 1,
                semantics: ScalarSemantics::DynamicTruncateSize,
                size: Extent::symbol("u"),
            },
            LibOp::DynamicTruncate {
                axis: 0,
                semantics: ScalarSemantics::IntegerSize,
                size: Extent::Const(3),
            },
            LibOp::Scatter { dims: scatter, indices_are_sorted: false, unique_indices: true },
            LibOp::DynamicSlice { sizes: vec![] },
            LibOp::DynamicUpdateSlice,
            LibOp::Sort { axis: 3, stable: false },
            LibOp::Reduce { axes: vec![0, 2] },
            LibOp::ReduceWindow { window: window.clone() },
            LibOp::SelectAndScatter { window },
            LibOp::BitcastReshape { to: DType::BF16 },
            LibOp::Fft { kind: FftKind::Irfft, lengths: vec![4, 6] },
            LibOp::Cholesky { lower: true },
            LibOp::Lapack { routine: Routine::MultiplyQ { left: true, adjoint: false } },
            LibOp::Constraint { sharding: "x=2,y=4: {x} {} {y:(2)2 ?}p1".parse().unwrap() },
            LibOp::Devices { op: "f32[2] i1[]: it's \"so\"\n".parse().unwrap() },
            LibOp::TriangularSolve {
                left_side: true,
                lower: false,
                unit_diagonal: true,
                transpose: Transpose::Adjoint,
            },
        ] {
            let mut attrs: Vec<(String, Attr)> =
                op.attributes().into_iter().map(|(n, a)| (n.to_string(), a)).collect();
            assert_eq!(LibOp::from_attributes(op.name(), &attrs), Ok(op.clone()));
            attrs.push(("other".into(), Attr::Int(1)));
            assert!(LibOp::from_attributes(op.name(), &attrs).is_err());
        }
    }
}
