#!/usr/bin/env python3
"""Writes the fixtures beside this script with NumPy and the safetensors library.

They are committed, so that the tests need no Python. Needs: numpy, safetensors 0.8 or newer.
"""

import pathlib

import numpy as np
from safetensors import TensorSpec, serialize_file
from safetensors.numpy import save_file

HERE = pathlib.Path(__file__).resolve().parent
VALUES = np.array([[1, -2.5, 0], [np.inf, -np.inf, 65504]])


def npy(name, array, version=None):
    with open(HERE / name, "wb") as out:
        np.lib.format.write_array(out, np.asanyarray(array), version=version)


def bfloat16_bits(array):
    """Upper halves of float32; the values here need no rounding."""
    return (np.asarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)


for dtype in ("<f2", "<f4", "<f8"):
    npy(f"{dtype[1:]}.npy", VALUES.astype(dtype))
npy("f4_v2.npy", VALUES.astype("<f4"), version=(2, 0))
npy("f4_v3.npy", VALUES.astype("<f4"), version=(3, 0))
npy("i4.npy", np.arange(6, dtype="<i4").reshape(2, 3))
npy("i8.npy", np.arange(6, dtype="<i8").reshape(2, 3))
npy("u1.npy", np.arange(6, dtype="u1").reshape(2, 3))
npy("bool.npy", np.array([True, False]))
npy("rank0.npy", np.float32(7))
npy("rank1.npy", np.arange(5, dtype="<f4"))
npy("rank4.npy", np.arange(24, dtype="<f4").reshape(2, 1, 3, 4))
npy("zero_length.npy", np.zeros((3, 0, 2), "<f4"))
npy("big_endian.npy", VALUES.astype(">f4"))
npy("fortran.npy", np.asfortranarray(VALUES.astype("<f4")))
npy("complex.npy", VALUES.astype("<c16"))
npy("structured.npy", np.zeros(2, [("a", "<f4"), ("b", "<i4")]))
npy("text.npy", np.array(["a", "bc"]))
npy("void2.npy", np.zeros(3, "V2"))

whole = (HERE / "f4.npy").read_bytes()
(HERE / "truncated.npy").write_bytes(whole[:-1])
(HERE / "truncated_header.npy").write_bytes(whole[:40])
(HERE / "two_arrays.npy").write_bytes(whole + whole)

save_file(
    {
        "f16": VALUES.astype("<f2"),
        "f32": VALUES.astype("<f4"),
        "f64": VALUES.astype("<f8"),
        "i64": np.arange(3, dtype="<i8"),
        "scalar": np.array(7, "<f4"),
        "empty": np.zeros((3, 0), "<f4"),
        "name with # and \u00fc": np.arange(2, dtype="<f4"),
    },
    HERE / "several.safetensors",
    metadata={"format": "pt", "author": "Culebra"},
)
save_file({"logits": VALUES.astype("<f4")}, HERE / "single.safetensors")
bits = bfloat16_bits(np.where(VALUES == 65504, 65536, VALUES))
serialize_file(
    {
        "bf16": TensorSpec(
            dtype="bfloat16", shape=bits.shape, data_ptr=bits.ctypes.data, data_len=bits.nbytes
        )
    },
    HERE / "bf16.safetensors",
)
