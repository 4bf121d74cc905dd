//! The reverse of choices.

use crate::sweep::{Result, Sweep};
use std::collections::{BTreeSet, HashMap};
use surject_ir::uses;
use surject_ir::{FieldId, Region, Statement, StatementKind, Var};

impl Sweep {
    /// The reverse of a choice is a choice: each branch is run again with its reverse sweep behind, and yields the
    /// cotangents of what the branches read from around them.
    pub(crate) fn reverse_if(&mut self, statement: Statement) -> Result<Vec<Statement>> {
        let StatementKind::If { targets, index, branches } = &statement.kind else {
            return Ok(vec![statement]);
        };
        let seeds = self.take_all(targets)?;
        let mut captured: BTreeSet<Var> =
            branches.iter().flat_map(|b| uses::free(&self.f.fields, b)).collect();
        captured.retain(|&v| self.smooth(v));
        // What has arrived from behind waits outside.
        let waiting: Vec<(Var, Option<Vec<FieldId>>)> =
            captured.iter().map(|&v| (v, self.cotangents.remove(&v))).collect();
        let outer = std::mem::take(&mut self.out);
        let mut parts: Vec<(Vec<Statement>, Vec<Option<Var>>)> = Vec::new();
        for branch in branches {
            let copy = self.copy_block(&branch.body, &mut HashMap::new())?;
            for (&result, seed) in copy.results.iter().zip(&seeds) {
                if let Some(seed) = seed {
                    self.contribute(result, *seed);
                }
            }
            let mut statements = self.replayed(copy)?;
            self.at(&statement);
            let mut yields = Vec::new();
            for &v in &captured {
                let name = self.cotangent_name(v);
                let field = self.take(v)?;
                yields.push(field.map(|field| self.stored(&name, field)));
            }
            statements.append(&mut self.out);
            parts.push((statements, yields));
        }
        let reached: Vec<(usize, Var)> = captured
            .iter()
            .copied()
            .enumerate()
            .filter(|&(i, _)| parts.iter().any(|(_, yields)| yields[i].is_some()))
            .collect();
        let mut regions = Vec::new();
        for (mut statements, yields) in parts {
            let mut results = Vec::new();
            for &(i, v) in &reached {
                let name = self.cotangent_name(v);
                results.push(yields[i].unwrap_or_else(|| self.zeros_like(&name, v)));
            }
            statements.append(&mut self.out);
            regions.push(Region { params: Vec::new(), body: surject_ir::Block { statements, results } });
        }
        self.out = outer;
        for (v, terms) in waiting {
            if let Some(terms) = terms {
                self.cotangents.insert(v, terms);
            }
        }
        if !reached.is_empty() {
            let mut cotangents = Vec::new();
            for &(_, v) in &reached {
                let (name, ty) = (self.cotangent_name(v), self.f.ty(v).clone());
                cotangents.push(self.var(&name, ty));
            }
            self.emit(StatementKind::If { targets: cotangents.clone(), index: *index, branches: regions });
            for (&(_, v), cotangent) in reached.iter().zip(cotangents) {
                let term = self.f.tensor(cotangent);
                self.contribute(v, term);
            }
        }
        Ok(vec![statement])
    }
}
