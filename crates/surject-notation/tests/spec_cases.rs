//! Cases of reading and printing by their ids: the crate's own, and those of a shared file where there is one.

use surject_notation::spec::{
    Affine, AxisKind, CaptureTarget, Coefficient, Component, Kind, Mode, Padding, RowSpec, Style,
};
use surject_notation::{ShapeSpec, Span, Spec};

/// The rows of a table of cases whose ids start with a prefix: id and the code spans of the input column.
fn table(text: &str, prefix: &str) -> Vec<(String, Vec<String>, String)> {
    let rows = text.lines().filter_map(|line| {
        let line = line.replace("\\|", "\u{1}");
        let mut cells = line.trim().trim_matches('|').split('|').map(|c| c.trim().replace('\u{1}', "|"));
        let (id, input, expected) = (cells.next()?, cells.next()?, cells.next()?);
        let spans = input.split('`').skip(1).step_by(2).map(str::to_string).collect();
        id.starts_with(prefix).then_some((id, spans, expected))
    });
    rows.collect()
}

fn own() -> String {
    include_str!("cases/notation.md").to_string()
}

/// The shared cases, where there are any.
fn shared() -> Option<String> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases/shape_cases.md");
    let path = std::env::var("SURJECT_SHAPE_CASES").unwrap_or_else(|_| default.to_string());
    std::fs::read_to_string(path).ok()
}

