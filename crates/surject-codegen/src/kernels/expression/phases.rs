//! Fields whose positions are taken apart by remainders: one expression for each choice of them ([`polyphase`]).

use super::Maker;
use crate::CodegenError;
use crate::expression::address::{Lin, LoopId};
use crate::expression::build::Builder;
use crate::expression::compose::{box_loops, linearise, sizes};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::{Output, outputs};
use crate::expression::polyphase::{self, Shape};
use crate::expression::stop::Stop;
use std::collections::HashMap;
use surject_index::Space;
use surject_ir::{DType, FieldId, TensorType};

/// What is stored at some points.
pub(super) struct Points {
    pub(super) dag: Dag,
    pub(super) loops: Vec<LoopId>,
    pub(super) outputs: Vec<Output>,
}

impl Maker<'_> {
    /// A field over the points that have some remainders, in a shape. `None`: there are none.
    pub(super) fn at_points(
        &self,
        to: Buf,
        field: FieldId,
        done: &HashMap<FieldId, Buf>,
        (shape, remainders): (&Shape, &[i64]),
    ) -> Result<Option<Points>, Stop> {
        let sizes = sizes(&self.function.fields[field].space)?;
        let (mut dag, mut loops, mut position) = box_loops(&sizes)?;
        let taken = polyphase::apply(shape, remainders, &mut dag, &mut loops, &mut position);
        taken.ok_or(Stop::Spill(field))?;
        if loops.iter().any(|&l| dag.extent(l) == 0) {
            return Ok(None);
        }
        let address = linearise(&sizes, &position)?;
        let bound = HashMap::new();
        let mut builder = Builder::new(self.function, done, &bound, dag).taking_apart(shape);
        let parts = builder.value(field, position)?;
        let dag = builder.dag;
        Ok(Some(Points { dag, loops, outputs: outputs(to, address, parts, None)? }))
    }

    /// A field as an expression for each choice of remainders of its positions. What such an expression sums for many
    /// positions alike is stored first.
    pub(super) fn phases(
        &mut self,
        to: Buf,
        field: FieldId,
        done: &HashMap<FieldId, Buf>,
        shape: &Shape,
    ) -> Result<(), Stop> {
        let mut all = Vec::new();
        for remainders in shape.phases() {
            match self.at_points(to, field, done, (shape, &remainders)) {
                Ok(points) => all.extend(points),
                Err(Stop::Error(error)) => return Err(Stop::Error(error)),
                Err(_) => return Err(Stop::Spill(shape.instead.unwrap_or(field))),
            }
        }
        for mut points in all {
            for number in 0..points.outputs.len() {
                for node in polyphase::fixed(&points.dag, points.outputs[number].root, &points.loops) {
                    self.store_first(&mut points, node)?;
                }
            }
            let free = points.loops.iter().copied().collect();
            self.add(points.dag, points.loops, points.outputs, free)?;
        }
        Ok(())
    }

    /// Stores a value of an expression over the loops that it depends on, by an expression of its own before it.
    fn store_first(&mut self, points: &mut Points, node: NodeId) -> Result<(), Stop> {
        let dag = &mut points.dag;
        let (own, dtype): (Vec<LoopId>, DType) = (dag[node].deps.loops().collect(), dag[node].dtype);
        let extents: Vec<i64> = own.iter().map(|&l| dag.extent(l)).collect();
        let position: Vec<Lin> = own.iter().map(|&l| Lin::var(l)).collect();
        let address = linearise(&extents, &position)?;
        let count: i64 = extents.iter().product();
        let buf = self.temporary(TensorType::new(dtype, Space::of(&[count.unsigned_abs()])));
        let stored = Output { to: buf, address: address.clone(), root: node, join: None };
        let free = own.iter().copied().collect();
        self.add(dag.clone(), own, vec![stored], free)?;
        let load = dag.add(Node::Load { buf, address, guards: Vec::new() }, dtype);
        for output in &mut points.outputs {
            let root = dag.replaced(output.root, node, load);
            output.root = root.ok_or_else(|| CodegenError::overflow("an address"))?;
        }
        Ok(())
    }
}
