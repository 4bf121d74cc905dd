//! Specs and shapes print and read back; no text makes the parser fall over.

use proptest::prelude::*;
use surject_notation::spec::{
    Affine, Axis, AxisKind, Basis, Coefficient, Component, Kernel, Label, Mode, Padding, RowName, RowSpec,
};
use surject_notation::{ShapeSpec, Span, Spec};

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-dA-D]", "[a-d][a-z0-9_]{1,3}", Just("ß".to_string())]
}

fn label() -> impl Strategy<Value = Label> {
    name().prop_map(|name| Label { name, span: Span::default() })
}

fn coefficient() -> impl Strategy<Value = Coefficient> {
    prop_oneof![(1..9u64).prop_map(Coefficient::Number), name().prop_map(Coefficient::Name)]
}

fn affine() -> impl Strategy<Value = Affine> {
    let padding = prop_oneof![Just(Padding::Padded), Just(Padding::Valid), Just(Padding::Unspecified)];
    let kernels =
        (padding, prop::collection::vec((coefficient(), label()), 0..4)).prop_map(|(padding, all)| {
            all.into_iter().map(|(dilation, label)| Kernel { dilation, label, padding }).collect()
        });
    (coefficient(), label(), 0..9u64, kernels).prop_map(|(stride, over, offset, kernels)| {
        let offset = match stride {
            Coefficient::Number(n) => offset % n,
            Coefficient::Name(_) => offset,
        };
        Affine { stride, over, offset, kernels }
    })
}

fn axis(affine_too: bool) -> impl Strategy<Value = Axis> {
    let component = prop_oneof![
        3 => label().prop_map(Component::Label),
        1 => (1..20u64).prop_map(|n| Component::Size(n, Span::default())),
    ];
    let weight = u32::from(affine_too);
    let kind = prop_oneof![
        8 => name().prop_map(AxisKind::Label),
        1 => Just(AxisKind::Placeholder),
        2 => (0..30u64).prop_map(AxisKind::Index),
        weight => affine().prop_map(AxisKind::Affine),
        weight => prop::collection::vec(component, 2..4).prop_map(AxisKind::Concat),
    ];
    kind.prop_map(|kind| Axis { kind, span: Span::default() })
}

fn single() -> impl Strategy<Value = Axis> {
    let kind = prop_oneof![
        4 => "[a-dß]".prop_map(AxisKind::Label),
        1 => Just(AxisKind::Placeholder),
        2 => (0..30u64).prop_map(AxisKind::Index),
    ];
    kind.prop_map(|kind| Axis { kind, span: Span::default() })
}

/// A size with a label that no other size has.
fn labelled(size: AxisKind) -> AxisKind {
    let digits = |text: String| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let label = Label { name: format!("q{}", digits(format!("{size:?}"))), span: Span::default() };
    AxisKind::Labelled(label, Box::new(Axis { kind: size, span: Span::default() }))
}

fn sized() -> impl Strategy<Value = Axis> {
    let basis = prop_oneof![
        3 => Just(Basis::Default),
        1 => Just(Basis::Free),
        1 => "[a-z][a-z0-9]{0,3}".prop_filter("default is no name", |b| b != "default").prop_map(Basis::Named),
    ];
    let size = prop_oneof![
        3 => (1..2000u64, basis.clone()).prop_map(|(n, basis)| AxisKind::Size(n, basis)),
        1 => (name(), basis).prop_map(|(name, basis)| AxisKind::Extent(name, basis)),
        1 => (name(), 2..9u64).prop_map(|(name, n)| AxisKind::Extent(format!("{n}*{name} + 1"), Basis::Default)),
    ];
    let kind = prop_oneof![
        3 => size.clone(),
        1 => size.prop_map(labelled),
        1 => name().prop_map(AxisKind::Label),
        1 => Just(AxisKind::Placeholder),
    ];
    kind.prop_map(|kind| Axis { kind, span: Span::default() })
}

