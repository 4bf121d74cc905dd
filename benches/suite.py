#!/usr/bin/env python3
"""Exports the suite of workloads as StableHLO from JAX: a folder each, with `program.mlir` and the inputs that are not
plain noise (`inN.npy`); `surject bench` makes the others.

    suite.py [FOLDER] [NAME …]      default folder: target/suite; names are prefixes, all when none is given
    suite.py --small [NAME …]       the workloads at sizes that an interpreter runs, to tests/suite

Every workload has two sizes: its own, and `NAME_odd`, where the extents are no multiples of anything. Programs that no
cache holds and those of images and other short rows are no part of the suite; without arguments they are written too, to
target/large and target/images.
"""
import os
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np
from exported import export
from jax import lax

jax.config.update("jax_default_matmul_precision", "highest")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WORKLOADS = []
LARGE = []
IMAGES = []
rng = np.random.default_rng(3)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def bf16(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def i8(*shape):
    return rng.integers(-128, 127, shape).astype(np.int8)


def below(n, *shape):
    return rng.integers(0, n, shape).astype(np.int32)


def add(name, function, own, odd):
    """A workload: a function, and its arguments in both sizes."""
    WORKLOADS.append((name, function, own))
    WORKLOADS.append((f"{name}_odd", function, odd))


def grad(function, *wanted):
    """The gradient of the sum of a function's product with a cotangent, which is the last argument."""
    def result(*arguments):
        *rest, cotangent = arguments
        return jax.vjp(lambda *a: function(*a), *rest)[1](cotangent)
    return result


# Contractions.
product = lambda a, b: a @ b
for n, odd in ((128, 125), (512, 509), (1000, 997), (1024, 1023), (2048, 1999)):
    add(f"matmul_{n}", product, (f32(n, n), f32(n, n)), (f32(odd, odd), f32(odd, odd)))
add("matmul_1x4096x4096", product, (f32(1, 4096), f32(4096, 4096)), (f32(1, 4001), f32(4001, 3999)))
add("matmul_8x4096x4096", product, (f32(8, 4096), f32(4096, 4096)), (f32(7, 4001), f32(4001, 3999)))
add("matmul_4096x64x4096", product, (f32(4096, 64), f32(64, 4096)), (f32(4001, 63), f32(63, 3999)))
add("matmul_batched", product, (f32(64, 128, 128), f32(64, 128, 64)), (f32(63, 127, 125), f32(63, 125, 61)))
add("matmul_bf16", product, (bf16(1024, 1024), bf16(1024, 1024)), (bf16(1021, 1019), bf16(1019, 1023)))
add("matmul_i8", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32),
    (i8(1024, 1024), i8(1024, 1024)), (i8(1021, 1019), i8(1019, 1023)))
add("einsum_bqhd_bkhd", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k),
    (f32(2, 256, 8, 64), f32(2, 256, 8, 64)), (f32(2, 251, 7, 61), f32(2, 241, 7, 61)))
add("einsum_bij_kj", lambda a, b: jnp.einsum("bij,kj->ikb", a, b), (f32(16, 128, 256), f32(128, 256)), (f32(15, 127, 251), f32(125, 251)))
add("einsum_ij_jk_kl", lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c),
    (f32(256, 512), f32(512, 512), f32(512, 128)), (f32(251, 509), f32(509, 511), f32(511, 127)))
add("einsum_bhqk_bkhd", lambda w, v: jnp.einsum("bhqk,bkhd->bqhd", w, v),
    (f32(2, 8, 256, 256), f32(2, 256, 8, 64)), (f32(2, 7, 251, 241), f32(2, 241, 7, 61)))
add("einsum_bij_bik", lambda a, b: jnp.einsum("bij,bik->bjk", a, b), (f32(16, 256, 128), f32(16, 256, 192)), (f32(15, 251, 127), f32(15, 251, 189)))


# Convolutions.
def conv(stride=1, padding="SAME", dilation=1, lhs=1, groups=1):
    return lambda x, k: lax.conv_general_dilated(
        x, k, (stride, stride), padding, lhs_dilation=(lhs, lhs), rhs_dilation=(dilation, dilation),
        dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups or x.shape[-1])


