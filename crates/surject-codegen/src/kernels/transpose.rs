//! Points whose loads and stores lie along different loops: tiles of what is loaded go through shared memory.
//!
//! A block computes a tile of `along` × `across` points. What lies along `across` in memory is brought by threads that are
//! neighbours there, and read by threads that are neighbours along the results. On a CPU a tile is a vector of each row,
//! which is transposed in registers.

use super::contraction::WARP;
use super::expression::Expression;
use super::fault::Fault;
use crate::expression::address::{Lin, LoopId};
use crate::expression::dag::{Dag, Node, NodeId};
use std::fmt;

/// How the points of a transposition are cut into tiles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransposeTile {
    /// The loop along which results lie, and that along which the loads lie that go through shared memory.
    pub loops: [String; 2],
    /// Iterations of each that a block computes, or that are transposed in registers.
    pub tile: [i64; 2],
    /// By whom.
    pub by: Transposers,
}

/// Who transposes tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transposers {
    /// So many warps of a block each.
    Warps(i64),
    /// Tasks, in registers.
    Tasks(Pieces),
}

/// How tasks go through tiles that are transposed in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pieces {
    /// The tiles of a piece along the loop that loads lie along, and along that of the results.
    pub tiles: [i64; 2],
    /// So many tiles along the results, a *group*, come before the next ones along the loads.
    pub group: i64,
    /// The pieces of a task, one after the other.
    pub each: i64,
    /// The results of a group meet in memory of the task, and leave it in whole lines.
    pub staged: bool,
    /// What the next group loads is prefetched meanwhile.
    pub ahead: bool,
    /// Results go past the caches.
    pub past: bool,
}

impl fmt::Display for Pieces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pieces { tiles: [down, right], group, each, staged, ahead, past } = self;
        write!(f, "task {down} {right} group {group} each {each}")?;
        let words = [(staged, "staged"), (ahead, "ahead"), (past, "past")];
        words.iter().filter(|(has, _)| **has).try_for_each(|(_, word)| write!(f, " {word}"))
    }
}

impl Pieces {
    /// Reads what stands behind `task`.
    fn read(words: &[&str]) -> Result<Pieces, Fault> {
        let [down, right, "group", group, "each", each, further @ ..] = words else {
            return Err("tasks are `task DOWN RIGHT group N each N [staged] [ahead] [past]`".into());
        };
        let mut pieces = Pieces {
            tiles: [number(down)?, number(right)?],
            group: number(group)?,
            each: number(each)?,
            staged: false,
            ahead: false,
            past: false,
        };
        for word in further {
            let has = match *word {
                "staged" => &mut pieces.staged,
                "ahead" => &mut pieces.ahead,
                "past" => &mut pieces.past,
                _ => return Err(Fault::of(word, format!("`{word}` is none of staged, ahead, past"))),
            };
            if std::mem::replace(has, true) {
                return Err(Fault::of(word, format!("`{word}` stands twice")));
            }
        }
        Ok(pieces)
    }
}

fn number(word: &str) -> Result<i64, Fault> {
    word.parse().map_err(|_| Fault::of(word, format!("`{word}` is no number")))
}

impl fmt::Display for TransposeTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TransposeTile { loops: [along, across], tile: [a, b], by } = self;
        write!(f, "transpose {along} {across} tile {a} {b} ")?;
        match by {
            Transposers::Warps(warps) => write!(f, "warps {warps}"),
            Transposers::Tasks(pieces) => write!(f, "{pieces}"),
        }
    }
}

impl TransposeTile {
    /// Reads what stands behind `transpose`.
    pub(crate) fn read(words: &[&str]) -> Result<TransposeTile, Fault> {
        match words {
            [along, across, "tile", a, b, by @ ..] => Ok(TransposeTile {
                loops: [along.to_string(), across.to_string()],
                tile: [number(a)?, number(b)?],
                by: match by {
                    ["warps", count] => Transposers::Warps(number(count)?),
                    ["task", words @ ..] => Transposers::Tasks(Pieces::read(words)?),
                    _ => return Err("a tile is transposed by `warps N` or by a `task`".into()),
                },
            }),
            _ => Err("a transposition is `transpose ALONG ACROSS tile A B warps N|task …`".into()),
        }
    }

