//! Which device has which part of a tensor.

use super::{HloSharding, Mesh, MeshAxis, ShardedDim, Subgroup};

/// A tensor divided among devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Division {
    /// Into how many parts each dimension is divided.
    pub counts: Vec<usize>,
    /// Of each device, which part it has of each dimension.
    pub parts: Vec<Vec<usize>>,
    /// Devices with the same number share one tensor: the others differ along axes that this does not divide by.
    pub group: Vec<usize>,
}

impl Division {
    /// The first device of the group of `device` that has this part.
    pub fn source(&self, device: usize, part: &[usize]) -> Option<usize> {
        let group = self.group.get(device)?;
        (0..self.parts.len()).find(|&d| self.group[d] == *group && self.parts[d] == part)
    }

    /// A tensor that is the same on every device.
    pub fn whole(rank: usize, devices: usize) -> Division {
        Division { counts: vec![1; rank], parts: vec![vec![0; rank]; devices], group: vec![0; devices] }
    }
}

/// The most devices that are simulated.
pub(crate) const MOST_DEVICES: usize = 512;

impl Mesh {
    /// The number of devices; none for a mesh without any, or with too many.
    pub fn size(&self) -> Option<usize> {
        let size = |n: usize, (_, size): &(String, i64)| n.checked_mul(usize::try_from(*size).ok()?);
        let count = self.axes.iter().try_fold(1, size)?;
        (1..=MOST_DEVICES).contains(&count).then_some(count)
    }

    /// The place of each device in the mesh.
    fn places(&self) -> Option<Vec<usize>> {
        let count = self.size()?;
        if self.ids.is_empty() {
            return Some((0..count).collect());
        }
        let place = |device: usize| self.ids.iter().position(|id| usize::try_from(*id) == Ok(device));
        let places = (0..count).map(place).collect::<Option<Vec<_>>>()?;
        (self.ids.len() == count).then_some(places)
    }

    /// Where the device at a place is along an axis or its part, and how many positions there are.
    fn position(&self, place: usize, axis: &MeshAxis) -> Option<(usize, usize)> {
        let at = self.axes.iter().position(|(name, _)| *name == axis.name)?;
        let behind: usize = self.axes[at + 1..].iter().map(|(_, size)| *size as usize).product();
        let size = usize::try_from(self.axes[at].1).ok().filter(|size| *size > 0)?;
        let along = place / behind % size;
        match axis.part {
            None => Some((along, size)),
            Some((before, count)) => {
                let (before, count) = (usize::try_from(before).ok()?, usize::try_from(count).ok()?);
                let whole = before.checked_mul(count).filter(|n| *n > 0 && size.is_multiple_of(*n))?;
                Some((along / (size / whole) % count, count))
            }
        }
    }

    /// How a tensor is divided along those of its axes that are manual; the others divide nothing here. None where the sharding
    /// names an axis that the mesh does not have.
    pub(crate) fn division(&self, dims: &[ShardedDim], manual: &[String]) -> Option<Division> {
        let places = self.places()?;
        let divides = |axis: &&MeshAxis| manual.contains(&axis.name);
        let part = |place: usize, dim: &ShardedDim| {
            dim.axes.iter().filter(divides).try_fold((0, 1), |(index, count), axis| {
                let (position, size) = self.position(place, axis)?;
                Some((index * size + position, count * size))
            })
        };
        let row = |place: &usize| dims.iter().map(|dim| part(*place, dim)).collect::<Option<Vec<_>>>();
        let rows = places.iter().map(row).collect::<Option<Vec<_>>>()?;
        let others: Vec<MeshAxis> = self
            .axes
            .iter()
            .filter(|(name, _)| !manual.contains(name))
            .map(|(name, _)| MeshAxis { name: name.clone(), part: None })
            .collect();
        let group = |place: &usize| {
            others.iter().try_fold(0, |group, axis| {
                let (position, size) = self.position(*place, axis)?;
                Some(group * size + position)
            })
        };
        Some(Division {
            counts: rows.first()?.iter().map(|(_, count)| *count).collect(),
            parts: rows.iter().map(|row| row.iter().map(|(index, _)| *index).collect()).collect(),
            group: places.iter().map(group).collect::<Option<_>>()?,
        })
    }
}

