"""Kernels in Triton on the first GPU, for `peer.py`: products and softmax, as its users write them.

Tiles of products are chosen by `triton.autotune`; the compilation that is reported is the first call, with that choice.
"""
import os
import time

os.environ["SURJECT_TORCH_DEVICE"] = "cuda"
import peer_torch
import torch
import triton
import triton.language as tl

TILES = [(128, 128, 32, 4), (128, 64, 32, 4), (64, 64, 32, 4), (128, 256, 64, 8)]


@triton.autotune([triton.Config({"M": m, "N": n, "K": k}, num_warps=w, num_stages=3) for m, n, k, w in TILES], ["rows", "columns", "terms"])
@triton.jit
def product(a, b, c, rows, columns, terms, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    sums = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, terms, K):
        k = start + tl.arange(0, K)
        left = tl.load(a + i[:, None] * terms + k[None, :], (i[:, None] < rows) & (k[None, :] < terms), 0.0)
        right = tl.load(b + k[:, None] * columns + j[None, :], (k[:, None] < terms) & (j[None, :] < columns), 0.0)
        # Products of `f32` are products of `f32`, as in the programs.
        sums = tl.dot(left, right, sums, input_precision="ieee")
    tl.store(c + i[:, None] * columns + j[None, :], sums.to(c.dtype.element_ty), (i[:, None] < rows) & (j[None, :] < columns))


@triton.jit
def softmax_rows(x, y, columns, WIDTH: tl.constexpr):
    j = tl.arange(0, WIDTH)
    row = tl.load(x + tl.program_id(0) * columns + j, j < columns, -float("inf")).to(tl.float32)
    row = tl.exp(row - tl.max(row, 0))
    tl.store(y + tl.program_id(0) * columns + j, row / tl.sum(row, 0), j < columns)


def matmul(a, b):
    (rows, terms), columns = a.shape, b.shape[1]
    c = torch.empty((rows, columns), device=a.device, dtype=a.dtype)
    product[lambda t: (triton.cdiv(rows, t["M"]), triton.cdiv(columns, t["N"]))](a, b, c, rows, columns, terms)
    return c


def softmax(x):
    y = torch.empty_like(x)
    softmax_rows[(x.numel() // x.shape[-1],)](x, y, x.shape[-1], triton.next_power_of_2(x.shape[-1]))
    return y


WORKLOADS = {f"matmul_{n}": matmul for n in ("128", "512", "1000", "1024", "2048", "bf16")} | {"softmax": softmax}
function, arguments, spent = None, [], 0.0


class Refused(Exception):
    """The program is not written in Triton, or does not compile."""


def version():
    return f"Triton {triton.__version__}"


def load(text, arrays, name):
    global function, arguments, spent
    function = WORKLOADS.get(name.removesuffix("_odd"))
    if function is None:
        raise Refused(f"`{name}` is not written in Triton")
    arguments = [peer_torch.tensor(array) for array in arrays]
    start = time.perf_counter()
    try:
        call()
    except Exception as error:
        raise Refused(str(error)) from error
    spent = time.perf_counter() - start


def choose(samples):
    start = time.perf_counter()
    output = call()
    return "autotune", spent, time.perf_counter() - start, [peer_torch.fetch(output)]


def call():
    output = function(*arguments)
    torch.cuda.synchronize()
    return output


def memory():
    """Unknown: PyTorch's allocator keeps what was freed."""
    return None
