"""torch as a peer of the kernel benchmarks: answers requests of the Java suite, a line of JSON each.

    {"ask": "name"}                                             -> {"name": "torch 2.11.0"}
    {"ask": "open", "op": ..., "type": ..., "rows": ..., "length": ..., "sets": ..., "checked_rows": [...]}
                                                                allocates, fills, warms up
    {"ask": "take"}                                             -> {"us": ...}, the time of one operation
    {"ask": "take", "prove": true}                              -> the same with {"error": ..., "checked_elements": ...}
    {"ask": "close"}                                            gives the memory back

An answer {"failed": reason} says why not. An operation is a function of a matrix, or of as many as "inputs" says; its entry in OPERATIONS has how its
result is compared with float64, in the measure of the suite's own check, on the rows that the suite looks at; the suite
judges the error. Inputs have the distribution of the suite's: uniform in [-8, 8).
"""

import json
import math
import os
import sys

# As the suite does it for its own.
SAMPLE_MICROS = 300
MOST_REPEATS = 400
LEAD = 20


def relative_error(torch, actual, truth):
    """Below the smallest normal value a type has no relative precision."""
    least = torch.finfo(actual.dtype).tiny
    return ((actual.double() - truth).abs() / truth.abs().clamp(min=least)).max().item()


class Softmax:
    """Along the last axis."""

    def __init__(self, torch, request):
        self.call = torch.log_softmax if request.get("log") else torch.softmax
        self.torch = torch

    def output(self, x):
        return self.torch.empty_like(x)

    def run(self, x, out):
        self.call(x, -1, out=out)

    def error(self, x, out, rows):
        got = out[rows]
        return relative_error(self.torch, got, self.call(x[rows].double(), -1)), got.numel()


class SoftmaxBackward:
    """The gradient of a softmax of rows, or of its logarithm, from its result and the gradient with respect to that."""

    def __init__(self, torch, request):
        self.torch = torch
        self.log = request["log"]

    def output(self, x):
        return self.torch.empty_like(x[0])

    def run(self, x, out):
        y, dy = x
        aten = self.torch.ops.aten
        if self.log:
            aten._log_softmax_backward_data.out(dy, y, -1, y.dtype, out=out)
        else:
            aten._softmax_backward_data.out(dy, y, -1, y.dtype, grad_input=out)

    def error(self, x, out, rows):
        """A part of the result and of the magnitudes that were added up to it, as the suite takes it."""
        torch = self.torch
        y, dy = (each[rows].double() for each in x)
        if self.log:
            truth = dy - y.exp() * dy.sum(-1, keepdim=True)
            magnitudes = dy.abs() + y.exp() * dy.abs().sum(-1, keepdim=True)
        else:
            truth = y * (dy - (y * dy).sum(-1, keepdim=True))
            magnitudes = y.abs() * (dy.abs() + (y * dy).abs().sum(-1, keepdim=True))
        accumulator = torch.float64 if out.dtype == torch.float64 else torch.float32
        weight = 64 * torch.finfo(accumulator).eps / torch.finfo(out.dtype).eps
        error = (out[rows].double() - truth).abs()
        relative = error / (truth.abs() + weight * magnitudes)
        return relative.where(error != 0, error).max().item(), error.numel()


class MaskedSoftmax:
    """Of what a mask leaves of each row. The mask is made once; the suite makes the same by the same arithmetic."""

    SCATTER = 2654435761

    def __init__(self, torch, request):
        self.torch = torch
        self.additive = request["mask"] == "addends"
        rows, length = request["rows"], request["length"]
        row = torch.arange(rows, device="cuda", dtype=torch.int64)[:, None]
        place = torch.arange(length, device="cuda", dtype=torch.int64)
        if request["mask"] == "lengths":
            self.masked = place >= 1 + (row * self.SCATTER & 0xFFFFFFFF) % length
        else:
            # By parts: the products of all places would be eight times as large as what is masked.
            self.masked = torch.empty((rows, length), device="cuda", dtype=torch.bool)
            for part, some in zip(self.masked.split(256), row.split(256)):
                part.copy_(((some * length + place) * self.SCATTER >> 20 & 3) == 0)

    def output(self, x):
        if self.additive:
            self.addends = self.torch.zeros_like(x).masked_fill_(self.masked, -math.inf)
        return self.torch.empty_like(x)

    def run(self, x, out):
        logits = x + self.addends if self.additive else x.masked_fill(self.masked, -math.inf)
        self.torch.softmax(logits, -1, out=out)

    def error(self, x, out, rows):
        got = out[rows]
        truth = self.torch.softmax(x[rows].double().masked_fill(self.masked[rows], -math.inf), -1)
        return relative_error(self.torch, got, truth), got.numel()


