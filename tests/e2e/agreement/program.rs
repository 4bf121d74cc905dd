//! Random well-typed programs as text.

use std::fmt::Write;

/// Numbers with a fixed sequence.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * n as u128) >> 64) as usize
    }

    fn chance(&mut self, part: usize, whole: usize) -> bool {
        self.below(whole) < part
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        (1..n).rev().for_each(|i| order.swap(i, self.below(i + 1)));
        order
    }
}

/// A value of the program that is being written.
#[derive(Clone, Debug)]
pub(super) struct Value {
    name: String,
    pub(super) dtype: &'static str,
    shape: Vec<i64>,
    /// Does every order of operations give it bit for bit?
    pub(super) exact: bool,
    /// It is at most so large.
    pub(super) bound: f64,
}

impl Value {
    pub(super) fn ty(&self) -> String {
        ty(self.dtype, &self.shape)
    }

    fn is_float(&self) -> bool {
        self.dtype.starts_with('f')
    }

    fn is_int(&self) -> bool {
        !self.is_float() && self.dtype != "i1"
    }
}

fn ty(dtype: &str, shape: &[i64]) -> String {
    let mut text = "tensor<".to_string();
    shape.iter().for_each(|n| _ = write!(text, "{n}x"));
    text + dtype + ">"
}

fn list(numbers: &[i64]) -> String {
    let words: Vec<String> = numbers.iter().map(i64::to_string).collect();
    words.join(", ")
}

const TYPES: [&str; 7] = ["f32", "f32", "f64", "i32", "i64", "ui8", "i1"];

/// The most elements of a value.
const LARGEST: i64 = 3000;

struct Writer {
    rng: Rng,
    body: String,
    count: usize,
    pool: Vec<Value>,
}

impl Writer {
    fn shape(&mut self) -> Vec<i64> {
        let rank = self.rng.below(4);
        (0..rank).map(|_| *self.rng.pick(&[1, 2, 3, 4, 5, 7, 8, 17])).collect()
    }

    fn fresh(&mut self) -> String {
        self.count += 1;
        format!("v{}", self.count)
    }

    /// Adds an operation of this text behind the name; gives its value.
    fn emit(&mut self, text: &str, dtype: &'static str, shape: &[i64], exact: bool, bound: f64) -> Value {
        let name = self.fresh();
        _ = writeln!(self.body, "  %{name} = {text}");
        let value = Value { name, dtype, shape: shape.to_vec(), exact, bound };
        self.pool.push(value.clone());
        value
    }

    fn number(&mut self, dtype: &str) -> String {
        match dtype {
            "i1" => ["false", "true"][self.rng.below(2)].into(),
            "ui8" => self.rng.below(256).to_string(),
            "i32" | "i64" => (self.rng.below(41) as i64 - 20).to_string(),
            _ => format!("{:?}", (self.rng.below(33) as f64 - 16.0) / 8.0),
        }
    }

    fn constant(&mut self, dtype: &'static str, shape: &[i64]) -> Value {
        let value = self.literal(dtype, shape);
        let bound = match dtype {
            "ui8" => 256.0,
            "i1" => 1.0,
            "f32" | "f64" => 2.0,
            _ => 20.0,
        };
        let text = format!("stablehlo.constant dense<{value}> : {}", ty(dtype, shape));
        self.emit(&text, dtype, shape, true, bound)
    }

    fn literal(&mut self, dtype: &str, shape: &[i64]) -> String {
        match shape {
            [] => self.number(dtype),
            [n, rest @ ..] => {
                let parts: Vec<String> = (0..*n).map(|_| self.literal(dtype, rest)).collect();
                format!("[{}]", parts.join(", "))
            }
        }
    }

    /// A value that a test accepts.
    fn find(&mut self, accepts: impl Fn(&Value) -> bool) -> Option<Value> {
        let found: Vec<&Value> = self.pool.iter().filter(|v| accepts(v)).collect();
        (!found.is_empty()).then(|| found[self.rng.below(found.len())].clone())
    }