fn row(axis: impl Strategy<Value = Axis>, markers: bool) -> impl Strategy<Value = RowSpec> {
    // Names of row variables have no letter of a label, so that no name is both.
    let variable = prop_oneof!["[x-z]{1,3}", Just("batch".to_string()), Just("input".to_string())];
    let variable = variable.prop_map(|name| RowName { name, span: Span::default() });
    let parts = (
        prop::collection::vec(axis, 0..4),
        prop::option::of(variable),
        any::<prop::sample::Index>(),
        prop::bool::weighted(if markers { 0.2 } else { 0.0 }),
    );
    parts.prop_map(|(mut axes, variable, cut, closed)| {
        // A closed row may say where its marker is, too.
        let at = if variable.is_some() || closed { cut.index(axes.len() + 1) } else { 0 };
        let trailing = axes.split_off(at);
        RowSpec { leading: axes, variable, trailing }
    })
}

fn shape<S: Strategy<Value = Axis>>(axis: impl Fn() -> S, markers: bool) -> impl Strategy<Value = ShapeSpec> {
    (row(axis(), markers), row(axis(), markers), row(axis(), markers))
        .prop_map(|(batch, input, output)| ShapeSpec { batch, input, output, span: Span::default() })
}

fn spec() -> impl Strategy<Value = Spec> {
    any::<bool>().prop_flat_map(|affine_too| {
        let operands = prop::collection::vec(shape(move || axis(affine_too), affine_too), 1..4);
        let results = prop::collection::vec(shape(move || axis(affine_too), affine_too), 1..3);
        (operands, results).prop_map(|(operands, mut results)| Spec {
            operands,
            result: results.remove(0),
            further: results,
            span: Span::default(),
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn specs_read_back(spec in spec()) {
        let text = spec.to_string();
        let again = Spec::parse(&text).map_err(|e| TestCaseError::fail(e.render("spec", &text)))?;
        prop_assert_eq!(&again, &spec, "{}", text);
        prop_assert_eq!(again.to_string(), text);
    }

    #[test]
    fn shapes_read_back(shape in shape(sized, true)) {
        let text = shape.to_string();
        let again = ShapeSpec::parse(&text).map_err(|e| TestCaseError::fail(e.render("shape", &text)))?;
        prop_assert_eq!(again, shape, "{}", text);
    }

    #[test]
    fn blanks_mean_nothing_in_single_character_mode(
        operands in prop::collection::vec(shape(single, false), 1..3),
        result in shape(single, false),
    ) {
        let spec = Spec { operands, result, further: Vec::new(), span: Span::default() };
        let text = spec.to_string();
        prop_assert_eq!(Mode::of(&text), Mode::SingleChar);
        // A blank after every character that is a sign or a label of its own; words and signs stay whole.
        let mut spaced = String::new();
        let mut characters = text.chars().peekable();
        let mut word = false;
        while let Some(c) = characters.next() {
            spaced.push(c);
            let next = characters.peek().copied();
            let joined = c.is_ascii_digit() && next.is_some_and(|n| n.is_ascii_digit());
            let sign = matches!((c, next), ('.', _) | ('-', Some('>')) | ('=', Some('>')) | (_, Some('.')));
            word = sign && c == '.' && next.is_some_and(char::is_alphabetic) || word && c != '.';
            if !joined && !sign && !word {
                spaced.push(' ');
            }
        }
        let again = Spec::parse(&spaced).map_err(|e| TestCaseError::fail(e.render("spec", &spaced)))?;
        prop_assert_eq!(again, spec, "{}", spaced);
    }

    #[test]
    fn soups_survive(text in "[a-c_0-9|>;=,*+^<:. -]{0,16}") {
        for mode in [true, false] {
            let answer = if mode { Spec::parse(&text).map(|s| s.to_string()) } else {
                ShapeSpec::parse(&text).map(|s| s.to_string())
            };
            match answer {
                Err(error) => {
                    prop_assert!(error.span.end <= text.len());
                    let _ = error.render("text", &text);
                }
                Ok(printed) if mode => prop_assert_eq!(Spec::parse(&printed).ok(), Spec::parse(&text).ok(), "{}", printed),
                Ok(printed) => {
                    prop_assert_eq!(ShapeSpec::parse(&printed).ok(), ShapeSpec::parse(&text).ok(), "{}", printed);
                }
            }
        }
    }
}
