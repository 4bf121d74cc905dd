//! Accumulations in push form: what cannot be said of a position of the target is sent there from the product space.

use crate::CodegenError;
use crate::expression::address::{Lin, LoopId, LoopSet};
use crate::expression::build::Builder;
use crate::expression::compose::{box_loops, compose, linearise, sizes, stop_is_error};
use crate::expression::dag::{Buf, Dag, Node, NodeId};
use crate::expression::output::{Output, outputs};
use crate::expression::partial_sums;
use crate::expression::stop::Stop;
use crate::materialise::store::Outcome;
use crate::materialise::store::Stores;
use crate::normalise::merge;
use crate::normalise::pulled::Pulled;
use crate::planned::kernel::Kernel;
use crate::planned::rows;
use crate::schedule;
use std::collections::HashMap;
use surject_index::Space;
use surject_ir::{AccOp, DType, FieldId, FieldKind, Scalar, TensorType};

impl Stores<'_> {
    /// An accumulation in push form: the target is filled with the neutral element, then every point of the product
    /// space is joined to the element it is sent to.
    pub(crate) fn push(
        &mut self,
        to: Buf,
        field: FieldId,
        stored: &HashMap<FieldId, Buf>,
    ) -> Result<Outcome, CodegenError> {
        let data = &self.function.fields[field];
        let FieldKind::Acc { op, map, of } = &data.kind else {
            return Err(CodegenError::malformed("only an accumulation can be pushed"));
        };
        let (op, map, of) = (*op, map.clone(), *of);
        let (target_sizes, product_sizes) = (sizes(map.codomain())?, sizes(map.domain())?);
        let mut kernels = Vec::new();
        let empty = map.domain().is_empty();
        if op != AccOp::Set || empty {
            kernels.push(self.filled(to, &target_sizes, op.neutral(data.dtype))?);
        }
        if empty {
            return Ok(Outcome::Kernels(kernels));
        }
        let (dag, outer, position) = stop_is_error(box_loops(&product_sizes))?;
        let components = compose(&map, &position)?;
        let address = linearise(&target_sizes, &components)?;
        let bound = HashMap::new();
        let mut builder =
            Builder::new(self.function, stored, &bound, dag).inlining(&self.inlined).gathering(&self.gathers);
        let parts = match builder.value(of, position) {
            Ok(parts) => parts,
            Err(Stop::Spill(inner)) => return Ok(Outcome::First(inner)),
            // The body is stored on its own, where its loops can be split.
            Err(Stop::Split(..)) => return Ok(Outcome::First(of)),
            Err(Stop::Phase(_, inner)) => return Ok(Outcome::First(inner)),
            Err(Stop::Error(error)) => return Err(error),
        };
        let join = (op != AccOp::Set).then_some(op);
        let mut dag = builder.dag;
        let mut parts = parts;
        let mut outer = outer;
        // Summed before they are sent, where the target alone does not say what is sent to it: then a sum of
        // products has tiles, and what they give is sent from memory.
        let dtype = dag[parts.re].dtype;
        let summed = summed_before(&dag, op, dtype, &outer, &components);
        if let (Some(_), Some(summed), None) = (join, summed, parts.im) {
            parts.re = dag.add(Node::Reduce { op, loops: summed.clone(), body: parts.re, field }, dtype);
            outer.retain(|l| !summed.contains(l));
            if let Some((more, load)) = self.sent(&mut dag, parts.re, &outer)? {
                kernels.extend(more);
                parts.re = load;
            }
        }
        let outputs = stop_is_error(outputs(to, address, parts, join))?;
        let injective = op == AccOp::Set || map.injective().is_yes();
        let free: LoopSet =
            outer.iter().copied().filter(|&l| injective || separates(&dag, &components, l)).collect();
        let mut schedule = schedule::choose(&dag, &outputs, &outer, self.target);
        if let Ok(inner) = self.repeated(&dag, &outputs, &schedule, field) {
            return Ok(Outcome::First(inner));
        }
        // Loops that tasks may be cut along stand outside; a loop in lanes stays last.
        if schedule.lanes == 1 {
            schedule.order.sort_by_key(|&l| !free.contains(l));
        } else if let Some((_, rest)) = schedule.order.split_last_mut() {
            rest.sort_by_key(|&l| !free.contains(l));
        }
        kernels.push(rows::alone(dag, outputs, &schedule));
        Ok(Outcome::Kernels(kernels))
    }

    /// The kernel that fills a target of these sizes with a value.
    fn filled(&self, to: Buf, sizes: &[i64], value: Scalar) -> Result<Kernel, CodegenError> {
        let (mut dag, outer, position) = stop_is_error(box_loops(sizes))?;
        let address = linearise(sizes, &position)?;
        let parts = crate::expression::complex::constant(&mut dag, value);
        let outputs = stop_is_error(outputs(to, address, parts, None))?;
        let (dag, outputs, outer) = merge::merge(dag, outputs, &outer);
        let schedule = schedule::choose(&dag, &outputs, &outer, self.target);
        Ok(rows::alone(dag, outputs, &schedule))
    }

    /// The kernels that store a sum of products over some loops in a temporary, if it is a product, and its
    /// element there.
    fn sent(
        &mut self,
        dag: &mut Dag,
        root: NodeId,
        outer: &[LoopId],
    ) -> Result<Option<(Vec<Kernel>, NodeId)>, CodegenError> {
        let Node::Reduce { field, .. } = dag[root].node else { return Ok(None) };
        let dtype = dag[root].dtype;
        let sizes: Vec<i64> = outer.iter().map(|&l| dag.extent(l)).collect();
        let position: Vec<Lin> =
            outer.iter().map(|&l| if dag.extent(l) == 1 { Lin::default() } else { Lin::var(l) }).collect();
        let address = linearise(&sizes, &position)?;
        let to = self.next();
        let outputs = vec![Output { to, address: address.clone(), root, join: None }];
        let Ok(product) = self.product_of(dag, &outputs, outer, field) else { return Ok(None) };
        let count: i64 = sizes.iter().product();
        let part = Pulled { dag: dag.clone(), outer: outer.to_vec(), outputs };
        let kernels = self.undone_if_refused(|stores| {
            stores.temporary(TensorType::new(dtype, Space::of(&[count.unsigned_abs()])));
            stores.product_of_part(&part, &product)
        });
        let Ok(kernels) = kernels else { return Ok(None) };
        let kernels = kernels?;
        let load = dag.add(Node::Load { buf: to, address, guards: Vec::new() }, dtype);
        Ok(Some((kernels, load)))
    }
}