    /// Another value of this type, or a new constant.
    fn like(&mut self, value: &Value) -> Value {
        let (dtype, shape) = (value.dtype, value.shape.clone());
        match self.find(|v| v.dtype == dtype && v.shape == shape && v.name != value.name) {
            Some(other) if self.rng.chance(3, 4) => other,
            _ => self.constant(dtype, &shape),
        }
    }

    fn step(&mut self) -> Option<()> {
        match self.rng.below(17) {
            0 | 1 => self.unary(),
            2..=4 => self.binary(),
            5 => self.choose(),
            6 => self.convert(),
            7 => self.movement(),
            8 => self.movement(),
            9 => self.slices(),
            10 => self.reduce(),
            11 => self.window(),
            12 => self.dot(),
            13 => self.at_positions(),
            14 => self.sort(),
            15 => self.concatenate(),
            _ => self.control(),
        }
    }

    fn unary(&mut self) -> Option<()> {
        let x = self.find(|v| v.dtype != "i1" && v.bound < 1e4)?;
        let (op, exact, bound) = match x.is_float() {
            true => match self.rng.below(9) {
                0 => ("negate", true, x.bound),
                1 => ("abs", true, x.bound),
                2 if x.exact => ("floor", true, x.bound + 1.0),
                3 if x.exact => ("sign", true, 1.0),
                4 if x.bound < 8.0 => ("exponential", false, 3000.0),
                5 => ("sine", false, 1.0),
                6 => ("logistic", false, 1.0),
                7 => ("cosine", false, 1.0),
                _ => ("tanh", false, 1.0),
            },
            false => match self.rng.below(3) {
                0 if x.dtype != "ui8" => ("abs", true, x.bound),
                1 => ("popcnt", true, 64.0),
                _ => ("not", true, x.bound + 256.0),
            },
        };
        let text = format!("stablehlo.{op} %{} : {}", x.name, x.ty());
        self.emit(&text, x.dtype, &x.shape, x.exact && exact, bound);
        Some(())
    }

    fn binary(&mut self) -> Option<()> {
        let x = self.find(|_| true)?;
        let y = self.like(&x);
        let both = x.exact && y.exact;
        let (sum, product) = (x.bound + y.bound, x.bound * y.bound);
        let (op, exact, bound) = match x.dtype {
            "i1" => (["and", "or", "xor"][self.rng.below(3)], both, 1.0),
            "f32" | "f64" => match self.rng.below(5) {
                0 => ("maximum", both, x.bound.max(y.bound)),
                1 => ("minimum", both, x.bound.max(y.bound)),
                2 if product < 1e4 => ("multiply", false, product),
                3 => ("subtract", both && sum < 64.0, sum),
                _ => ("add", both && sum < 64.0, sum),
            },
            _ => match self.rng.below(10) {
                0 => ("maximum", true, x.bound.max(y.bound)),
                1 => ("divide", true, x.bound),
                2 => ("remainder", true, x.bound.max(y.bound)),
                3 => ("and", true, sum),
                4 => ("xor", true, 2.0 * sum + 256.0),
                5 => ("shift_left", true, 1e9),
                6 => ("shift_right_logical", true, 1e9),
                7 => ("multiply", true, product),
                8 => ("subtract", true, sum),
                _ => ("add", true, sum),
            },
        };
        if x.is_float() && bound > 1e6 {
            return None;
        }
        let text = format!("stablehlo.{op} %{}, %{} : {}", x.name, y.name, x.ty());
        self.emit(&text, x.dtype, &x.shape, exact, bound);
        Some(())
    }

    fn choose(&mut self) -> Option<()> {
        let x = self.find(|v| v.exact && v.dtype != "i1")?;
        let y = self.like(&x);
        if !y.exact {
            return None;
        }
        let direction = ["EQ", "NE", "LT", "LE", "GT", "GE"][self.rng.below(6)];
        let (a, b) = (x.ty(), ty("i1", &x.shape));
        let text = format!("stablehlo.compare {direction}, %{}, %{} : ({a}, {a}) -> {b}", x.name, y.name);
        let condition = self.emit(&text, "i1", &x.shape, true, 1.0);
        let z = self.find(|v| v.shape == x.shape)?;
        let w = self.like(&z);
        let text =
            format!("stablehlo.select %{}, %{}, %{} : {b}, {}", condition.name, z.name, w.name, z.ty());
        self.emit(&text, z.dtype, &z.shape, z.exact && w.exact, z.bound.max(w.bound));
        Some(())
    }

