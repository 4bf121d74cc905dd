#!/usr/bin/env python3
"""The digit classifiers of `crates/surject/examples`, in JAX: the same start, the same minibatches, side by side.

    digits_jax.py [lenet|mlp] [--epochs N] [--seed S] [--rounds R] [--seconds T] [--json FILE]

The example trains first and leaves its start (`initial.safetensors`), the order of the examples (`order.npy`,
`held_out.npy`), its figures (`metrics.csv`) and its settings (`settings.json`) in a folder. JAX then trains the same
network from that start on those minibatches, and the losses of each epoch are compared. Training magnifies roundings;
how much is shown by JAX itself from a start whose parameters are the next larger floats ("JAX nudged").

Last, the time of a step is taken on both sides, alternating: T seconds of the example (`--time`), T seconds of JAX
(jitted, warmed up, state donated), R rounds; the minimum and the median are over all rounds. A ratio is JAX's time over
Surject's: above 1 Surject is faster. The examples are built with `cargo build --release --examples -p surject`;
SURJECT_EXAMPLES names another folder than `target/release/examples`. XLA's thread count is that of the machine;
SURJECT_THREADS sets ours.
"""
import argparse
import csv
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_default_matmul_precision", "highest")
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXAMPLES = os.environ.get("SURJECT_EXAMPLES", f"{ROOT}/target/release/examples")


def safetensors(path):
    """The tensors of a file by name: eight bytes of length, a header in JSON, the data."""
    types = {"F32": np.float32, "F64": np.float64}
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    return {
        name: np.frombuffer(data[slice(*t["data_offsets"])], types[t["dtype"]]).reshape(t["shape"])
        for name, t in header.items() if name != "__metadata__"
    }


def digits():
    with gzip.open(f"{ROOT}/crates/surject/examples/data/digits.csv.gz") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return (table[:, :64] / 16).reshape(-1, 8, 8, 1), table[:, 64].astype(np.int32)


@jax.custom_vjp
def max_pool(x):
    """2x2. Where several positions hold the maximum, each gets the gradient, as in Surject's gradient of a maximum;
    that of `lax.reduce_window` goes to the first of them, and the blank margins of the images have many."""
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def max_pool_forward(x):
    y = max_pool(x)
    return y, (x, y)


def max_pool_backward(saved, g):
    x, y = saved
    spread = lambda a: jnp.repeat(jnp.repeat(a, 2, axis=1), 2, axis=2)
    return (jnp.where(x == spread(y), spread(g), 0),)


max_pool.defvjp(max_pool_forward, max_pool_backward)


def conv(x, kernel):
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "OHWI", "NHWC"))


def dense(x, weights):
    """Weights are [out, in…]: output axes lie before input axes, and there may be several of these."""
    return jnp.tensordot(x, weights, (list(range(1, x.ndim)), list(range(1, weights.ndim))))


def lenet(p, x):
    k1, b1, k2, b2, w3, b3, w4, b4 = p
    x = max_pool(jax.nn.relu(conv(x, k1) + b1))
    x = max_pool(jax.nn.relu(conv(x, k2) + b2))
    return dense(jax.nn.relu(dense(x, w3) + b3), w4) + b4


def mlp(p, x):
    w1, b1, w2, b2, w3, b3 = p
    x = jax.nn.relu(dense(x, w1) + b1)
    return dense(jax.nn.relu(dense(x, w2) + b2), w3) + b3


def make_step(network, settings):
    rate, momentum, decay = (np.float32(settings[k]) for k in ("learning_rate", "momentum", "weight_decay"))

    def loss_of(params, x, y):
        return -jnp.mean(jnp.sum(y * jax.nn.log_softmax(network(params, x)), axis=-1))

    def step(params, velocity, x, y):
        loss, gradient = jax.value_and_grad(loss_of)(params, x, y)
        velocity = [momentum * v + g + decay * p for p, v, g in zip(params, velocity, gradient)]
        return loss, [p - rate * v for p, v in zip(params, velocity)], velocity

    return jax.jit(step, donate_argnums=(0, 1))


def example(name, folder, *options):
    words = [f"{EXAMPLES}/digits_{name}", "--out", folder, *options]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def start_of(folder, settings):
    initial = safetensors(f"{folder}/initial.safetensors")
    params = [jnp.array(initial[name]) for name in settings["parameters"]]
    return params, [jnp.zeros_like(p) for p in params]


