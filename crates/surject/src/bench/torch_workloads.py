"""The workloads of the suite (`benches/suite.py`) as a user of PyTorch writes them, by name; one definition serves both sizes
(`NAME` and `NAME_odd`). Each takes the arguments of the workload as tensors and gives its results in order.

Images come as batch, height, width, channels: a permuted view of them is what PyTorch calls `channels_last`. What PyTorch
has an operator for is that operator. Workloads whose random numbers or algorithm are JAX's own have none.
"""
import math

import torch
import torch.nn.functional as F

WORKLOADS = {}


def workload(*names):
    def enter(function):
        for name in names:
            WORKLOADS[name] = function
        return function
    return enter


def gradient(function):
    """The gradients of all arguments but the last, which is the cotangent of the result."""
    def result(*arguments):
        *rest, cotangent = arguments
        rest = [a.detach().requires_grad_() for a in rest]
        with torch.enable_grad():
            return torch.autograd.grad(function(*rest), rest, cotangent)
    return result


# Contractions.
workload(*(f"matmul_{n}" for n in ("128", "512", "1000", "1024", "2048", "1x4096x4096", "8x4096x4096", "4096x64x4096", "batched", "bf16")))(torch.matmul)
workload("matmul_i8")(torch._int_mm)
for name, spec in (("bqhd_bkhd", "bqhd,bkhd->bhqk"), ("bij_kj", "bij,kj->ikb"), ("ij_jk_kl", "ij,jk,kl->il"), ("bhqk_bkhd", "bhqk,bkhd->bqhd"), ("bij_bik", "bij,bik->bjk")):
    workload(f"einsum_{name}")(lambda *a, spec=spec: torch.einsum(spec, *a))