    fn convert(&mut self) -> Option<()> {
        let x = self.find(|_| true)?;
        let to = *self.rng.pick(&TYPES);
        // What is rounded must be the same everywhere, and fit.
        let fits = if to == "ui8" { x.bound < 100.0 && !x.is_float() } else { x.bound < 1e6 };
        let jumps = x.is_float() && !to.starts_with('f');
        // A double made of a float that was rounded has the digits of the float.
        let coarse = x.dtype == "f32" && to == "f64";
        if !fits || (jumps || coarse) && !x.exact {
            return None;
        }
        let text = format!("stablehlo.convert %{} : ({}) -> {}", x.name, x.ty(), ty(to, &x.shape));
        let exact = x.exact && (x.bound < 1e3 || !to.starts_with('f'));
        self.emit(&text, to, &x.shape, exact, if to == "ui8" { 256.0 } else { x.bound });
        Some(())
    }

    fn movement(&mut self) -> Option<()> {
        let x = self.find(|v| !v.shape.is_empty())?;
        let rank = x.shape.len();
        let (from, mut shape) = (x.ty(), x.shape.clone());
        let text = match self.rng.below(4) {
            0 => {
                let order = self.rng.order(rank);
                shape = order.iter().map(|&a| x.shape[a]).collect();
                let order: Vec<i64> = order.iter().map(|&a| a as i64).collect();
                format!(
                    "stablehlo.transpose %{}, dims = [{}] : ({from}) -> {}",
                    x.name,
                    list(&order),
                    ty(x.dtype, &shape)
                )
            }
            1 => {
                shape = vec![x.shape.iter().product()];
                if self.rng.chance(1, 2) {
                    shape.insert(self.rng.below(2), 1);
                }
                format!("stablehlo.reshape %{} : ({from}) -> {}", x.name, ty(x.dtype, &shape))
            }
            2 => {
                let axis = self.rng.below(rank);
                format!("stablehlo.reverse %{}, dims = [{axis}] : {from}", x.name)
            }
            _ => {
                let (at, size) = (self.rng.below(rank + 1), *self.rng.pick(&[1, 2, 3, 8]));
                shape.insert(at, size);
                let kept: Vec<i64> = (0..=rank).filter(|a| *a != at).map(|a| a as i64).collect();
                if shape.iter().product::<i64>() > LARGEST {
                    return None;
                }
                format!(
                    "stablehlo.broadcast_in_dim %{}, dims = [{}] : ({from}) -> {}",
                    x.name,
                    list(&kept),
                    ty(x.dtype, &shape)
                )
            }
        };
        self.emit(&text, x.dtype, &shape, x.exact, x.bound);
        Some(())
    }

    fn slices(&mut self) -> Option<()> {
        let x = self.find(|v| !v.shape.is_empty())?;
        if self.rng.chance(1, 2) {
            let (mut shape, mut parts) = (Vec::new(), Vec::new());
            for &n in &x.shape {
                let start = self.rng.below(n as usize) as i64;
                let limit = start + 1 + self.rng.below((n - start) as usize) as i64;
                let stride = 1 + self.rng.below(3) as i64;
                shape.push((limit - start + stride - 1) / stride);
                parts.push(format!("{start}:{limit}:{stride}"));
            }
            let text = format!(
                "stablehlo.slice %{} [{}] : ({}) -> {}",
                x.name,
                parts.join(", "),
                x.ty(),
                ty(x.dtype, &shape)
            );
            self.emit(&text, x.dtype, &shape, x.exact, x.bound);
            return Some(());
        }
        let (mut shape, mut low, mut high, mut inner) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &n in &x.shape {
            let (a, b) = (self.rng.below(4) as i64 - 1, self.rng.below(4) as i64 - 1);
            let i = self.rng.below(2) as i64;
            let size = n + (n - 1) * i + a + b;
            if size < 1 {
                return None;
            }
            shape.push(size);
            low.push(a);
            high.push(b);
            inner.push(i);
        }
        if shape.iter().product::<i64>() > LARGEST {
            return None;
        }
        let fill = self.constant(x.dtype, &[]);
        let text = format!(
            "stablehlo.pad %{}, %{}, low = [{}], high = [{}], interior = [{}] : ({}, {}) -> {}",
            x.name,
            fill.name,
            list(&low),
            list(&high),
            list(&inner),
            x.ty(),
            fill.ty(),
            ty(x.dtype, &shape)
        );
        self.emit(&text, x.dtype, &shape, x.exact, x.bound.max(fill.bound));
        Some(())
    }

