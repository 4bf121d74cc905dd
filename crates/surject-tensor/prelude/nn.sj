// Layers. A function with `()` makes its parameters when `()` is applied: `let layer = mlp_layer(16)();` is one set of
// parameters, `layer(x)` uses it. Functions without parameters have `()` as well where they are configured.
//
// Beside the operators, the texts use what only the graph knows: `dim(d)` is the size of a captured axis or row as a
// number, `set_dim(d, n)` says what it is; `range()` counts 0, 1, 2, … and `uniform()` draws from [0, 1), both in the
// shape that their uses ask for; `uniform_at(t)` draws anew for every t; `repeat(layer, n)` is n layers one after the
// other, each with its own parameters, and `repeat(layer, [a, b])` is `layer(a)` and then `layer(b)`.
//
// Images have the rows `batch | height, width, channels`, sequences `batch, position | features`.

// ---------------------------------------------------------------------------------------------------------------
// Random numbers and first values of parameters

fn box_muller(u1, u2) = sqrt(-2.0 *. log(1.0 - u1)) *. cos(6.283185307179586 *. u2);
fn normal() = box_muller(uniform(), uniform());
fn normal_at(step) = box_muller(uniform_at(step), uniform_at(step));

// Uniform with the variance 2 / fan-in (He et al., 2015), for layers before a relu.
fn kaiming() {
  let u = uniform();
  u ++ "...|..i.. -> ... => 0" ["i"];
  (2.0 *. u - 1.0) *. sqrt(6.0 /. dim(i))
}
fn kaiming_normal() {
  let z = normal();
  z ++ "...|..i.. -> ... => 0" ["i"];
  z *. sqrt(2.0 /. dim(i))
}

// Uniform with the variance 2 / (fan-in + fan-out) (Glorot and Bengio, 2010).
fn xavier() {
  let u = uniform();
  u ++ "...|..i.. -> ..o.. => 0" ["i", "o"];
  (2.0 *. u - 1.0) *. sqrt(6.0 /. (dim(i) + dim(o)))
}
fn xavier_normal() {
  let z = normal();
  z ++ "...|..i.. -> ..o.. => 0" ["i", "o"];
  z *. sqrt(2.0 /. (dim(i) + dim(o)))
}

// ---------------------------------------------------------------------------------------------------------------
// Activations

fn silu(x) = x *. logistic(x);
fn gelu(x) = 0.5 *. x *. (1.0 + erf(0.7071067811865476 *. x));
fn gelu_tanh(x) = 0.5 *. x *. (1.0 + tanh(0.7978845608028654 *. (x + 0.044715 *. x *. x *. x)));
fn leaky_relu(slope = 0.01)()(x) = where(0.0 < x, x, !.slope *. x);
fn elu(x) = where(0.0 < x, x, expm1(min(x, 0.0)));

// ---------------------------------------------------------------------------------------------------------------
// Dense layers

fn dense(size)()(x) = { w = kaiming() } * x + { b = 0.0, o = [size] };
fn mlp_layer(size)() {
  let layer = dense(size)();
  |x| relu(layer(x))
}

// Hidden layers of the given sizes, and a last one without a relu whose size is inferred.
fn mlp(sizes)() {
  let hidden = repeat(mlp_layer, sizes)();
  |x| { w_out = kaiming() } * hidden(x) + { b_out = 0.0 }
}

// Keeps each value with probability 1 - rate, another choice for every step.
fn dropout(rate)()(x, step) = where(!.rate < uniform_at(step), x /. (1.0 - !.rate), 0.0);

// ---------------------------------------------------------------------------------------------------------------
// Normalisation. The specs say over which axes: those that their result does not have.

fn softmax(spec = "...|... => ...|", temperature = 1.0)()(x) {
  let scaled = x /. !.temperature;
  let counts = exp(scaled - stop_gradient(scaled @^^ spec));
  counts /. (counts ++ spec)
}
fn log_softmax(spec = "...|... => ...|")()(x) {
  let centred = x - stop_gradient(x @^^ spec);
  centred - log(exp(centred) ++ spec)
}

fn layer_norm(epsilon = 0.00001)()(x) {
  let mean = (x ++ "...|..d.. => ...|" ["d"]) /. dim(d);
  let centred = x - mean;
  let variance = ((centred *. centred) ++ "...|... => ...|") /. dim(d);
  { gamma = 1.0 } *. (centred *. recip_sqrt(variance + !.epsilon)) + { beta = 0.0 }
}
fn rms_norm(epsilon = 0.00001)()(x) {
  let mean_square = ((x *. x) ++ "...|..d.. => ...|" ["d"]) /. dim(d);
  { gamma = 1.0 } *. (x *. recip_sqrt(mean_square + !.epsilon))
}