class SegmentReduction:
    """Of segments that lie one behind the other; the suite makes the same lengths by the same arithmetic."""

    def __init__(self, torch, request):
        self.torch = torch
        self.op = request["op"]
        segment = torch.arange(request["segments"], device="cuda", dtype=torch.int64)
        lengths = 1 + (segment * MaskedSoftmax.SCATTER & 0xFFFFFFFF) % (2 * request["average"] - 1)
        self.offsets = torch.nn.functional.pad(lengths.cumsum(0), (1, 0))
        self.type = torch.float64 if request["type"] == "f64" else torch.float32

    def output(self, x):
        dtype = x.dtype if self.op in ("max", "min") else self.type
        return self.torch.empty(self.offsets.numel() - 1, device=x.device, dtype=dtype)

    def run(self, x, out):
        # It has no form that writes into a given tensor, nor one that adds in another type.
        x = x.flatten().to(out.dtype)
        out.copy_(self.torch.segment_reduce(x, self.op, offsets=self.offsets, unsafe=True))

    def error(self, x, out, rows):
        x, worst = x.flatten(), 0.0
        for row in rows.tolist():
            part, got = x[self.offsets[row] : self.offsets[row + 1]].double(), out[row].double()
            if self.op in ("max", "min"):
                error = (got - (part.max() if self.op == "max" else part.min())).abs()
            else:
                value = got * (part.numel() if self.op == "mean" else 1)
                error = (value - part.sum()).abs() / part.abs().sum()
            worst = max(worst, error.item())
        return worst, rows.numel()


