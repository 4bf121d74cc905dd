//! Sorts: the permutation is sorted along, and the cotangents go back along it.

use crate::sweep::{Result, Sweep};
use surject_ir::{
    Block, DType, FieldId, LibOp, Region, ScatterDims, Statement, StatementKind, TensorType, Var,
};

impl Sweep {
    /// The forward sort also carries the positions along its axis; the cotangent of each operand is scattered to
    /// where the elements came from. Gives the sort with the positions.
    pub(crate) fn reverse_sort(
        &mut self,
        statement: &Statement,
        axis: usize,
        cotangents: &[Option<FieldId>],
    ) -> Result<Vec<Statement>> {
        let StatementKind::Call { targets, op, args, regions } = &statement.kind else {
            return Ok(vec![statement.clone()]);
        };
        let space = self.f.ty(args[0]).space.clone();
        let rank = space.rank();
        let index = self.f.fields.index(&space, axis, DType::I32);
        let index = self.typed(index)?;
        let outer = std::mem::take(&mut self.out);
        let positions = self.stored("positions", index);
        let permutation = self.var("permutation", self.f.ty(positions).clone());
        let scalar = TensorType::scalar(DType::I32);
        let mut region: Region = regions[0].clone();
        region.params.push(self.var("p", scalar.clone()));
        region.params.push(self.var("q", scalar));
        let with = |vars: &[Var], last: Var| vars.iter().copied().chain([last]).collect::<Vec<_>>();
        self.emit(StatementKind::Call {
            targets: with(targets, permutation),
            op: op.clone(),
            args: with(args, positions),
            regions: vec![Region { params: region.params, body: Block::clone(&region.body) }],
        });
        let forward = std::mem::replace(&mut self.out, outer);
        let others: Vec<usize> = (0..rank).filter(|&a| a != axis).collect();
        let scatter = LibOp::Scatter {
            dims: ScatterDims {
                update_window_dims: Vec::new(),
                inserted_window_dims: vec![axis],
                input_batching_dims: others.clone(),
                scatter_indices_batching_dims: others,
                scatter_dims_to_operand_dims: vec![axis],
                index_vector_dim: rank,
            },
            indices_are_sorted: false,
            unique_indices: true,
        };
        for (&arg, cotangent) in args.iter().zip(cotangents) {
            if let Some(c) = cotangent
                && self.smooth(arg)
            {
                self.scatter_add(arg, scatter.clone(), permutation, *c)?;
            }
        }
        Ok(forward)
    }
}