// By the statistics of the batch. Images have one scale and one shift a channel.
fn batch_norm1d(epsilon = 0.00001)()(x) {
  let mean = (x ++ "..b..|..c.. => ..c.." ["b"]) /. dim(b);
  let centred = x - mean;
  let variance = ((centred *. centred) ++ "..b..|..c.. => ..c..") /. dim(b);
  { gamma = 1.0 } *. (centred *. recip_sqrt(variance + !.epsilon)) + { beta = 0.0 }
}
fn batch_norm2d(epsilon = 0.00001)()(x) {
  let total = x ++ "..b..|h, w, c => c" ["b", "h", "w", "c"];
  let count = dim(b) *. dim(h) *. dim(w);
  let centred = x - total /. count;
  let variance = ((centred *. centred) ++ "..b..|h, w, c => c") /. count;
  { gamma = 1.0, o = [c] } *. (centred *. recip_sqrt(variance + !.epsilon)) + { beta = 0.0, o = [c] }
}

// By the statistics of the batch where `training` is 1; by their running averages, which training updates, where it
// is 0. The running variance is kept as its difference from 1, so that the state starts at 0.
fn batch_norm1d_running(momentum = 0.9, epsilon = 0.00001)()(x, training) {
  let mean = (x ++ "..b..|..c.. => ..c.." ["b"]) /. dim(b);
  let spread = x - mean;
  let variance = ((spread *. spread) ++ "..b..|..c.. => ..c..") /. dim(b);
  let rate = training *. (1.0 - !.momentum);
  { running_mean } =+ rate *. (mean - running_mean);
  { running_excess } =+ rate *. (variance - 1.0 - running_excess);
  let centred = x - where(training, mean, running_mean);
  let scale = recip_sqrt(where(training, variance, 1.0 + running_excess) + !.epsilon);
  { gamma = 1.0 } *. (centred *. scale) + { beta = 0.0 }
}

// ---------------------------------------------------------------------------------------------------------------
// Convolutions and pooling. Channels are one axis with a label, no row variable: axes before a row variable only meet
// the leading axes of other tensors, so that a sum with an image would have both.

fn convolution2d(channels, kernel_size = 3, stride = 1, dilation = 1, use_padding = true)()(x) {
  let y = x +* { kernel = kaiming(), o = [channels] }
    "...|stride*oh+dilation*kh, stride*ow+dilation*kw, ic ; kh, kw, ic -> oc => ...|oh, ow, oc"
    ["kh", "kw"];
  set_dim(kh, kernel_size);
  set_dim(kw, kernel_size);
  y
}
fn conv2d(channels, kernel_size = 3, stride = 1, dilation = 1, use_padding = true)() {
  let convolve = convolution2d(channels, kernel_size: kernel_size, stride: stride, dilation: dilation,
    use_padding: use_padding)();
  |x| convolve(x) + { bias = 0.0, o = [channels] }
}
fn conv1d(channels, kernel_size = 3, stride = 1, dilation = 1, use_padding = true)()(x) {
  let y = x +* { kernel = kaiming(), o = [channels] }
    "...|stride*o+dilation*k, ic ; k, ic -> oc => ...|o, oc" ["k"];
  set_dim(k, kernel_size);
  y + { bias = 0.0, o = [channels] }
}

// A kernel for each channel, then a mixture of the channels in each place.
fn depthwise_separable_conv2d(channels, kernel_size = 3, stride = 1, use_padding = true)()(x) {
  let depthwise = x +* { kernel = kaiming() }
    "...|stride*oh+kh, stride*ow+kw, c ; kh, kw, c => ...|oh, ow, c" ["kh", "kw"];
  set_dim(kh, kernel_size);
  set_dim(kw, kernel_size);
  let mixed = depthwise +* { mix = kaiming(), o = [channels] }
    "...|h, w, ic ; ic -> oc => ...|h, w, oc";
  mixed + { bias = 0.0, o = [channels] }
}

