"""The values that `layers.rs` compares with, by JAX in f64: `python layers.py > layers.txt`.

Leaves have the values that a generator draws from the bytes of their names, so that no data is exchanged. Shapes are in
memory order: batch, output, input axes.
"""

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
MASK = (1 << 64) - 1


def leaf(name, *shape):
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = ((state ^ byte) * 0x100000001B3) & MASK
    values = []
    for _ in range(int(np.prod(shape))):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        z ^= z >> 31
        values.append(-1.0 + 2.0 * (z >> 11) / (1 << 53))
    return jnp.array(values, dtype=jnp.float64).reshape(shape)


def dense(path, x, out, rank=1):
    w = leaf(f"{path}.w", out, *x.shape[-rank:])
    return jnp.tensordot(x, w, (list(range(x.ndim - rank, x.ndim)), list(range(1, rank + 1)))) + leaf(f"{path}.b", out)


def mlp(path, x, sizes, out, rank=1):
    for k, size in enumerate(sizes):
        x = jax.nn.relu(dense(f"{path}.hidden.{k + 1}.layer", x, size, rank))
        rank = 1
    return x @ leaf(f"{path}.w_out", out, sizes[-1]).T + leaf(f"{path}.b_out", out)


def normalised(x, axes, epsilon=1e-5):
    return (x - x.mean(axes, keepdims=True)) / jnp.sqrt(x.var(axes, keepdims=True) + epsilon)


def transformed(path, x, shape):
    return leaf(f"{path}.gamma", *shape) * x + leaf(f"{path}.beta", *shape)


def layer_norm(path, x, rank=1, epsilon=1e-5):
    axes = tuple(range(x.ndim - rank, x.ndim))
    return transformed(path, normalised(x, axes, epsilon), x.shape[-rank:])


def batch_norm2d(path, x, epsilon=1e-5):
    return transformed(path, normalised(x, (0, 1, 2), epsilon), x.shape[-1:])


