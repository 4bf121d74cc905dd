//! The collection of cases: whole programs, each a test by its id. Shapes of tensors and values of sizes by name, or
//! the code of an error and a part of its message.

use surject_tensor::{Session, Value};

/// The shape or the size of a name.
fn show(session: &Session, name: &str) -> String {
    let graph = session.graph();
    match session.value(name) {
        Some(Value::Tensor(tensor)) => {
            graph.shape(&tensor).map_or_else(|| format!("`{name}` is open"), |shape| shape.to_string())
        }
        Some(Value::Size(size)) => {
            graph.size_of(size.size).map_or_else(|| format!("`{name}` is open"), |size| size.to_string())
        }
        other => format!("{other:?}"),
    }
}

fn shapes(text: &str, expected: &[(&str, &str)]) {
    let mut session = Session::new("case.sj", text);
    if let Err(error) = session.run_text().and_then(|()| session.graph().infer()) {
        panic!("{}", session.render(&error));
    }
    let found: Vec<(&str, String)> = expected.iter().map(|(name, _)| (*name, show(&session, name))).collect();
    let expected: Vec<(&str, String)> = expected.iter().map(|(n, s)| (*n, s.to_string())).collect();
    assert_eq!(found, expected);
}

fn fails(text: &str, code: &str, part: &str) {
    let mut session = Session::new("case.sj", text);
    match session.run_text().and_then(|()| session.graph().infer()) {
        Ok(()) => panic!("no error: y is {}", show(&session, "y")),
        Err(error) => {
            let message = session.render(&error);
            assert!(error.code() == code && message.contains(part), "{message}");
        }
    }
}

macro_rules! cases {
    ($($id:ident $text:literal $(=> { $($name:literal: $shape:literal),* })? $(=> error $code:literal $part:literal)?;)*) => {$(
        #[test]
        #[allow(non_snake_case)]
        fn $id() {
            $(shapes($text, &[$(($name, $shape)),*]);)?
            $(fails($text, $code, $part);)?
        }
    )*
        const IDS: &[&str] = &[$(stringify!($id)),*];
    };
}

/// The cases of whole programs; those with values only are in `cases_values.rs`.
#[test]
fn every_case_has_a_test() {
    let odd = |kind: &'static str, last: u32| (1..=last).step_by(2).map(move |n| format!("{kind}{n:02}"));
    let kinds = [
        ("PW", 7),
        ("CM", 5),
        ("TR", 1),
        ("FU", 13),
        ("ES", 41),
        ("CP", 17),
        ("SL", 5),
        ("CV", 19),
        ("BL", 19),
    ];
    let elsewhere = ["CV13", "CV15", "BL13", "BL17"];
    for id in kinds.into_iter().flat_map(|(kind, last)| odd(kind, last)) {
        let tested =
            IDS.iter().any(|name| name.split('_').next() == Some(&id)) || elsewhere.contains(&id.as_str());
        assert!(tested, "{id}");
    }
}

