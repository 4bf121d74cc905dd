//! What is prefetched of a tensor while its elements are loaded.

use crate::expression::address::LoopId;
use crate::expression::dag::{Buf, Node};
use crate::kernels::expression::Expression;
use crate::kernels::fault::Fault;
use std::fmt;
use surject_kernel::Wanted;

/// The most elements ahead.
const MOST: i64 = 1 << 30;

/// The elements that lie so far behind those that are loaded of a tensor are prefetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// The name of the tensor.
    pub tensor: String,
    /// How many elements; negative: before them. Along a loop: how many iterations.
    pub by: i64,
    /// The loop along which indices choose the lines that are prefetched.
    pub along: Option<String>,
    /// The loop of the reduction whose terms are loaded; `None`: what is loaded outside of reductions.
    pub within: Option<String>,
    /// Is the second cache near enough?
    pub soon: bool,
}

impl fmt::Display for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ahead { tensor, by, along, within, soon } = self;
        write!(f, "prefetch {tensor}")?;
        along.iter().try_for_each(|name| write!(f, " along {name}"))?;
        write!(f, " by {by}")?;
        within.iter().try_for_each(|name| write!(f, " in {name}"))?;
        if *soon { write!(f, " soon") } else { Ok(()) }
    }
}

impl Ahead {
    /// What stands behind `prefetch`.
    pub(super) fn read(words: &[&str]) -> Result<Ahead, Fault> {
        let (words, soon) = match words {
            [words @ .., "soon"] => (words, true),
            words => (words, false),
        };
        let (tensor, along, by, within) = match words {
            [tensor, "by", by] => (tensor, None, by, None),
            [tensor, "along", name, "by", by] => (tensor, Some(name.to_string()), by, None),
            [tensor, "by", by, "in", name] => (tensor, None, by, Some(name.to_string())),
            _ => {
                let message = "write `prefetch v0 by 2048` or `prefetch v0 along i0 by 8`, and `in k0` or `soon` behind it";
                return Err(message.into());
            }
        };
        match by.parse() {
            Ok(by) if (-MOST..=MOST).contains(&by) && by != 0 => {
                Ok(Ahead { tensor: tensor.to_string(), by, along, within, soon })
            }
            _ => Err(Fault::of(by, format!("`{by}` is no number of elements up to {MOST} but 0"))),
        }
    }
}

/// The same, in an expression.
#[derive(Clone, Debug)]
pub(crate) struct Prefetched {
    pub(crate) buf: Buf,
    pub(crate) by: i64,
    /// The loop along which lines are chosen.
    pub(crate) along: Option<LoopId>,
    /// The loop of the reduction.
    pub(crate) within: Option<LoopId>,
    pub(crate) wanted: Wanted,
}

/// What a directive says of an expression.
pub(super) fn prefetched(expression: &Expression, ahead: &Ahead) -> Result<Prefetched, Fault> {
    let called = |buf: &Buf| expression.memory.get(buf).is_some_and(|m| m.0.to_string() == ahead.tensor);
    let loaded = expression.nodes().into_iter().find_map(|n| match &expression.dag[n].node {
        Node::Load { buf, .. } if ahead.along.is_none() => Some(*buf).filter(called),
        Node::Gather { buf, .. } if ahead.along.is_some() => Some(*buf).filter(called),
        _ => None,
    });
    let how = if ahead.along.is_some() { "chosen by indices" } else { "loaded" };
    let nothing = || Fault::of(&ahead.tensor, format!("nothing of `{}` is {how}", ahead.tensor));
    let buf = loaded.ok_or_else(nothing)?;
    let within = ahead.within.as_ref().map(|name| {
        let of = |message: String| Fault::of(name, message);
        let l = expression.called(name).map_err(of)?;
        match expression.loops.contains(&l) {
            true => Err(of(format!("`{name}` is no loop of a reduction"))),
            false => Ok(l),
        }
    });
    let along = ahead.along.as_ref().map(|name| expression.called(name).map_err(|m| Fault::of(name, m)));
    let wanted = if ahead.soon { Wanted::Soon } else { Wanted::Read };
    Ok(Prefetched { buf, by: ahead.by, along: along.transpose()?, within: within.transpose()?, wanted })
}