def pads(size, kernel, stride, dilation, padded):
    """Left of a padded window is half of its span; every output position has its window."""
    if not padded:
        return 0, 0
    span = dilation * (kernel - 1) + 1
    left = span // 2
    return left, stride * (size // stride - 1) + span - left - size


def convolution(path, x, channels, kernel=3, stride=1, dilation=1, padded=True, groups=1):
    k = leaf(path, channels, kernel, kernel, x.shape[-1]) if groups == 1 else leaf(path, kernel, kernel, channels)
    k = jnp.moveaxis(k, 0, -1) if groups == 1 else k[:, :, None, :]
    padding = [pads(n, kernel, stride, dilation, padded) for n in x.shape[1:3]]
    return jax.lax.conv_general_dilated(
        x, k, (stride, stride), padding, rhs_dilation=(dilation, dilation),
        dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups)


def conv2d(path, x, channels, **options):
    return convolution(f"{path}.convolve.kernel", x, channels, **options) + leaf(f"{path}.bias", channels)


def pool(x, start, by, window, stride, padded=False):
    padding = [(0, 0), *[pads(n, window, stride, 1, padded) for n in x.shape[1:3]], (0, 0)]
    return jax.lax.reduce_window(x, start, by, (1, window, window, 1), (1, stride, stride, 1), padding)


def max_pool(x, window=2, stride=2, padded=False):
    return pool(x, -jnp.inf, jax.lax.max, window, stride, padded)


def avg_pool(x):
    return pool(x, 0.0, jax.lax.add, 2, 2) / 4


def conv_bn_relu(path, x, channels, stride=1):
    y = convolution(f"{path}.convolve.kernel", x, channels, stride=stride)
    return jax.nn.relu(batch_norm2d(f"{path}.normalise", y))


def resnet_block(path, x, channels, stride=1, down=False):
    y = convolution(f"{path}.second.kernel", conv_bn_relu(f"{path}.first", x, channels, stride), channels)
    y = batch_norm2d(f"{path}.normalise", y)
    if down:
        x = convolution(f"{path}.shortcut.kernel", x, channels, kernel=1, stride=stride)
        x = batch_norm2d(f"{path}.normalise_shortcut", x)
    return jax.nn.relu(y + x)


def lenet(path, x):
    for k, channels in [(1, 2), (2, 3)]:
        x = max_pool(jax.nn.relu(conv2d(f"{path}.conv{k}", x, channels)))
    return mlp(f"{path}.classify", x, [6, 5], 3, rank=3)


def angles(positions, pairs, base=10000.0):
    return np.arange(positions)[:, None] * base ** (-np.arange(pairs) / pairs)[None, :]


def sinusoidal(x):
    a = angles(x.shape[-2], x.shape[-1] // 2)
    table = np.zeros(x.shape[-2:])
    table[:, 0::2], table[:, 1::2] = np.sin(a), np.cos(a)
    return x + table


def rope(x):
    """Of `batch, position, head, feature`: pairs are complex numbers, turned by their angle."""
    z = x[..., 0::2] + 1j * x[..., 1::2]
    z = z * jnp.exp(1j * angles(x.shape[1], x.shape[-1] // 2))[None, :, None, :]
    return jnp.stack([z.real, z.imag], -1).reshape(x.shape)


def attention(q, k, v, causal=False):
    """`batch, position, head, feature`"""
    scores = jnp.einsum("bshd,bthd->bhst", q, k) / np.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhst,bthe->bshe", jax.nn.softmax(scores, -1), v)


def cross_attention(path, x, memory, heads, d_k, d_v, rotate=lambda x: x, causal=False):
    project = lambda name, x, d: jnp.einsum("hdf,bsf->bshd", leaf(f"{path}.{name}", heads, d, x.shape[-1]), x)
    q, k, v = project("w_q", x, d_k), project("w_k", memory, d_k), project("w_v", memory, d_v)
    w_o = leaf(f"{path}.w_o", x.shape[-1], heads, d_v)
    return jnp.einsum("fhe,bshe->bsf", w_o, attention(rotate(q), rotate(k), v, causal))


def encoder_block(path, x, heads, d_k, d_v, d_ff, causal=False):
    x = layer_norm(f"{path}.norm1", x + cross_attention(f"{path}.attend.attend", x, x, heads, d_k, d_v, causal=causal))
    return layer_norm(f"{path}.norm2", x + mlp(f"{path}.feed", x, [d_ff], x.shape[-1]))


def decoder_block(path, x, memory, heads, d_k, d_v, d_ff):
    x = layer_norm(f"{path}.norm1", x + cross_attention(f"{path}.attend.attend", x, x, heads, d_k, d_v, causal=True))
    x = layer_norm(f"{path}.norm2", x + cross_attention(f"{path}.consult", x, memory, heads, d_k, d_v))
    return layer_norm(f"{path}.norm3", x + mlp(f"{path}.feed", x, [d_ff], x.shape[-1]))


def decoder(x, memory):
    for k in (1, 2):
        x = decoder_block(f"net.{k}", x, memory, 2, 2, 3, 5)
    return x


def stack(x, causal):
    for k in (1, 2):
        x = encoder_block(f"net.{k}", x, 2, 2, 2, 4, causal)
    return x


def transformer(source, target):
    source = sinusoidal(source @ leaf("net.embed_source.w_source", 4, 5).T)
    target = sinusoidal(target @ leaf("net.embed_target.w_target", 4, 6).T)
    memory = encoder_block("net.encode.1", source, 2, 2, 2, 3)
    return decoder_block("net.decode.1", target, memory, 2, 2, 2, 3) @ leaf("net.w_logits", 4, 4).T


X = leaf("x", 2, 5)
A, B = leaf("x", 3, 4), leaf("t", 3, 4)
SEQUENCE = leaf("x", 2, 3, 4)
image = lambda *shape: leaf("x", *shape)

CASES = {
    "silu": lambda: jax.nn.silu(X),
    "gelu": lambda: jax.nn.gelu(X, approximate=False),
    "gelu_tanh": lambda: jax.nn.gelu(X, approximate=True),
    "leaky_relu": lambda: jax.nn.leaky_relu(X, 0.1),
    "elu": lambda: jax.nn.elu(X),
    "dense": lambda: dense("layer", X, 3),
    "mlp": lambda: mlp("net", X, [4, 3], 2) - leaf("t", 2, 2),
    "softmax": lambda: jax.nn.softmax(X, -1),
    "softmax_of_inputs": lambda: jax.nn.softmax(leaf("x", 2, 3, 5) / 0.5, -1),
    "softmax_in_the_middle": lambda: jax.nn.softmax(leaf("x", 2, 4, 3), 1),
    "log_softmax": lambda: jax.nn.log_softmax(X, -1),
    "layer_norm": lambda: layer_norm("layer", X),
    "layer_norm_of_two_axes": lambda: layer_norm("layer", leaf("x", 2, 3, 2), 2, 0.1),
    "rms_norm": lambda: leaf("layer.gamma", 5) * X / jnp.sqrt((X * X).mean(-1, keepdims=True) + 1e-5),
    "batch_norm1d": lambda: transformed("layer", normalised(leaf("x", 4, 3), 0), (3,)),
    "batch_norm2d": lambda: batch_norm2d("layer", image(3, 4, 2, 3), 0.01),
    "conv2d": lambda: conv2d("layer", image(2, 5, 6, 2), 3),
    "conv2d_valid_stride": lambda: conv2d("layer", image(2, 7, 5, 2), 3, stride=2, padded=False),
    "conv2d_padded_stride": lambda: conv2d("layer", image(2, 6, 4, 2), 3, stride=2),
    "conv2d_dilated": lambda: conv2d("layer", image(1, 7, 6, 1), 2, dilation=2),
    "conv2d_dilated_valid": lambda: conv2d("layer", image(1, 7, 6, 1), 2, dilation=2, padded=False),
    "conv2d_of_one": lambda: conv2d("layer", image(2, 3, 3, 4), 2, kernel=1),
    "conv2d_even": lambda: conv2d("layer", image(1, 4, 4, 1), 1, kernel=2),
    "conv1d": lambda: jax.lax.conv_general_dilated(
        leaf("x", 2, 6, 2), jnp.moveaxis(leaf("layer.kernel", 3, 3, 2), 0, -1), (1,), [(1, 1)],
        dimension_numbers=("NWC", "WIO", "NWC")) + leaf("layer.bias", 3),
    "depthwise_separable_conv2d": lambda: convolution("layer.kernel", image(2, 4, 5, 3), 3, groups=3)
    @ leaf("layer.mix", 2, 3).T + leaf("layer.bias", 2),
    "max_pool2d": lambda: max_pool(image(2, 4, 6, 2)),
    "max_pool2d_overlapping": lambda: max_pool(image(2, 7, 7, 2), 3),
    "max_pool2d_padded": lambda: max_pool(image(2, 4, 4, 2), 3, 1, True),
    "avg_pool2d": lambda: avg_pool(image(2, 4, 6, 2)),
    "global_avg_pool2d": lambda: image(2, 4, 3, 2).mean((1, 2)),
    "conv_bn_relu": lambda: conv_bn_relu("layer", image(2, 4, 4, 1), 2),
    "resnet_block": lambda: resnet_block("layer", image(2, 4, 4, 2), 2),
    "resnet_block_down": lambda: resnet_block("layer", image(2, 4, 4, 2), 3, 2, True),
    "lenet": lambda: lenet("net", image(2, 8, 8, 1)) - leaf("t", 2, 3),
    "interleave": lambda: jnp.stack([leaf("a", 2, 3), leaf("b", 2, 3)], -1),
    "embedding": lambda: leaf("layer.table", 2, 4).T[np.array([2, 0, 3])],
    "sinusoidal_positions": lambda: sinusoidal(leaf("x", 2, 5, 6)),
    "learned_positions": lambda: leaf("x", 2, 5, 6) + leaf("layer.positions", 5, 6),
    "rope": lambda: rope(leaf("x", 2, 5, 3, 4)),
    "causal": lambda: jax.nn.softmax(
        jnp.where(np.tril(np.ones((3, 3), bool))[None, :, None, :], leaf("x", 2, 3, 2, 3), -jnp.inf), -1),
    "dot_product_attention": lambda: attention(leaf("q", 2, 3, 2, 4), leaf("k", 2, 5, 2, 4), leaf("v", 2, 5, 2, 3)),
    "multi_head_attention": lambda: SEQUENCE + cross_attention("layer.attend", SEQUENCE, SEQUENCE, 2, 3, 2),
    "causal_attention_with_rope": lambda: SEQUENCE
    + cross_attention("layer.attend", SEQUENCE, SEQUENCE, 2, 4, 3, rope, True),
    "cross_attention": lambda: SEQUENCE + cross_attention("layer", SEQUENCE, leaf("m", 2, 5, 6), 2, 3, 2),
    "encoder_block": lambda: encoder_block("block", SEQUENCE, 2, 2, 3, 5),
    "decoder_block": lambda: decoder_block("block", SEQUENCE, leaf("m", 2, 4, 5), 2, 2, 3, 5),
    "encoder": lambda: stack(SEQUENCE, False),
    "decoder": lambda: decoder(SEQUENCE, leaf("m", 2, 4, 5)),
    "decoder_only": lambda: stack(SEQUENCE, True),
    "transformer": lambda: transformer(leaf("s", 1, 3, 5), leaf("t", 1, 2, 6)) - leaf("goal", 1, 2, 4),
    "cross_entropy": lambda: -(B * jax.nn.log_softmax(A, -1)).sum(-1).mean(),
    "mean_squared_error": lambda: ((A - B) ** 2).mean(),
    "binary_cross_entropy": lambda: -(B * jax.nn.log_sigmoid(A) + (1 - B) * jax.nn.log_sigmoid(-A)).mean(),
    "hinge_loss": lambda: jnp.maximum(0.0, 1 - B * A).mean(),
}

for name, value in CASES.items():
    print(f"{name}: {' '.join(f'{x:.13g}' for x in np.asarray(value()).ravel())}")
