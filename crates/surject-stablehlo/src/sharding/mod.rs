//! What programs say about devices: meshes of Shardy and how tensors are divided along their axes, the shardings of HLO, and
//! the groups of processes of collectives.

mod division;
mod groups;
mod hlo;

use crate::attr::Attribute;
use crate::module::{Module, Op};
use crate::parse::{ReadSharding, read_mesh, read_names};

pub(crate) use division::Division;
pub(crate) use groups::{World, channel, group};
pub use hlo::{HloSharding, Subgroup};

/// A mesh of devices: axes with their sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// Name and number of devices of each axis, in order.
    pub axes: Vec<(String, i64)>,
    /// The number of the device at each place, the last axis fastest; empty where places and numbers are the same.
    pub ids: Vec<i64>,
}

/// An axis of a mesh, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MeshAxis {
    /// Name of the axis.
    pub name: String,
    /// The part `(m)k` of an axis: `k` positions, each `size / (m k)` devices wide.
    pub part: Option<(i64, i64)>,
}

/// How one dimension of a tensor is divided.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ShardedDim {
    /// The axes along which it is divided, major first.
    pub axes: Vec<MeshAxis>,
    /// Whether it may be divided further.
    pub open: bool,
    /// Its priority in propagation, where one is given.
    pub priority: Option<u32>,
}

/// A sharding of Shardy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorSharding {
    /// The mesh.
    pub mesh: Mesh,
    /// How each dimension is divided.
    pub dims: Vec<ShardedDim>,
    /// Axes along which the tensor is the same and stays so.
    pub replicated: Vec<MeshAxis>,
    /// Axes along which the devices hold parts of a sum.
    pub unreduced: Vec<MeshAxis>,
}

/// What a `sdy.manual_computation` says: how its operands and results are divided, and along which axes the devices see parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManualComputation {
    /// Of each operand.
    pub inputs: Vec<TensorSharding>,
    /// Of each result.
    pub outputs: Vec<TensorSharding>,
    /// The axes along which each device sees its part only.
    pub axes: Vec<String>,
}

impl ManualComputation {
    /// The mesh; none where there is no value, which then is divided among nothing.
    pub fn mesh(&self) -> Option<&Mesh> {
        self.inputs.iter().chain(&self.outputs).map(|s| &s.mesh).find(|mesh| !mesh.axes.is_empty())
    }
}

impl Module {
    /// The mesh `sdy.mesh @name` of this module.
    pub fn mesh(&self, name: &str) -> Option<Mesh> {
        let op = self.other.iter().find(|op| op.name == "sdy.mesh" && op.string("sym_name") == Ok(name))?;
        match op.attributes.get("mesh")? {
            Attribute::Opaque(text) => read_mesh(text.strip_prefix("#sdy.mesh")?),
            _ => None,
        }
    }

    /// What a sharding such as `#sdy.sharding<@mesh, [{"x"}, {?}]>` says. `None` for text that is none, and for a mesh that the
    /// module does not have.
    pub fn sharding(&self, text: &str) -> Option<TensorSharding> {
        self.resolved(crate::parse::read_sharding(text)?)
    }

    /// The text of shardings with the meshes themselves in the place of their names; none where the module has no such mesh.
    pub fn with_meshes(&self, text: &str) -> Option<String> {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('@') {
            let name = crate::parse::read_symbol(&rest[at..])?;
            let written = match rest[at + 1..].starts_with('"') {
                true => rest[at + 2..].find('"')? + 3,
                false => 1 + name.len(),
            };
            let op =
                self.other.iter().find(|op| op.name == "sdy.mesh" && op.string("sym_name") == Ok(&name))?;
            let Some(Attribute::Opaque(mesh)) = op.attributes.get("mesh") else { return None };
            out.push_str(&rest[..at]);
            out.push_str(mesh.strip_prefix("#sdy.")?);
            rest = rest.get(at + written..)?;
        }
        Some(out + rest)
    }

    fn resolved(&self, read: ReadSharding) -> Option<TensorSharding> {
        let mesh = match (read.mesh, read.name) {
            (Some(mesh), _) => mesh,
            (None, name) => self.mesh(&name?)?,
        };
        let ReadSharding { dims, replicated, unreduced, .. } = read;
        Some(TensorSharding { mesh, dims, replicated, unreduced })
    }

    /// What an operation `sdy.manual_computation` of this module says; `None` for attributes that cannot be read.
    pub fn manual_computation(&self, op: &Op) -> Option<ManualComputation> {
        let text = |name: &str| match op.attributes.get(name) {
            Some(Attribute::Opaque(text)) => Some(text.as_str()),
            _ => None,
        };
        let shardings = |name: &str| {
            let read = crate::parse::read_shardings(text(name)?)?;
            read.into_iter().map(|sharding| self.resolved(sharding)).collect::<Option<Vec<_>>>()
        };
        Some(ManualComputation {
            inputs: shardings("in_shardings")?,
            outputs: shardings("out_shardings")?,
            axes: read_names(text("manual_axes")?),
        })
    }

    /// The number of processes that the module is for: replicas times partitions, each 1 where nothing is said.
    pub fn processes(&self) -> i64 {
        let count = |name: &str| self.attributes.get(name).and_then(Attribute::as_i64).unwrap_or(1);
        count("mhlo.num_partitions").saturating_mul(count("mhlo.num_replicas"))
    }
}

impl Op {
    /// Whether every group of a collective holds one process, so that each process only meets itself.
    pub fn meets_itself(&self) -> bool {
        match self.attributes.get("replica_groups") {
            Some(Attribute::Dense(groups)) if groups.ty.rank() == 2 => {
                let width = groups.ty.shape[1].known().unwrap_or(0);
                let Some(ids) = groups.to_i64s().filter(|ids| width > 0 && !ids.is_empty()) else {
                    return false;
                };
                // Groups that are shorter than others are filled up with -1.
                ids.chunks(width as usize).all(|group| group.iter().filter(|id| **id >= 0).count() == 1)
            }
            _ => false,
        }
    }
}
