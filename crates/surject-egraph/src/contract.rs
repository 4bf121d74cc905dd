//! The contract of passes (seed 002, "Compiler Pass Contract"): in builds with debug assertions, so in tests, what a function
//! says of sizes after each pass of the optimiser is compared with what was known before it. Functions of constant sizes
//! have nothing to be asked.

use crate::EgraphError;
use surject_ir::bind::is_symbolic;
use surject_ir::{Function, Program, SizeContract};

/// What was known of the sizes of a function before a pass; nothing where there is nothing to check.
pub(crate) struct Contract(Option<SizeContract>);

impl Contract {
    /// What is known of the sizes of a function before a pass.
    pub(crate) fn before(function: &Function) -> Result<Contract, EgraphError> {
        if !cfg!(debug_assertions) || !is_symbolic(function) {
            return Ok(Contract(None));
        }
        let known = SizeContract::of(function).map_err(|e| EgraphError::Invalid(e.to_string()))?;
        Ok(Contract(Some(known)))
    }

    /// Checks what a pass made of the function.
    pub(crate) fn after(&self, pass: &'static str, function: &Function) -> Result<(), EgraphError> {
        let found = self.0.as_ref().and_then(|known| known.violations(function).into_iter().next());
        match found {
            None => Ok(()),
            Some(violation) => Err(EgraphError::Contract {
                pass,
                function: function.name.clone(),
                violation: Box::new(violation),
            }),
        }
    }
}

/// Runs a pass over a function under the contract.
pub(crate) fn checked<T>(
    pass: &'static str,
    function: &mut Function,
    run: impl FnOnce(&mut Function) -> Result<T, EgraphError>,
) -> Result<T, EgraphError> {
    let contract = Contract::before(function)?;
    let result = run(function)?;
    contract.after(pass, function)?;
    Ok(result)
}

/// Runs a pass that makes a new program, or none where it changes nothing, under the contract.
pub(crate) fn checked_program(
    pass: &'static str,
    program: &Program,
    run: impl FnOnce(&Program) -> Option<Program>,
) -> Result<Option<Program>, EgraphError> {
    let Some(after) = run(program) else { return Ok(None) };
    for (before, after) in program.functions.iter().zip(&after.functions) {
        Contract::before(before)?.after(pass, after)?;
    }
    Ok(Some(after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use surject_index::{Extent, Space};
    use surject_ir::{TensorType, Var, Violation, parse};

    const TEXT: &str = "\
func main(x: f32[n,3], s: f32[]) -> (y) where n >= 2 {
  t : f32[] =: s * 2.0f32
  v : f32[u,3] = call dynamic_truncate{axis=0, semantics=truncate_size, size=\"u\"}(x, t)
  y : f32[u,3] =: over i<u, j<3: v[i,j] * 2.0f32
}
";

    fn function() -> Function {
        parse(TEXT).expect("a program").functions.remove(0)
    }

    fn named(f: &Function, name: &str) -> usize {
        f.vars.iter().position(|v| v.name == name).expect("a variable")
    }

    /// What the contract says of a pass that changes a function in a way.
    fn of(pass: impl FnOnce(&mut Function)) -> Result<(), EgraphError> {
        checked("the pass under test", &mut function(), |f| {
            pass(f);
            Ok(())
        })
    }

    /// R17, R46: passes that take a bound for a size, a size for a number or a guard away are caught, and named.
    #[test]
    fn a_pass_that_strengthens_is_named() {
        let resize = |extent: Extent| {
            move |f: &mut Function| {
                let y = named(f, "y");
                let dtype = f.ty(Var(y as u32)).dtype;
                f.vars[y].ty = TensorType::new(dtype, Space::new([extent, Extent::Const(3)]));
            }
        };
        // The bound of the truncated axis, a number, and a size of which only the bound is the same.
        for wrong in [Extent::symbol("n"), Extent::Const(4), Extent::symbol("k")] {
            let error = of(resize(wrong.clone())).expect_err("a strengthening");
            let EgraphError::Contract { pass, function, violation } = &error else { panic!("{error}") };
            assert_eq!((*pass, function.as_str()), ("the pass under test", "main"));
            assert!(matches!(**violation, Violation::Strengthening(_)), "{wrong}: {violation}");
            assert!(error.to_string().starts_with("the pass `the pass under test` broke the contract"));
        }
        let error = of(|f| f.guards.clear()).expect_err("a guard is gone");
        assert!(
            matches!(&error, EgraphError::Contract { violation, .. } if matches!(**violation, Violation::LostGuard(_)))
        );
        // Who truncates bounds the size: without it nothing does.
        let error = of(|f| f.body.statements.clear()).expect_err("a bound is gone");
        assert!(error.to_string().contains("axis 0 of `"), "{error}");
        let error = of(|f| f.vars[1].ty = f.vars[0].ty.clone()).expect_err("another rank");
        assert!(error.to_string().contains("the rank of `s` changed"), "{error}");
    }

    /// A pass may forget what it does not need, and may leave things alone.
    #[test]
    fn a_pass_that_keeps_or_weakens_is_not_held_up() {
        of(|_| {}).expect("nothing changed");
        of(|f| drop(f.body.statements.pop())).expect("statements may go");
        let weaker = |program: &Program| {
            let mut program = program.clone();
            let f = &mut program.functions[0];
            f.vars[0].name = "another".to_string();
            Some(program)
        };
        let program = Program { name: String::new(), functions: vec![function()] };
        checked_program("renaming", &program, weaker).expect("no statement about a value that both have");
    }
}