fn max_pool2d(window_size = 2, stride = 2, use_padding = false)()(x) {
  let y = x @^^ "...|stride*oh+wh, stride*ow+ww, c => ...|oh, ow, c" ["wh", "ww"];
  set_dim(wh, window_size);
  set_dim(ww, window_size);
  y
}
fn avg_pool2d(window_size = 2, stride = 2, use_padding = false)()(x) {
  let y = x ++ "...|stride*oh+wh, stride*ow+ww, c => ...|oh, ow, c" ["wh", "ww"];
  set_dim(wh, window_size);
  set_dim(ww, window_size);
  y /. (dim(wh) *. dim(ww))
}
fn global_avg_pool2d(x) = (x ++ "...|h, w, c => ...|c" ["h", "w"]) /. (dim(h) *. dim(w));

fn conv_bn_relu(channels, kernel_size = 3, stride = 1, use_padding = true)() {
  let convolve = convolution2d(channels, kernel_size: kernel_size, stride: stride, use_padding: use_padding)();
  let normalise = batch_norm2d()();
  |x| relu(normalise(convolve(x)))
}

// Two convolutions around which the input goes unchanged.
fn resnet_block(channels)() {
  let first = conv_bn_relu(channels)();
  let second = convolution2d(channels)();
  let normalise = batch_norm2d()();
  |x| relu(normalise(second(first(x))) + x)
}

// The same with a stride and other channels: the input goes around through a convolution of size one.
fn resnet_block_down(channels, stride = 2)() {
  let first = conv_bn_relu(channels, stride: stride)();
  let second = convolution2d(channels)();
  let normalise = batch_norm2d()();
  let shortcut = convolution2d(channels, kernel_size: 1, stride: stride)();
  let normalise_shortcut = batch_norm2d()();
  |x| relu(normalise(second(first(x))) + normalise_shortcut(shortcut(x)))
}

// Two convolutions with pooling, two hidden layers, and a last one whose size is inferred.
fn lenet(channels1 = 6, channels2 = 16, hidden1 = 120, hidden2 = 84, kernel_size = 5)() {
  let conv1 = conv2d(channels1, kernel_size: kernel_size)();
  let conv2 = conv2d(channels2, kernel_size: kernel_size)();
  let pool = max_pool2d()();
  let classify = mlp([hidden1, hidden2])();
  |x| classify(pool(relu(conv2(pool(relu(conv1(x)))))))
}

// ---------------------------------------------------------------------------------------------------------------
// Sequences

fn interleave(even, odd) =
  (even ++ "...|... -> ..., i => ...|... -> ..., 2*i") + (odd ++ "...|... -> ..., i => ...|... -> ..., 2*i+1");
fn deinterleave_even(x) = x ++ "...|... -> ..., 2*i => ...|... -> ..., i";
fn deinterleave_odd(x) = x ++ "...|... -> ..., 2*i+1 => ...|... -> ..., i";

// Class numbers as rows with one 1.
fn one_hot(classes)()(ids) = ids == range(classes);
fn embedding(size, classes)()(ids) = { table = normal(), o = [size] } * (ids == range(classes));

// The angle of each position and each frequency base^(-i/n), i < n.
fn position_angles(base = 10000.0)() {
  let i = range();
  i ++ "f => f" ["f"];
  let frequencies = exp(-i *. (log(!.base) /. dim(f)));
  range() +* frequencies "s; f => s|f"
}
fn sinusoidal_positions(base = 10000.0)()(x) {
  let angles = position_angles(base: base)();
  x + interleave(sin(angles), cos(angles))
}
fn learned_positions()(x) = x + ({ positions = normal() } ++ "s, ..d.. => s|..d..");

// Turns each pair of features by the angle of the position (Su et al., 2021).
fn rope(base = 10000.0)()(x) {
  let angles = position_angles(base: base)();
  let even = deinterleave_even(x);
  let odd = deinterleave_odd(x);
  interleave(even *. cos(angles) - odd *. sin(angles), even *. sin(angles) + odd *. cos(angles))
}

// Scores of keys after the query are out of reach.
fn causal(scores) {
  let query = range() ++ "s => s|";
  let key = range() ++ "t => t->";
  where(le(key, query), scores, -1000000000.0)
}

fn dot_product_attention(mask = |scores| scores, drop = |weights| weights)()(q, k, v) {
  let scores = (q +* k "... s|h d ; ... t|h d => ... s|t -> h" ["d"]) /. sqrt(dim(d));
  let weights = softmax(spec: "...|..t.. -> ... => ...|...")()(mask(scores));
  drop(weights) +* v "... s|t -> h ; ... t|h e => ... s|h e"
}

