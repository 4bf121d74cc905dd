//! `surject infer`: shapes, constraints with their origins, product spaces and index maps of a tensor program.

use crate::Failure;
use crate::tensor_source::{failure, notation_failure, outputs_last, parse};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use surject_notation::source::{Expr, ExprKind, Item, ItemKind, Name, Source};
use surject_notation::{ShapeSpec, Span, Spec};
use surject_tensor::{LowerOptions, Session, Site, TensorError, Value as Sort, report};

/// The name of messages about a text of the command line.
const HERE: &str = "-e";

/// Arguments of `surject infer`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program.
    #[arg(value_name = "FILE.sj", required_unless_present = "text", conflicts_with = "text")]
    file: Option<PathBuf>,
    /// A program; an expression, whose unknown names are inputs of unknown shape (`-e 'a * b'`); or a spec with the
    /// operands a, b, … (`-e 'ij;jk=>ik' --shape a=3,4 --shape b=4,5`).
    #[arg(short = 'e', value_name = "TEXT", allow_hyphen_values = true)]
    text: Option<String>,
    /// The shape of an input that the text of `-e` does not declare.
    #[arg(long = "shape", value_name = "NAME=SHAPE", requires = "text")]
    shapes: Vec<String>,
    /// Print the report as JSON.
    #[arg(long)]
    json: bool,
    /// Write the expression graph in the DOT language.
    #[arg(long, value_name = "OUT.dot")]
    dot: Option<PathBuf>,
}

/// Runs the subcommand.
pub fn execute(arguments: &Arguments, out: &mut dyn Write) -> Result<(), Failure> {
    let (mut session, source, last) = match (&arguments.file, &arguments.text) {
        (Some(path), _) => {
            let file = crate::Source::load(path)?;
            let source = parse(&file.name, file.text()?)?;
            (Session::new(&file.name, file.text()?), source, None)
        }
        (None, text) => {
            let text = text.as_deref().unwrap_or_default();
            let text = spec_as_expression(text)?;
            let source = parse_lenient(&text)?;
            let mut session = Session::new(HERE, &text);
            open(&mut session, &source, &arguments.shapes, &text)?;
            let (source, last) = with_result(source);
            (session, source, last)
        }
    };
    let inferred = session.run(&source).and_then(|()| {
        if let Some(Sort::Tensor(tensor)) = last.and_then(|name| session.value(&name)) {
            session.graph().output(&tensor);
        }
        let report = report(session.graph())?;
        // What cannot be run is no program, whatever its shapes are.
        surject_tensor::lower(session.graph(), &LowerOptions::default())?;
        Ok(report)
    });
    if let Some(path) = &arguments.dot {
        std::fs::write(path, session.graph().dot())
            .map_err(|e| Failure::bad_input(format!("{}: {e}", path.display())))?;
    }
    match inferred {
        Ok(report) if arguments.json => {
            let mut value = report.to_json();
            value["status"] = json!("inferred");
            print(out, &format!("{value:#}\n"))
        }
        Ok(report) => print(out, &report.to_string()),
        Err(error) => {
            if arguments.json {
                print(out, &format!("{:#}\n", error_json(&error)))?;
            }
            Err(failure(&session, &error))
        }
    }
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), Failure> {
    crate::cli::print(out, format_args!("{text}"))
}

/// `{"status": "error", "error": {code, message, place, labels, help}}`.
fn error_json(error: &TensorError) -> Value {
    use surject_tensor::TensorErrorKind as Kind;
    let (message, labels, own_help) = match &error.kind {
        Kind::Notation(e) => (e.message.clone(), Vec::new(), e.help.clone()),
        Kind::Shape(e) => {
            let labels = e.labels.iter().map(|o| o.to_string()).collect();
            (e.message.clone(), labels, Some(e.help().to_string()))
        }
        Kind::Projection(e) => (e.to_string(), Vec::new(), None),
        _ => (error.message.clone(), Vec::new(), None),
    };
    let place = error.place.as_ref().map(|p| json!({ "file": &*p.file, "line": p.line, "column": p.column }));
    json!({
        "status": "error",
        "error": {
            "code": error.code(),
            "message": message,
            "place": place,
            "labels": labels,
            "help": error.help.clone().or(own_help),
        },
    })
}

/// A text whose last `;` may be missing.
fn parse_lenient(text: &str) -> Result<Source, Failure> {
    let open = match Source::parse(text) {
        Ok(source) => return Ok(outputs_last(source)),
        Err(error) => error,
    };
    let end = text.trim_end().len();
    Source::parse(&format!("{text};")).map(outputs_last).map_err(|closed| {
        // Only where nothing but the `;` is missing, the text with it has the mistake that counts.
        let closed_is_better = open.span.start >= end && closed.span.start < end;
        notation_failure(if closed_is_better { &closed } else { &open }, HERE, text)
    })
}

