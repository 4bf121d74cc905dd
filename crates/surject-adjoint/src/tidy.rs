//! The function that is left when what nothing uses is dropped.

use std::collections::{HashMap, HashSet};
use surject_ir::uses;
use surject_ir::{Block, FieldId, FieldKind, Function, Region, Statement, StatementKind, TypeError, Var};

/// The same function without statements, carried values, variables and fields that its results do not need.
///
/// The first `named` variables keep their names; the others are named anew, with the number that made a name unique left
/// out where it need not be.
pub(crate) fn tidy(f: &Function, named: usize) -> Result<Function, TypeError> {
    let mut live: HashSet<Var> = f.body.results.iter().copied().collect();
    // A size that a truncation declares may be used where its tensor is not.
    live.extend(f.truncations().map(|truncation| truncation.target));
    let statements = live_statements(f, &f.body.statements, &mut live);
    extract(f, named, &f.params, &statements, &f.body.results)
}

/// A function of these parameters, statements and results of another one, and of nothing else of it.
pub(crate) fn extract(
    f: &Function,
    named: usize,
    params: &[Var],
    statements: &[Statement],
    results: &[Var],
) -> Result<Function, TypeError> {
    let (to, vars, fields) = (Function::new(&f.name), HashMap::new(), HashMap::new());
    let mut rebuild = Rebuild { from: f, named, to, vars, fields };
    rebuild.to.params = rebuild.define(params);
    if params == f.params {
        rebuild.to.inherit(f);
    }
    let statements = rebuild.statements(statements)?;
    let results = rebuild.uses(results);
    rebuild.to.body = Block { statements, results };
    Ok(rebuild.to)
}

/// Regions nested deeper than this are kept as they are: looking into a loop looks several times into the loops
/// inside it.
const LOOK_INTO: usize = 5;

/// The statements of a block whose targets are live behind it. `live` becomes what is live before it.
pub(crate) fn live_statements(
    f: &Function,
    statements: &[Statement],
    live: &mut HashSet<Var>,
) -> Vec<Statement> {
    live_at(f, statements, live, 0)
}

fn live_at(f: &Function, statements: &[Statement], live: &mut HashSet<Var>, depth: usize) -> Vec<Statement> {
    let mut kept = Vec::new();
    for statement in statements.iter().rev() {
        if !statement.targets().iter().any(|t| live.contains(t)) {
            continue;
        }
        let statement =
            if depth < LOOK_INTO { narrowed(f, statement, live, depth + 1) } else { statement.clone() };
        statement.targets().iter().for_each(|t| {
            live.remove(t);
        });
        uses::statement(&f.fields, &statement, live);
        kept.push(statement);
    }
    kept.reverse();
    kept
}

/// A statement with what is dead inside left out: carried values of loops, results of branches, statements of
/// regions.
fn narrowed(f: &Function, statement: &Statement, live: &HashSet<Var>, depth: usize) -> Statement {
    let kind = match &statement.kind {
        StatementKind::While { targets, inits, cond, body } => {
            let kept = carried(f, targets, (cond, body), live, depth);
            let pick = |vars: &[Var]| kept.iter().map(|&k| vars[k]).collect::<Vec<_>>();
            let region = |r: &Region, results: Vec<Var>| {
                let mut inner = results.iter().copied().collect();
                let statements = live_at(f, &r.body.statements, &mut inner, depth);
                Region { params: pick(&r.params), body: Block { statements, results } }
            };
            StatementKind::While {
                targets: pick(targets),
                inits: pick(inits),
                cond: region(cond, cond.body.results.clone()),
                body: region(body, pick(&body.body.results)),
            }
        }
        StatementKind::If { targets, index, branches } => {
            let kept: Vec<usize> = (0..targets.len()).filter(|&k| live.contains(&targets[k])).collect();
            let pick = |vars: &[Var]| kept.iter().map(|&k| vars[k]).collect::<Vec<_>>();
            let branch = |r: &Region| {
                let results = pick(&r.body.results);
                let mut inner = results.iter().copied().collect();
                let statements = live_at(f, &r.body.statements, &mut inner, depth);
                Region { params: Vec::new(), body: Block { statements, results } }
            };
            let branches = branches.iter().map(branch).collect();
            StatementKind::If { targets: pick(targets), index: *index, branches }
        }
        other => other.clone(),
    };
    Statement { kind, origin: statement.origin.clone() }
}

