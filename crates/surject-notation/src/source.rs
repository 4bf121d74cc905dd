//! Programs of tensors and assignments: the text of `.sj` files, and of the macros that take the same grammar.
//!
//! # The grammar
//!
//! ```text
//! source     := item*
//! item       := "input" NAME [":" "\"" shape "\"" ["where" fact ("," fact)*]] ";"      a tensor given from outside
//!             | "index" NAME "<" NUMBER ";"                  a static index and its range
//!             | "size" NAME ("," NAME)* ";"                  symbolic sizes, which every call gives values
//!             | "where" fact ("," fact)* ";"                 facts about them: n >= 4, n % 2 == 0
//!             | "let" NAME "=" expr ";"
//!             | "let" "[" names "]" "=" expr "++^" spec ";"  the results of a cut: let [p, q] = x ++^ "a^b => a; b";
//!             | "fn" NAME [config] ["()"] [tensors] body     config, tensors := "(" parameter ("," parameter)* ")"
//!             | "op" NAME "(" names ")" ["~logic:" logic] "{" assignment* "}" ["grad" "{" assignment* "}"]
//!             | "output" NAME ("," NAME)* ";"
//!             | assignment ";" | expr ";"
//! parameter  := NAME ["=" expr]                              a default, for configuration
//! body       := "=" expr ";" | "{" item* [expr] "}"
//!
//! assignment := target "=" [":"] [accumulator] rhs ["~logic:" logic]
//! target     := (NAME ["." part] | inline) ["@|" NAME]      with `@|` a slice of it, the rest stays as it is
//! accumulator := "+" "-" "*" "/" "**" "%" "@^" (max) "^^" (min) "||" "&&" "?/" (relu_gate) "?^" (satur01_gate)
//! logic      := "\".\"" | "\"@\"" | "\"T\"" | spec-or-name
//!
//! expr, loosest first:
//!   |x, y| expr                                              a function of tensors
//!   a || b                a && b
//!   a < b   a == b   a != b                                  do not chain
//!   a + b   a - b   and the operators with a spec:
//!     a +* b "spec"       multiply and add                   a +++ b "spec"      add and add
//!     a @^+ b "spec"      add and take the maximum (tropical)
//!     a ++ "spec"         add up, or permute                 a @^^ "spec"        take the maximum
//!     [a, b] ++^ "spec"   concatenate, or cut
//!   a * b (compose)   a *. b (pointwise)   a / b   a /. b   a % b
//!   a @| i                                                   the slice of the leftmost batch axis
//!   -a   !.n (number)   !..n (whole number)   !@i (index)    a host value or a static index as a tensor
//!   a **. n                                                  a power; n is a number
//!   f(a, key: b)   a.part                                    part := grad value merge forward backprop zero_grads
//!   atom       := NUMBER [":" BASIS] | NAME | STRING | literal [":" BASIS] | inline | "(" expr ")"
//!   literal    := "[" expr,* "]" (output) | "(" expr, expr,* ")" or "(" expr, ")" (input) | "[|" expr,* "|]" (batch)
//!   sizes      := "[" expr,* "]" | expr                      the sizes of a row
//!   inline     := "{" NAME ["=" expr] (("," | ";") ("i" | "o" | "b") "=" sizes)* "}"
//!   spec-or-name := "\"" spec "\"" ["[" "\"" NAME "\"",* "]"] | NAME
//! ```
//!
//! Comments are `// …` and `/* … */`. Strings have no escapes. Between the parts of a literal `;` reads like `,`.
//! Every token of the grammar is a sequence of Rust tokens, so that macros can carry the text.
//!
//! # What it says
//!
//! * **Sizes.** `size n;` declares a symbolic size; in the shape of an input, `"n,64"`, its name is that size, and `{2*n}` an
//!   expression over such sizes. Two more declare sizes: the shape of an input that gives a label a size, `"batch=b|n,64"`
//!   ([`ShapeSpec::declared_sizes`](crate::ShapeSpec::declared_sizes)), and a fact, which makes sizes of the labels of inputs
//!   that it names. Any other label is inferred: `input x: "b|n,64" where n >= 4;` has the size `n`, and what `b` is, its uses
//!   say. A call gives sizes values, by the axes of its inputs. `where n >= 4;`, on its own or behind the shape of an input,
//!   states a fact, which inference uses and every call checks. As a value, `n` is a size, such as in `{ w; o = [n] }` and
//!   `!.n`.
//! * **`*` is composition**: the inputs of the left operand meet the outputs of the right one. `*.` is pointwise.
//!   At the outermost place of an assignment, `*`, `/` and `**` are the arithmetic primitives; outside of an `op`
//!   nothing says how their operands meet, so `~logic` must.
//! * **An accumulation** `v =:+ …` starts from the neutral element, `v =+ …` from what `v` holds. `=:` alone writes.
//! * **Logic.** `"."` is pointwise, `"@"` composes the first two operands: inputs of the first meet outputs of the
//!   second. A third operand of `fma` meets the result as in a pointwise operation. An assignment means what its loops
//!   do: `v =:+ fma(a, b, c) ~logic:"@"` adds `c` at every point, as often as there are positions that are contracted;
//!   `v =:+ a * b ~logic:"@"; v =+ c;` adds it once.
//! * **Slots.** Inside `op`, the names `v t g lhs` stand for the result, `v1 t1 g1 rhs1` for the first operand, and
//!   so on to three; prefixes `lhs_ rhs1_` and suffixes `_lhs _rhs1` give other names a slot. A slot says by which
//!   index map of the operation a tensor is addressed ([`Slot::of_name`]).
//! * **Inline definitions** `{ w }` are parameters in expressions, and new tensors as the target of an assignment.
//!   In a function they are made when `()` is applied: `let layer = dense(16)();` makes one set, however often
//!   `layer` is used. In a function without `()` they belong to its definition.
//! * **Literals** nest in memory order: batch outside, then output, then input. If the first leaf is a number, the
//!   literal is a constant and all its rows must agree; otherwise it is a block of tensors.
//! * **A string with `=>`** is a spec wherever it stands; other strings are text for the callee.

mod assign;
mod ast;
mod expr;
mod free;
mod items;
mod literal;
mod primitive;
mod print;
mod scan;
mod sizes;

pub use ast::{
    Accumulator, Argument, Assignment, BinaryOp, Body, Define, Expr, ExprKind, Function, Item, ItemKind,
    Logic, Name, Number, Operation, Parameter, Part, Slot, Source, SpecArgument, SpecOp, UnaryOp,
};
pub use primitive::{PRIMITIVES, Primitive};
pub use sizes::implied_sizes;

/// How deep brackets, operators and functions may nest in the text; a bracket around an operator counts three.
pub const MAX_NESTING: usize = 192;

/// How deep a tree may be; chains of operators are trees too.
pub const MAX_DEPTH: u32 = 500;