// Queries from `x`, keys and values from `memory`. `rotate` is applied to queries and keys, `mask` to the scores, `drop`
// to the weights. The size of the result is inferred: in a block it is that of the input.
fn cross_attention(heads, d_k, d_v, rotate = |x| x, mask = |scores| scores, drop = |weights| weights)()(x, memory) {
  let q = rotate({ w_q = xavier(), o = [heads, d_k] } * x);
  let k = rotate({ w_k = xavier(), o = [heads, d_k] } * memory);
  let v = { w_v = xavier(), o = [heads, d_v] } * memory;
  { w_o = xavier() } * dot_product_attention(mask: mask, drop: drop)()(q, k, v)
}
fn multi_head_attention(heads, d_k, d_v, rotate = |x| x, mask = |scores| scores, drop = |weights| weights)() {
  let attend = cross_attention(heads, d_k, d_v, rotate: rotate, mask: mask, drop: drop)();
  |x| attend(x, x)
}

// Blocks that normalise after each sum.
fn encoder_block(heads, d_k, d_v, d_ff, rotate = |x| x, mask = |scores| scores, drop = |weights| weights)() {
  let attend = multi_head_attention(heads, d_k, d_v, rotate: rotate, mask: mask, drop: drop)();
  let feed = mlp([d_ff])();
  let norm1 = layer_norm()();
  let norm2 = layer_norm()();
  let attended = |x| norm1(x + attend(x));
  let fed = |x| norm2(x + feed(x));
  |x| fed(attended(x))
}
fn decoder_block(heads, d_k, d_v, d_ff, rotate = |x| x, drop = |weights| weights)() {
  let attend = multi_head_attention(heads, d_k, d_v, rotate: rotate, mask: causal, drop: drop)();
  let consult = cross_attention(heads, d_k, d_v, drop: drop)();
  let feed = mlp([d_ff])();
  let norm1 = layer_norm()();
  let norm2 = layer_norm()();
  let norm3 = layer_norm()();
  let attended = |x| norm1(x + attend(x));
  let informed = |x, memory| norm2(x + consult(x, memory));
  let fed = |x| norm3(x + feed(x));
  |x, memory| fed(informed(attended(x), memory))
}

// Stacks of blocks over features.
fn encoder(depth, heads, d_k, d_v, d_ff, rotate = |x| x, drop = |weights| weights)() =
  repeat(encoder_block(heads, d_k, d_v, d_ff, rotate: rotate, drop: drop), depth)();
fn decoder(depth, heads, d_k, d_v, d_ff, rotate = |x| x, drop = |weights| weights)() =
  repeat(decoder_block(heads, d_k, d_v, d_ff, rotate: rotate, drop: drop), depth)();
fn decoder_only(depth, heads, d_k, d_v, d_ff, rotate = |x| x, drop = |weights| weights)() =
  repeat(encoder_block(heads, d_k, d_v, d_ff, rotate: rotate, mask: causal, drop: drop), depth)();

// From rows with one 1 (source and target) to logits, whose size is inferred.
fn transformer(depth, heads, d_model, d_k, d_v, d_ff, drop = |weights| weights)() {
  let encode = encoder(depth, heads, d_k, d_v, d_ff, drop: drop)();
  let decode = decoder(depth, heads, d_k, d_v, d_ff, drop: drop)();
  let positions = sinusoidal_positions()();
  let embed_source = |source| positions({ w_source = normal(), o = [d_model] } * source);
  let embed_target = |target| positions({ w_target = normal(), o = [d_model] } * target);
  |source, target| { w_logits = xavier() } * decode(embed_target(target), encode(embed_source(source)))
}

// ---------------------------------------------------------------------------------------------------------------
// Losses: means over the batch

fn cross_entropy(logits, target) {
  let scores = target *. log_softmax()()(logits);
  -(scores ++ "..b..|... => 0" ["b"]) /. dim(b)
}
fn mean_squared_error(prediction, target) {
  let error = prediction - target;
  ((error *. error) ++ "..b..|..o.. => 0" ["b", "o"]) /. (dim(b) *. dim(o))
}
// Of logits; targets are between 0 and 1.
fn binary_cross_entropy(logits, target) {
  let losses = softplus(logits) - target *. logits;
  (losses ++ "..b..|..o.. => 0" ["b", "o"]) /. (dim(b) *. dim(o))
}
// Targets are -1 and 1.
fn hinge_loss(prediction, target) {
  let losses = relu(1.0 - target *. prediction);
  (losses ++ "..b..|..o.. => 0" ["b", "o"]) /. (dim(b) *. dim(o))
}