    /// Elements of so many bytes from one row of a tile in shared memory to the next: so that neither the threads that
    /// write along `across` nor those that read along `along` meet in a bank, which is four bytes wide.
    pub(crate) fn pitch(&self, bytes: usize) -> i64 {
        let [a, b] = self.tile;
        let in_bank = (4 / bytes.max(1) as i64).max(1);
        if b < WARP || in_bank > 1 {
            return in_bank * (((b + in_bank - 1) / in_bank) | 1);
        }
        let wanted = (WARP + a - 1) / a.max(1) % WARP;
        (b..).find(|p| p % WARP == wanted).unwrap_or(b)
    }
}

/// A tile that fits an expression.
#[derive(Clone, Debug)]
pub(crate) struct Transpose {
    pub(crate) along: LoopId,
    pub(crate) across: LoopId,
    pub(crate) tile: TransposeTile,
    /// What goes through shared memory.
    pub(crate) loads: Vec<NodeId>,
    /// The other loops, in the order in which tasks go through them.
    pub(crate) others: Others,
}

/// The loops of a transposition beside its two.
#[derive(Clone, Debug)]
pub(crate) struct Others {
    /// Those outside of pieces.
    pub(crate) outer: Vec<LoopId>,
    /// Those inside: what is loaded in one of their iterations lies beside what is loaded in the next.
    pub(crate) near: Vec<LoopId>,
    /// Those of them that a tile goes on with, which has more rows than the loop across has iterations, and how many iterations
    /// of each it has.
    pub(crate) beside: Vec<(LoopId, i64)>,
    /// Those inside of a tile: results of neighbours along them lie between those of the tile.
    pub(crate) inside: Vec<LoopId>,
}

impl Others {
    /// The most iterations inside of a tile.
    const INSIDE: i64 = 4;

    /// Those of a tile of so many rows.
    fn of(expression: &Expression, [along, across]: [LoopId; 2], loads: &[NodeId], rows: i64) -> Others {
        let dag = &expression.dag;
        let stored = |l: LoopId| expression.outputs.iter().map(move |o| o.address.coeff(l).abs());
        let loaded = |l: LoopId| {
            loads.iter().map(move |&n| match &dag[n].node {
                Node::Load { address, .. } => address.coeff(l).abs(),
                _ => 0,
            })
        };
        let others: Vec<LoopId> =
            expression.loops.iter().copied().filter(|&l| l != along && l != across).collect();
        let between = |l: &LoopId| stored(*l).zip(stored(along)).all(|(here, next)| 0 < here && here < next);
        let mut inside: Vec<LoopId> = others.iter().copied().filter(between).collect();
        inside.sort_by_key(|&l| std::cmp::Reverse(stored(l).max()));
        let fills = stored(along).all(|next| next == inside.iter().map(|&l| dag.extent(l)).product::<i64>());
        if !fills || inside.iter().map(|&l| dag.extent(l)).product::<i64>() > Others::INSIDE {
            inside.clear();
        }
        let beside = |l: &LoopId| loaded(*l).zip(loaded(along)).all(|(here, next)| 0 < here && here < next);
        let (near, outer) = others.into_iter().filter(|l| !inside.contains(l)).partition(beside);
        let near: Vec<LoopId> = near;
        // What is loaded in order goes on where the loop across ends.
        let runs = loads.iter().filter_map(|&n| match &dag[n].node {
            Node::Load { address, .. } => Some(address).filter(|a| a.coeff(across) == 1),
            _ => None,
        });
        let runs: Vec<&Lin> = runs.collect();
        let (mut beside, mut count, mut length) = (Vec::new(), dag.extent(across), dag.extent(across));
        let goes_on = |l: &LoopId, length| dag.extent(*l) > 1 && runs.iter().all(|a| a.coeff(*l) == length);
        while let Some(&l) = near.iter().find(|l| !runs.is_empty() && goes_on(l, length)) {
            let extent = dag.extent(l);
            let fits = |n: &i64| extent % n == 0 && count.checked_mul(*n).is_some_and(|all| all <= rows);
            let Some(some) = (2..=rows.min(extent)).rev().find(fits) else { break };
            beside.push((l, some));
            (count, length) = (count * some, length * extent);
            if some < extent {
                break;
            }
        }
        Others { outer, near, beside, inside }
    }

    /// How many iterations of one of the near loops a tile has.
    pub(crate) fn in_tile(&self, l: LoopId) -> i64 {
        self.beside.iter().find(|b| b.0 == l).map_or(1, |b| b.1)
    }