image, odd_image = f32(8, 56, 56, 64), f32(5, 53, 51, 61)
add("conv3x3", conv(), (image, f32(3, 3, 64, 64)), (odd_image, f32(3, 3, 61, 59)))
add("conv1x1", conv(), (image, f32(1, 1, 64, 128)), (odd_image, f32(1, 1, 61, 127)))
add("conv7x7_stride2", conv(2), (f32(4, 224, 224, 3), f32(7, 7, 3, 64)), (f32(3, 221, 219, 3), f32(7, 7, 3, 61)))
add("conv3x3_dilated", conv(dilation=2), (image, f32(3, 3, 64, 64)), (odd_image, f32(3, 3, 61, 59)))
add("conv3x3_grouped", conv(groups=4), (image, f32(3, 3, 16, 64)), (f32(5, 53, 51, 60), f32(3, 3, 15, 60)))
add("conv3x3_depthwise", conv(groups=0), (image, f32(3, 3, 1, 64)), (f32(5, 53, 51, 61), f32(3, 3, 1, 61)))
add("conv3x3_transposed", conv(lhs=2, padding=((1, 2), (1, 2))), (f32(8, 28, 28, 64), f32(3, 3, 64, 64)), (f32(5, 27, 25, 61), f32(3, 3, 61, 59)))
add("conv3x3_weight_gradient", lambda x, k, g: jax.vjp(lambda k: conv()(x, k), k)[1](g)[0],
    (image, f32(3, 3, 64, 64), image), (odd_image, f32(3, 3, 61, 59), f32(5, 53, 51, 59)))
add("conv3x3_input_gradient", lambda x, k, g: jax.vjp(lambda x: conv()(x, k), x)[1](g)[0],
    (image, f32(3, 3, 64, 64), image), (odd_image, f32(3, 3, 61, 59), f32(5, 53, 51, 59)))


# Pooling.
def pool(x, init, join):
    return lax.reduce_window(x, init, join, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


max_pool = lambda x: pool(x, -np.inf, lax.max)
mean_pool = lambda x: pool(x, np.float32(0), lax.add) * np.float32(0.25)
add("max_pool", max_pool, (image,), (odd_image,))
add("max_pool_gradient", grad(max_pool), (image, f32(8, 28, 28, 64)), (odd_image, f32(5, 26, 25, 61)))
add("max_pool3_overlapping", lambda x: lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), (image,), (odd_image,))
add("mean_pool", mean_pool, (image,), (odd_image,))
add("mean_pool_gradient", grad(mean_pool), (image, f32(8, 28, 28, 64)), (odd_image, f32(5, 26, 25, 61)))


# Normalisations and pointwise.
def layernorm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * scale + shift


def rmsnorm(x, scale):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * scale


def batchnorm(x, scale, shift):
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(var + 1e-5) * scale + shift, mean, var


def cross_entropy(x, labels):
    loss = lambda x: -jnp.take_along_axis(jax.nn.log_softmax(x, -1), labels[:, None], -1).mean()
    return jax.value_and_grad(loss)(x)


square, odd_square = f32(1024, 1024), f32(1021, 1019)
add("softmax", lambda x: jax.nn.softmax(x, -1), (square,), (odd_square,))
add("log_softmax_cross_entropy", cross_entropy, (square, below(1024, 1024)), (odd_square, below(1019, 1021)))
add("layernorm", layernorm, (square, f32(1024), f32(1024)), (odd_square, f32(1019), f32(1019)))
add("layernorm_gradient", grad(layernorm), (square, f32(1024), f32(1024), square), (odd_square, f32(1019), f32(1019), odd_square))
add("rmsnorm", rmsnorm, (square, f32(1024)), (odd_square, f32(1019)))
add("batchnorm", batchnorm, (image, f32(64), f32(64)), (odd_image, f32(61), f32(61)))
add("batchnorm_gradient", lambda x, scale, shift, g: jax.vjp(lambda *a: batchnorm(*a)[0], x, scale, shift)[1](g),
    (image, f32(64), f32(64), image), (odd_image, f32(61), f32(61), odd_image))
add("gelu_bias", lambda x, b: jax.nn.gelu(x + b), (square, f32(1024)), (odd_square, f32(1019)))
add("silu_gate", lambda x, g: jax.nn.silu(g) * x, (square, square), (odd_square, odd_square))
add("gelu_erf_bias", lambda x, b: jax.nn.gelu(x + b, approximate=False), (square, f32(1024)), (odd_square, f32(1019)))
for name, function in (("erf", lax.erf), ("erfc", lax.erfc), ("tanh", jnp.tanh), ("sin", jnp.sin)):
    add(name, function, (square,), (odd_square,))
