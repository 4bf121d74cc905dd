//! Operations drawn from the table, with random types and attributes, print and read back in both forms.

use proptest::prelude::*;
use surject_stablehlo::builder::{FunctionBuilder, ModuleBuilder};
use surject_stablehlo::table::{Absent, Arity, AttrKind, AttrSpec, Form, OpSpec, enum_values};
use surject_stablehlo::{
    Attribute, Attributes, ChannelHandle, ConvDims, DenseElements, DotAlgorithm, DotDims, ElementType,
    GatherDims, ResultAccuracy, ScatterDims, TensorType, Type, Visibility, float, parse, print,
    print_generic, table,
};

/// A small generator, so that one number makes a whole operation.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n.max(1)
    }

    fn int(&mut self) -> i64 {
        self.below(7) as i64 - 1
    }

    fn ints(&mut self) -> Vec<i64> {
        (0..self.below(4)).map(|_| self.int()).collect()
    }

    fn count(&mut self, arity: Arity) -> usize {
        (arity.min + self.below(3)).min(arity.max)
    }

    fn element(&mut self) -> ElementType {
        use ElementType::*;
        [F32, I32, I1, BF16, F64, U8, I4, C64, F8E4M3FN, Index][self.below(10)].clone()
    }

    fn shape(&mut self) -> Vec<i64> {
        (0..self.below(4)).map(|_| self.below(4) as i64).collect()
    }

    fn tensor(&mut self) -> TensorType {
        let shape = self.shape();
        TensorType::new(&shape, self.element())
    }

    fn elements(&mut self) -> DenseElements {
        let ty = self.tensor();
        let count = ty.num_elements().unwrap_or(0) as usize * ty.element.bytes().unwrap_or(1);
        let limit = match ty.element {
            ElementType::I1 => 2,
            ElementType::I4 => 8,
            _ => 256,
        };
        let bytes: Vec<u8> = (0..count).map(|_| self.below(limit) as u8).collect();
        DenseElements::raw(ty, bytes).expect("as many bytes as elements").canonical()
    }

    fn word(&mut self) -> String {
        ["a", "odd name", "x.y", "\"quoted\\\"", "ä", ""][self.below(6)].to_string()
    }

    fn attribute(&mut self, spec: &AttrSpec) -> Attribute {
        match spec.kind {
            AttrKind::I64s => Attribute::I64s(self.ints()),
            AttrKind::Bools => Attribute::Bools((0..self.below(3)).map(|i| i == 1).collect()),
            AttrKind::I64 => Attribute::i64(self.int()),
            AttrKind::I32 => Attribute::i32(self.int() as i32),
            AttrKind::U64 => Attribute::Int { value: self.below(9) as i128, ty: ElementType::U64 },
            AttrKind::Bool => Attribute::Bool(self.below(2) == 0),
            AttrKind::F32 => Attribute::Float { bits: self.below(1 << 31) as u64, ty: ElementType::F32 },
            AttrKind::F64 => {
                Attribute::Float { bits: (self.below(1 << 30) as f64 / 7.0).to_bits(), ty: ElementType::F64 }
            }
            AttrKind::Str => Attribute::String(self.word()),
            AttrKind::Unit => Attribute::Unit,
            AttrKind::Dense => Attribute::Dense(self.elements()),
            AttrKind::Pairs => {
                Attribute::Dense(DenseElements::pairs(&vec![(self.int(), self.int()); self.below(4)]))
            }
            AttrKind::Enum(kind) => self.enumeration(kind),
            AttrKind::Enums(kind) => {
                Attribute::Array((0..self.below(3)).map(|_| self.enumeration(kind)).collect())
            }
            AttrKind::Dot => Attribute::Dot(Box::new(DotDims {
                batch_lhs: self.ints(),
                contract_rhs: self.ints(),
                ..DotDims::default()
            })),
            AttrKind::Conv => {
                let mut dims = ConvDims {
                    input_feature: 1,
                    kernel_output_feature: 1,
                    output_batch: 1,
                    ..ConvDims::default()
                };
                if self.below(2) == 0 {
                    dims.input_spatial = vec![3, 2];
                    dims.kernel_spatial = self.ints();
                }
                Attribute::Conv(Box::new(dims))
            }
            AttrKind::Gather => Attribute::Gather(Box::new(GatherDims {
                offset_dims: self.ints(),
                index_vector_dim: self.int(),
                ..GatherDims::default()
            })),
            AttrKind::Scatter => Attribute::Scatter(Box::new(ScatterDims {
                update_window_dims: self.ints(),
                index_vector_dim: self.int(),
                ..ScatterDims::default()
            })),
            AttrKind::Channel => {
                Attribute::ChannelHandle(ChannelHandle { handle: self.int(), kind: self.int() })
            }
            AttrKind::DotAlgorithm => Attribute::DotAlgorithm(Box::new(DotAlgorithm {
                lhs_precision_type: ElementType::TF32,
                rhs_precision_type: ElementType::BF16,
                accumulation_type: ElementType::F32,
                lhs_component_count: self.int(),
                rhs_component_count: 1,
                num_primitive_operations: 3,
                allow_imprecise_accumulation: self.below(2) == 0,
            })),
            AttrKind::ResultAccuracy => Attribute::ResultAccuracy(Box::new(ResultAccuracy {
                atol: self.below(9) as f64 / 7.0,
                rtol: 0.0,
                ulps: self.int(),
                mode: "TOLERANCE".into(),
            })),
            AttrKind::Symbol => Attribute::symbol(self.word()),
            AttrKind::Dict => Attribute::Dict(Attributes::from_iter([(self.word(), Attribute::Unit)])),
            AttrKind::Array => Attribute::Array(vec![Attribute::i64(1), Attribute::String(self.word())]),
            AttrKind::Any => Attribute::Dense(self.elements()),
        }
    }

    fn enumeration(&mut self, kind: &'static str) -> Attribute {
        let values = enum_values(kind).expect("the table names known enumerations");
        Attribute::enumeration(kind, values[self.below(values.len())])
    }
}