/// A bare spec becomes the product, or the concatenation, of operands `a`, `b`, ….
fn spec_as_expression(text: &str) -> Result<String, Failure> {
    if !text.contains("=>") || text.contains('"') {
        return Ok(text.to_string());
    }
    let spec = Spec::parse(text).map_err(|e| notation_failure(&e, HERE, text))?;
    let names: Vec<String> =
        (0..spec.operands.len()).map(|k| char::from(b'a' + (k % 26) as u8).to_string()).collect();
    if !spec.further.is_empty() {
        let results: Vec<String> = (1..=spec.results().count()).map(|k| format!("result{k}")).collect();
        let results = results.join(", ");
        return Ok(format!("let [{results}] = [{}] ++^ \"{text}\"; output {results};", names.join(", ")));
    }
    if text.contains('^') {
        return Ok(format!("[{}] ++^ \"{text}\"", names.join(", ")));
    }
    match names.as_slice() {
        [a] => Ok(format!("{a} ++ \"{text}\"")),
        [a, b] => Ok(format!("{a} +* {b} \"{text}\"")),
        [a, b, c] => Ok(format!("einsum3({a}, {b}, {c}, \"{text}\")")),
        _ => Err(Failure::bad_input(format!(
            "{HERE}: a bare spec has one to three operands, this one has {}\n  = help: write the expression: \
             `(a +* b \"…\") +* c \"…\"`",
            names.len()
        ))),
    }
}

/// Makes inputs of the names of a text that nothing introduces. A text with `input`s of its own has all its inputs.
fn open(session: &mut Session, source: &Source, shapes: &[String], text: &str) -> Result<(), Failure> {
    let declares = |item: &Item| matches!(item.kind, ItemKind::Input { .. });
    let called =
        |name: &Name| text.get(name.span.end..).is_some_and(|rest| rest.trim_start().starts_with('('));
    let mut free = source.free_names();
    if source.items.iter().any(declares) {
        free.clear();
    }
    let named = |shape: &String| shape.split_once('=').map(|(name, _)| name.trim().to_string());
    let given: Vec<String> = shapes.iter().filter_map(named).collect();
    free.retain(|name| given.contains(&name.text) || !(called(name) || in_library(&name.text)));
    let mut known = BTreeMap::new();
    let mut unnamed = free.iter().filter(|name| !given.contains(&name.text));
    for word in shapes {
        let (name, shape) = match (word.split_once('='), unnamed.next()) {
            (Some((name, shape)), _) => (name.trim().to_string(), shape),
            // Without a name: the inputs in the order of their first use.
            (None, Some(name)) => (name.text.clone(), word.as_str()),
            (None, None) => {
                return Err(Failure::bad_input(format!(
                    "--shape {word}: there is no input left for this shape"
                )));
            }
        };
        let what = format!("--shape {name}");
        let spec = ShapeSpec::parse(shape).map_err(|e| notation_failure(&e, &what, shape))?;
        if !free.iter().any(|n| n.text == name) {
            return Err(Failure::bad_input(format!(
                "{what}: the text has no free name `{name}`\n  = help: an input that the text declares has its shape \
                 there: `input {name}: \"{shape}\";`"
            )));
        }
        if known.insert(name.clone(), spec).is_some() {
            return Err(Failure::bad_input(format!("{what}: `{name}` has a shape already")));
        }
    }
    for name in &free {
        let (line, column) = name.span.position(text);
        let place = surject_shape::Place { file: HERE.into(), line: line as u32, column: column as u32 };
        let site = Site { place: Some(place), ..Site::named(&name.text) };
        let tensor = session
            .graph()
            .input(&name.text, known.get(&name.text), site)
            .map_err(|error| failure(session, &error))?;
        session.bind(&name.text, tensor);
    }
    Ok(())
}

/// Whether a name has a meaning everywhere.
fn in_library(name: &str) -> bool {
    let Ok(source) = Source::parse(&format!("{name};")) else { return false };
    matches!(source.items.as_slice(), [Item { kind: ItemKind::Expr(expr), .. }]
        if Session::new("", name).eval(expr).is_ok())
}

/// The name of the value that a text without declared results ends with; an expression is named `result`.
fn with_result(mut source: Source) -> (Source, Option<String>) {
    let declared = source.items.iter().any(|item| matches!(item.kind, ItemKind::Output(_)));
    let name = match source.items.last_mut() {
        Some(item) if !declared => match &item.kind {
            ItemKind::Let { name, .. } => Some(name.text.clone()),
            ItemKind::Expr(Expr { kind: ExprKind::Name(name), .. }) => Some(name.clone()),
            ItemKind::Expr(value) if !matches!(value.kind, ExprKind::Part(..)) => {
                let name = Name { text: "result".to_string(), span: Span::at(value.span.start) };
                item.kind = ItemKind::Let { name, value: value.clone() };
                Some("result".to_string())
            }
            _ => None,
        },
        _ => None,
    };
    (source, name)
}