    /// The rows that tiles have to do, those of loops that they go on with too.
    pub(crate) fn rows(&self, dag: &Dag, across: LoopId) -> i64 {
        self.beside.iter().fold(dag.extent(across), |rows, b| rows.saturating_mul(b.1))
    }
}

impl Transpose {
    /// The loops whose last tile is not whole.
    pub(crate) fn cut(&self, expression: &Expression) -> Vec<LoopId> {
        let loops = [self.along, self.across].into_iter().zip(self.tile.tile);
        loops.filter(|&(l, by)| expression.dag.extent(l) % by != 0).map(|(l, _)| l).collect()
    }
}

/// The loads that lie along one loop rather than along another one.
fn loads(expression: &Expression, along: LoopId, across: LoopId) -> Vec<NodeId> {
    let dag = &expression.dag;
    let transposed = |n: &NodeId| match &dag[*n].node {
        Node::Load { address, .. } => {
            let (a, b) = (address.coeff(along).abs(), address.coeff(across).abs());
            a != 0 && b != 0 && b < a
        }
        _ => false,
    };
    expression.nodes().into_iter().filter(transposed).collect()
}

impl Expression {
    /// How many rows there are for a tile of at most so many, which goes on with loops that are beside what is loaded.
    pub fn rows_of_tile(&self, loops: &[String; 2], most: i64) -> i64 {
        let [Some(along), Some(across)] = [&loops[0], &loops[1]].map(|name| self.id(name)) else { return 1 };
        let loads = loads(self, along, across);
        Others::of(self, [along, across], &loads, most).rows(&self.dag, across)
    }

    /// The pairs of loops over points for which loads could go through shared memory: the one along which results lie, and
    /// one along which some loads lie.
    pub fn transpositions(&self) -> Vec<[String; 2]> {
        let free = || self.loops.iter().copied().filter(|&l| self.free.contains(l) && self.dag.extent(l) > 1);
        let stored = |l: LoopId| {
            self.outputs
                .iter()
                .map(|o| o.address.coeff(l).abs())
                .filter(|&c| c != 0)
                .min()
                .unwrap_or(i64::MAX)
        };
        let Some(along) = free().min_by_key(|&l| stored(l)) else { return Vec::new() };
        self.across(along)
    }

    /// The same where the loop along which results lie has so few iterations that those of the next one are neighbours too, in
    /// so many lanes.
    pub fn transpositions_between(&self, lanes: i64) -> Vec<[String; 2]> {
        let stored = |l: LoopId| self.outputs.iter().map(move |o| o.address.coeff(l));
        let mut length = 1;
        while length <= Others::INSIDE {
            let free = |l: &LoopId| self.free.contains(*l) && self.dag.extent(*l) > 1;
            let next = |l: &LoopId| free(l) && stored(*l).all(|c| c == length);
            let Some(along) = self.loops.iter().copied().find(next) else { break };
            if self.dag.extent(along) >= lanes {
                return if length == 1 { Vec::new() } else { self.across(along) };
            }
            length *= self.dag.extent(along);
        }
        Vec::new()
    }

    /// The loops along which some loads lie rather than along this one, each behind it.
    fn across(&self, along: LoopId) -> Vec<[String; 2]> {
        let free = self.loops.iter().copied().filter(|&l| self.free.contains(l) && self.dag.extent(l) > 1);
        let across = free.filter(|&l| l != along && !loads(self, along, l).is_empty());
        across.map(|l| [self.name(along), self.name(l)]).collect()
    }
}

/// The bytes of a line of a CPU's caches.
pub(crate) const LINE: i64 = 64;