/// The carried values of a loop that are used behind it, by its condition, or by the next of those.
fn carried(
    f: &Function,
    targets: &[Var],
    (cond, body): (&Region, &Region),
    live: &HashSet<Var>,
    depth: usize,
) -> Vec<usize> {
    let mut needed: HashSet<Var> = cond.body.results.iter().copied().collect();
    live_at(f, &cond.body.statements, &mut needed, depth);
    let mut kept: Vec<bool> =
        (0..targets.len()).map(|k| live.contains(&targets[k]) || needed.contains(&cond.params[k])).collect();
    loop {
        let results = (0..targets.len()).filter(|&k| kept[k]).map(|k| body.body.results[k]);
        let mut needed: HashSet<Var> = results.collect();
        live_at(f, &body.body.statements, &mut needed, depth);
        let next: Vec<bool> =
            (0..targets.len()).map(|k| kept[k] || needed.contains(&body.params[k])).collect();
        if next == kept {
            return (0..targets.len()).filter(|&k| kept[k]).collect();
        }
        kept = next;
    }
}

/// A name without the numbers at its end: `d_x_12_40` is `d_x`.
fn without_number(name: &str) -> &str {
    let mut name = name;
    while let Some((base, number)) = name.rsplit_once('_')
        && !base.is_empty()
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
    {
        name = base;
    }
    name
}

/// A function that is written down again, with variables and fields numbered anew.
struct Rebuild<'a> {
    from: &'a Function,
    /// This many variables keep their names.
    named: usize,
    to: Function,
    vars: HashMap<Var, Var>,
    fields: HashMap<FieldId, FieldId>,
}

impl Rebuild<'_> {
    fn define(&mut self, vars: &[Var]) -> Vec<Var> {
        let mut define = |&var: &Var| {
            let info = &self.from.vars[var.0 as usize];
            let name = if (var.0 as usize) < self.named { &info.name } else { without_number(&info.name) };
            let new = self.to.var(name, info.ty.clone());
            self.vars.insert(var, new);
            new
        };
        vars.iter().map(&mut define).collect()
    }

    fn uses(&self, vars: &[Var]) -> Vec<Var> {
        vars.iter().map(|v| self.vars.get(v).copied().unwrap_or(*v)).collect()
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<Vec<Statement>, TypeError> {
        let mut result = Vec::with_capacity(statements.len());
        for statement in statements {
            let kind = match &statement.kind {
                StatementKind::Store { target, field } => {
                    let field = self.field(*field)?;
                    StatementKind::Store { target: self.define(&[*target])[0], field }
                }
                StatementKind::Constant { target, value } => {
                    StatementKind::Constant { target: self.define(&[*target])[0], value: value.clone() }
                }
                StatementKind::Call { targets, op, args, regions } => {
                    let args = self.uses(args);
                    let regions = regions.iter().map(|r| self.region(r)).collect::<Result<_, _>>()?;
                    StatementKind::Call { targets: self.define(targets), op: op.clone(), args, regions }
                }
                StatementKind::While { targets, inits, cond, body } => {
                    let inits = self.uses(inits);
                    let (cond, body) = (self.region(cond)?, self.region(body)?);
                    StatementKind::While { targets: self.define(targets), inits, cond, body }
                }
                StatementKind::If { targets, index, branches } => {
                    let index = self.uses(&[*index])[0];
                    let branches = branches.iter().map(|r| self.region(r)).collect::<Result<_, _>>()?;
                    StatementKind::If { targets: self.define(targets), index, branches }
                }
            };
            result.push(Statement { kind, origin: statement.origin.clone() });
        }
        Ok(result)
    }

    fn region(&mut self, region: &Region) -> Result<Region, TypeError> {
        let params = self.define(&region.params);
        let statements = self.statements(&region.body.statements)?;
        Ok(Region { params, body: Block { statements, results: self.uses(&region.body.results) } })
    }

    fn field(&mut self, root: FieldId) -> Result<FieldId, TypeError> {
        for id in self.from.fields.reachable(&[root]) {
            if self.fields.contains_key(&id) {
                continue;
            }
            let new = self.node(id)?;
            self.fields.insert(id, new);
        }
        Ok(self.fields.get(&root).copied().unwrap_or(root))
    }

    fn node(&mut self, id: FieldId) -> Result<FieldId, TypeError> {
        let field = self.from.fields[id].clone();
        if let FieldKind::Tensor(var) = field.kind {
            let var = self.vars.get(&var).copied().unwrap_or(var);
            return Ok(self.to.tensor(var));
        }
        let known = &self.fields;
        self.to.fields.again(&field, |child| known.get(&child).copied().unwrap_or(child))
    }
}
