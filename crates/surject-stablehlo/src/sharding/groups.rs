//! Which processes form a group of a collective: it follows from the groups, the channel and `use_global_device_ids`, as the
//! specification says under "Execution".

use crate::attr::Attribute;
use crate::dense::DenseElements;
use crate::module::{Module, Op};
use crate::types::{ElementType, TensorType};

/// The processes of a run, numbered row by row of replicas.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub replicas: usize,
    pub partitions: usize,
}

/// The channel of a collective; 0 where it has none.
pub(crate) fn channel(op: &Op) -> i64 {
    match op.attributes.get("channel_handle") {
        Some(Attribute::ChannelHandle(channel)) => channel.handle,
        _ => 0,
    }
}

/// The rows of `replica_groups`, without what fills them up; one group of all where none are given.
fn rows(op: &Op, all: usize) -> Result<Vec<Vec<usize>>, String> {
    let elements = match op.attributes.get("replica_groups") {
        Some(Attribute::Dense(elements)) => elements,
        None => return Ok(vec![(0..all).collect()]),
        Some(other) => return Err(format!("groups that are {}", other.describe())),
    };
    let width = elements.ty.shape.last().and_then(|d| d.known()).unwrap_or(0).max(0) as usize;
    let ids = elements.to_i64s().unwrap_or_default();
    if ids.is_empty() {
        return Ok(vec![(0..all).collect()]);
    }
    let row = |ids: &[i64]| ids.iter().filter_map(|id| usize::try_from(*id).ok()).collect();
    Ok(ids.chunks(width.max(1)).map(row).collect())
}

/// The group of a process; empty if it is in none. `reaches`: with a channel, groups of replicas reach across partitions;
/// otherwise they then are groups of partitions. An error says what cannot be read.
pub(crate) fn group(
    module: &Module,
    op: &Op,
    world: World,
    process: usize,
    reaches: bool,
) -> Result<Vec<usize>, String> {
    let World { replicas, partitions } = world;
    let (replica, partition) = (process / partitions.max(1), process % partitions.max(1));
    let id = |replica: usize, partition: usize| replica * partitions + partition;
    let find = |rows: Vec<Vec<usize>>, number: usize| {
        rows.into_iter().find(|row| row.contains(&number)).unwrap_or_default()
    };
    if let Some(Attribute::Opaque(text)) = op.attributes.get("replica_groups") {
        return mesh_group(module, text, process);
    }
    let across = channel(op) > 0;
    let global = op.flag("use_global_device_ids").map_err(|d| d.message)?;
    Ok(if global {
        find(rows(op, replicas * partitions)?, process)
    } else if across && reaches {
        let row = find(rows(op, replicas)?, replica);
        row.iter().flat_map(|r| (0..partitions).map(move |p| id(*r, p))).collect()
    } else if across {
        find(rows(op, partitions)?, partition).into_iter().map(|p| id(replica, p)).collect()
    } else {
        find(rows(op, replicas)?, replica).into_iter().map(|r| id(r, partition)).collect()
    })
}

/// The processes of a mesh that differ from this one along the given axes only, the last axis fastest. Processes are numbered row
/// by row along the axes of the mesh.
fn mesh_group(module: &Module, text: &str, own: usize) -> Result<Vec<usize>, String> {
    let unread = || format!("the groups {text}");
    let (mesh, axes) = text.rsplit_once("axes").ok_or_else(unread)?;
    let sizes: Vec<(String, usize)> = match mesh.split_once('@') {
        Some((_, name)) => {
            let name = crate::parse::read_symbol(&format!("@{name}")).ok_or_else(unread)?;
            let mesh = module.mesh(&name).filter(|mesh| mesh.ids.is_empty()).ok_or_else(unread)?;
            mesh.axes.into_iter().map(|(name, size)| (name, usize::try_from(size).unwrap_or(0))).collect()
        }
        None => {
            let sizes = mesh.split("size").skip(1).map(|rest| {
                let digits: String = rest.chars().filter(|c| !" =".contains(*c)).collect();
                digits.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
            });
            let sizes: Vec<usize> = sizes.collect::<Option<_>>().ok_or_else(unread)?;
            crate::parse::read_names(mesh).into_iter().zip(sizes).collect()
        }
    };
    let axes = crate::parse::read_names(axes);
    let known = axes.iter().all(|axis| sizes.iter().any(|(name, _)| name == axis));
    let count: usize = sizes.iter().map(|(_, size)| size).product();
    if text.contains("sub_axis") || !known || own >= count {
        return Err(unread());
    }
    let mut group = vec![own];
    for axis in &axes {
        let at = sizes.iter().position(|(name, _)| name == axis).unwrap_or(0);
        let step: usize = sizes[at + 1..].iter().map(|(_, size)| size).product();
        let line = |p: usize| {
            let first = p - p / step % sizes[at].1 * step;
            (0..sizes[at].1).map(move |i| first + i * step)
        };
        group = group.into_iter().flat_map(line).collect();
    }
    Ok(group)
}

impl Module {
    /// A collective whose groups are said by axes of a mesh, with the same groups as lists of devices; `None` where these cannot
    /// be read, or cannot be said so: without a channel, or with several replicas.
    pub fn with_listed_groups(&self, op: &Op) -> Option<Op> {
        let Some(Attribute::Opaque(text)) = op.attributes.get("replica_groups") else { return None };
        let replicas = self.attributes.get("mhlo.num_replicas").and_then(Attribute::as_i64).unwrap_or(1);
        if channel(op) <= 0 || replicas != 1 {
            return None;
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for device in 0.. {
            if groups.iter().any(|group| group.contains(&device)) {
                continue;
            }
            match mesh_group(self, text, device) {
                Ok(group) => groups.push(group),
                Err(_) => break,
            }
        }
        let width = groups.first()?.len();
        let ids: Vec<u8> = groups.iter().flatten().flat_map(|id| (*id as i64).to_le_bytes()).collect();
        let ty = TensorType::new(&[groups.len() as i64, width as i64], ElementType::I64);
        let mut listed = op.clone();
        listed.attributes.set("replica_groups", Attribute::Dense(DenseElements::raw(ty, ids)?));
        // Without it these meet groups of replicas, across all partitions.
        if matches!(op.short_name(), "all_reduce" | "all_gather" | "reduce_scatter") {
            listed.attributes.set("use_global_device_ids", Attribute::Unit);
        }
        Some(listed)
    }
}