# Convolutions: JAX's images and kernels lie channels last.
def conv(x, k, stride=1, dilation=1, groups=1):
    x, k = x.permute(0, 3, 1, 2), k.permute(3, 2, 0, 1)
    pads = []
    for size, window in ((x.shape[3], k.shape[3]), (x.shape[2], k.shape[2])):
        total = max((-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size, 0)
        pads += [total // 2, total - total // 2]
    if pads[0] == pads[1] and pads[2] == pads[3]:
        y = F.conv2d(x, k, stride=stride, padding=(pads[2], pads[0]), dilation=dilation, groups=groups)
    else:
        y = F.conv2d(F.pad(x, pads), k, stride=stride, dilation=dilation, groups=groups)
    return y.permute(0, 2, 3, 1)


workload("conv3x3", "conv1x1")(conv)
workload("conv7x7_stride2")(lambda x, k: conv(x, k, stride=2))
workload("conv3x3_dilated")(lambda x, k: conv(x, k, dilation=2))
workload("conv3x3_grouped")(lambda x, k: conv(x, k, groups=4))
workload("conv3x3_depthwise")(lambda x, k: conv(x, k, groups=x.shape[-1]))


@workload("conv3x3_transposed")
def conv3x3_transposed(x, k):
    weight = k.permute(2, 3, 0, 1).flip(2, 3)
    y = F.conv_transpose2d(x.permute(0, 3, 1, 2), weight, stride=2, padding=1, output_padding=1)
    return y.permute(0, 2, 3, 1)


@workload("conv3x3_weight_gradient")
def conv3x3_weight_gradient(x, k, g):
    return gradient(lambda k: conv(x, k))(k, g)[0]


@workload("conv3x3_input_gradient")
def conv3x3_input_gradient(x, k, g):
    return gradient(lambda x: conv(x, k))(x, g)[0]


# Pooling.
def channels_first(function):
    return lambda x: function(x.permute(0, 3, 1, 2)).permute(0, 2, 3, 1)


max_pool = workload("max_pool")(channels_first(lambda x: F.max_pool2d(x, 2)))
mean_pool = workload("mean_pool")(channels_first(lambda x: F.avg_pool2d(x, 2)))
workload("max_pool_gradient")(gradient(max_pool))
workload("mean_pool_gradient")(gradient(mean_pool))


@workload("max_pool3_overlapping")
@channels_first
def max_pool3_overlapping(x):
    pads = []
    for size in (x.shape[3], x.shape[2]):
        total = max((-(-size // 2) - 1) * 2 + 3 - size, 0)
        pads += [total // 2, total - total // 2]
    return F.max_pool2d(F.pad(x, pads, value=-math.inf), 3, 2)


# Normalisations and pointwise.
def layer_norm(x, scale, shift):
    return F.layer_norm(x, x.shape[-1:], scale, shift)


def rms_norm(x, scale):
    return F.rms_norm(x, x.shape[-1:], scale, 1e-6)


def batch_norm(x, scale, shift):
    var, mean = torch.var_mean(x, (0, 1, 2), correction=0)
    y = F.batch_norm(x.permute(0, 3, 1, 2), None, None, scale, shift, True, 0.0, 1e-5)
    return y.permute(0, 2, 3, 1), mean, var


workload("softmax", "softmax_rows_10")(lambda x: F.softmax(x, -1))
workload("layernorm", "layernorm_rows_16")(layer_norm)
workload("layernorm_gradient")(gradient(layer_norm))
workload("rmsnorm")(rms_norm)
workload("batchnorm")(batch_norm)
workload("batchnorm_gradient")(gradient(lambda *a: batch_norm(*a)[0]))
workload("gelu_bias")(lambda x, b: F.gelu(x + b, approximate="tanh"))
workload("gelu_erf_bias")(lambda x, b: F.gelu(x + b))
workload("silu_gate")(lambda x, g: F.silu(g) * x)
for name in ("erf", "erfc", "tanh", "sin"):
    workload(name)(getattr(torch, name))
workload("lgamma")(lambda x: torch.lgamma(x.abs() + 0.1))
workload("digamma")(lambda x: torch.digamma(x.abs() + 0.1))
workload("logsumexp_columns")(lambda x: torch.logsumexp(x, 0))


@workload("log_softmax_cross_entropy")
def log_softmax_cross_entropy(x, labels):
    x = x.detach().requires_grad_()
    with torch.enable_grad():
        loss = F.cross_entropy(x, labels.long())
        return loss, torch.autograd.grad(loss, x)[0]


@workload("causal_mask")
def causal_mask(x):
    rows, columns = torch.arange(x.shape[-2])[:, None], torch.arange(x.shape[-1])
    return x + torch.where(columns <= rows, 0.0, -1e9)


# Reductions.
workload("sum_rows", *(f"sum_{where}_{n}" for where in ("inner", "middle") for n in (3, 5, 7)))(lambda x: x.sum(1))
workload("sum_columns")(lambda x: x.sum(0))
workload("sum_all")(torch.sum)
workload("argmax")(lambda x: x.argmax(-1).int())
workload("argmax_columns")(lambda x: x.argmax(0).int())
workload("argmin_inner_17")(lambda x: x.argmin(-1).int())
workload("max_inner_9")(lambda x: x.amax(-1))
workload("min_and_max_rows")(lambda x: torch.aminmax(x, dim=-1))
workload("cumulative_max")(lambda x: torch.cummax(x, 1).values)
workload("cumulative_logsumexp")(lambda x: torch.logcumsumexp(x, 1))
workload("cumsum")(lambda x: x.cumsum(-1))
workload("cumsum_columns", "cumsum_1m")(lambda x: x.cumsum(0))
workload("outer_difference")(lambda a, b: ((a[:, None] - b) ** 2).sum(-1))
workload("pairwise_distances")(lambda a, b: ((a[:, None] - b[None]) ** 2).sum(-1).sqrt())

# Moves: results are materialised, as those of the other sides are.
workload("transpose")(lambda x: x.T.contiguous())
workload("transpose_add")(lambda x: (x.T + 1).contiguous())
workload("nhwc_to_nchw", "image_to_planes")(lambda x: x.permute(0, 3, 1, 2).contiguous())
workload("nchw_to_nhwc")(lambda x: (x.permute(0, 2, 3, 1) * 2).contiguous())
workload("image_from_planes")(lambda x: x.permute(0, 2, 3, 1).contiguous())
workload("moves")(lambda a, b: torch.cat([F.pad(a, (1, 2)).flip(1), b[:, 3:], a.flip(0)], 1))
workload("moves_reverse")(lambda a, b: a.flip(0, 1) + F.pad(b[1:, :-1], (1, 0, 0, 1)).flip(0))
workload("moves_rows")(lambda a, b: torch.cat([b[::2], a.flip(1)[5:], F.pad(b, (0, 0, 3, 0), value=1.0)], 0))
workload("embedding")(lambda table, at: F.embedding(at.long(), table))
workload("embedding_gradient")(lambda table, at, g: torch.zeros_like(table).index_add(0, at.long(), g))
workload("scatter_add_3")(lambda x, at, u: x.index_add(0, at.long(), u))
workload("segment_sum")(lambda u, at: u.new_zeros(1001, u.shape[1]).index_add(0, at.long(), u))
workload("gather_elements")(lambda x, i, j: x[i.long(), j.long()])
workload("to_bytes")(lambda x: (x * 255).round().clip(0, 255).to(torch.uint8))
workload("sort_1m", "sort_rows")(lambda x: x.sort(-1).values)


# Models.
def attend(q, k, v, causal=False):
    """Heads are the third axis of four."""
    q, k, v = (a.transpose(1, 2) for a in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)


def causal(q, k, v):
    return attend(q, k, v, True)


workload("attention")(attend)
workload("attention_gradient")(gradient(attend))
workload("attention_causal_1024")(causal)
workload("attention_causal_1024_gradient")(gradient(causal))


@workload("lstm")
def lstm(x, wx, wh, b):
    h = c = x.new_zeros(x.shape[1], wh.shape[0])
    inputs, all = x @ wx, []
    for step in inputs:
        i, f, g, o = torch.chunk((step + h @ wh) * 0.08 + b, 4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        all.append(h)
    return torch.stack(all)


def step(loss, weights):
    """The loss, and the weights after a step against its gradient."""
    weights = [w.detach().requires_grad_() for w in weights]
    with torch.enable_grad():
        value = loss(weights)
        gradients = torch.autograd.grad(value, weights)
    return (value, *[w.detach() - 0.1 * g for w, g in zip(weights, gradients)])


@workload("mlp_step_1", "mlp_step_32", "mlp_step_512")
def mlp_step(x, y, *weights):
    return step(lambda w: F.mse_loss(torch.tanh(x @ w[0] * 0.05 + w[1]) @ w[2] + w[3], y), weights)


@workload("lenet_step")
def lenet_step(x, y, *weights):
    def loss(w):
        k1, k2, w1, b1, w2, b2 = w
        h = max_pool(F.relu(conv(x, k1)))
        h = max_pool(F.relu(conv(h, k2)))
        h = F.relu(h.reshape(h.shape[0], -1) @ w1 * 0.05 + b1)
        return -(F.log_softmax(h @ w2 + b2, -1) * y).sum(-1).mean()
    return step(loss, weights)


def block(x, s1, wqkv, wo, s2, w1, w2, heads=4):
    split = lambda a: a.reshape(*a.shape[:2], heads, a.shape[2] // heads)
    q, k, v = torch.chunk(rms_norm(x, s1) @ wqkv * 0.05, 3, -1)
    x = x + attend(split(q), split(k), split(v), True).reshape(x.shape) @ wo * 0.05
    return x + F.gelu(rms_norm(x, s2) @ w1 * 0.05, approximate="tanh") @ w2 * 0.05


@workload("block_step_64", "block_step_512", "decoder12_step")
def train(x, y, *weights):
    def loss(w):
        h = x
        for first in range(0, len(w), 6):
            h = block(h, *w[first:first + 6])
        return F.mse_loss(h, y)
    return step(loss, weights)


workload("block_forward_64", "block_forward_512")(block)
