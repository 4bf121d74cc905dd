//! Constants.

use crate::elem::{Elem, Type};
use std::fmt;

/// The elements of a constant, as bits of its element type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elements {
    /// The same one in so many lanes.
    Splat(u64, usize),
    /// One for each lane.
    Each(Vec<u64>),
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Literal {
    elem: Elem,
    elements: Elements,
}

impl Literal {
    /// A constant with these elements. Bits beyond those of an element do not count.
    pub fn new(elem: Elem, elements: Elements) -> Literal {
        let own = |bits: u64| bits & (u64::MAX >> (64 - elem.bits()));
        let elements = match elements {
            // Any number but zero is true.
            Elements::Splat(bits, lanes) if elem == Elem::I1 => Elements::Splat(u64::from(bits != 0), lanes),
            Elements::Splat(bits, lanes) => Elements::Splat(own(bits), lanes),
            Elements::Each(all) if all.len() == 1 => Elements::Splat(own(all[0]), 1),
            Elements::Each(all) => Elements::Each(all.into_iter().map(own).collect()),
        };
        Literal { elem, elements }
    }

    /// The bits of its lanes.
    pub fn lanes(&self) -> Vec<u64> {
        match &self.elements {
            Elements::Splat(bits, lanes) => vec![*bits; *lanes],
            Elements::Each(all) => all.clone(),
        }
    }

    /// Its type.
    pub fn ty(&self) -> Type {
        let lanes = match &self.elements {
            Elements::Splat(_, lanes) => *lanes,
            Elements::Each(all) => all.len(),
        };
        self.elem.ty(lanes)
    }

    /// An element as MLIR writes it: floats as their bits, integers with a sign.
    fn element(&self, bits: u64) -> String {
        match self.elem {
            Elem::I1 => (bits != 0).to_string(),
            Elem::I8 => (bits as i8).to_string(),
            Elem::I16 => (bits as i16).to_string(),
            Elem::I32 => (bits as i32).to_string(),
            Elem::I64 => (bits as i64).to_string(),
            Elem::F16 => format!("0x{:04X}", bits as u16),
            Elem::F32 => format!("0x{:08X}", bits as u32),
            Elem::F64 => format!("0x{bits:016X}"),
        }
    }
}

/// The attribute that MLIR has for it, with its type.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = self.ty();
        match &self.elements {
            Elements::Splat(bits, 1) if self.elem == Elem::I1 => f.write_str(&self.element(*bits)),
            Elements::Splat(bits, 1) => write!(f, "{} : {ty}", self.element(*bits)),
            Elements::Splat(bits, _) => write!(f, "dense<{}> : {ty}", self.element(*bits)),
            Elements::Each(all) => {
                let all: Vec<String> = all.iter().map(|&bits| self.element(bits)).collect();
                write!(f, "dense<[{}]> : {ty}", all.join(", "))
            }
        }
    }
}
