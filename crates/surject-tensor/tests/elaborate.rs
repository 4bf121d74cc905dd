//! Sources to graphs: names, functions, parameters, sizes, assignments.

use surject_notation::source::{ItemKind, Source};
use surject_tensor::{Action, Function, Graph, NodeId, NodeKind, Session, Tensor, TensorErrorKind, Value};

/// A text, evaluated and closed.
fn session(text: &str) -> Session {
    let mut session = Session::new("t.sj", text);
    if let Err(error) = session.run_text().and_then(|()| session.graph().infer()) {
        panic!("{}", session.render(&error));
    }
    session
}

/// The shape of a tensor that has a name at the top level.
fn shape(session: &Session, name: &str) -> String {
    let tensor = session.tensor(name).unwrap_or_else(|e| panic!("{e}"));
    session.graph().shape(&tensor).unwrap_or_else(|| panic!("`{name}` is not closed")).to_string()
}

/// The labels of all tensors of a kind with their shapes, in order.
fn labels(graph: &Graph, kind: impl Fn(&NodeKind) -> bool) -> Vec<String> {
    (0..graph.len() as u32)
        .map(NodeId)
        .filter(|id| kind(&graph.node(*id).kind))
        .map(|id| {
            let tensor = graph.tensor(id);
            format!("{} {}", tensor.label(), graph.shape(&tensor).map(|s| s.to_string()).unwrap_or_default())
        })
        .collect()
}

fn parameters(session: &Session) -> Vec<String> {
    labels(session.graph(), |kind| matches!(kind, NodeKind::Parameter { .. }))
}

#[test]
fn a_layer_makes_its_parameters_once() {
    let s = session(
        "input x: \"10|2\";
         fn dense(hidden)()(x) = relu({ w } * x + { b = 0., o = [hidden] });
         fn mlp(hidden = 128)() {
           let first = dense(hidden)();
           let second = dense(hidden)();
           |x| { w_out } * second(first(x)) + { b_out = 0., o = [3] }
         }
         let net = mlp(hidden: 32)();
         let y = net(x) + net(x);
         output y;",
    );
    assert_eq!(shape(&s, "y"), "10|3");
    assert_eq!(
        parameters(&s),
        [
            "net.w_out 32->3",
            "net.first.w 2->32",
            "net.first.b 32",
            "net.second.w 32->32",
            "net.second.b 32",
            "net.b_out 3"
        ]
    );
}

#[test]
fn layers_in_the_body_of_a_layer_are_one_for_each_place() {
    let s = session(
        "input x: \"10|2\";
         fn layer(n)()(x) = { w, o = [n] } * x;
         fn pair()(x) { let a = layer(2)(); a(x) + layer(2)()(x) + layer(2)()(x) }
         let f = pair();
         let g = pair();
         let y = f(x) + f(x) + g(x);",
    );
    assert_eq!(
        parameters(&s),
        [
            "f.a.w 2->2",
            "f.layer.w 2->2",
            "f.layer2.w 2->2",
            "g.a.w 2->2",
            "g.layer.w 2->2",
            "g.layer2.w 2->2"
        ]
    );
}

#[test]
fn a_function_without_unit_owns_its_definitions() {
    let s = session(
        "input x: \"10|2\";
         fn shift(x) = x + { bias };
         let scale = |x| x *. { factor };
         let y = shift(shift(x)) + scale(scale(x));",
    );
    assert_eq!(parameters(&s), ["shift.bias 2", "scale.factor 2"]);
}

#[test]
fn names_of_parameters_are_unique_in_the_graph() {
    let graph = Graph::new();
    for file in ["a.sj", "b.sj"] {
        let mut session = Session::over(&graph, file, "let y = { w, o = [2] } * [1, 2, 3];");
        session.run_text().unwrap();
    }
    graph.infer().unwrap();
    assert_eq!(labels(&graph, |k| matches!(k, NodeKind::Parameter { .. })), ["w 3->2", "w2 3->2"]);
}

#[test]
fn functions_take_along_what_they_name() {
    let s = session(
        "input x: \"10|2\";
         let n = 3;
         fn outer(k) { let inner = |y| y *. k + n; inner }
         let f = outer(2);
         let n = \"another\";
         let y = f(x);",
    );
    assert_eq!(shape(&s, "y"), "10|2");
}

