"""torch's softmax on the shapes of SoftmaxCheck, into the same report, in the same run.

Without torch, or without a device that it can use, it says so in one line and leaves the report as it is.
"""

import argparse
import json
import os
import statistics
import sys

# Kept equal to SoftmaxCheck.java: shapes, types, samples, and how far buffers must reach beyond the L2 cache.
SHAPES = [(4000, 32000), (16384, 8192)]
SMOKE_SHAPES = [(37, 1000), (64, 128)]
SAMPLES = 30
ROTATION_BYTES = 4 * 60 * 2**20
CHECKED_ROWS = 64


def measure(torch, rows, row_length, dtype):
    generator = torch.Generator(device="cuda").manual_seed(int.from_bytes(os.urandom(7), "little"))
    size = rows * row_length * torch.finfo(dtype).bits // 8
    copies = max(2, -(-ROTATION_BYTES // (2 * size)))
    inputs = [
        (torch.randn(rows, row_length, device="cuda", generator=generator) * 4).to(dtype)
        for _ in range(copies)
    ]
    outputs = [torch.empty_like(x) for x in inputs]

    def run(i):
        torch.softmax(inputs[i % copies], dim=-1, out=outputs[i % copies])

    for i in range(10):
        run(i)
    torch.cuda.synchronize()
    # All are queued before the first is waited for: the device then never waits for a launch.
    events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(SAMPLES)]
    for i, (begin, end) in enumerate(events):
        begin.record()
        run(i)
        end.record()
    torch.cuda.synchronize()
    microseconds = [begin.elapsed_time(end) * 1e3 for begin, end in events]

    sampled = torch.randperm(rows)[:CHECKED_ROWS]
    truth = torch.softmax(inputs[0][sampled].double(), dim=-1)
    error = ((outputs[0][sampled].double() - truth).abs() / truth).max().item()
    median = statistics.median(microseconds)
    return {
        "implementation": "torch " + torch.__version__,
        "rows": rows,
        "row_length": row_length,
        "type": {torch.float32: "f32", torch.bfloat16: "bf16"}[dtype],
        "buffers": copies,
        "microseconds": microseconds,
        "gigabytes_per_second": 2 * size / median / 1e3,
        "max_relative_error": error,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", required=True, help="the report of the Java suite")
    parser.add_argument("--smoke", action="store_true", help="tiny shapes")
    parser.add_argument("--only", default="softmax", help="sections of the suite that run")
    options, _ = parser.parse_known_args()
    if "softmax" not in options.only.split(","):
        return
    try:
        import torch
    except ImportError:
        print("torch: not installed here, not measured")
        return
    if not torch.cuda.is_available():
        print("torch: has no device here, not measured")
        return

    with open(options.into) as file:
        report = json.load(file)
    for rows, row_length in SMOKE_SHAPES if options.smoke else SHAPES:
        for dtype in (torch.float32, torch.bfloat16):
            entry = measure(torch, rows, row_length, dtype)
            report.setdefault("softmax", []).append(entry)
            print(
                "softmax {rows} x {row_length} {type:4}  {implementation}: "
                "{gigabytes_per_second:.0f} GB/s".format(**entry)
            )
    with open(options.into + ".new", "w") as file:
        json.dump(report, file, indent=2)
        file.write("\n")
    os.replace(options.into + ".new", options.into)


if __name__ == "__main__":
    sys.exit(main())