cases! {
    // Pointwise and compose.
    PW01 "input a: \"4:batch\"; input b: \"4:batch\"; let y = a + b;" => { "y": "4:batch" };
    PW03 "input a: \"4:batch\"; input b: \"4\"; let y = a + b;" => error "SJ0402" "`a`";
    PW05 "input x; input a: \"4\"; input b: \"4:batch\"; let y = (x + a) + b;" => error "SJ0402" "`b`";
    PW07 "let n = relu(2.5:count); let k = relu(3:k); let r = range(5:idx);"
        => { "n": "1:count", "k": "1:k", "r": "5:idx" };
    CM01 "input a: \"5->3\"; input b: \"4->5\"; let y = a * b;" => { "y": "4->3" };
    CM03 "let a = [(1, 2, 3), (4, 5, 6)]; let b = [(1,), (0,), (1,)]; { c } =:+ a * b ~logic:\"@\";"
        => { "a": "3->2", "b": "1->3", "c": "1->2" };
    CM05 "input xs: \"4,10|2\"; input targets: \"10|1\"; index i < 4;
        let x = xs @| i;
        let out = { w2 } * relu({ b1, o = [16] } + { w1 } * x);
        let loss = out - targets;" => { "x": "10|2", "w1": "2->16", "w2": "16->1", "out": "10|1", "loss": "10|1" };
    TR01 "input a: \"2|3->4\"; let y = transpose(a);" => { "y": "2|4->3" };

    // From-usage inference of parameters and literals.
    FU01 "let y = { hey = 7.0 } * 2.0:q + 1.0:p;" => { "hey": "1:q->1:p" };
    FU03 "let y = { w } * [3, 4, 5]; output y;" => error "SJ0405" "`w`";
    FU05 "let y = { x } + { z }; output y;" => error "SJ0405" "ou forgot to specify the hidden dimension";
    FU05_uniform "let y = { x = uniform() } + { z = uniform() }; output y;" => error "SJ0405" "hidden";
    FU07 "input x: \"10|2\"; let y = { w } * x + { b, o = [16] };" => { "w": "2->16", "y": "10|16" };
    FU09 "let y = [| [1; 2; 3]; [4; 5; 6] |];" => { "y": "2|3" };
    FU11 "let a = [1, 2, 3]:rgb; let b = [(1, 2, 3):features, (4, 5, 6):features];
        let c = [| [1, 2], [3, 4] |]:examples; let d = [[1, 2], [3, 4]]:rows;"
        => { "a": "3:rgb", "b": "3:features->2", "c": "2:examples|2", "d": "2:rows,2" };
    FU13 "input x: \"3,5,3\"; let y = x + (x ++ \"a,b,..r.. => ..r..,b,a\");" => { "y": "3,5,3" };

    // Permutation, reduction, row variables, fixed indices.
    ES01 "input a: \"2|3->4\"; let y = a ++ \"b|i->o => o|b->i\";" => { "y": "4|2->3" };
    ES03 "input a: \"3|4->2\"; input b: \"3|1->4\"; let y = a +* b \"...|i->1; ...|...->i => ...|i\";"
        => { "y": "3|4" };
    ES05 "input a: \"2,3|4,5->6,7\"; let y = a ++ \"ab|cd->ef => c|a->d\";" => { "y": "4|2->5" };
    ES07 "input a: \"2|3->4\"; input b: \"5|6->7\"; let y = a +* b \"i|j->k; l|m->n => il|jm->kn\";"
        => { "y": "2,5|3,6->4,7" };
    ES09 "input a: \"2|4->5\"; input b: \"2|3->4\"; let y = a +* b \"b|h->o; b|i->h => b|i->o\";"
        => { "y": "2|3->5" };
    ES11 "input a: \"2|3->4\"; input b: \"2|4->5\";
        let y = a +* b \"b|i->h; b|h->o => i->o\"; let z = a +* b \"a|i->h; b|h->o => i->o\";"
        => { "y": "3->5", "z": "3->5" };
    ES13 "input a: \"2|3->4\"; let y = a ++ \"b|...->o => o|...->b\";" => { "y": "4|3->2" };
    ES15 "input a: \"1,3|4,5->6,7\"; let y = a ++ \"...b|...i->...o => i|o->b\";" => { "y": "5|7->3" };
    ES17 "input a: \"2->3,4\"; let y = a ++ \"i->...o => ...io\";" => { "y": "3,2,4" };
    ES19 "input a: \"2->3\"; input b: \"4->3\"; let y = a +* b \"i->...; j->... => ...ij\";" => { "y": "3,2,4" };
    ES21 "input a: \"2|3->4\"; let y = a ++ \"...|...->... => ...|...->0\";" => { "y": "2|3->1" };
    ES23 "input a: \"2->3\"; let y = a ++ \"i->j => i0j\";" => { "y": "2,1,3" };
    ES25 "input a: \"2->2\"; input b: \"2,3,4->2\"; let y = a +* b \"i->1; ij...->0 => ...->ji\";"
        => { "y": "4->3,2" };
    ES27 "let x = range(5) ++ \"j=>j1\"; let y = range(6) ++ \"k=>k2\"; let grid = x +++ y \"jl;kl=>jkl\";"
        => { "x": "5,3", "y": "6,3", "grid": "5,6,3" };
    ES29 "let y = range(5) ++ \"i=>ii\";" => { "y": "5,5" };
    ES31 "let x = range(4) ++ \"i=>i0\"; let y = x ++ \"i2=>i\";" => { "x": "4,3", "y": "4" };
    ES33 "input a: \"3,4\"; let y = a ++ \"ij=>i1j2\";" => { "y": "3,2,4,3" };
    ES35 "input a: \"3,4\"; input b: \"5,7\"; let y = a ++ \"ij=>ji\"; let z = b ++ \"ij=>ji\";"
        => { "y": "4,3", "z": "7,5" };
    ES37 "input a: \"2|3->4\"; let y = a ++ \"b|... => b|...\";" => error "SJ0403" "`a`";
    ES39 "input a: \"2|3,3\"; input b: \"2|3,4\"; let y = a +* b \"..g..|v,u; ..g..|u,f => ..g..|v,f\";"
        => { "y": "2|3,4" };
    ES41 "input c: \"2,2\"; input a: \"2,2\"; input b: \"2,2\"; let y = where(c, a, b, \"ij;ij;ij=>i\");"
        => { "y": "2" };
    PA15 "input a: \"2\"; input b: \"2,3\"; let y = a +* b \"..d.., d; d, e => ..d.., e\";"
        => error "SJ0508" "used as both a dimension variable and a row variable";
    PA17 "input a: \"2,2\"; let y = where(a, a, a, \"ij;jk=>im\");"
        => error "SJ0509" "Invalid einsum spec (expected three arguments)";

    // Captures and assertions.
    CP01 "input a: \"5,7\"; let y = a ++ \"ij=>ji\" [\"i\", \"j\"];" => { "i": "5", "j": "7", "y": "7,5" };
    CP03 "input x: \"2,3,4\"; input y: \"7\"; x ++ \"a..r.. => ..r..a\" [\"a\", \"r\"]; y ++ \"j=>j\" [\"j\"];
        let total = a + j + r; let embedded = dim(a) + dim(j) + dim(r);"
        => { "a": "2", "j": "7", "r": "12", "total": "21", "embedded": "" };
    CP05 "input x: \"2,6\"; input y: \"6,3\"; input z: \"k\";
        let r = x +* y \"a..s..; ..s..b=>ab\" [\"s\"]; let v = z ++ \"i=>i\" [\"i\"]; set_equal(s, i);"
        => { "r": "2,3", "s": "6", "i": "6", "z": "6" };
    CP07 "input x: \"3,5,7\"; input y: \"5,7,3\";
        let r = x +* y \"abc;bcd=>ad\" [\"a\", \"c\", \"d\"]; set_equal(a, d); set_dim(c, 7);"
        => { "r": "3,3", "a": "3", "c": "7" };
    CP09 "input x: \"2,4,8\"; let r = x ++ \"..mix..,n => n,..mix..\" [\"mix\", \"n\"]; set_equal(mix, n);"
        => { "r": "8,2,4", "n": "8", "mix": "8" };
    CP11 "let r = { m1 } +* { m2 } \"ij;jk=>ik\" [\"i\", \"j\", \"k\"]; set_dim(i, 3); set_dim(j, 4); set_dim(k, 5);"
        => { "m1": "3,4", "m2": "4,5", "r": "3,5" };
    CP13 "let r = { m1 } +* { m2 } \"pqr;rst=>pqst\" [\"p\", \"q\", \"r\", \"s\", \"t\"];"
        => error "SJ0405" "hidden";
    CP13_set "let y = { m1 } +* { m2 } \"pqr;rst=>pqst\" [\"p\", \"q\", \"r\", \"s\", \"t\"];
        set_equal(p, t); set_equal(q, s); set_dim(t, 4); set_dim(q, 5); set_dim(r, 6);"
        => { "m1": "4,5,6", "m2": "6,5,4", "y": "4,5,5,4" };
    CP15_satisfied "input x: \"17,8\"; x ++ \"ij=>ji\" [\"i\", \"j\"]; set_scale(i, j, 2);"
        => error "SJ0406" "`i` is 17 and `j` is 8";
    CP15_divisible "input x: \"17\"; input y; x ++ \"i=>i\" [\"i\"]; y ++ \"j=>j\" [\"j\"]; set_scale(i, j, 2);"
        => error "SJ0406" "`i` is 17, which 2 does not divide";
    CP15_factor "input x: \"17,8\"; x ++ \"ij=>ji\" [\"i\", \"j\"]; set_scale(i, j, 0);"
        => error "SJ0545" "at least 1";
    CP15_row "input x: \"17,8\"; x ++ \"i..r.. => ..r..i\" [\"i\", \"r\"]; set_scale(i, r, 2);"
        => error "SJ0542" "that of a row";
    CP17_equal "set_equal(i, j);" => error "SJ0545" "insufficient information";
    CP17_scale "set_scale(i, j, 2);" => error "SJ0545" "insufficient information";

    // Slices and data.
    SL01 "index s < 2; let data = rebatch(range(72), o: [3, 3, 1]); let part = data @| s;
        let y = conv2d(4)(part);" => error "SJ0543" "`()` comes next";
    SL01_layer "index s < 2; let data = rebatch(range(72), o: [3, 3, 1]); let part = data @| s;
        let layer = conv2d(4)(); let y = layer(part);"
        => { "data": "2,4|3,3,1", "part": "4|3,3,1", "y": "4|3,3,4" };
    SL03 "input x: \"5,4|2->3\"; index i < 5; let y = x @| i;" => { "y": "4|2->3" };
    SL03_range "input x: \"5,4|2->3\"; index i < 6; let y = x @| i;" => error "SJ0401" "`x`";
    SL03_sum "input x: \"5,4|3\"; input c: \"6\"; index i < 5; let y = (x @| i) + c;" => error "SJ0401" "`c`";
    ES35_sum "input a: \"3,4\"; input c: \"3,4\"; let y = (a ++ \"ij=>ji\") + c;" => error "SJ0401" "`c`";
    SL05 "let x = reshape(range(24), o: [3, 4]); let y = wrap([[1, 2, 3], [4, 5, 6]], o: [3]);"
        => { "x": "2|3,4", "y": "2|3" };

    // Convolution and pooling.
    CV01 "input x: \"5,5,1\"; let layer = conv2d(4)(); let y = layer(x);" => { "y": "5,5,4" };
    CV03 "input x: \"6,6,1\"; let layer = conv2d(4, stride: 2)(); let y = layer(x);" => { "y": "3,3,4" };
    CV05 "input x: \"6,6,1\"; let layer = conv2d(4, stride: 2)(); let loss = layer(x) ++ \"...|... => 0\";
        loss.backprop;" => { "loss": "1" };
    CV07 "input x: \"7,7,2\"; let pool = max_pool2d(window_size: 3, stride: 2)(); let y = pool(x);"
        => { "y": "3,3,2" };
    CV09 "input x: \"4,4,3\"; let pool = max_pool2d()(); let y = pool(x);" => { "y": "2,2,3" };
    CV11 "let x = reshape(range(16), o: [4, 4]); let k = [[0, 1], [2, 3]];
        let y = x @^+ k \"2*oh<+kh, 2*ow<+kw; kh, kw => oh, ow\";" => { "y": "2,2" };
    CV17 "input x: \"3,8\"; let y = interleave(deinterleave_even(x), deinterleave_odd(x));" => { "y": "3,8" };
    CV19_norm "input x: \"2,8|100\";
        let block = encoder_block(4, 8, 8, 32)(); let y = block(x);" => { "y": "2,8|100" };
    CV19_decoder "input x: \"2,4|16\"; let net = decoder_only(2, 2, 8, 8, 32)(); let y = net(x);" => { "y": "2,4|16" };
    CV19_transformer "input source: \"2,7|100\"; input target: \"2,7|100\";
        let net = transformer(1, 2, 16, 8, 8, 32)(); let logits = net(source, target);
        let loss = cross_entropy(logits, target);" => { "logits": "2,7|100", "loss": "unit" };

    // Concatenations and blocks.
    BL01 "input a: \"3\"; input b: \"2\"; let y = [a, b] ++^ \"a;b => a^b\";" => { "y": "5" };
    BL03 "input one: \"1\"; input two: \"2\"; input three: \"3\";
        let x = [two, one, two] ++^ \"a;b;c => a^b^c\"; let y = [one, three, two] ++^ \"a;b;c => a^b^c\";
        let z = [two, three, one] ++^ \"a;b;c => a^b^c\";" => { "x": "5", "y": "6", "z": "6" };
    BL05 "input x: \"3\"; input a: \"2\"; let l = [x, x]; let b = [| a, a |]; let t = (x, x);"
        => { "l": "2,3", "b": "2|2", "t": "2->3" };
    BL07 "input x: \"3\"; let y = [[x; x]; [x; x]]; let z = [[[x, x], [x, x]], [[x, x], [x, x]]];"
        => { "y": "2,2,3", "z": "2,2,2,3" };
    BL09 "input x: \"3\"; let y = [[x; x]; { c }];" => { "y": "2,2,3", "c": "2,3" };
    BL11 "input fixed: \"5\"; input a: \"2\"; input b: \"3\"; input all: \"7\";
        let y = fixed + ([a, b] ++^ \"a;b => a^b\");
        let z = ([a, [b, a] ++^ \"a;b => a^b\"] ++^ \"a;b => a^b\") + all;" => { "y": "5", "z": "7" };
    // The one position of a single item claims nothing.
    BL11_sum "input a: \"3\"; input b: \"2\"; input c: \"6\"; let s = [a, b] ++^ \"a;b => a^b\"; let y = s + c;"
        => error "SJ0401" "`c`";
    BL15 "input x: \"3\"; let y = [x];" => { "y": "unit,3" };
    BL19 "input x: \"9\"; let y = x ++^ \"a^b^c => b,\" [\"a\", \"c\"]; set_dim(a, 2); set_dim(c, 3);" => { "y": "4" };
    BL19_open "input x: \"9\"; let y = x ++^ \"2^b^3 => b,\";" => { "y": "4" };

    // Programs of the same kinds.
    pointwise_bases "input a: \"4:batch\"; input b: \"4:other\"; let y = a + b;" => error "SJ0402" "`b`";
    pointwise_inferred "input x; input a: \"4:batch\"; let y = x + a;" => { "x": "4:batch", "y": "4:batch" };
    pointwise_scalar "input a: \"2|3:rgb\"; let y = a *. 2.5 - 1;" => { "y": "2|3:rgb" };
    pointwise_unit "input a: \"1:*,3\"; input b: \"2,3\"; let y = a + b;" => { "y": "2,3" };
    compose_mismatch "input a: \"5->3\"; input b: \"4->6\"; let y = a * b;" => error "SJ0401" "`b`";
    compose_batch "input a: \"7|5->3\"; input b: \"4->5\"; let y = a * b;" => { "y": "7|4->3" };
    compose_vector "input a: \"5->3\"; let y = a * [1, 2, 3, 4, 5];" => { "y": "3" };
    lone_parameter "let y = { x };" => { };
    parameter_sizes "let y = { w, i = [2], o = [3, 4:idx], b = [5] } + 0;" => { "y": "5|2->3,4:idx" };
    literal_mixed "let y = [| [(1, 2), (3, 4), (5, 6)] |];" => { "y": "1|2->3" };
    literal_ragged "let y = [[1, 2], [3]];" => error "SJ0517" "another shape";
    reduce_all "input a: \"2|3->4\"; let y = a ++ \"...|...->... => 0\";" => { "y": "1" };
    reduce_to_scalar "input a: \"2|3->4\"; let y = a ++ \"...|...->... => \";" => { "y": "" };
    max_rows "input a: \"2|3\"; let y = a @^^ \"...|... => ...|0\";" => { "y": "2|1" };
    batch_to_output "input a: \"2,3|4\"; let y = a ++ \"..b..|o => ..b..,o\";" => { "y": "2,3,4" };
    diagonal "input a: \"3,3\"; let y = a ++ \"ii => i\"; input b: \"3,4\"; " => { "y": "3" };
    diagonal_mismatch "input a: \"3,4\"; let y = a ++ \"ii => i\";" => error "SJ0401" "`a`";
    fixed_index "input a: \"3,4\"; let y = a ++ \"2i => i\";" => { "y": "4" };
    fixed_beyond "input a: \"3,4\"; let y = a ++ \"3i => i\";" => error "SJ0409" "3";
    attention "input q: \"8,5|4,16\"; input k: \"8,7|4,16\";
        let s = (q +* k \"... s|h d ; ... t|h d => ... s|t -> h\" [\"h\", \"d\"]) /. sqrt(dim(d));"
        => { "s": "8,5|7->4", "h": "4", "d": "16" };
    cut "input x: \"5\"; let a = x ++^ \"a^b => a,\" [\"a\", \"b\"]; set_dim(b, 2);" => { "b": "2" };
    cut_by_size "input x: \"5\"; let a = x ++^ \"a^2 => a,\";" => { "a": "3" };
    concat_matrix "input a: \"2,3\"; input b: \"4,3\"; let y = [a, b] ++^ \"i,k; j,k => i^j,k\";" => { "y": "6,3" };
    concat_mismatch "input a: \"2,3\"; input b: \"4,5\"; let y = [a, b] ++^ \"i,k; j,k => i^j,k\";"
        => error "SJ0401" "`b`";
    concat_basis "input a: \"2:p\"; input b: \"4:q\"; let y = [a, b] ++^ \"i; j => i^j\";" => error "SJ0402" "p";
    stack_mismatch "input a: \"2\"; input b: \"3\"; let y = [a, b];" => error "SJ0401" "`b`";
    stack_numbers "input a; let y = [a, 1.0, 2] + [0, 0, 0];" => { "y": "3" };
    strided "input x: \"8\"; let y = x ++ \"2*i+1 => i,\";" => { "y": "4" };
    strided_odd "input x: \"7\"; let y = x ++ \"2*i => i,\";" => error "SJ0406" "7";
    padded_even "input x: \"7\"; let y = x +* { k } \"2*o=+k; k => o\" [\"k\"]; set_dim(k, 3);" => error "SJ0406" "7";
    dilated "input x: \"9\"; let y = x +* { w } \"o<+2*k; k => o\" [\"k\"]; set_dim(k, 3);" => { "y": "5", "w": "3" };
    ambient_padding "input x: \"9\"; fn c(use_padding)()(x) { let y = x +* { w } \"o+k; k => o\" [\"k\"]; set_dim(k, 3); y }
        let p = c(true)(); let v = c(false)(); let a = p(x); let b = v(x);" => { "a": "9", "b": "7" };
    slice_twice "input x: \"5,4|3\"; index i < 5; index j < 4; let y = x @| i @| j;" => { "y": "3" };
    slice_free "input x; index i < 5; let y = (x @| i) + [1, 2];" => { "x": "5|2", "y": "2" };
    slice_none "input x: \"3\"; index i < 5; let y = x @| i;" => error "SJ0403" "`x`";
    embedded_index "index i < 5; let y = [0, 0] + !@i;" => { "y": "2" };
    assertion_rows "input x: \"2,3|4\"; x ++ \"..b..|o => o|..b..\" [\"b\"]; set_dim(b, 6);" => { "b": "6" };
    assertion_rows_wrong "input x: \"2,3|4\"; x ++ \"..b..|o => o|..b..\" [\"b\"]; set_dim(b, 7);" => error "SJ0408" "7";
    scaled "input x: \"6\"; input y: \"n\"; x ++ \"i => i\" [\"i\"]; y ++ \"j => j\" [\"j\"]; set_scale(i, j, 2);"
        => { "y": "3" };
    one_hot_rows "let ids = [| 1, 0, 2 |]; let y = one_hot(3)()(ids);" => { "y": "3|3" };
    one_hot_used "input ids: \"6|\"; let y = { w, i = [11], o = [4] } * one_hot(11)()(ids);" => { "y": "6|4" };
}