/// The loops along which terms all go to one element of the target, if they are to be summed before they are sent there.
fn summed_before(
    dag: &Dag,
    op: AccOp,
    dtype: DType,
    outer: &[LoopId],
    components: &[Lin],
) -> Option<Vec<LoopId>> {
    let fixed = |l: LoopId| components.iter().all(|c| c.coeff(l) == 0);
    let summed: Vec<LoopId> = outer.iter().copied().filter(|&l| dag.extent(l) > 1 && fixed(l)).collect();
    let windows = components.iter().any(|c| c.terms.len() > 1 || c.terms.iter().any(|t| t.1.abs() != 1));
    // An element of 16 bits would be rounded once for every term, and a long sum of floats has one accumulator.
    let terms: i64 = summed.iter().map(|&l| dag.extent(l)).product();
    let long = partial_sums::round(op, dtype) && terms > partial_sums::TERMS;
    let separate = windows || long || matches!(dtype, DType::BF16 | DType::F16);
    (separate && !summed.is_empty()).then_some(summed)
}

/// Do two points with different values of a loop never meet? Then some component alone tells the value.
fn separates(dag: &Dag, components: &[Lin], l: LoopId) -> bool {
    components.iter().any(|c| {
        let others = c.terms.iter().filter(|t| t.0 != l);
        let reach: i128 = others.map(|t| i128::from(t.1.abs()) * i128::from(dag.extent(t.0) - 1)).sum();
        i128::from(c.coeff(l).abs()) > reach
    })
}