#[test]
fn own_cases_parse_print_and_fail_as_they_say() {
    let mut faults = Vec::new();
    for (id, inputs, expected) in table(&own(), "SP") {
        let Some(input) = inputs.first() else { panic!("{id} has no input") };
        let answer = match Spec::parse(input) {
            Ok(spec) => spec.to_string(),
            Err(error) => format!("{}@{}..{}", error.code(), error.span.start, error.span.end),
        };
        if format!("`{answer}`") != expected {
            faults.push(format!("{id}: {input}: {answer}, not {expected}"));
        }
    }
    for (id, inputs, expected) in table(&own(), "SH") {
        let answer = match ShapeSpec::parse(&inputs[0]) {
            Ok(shape) => shape.to_string(),
            Err(error) => format!("{}@{}..{}", error.code(), error.span.start, error.span.end),
        };
        if format!("`{answer}`") != expected {
            faults.push(format!("{id}: {}: {answer}, not {expected}", inputs[0]));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// PA01, PA03: modes. Every input of a row that says `single-char mode` or `multi-char mode`.
#[test]
fn pa01_pa03_modes() {
    let mut rows = table(&own(), "MO");
    rows.extend(shared().iter().flat_map(|text| table(text, "PA")));
    let mut seen = 0;
    for (id, inputs, expected) in &rows {
        let mode = match expected {
            e if e.contains("single-char mode") => Mode::SingleChar,
            e if e.contains("multi-char mode") => Mode::MultiChar,
            _ => continue,
        };
        for input in inputs {
            assert_eq!(Mode::of(input), mode, "{id}: {input}");
            seen += 1;
        }
    }
    assert!(seen >= 13, "{seen} inputs");
    let shape = ShapeSpec::parse("abc").unwrap();
    assert_eq!((shape.batch.is_empty(), shape.input.is_empty()), (true, true));
    assert_eq!(shape.output.trailing.len(), 3);
}

#[test]
fn pa05_operands_have_output_axes_only() {
    let spec = Spec::parse("ij;jk=>ik").unwrap();
    assert_eq!(spec.operands.len(), 2);
    for shape in spec.shapes() {
        assert_eq!((shape.input.axes().count(), shape.output.axes().count()), (0, 2));
    }
}

fn the_axis(row: &RowSpec) -> &Affine {
    match row.axes().map(|a| &a.kind).collect::<Vec<_>>()[..] {
        [AxisKind::Affine(affine)] => affine,
        ref other => panic!("not one affine axis: {other:?}"),
    }
}

#[test]
fn pa07_stride_and_dilation() {
    let spec = Spec::parse("2*o+3*k=>o,k").unwrap();
    let axis = the_axis(&spec.operands[0].output);
    let kernel = axis.kernels.first().unwrap();
    assert_eq!((&axis.stride, axis.over.name.as_str(), axis.offset), (&Coefficient::Number(2), "o", 0));
    assert_eq!((&kernel.dilation, kernel.label.name.as_str()), (&Coefficient::Number(3), "k"));
    assert_eq!(kernel.padding, Padding::Unspecified);
}

#[test]
fn pa09_a_stride_without_a_kernel() {
    let spec = Spec::parse("2*output => output").unwrap();
    let axis = the_axis(&spec.operands[0].output);
    assert_eq!((&axis.stride, axis.kernels.is_empty()), (&Coefficient::Number(2), true));
}

#[test]
fn pa11_an_affine_output_axis_and_a_trailing_comma() {
    let spec = Spec::parse("batch|input->3*output+1*kernel, => batch|input->output").unwrap();
    let shape = &spec.operands[0];
    assert_eq!([1, 1], [shape.batch.axes().count(), shape.input.axes().count()]);
    assert_eq!(the_axis(&shape.output).stride, Coefficient::Number(3));
}

#[test]
fn pa13_numbers_of_shapes_are_sizes() {
    let shape = ShapeSpec::parse("3, ..rho.., 7").unwrap();
    let size = |n| AxisKind::Size(n, Default::default());
    assert_eq!(shape.output.leading.iter().map(|a| a.kind.clone()).collect::<Vec<_>>(), [size(3)]);
    assert_eq!(shape.output.trailing.iter().map(|a| a.kind.clone()).collect::<Vec<_>>(), [size(7)]);
    assert_eq!(shape.output.variable.unwrap().name, "rho");
}

#[test]
fn pa15_a_name_is_a_dimension_or_a_row() {
    let message = "used as both a dimension variable and a row variable";
    for spec in ["..d.., d; d, e => ..d.., e", "..v.., v => v, ..v.."] {
        let error = Spec::parse(spec).unwrap_err();
        assert_eq!(error.code(), "SJ0508");
        assert!(error.message.contains(message), "{error}");
    }
    assert!(ShapeSpec::parse("..x.., x").unwrap_err().message.contains(message));
}

#[test]
fn pa17_arity() {
    let error = Spec::parse("ij;jk=>im").unwrap().with_arity("einsum", 3).unwrap_err();
    assert_eq!(error.message, "Invalid einsum spec (expected three arguments)");
    assert!(Spec::parse("ij;jk=>im").unwrap().with_arity("einsum", 2).is_ok());
}

#[test]
fn every_public_case_of_parsing_and_printing_has_its_test() {
    let tested = ["PA01", "PA03", "PA05", "PA07", "PA09", "PA11", "PA13", "PA15", "PA17", "PR01", "PR03"];
    if let Some(text) = shared() {
        for (id, ..) in table(&text, "PA").iter().chain(&table(&text, "PR")) {
            assert!(tested.contains(&id.as_str()), "{id} has no test");
        }
    }
}

#[test]
fn labels_have_sizes() {
    let declared = |text: &str| -> Vec<String> {
        let shape = ShapeSpec::parse(text).unwrap();
        shape.declared_sizes().into_iter().map(|(name, _)| name.to_string()).collect()
    };
    assert_eq!(declared("batch=b|n,64"), ["b", "n"]);
    assert_eq!(declared("b|n,64"), [""; 0]);
    assert_eq!(declared("time=t,time|s=3->t:rgb,_"), ["t"]);
    // An expression declares nothing: its names have to be sizes.
    assert_eq!(declared("time={2*n},m"), ["m"]);
    for text in ["batch=b|n,64", "a=3:rgb,b=n:time->c=1:*", "a={2*n + 1},a"] {
        assert_eq!(ShapeSpec::parse(text).unwrap().to_string(), text);
    }
    assert_eq!(ShapeSpec::parse("a=3:rgb,b=n").unwrap().print(Style::Bases), "rgb,default");
    assert_eq!(ShapeSpec::parse("a=n|b=2").unwrap().print(Style::NumberedSizes), "0:a=n|1:b=2");
    let refused = |text: &str| ShapeSpec::parse(text).unwrap_err().message;
    assert_eq!(refused("a=n,a=m"), "the label `a` has two sizes");
    assert_eq!(refused("a=0"), "a size is at least 1");
    assert_eq!(refused("a="), "a size is missing after `=`");
    assert_eq!(refused("a=_"), "a size is missing after `=`");
    assert_eq!(refused("a=2*n"), "the size of the label ends here");
    assert_eq!(refused("unit=3"), "`unit` is a size, and no label");
    assert_eq!(refused("a=+k"), "a shape has sizes and labels only");
}

#[test]
fn pr01_pr03_styles() {
    let shape = ShapeSpec::parse("1|784->10,5").unwrap();
    assert_eq!(shape.print(Style::Sizes), "1|784->10,5");
    assert_eq!(shape.print(Style::Bases), "default|default->default,default");
    let numbered = ShapeSpec::parse("2|3:rgb->1:*").unwrap();
    assert_eq!(numbered.print(Style::NumberedSizes), "0:2|2:3:rgb->1:1:*");
    assert_eq!(numbered.print(Style::Bases), "default|rgb->*");
}

#[test]
fn the_specs_of_every_shared_case_read_back() {
    let Some(text) = shared() else { return };
    let mut specs = 0;
    for (at, _) in text.match_indices("=>") {
        // The spec inside `E(…)`, `P(…)` or `M(…)` around this arrow.
        let open = ["E(", "P(", "M("].iter().filter_map(|o| text[..at].rfind(o)).max();
        let (Some(open), Some(close)) = (open, text[at..].find(')')) else { continue };
        let inside = text[open + 2..at + close].replace("\\|", "|");
        if inside.contains('\n') || inside.contains('`') || inside.contains(") ") {
            continue;
        }
        if inside.contains("used on operand") {
            continue;
        }
        let spec = Spec::parse(&inside).unwrap_or_else(|e| panic!("{}", e.render("case", &inside)));
        assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec, "{inside}");
        specs += 1;
    }
    assert!(specs >= 20, "{specs} specs");
}

#[test]
fn bl17_discardable_components() {
    let sets = [
        ("a^b=>a", "b"),
        ("a^b=>b", "a"),
        ("a^b=>a^b", ""),
        ("b^c=>a", ""),
        ("a;b=>a^b", ""),
        ("a;b=>a^c", ""),
        ("a^b^c=>b", "a c"),
    ];
    for (spec, expected) in sets {
        let found: Vec<String> = Spec::parse(spec).unwrap().discardable().into_iter().collect();
        assert_eq!(found.join(" "), expected, "{spec}");
    }
}

#[test]
fn captures_bind_dimensions_and_row_products() {
    let spec = Spec::parse("a, ..s..; ..s.., b => a, b").unwrap();
    let at = |name: &str| (name.to_string(), Span::default());
    let captures = spec.captures(&[at("b"), at("s")]).unwrap();
    assert_eq!(captures[0].target, CaptureTarget::Dimension);
    assert_eq!(captures[1].target, CaptureTarget::RowProduct);
    assert_eq!(spec.captures(&[at("t")]).unwrap_err().code(), "SJ0512");
    assert_eq!(spec.captures(&[at("b"), at("b")]).unwrap_err().code(), "SJ0519");
}

#[test]
fn ellipses_are_named_after_their_rows() {
    let spec = Spec::parse("...|...->... => ..batch..").unwrap();
    for (kind, row) in spec.operands[0].rows() {
        assert_eq!(row.variable.as_ref().unwrap().name, kind.name());
    }
    assert_eq!(spec.result.row(Kind::Output).variable.as_ref().unwrap().name, "batch");
}

#[test]
fn padding_comes_from_the_surroundings_or_is_an_error() {
    let mut spec = Spec::parse("s*o+k, 2*p=+k, 2*q<+k; k => o, p, q").unwrap();
    assert_eq!(spec.clone().resolve_padding(None).unwrap_err().code(), "SJ0513");
    spec.resolve_padding(Some(true)).unwrap();
    assert_eq!(spec.to_string(), "s*o=+k, 2*p=+k, 2*q<+k; k => o, p, q");
}

#[test]
fn components_are_labels_or_sizes() {
    let spec = Spec::parse("2^b^3 => b").unwrap();
    let AxisKind::Concat(parts) = &spec.operands[0].output.trailing[0].kind else { panic!() };
    assert!(matches!(parts[..], [Component::Size(2, _), Component::Label(_), Component::Size(3, _)]));
}
