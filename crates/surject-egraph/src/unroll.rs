//! Short loops of assignments as straight code.
//!
//! A loop whose condition and body only assign, point by point, and which runs a few times by constants of the program,
//! is written out: then its iterations can be one kernel, what is carried need not be stored, and what its counters
//! and tables of integers decide is known. Integers and truths of few elements are computed here, exactly; floats never.

use crate::import::free_vars;
use crate::live::{nested, tensors};
use std::collections::HashMap;
use std::sync::Arc;
use surject_ir::{
    AccOp, Block, Buffer, FieldId, FieldKind, Function, Program, Region, Statement, StatementKind, Var,
    interp,
};

/// The most iterations that are written out.
const TRIPS: usize = 16;
/// The most fields that they may have together.
const FIELDS: usize = 4000;
/// Tensors of more elements are not computed here.
const ELEMENTS: u64 = 16;

/// The program with its short loops written out; `None` where there are none.
pub fn unroll(program: &Program) -> Option<Program> {
    let mut changed = false;
    let functions = program
        .functions
        .iter()
        .map(|function| {
            if !has_short_loops(function, &function.body) {
                return function.clone();
            }
            let mut unroller = Unroller { f: function.clone(), known: HashMap::new(), changed: false };
            let body = unroller.block(&function.body);
            if !unroller.changed {
                return function.clone();
            }
            changed = true;
            unroller.f.body = body;
            unroller.f
        })
        .collect();
    changed.then(|| Program { name: program.name.clone(), functions })
}

/// Is there a loop that could be written out, by its statements?
fn has_short_loops(function: &Function, block: &Block) -> bool {
    block.statements.iter().any(|statement| {
        let own = match &statement.kind {
            StatementKind::While { cond, body, .. } => assigns(function, cond) && assigns(function, body),
            _ => false,
        };
        own || statement.regions().iter().any(|r| has_short_loops(function, &r.body))
    })
}

/// Does a region only assign, point by point?
fn assigns(function: &Function, region: &Region) -> bool {
    region.body.statements.iter().all(|statement| match &statement.kind {
        StatementKind::Store { field, .. } => {
            function.fields.reachable(&[*field]).iter().all(
                |&id| !matches!(&function.fields[id].kind, FieldKind::Acc { op, .. } if *op != AccOp::Set),
            )
        }
        StatementKind::Constant { .. } => true,
        _ => false,
    })
}

type Known = HashMap<Var, Arc<Buffer>>;

struct Unroller {
    f: Function,
    /// The values of small integer tensors.
    known: Known,
    changed: bool,
}

impl Unroller {
    fn block(&mut self, block: &Block) -> Block {
        let mut statements = Vec::with_capacity(block.statements.len());
        for statement in &block.statements {
            let mut statement = statement.clone();
            for inner in nested(&mut statement) {
                *inner = self.block(inner);
            }
            match self.straight(&statement) {
                Some(straight) => {
                    self.changed = true;
                    statements.extend(straight);
                }
                None => {
                    if let Some((target, value)) = self.evaluate(&statement, &self.known) {
                        self.known.insert(target, value);
                    }
                    statements.push(statement);
                }
            }
        }
        Block { statements, results: block.results.clone() }
    }

    /// The value of what a statement defines, where it is known.
    fn evaluate(&self, statement: &Statement, known: &Known) -> Option<(Var, Arc<Buffer>)> {
        let exact = |var: Var| {
            let ty = self.f.ty(var);
            (ty.dtype.is_int() || ty.dtype.is_bool()) && ty.space.points().is_some_and(|n| n <= ELEMENTS)
        };
        match &statement.kind {
            StatementKind::Constant { target, value } => exact(*target).then(|| (*target, value.clone())),
            StatementKind::Store { target, field } => {
                let fields = &self.f.fields;
                let computable = |id: &FieldId| {
                    let field = &fields[*id];
                    (field.dtype.is_int() || field.dtype.is_bool())
                        && !matches!(field.kind, FieldKind::Acc { .. })
                };
                let at_hand = exact(*target)
                    && fields.reachable(&[*field]).iter().all(computable)
                    && tensors(&self.f, *field).iter().all(|v| known.contains_key(v));
                let value = at_hand.then(|| interp::field(&self.f, *field, known).ok()).flatten()?;
                Some((*target, Arc::new(value)))
            }
            _ => None,
        }
    }

    /// How often a loop runs, if that is known and not too often.
    fn trips(&self, inits: &[Var], cond: &Region, body: &Region) -> Option<usize> {
        let mut carried: Vec<Option<Arc<Buffer>>> =
            inits.iter().map(|v| self.known.get(v).cloned()).collect();
        // Only what the loop uses: a program has many loops, and knows many tables.
        let mut outside = Vec::new();
        free_vars(&self.f, cond, &mut outside);
        free_vars(&self.f, body, &mut outside);
        let outside: Known =
            outside.into_iter().filter_map(|v| Some((v, self.known.get(&v)?.clone()))).collect();
        let run = |region: &Region, carried: &[Option<Arc<Buffer>>]| -> Vec<Option<Arc<Buffer>>> {
            let mut known = outside.clone();
            let values = region.params.iter().zip(carried);
            known.extend(values.filter_map(|(&param, value)| Some((param, value.clone()?))));
            for statement in &region.body.statements {
                if let Some((target, value)) = self.evaluate(statement, &known) {
                    known.insert(target, value);
                }
            }
            region.body.results.iter().map(|v| known.get(v).cloned()).collect()
        };
        for trips in 0..=TRIPS {
            let holds = run(cond, &carried).first()?.clone()?;
            if holds.get(0).as_i128()? == 0 {
                return Some(trips);
            }
            carried = run(body, &carried);
        }
        None
    }

