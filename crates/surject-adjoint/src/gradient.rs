//! The entry point: from a program to the program of its derivative.

use crate::activity::Activity;
use crate::options::{Mode, Options};
use crate::sweep::{Result, Sweep};
use crate::{AdjointError, tidy};
use std::collections::{HashMap, HashSet};
use surject_ir::{DType, Function, Program, Scalar, Var};

/// The program of the derivative of a function: it has one function, of the same name and parameters, that yields the
/// results (unless [`Options::primals`] is off) and then the gradients of the chosen parameters, in their order. With
/// [`Mode::Vjp`] the cotangents of the floating and complex results are further parameters.
///
/// The result verifies. What cannot be differentiated is an error that names the operation and its place.
pub fn gradient(program: &Program, function: &str, options: &Options) -> Result<Program> {
    let Some(original) = program.function(function) else {
        let known = program.functions.iter().map(|f| f.name.clone()).collect();
        return Err(AdjointError::NoFunction { name: function.to_string(), known });
    };
    surject_ir::verify::function(original)?;
    let wanted = parameters(original, options)?;
    let mut f = original.clone();
    let results = original.body.results.clone();
    let mut seeds: Vec<(Var, Seed)> = Vec::new();
    match options.mode {
        Mode::Gradient(choice) => seeds.push((scalar_result(original, choice)?, Seed::One)),
        Mode::Vjp => {
            for &result in results.iter().filter(|&&r| is_number(original.ty(r).dtype)) {
                let name = format!("d_{}", original.name_of(result));
                let param = f.var(&name, original.ty(result).clone());
                f.params.push(param);
                seeds.push((result, Seed::Parameter(param)));
            }
            if seeds.is_empty() {
                return Err(selection(format!("no result of `{function}` has floating or complex elements")));
            }
        }
    }
    let named = f.vars.len();
    let statements = std::mem::take(&mut f.body.statements);
    let mut activity_of = f.clone();
    activity_of.body.statements = statements.clone();
    let activity = Activity::new(&activity_of, &wanted);
    let mut sweep = Sweep::new(f, original.size_guarantees(), activity, options);
    for (result, seed) in seeds {
        let ty = sweep.f.ty(result).clone();
        let field = match seed {
            Seed::One => sweep.f.fields.constant(&ty.space, Scalar::one(ty.dtype)),
            Seed::Parameter(param) => sweep.f.tensor(param),
        };
        sweep.contribute(result, field);
    }
    let (mut body, reverse) = sweep.block(statements)?;
    body.extend(reverse);
    let mut yields = if options.primals { results } else { Vec::new() };
    for &param in &wanted {
        let name = sweep.cotangent_name(param);
        let var = match sweep.take(param)? {
            Some(field) => sweep.stored(&name, field),
            None => sweep.zeros_like(&name, param),
        };
        yields.push(var);
    }
    body.append(&mut sweep.out);
    let mut f = sweep.f;
    f.body = surject_ir::Block { statements: body, results: yields };
    let mut f = tidy::tidy(&f, named).map_err(|e| AdjointError::Unsupported {
        op: "function".to_string(),
        detail: e.to_string(),
        variable: String::new(),
        origin: None,
    })?;
    name_gradients(&mut f, original, &wanted);
    surject_ir::verify::function(&f)?;
    Ok(Program { name: program.name.clone(), functions: vec![f] })
}

/// Gives the gradients of parameters the plain names: a variable that has one already exchanges names with them.
fn name_gradients(f: &mut Function, original: &Function, wanted: &[Var]) {
    let by_name: HashMap<String, usize> =
        f.vars.iter().enumerate().map(|(i, v)| (v.name.clone(), i)).collect();
    let first = f.body.results.len() - wanted.len();
    let mut renamed = HashSet::new();
    for (k, &param) in wanted.iter().enumerate() {
        let name = format!("d_{}", original.name_of(param));
        let result = f.body.results[first + k].0 as usize;
        // A cotangent that is a parameter keeps its name, and so does one that stands for two parameters.
        let taken = by_name.get(&name).copied();
        let fixed = |i: usize| i < f.params.len();
        if fixed(result)
            || taken.is_some_and(|t| fixed(t) || f.vars[t].name != name)
            || !renamed.insert(result)
        {
            continue;
        }
        let own = std::mem::replace(&mut f.vars[result].name, name);
        if let Some(taken) = taken.filter(|&t| t != result) {
            f.vars[taken].name = own;
        }
    }
}

/// Where the cotangent of a result comes from.
enum Seed {
    One,
    Parameter(Var),
}

fn is_number(dtype: DType) -> bool {
    dtype.is_float() || dtype.is_complex()
}

fn selection(detail: String) -> AdjointError {
    AdjointError::Selection { detail }
}

/// The parameters whose gradients are asked for.
fn parameters(f: &Function, options: &Options) -> Result<Vec<Var>> {
    let differentiable = |p: Var| is_number(f.ty(p).dtype);
    let Some(positions) = &options.parameters else {
        let all: Vec<Var> = f.params.iter().copied().filter(|&p| differentiable(p)).collect();
        if all.is_empty() {
            return Err(selection(format!("no parameter of `{}` has floating or complex elements", f.name)));
        }
        return Ok(all);
    };
    let mut seen = HashSet::new();
    let mut wanted = Vec::new();
    for &position in positions {
        let Some(&param) = f.params.get(position) else {
            let count = f.params.len();
            return Err(selection(format!(
                "`{}` has {count} parameters, there is no number {position}",
                f.name
            )));
        };
        if !differentiable(param) {
            let (name, ty) = (f.name_of(param), f.ty(param));
            return Err(selection(format!(
                "the parameter {position} (`{name}`: {ty}) is not floating or complex"
            )));
        }
        if !seen.insert(position) {
            return Err(selection(format!("the parameter {position} is asked for twice")));
        }
        wanted.push(param);
    }
    if wanted.is_empty() {
        return Err(selection("no parameter is asked for".to_string()));
    }
    Ok(wanted)
}

/// The result that is differentiated: the one asked for, else the only floating scalar.
fn scalar_result(f: &Function, choice: Option<usize>) -> Result<Var> {
    let scalar = |r: Var| f.ty(r).dtype.is_float() && f.ty(r).space.rank() == 0;
    let listing = || {
        let all = f.body.results.iter().enumerate();
        all.map(|(i, &r)| format!("{i}: {}", f.ty(r))).collect::<Vec<_>>().join(", ")
    };
    if let Some(position) = choice {
        return match f.body.results.get(position) {
            Some(&result) if scalar(result) => Ok(result),
            Some(&result) => Err(selection(format!(
                "the result {position} is {}, and only a floating scalar has a gradient",
                f.ty(result)
            ))),
            None => Err(selection(format!("`{}` has no result {position} (there is {})", f.name, listing()))),
        };
    }
    let scalars: Vec<Var> = f.body.results.iter().copied().filter(|&r| scalar(r)).collect();
    match scalars.as_slice() {
        [only] => Ok(*only),
        found => Err(selection(format!(
            "`{}` has {} floating scalar results ({}): say which one, or ask for the product with cotangents",
            f.name,
            found.len(),
            listing()
        ))),
    }
}