for name, function in (("lgamma", lax.lgamma), ("digamma", lax.digamma)):
    add(name, lambda x, function=function: function(jnp.abs(x) + 0.1), (square,), (odd_square,))
add("softmax_rows_10", lambda x: jax.nn.softmax(x, -1), (f32(60_000, 10),), (f32(59_999, 11),))
add("layernorm_rows_16", layernorm, (f32(40_000, 16), f32(16), f32(16)), (f32(39_999, 13), f32(13), f32(13)))
add("logsumexp_columns", lambda x: jax.nn.logsumexp(x, 0), (square,), (odd_square,))
add("causal_mask", lambda x: x + jnp.where(jnp.arange(x.shape[-1]) <= jnp.arange(x.shape[-2])[:, None], 0, -1e9),
    (f32(8, 512, 512),), (f32(9, 333, 335),))

# Reductions.
tall, odd_tall = f32(4096, 1024), f32(4001, 1019)
add("sum_rows", lambda x: x.sum(1), (tall,), (odd_tall,))
add("sum_columns", lambda x: x.sum(0), (tall,), (odd_tall,))
add("sum_all", lambda x: x.sum(), (tall,), (odd_tall,))
for n in (3, 5, 7):
    add(f"sum_inner_{n}", lambda x: x.sum(1), (f32(200_000, n),), (f32(199_999, n),))
    add(f"sum_middle_{n}", lambda x: x.sum(1), (f32(4096, n, 64),), (f32(4001, n, 61),))
add("argmax", lambda x: jnp.argmax(x, -1), (square,), (odd_square,))
add("argmax_columns", lambda x: jnp.argmax(x, 0), (square,), (odd_square,))
add("max_inner_9", lambda x: x.max(-1), (f32(60_000, 9),), (f32(59_999, 9),))
add("argmin_inner_17", lambda x: jnp.argmin(x, -1), (f32(40_000, 17),), (f32(39_999, 17),))
add("min_and_max_rows", lambda x: (x.min(-1), x.max(-1)), (square,), (odd_square,))
add("cumulative_max", lambda x: lax.cummax(x, 1), (square,), (odd_square,))
add("cumulative_logsumexp", lambda x: lax.cumlogsumexp(x, 1), (f32(128, 256),), (f32(101, 301),))
add("cumsum", lambda x: jnp.cumsum(x, -1), (square,), (odd_square,))
add("cumsum_columns", lambda x: jnp.cumsum(x, 0), (square,), (odd_square,))
add("cumsum_1m", jnp.cumsum, (f32(1 << 20),), (f32(999_983),))
add("outer_difference", lambda a, b: ((a[:, None] - b) ** 2).sum(-1), (f32(2048), f32(2048)), (f32(2039), f32(2029)))
add("pairwise_distances", lambda a, b: jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)), (f32(512, 64), f32(512, 64)), (f32(509, 61), f32(503, 61)))

# Moves.
add("transpose", lambda x: x.T, (f32(2048, 2048),), (f32(2039, 2029),))
add("transpose_add", lambda x: x.T + 1, (f32(2048, 2048),), (f32(2039, 2029),))
add("nhwc_to_nchw", lambda x: x.transpose(0, 3, 1, 2), (image,), (odd_image,))
add("nchw_to_nhwc", lambda x: x.transpose(0, 2, 3, 1) * 2, (f32(8, 64, 56, 56),), (f32(5, 61, 53, 51),))
add("moves", lambda a, b: jnp.concatenate([jnp.pad(a, ((0, 0), (1, 2)))[:, ::-1], b[:, 3:], a[::-1]], 1), (square, square), (odd_square, odd_square))
add("moves_reverse", lambda a, b: a[::-1, ::-1] + jnp.pad(b[1:, :-1], ((0, 1), (1, 0)))[::-1], (square, square), (odd_square, odd_square))
add("moves_rows", lambda a, b: jnp.concatenate([b[::2], lax.rev(a, (1,))[5:], jnp.pad(b, ((3, 0), (0, 0)), constant_values=1)], 0),
    (square, square), (odd_square, odd_square))