    /// The statements of a loop that is written out.
    fn straight(&mut self, statement: &Statement) -> Option<Vec<Statement>> {
        let StatementKind::While { targets, inits, cond, body } = &statement.kind else { return None };
        if !assigns(&self.f, cond) || !assigns(&self.f, body) {
            return None;
        }
        let stored = |s: &Statement| match s.kind {
            StatementKind::Store { field, .. } => Some(field),
            _ => None,
        };
        let roots: Vec<FieldId> = body.body.statements.iter().filter_map(stored).collect();
        let size = self.f.fields.reachable(&roots).len();
        let trips = self.trips(inits, cond, body)?;
        if trips * size > FIELDS {
            return None;
        }
        let mut out = Vec::new();
        let mut carried = inits.clone();
        for _ in 0..trips {
            let mut names: HashMap<Var, Var> = body.params.iter().copied().zip(carried).collect();
            for statement in &body.body.statements {
                let old = *statement.targets().first()?;
                let (name, ty) = (self.f.name_of(old).to_string(), self.f.ty(old).clone());
                let target = self.f.var(&name, ty);
                let kind = match &statement.kind {
                    StatementKind::Store { field, .. } => {
                        StatementKind::Store { target, field: self.renamed(*field, &names)? }
                    }
                    StatementKind::Constant { value, .. } => {
                        StatementKind::Constant { target, value: value.clone() }
                    }
                    _ => return None,
                };
                names.insert(old, target);
                let new = Statement { kind, origin: statement.origin.clone() };
                self.push(new, &mut out);
            }
            carried = body.body.results.iter().map(|v| names.get(v).copied().unwrap_or(*v)).collect();
        }
        for (&target, value) in targets.iter().zip(carried) {
            let field = self.f.tensor(value);
            let kind = StatementKind::Store { target, field };
            self.push(Statement { kind, origin: statement.origin.clone() }, &mut out);
        }
        Some(out)
    }

    /// Adds a statement, as a constant where its value is known.
    fn push(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        if let Some((target, value)) = self.evaluate(&statement, &self.known) {
            let splat = (0..value.len()).all(|i| value.get(i) == value.get(0));
            statement.kind = if splat && !value.is_empty() {
                let space = self.f.ty(target).space.clone();
                StatementKind::Store { target, field: self.f.fields.constant(&space, value.get(0)) }
            } else {
                StatementKind::Constant { target, value: value.clone() }
            };
            self.known.insert(target, value);
        }
        out.push(statement);
    }

    /// A field with other variables.
    fn renamed(&mut self, root: FieldId, names: &HashMap<Var, Var>) -> Option<FieldId> {
        let mut new: HashMap<FieldId, FieldId> = HashMap::new();
        for id in self.f.fields.reachable(&[root]) {
            let field = self.f.fields[id].clone();
            let built = match &field.kind {
                FieldKind::Tensor(var) if names.contains_key(var) => self.f.tensor(names[var]),
                _ => self.f.fields.again(&field, |x| new.get(&x).copied().unwrap_or(x)).ok()?,
            };
            new.insert(id, built);
        }
        new.get(&root).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_ir::{DType, Scalar};

    const ROUNDS: &str = "func main(x: u32[3], k: u32[]) -> (a, n) {
  t : u32[2] = constant [13, 15]
  s : u32[2] = constant [17, 29]
  zero : i32[] =: 0i32
  a : u32[3], n : i32[], b : u32[2], c : u32[2] = while (x, zero, t, s) {
    cond(p: u32[3], i: i32[], q: u32[2], r: u32[2]) -> (less) {
      less : i1[] =: i < 3i32
    }
    body(p1: u32[3], m: i32[], q1: u32[2], r1: u32[2]) -> (next, more, r1, q1) {
      by : u32[] =: q1[1]
      left : u32[3] =: over j<3: shl(p1[j], by[])
      right : u32[3] =: over j<3: shr_logical(p1[j], 32u32 - by[])
      next : u32[3] =: over j<3: or(left[j], right[j]) + k[]
      more : i32[] =: m + 1i32
    }
  }
}
";

    fn agree(text: &str, args: &[Buffer]) -> Option<String> {
        let program = surject_ir::parse(text).unwrap();
        surject_ir::verify(&program).unwrap();
        let straight = unroll(&program)?;
        surject_ir::verify(&straight).unwrap();
        let (a, b) =
            (interp::run(&program, "main", args).unwrap(), interp::run(&straight, "main", args).unwrap());
        assert_eq!(a, b);
        Some(surject_ir::print(&straight))
    }

    fn words() -> [Buffer; 2] {
        let of = |v: &[i128]| v.iter().map(|&v| Scalar::from_i128(DType::U32, v)).collect::<Vec<_>>();
        [
            Buffer::from_scalars(DType::U32, &[3], &of(&[1, 77, 4_000_000_000])).unwrap(),
            Buffer::from_scalars(DType::U32, &[], &of(&[5])).unwrap(),
        ]
    }

    #[test]
    fn tables_that_change_places_are_known() {
        insta::assert_snapshot!(agree(ROUNDS, &words()).unwrap());
    }

    #[test]
    fn a_loop_that_depends_on_an_argument_stays() {
        let text = ROUNDS.replace("i < 3i32", "convert u32(i) < k[]").replace("convert u32(i)", "u32(i)");
        assert!(agree(&text, &words()).is_none());
    }

    #[test]
    fn a_long_loop_stays_and_one_that_never_runs_goes() {
        assert!(agree(&ROUNDS.replace("i < 3i32", "i < 17i32"), &words()).is_none());
        let text = agree(&ROUNDS.replace("i < 3i32", "i < 0i32"), &words()).unwrap();
        assert!(!text.contains("while"), "{text}");
    }
}
