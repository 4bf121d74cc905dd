//! `chlo.scan` as a loop: each turn takes a slice of every input, and puts one into every output.

use super::{Expander, Numbers, Result, Rewrite};
use crate::attr::Attribute;
use crate::dense::DenseElements;
use crate::module::{Module, Op, Region, ValueId};
use crate::types::{Dim, ElementType, TensorType, Type};

pub(super) struct Scan;

impl Rewrite for Scan {
    fn meets(&self, module: &Module) -> bool {
        super::holds(module, "chlo.scan")
    }

    fn element(&self, _: &ElementType) -> Option<ElementType> {
        None
    }

    fn entry(&self, _: &mut Expander<'_>, _: ValueId) -> Result<Option<ValueId>> {
        Ok(None)
    }

    fn op(&self, ex: &mut Expander<'_>, op: &Op) -> Result<()> {
        if op.name == "chlo.scan" { scan(ex, op) } else { ex.keep(op) }
    }
}

fn sizes(ex: &Expander<'_>, ty: &TensorType) -> Result<Vec<i64>> {
    ty.static_shape().ok_or_else(|| ex.refused(format!("the dynamic shape of {ty}")))
}

fn scan(ex: &mut Expander<'_>, op: &Op) -> Result<()> {
    let counts = op.segments("operandSegmentSizes").filter(|(a, b)| a + b == op.operands.len());
    let outputs = op.segments("resultSegmentSizes").map_or(0, |(outputs, _)| outputs);
    let (Some((inputs, _)), [body]) = (counts, op.regions.as_slice()) else {
        return Err(ex.refused("operands that are not counted"));
    };
    let attribute = |e: crate::diagnostic::Diagnostic, ex: &Expander<'_>| ex.refused(e.message);
    let dim = op.int("dimension").map_err(|e| attribute(e, ex))?;
    let dim = usize::try_from(dim).map_err(|_| ex.refused(format!("dimension {dim}")))?;
    let reverse = op.flag("is_reverse").map_err(|e| attribute(e, ex))?;
    let scanned: Vec<ValueId> = op.operands[..inputs].iter().map(|v| ex.now(*v)).collect();
    let size = match scanned.first() {
        Some(x) => {
            let ty = ex.tensor(*x)?;
            *sizes(ex, &ty)?.get(dim).ok_or_else(|| ex.refused(format!("dimension {dim} of {ty}")))?
        }
        None => op.int("scan_dim_size").map_err(|e| attribute(e, ex))?,
    };
    // What the loop carries: the turn, the outputs, what the scan carries.
    let turn = ex.constant(&ElementType::I64, Numbers::Ints(&[0]), false)?;
    let mut carried = vec![turn];
    for result in &op.results[..outputs] {
        let ty = ex.tensor(*result)?;
        sizes(ex, &ty)?;
        let zero = vec![0; ty.element.bytes().unwrap_or(1)];
        let dense = DenseElements::splat(ty.clone(), &zero)
            .ok_or_else(|| ex.refused(format!("an output of type {ty}")))?;
        carried.push(ex.emit("stablehlo.constant", &[], ty, vec![("value", Attribute::Dense(dense))])?);
    }
    carried.extend(op.operands[inputs..].iter().map(|v| ex.now(*v)));
    let types: Vec<Type> = carried.iter().map(|v| ex.new.ty(*v).clone()).collect();
    let fresh = |ex: &mut Expander<'_>| -> Vec<(ValueId, Type)> {
        types.iter().map(|ty| (ex.new.new_value(ty.clone(), ""), ty.clone())).collect()
    };

    let around = std::mem::take(&mut ex.out);
    let params = fresh(ex);
    let end = ex.constant(&ElementType::I64, Numbers::Ints(&[size]), false)?;
    let goes_on = ex.compared(params[0].0, "LT", end)?;
    give_back(ex, vec![goes_on]);
    let condition = Region { params, ops: std::mem::take(&mut ex.out) };

    let params = fresh(ex);
    let turn = params[0].0;
    let at = match reverse {
        true => {
            let last = ex.constant(&ElementType::I64, Numbers::Ints(&[size - 1]), false)?;
            ex.same("stablehlo.subtract", &[last, turn])?
        }
        false => turn,
    };
    let zero = ex.constant(&ElementType::I64, Numbers::Ints(&[0]), false)?;
    let mut row = Vec::new();
    for x in &scanned {
        let ty = ex.tensor(*x)?;
        let mut shape = sizes(ex, &ty)?;
        if dim >= shape.len() {
            return Err(ex.refused(format!("dimension {dim} of {ty}")));
        }
        shape[dim] = 1;
        let operands: Vec<ValueId> =
            std::iter::once(*x).chain((0..shape.len()).map(|d| if d == dim { at } else { zero })).collect();
        let slice = TensorType::new(&shape, ty.element.clone());
        let sizes = vec![("slice_sizes", Attribute::I64s(shape.clone()))];
        let part = ex.emit("stablehlo.dynamic_slice", &operands, slice, sizes)?;
        shape.remove(dim);
        row.push(ex.emit("stablehlo.reshape", &[part], TensorType::new(&shape, ty.element), Vec::new())?);
    }
    row.extend(params[1 + outputs..].iter().map(|p| p.0));
    if row.len() != body.params.len() {
        return Err(ex.refused(format!(
            "{} values for a body of {} parameters",
            row.len(),
            body.params.len()
        )));
    }
    for ((param, _), value) in body.params.iter().zip(row) {
        ex.values.insert(*param, value);
    }
    let Some((last, ops)) = body.ops.split_last().filter(|(last, _)| last.operands.len() + 1 == types.len())
    else {
        return Err(ex.refused("a body that gives back another number of values"));
    };
    for inner in ops {
        ex.at(inner);
        ex.rewrite.op(ex, inner)?;
    }
    ex.at(op);
    let results: Vec<ValueId> = last.operands.iter().map(|v| ex.now(*v)).collect();
    let one = ex.constant(&ElementType::I64, Numbers::Ints(&[1]), false)?;
    let mut next = vec![ex.same("stablehlo.add", &[turn, one])?];
    for (value, (out, _)) in results[..outputs].iter().zip(&params[1..]) {
        let ty = ex.tensor(*out)?;
        let mut part = ex.tensor(*value)?;
        part.shape.insert(dim.min(part.shape.len()), Dim::Static(1));
        let part = ex.emit("stablehlo.reshape", &[*value], part, Vec::new())?;
        let mut operands = vec![*out, part];
        operands.extend((0..ty.rank()).map(|d| if d == dim { at } else { zero }));
        next.push(ex.emit("stablehlo.dynamic_update_slice", &operands, ty, Vec::new())?);
    }
    next.extend(&results[outputs..]);
    give_back(ex, next);
    let body = Region { params, ops: std::mem::replace(&mut ex.out, around) };

    let mut new = Op { span: op.span, location: op.location.clone(), ..Op::new("stablehlo.while") };
    let turns = ex.new.new_value(types[0].clone(), "");
    new.operands = carried.into();
    new.results = std::iter::once(turns).chain(op.results.iter().copied()).collect();
    new.regions = vec![condition, body];
    ex.out.push(new);
    Ok(())
}

fn give_back(ex: &mut Expander<'_>, operands: Vec<ValueId>) {
    ex.out.push(Op {
        operands: operands.into(),
        span: ex.span,
        location: ex.location.clone(),
        ..Op::new("stablehlo.return")
    });
}
