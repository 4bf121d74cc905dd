//! Sources to graphs: names, functions, parameters, sizes.

use surject_tensor::{Session, TensorError, Value};

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

/// The labels of all parameters with their shapes, in order.
fn parameters(session: &Session) -> Vec<String> {
    let graph = session.graph();
    (0..graph.len() as u32)
        .map(surject_tensor::NodeId)
        .filter(|id| matches!(graph.node(*id).kind, surject_tensor::NodeKind::Parameter { .. }))
        .map(|id| {
            let tensor = graph.tensor(id);
            format!("{} {}", tensor.label(), graph.shape(&tensor).map(|s| s.to_string()).unwrap_or_default())
        })
        .collect()
}

fn error(text: &str) -> TensorError {
    let mut session = Session::new("t.sj", text);
    session.run_text().and_then(|()| session.graph().infer()).expect_err("a wrong program")
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
        ["net.w_out 32->3", "net.first.w 2->32", "net.first.b 32", "net.second.w 32->32", "net.second.b 32", "net.b_out 3"]
    );
}
