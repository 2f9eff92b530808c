#!/usr/bin/env python3
"""Lets NumPy and the safetensors library write what culebra reads, and read what it writes.

A check beside the tests, which need no Python:

    python3 cli/src/test/python/crosscheck.py [path of bin/culebra]

Needs: a built work tree, numpy; safetensors 0.8 or newer for that half.
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np

try:
    from safetensors import TensorSpec, deserialize, serialize_file
except ImportError:
    serialize_file = None

ROOT = pathlib.Path(__file__).resolve().parents[4]
CULEBRA = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "bin" / "culebra")
RNG = np.random.default_rng(7)
failures = 0


def run(*args, **kwargs):
    return subprocess.run([CULEBRA, *map(str, args)], capture_output=True, check=True, **kwargs)


def softmax(x):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def check(what, condition):
    global failures
    failures += not condition
    print("ok  " if condition else "FAIL", what)


def near(actual, truth, tolerance):
    return actual.shape == truth.shape and np.max(np.abs(actual - truth), initial=0) <= tolerance


def bfloat16_bits(x):
    """Rounds float32 to the nearest bfloat16, ties to even."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bfloat16(raw, shape):
    bits = np.frombuffer(raw, np.uint16).astype(np.uint32) << 16
    return bits.view(np.float32).reshape(shape)


def check_npy(folder):
    for dtype, tolerance in (("<f2", 1e-3), ("<f4", 1e-6), ("<f8", 1e-14)):
        for shape in ((3, 5), (7,), (2, 3, 4), (1, 1), (4, 1000), (0, 5), (3, 0)):
            x = RNG.normal(size=shape).astype(dtype)
            np.save(folder / "in.npy", x)
            run("softmax", folder / "in.npy", "-o", folder / "out.npy")
            y = np.load(folder / "out.npy", allow_pickle=False)
            truth = softmax(x) if x.size else x.astype(np.float64)
            check(f"softmax {dtype} {shape}", y.dtype == x.dtype and near(y, truth, tolerance))
    x = RNG.normal(size=(4, 300)).astype("<f4")
    np.save(folder / "in.npy", x)
    piped = run("softmax", "-", "-o", "-", input=(folder / "in.npy").read_bytes()).stdout
    (folder / "piped.npy").write_bytes(piped)
    check("softmax through pipes", near(np.load(folder / "piped.npy"), softmax(x), 1e-6))
    run("reduce", folder / "in.npy", "--op", "sum", "-o", folder / "out.npy")
    check("reduce sum", near(np.load(folder / "out.npy"), x.astype(np.float64).sum(-1), 1e-4))
    printed = run("reduce", folder / "in.npy", "--op", "max", "--axis", "all", text=True).stdout
    check("reduce max all, printed", np.float32(printed) == x.max())


def check_safetensors(folder):
    bits = bfloat16_bits(RNG.normal(size=(6, 700)))
    wide = RNG.normal(size=(2, 3)).astype("<f8")
    serialize_file(
        {
            name: TensorSpec(
                dtype=dtype, shape=a.shape, data_ptr=a.ctypes.data, data_len=a.nbytes
            )
            for name, dtype, a in (("b", "bfloat16", bits), ("wide", "float64", wide))
        },
        folder / "in.safetensors",
        {"made by": "crosscheck"},
    )
    run("softmax", f"{folder}/in.safetensors#b", "-o", f"{folder}/out.safetensors#p")
    (name, tensor), = deserialize((folder / "out.safetensors").read_bytes())
    y = from_bfloat16(bytes(tensor["data"]), tensor["shape"])
    truth = softmax(from_bfloat16(bits.tobytes(), bits.shape))
    check("softmax bf16", name == "p" and tensor["dtype"] == "BF16" and near(y, truth, 4e-3))
    run("reduce", f"{folder}/in.safetensors#wide", "--op", "mean", "-o", folder / "m.safetensors")
    (name, tensor), = deserialize((folder / "m.safetensors").read_bytes())
    mean = np.frombuffer(bytes(tensor["data"]), "<f8")
    check("reduce mean f64", name == "wide" and near(mean, wide.mean(-1), 1e-14))


with tempfile.TemporaryDirectory() as name:
    check_npy(pathlib.Path(name))
    if serialize_file is None:
        print("     safetensors is not installed: its half is left out")
    else:
        check_safetensors(pathlib.Path(name))
print(f"{failures} failures")
sys.exit(failures != 0)