/// Adds an operation of the row with random parts. Types are those that the form needs, or any.
fn random_op(f: &mut FunctionBuilder<'_>, spec: &OpSpec, random: &mut Random) {
    let one = Type::Tensor(random.tensor().into());
    let same = random.below(2) == 0;
    let ty = |random: &mut Random| if same { one.clone() } else { Type::Tensor(random.tensor().into()) };
    let mut operands = Vec::new();
    for _ in 0..random.count(spec.operands) {
        let ty = ty(random);
        operands.push(f.param(ty));
    }
    let mut results: Vec<Type> = (0..random.count(spec.results)).map(|_| ty(random)).collect();
    let mut attributes: Vec<(&'static str, Attribute)> = Vec::new();
    for attribute in spec.attributes {
        if attribute.absent == Absent::Required || random.below(2) == 0 {
            attributes.push((attribute.name, random.attribute(attribute)));
        }
    }
    if spec.form == Form::Constant && random.below(4) > 0 {
        let elements = random.elements();
        results = vec![Type::Tensor(elements.ty.clone())];
        attributes = vec![("value", Attribute::Dense(elements))];
    }
    let mut regions = Vec::new();
    for _ in 0..random.count(spec.regions) {
        let params = [one.clone(), one.clone()];
        regions.push(f.region(&params, |_, values| Ok(values.to_vec())).expect("a region"));
    }
    let mut op = f.op(spec.name).operands(operands).results(results);
    for (name, value) in attributes {
        op = op.attr(name, value);
    }
    if random.below(3) == 0 {
        op = op.attr("mhlo.note", Attribute::String("n".into()));
    }
    for region in regions {
        op = op.region(region);
    }
    op.build().expect("arity and attributes are those of the table");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_read_back(seed in any::<u64>()) {
        let mut random = Random(seed);
        for spec in table::all() {
            // Nothing stands behind an operation that returns, and every function ends with one.
            if matches!(spec.name, "func.return" | "stablehlo.return") {
                continue;
            }
            let mut module = ModuleBuilder::new("m");
            let mut f = module.function("f", Visibility::Public);
            random_op(&mut f, spec, &mut random);
            f.finish([]).expect("a function");
            let module = module.finish();
            for text in [print(&module), print_generic(&module)] {
                let again = parse(&text);
                prop_assert!(again.is_ok(), "{}\n{text}", again.err().map_or(String::new(), |e| e.render("f", &text)));
                let again = again.expect("checked");
                prop_assert!(module.same(&again), "{text}\n{}", print_generic(&again));
            }
        }
    }

    #[test]
    fn floats_read_back(bits in any::<u64>(), wide in any::<bool>()) {
        let ty = if wide { ElementType::F64 } else { ElementType::F32 };
        let bits = if wide { bits } else { bits & 0xFFFF_FFFF };
        let text = float::print(&ty, bits);
        if let Some(hex) = text.strip_prefix("0x") {
            prop_assert_eq!(u64::from_str_radix(hex, 16), Ok(bits));
        } else {
            prop_assert_eq!(float::parse(&ty, &text), Some(bits), "{}", text);
        }
    }
}
