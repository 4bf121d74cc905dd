//! Shardings of HLO, the text of `mhlo.sharding`: `{devices=[2,4]<=[8]}`.

use std::str::FromStr;

/// How a tensor is divided, as XLA's own partitioner writes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum HloSharding {
    /// Every device has the whole tensor.
    Replicated,
    /// Each device has a tensor of its own, of the shape that the program says.
    Manual,
    /// One device has it.
    Maximal(usize),
    /// Each device has a tile.
    Tiled {
        /// The number of tiles along each dimension of the tensor, then along each group of devices.
        tiles: Vec<usize>,
        /// The devices of the tiles, the last dimension fastest.
        devices: Vec<usize>,
        /// What the last dimensions of `tiles` stand for.
        subgroups: Vec<Subgroup>,
    },
    /// Of the parts of a tuple.
    Tuple(Vec<HloSharding>),
}

/// What devices that have the same tile differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Subgroup {
    /// In nothing.
    Replicated,
    /// Each has a tensor of its own.
    Manual,
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|n| n.trim().parse().ok()).collect()
}

/// Numbers in the brackets that the text starts with, and what follows.
fn bracketed(text: &str, open: char, close: char) -> Option<(&str, &str)> {
    text.strip_prefix(open)?.split_once(close)
}

/// The devices `0, 1, …` in an array of this shape, transposed.
fn iota(shape: &[usize], order: &[usize]) -> Option<Vec<usize>> {
    let count = shape.iter().try_fold(1usize, |n, size| n.checked_mul(*size))?;
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if count > super::division::MOST_DEVICES || sorted != (0..shape.len()).collect::<Vec<_>>() {
        return None;
    }
    let step = |axis: usize| shape[axis + 1..].iter().product::<usize>();
    let device = |mut place: usize| {
        let mut device = 0;
        for &axis in order.iter().rev() {
            device += place % shape[axis] * step(axis);
            place /= shape[axis];
        }
        device
    };
    Some((0..count).map(device).collect())
}

fn tiled(text: &str) -> Option<HloSharding> {
    let (tiles, rest) = bracketed(text.strip_prefix("devices=")?, '[', ']')?;
    let tiles = numbers(tiles)?;
    let (order, options) = rest.split_once(' ').unwrap_or((rest, ""));
    let devices = match order.strip_prefix("<=") {
        Some(order) => {
            let (shape, order) = bracketed(order, '[', ']')?;
            let shape = numbers(shape)?;
            let order = match order.strip_prefix('T') {
                Some(order) => numbers(bracketed(order, '(', ')')?.0)?,
                None if order.is_empty() => (0..shape.len()).collect(),
                None => return None,
            };
            iota(&shape, &order)?
        }
        None => numbers(order)?,
    };
    let subgroups = match options.trim() {
        "" => Vec::new(),
        "last_tile_dim_replicate" => vec![Subgroup::Replicated],
        options => {
            let (kinds, rest) = bracketed(options.strip_prefix("last_tile_dims=")?, '{', '}')?;
            let kind = |kind: &str| match kind.trim() {
                "replicated" => Some(Subgroup::Replicated),
                "manual" => Some(Subgroup::Manual),
                _ => None,
            };
            rest.trim().is_empty().then(|| kinds.split(',').map(kind).collect::<Option<_>>()).flatten()?
        }
    };
    let count = tiles.iter().try_fold(1usize, |n, size| n.checked_mul(*size));
    let mut seen = devices.clone();
    seen.sort_unstable();
    let each_once = seen == (0..devices.len()).collect::<Vec<_>>();
    let fits = count == Some(devices.len()) && each_once && subgroups.len() <= tiles.len();
    fits.then_some(HloSharding::Tiled { tiles, devices, subgroups })
}

fn read(text: &str) -> Option<HloSharding> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    if inner.starts_with('{') {
        // Parts of a tuple: each in braces, which may hold braces of their own.
        let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
        for (i, c) in inner.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.checked_sub(1)?,
                ',' if depth == 0 => {
                    parts.push(read(&inner[start..i])?);
                    start = i + 1;
                }
                _ => {}
            }
        }
        parts.push(read(&inner[start..])?);
        return Some(HloSharding::Tuple(parts));
    }
    match inner {
        "replicated" => Some(HloSharding::Replicated),
        "manual" => Some(HloSharding::Manual),
        _ => match inner.strip_prefix("maximal device=") {
            Some(device) => Some(HloSharding::Maximal(device.trim().parse().ok()?)),
            None => tiled(inner),
        },
    }
}

impl FromStr for HloSharding {
    type Err = String;

    fn from_str(text: &str) -> Result<HloSharding, String> {
        if text.len() > 1 << 16 {
            return Err("a sharding of more than 64 KiB".to_string());
        }
        read(text).ok_or_else(|| format!("`{text}` is no sharding, such as `{{devices=[2,4]<=[8]}}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shardings_are_read() {
        let tiled = |text: &str| match text.parse().unwrap() {
            HloSharding::Tiled { tiles, devices, subgroups } => (tiles, devices, subgroups),
            other => panic!("{other:?}"),
        };
        assert_eq!(tiled("{devices=[2,2]<=[4]}"), (vec![2, 2], vec![0, 1, 2, 3], vec![]));
        assert_eq!(tiled("{devices=[2,1]1,0}").1, [1, 0]);
        assert_eq!(tiled("{devices=[4,2]<=[2,4]T(1,0)}").1, [0, 4, 1, 5, 2, 6, 3, 7]);
        let kinds = tiled("{devices=[1,1,2,4]<=[8] last_tile_dims={manual, replicated}}").2;
        assert_eq!(kinds, [Subgroup::Manual, Subgroup::Replicated]);
        let tuple = "{{replicated}, {devices=[2]<=[2]}, {maximal device=1}}".parse().unwrap();
        assert!(matches!(tuple, HloSharding::Tuple(parts) if parts[2] == HloSharding::Maximal(1)));
        for wrong in [
            "",
            "{",
            "{devices=[2]<=[3]}",
            "{devices=[2]0,0}",
            "{devices=[2]<=[2]T(1)}",
            "{devices=[1000000,1000000]<=[2]}",
        ] {
            assert!(wrong.parse::<HloSharding>().is_err(), "{wrong}");
        }
    }
}
