//! Where the parts of a tensor lie on a mesh of devices, as Shardy says it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// How a tensor is divided among devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sharding {
    /// The axes of the mesh, each with its number of devices.
    pub mesh: Vec<(Arc<str>, u64)>,
    /// Of each axis of the tensor, along which axes of the mesh it is divided.
    pub dims: Vec<ShardedDim>,
}

/// How one axis of a tensor is divided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShardedDim {
    /// The axes of the mesh, major first.
    pub axes: Vec<Arc<str>>,
    /// May the partitioner divide it further?
    pub open: bool,
}

impl Sharding {
    /// The number of devices of the mesh.
    pub fn devices(&self) -> u64 {
        self.mesh.iter().fold(1, |n, (_, size)| n.saturating_mul(*size))
    }

    /// Is every name a word, every axis one of the mesh, and none used twice?
    pub fn is_valid(&self) -> bool {
        let word = |name: &str| {
            let first = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
            first && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        };
        let mut used: Vec<&Arc<str>> = self.dims.iter().flat_map(|d| &d.axes).collect();
        let count = used.len();
        used.sort();
        used.dedup();
        used.len() == count
            && used.iter().all(|axis| self.mesh.iter().any(|(name, _)| name == *axis))
            && self.mesh.iter().all(|(name, size)| word(name) && *size > 0)
    }
}

/// `x=2,y=4: {x} {} {y ?}`
impl fmt::Display for Sharding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, size)) in self.mesh.iter().enumerate() {
            write!(f, "{}{name}={size}", if i > 0 { "," } else { "" })?;
        }
        f.write_str(":")?;
        for dim in &self.dims {
            let mut words: Vec<&str> = dim.axes.iter().map(|a| &**a).collect();
            words.extend(dim.open.then_some("?"));
            write!(f, " {{{}}}", words.join(" "))?;
        }
        Ok(())
    }
}

impl FromStr for Sharding {
    type Err = String;

    fn from_str(text: &str) -> Result<Sharding, String> {
        let wrong = || format!("`{text}` is no sharding, such as `x=2,y=4: {{x}} {{}}`");
        let (mesh, dims) = text.split_once(':').ok_or_else(wrong)?;
        let axis = |part: &str| {
            let (name, size) = part.split_once('=')?;
            Some((Arc::from(name), size.parse().ok()?))
        };
        let mesh = mesh.split(',').filter(|part| !part.is_empty()).map(axis).collect::<Option<Vec<_>>>();
        let mesh = mesh.ok_or_else(wrong)?;
        let mut sharding = Sharding { mesh, dims: Vec::new() };
        let mut rest = dims.trim();
        while let Some(inner) = rest.strip_prefix('{') {
            let (words, behind) = inner.split_once('}').ok_or_else(wrong)?;
            let mut dim = ShardedDim::default();
            for word in words.split_whitespace() {
                match word {
                    "?" => dim.open = true,
                    name => dim.axes.push(Arc::from(name)),
                }
            }
            sharding.dims.push(dim);
            rest = behind.trim_start();
        }
        match rest.is_empty() && sharding.is_valid() {
            true => Ok(sharding),
            false => Err(wrong()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shardings_survive_their_text() {
        for text in ["x=2,y=4: {x} {} {y ?}", "x=8: {}", "a=2,b=2: {b a} {?}", "x=2:"] {
            let sharding: Sharding = text.parse().unwrap();
            assert_eq!(sharding.to_string(), text);
        }
        for text in ["x=2: {y}", "x=2: {x} {x}", "x: {}", "x=2 {x}", "x=0: {}"] {
            assert!(text.parse::<Sharding>().is_err(), "{text}");
        }
    }
}