add("embedding", lambda w, i: w[i], (f32(32_000, 256), below(32_000, 4096)), (f32(31_999, 251), below(31_999, 4001)))
add("embedding_gradient", lambda w, i, g: jnp.zeros_like(w).at[i].add(g),
    (f32(32_000, 256), below(32_000, 4096), f32(4096, 256)), (f32(31_999, 251), below(31_999, 4001), f32(4001, 251)))
add("scatter_add_3", lambda x, i, u: x.at[i].add(u), (f32(5000, 3), below(5000, 100_000), f32(100_000, 3)), (f32(4999, 3), below(4999, 99_999), f32(99_999, 3)))
add("segment_sum", lambda u, i: jax.ops.segment_sum(u, i, 1001), (f32(60_000, 16), np.sort(below(1001, 60_000))), (f32(59_999, 17), np.sort(below(1001, 59_999))))
add("gather_elements", lambda x, i, j: x[i, j], (f32(704, 600), below(704, 300_000), below(600, 300_000)), (f32(701, 601), below(701, 299_999), below(601, 299_999)))
add("image_to_planes", lambda x: x.transpose(0, 3, 1, 2), (f32(16, 224, 224, 3),), (f32(15, 225, 223, 3),))
add("image_from_planes", lambda x: x.transpose(0, 2, 3, 1), (f32(16, 3, 224, 224),), (f32(15, 3, 225, 223),))
add("to_bytes", lambda x: jnp.clip(jnp.round(x * 255), 0, 255).astype(jnp.uint8), (square,), (odd_square,))
add("sort_1m", jnp.sort, (f32(1 << 20),), (f32(999_983),))
add("sort_rows", lambda x: jnp.sort(x, -1), (square,), (odd_square,))


# Models.
def attend(q, k, v, causal=False):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(q.shape[-1]))
    if causal:
        mask = jnp.tril(jnp.ones((q.shape[1], k.shape[1]), bool))
        scores = jnp.where(mask, scores, -1e30)
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores, axis=-1), v)


causal = lambda q, k, v: attend(q, k, v, True)
heads, odd_heads = f32(2, 256, 8, 64), f32(2, 251, 7, 61)
long, odd_long = f32(1, 1024, 8, 64), f32(1, 1019, 7, 61)
add("attention", attend, (heads,) * 3, (odd_heads,) * 3)
add("attention_gradient", grad(attend), (heads,) * 4, (odd_heads,) * 4)
add("attention_causal_1024", causal, (long,) * 3, (odd_long,) * 3)
add("attention_causal_1024_gradient", grad(causal), (long,) * 4, (odd_long,) * 4)


