//! Where the parts of a tensor lie on a mesh of devices, as Shardy says it, and what the devices do together.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use crate::{DType, TensorType};
use surject_index::Space;

/// How a tensor is divided among devices. An axis of the mesh is given by its name, a part of one as `x:(1)2`: of positions that
/// one lies before, two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sharding {
    /// The axes of the mesh, each with its number of devices.
    pub mesh: Vec<(Arc<str>, u64)>,
    /// The number of the device at each place of the mesh; empty where they are in order.
    pub ids: Vec<u64>,
    /// Of each axis of the tensor, along which axes of the mesh it is divided.
    pub dims: Vec<ShardedDim>,
    /// The axes along which all devices have the same, and go on to.
    pub replicated: Vec<Arc<str>>,
    /// The axes along which devices have parts of a sum.
    pub unreduced: Vec<Arc<str>>,
}

/// How one axis of a tensor is divided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShardedDim {
    /// The axes of the mesh, major first.
    pub axes: Vec<Arc<str>>,
    /// May the partitioner divide it further?
    pub open: bool,
    /// Its priority where the partitioner divides further.
    pub priority: Option<u32>,
}

/// An axis, or a part of one: its name, and what stands before the part with its number of positions.
pub fn axis_parts(axis: &str) -> Option<(&str, Option<(u64, u64)>)> {
    let Some((name, part)) = axis.split_once(':') else { return Some((axis, None)) };
    let (before, size) = part.strip_prefix('(')?.split_once(')')?;
    Some((name, Some((before.parse().ok()?, size.parse().ok()?))))
}

impl Sharding {
    /// The number of devices of the mesh.
    pub fn devices(&self) -> u64 {
        self.mesh.iter().fold(1, |n, (_, size)| n.saturating_mul(*size))
    }

    /// Is every name a word, every axis one of the mesh or a part of one, and none used twice?
    pub fn is_valid(&self) -> bool {
        let word = |name: &str| {
            let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
            first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let axes = self.dims.iter().flat_map(|d| &d.axes).chain(&self.replicated).chain(&self.unreduced);
        let mut used: Vec<&Arc<str>> = axes.collect();
        let count = used.len();
        used.sort();
        used.dedup();
        let known = |axis: &str| {
            let Some((name, part)) = axis_parts(axis) else { return false };
            let Some((_, size)) = self.mesh.iter().find(|(known, _)| **known == *name) else { return false };
            part.is_none_or(|(before, parts)| {
                let whole = before.checked_mul(parts).filter(|n| *n > 0);
                parts > 1 && whole.is_some_and(|whole| size % whole == 0)
            })
        };
        let mut ids = self.ids.clone();
        ids.sort_unstable();
        used.len() == count
            && used.iter().all(|axis| known(axis))
            && self.mesh.iter().all(|(name, size)| word(name) && *size > 0)
            && (ids.is_empty() || ids.iter().copied().eq(0..self.devices()))
    }
}

/// `x=2,y=4: {x} {} {y:(1)2 ?}p1 replicated {x}`; numbers of devices behind the mesh: `x=2 ids 1,0:`
impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, size)) in self.mesh.iter().enumerate() {
            write!(f, "{}{name}={size}", if i > 0 { "," } else { "" })?;
        }
        if !self.ids.is_empty() {
            let ids: Vec<String> = self.ids.iter().map(u64::to_string).collect();
            write!(f, " ids {}", ids.join(","))?;
        }
        f.write_str(":")?;
        for dim in &self.dims {
            let mut words: Vec<&str> = dim.axes.iter().map(|a| &**a).collect();
            words.extend(dim.open.then_some("?"));
            write!(f, " {{{}}}", words.join(" "))?;
            if let Some(priority) = dim.priority {
                write!(f, "p{priority}")?;
            }
        }
        for (word, axes) in [("replicated", &self.replicated), ("unreduced", &self.unreduced)] {
            if !axes.is_empty() {
                write!(f, " {word} {{{}}}", axes.join(" "))?;
            }
        }
        Ok(())
    }
}

/// The words in the braces that the text starts with, and what follows.
fn braced(text: &str) -> Option<(Vec<&str>, &str)> {
    let (words, rest) = text.strip_prefix('{')?.split_once('}')?;
    Some((words.split_whitespace().collect(), rest))
}

