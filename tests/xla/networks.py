"""Random networks and their training steps, for fuzz.py.

Programs of single operations seldom have what networks are full of: products one after the other over the same rows,
several products of one form, gradients of all of them, sums whose results feed the next row. A network is a chain of
layers of random kinds and sizes over an image, a sequence or a vector; the program is its value, or a step that
changes its parameters by its gradient. Activations are smooth, so that rounding changes no branch.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

NHWC = ("NHWC", "HWIO", "NHWC")


class Network:
    """Layers that are drawn while they are applied: the same seed draws the same ones."""

    def __init__(self, seed, parameters=None):
        self.rng = np.random.default_rng(seed)
        self.shapes = []
        self.parameters = parameters

    def pick(self, *things):
        return things[int(self.rng.integers(len(things)))]

    def size(self, low, high):
        n = int(np.exp(self.rng.uniform(np.log(low), np.log(high + 1))))
        return n if self.rng.random() < 0.5 else max(low, n // 4 * 4)

    def parameter(self, *shape):
        """The next parameter; while shapes are collected, zeros."""
        self.shapes.append(shape)
        return jnp.zeros(shape, jnp.float32) if self.parameters is None else self.parameters[len(self.shapes) - 1]

    def weights(self, terms, *shape):
        return self.parameter(*shape) / max(1, terms) ** 0.5

    # Layers over any last axis.
    def dense(self, x):
        n = self.size(1, 160)
        y = x @ self.weights(x.shape[-1], x.shape[-1], n)
        return y + self.parameter(n) if self.pick(True, False) else y

    def turned(self, x):
        """A product with a matrix whose rows are the outputs."""
        n = self.size(1, 160)
        return jnp.einsum("...k,nk->...n", x, self.weights(x.shape[-1], n, x.shape[-1]))

    def activation(self, x):
        return self.pick(jnp.tanh, jax.nn.gelu, jax.nn.silu, jax.nn.softplus, jax.nn.sigmoid, lambda x: x * jax.nn.softmax(x))(x)

    def norm(self, x):
        axes = self.pick((-1,), (-1,), tuple(range(x.ndim - 1)), tuple(range(1, x.ndim)))
        y = x - x.mean(axes, keepdims=True) if self.pick(True, False) else x
        y = y * lax.rsqrt((y * y).mean(axes, keepdims=True) + 1e-2)
        return y * (1 + 0.1 * self.parameter(x.shape[-1])) + 0.1 * self.parameter(x.shape[-1])

    def gate(self, x):
        n = self.size(2, 96)
        product = lambda: x @ self.weights(x.shape[-1], x.shape[-1], n)
        return jax.nn.silu(product()) * product()

    def pair(self, x):
        """Two products of one form through a narrow layer; one has a matrix whose rows are the outputs."""
        k, n = self.size(2, 24), self.size(2, 160)
        x = x @ self.weights(x.shape[-1], x.shape[-1], k)
        return x @ self.weights(k, k, n) + jnp.einsum("...k,nk->...n", jnp.tanh(x), self.weights(k, n, k))

    def residual(self, x):
        y = self.pick(self.activation, self.norm)(x)
        h = self.size(4, 96)
        y = self.activation(y @ self.weights(x.shape[-1], x.shape[-1], h))
        return x + y @ self.weights(h, h, x.shape[-1])

    def excite(self, x):
        """Weights of channels from their means, one row after the other."""
        h = self.size(1, 16)
        m = x.mean(tuple(range(1, x.ndim - 1)))
        g = jax.nn.sigmoid(jnp.tanh(m @ self.weights(m.shape[-1], m.shape[-1], h)) @ self.weights(h, h, m.shape[-1]))
        return x * g.reshape(x.shape[0], *[1] * (x.ndim - 2), x.shape[-1])

    # Layers over sequences.
    def attention(self, x):
        b, s, d = x.shape
        heads, width = self.pick(1, 2, 3), self.pick(4, 8, 16, 20)
        q, k, v = (jnp.reshape(x @ self.weights(d, d, heads * width), (b, s, heads, width)) for _ in range(3))
        scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / width**0.5
        if self.pick(True, False):
            scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, jnp.float32(-1e9))
        y = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, s, -1)
        return x + y @ self.weights(heads * width, heads * width, d)

    def recurrent(self, x):
        d, h = x.shape[-1], self.size(2, 40)
        y, u = x @ self.weights(d, d, h), self.weights(h, h, h)

        def cell(state, step):
            state = jnp.tanh(step + state @ u)
            return state, state

        return lax.scan(cell, jnp.zeros((x.shape[0], h), x.dtype), y.swapaxes(0, 1))[1].swapaxes(0, 1)

    def mix(self, x):
        n = self.size(2, 40)
        return jnp.einsum("bsd,st->btd", x, self.weights(x.shape[1], x.shape[1], n))

    # Layers over images.
    def convolution(self, x):
        c = x.shape[-1]
        k, stride, dilation = self.pick(1, 1, 2, 3, 3, 5, 7), self.pick(1, 1, 1, 2), self.pick(1, 1, 1, 2)
        groups = self.pick(1, 1, 1, c, 2)
        groups = groups if c % groups == 0 else 1
        n = groups * (self.pick(1, 1, 2) if groups == c else self.size(1, 48 // min(groups, 8)))
        w = self.weights(k * k * c // groups, k, k, c // groups, n)
        padding = self.pick("SAME", "SAME", "VALID") if k * dilation < min(x.shape[1:3]) else "SAME"
        return lax.conv_general_dilated(x, w, (stride, stride), padding, rhs_dilation=(dilation, dilation), dimension_numbers=NHWC, feature_group_count=groups)

    def block(self, x):
        """A convolution, what is done to its elements, and a product of its channels."""
        return self.pick(self.dense, self.turned)(self.activation(self.convolution(x)))

    def upwards(self, x):
        n, k = self.size(1, 24), self.pick(2, 3, 4)
        if self.pick(True, False):
            return jnp.repeat(jnp.repeat(x, 2, 1), 2, 2)
        return lax.conv_transpose(x, self.weights(k * k * x.shape[-1], k, k, x.shape[-1], n), (2, 2), "SAME", dimension_numbers=NHWC)

    def pool(self, x):
        k, stride = self.pick(2, 3), self.pick(1, 2)
        y = lax.reduce_window(x, 0.0, lax.add, (1, k, k, 1), (1, stride, stride, 1), self.pick("SAME", "VALID"))
        return y / (k * k)

    def skip(self, x):
        y = self.convolution(x)
        return jnp.concatenate([x, jnp.tanh(y)], -1) if y.shape[:3] == x.shape[:3] else y

    ANY = (dense, turned, activation, activation, norm, gate, pair, residual)
    SEQUENCE = (attention, attention, recurrent, mix, excite)
    IMAGE = (convolution, convolution, block, block, upwards, pool, skip, excite)

    def apply(self, x):
        for _ in range(int(self.rng.integers(2, 7))):
            own = {2: (), 3: self.SEQUENCE, 4: self.IMAGE}[x.ndim]
            layers = self.pick(own, own, self.ANY) if own else self.ANY
            y = self.pick(*layers)(self, x)
            # Nothing grows without bound.
            x = y if y.size <= 300_000 and 0 not in y.shape else jnp.tanh(x)
        return x


def program(seed):
    """The function of a seed, and its inputs."""
    rng = np.random.default_rng(seed ^ 0xBEEF)
    first = Network(seed)
    shape = first.pick(
        lambda: (first.size(1, 64), first.size(2, 128)),
        lambda: (first.size(1, 4), first.size(2, 64), first.size(2, 64)),
        lambda: (first.size(1, 3), first.size(3, 48), first.size(3, 48), first.size(1, 24)),
        lambda: (first.size(1, 2), *[first.pick(8, 14, 20, 28, 40, 56)] * 2, first.size(1, 32)),
    )()
    trains = rng.random() < 0.6
    number = int(rng.integers(1 << 30))
    collected = Network(number)
    jax.eval_shape(lambda x: collected.apply(x), jax.ShapeDtypeStruct(shape, jnp.float32))
    inputs = [rng.normal(size=s).astype(np.float32) for s in [shape, *collected.shapes]]

    def loss(parameters, x):
        y = Network(number, parameters).apply(x)
        return (y * y).mean(), y

    def function(x, *parameters):
        if not trains:
            return loss(parameters, x)
        (value, y), gradients = jax.value_and_grad(loss, has_aux=True)(parameters, x)
        return (value, *[p - 0.1 * g for p, g in zip(parameters, gradients)])

    return function, inputs