def lstm(x, wx, wh, b):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split((x @ wx + h @ wh) * np.float32(0.08) + b, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    start = jnp.zeros((x.shape[1], wh.shape[0]), x.dtype)
    return lax.scan(step, (start, start), x)[1]


add("lstm", lstm, (f32(128, 32, 128), f32(128, 512), f32(128, 512), f32(512)), (f32(127, 31, 125), f32(125, 508), f32(127, 508), f32(508)))
key = np.array([1, 2], np.uint32)
add("threefry_normal", lambda key: jax.random.normal(jax.random.wrap_key_data(key), (1 << 20,)), (key,), (key,))
WORKLOADS[-1] = ("threefry_normal_odd", lambda key: jax.random.normal(jax.random.wrap_key_data(key), (999_983,)), (key,))


def mlp_step(x, y, w1, b1, w2, b2):
    loss = lambda w: jnp.mean((jnp.tanh(x @ w[0] * np.float32(0.05) + w[1]) @ w[2] + w[3] - y) ** 2)
    value, gradient = jax.value_and_grad(loss)((w1, b1, w2, b2))
    return (value, *[w - 0.1 * g for w, g in zip((w1, b1, w2, b2), gradient)])


for batch, odd in ((1, 2), (32, 31), (512, 509)):
    add(f"mlp_step_{batch}", mlp_step, (f32(batch, 784), f32(batch, 10), f32(784, 512), f32(512), f32(512, 10), f32(10)),
        (f32(odd, 783), f32(odd, 10), f32(783, 509), f32(509), f32(509, 10), f32(10)))


def lenet_step(x, y, k1, k2, w1, b1, w2, b2):
    def loss(w):
        k1, k2, w1, b1, w2, b2 = w
        h = max_pool(jax.nn.relu(conv()(x, k1)))
        h = max_pool(jax.nn.relu(conv()(h, k2)))
        h = jax.nn.relu(h.reshape(h.shape[0], -1) @ w1 * np.float32(0.05) + b1)
        logits = h @ w2 + b2
        return -(jax.nn.log_softmax(logits, -1) * y).sum(-1).mean()
    value, gradient = jax.value_and_grad(loss)((k1, k2, w1, b1, w2, b2))
    return (value, *[w - 0.1 * g for w, g in zip((k1, k2, w1, b1, w2, b2), gradient)])


def lenet(batch):
    return (f32(batch, 8, 8, 1), f32(batch, 10), f32(3, 3, 1, 16), f32(3, 3, 16, 32), f32(128, 64), f32(64), f32(64, 10), f32(10))


add("lenet_step", lenet_step, lenet(64), lenet(61))


def block(x, s1, wqkv, wo, s2, w1, w2, n):
    scale = np.float32(0.05)
    split = lambda a: a.reshape(*a.shape[:2], n, a.shape[2] // n)
    q, k, v = jnp.split(rmsnorm(x, s1) @ wqkv * scale, 3, axis=-1)
    x = x + attend(split(q), split(k), split(v), True).reshape(x.shape) @ wo * scale
    return x + jax.nn.gelu(rmsnorm(x, s2) @ w1 * scale) @ w2 * scale


def weights(d):
    return (f32(d), f32(d, 3 * d), f32(d, d), f32(d), f32(d, 4 * d), f32(4 * d, d))


def train(layers, n):
    def step(x, y, *w):
        def loss(w):
            h = x
            for l in range(layers):
                h = block(h, *w[6 * l:6 * l + 6], n)
            return ((h - y) ** 2).mean()
        value, gradient = jax.value_and_grad(loss)(w)
        return (value, *[w - 0.1 * g for w, g in zip(w, gradient)])
    return step


for d, odd in ((64, 60), (512, 508)):
    add(f"block_forward_{d}", lambda x, *w: block(x, *w, 4), (f32(2, 128, d), *weights(d)), (f32(2, 127, odd), *weights(odd)))
    add(f"block_step_{d}", train(1, 4), (f32(2, 128, d), f32(2, 128, d), *weights(d)), (f32(2, 127, odd), f32(2, 127, odd), *weights(odd)))
add("decoder12_step", train(12, 4), (f32(2, 128, 256), f32(2, 128, 256), *(weights(256) * 12)), (f32(1, 127, 252), f32(1, 127, 252), *(weights(252) * 12)))


# Programs that move, sum or normalise what no cache holds.
def large(name, function, *arguments):
    LARGE.append((name, function, arguments))


square, wide, ragged, images = f32(4096, 4096), f32(16384, 1024), f32(16383, 1021), f32(64, 56, 56, 64)
large("add", lambda a, b: a + b, square, square)
large("scale", lambda a: a * 2 + 1, square)
large("bias_relu", lambda x, b: jnp.maximum(x + b, 0), wide, f32(1024))
large("silu_gate", lambda a, b: jax.nn.silu(a) * b, square, square)
large("choice", lambda x, y: jnp.where(y > 0, x * 1.25, 0), square, square)
large("to_bf16", lambda x: x.astype(jnp.bfloat16), square)
large("adam", lambda w, m, v, g: (w - 1e-3 * m / (jnp.sqrt(v) + 1e-8), 0.9 * m + 0.1 * g, 0.999 * v + 1e-3 * g * g), *(f32(2048, 4096),) * 4)
large("outer_product", lambda a, b: a[:, None] * b, f32(5000), f32(5001))
large("softmax", lambda x: jax.nn.softmax(x, -1), wide)
large("softmax_odd", lambda x: jax.nn.softmax(x, -1), ragged)
large("layernorm", layernorm, wide, f32(1024), f32(1024))
large("layernorm_odd", layernorm, ragged, f32(1021), f32(1021))
large("layernorm_gradient", grad(layernorm), wide, f32(1024), f32(1024), wide)
large("rmsnorm", rmsnorm, wide, f32(1024))
large("batchnorm", batchnorm, images, f32(64), f32(64))
large("sum_rows", lambda x: x.sum(1), square)
large("sum_columns", lambda x: x.sum(0), square)
large("sum_all", lambda x: x.sum(), square)
large("transpose", lambda x: x.T, square)
large("transpose_odd", lambda x: x.T, f32(4095, 4093))
large("nhwc_to_nchw", lambda x: x.transpose(0, 3, 1, 2), images)
large("nchw_to_nhwc", lambda x: x.transpose(0, 2, 3, 1), f32(64, 64, 56, 56))
large("concatenate", lambda a, b: jnp.concatenate([a, b], 1), f32(8192, 1000), f32(8192, 1048))
large("stack", lambda a, b: jnp.stack([a, b], -1), f32(4096, 2048), f32(4096, 2048))
large("pad", lambda x: jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))), images)
large("slice", lambda x: x[:, 5:-7], wide)
large("reverse", lambda x: x[:, ::-1], f32(8192, 2048))
large("rotary", lambda x, c, s: jnp.concatenate([x[..., :32] * c - x[..., 32:] * s, x[..., 32:] * c + x[..., :32] * s], -1),
      f32(8, 1024, 32, 64), f32(1024, 1, 32), f32(1024, 1, 32))