    /// The operator of a reduction with its neutral element, and what is known of the result of so many terms.
    fn joining(&mut self, x: &Value, terms: i64) -> Option<(&'static str, Value, bool, f64)> {
        let (op, neutral, exact, bound) = match x.dtype {
            "i1" => [("or", "false", true, 1.0), ("and", "true", true, 1.0)][self.rng.below(2)],
            "f32" | "f64" => match self.rng.below(3) {
                0 => ("maximum", "-1.0e+30", x.exact, x.bound),
                1 => ("minimum", "1.0e+30", x.exact, x.bound),
                _ => ("add", "0.0", x.exact && x.bound * (terms as f64) < 64.0, x.bound * terms as f64),
            },
            _ => match self.rng.below(2) {
                0 => ("maximum", "0", true, x.bound),
                _ => ("add", "0", true, x.bound * terms as f64),
            },
        };
        if x.is_float() && bound > 1e6 {
            return None;
        }
        let text = format!("stablehlo.constant dense<{neutral}> : {}", ty(x.dtype, &[]));
        let name = self.fresh();
        _ = writeln!(self.body, "  %{name} = {text}");
        Some((op, Value { name, dtype: x.dtype, shape: Vec::new(), exact: true, bound }, exact, bound))
    }

    fn reduce(&mut self) -> Option<()> {
        let x = self.find(|v| !v.shape.is_empty())?;
        let rank = x.shape.len();
        let mut axes: Vec<usize> = self.rng.order(rank);
        axes.truncate(1 + self.rng.below(rank));
        axes.sort();
        let terms = axes.iter().map(|&a| x.shape[a]).product();
        let kept: Vec<i64> = (0..rank).filter(|a| !axes.contains(a)).map(|a| x.shape[a]).collect();
        let (op, init, exact, bound) = self.joining(&x, terms)?;
        let axes: Vec<i64> = axes.iter().map(|&a| a as i64).collect();
        let text = format!(
            "stablehlo.reduce(%{} init: %{}) applies stablehlo.{op} across dimensions = [{}] : ({}, {}) -> {}",
            x.name,
            init.name,
            list(&axes),
            x.ty(),
            init.ty(),
            ty(x.dtype, &kept)
        );
        self.emit(&text, x.dtype, &kept, exact, bound);
        Some(())
    }