class Reduction:
    """Of the last axis, the first, or of all elements. The error of a sum is a part of the sum of magnitudes."""

    def __init__(self, torch, request):
        self.torch = torch
        self.axis = {"last": (-1,), "first": (0,), "all": (0, 1)}[request["axis"]]
        self.op = request["op"]
        self.type = torch.float32 if request["type"] != "f64" else torch.float64

    def output(self, x):
        shape = () if self.axis == (0, 1) else (x.shape[0] if self.axis == (-1,) else x.shape[1],)
        kept = {"max": x.dtype, "logsumexp": x.dtype, "argmax": self.torch.int64}
        return self.torch.empty(shape, device=x.device, dtype=kept.get(self.op, self.type))

    def run(self, x, out):
        if self.op == "max":
            self.torch.amax(x, self.axis, out=out)
        elif self.op == "mean":
            self.torch.mean(x, self.axis, dtype=self.type, out=out)
        elif self.op == "argmax":
            self.torch.argmax(x, None if self.axis == (0, 1) else self.axis[0], out=out)
        elif self.op == "logsumexp":
            self.torch.logsumexp(x, self.axis, out=out)
        elif self.op == "l2_norm":
            self.torch.linalg.vector_norm(x, 2, self.axis, dtype=self.type, out=out)
        else:
            self.torch.sum(x, self.axis, dtype=self.type, out=out)

    def error(self, x, out, rows):
        part, got = x, out
        if self.axis == (-1,):
            part, got = x[rows], out[rows]
        elif self.axis == (0,):
            part, got = x[:, rows], out[rows]
        if self.op == "max":
            return (got.double() - part.amax(self.axis).double()).abs().max().item(), got.numel()
        if self.op == "argmax":
            found = part.flatten()[got] if self.axis == (0, 1) else part.gather(-1, got[:, None])[:, 0]
            return (found.double() - part.amax(self.axis).double()).abs().max().item(), got.numel()
        if self.op in ("logsumexp", "l2_norm"):
            call = self.torch.logsumexp if self.op == "logsumexp" else self.torch.linalg.vector_norm
            truth = call(part.double(), -1) if self.op == "logsumexp" else call(part.double(), 2, -1)
            return ((got.double() - truth).abs() / truth.abs()).max().item(), got.numel()
        value = got.double() * (part.numel() // got.numel() if self.op == "mean" else 1)
        truth = part.sum(self.axis, dtype=self.torch.float64)
        magnitudes = part.abs().sum(self.axis, dtype=self.torch.float64)
        return ((value - truth).abs() / magnitudes).max().item(), got.numel()


def reduction(torch, request):
    return (SegmentReduction if request["axis"] == "segments" else Reduction)(torch, request)


class TopK:
    """The softmax of rows, then its K largest: what a program calls."""

    def __init__(self, torch, request):
        self.torch = torch
        self.k = request["k"]

    def output(self, x):
        shape = (x.shape[0], self.k)
        return (
            self.torch.empty(shape, device=x.device, dtype=x.dtype),
            self.torch.empty(shape, device=x.device, dtype=self.torch.int64),
        )

    def run(self, x, out):
        self.torch.topk(self.torch.softmax(x, -1), self.k, -1, out=out)

    def error(self, x, out, rows):
        """Each probability, and that of the element in its place, beyond what rounding hides."""
        actual, places = out[0][rows].double(), out[1][rows]
        truth = self.torch.softmax(x[rows].double(), -1)
        expected = truth.topk(self.k, -1)[0]
        value = ((actual - expected).abs() / expected).max().item()
        there = ((truth.gather(-1, places) - expected).abs() / expected).max().item()
        ordered = places.sort(-1)[0]
        if bool((ordered[:, 1:] == ordered[:, :-1]).any()):
            return math.inf, actual.numel()
        # finfo's eps is two roundings.
        return max(value, there - self.torch.finfo(x.dtype).eps), actual.numel()


class Sample:
    """A token of each row by top-k and top-p, and its probability: what a program calls."""

    def __init__(self, torch, request):
        self.torch = torch
        self.k = request["top_k"]
        self.p = request["top_p"]

    def output(self, x):
        shape = (x.shape[0], 1)
        return (
            self.torch.empty(shape, device=x.device, dtype=self.torch.int64),
            self.torch.empty(shape, device=x.device, dtype=self.torch.float32),
        )

    def left(self, x):
        """What the filters leave, normalised, and the places; None where they are the row's."""
        torch = self.torch
        if self.k == 0 and self.p >= 1:
            return torch.softmax(x, -1), None
        values, places = x.topk(self.k, -1) if self.k > 0 else x.sort(-1, descending=True)
        probabilities = torch.softmax(values, -1)
        if self.p < 1:
            before = probabilities.cumsum(-1) - probabilities
            probabilities = probabilities.masked_fill(before >= self.p, 0)
            probabilities = probabilities / probabilities.sum(-1, keepdim=True)
        return probabilities, places

    def run(self, x, out):
        probabilities, places = self.left(x.float())
        drawn = probabilities.multinomial(1)
        out[0].copy_(drawn if places is None else places.gather(-1, drawn))
        out[1].copy_(probabilities.gather(-1, drawn))

    def error(self, x, out, rows):
        """Each token's probability."""
        probabilities, places = self.left(x[rows].double())
        if places is not None:
            probabilities = self.torch.zeros_like(x[rows], dtype=self.torch.float64).scatter(-1, places, probabilities)
        truth = probabilities.gather(-1, out[0][rows])
        return ((out[1][rows].double() - truth).abs() / truth).max().item(), truth.numel()


OPERATIONS = {
    "sample": Sample,
    "topk": TopK,
    "softmax": Softmax,
    "softmax_backward": SoftmaxBackward,
    "masked_softmax": MaskedSoftmax,
    "sum": reduction,
    "max": reduction,
    "mean": reduction,
    "argmax": reduction,
    "logsumexp": reduction,
    "l2_norm": reduction,
}


def poison(out):
    """What no result is: places are not negative."""
    return math.nan if out.is_floating_point() else -1


class Peer:
    def __init__(self, torch):
        self.torch = torch
        self.generator = torch.Generator(device="cuda").manual_seed(int.from_bytes(os.urandom(7), "little"))
        self.inputs = self.outputs = self.operation = self.rows = None
        self.next = 0
        self.repeats = 1

    def name(self, _):
        return {"name": "torch " + self.torch.__version__.split("+")[0]}

    def open(self, request):
        torch = self.torch
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16, "f64": torch.float64}[request["type"]]
        self.operation = OPERATIONS[request["op"]](torch, request)
        shape = (request["rows"], request["length"])
        matrices = request.get("inputs", 1)

        def matrix():
            return torch.rand(shape, device="cuda", generator=self.generator).mul_(16).sub_(8).to(dtype)

        self.inputs = [
            matrix() if matrices == 1 else tuple(matrix() for _ in range(matrices)) for _ in range(request["sets"])
        ]
        self.outputs = [self.operation.output(x) for x in self.inputs]
        self.rows = torch.tensor(request["checked_rows"], device="cuda", dtype=torch.int64)
        self.next = 0
        self.measure(3)
        once = self.measure(4)
        # At least so many that a turn uses every set.
        self.repeats = max(min(MOST_REPEATS, math.ceil(SAMPLE_MICROS / once)), request["sets"])
        return {}

    def run(self):
        self.operation.run(self.inputs[self.next], self.outputs[self.next])
        self.next = (self.next + 1) % len(self.inputs)

    def measure(self, repeats):
        """All is queued before the first is waited for: the device does not wait for a launch that is fast enough."""
        torch = self.torch
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(min(repeats, LEAD)):
            self.run()
        begin.record()
        for _ in range(repeats):
            self.run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) * 1e3 / repeats

    def tensors(self):
        """Of all outputs: one has several, if its operation has several results."""
        for out in self.outputs:
            yield from out if isinstance(out, tuple) else (out,)

    def take(self, request):
        self.next = 0
        for out in self.tensors():
            out.fill_(poison(out))
        micros = self.measure(self.repeats)
        if not request.get("prove"):
            return {"us": micros}
        if any(bool((out.isnan() if out.is_floating_point() else out == poison(out)).any()) for out in self.tensors()):
            return {"failed": "poison is left where the timed calls had to write"}
        error, elements = self.operation.error(self.inputs[-1], self.outputs[-1], self.rows)
        if not math.isfinite(error):  # nor is it in JSON
            return {"failed": "its error is %s" % error}
        return {
            "us": micros,
            "repeats": self.repeats,
            "buffers": len(self.inputs),
            "error": error,
            "checked_elements": elements,
        }

    def close(self, _):
        self.inputs = self.outputs = self.operation = self.rows = None
        self.torch.cuda.empty_cache()
        return {}


def answer(peer, request):
    try:
        return {"name": peer.name, "open": peer.open, "take": peer.take, "close": peer.close}[request["ask"]](request)
    except Exception as e:  # the suite goes on with whoever is left
        peer.close({})
        return {"failed": (type(e).__name__ + ": " + str(e)).splitlines()[0]}


def main():
    # What torch and its libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer, reason = None, None
    try:
        import torch

        if torch.cuda.is_available():
            peer = Peer(torch)
        else:
            reason = "torch has no device here"
    except ImportError as e:
        reason = "torch is not installed here" if e.name == "torch" else "torch does not load here: %s" % e
    except Exception as e:  # libraries that do not fit, a driver that does not answer
        reason = ("torch does not start here: %s: %s" % (type(e).__name__, e)).splitlines()[0]
    for line in sys.stdin:
        print(json.dumps({"failed": reason} if peer is None else answer(peer, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
