//! The public interface as its users see it: accessors, builder, errors of modules made in code.

use surject_stablehlo::builder::ModuleBuilder;
use surject_stablehlo::{
    Attribute, DotDims, ElementType, Op, Type, Visibility, parse, parse_and_verify, print, table, verify,
};

fn first_op(body: &str) -> (surject_stablehlo::Module, Op) {
    let source = format!(
        "func.func @f(%a: tensor<1x8x8x4xf32>, %k: tensor<3x3x2x6xf32>, %m: tensor<3x4xf32>) {{\n{body}\nreturn\n}}"
    );
    let module = parse_and_verify(&source).unwrap_or_else(|e| panic!("{}", e.render("test", &source)));
    let op = module.functions[0].body.ops[0].clone();
    (module, op)
}

#[test]
fn accessors_give_typed_attributes_with_defaults() {
    let (module, op) = first_op(
        "%0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1]} \
         {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x3x6x6xf32>",
    );
    let conv = op.conv().expect("a convolution");
    assert_eq!((conv.strides, conv.padding), (vec![2, 1], vec![(0, 0), (0, 0)]));
    assert_eq!((conv.lhs_dilation, conv.reversal), (vec![1, 1], vec![false, false]));
    assert_eq!(
        (conv.dims.input_feature, conv.dims.kernel_output_feature, conv.feature_group_count),
        (3, 3, 2)
    );
    assert_eq!(module.ty(op.results[0]).to_string(), "tensor<1x3x6x6xf32>");
    assert_eq!(module.name_of(op.operands[0]), "a");
    let error = op.ints("permutation").expect_err("no such attribute");
    assert_eq!((error.code, error.span), ("SJ0124", op.span));
    assert!(op.dense("window_strides").is_err());
}

#[test]
fn both_forms_are_one_operation() {
    let pretty = "%0 = stablehlo.dot_general %m, %m, contracting_dims = [1] x [1] : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>";
    let generic = "%0 = \"stablehlo.dot_general\"(%m, %m) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x3xf32>";
    let (a, op) = first_op(pretty);
    let (b, _) = first_op(generic);
    assert!(a.same(&b));
    let wanted = DotDims { contract_lhs: vec![1], contract_rhs: vec![1], ..DotDims::default() };
    assert_eq!(op.dot_dims(), Ok(&wanted));
    assert!(op.precision().is_empty());
}

#[test]
fn dense_elements_are_typed() {
    let (_, op) =
        first_op("%0 = stablehlo.constant dense<[[1.5, -2.0], [0.0, 0x7F800000]]> : tensor<2x2xf32>");
    let value = op.dense("value").expect("dense");
    assert_eq!((value.len(), value.get_f64(1), value.get_f64(3)), (4, Some(-2.0), Some(f64::INFINITY)));
    assert_eq!(value.get_f64(4), None);
    let (_, op) = first_op("%0 = stablehlo.constant dense<-3> : tensor<1000000x1000000xi4>");
    let value = op.dense("value").expect("dense");
    assert!(value.is_splat() && value.to_bytes(1 << 20).is_none());
    assert_eq!(value.get_i64(999_999_999_999), Some(-3));
    let (_, op) = first_op("%0 = stablehlo.constant dense<\"0x05\"> : tensor<3xi1>");
    assert_eq!(op.dense("value").expect("dense").to_i64s(), Some(vec![1, 0, 1]));
}

#[test]
fn a_module_with_regions_is_built() -> Result<(), surject_stablehlo::Diagnostic> {
    let mut module = ModuleBuilder::new("m");
    let mut f = module.function("main", Visibility::Public);
    let scalar = Type::tensor(&[], ElementType::F32);
    let x = f.param(Type::tensor(&[2, 3], ElementType::F32));
    let zero = f.splat_f64(&[], ElementType::F32, 0.0)?;
    let body = f.region(&[scalar.clone(), scalar.clone()], |f, args| {
        f.op("stablehlo.add").operands(args.iter().copied()).result(scalar.clone()).build()
    })?;
    let sum = f
        .op("stablehlo.reduce")
        .operands([x, zero])
        .ints("dimensions", [1])
        .region(body)
        .result(Type::tensor(&[2], ElementType::F32))
        .value()?;
    f.finish([sum])?;
    let mut g = module.function("g", Visibility::Private);
    let y = g.param(Type::tensor(&[2, 3], ElementType::F32));
    let called = g.call("main", [y], [Type::tensor(&[2], ElementType::F32)])?;
    g.finish(called)?;
    let module = module.finish();
    verify(&module).map_err(|mut e| e.remove(0))?;
    let text = print(&module);
    assert!(
        text.contains("stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1]"),
        "{text}"
    );
    assert!(module.same(&parse(&text)?));
    Ok(())
}

#[test]
fn mistakes_of_builders_are_found() {
    let mut module = ModuleBuilder::new("m");
    let mut f = module.function("main", Visibility::Public);
    let x = f.param(Type::tensor(&[2, 3], ElementType::F32));
    assert_eq!(
        f.op("stablehlo.add").operand(x).result(f_ty()).build().expect_err("one operand").code,
        "SJ0114"
    );
    assert_eq!(
        f.op("stablehlo.transpose").operand(x).result(f_ty()).build().expect_err("no permutation").code,
        "SJ0108"
    );
    let bad = f
        .op("stablehlo.iota")
        .attr("iota_dimension", Attribute::i64(7))
        .result(f_ty())
        .value()
        .expect("arity is right");
    f.finish([bad]).expect("finished");
    let module = module.finish();
    let errors = verify(&module).expect_err("the dimension is out of range");
    assert_eq!((errors.len(), errors[0].code), (1, "SJ0121"));
}

fn f_ty() -> Type {
    Type::tensor(&[2, 3], ElementType::F32)
}

#[test]
fn values_out_of_scope_are_found_in_modules_made_in_code() {
    let mut module = parse("func.func @f(%a: tensor<f32>) -> tensor<f32> {\n%0 = stablehlo.negate %a : tensor<f32>\nreturn %0 : tensor<f32>\n}")
        .expect("valid");
    module.functions[0].body.ops.swap(0, 1);
    assert_eq!(verify(&module).expect_err("used before its definition")[0].code, "SJ0110");
}

#[test]
fn the_table_names_each_operation_once() {
    let mut names: Vec<&str> = table::all().map(|row| row.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(names.iter().filter(|n| n.starts_with("stablehlo.")).count(), 118);
    // The table on the crate's front page; `INSTA_UPDATE=always` writes it again.
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/table/coverage.md");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(page, table::coverage()).unwrap();
    }
    assert!(std::fs::read_to_string(page).unwrap() == table::coverage(), "{page} is out of date");
    assert!(names.iter().all(|n| table::lookup(n).is_some_and(|row| row.name == *n)));
}