    fn window(&mut self) -> Option<()> {
        let x = self.find(|v| !v.shape.is_empty() && v.shape.iter().product::<i64>() < 600)?;
        let (mut shape, mut sizes, mut strides, mut padding) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &n in &x.shape {
            let (size, stride) = (1 + self.rng.below(3) as i64, 1 + self.rng.below(2) as i64);
            let (low, high) = (self.rng.below(2) as i64, self.rng.below(2) as i64);
            let room = n + low + high - size;
            if room < 0 {
                return None;
            }
            shape.push(room / stride + 1);
            sizes.push(size);
            strides.push(stride);
            padding.push(format!("[{low}, {high}]"));
        }
        let (op, init, exact, bound) = self.joining(&x, sizes.iter().product())?;
        let scalar = init.ty();
        let text = format!(
            "\"stablehlo.reduce_window\"(%{}, %{}) <{{window_dimensions = array<i64: {}>, window_strides = array<i64: {}>, padding = dense<[{}]> : tensor<{}x2xi64>}}> ({{
  ^bb0(%a: {scalar}, %b: {scalar}):
    %c = stablehlo.{op} %a, %b : {scalar}
    stablehlo.return %c : {scalar}
  }}) : ({}, {scalar}) -> {}",
            x.name, init.name, list(&sizes), list(&strides), padding.join(", "), x.shape.len(), x.ty(), ty(x.dtype, &shape)
        );
        self.emit(&text, x.dtype, &shape, exact, bound);
        Some(())
    }

    fn dot(&mut self) -> Option<()> {
        let x = self.find(|v| v.shape.len() >= 2 && v.dtype != "i1" && v.dtype != "ui8" && v.bound < 1e3)?;
        let (rank, n) = (x.shape.len(), *self.rng.pick(&[1, 3, 8]));
        let k = x.shape[rank - 1];
        let bound = x.bound * 20.0 * k as f64;
        let mut shape = x.shape.clone();
        shape[rank - 1] = n;
        if x.is_float() && bound > 1e6 || shape.iter().product::<i64>() > LARGEST {
            return None;
        }
        let y = match self.find(|v| v.dtype == x.dtype && v.shape == [k, n] && v.bound <= 20.0) {
            Some(y) => y,
            None => self.constant(x.dtype, &[k, n]),
        };
        let text = format!(
            "stablehlo.dot_general %{}, %{}, contracting_dims = [{}] x [0], precision = [HIGHEST, HIGHEST] : ({}, {}) -> {}",
            x.name,
            y.name,
            rank - 1,
            x.ty(),
            y.ty(),
            ty(x.dtype, &shape)
        );
        self.emit(&text, x.dtype, &shape, x.is_int(), bound);
        Some(())
    }

    /// Slices and updates at positions of run time, and gathers of rows.
    fn at_positions(&mut self) -> Option<()> {
        let x = self.find(|v| !v.shape.is_empty())?;
        let rank = x.shape.len();
        if self.rng.chance(1, 3) {
            let count = 1 + self.rng.below(4) as i64;
            let index = self.constant("i32", &[count, 1]);
            let mut shape = x.shape.clone();
            shape[0] = count;
            let mut sizes = x.shape.clone();
            sizes[0] = 1;
            let offsets: Vec<i64> = (1..rank as i64).collect();
            let text = format!(
                "\"stablehlo.gather\"(%{}, %{}) <{{dimension_numbers = #stablehlo.gather<offset_dims = [{}], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: {}>}}> : ({}, {}) -> {}",
                x.name,
                index.name,
                list(&offsets),
                list(&sizes),
                x.ty(),
                index.ty(),
                ty(x.dtype, &shape)
            );
            self.emit(&text, x.dtype, &shape, x.exact, x.bound);
            return Some(());
        }
        let starts: Vec<Value> = (0..rank).map(|_| self.constant("i32", &[])).collect();
        let names: Vec<String> = starts.iter().map(|s| format!("%{}", s.name)).collect();
        let types = vec!["tensor<i32>"; rank].join(", ");
        let shape: Vec<i64> = x.shape.iter().map(|&n| 1 + self.rng.below(n as usize) as i64).collect();
        if self.rng.chance(1, 2) {
            let text = format!(
                "stablehlo.dynamic_slice %{}, {}, sizes = [{}] : ({}, {types}) -> {}",
                x.name,
                names.join(", "),
                list(&shape),
                x.ty(),
                ty(x.dtype, &shape)
            );
            self.emit(&text, x.dtype, &shape, x.exact, x.bound);
        } else {
            let update = self.constant(x.dtype, &shape);
            let text = format!(
                "stablehlo.dynamic_update_slice %{}, %{}, {} : ({}, {}, {types}) -> {}",
                x.name,
                update.name,
                names.join(", "),
                x.ty(),
                update.ty(),
                x.ty()
            );
            self.emit(&text, x.dtype, &x.shape, x.exact, x.bound.max(update.bound));
        }
        Some(())
    }

    fn sort(&mut self) -> Option<()> {
        let x = self.find(|v| !v.shape.is_empty() && v.exact && v.dtype != "i1")?;
        let (axis, direction) = (self.rng.below(x.shape.len()), ["LT", "GT"][self.rng.below(2)]);
        let scalar = ty(x.dtype, &[]);
        let text = format!(
            "\"stablehlo.sort\"(%{}) <{{dimension = {axis} : i64, is_stable = true}}> ({{
  ^bb0(%a: {scalar}, %b: {scalar}):
    %c = stablehlo.compare {direction}, %a, %b : ({scalar}, {scalar}) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) : ({t}) -> {t}",
            x.name,
            t = x.ty()
        );
        self.emit(&text, x.dtype, &x.shape, true, x.bound);
        Some(())
    }

    fn concatenate(&mut self) -> Option<()> {
        let x = self.find(|v| !v.shape.is_empty())?;
        let axis = self.rng.below(x.shape.len());
        let mut shape = x.shape.clone();
        shape[axis] = 1 + self.rng.below(4) as i64;
        let y = self.constant(x.dtype, &shape);
        shape[axis] += x.shape[axis];
        if shape.iter().product::<i64>() > LARGEST {
            return None;
        }
        let text = format!(
            "stablehlo.concatenate %{}, %{}, dim = {axis} : ({}, {}) -> {}",
            x.name,
            y.name,
            x.ty(),
            y.ty(),
            ty(x.dtype, &shape)
        );
        self.emit(&text, x.dtype, &shape, x.exact, x.bound.max(y.bound));
        Some(())
    }

    /// A loop of a few turns, or a choice.
    fn control(&mut self) -> Option<()> {
        let x = self.find(|v| v.is_float() && v.bound < 1e3)?;
        let t = x.ty();
        let (a, b, n) = (self.fresh(), self.fresh(), self.rng.below(5));
        if self.rng.chance(1, 2) {
            _ = writeln!(self.body, "  %{a} = stablehlo.constant dense<0> : tensor<i32>");
            let name = self.fresh();
            _ = writeln!(
                self.body,
                "  %{name}:2 = stablehlo.while(%i{name} = %{a}, %x{name} = %{}) : tensor<i32>, {t}
    cond {{
      %n{name} = stablehlo.constant dense<{n}> : tensor<i32>
      %c{name} = stablehlo.compare LT, %i{name}, %n{name} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c{name} : tensor<i1>
    }} do {{
      %o{name} = stablehlo.constant dense<1> : tensor<i32>
      %j{name} = stablehlo.add %i{name}, %o{name} : tensor<i32>
      %y{name} = stablehlo.tanh %x{name} : {t}
      %z{name} = stablehlo.add %y{name}, %{} : {t}
      stablehlo.return %j{name}, %z{name} : tensor<i32>, {t}
    }}",
                x.name, x.name
            );
            self.pool.push(Value { name: format!("{name}#1"), exact: false, bound: x.bound + 1.0, ..x });
        } else {
            let condition = self.find(|v| v.dtype == "i1" && v.shape.is_empty() && v.exact);
            let condition = condition.unwrap_or_else(|| self.constant("i1", &[]));
            let text = format!(
                "\"stablehlo.if\"(%{}) ({{
    %{a} = stablehlo.sine %{x} : {t}
    stablehlo.return %{a} : {t}
  }}, {{
    %{b} = stablehlo.negate %{x} : {t}
    stablehlo.return %{b} : {t}
  }}) : (tensor<i1>) -> {t}",
                condition.name,
                x = x.name
            );
            self.emit(&text, x.dtype, &x.shape, false, x.bound.max(1.0));
        }
        Some(())
    }
}

/// The program of a seed, and of each result its type and how large its values are.
pub(super) fn program(seed: u64) -> (String, Vec<Value>) {
    let mut w = Writer { rng: Rng(seed), body: String::new(), count: 0, pool: Vec::new() };
    for _ in 0..2 + w.rng.below(3) {
        let (dtype, shape) = (*w.rng.pick(&TYPES), w.shape());
        if shape.iter().product::<i64>() <= 400 {
            w.constant(dtype, &shape);
        }
    }
    w.constant("f32", &[3, 4]);
    for _ in 0..3 + w.rng.below(10) {
        _ = w.step();
    }
    let results: Vec<Value> = w.pool.iter().rev().take(3).cloned().collect();
    let names: Vec<String> = results.iter().map(|v| format!("%{}", v.name)).collect();
    let types: Vec<String> = results.iter().map(Value::ty).collect();
    let types = types.join(", ");
    let text =
        format!("func.func @main() -> ({types}) {{\n{}  return {} : {types}\n}}\n", w.body, names.join(", "));
    (text, results)
}