fn read(text: &str) -> Option<Sharding> {
    let (mesh, rest) = text.split_once(':')?;
    let (mesh, ids) = mesh.split_once(" ids ").unwrap_or((mesh, ""));
    let axis = |part: &str| {
        let (name, size) = part.split_once('=')?;
        Some((Arc::from(name), size.parse().ok()?))
    };
    let list = |text: &str| -> Vec<String> {
        text.split(',').filter(|part| !part.is_empty()).map(String::from).collect()
    };
    let mut sharding = Sharding {
        mesh: list(mesh).iter().map(|part| axis(part)).collect::<Option<_>>()?,
        ids: list(ids).iter().map(|id| id.parse().ok()).collect::<Option<_>>()?,
        ..Sharding::default()
    };
    let mut rest = rest.trim();
    while rest.starts_with('{') {
        let (words, behind) = braced(rest)?;
        let mut dim = ShardedDim { open: words.contains(&"?"), ..ShardedDim::default() };
        dim.axes = words.into_iter().filter(|word| *word != "?").map(Arc::from).collect();
        rest = behind;
        if let Some(digits) = rest.strip_prefix('p') {
            let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
            dim.priority = Some(digits[..end].parse().ok()?);
            rest = &digits[end..];
        }
        sharding.dims.push(dim);
        rest = rest.trim_start();
    }
    while !rest.is_empty() {
        let (axes, behind) = match rest.strip_prefix("replicated ") {
            Some(behind) => (&mut sharding.replicated, behind),
            None => (&mut sharding.unreduced, rest.strip_prefix("unreduced ")?),
        };
        let (words, behind) = braced(behind)?;
        *axes = words.into_iter().map(Arc::from).collect();
        rest = behind.trim_start();
    }
    Some(sharding)
}

impl FromStr for Sharding {
    type Err = String;

    fn from_str(text: &str) -> Result<Sharding, String> {
        let sharding = read(text).filter(Sharding::is_valid);
        sharding.ok_or_else(|| format!("`{text}` is no sharding, such as `x=2,y=4: {{x}} {{}}`"))
    }
}

/// What the devices of a mesh do together, or each with its own part: an operation of StableHLO or Shardy that no program of one
/// device says, kept as its text for a program that is written again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceOp {
    /// A module of one function, whose first operation it is: the function's parameters are its operands.
    pub text: Arc<str>,
    /// The types of its results; their sizes are numbers.
    pub results: Vec<TensorType>,
}

/// `f32[2,3] i32[]: TEXT`
impl fmt::Display for DeviceOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, ty) in self.results.iter().enumerate() {
            let sizes: Vec<String> = ty.space.extents().iter().map(ToString::to_string).collect();
            write!(f, "{}{}[{}]", if i > 0 { " " } else { "" }, ty.dtype, sizes.join(","))?;
        }
        write!(f, ": {}", self.text)
    }
}

impl FromStr for DeviceOp {
    type Err = String;

    fn from_str(text: &str) -> Result<DeviceOp, String> {
        let wrong = || "no operation of devices, such as `f32[2,3]: TEXT`".to_string();
        let (types, text) = text.split_once(": ").ok_or_else(wrong)?;
        let ty = |word: &str| {
            let (dtype, sizes) = word.strip_suffix(']')?.split_once('[')?;
            let sizes = sizes.split(',').filter(|size| !size.is_empty()).map(|size| size.parse().ok());
            let sizes = sizes.collect::<Option<Vec<u64>>>()?;
            let dtype = DType::ALL.into_iter().find(|known| known.to_string() == dtype)?;
            Some(TensorType::new(dtype, Space::of(&sizes)))
        };
        let results = types.split_whitespace().map(ty).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        Ok(DeviceOp { text: Arc::from(text), results })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shardings_survive_their_text() {
        for text in [
            "x=2,y=4: {x} {} {y ?}",
            "x=8: {}",
            "a=2,b=2: {b a} {?}",
            "x=2:",
            "x=8: {x:(1)2} {x:(4)2 ?}p2",
            "x=2,y=2 ids 3,1,2,0: {x}p0 {} replicated {y}",
            "x=2,y=2: {} replicated {y} unreduced {x}",
        ] {
            let sharding: Sharding = text.parse().unwrap();
            assert_eq!(sharding.to_string(), text);
        }
        for text in [
            "x=2: {y}",
            "x=2: {x} {x}",
            "x: {}",
            "x=2 {x}",
            "x=0: {}",
            "x=8: {x:(3)2}",
            "x=8: {x:(1)}",
            "x=2 ids 1,1: {x}",
            "x=2: {} replicated {x} sum {x}",
        ] {
            assert!(text.parse::<Sharding>().is_err(), "{text}");
        }
    }

    #[test]
    fn operations_of_devices_survive_their_text() {
        for text in ["f32[2,3] i32[]: a: b", "i1[0]: ", ": nothing"] {
            assert_eq!(text.parse::<DeviceOp>().unwrap().to_string(), text);
        }
        for text in ["f32[2,3]", "f33[2]: a", "f32[x]: a", "f32: a"] {
            assert!(text.parse::<DeviceOp>().is_err(), "{text}");
        }
    }
}
