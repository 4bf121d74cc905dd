//! What programs say about devices: meshes of Shardy, and the groups of processes of collectives.

use crate::attr::Attribute;
use crate::module::{Module, Op};
use crate::parse::read_mesh;

/// A mesh of devices: axes with their sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// Name and number of devices of each axis, in order.
    pub axes: Vec<(String, i64)>,
}

/// Of each dimension of a tensor the axes along which it is divided, major first, and whether it may be divided further.
pub type ShardedDims = Vec<(Vec<String>, bool)>;

impl Mesh {
    /// The number of devices along these axes; `None` if an axis is not in the mesh.
    pub fn devices(&self, axes: &[String]) -> Option<i64> {
        let size = |axis: &String| self.axes.iter().find(|(name, _)| name == axis).map(|(_, size)| *size);
        axes.iter().map(size).try_fold(1i64, |product, size| product.checked_mul(size?))
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

    /// What a sharding such as `#sdy.sharding<@mesh, [{"x"}, {?}]>` says: the mesh, and of each dimension the axes along which
    /// it is divided and whether it may be divided further. `None` for what else Shardy can say (parts of axes, priorities,
    /// replicated axes) and for a mesh that the module does not have.
    pub fn sharding(&self, text: &str) -> Option<(Mesh, ShardedDims)> {
        let (name, mesh, dims) = crate::parse::read_sharding(text)?;
        let mesh = mesh.or_else(|| self.mesh(&name?))?;
        Some((mesh, dims))
    }

    /// The number of processes that the module is for: replicas times partitions, each 1 where nothing is said.
    pub fn processes(&self) -> i64 {
        let count = |name: &str| self.attributes.get(name).and_then(Attribute::as_i64).unwrap_or(1);
        count("mhlo.num_partitions").saturating_mul(count("mhlo.num_replicas"))
    }

    /// The number of devices among which an `sdy.manual_computation` divides its work: those along its manual axes.
    /// `None` where its text does not say.
    pub fn manual_devices(&self, op: &Op) -> Option<i64> {
        let text = |name: &str| match op.attributes.get(name) {
            Some(Attribute::Opaque(text)) => Some(text.as_str()),
            _ => None,
        };
        let axes = crate::parse::read_names(text("manual_axes")?);
        if axes.is_empty() {
            return Some(1);
        }
        // Every sharding of one operation is on the same mesh.
        let shardings = [text("in_shardings")?, text("out_shardings")?];
        let mesh = shardings.iter().find_map(|list| {
            let body = list.split_once('<')?.1.trim_start_matches('[');
            let first = body.strip_prefix('<')?;
            match first.strip_prefix('@') {
                Some(_) => self.mesh(&crate::parse::read_symbol(first)?),
                None => read_mesh(first.strip_prefix("mesh")?),
            }
        })?;
        mesh.devices(&axes)
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