impl HloSharding {
    /// How a tensor of this rank is divided among so many devices; none where the sharding is for another rank or number.
    pub(crate) fn division(&self, rank: usize, devices: usize) -> Option<Division> {
        let HloSharding::Tiled { tiles, devices: order, subgroups } = self else {
            return match self {
                HloSharding::Replicated | HloSharding::Manual => Some(Division::whole(rank, devices)),
                _ => None,
            };
        };
        if tiles.len() != rank + subgroups.len() || order.len() != devices {
            return None;
        }
        let mut division = Division::whole(rank, devices);
        division.counts = tiles[..rank].to_vec();
        for (mut place, device) in order.iter().enumerate() {
            let mut position = vec![0; tiles.len()];
            for (at, size) in position.iter_mut().zip(tiles).rev() {
                (*at, place) = (place % size, place / size);
            }
            *division.parts.get_mut(*device)? = position[..rank].to_vec();
            let manual = subgroups.iter().zip(tiles[rank..].iter().zip(&position[rank..]));
            let manual = manual.filter(|(kind, _)| **kind == Subgroup::Manual);
            division.group[*device] = manual.fold(0, |group, (_, (size, at))| group * size + at);
        }
        Some(division)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axes(names: &[&str]) -> Vec<MeshAxis> {
        names.iter().map(|name| MeshAxis { name: name.to_string(), part: None }).collect()
    }

    fn grid() -> Mesh {
        Mesh { axes: vec![("x".into(), 2), ("y".into(), 4)], ids: Vec::new() }
    }

    #[test]
    fn devices_have_their_parts() {
        let dims = [
            ShardedDim { axes: axes(&["y"]), ..ShardedDim::default() },
            ShardedDim { axes: axes(&["x"]), ..ShardedDim::default() },
        ];
        let all = grid().division(&dims, &["x".into(), "y".into()]).unwrap();
        assert_eq!(all.counts, [4, 2]);
        assert_eq!(all.parts[6], [2, 1]);
        assert_eq!(all.group, [0; 8]);
        // One axis only: devices that differ along the other one have tensors of their own.
        let along_x = grid().division(&dims, &["x".into()]).unwrap();
        assert_eq!(
            (along_x.counts.as_slice(), along_x.parts[6].as_slice()),
            ([1, 2].as_slice(), [0, 1].as_slice())
        );
        assert_eq!(along_x.group, [0, 1, 2, 3, 0, 1, 2, 3]);
        assert_eq!(along_x.source(6, &[0, 0]), Some(2));
    }

    #[test]
    fn parts_of_axes_and_orders_of_devices_count() {
        let line = Mesh { axes: vec![("x".into(), 8)], ids: vec![7, 6, 5, 4, 3, 2, 1, 0] };
        let axis = |before, size| MeshAxis { name: "x".into(), part: Some((before, size)) };
        let dims = [ShardedDim { axes: vec![axis(2, 2)], ..ShardedDim::default() }];
        let division = line.division(&dims, &["x".into()]).unwrap();
        // Place 0 1 2 3 4 5 6 7 is part 0 0 1 1 0 0 1 1, and device 7 is at place 0.
        let parts: Vec<usize> = division.parts.iter().map(|p| p[0]).collect();
        assert_eq!(parts, [1, 1, 0, 0, 1, 1, 0, 0]);
        let wrong = [ShardedDim { axes: vec![axis(3, 2)], ..ShardedDim::default() }];
        assert_eq!(line.division(&wrong, &["x".into()]), None);
    }

    #[test]
    fn shardings_of_hlo_divide_alike() {
        let text = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}";
        let division = text.parse::<HloSharding>().unwrap().division(2, 8).unwrap();
        let dims = [ShardedDim { axes: axes(&["y"]), ..ShardedDim::default() }, ShardedDim::default()];
        let mesh = grid().division(&dims, &["x".into(), "y".into()]).unwrap();
        assert_eq!(division, mesh);
        let inner = "{devices=[4,2]<=[2,4]T(1,0) last_tile_dims={manual}}".parse::<HloSharding>().unwrap();
        assert_eq!(inner.division(1, 8).unwrap().group, [0, 0, 0, 0, 1, 1, 1, 1]);
    }
}