def train(network, folder, settings, order, nudged=False):
    """The mean loss of each epoch and the accuracy on the images held out; nudged: from a start one rounding away."""
    images, labels = digits()
    targets = np.eye(10, dtype=np.float32)[labels]
    held_out = np.load(f"{folder}/held_out.npy")
    accuracy = jax.jit(lambda p: jnp.mean(jnp.argmax(network(p, images[held_out]), -1) == labels[held_out]))
    step = make_step(network, settings)
    params, velocity = start_of(folder, settings)
    if nudged:
        params = [jnp.nextafter(p, jnp.inf) for p in params]
    losses, accuracies = [], []
    for epoch in order:
        total = 0.0
        for rows in epoch:
            loss, params, velocity = step(params, velocity, images[rows], targets[rows])
            total += float(loss)
        losses.append(total / len(epoch))
        accuracies.append(float(accuracy(params)))
    return losses, accuracies


def time_jax(network, folder, settings, rows, seconds, state):
    """Times of single steps in milliseconds."""
    if not state:
        images, labels = digits()
        step = make_step(network, settings)
        x, y = jax.device_put(images[rows]), jax.device_put(np.eye(10, dtype=np.float32)[labels[rows]])
        params, velocity = start_of(folder, settings)
        began = time.perf_counter()
        step = step.lower(params, velocity, x, y).compile()
        state.update(step=step, x=x, y=y, p=params, v=velocity, compile_ms=(time.perf_counter() - began) * 1e3)
        for _ in range(5):
            _, state["p"], state["v"] = jax.block_until_ready(step(state["p"], state["v"], x, y))
    samples, end = [], time.perf_counter() + seconds
    while len(samples) < 10 or time.perf_counter() < end:
        began = time.perf_counter()
        _, state["p"], state["v"] = jax.block_until_ready(state["step"](state["p"], state["v"], state["x"], state["y"]))
        samples.append((time.perf_counter() - began) * 1e3)
    return samples


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", nargs="?", default="lenet", choices=["lenet", "mlp"])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    network = {"lenet": lenet, "mlp": mlp}[options.network]
    with tempfile.TemporaryDirectory() as folder:
        example(options.network, folder, "--epochs", str(options.epochs), "--seed", str(options.seed))
        settings = json.load(open(f"{folder}/settings.json"))
        metrics = list(csv.DictReader(open(f"{folder}/metrics.csv")))
        order = np.load(f"{folder}/order.npy")
        losses, accuracies = train(network, folder, settings, order)
        nudged, _ = train(network, folder, settings, order, nudged=True)
        ours, theirs, compiled, state = [], [], [], {}
        for _ in range(options.rounds):
            line = example(options.network, folder, "--seed", str(options.seed), "--time", str(options.seconds)).split()
            value = lambda key: float(line[len(line) - line[::-1].index(key)])
            ours.append((value("median_ms"), value("min_ms")))
            compiled.append(value("compile_ms"))
            theirs += time_jax(network, folder, settings, order[0, 0], options.seconds, state)
    epochs = [
        {"epoch": e + 1, "surject_loss": float(row["loss"]), "jax_loss": loss,
         "relative_difference": abs(float(row["loss"]) - loss) / loss,
         "relative_difference_of_nudged_jax": abs(other - loss) / loss,
         "surject_accuracy": float(row["accuracy"]), "jax_accuracy": accuracy}
        for e, (row, loss, other, accuracy) in enumerate(zip(metrics, losses, nudged, accuracies))
    ]
    ours_median, ours_min = float(np.median([m for m, _ in ours])), min(m for _, m in ours)
    report = {
        "network": options.network, "seed": options.seed, "batch": settings["batch"], "threads": os.cpu_count(),
        "surject_step_ms": {"median": ours_median, "min": ours_min, "compile": min(compiled)},
        "jax_step_ms": {"median": float(np.median(theirs)), "min": min(theirs), "compile": state["compile_ms"]},
        "ratio_median": float(np.median(theirs)) / ours_median, "ratio_min": min(theirs) / ours_min,
        "largest_relative_difference": max((e["relative_difference"] for e in epochs), default=0.0),
        "largest_relative_difference_of_nudged_jax": max(
            (e["relative_difference_of_nudged_jax"] for e in epochs), default=0.0),
        "epochs": epochs,
    }
    for e in epochs:
        print("epoch {epoch:3}  loss {surject_loss:.6f} (JAX {jax_loss:.6f}, apart {relative_difference:.1e}; JAX nudged "
              "{relative_difference_of_nudged_jax:.1e})  held out {surject_accuracy:.4f} (JAX {jax_accuracy:.4f})".format(**e))
    for side in ("surject", "jax"):
        print("{:8} step: median {median:.3f} ms, min {min:.3f} ms, compiled in {compile:.0f} ms".format(
            side, **report[f"{side}_step_ms"]))
    print(f"ratio (JAX / Surject): median {report['ratio_median']:.2f}, min {report['ratio_min']:.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(report, file, indent=2)


if __name__ == "__main__":
    main()