large("max_pool", max_pool, f32(64, 112, 112, 32))
large("embedding", lambda table, at: table[at], f32(50000, 512), below(50000, 16384))


# Programs of images, of short rows, and of narrow elements.
def image_program(name, function, *arguments):
    IMAGES.append((name, function, arguments))


def u8(*shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


def complex_product(a, b):
    real = a[:, 0] * b[:, 0] - a[:, 1] * b[:, 1]
    return jnp.stack([real, a[:, 0] * b[:, 1] + a[:, 1] * b[:, 0]], -1)


def box_overlap(a, b):
    low, high = jnp.maximum(a[:, :2], b[:, :2]), jnp.minimum(a[:, 2:], b[:, 2:])
    area = lambda box: (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1])
    common = jnp.prod(jnp.maximum(high - low, 0), -1)
    return common / (area(a) + area(b) - common)


def quaternion_product(p, q):
    (a, b, c, d), (e, f, g, h) = p.T, q.T
    return jnp.stack([a * e - b * f - c * g - d * h, a * f + b * e + c * h - d * g,
                      a * g - b * h + c * e + d * f, a * h + b * g - c * f + d * e], -1)


def gray(x):
    return (x.astype(jnp.float32) * np.float32([0.299, 0.587, 0.114])).sum(-1)


mean, deviation = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
norm = lambda x: layernorm(x, np.float32(1), np.float32(0))