#[test]
fn stages_are_applied_one_by_one_or_by_key_at_once() {
    let s = session(
        "input x: \"10|4\";
         fn fold(spec, factor = 2)()(x) = (x ++ spec) *. factor;
         let configured = fold(\"b|i => i|b\");
         let f = configured();
         let a = f(x);
         let b = fold(x, spec: \"b|i => i|b\", factor: 3);
         let c = fold(factor: 1, spec: \"b|i => b|\")()(x: x);",
    );
    assert_eq!([shape(&s, "a"), shape(&s, "b"), shape(&s, "c")], ["4|10", "4|10", "10|"]);
}

#[test]
fn operators_and_functions_are_values() {
    let s = session(
        "input x: \"10|4\";
         fn twice(f)()(x) = f(f(x));
         let a = twice(relu)()(x);
         op leak(x) { v =:+ where(v1 < 0, 0.1 * v1, v1) } grad { g1 =+ where(v1 < 0, 0.1 * g, g) }
         let b = twice(leak)()(a);
         let c = twice(|t| t ++ \"b|i => i|b\")()(b);",
    );
    assert_eq!([shape(&s, "a"), shape(&s, "b"), shape(&s, "c")], ["10|4", "10|4", "10|4"]);
}

#[test]
fn sizes_are_values() {
    let s = session(
        "input x: \"10|6\";
         x ++ \"b|i => i|b\" [\"b\", \"i\"];
         fn widen(n)()(x) = { w, o = [n] } * x;
         let a = widen(i)()(x);
         let c = widen(i * 2 + 1)()(x);
         let d = widen([i / 3, 2])()(x);
         let e = x /. i + dim(b);
         let h = [i, b, 3] + [0, 0, 0];",
    );
    assert_eq!([shape(&s, "a"), shape(&s, "c"), shape(&s, "d")], ["10|6", "10|13", "10|2,2"]);
    assert_eq!([shape(&s, "e"), shape(&s, "h")], ["10|6", "3"]);
}

#[test]
fn repeated_layers_and_updates() {
    let s = session(
        "input x: \"10|2\"; input t: \"10|1\";
         fn dense(n)() { |x| relu({ w, o = [n] } * x) }
         fn descend(rate = 0.1)()(p) { { velocity } =: p.grad; p =- !.rate *. velocity }
         let hidden = repeat(dense, [8, 4])();
         let error = { last } * hidden(x) - t;
         let loss = (error *. error) ++ \"...|... => 0\";
         loss.zero_grads; loss.backprop;
         update(loss, descend(rate: 0.5));
         output loss;",
    );
    assert_eq!(parameters(&s), ["last 4->1", "hidden.1.w 2->8", "hidden.2.w 8->4"]);
    let written = labels(s.graph(), |kind| matches!(kind, NodeKind::Assigned));
    assert_eq!(written, ["last.velocity 4->1", "hidden.1.w.velocity 2->8", "hidden.2.w.velocity 8->4"]);
    let actions = s.graph().actions();
    assert!(matches!(actions[..2], [Action::ZeroGrads(_), Action::Backprop(_)]));
    assert_eq!(actions.len(), 2 + 2 * 3);
}

#[test]
fn assignments_outside_of_operators() {
    let s = session(
        "input a: \"4->3\"; input b: \"5->4\"; input x: \"3,4\"; index i < 3;
         { product } =:+ a * b ~logic:\"@\";
         { turned } =: a ~logic:\"T\";
         { rows } =:+ x ~logic:\"ij => i\" [\"j\"];
         { scaled } =: rows * rows ~logic:\".\";
         { count } =+ 1.0;
         { highest } =:@^ x *. j ~logic:\"ij => 0\";
         product.grad =: product;
         output product;",
    );
    let names = ["product", "turned", "rows", "scaled", "count", "highest"];
    assert_eq!(names.map(|n| shape(&s, n)), ["5->3", "3->4", "3", "3", "", "1"]);
}

#[test]
fn host_values_and_expressions() {
    let graph = Graph::new();
    let text = "scale(x, by: 3) + !.rate *. x";
    let mut session = Session::over(&graph, "host.rs", text);
    let x = graph.data(&"2,2".parse_shape(), vec![1.0, 2.0, 3.0, 4.0], Default::default()).unwrap();
    let scale = Function::host("scale", |values: &[Value]| match values {
        [Value::Tensor(x)] => Ok(Value::from(x * 2.0)),
        _ => Err(surject_tensor::TensorError::new(TensorErrorKind::Arguments, "`scale` takes a tensor")),
    });
    session.bind("x", &x).bind("rate", 0.5).bind("scale", scale.clone());
    let expr = |text: &str| match Source::parse(text).unwrap().items.remove(0).kind {
        ItemKind::Expr(expr) => expr,
        _ => panic!("an expression"),
    };
    let error = session.eval(&expr(text)).unwrap_err();
    assert_eq!(error.code(), "SJ0543");
    assert!(
        session.render(&error).starts_with("host.rs:1:14: error[SJ0543]: `scale` takes no argument by key")
    );
    let value = session.eval(&expr("scale(x) + !.rate *. x")).unwrap();
    let Value::Tensor(y) = value else { panic!("a tensor") };
    graph.infer().unwrap();
    assert_eq!(graph.shape(&y).unwrap().to_string(), "2,2");
    let again = session.call(&scale, &[Value::from(&y)]).unwrap();
    assert!(again.tensor().is_some());
}

/// Shapes from their text, for data.
trait ParseShape {
    fn parse_shape(&self) -> surject_shape::GroundShape;
}

impl ParseShape for str {
    fn parse_shape(&self) -> surject_shape::GroundShape {
        let dims = self.split(',').map(|n| surject_shape::Dim::new(n.parse().unwrap())).collect();
        let output = surject_shape::GroundRow { lead: vec![], trail: dims };
        surject_shape::GroundShape { output, ..Default::default() }
    }
}

#[test]
fn labels_say_what_the_user_wrote() {
    let s = session("input x: \"3\"; let y = x + 1; let z = relu(y) *. 2;");
    let labels = |name: &str| -> Tensor { s.tensor(name).unwrap() };
    assert_eq!([labels("y").label(), labels("z").label()], ["y", "z"]);
    let results: Vec<String> = s.graph().steps().iter().map(|step| step.origin.to_string()).collect();
    assert_eq!(results, ["t.sj:1:23: `x + 1`", "t.sj:1:38: `relu(y)`", "t.sj:1:38: `relu(y) *. 2`"]);
}

#[test]
fn depth_is_bounded_on_a_small_stack() {
    let chain = (0..200)
        .fold(String::from("let f0 = |x| x;\n"), |text, k| text + &format!("fn f{}(x) = f{k}(x);\n", k + 1));
    let texts = [
        format!("{chain} input x; let y = f200(x);"),
        "let f = |g| g(g); let y = f(f);".to_string(),
        "let f = |g| ----------g(g); let y = f(f);".to_string(),
        format!("let f = |g| {}g(g){}; let y = f(f);", "relu(1 + ".repeat(10), ")".repeat(10)),
        "fn f(g)()(x) { let h = g(g)(); [h(x), relu(h(x), x)] } let y = f(f)()(1);".to_string(),
        "let f = |g, x| [g(g, x), x]; let y = f(f, 1);".to_string(),
        (0..3000).fold("let f0 = |x| x;".to_string(), |t, k| t + &format!("let f{} = |x| f{k}(x);\n", k + 1)),
        (0..30).fold("let f0 = |x| x;".to_string(), |t, k| {
            t + &format!("let f{} = |x| f{k}(f{k}(x));\n", k + 1)
        }) + "let y = f30(1);",
        format!("let y = {}1{};", "(-relu(".repeat(60), "))".repeat(60)),
    ];
    let run = |text: String| {
        let run = move || {
            let mut session = Session::new("deep.sj", &text);
            session.run_text().err().map(|error| error.code())
        };
        std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap()
    };
    assert_eq!(run(format!("input x; let y = x{};", " + x".repeat(480))), None);
    for text in texts {
        let code = run(text);
        assert!(matches!(code, None | Some("SJ0550") | Some("SJ0504")), "{code:?}");
    }
}

/// The page of error codes: each example gives the code of its section.
#[test]
fn the_page_of_errors_is_true() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors/tensor.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut sections = Vec::new();
    for section in page.split("\n## ").skip(1) {
        let code = section.split_whitespace().next().unwrap();
        sections.push(code.to_string());
        let Some((_, example)) = section.split_once("```sj\n") else { continue };
        let example = example.split("\n```").next().unwrap();
        let mut session = Session::new("example.sj", example);
        let error = session.run_text().and_then(|()| session.graph().infer()).unwrap_err();
        assert_eq!(error.code(), code, "{example}");
    }
    let expected: Vec<String> = (541..=552).map(|n| format!("SJ{n:04}")).collect();
    assert_eq!(sections, expected);
}

/// A long text is evaluated in time linear in its length.
#[test]
fn long_texts() {
    let text = (0..20_000).fold(String::from("input x: \"4\";\nlet y0 = x;\n"), |text, k| {
        text + &format!("let y{} = relu(y{k}) + x;\n", k + 1)
    });
    let start = std::time::Instant::now();
    let s = session(&text);
    assert_eq!(shape(&s, "y20000"), "4");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}