/// Checks pieces of a transposition against an expression.
fn fit_pieces(
    expression: &Expression,
    ([along, across], others): ([LoopId; 2], &Others),
    [a, b]: [i64; 2],
    pieces: &Pieces,
) -> Result<(), Fault> {
    /// The most bytes in which the results of a group meet.
    const STAGE: i64 = 1 << 18;
    let dag = &expression.dag;
    if [a, b].iter().any(|side| !(2..=64).contains(side) || side.count_ones() != 1) {
        return Err(format!("a tile in registers has sides of 2, 4, … 64, not {a} by {b}").into());
    }
    let Pieces { tiles: [down, right], group, each, staged, .. } = *pieces;
    if down < 1 || group < 1 || right < 1 || right % group != 0 || right.max(down) > 1 << 32 {
        return Err(
            format!("a piece of {down} by {right} tiles does not consist of groups of {group}").into()
        );
    }
    let over = |n: i64, by: i64| (n + by - 1) / by;
    let outer = others.outer.iter().map(|&l| dag.extent(l));
    let near = others.near.iter().map(|&l| dag.extent(l) / others.in_tile(l));
    let all = outer.chain(near).try_fold(1, i64::checked_mul);
    let (columns, rows) = (over(dag.extent(along), a), over(others.rows(dag, across), b));
    let all = all.and_then(|n| n.checked_mul(over(rows, down))?.checked_mul(over(columns, right)));
    let all = all.ok_or("more pieces than numbers")?;
    if each < 1 || all % each != 0 {
        return Err(format!("{each} pieces of a task do not divide {all}").into());
    }
    if !staged {
        return Ok(());
    }
    let [output] = &expression.outputs[..] else {
        return Err(Fault::of("staged", "several results do not meet in memory"));
    };
    if !others.beside.is_empty() {
        return Err(Fault::of("staged", "rows of several loops do not meet in memory"));
    }
    let size = dag[output.root].dtype.size() as i64;
    let width = group.saturating_mul(a).saturating_mul(size);
    if output.address.coeff(along) != 1 || width % LINE != 0 || LINE % size != 0 {
        return Err(Fault::of("staged", "a group of results is no lines of a cache"));
    }
    if columns > right {
        return Err(Fault::of(
            "staged",
            format!("a row of {columns} tiles is more than the {right} of a piece"),
        ));
    }
    let bytes = down.saturating_mul(b).saturating_mul(width + LINE);
    match bytes > STAGE {
        true => Err(Fault::of("staged", format!("{bytes} bytes of results are more than {STAGE}"))),
        false => Ok(()),
    }
}

/// Checks a tile against an expression; an error says what does not fit.
pub(crate) fn fit(expression: &Expression, tile: &TransposeTile) -> Result<Transpose, Fault> {
    /// The most elements of a tile: two of eight bytes each are what a block has without asking for more.
    const MOST: i64 = 2048;
    let dag = &expression.dag;
    let id = |name: &String| {
        let l = expression.id(name).filter(|l| expression.loops.contains(l) && expression.free.contains(*l));
        let message = || format!("`{name}` is no loop over points whose iterations are independent");
        l.ok_or_else(|| Fault::of(name, message()))
    };
    let [along, across] = [id(&tile.loops[0])?, id(&tile.loops[1])?];
    if along == across {
        return Err("the two loops of a transposition differ".into());
    }
    if expression.loops.iter().any(|&l| !expression.free.contains(l))
        || expression.outputs.iter().any(|o| o.join.is_some())
    {
        return Err("points that meet are computed one after the other".into());
    }
    if expression.nodes().iter().any(|&n| matches!(dag[n].node, Node::Reduce { .. })) {
        return Err("a transposition has no reductions".into());
    }
    let [a, b] = tile.tile;
    match tile.by {
        Transposers::Warps(warps)
            if a < 1 || b < 1 || a.saturating_mul(b) > MOST || !(1..=WARP).contains(&warps) =>
        {
            return Err(format!("a tile has up to {MOST} elements, and a block 1 to {WARP} warps").into());
        }
        Transposers::Warps(_) => {}
        Transposers::Tasks(pieces) => {
            let loads = loads(expression, along, across);
            let others = Others::of(expression, [along, across], &loads, b);
            fit_pieces(expression, ([along, across], &others), [a, b], &pieces)?;
        }
    }
    let loads = loads(expression, along, across);
    if loads.is_empty() {
        return Err(Fault::of(
            &tile.loops[1],
            format!("nothing that is loaded lies along `{}`", tile.loops[1]),
        ));
    }
    let bytes: i64 = loads
        .iter()
        .map(|&n| dag[n].dtype.size())
        .map(|size| a.saturating_mul(tile.pitch(size)).saturating_mul(size as i64))
        .sum();
    if bytes > 48 * 1024 && matches!(tile.by, Transposers::Warps(_)) {
        return Err(format!("the tiles need {bytes} bytes of shared memory").into());
    }
    let rows = if matches!(tile.by, Transposers::Tasks(_)) { b } else { 1 };
    let others = Others::of(expression, [along, across], &loads, rows);
    Ok(Transpose { along, across, tile: tile.clone(), loads, others })
}