def images(tail, n, h, w):
    pixels, bytes_ = f32(n, h, w, 3), u8(n, h, w, 3)
    many = f32(n * h * w, 3)
    image_program(f"normalize{tail}", lambda x: (x.astype(jnp.float32) / 255 - mean) / deviation, bytes_)
    image_program(f"normalize_planes{tail}", lambda x: ((x.astype(jnp.float32) / 255 - mean) / deviation).transpose(0, 3, 1, 2), bytes_)
    image_program(f"gray_f32{tail}", gray, pixels)
    image_program(f"gray_u8{tail}", gray, bytes_)
    image_program(f"flip_f32{tail}", lambda x: x[:, :, ::-1], pixels)
    image_program(f"flip_u8{tail}", lambda x: x[:, :, ::-1], bytes_)
    image_program(f"bgr{tail}", lambda x: x[..., ::-1], pixels)
    image_program(f"crop{tail}", lambda x: x[:, 5:-7, 9:-3], pixels)
    image_program(f"pad{tail}", lambda x: jnp.pad(x, ((0, 0), (2, 2), (2, 2), (0, 0))), pixels)
    image_program(f"rgba{tail}", lambda x: jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], -1), pixels)
    image_program(f"channel{tail}", lambda x: x[..., 1], pixels)
    image_program(f"upsample{tail}", lambda x: jnp.repeat(jnp.repeat(x, 2, 1), 2, 2), f32(n, h // 2, w // 2, 3))
    image_program(f"halve{tail}", lambda x: x[:, :h // 2 * 2, :w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2, 3).mean((2, 4)), pixels)
    image_program(f"gradient_x{tail}", lambda x: x[:, :, 1:] - x[:, :, :-1], pixels)
    image_program(f"cross_product{tail}", lambda a, b: jnp.cross(a, b), many, many)
    image_program(f"norm3{tail}", norm, many)
    image_program(f"unit3{tail}", lambda x: x / jnp.sqrt((x * x).sum(-1, keepdims=True)), many)
    image_program(f"rotate3{tail}", lambda x, r: (x[:, None, :] * r).sum(-1), many, f32(3, 3))
    image_program(f"complex_product{tail}", complex_product, f32(n * h * w, 2), f32(n * h * w, 2))
    image_program(f"complex_magnitude{tail}", lambda x: jnp.sqrt((x * x).sum(-1)), f32(n * h * w, 2))
    image_program(f"quaternion_product{tail}", quaternion_product, f32(n * h * w // 4, 4), f32(n * h * w // 4, 4))
    image_program(f"box_overlap{tail}", box_overlap, f32(n * h * w // 4, 4), f32(n * h * w // 4, 4))
    image_program(f"softmax3{tail}", lambda x: jax.nn.softmax(x, -1), many)
    image_program(f"softmax3_mask{tail}", lambda x, m: jax.nn.softmax(jnp.where(m > 0, x, -1e30), -1), many, many)
    image_program(f"softmax21{tail}", lambda x: jax.nn.softmax(x, -1), f32(n * h * w // 16, 21))
    image_program(f"argmax21{tail}", lambda x: jnp.argmax(x, -1), f32(n * h * w // 16, 21))
    image_program(f"onehot{tail}", lambda i: jax.nn.one_hot(i, 21), below(21, n * h * w // 16))
    image_program(f"stack3{tail}", lambda a, b, c: jnp.stack([a, b, c], -1), *(f32(n * h * w),) * 3)
    image_program(f"rotary{tail}", lambda x, c, s: jnp.stack([x[..., 0] * c - x[..., 1] * s, x[..., 1] * c + x[..., 0] * s], -1),
                  f32(64, h, w // 4, 2), f32(h, w // 4), f32(h, w // 4))
    image_program(f"mean_std3{tail}", lambda x: (x.mean((0, 1, 2)), x.std((0, 1, 2))), pixels)


images("", 8, 224, 224)
images("_odd", 7, 223, 221)


def shrunk(array, limit, factor):
    """An argument with its long axes divided by a factor, and the longest ones cut; positions stay inside."""
    def size(d):
        if d <= limit:
            return d
        return d // factor if d // factor <= 200 else 60 + d // factor % 13

    shape = tuple(map(size, array.shape))
    if not isinstance(array, np.ndarray):
        return jax.ShapeDtypeStruct(shape, array.dtype)
    part = array[tuple(slice(0, d) for d in shape)]
    return part if array.dtype in (np.int8, np.uint32) else part % 4


def small(words):
    """Every workload, with the least arguments that its function takes; of the decoder one layer is a block."""
    for name, function, arguments in WORKLOADS:
        skipped = name.endswith("_odd") or name == "decoder12_step"
        if skipped or words and not any(name.startswith(w) for w in words):
            continue
        if name == "threefry_normal":
            function = lambda key: jax.random.normal(jax.random.wrap_key_data(key), (60,))
        found = []
        for limit, factor in [(limit, factor) for limit in (16, 8) for factor in (64, 32, 16, 8, 4, 2, 1)]:
            given = [shrunk(a, limit, factor) for a in arguments]
            if any(d < 2 for a, g in zip(arguments, given) for d, was in zip(g.shape, a.shape) if was > limit):
                continue
            try:
                jax.eval_shape(function, *given)
            except (TypeError, ValueError):
                continue
            found.append((sum(int(np.prod(g.shape)) for g in given), len(found), given))
        export(f"{ROOT}/tests/suite/{name}", function, min(found)[2])


def main():
    words = sys.argv[1:]
    if words[:1] == ["--small"]:
        return small(words[1:])
    write(WORKLOADS, words)
    if not words:
        write(LARGE, [f"{ROOT}/target/large"])
        write(IMAGES, [f"{ROOT}/target/images"])


def write(workloads, words):
    folder = words[0] if words else f"{ROOT}/target/suite"
    for name, function, arguments in workloads:
        if words[1:] and not any(name.startswith(w) for w in words[1:]):
            continue
        export(f"{folder}/{name}", function, arguments)
    print(f"{folder}: {len(os.listdir(folder))} workloads")


main()
