"""Faults planted in the example kernels' own text, with the kind of each: what a user gets wrong.

`BUILT` were looked at while the diagnosis was written. `UNSEEN`, `FRESH` and `LAST` were each written
down before the diagnosis was tried on them; it was right at first sight, the reference given as a
function, for 9 of the 12 of `UNSEEN`, 7 of the 12 of `FRESH` and 7 of the 11 of `LAST`, and was then
mended, not for the case but for the kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import phobos_nb as ph
from phobos_nb.simulate.compare import Difference
from tests.examples_cases import CASES, copied


@dataclass(frozen=True)
class Planted:
    """One change of an example's text (none: see `options`) and the kind of fault that it is."""

    case: str
    kind: str
    old: str
    new: str
    shape: Mapping[str, int]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def differences(self, *, function: bool) -> list[Difference]:
        """What `compare` says, the right answer given as arrays or as a function."""
        case = CASES[self.case]
        text = case.path.read_text("utf-8")
        assert self.old in text
        constants: dict[str, Any] = {**case.configurations[0], **case.dtypes}
        kernel = ph.compile(text.replace(self.old, self.new, 1), **constants)[case.kernel]
        values = case.arrays(self.shape, np.random.default_rng(7))
        before = copied(values)
        ref = case.reference if function else case.reference(before)
        bound = {name: 2 * b for name, b in case.bound(before).items()}
        options: dict[str, Any] = {"grid": case.grid(case.configurations[0], values), **self.options}
        return kernel.compare(**values, ref=ref, tolerance=bound, **options)


RAGGED = {"M": 67, "N": 53, "K": 41}
SQUARE = {"M": 64, "N": 64, "K": 64}

BUILT = {
    "the k loop leaves out its tail": Planted(
        "gemm_fp32_any", "tail", "range(0, K, TILE_K)", "range(0, K - TILE_K + 1, TILE_K)", RAGGED
    ),
    "padded with 0 for a maximum": Planted(
        "argmax",
        "tail",
        "var x = pad(X[row :+ ROWS, col :+ COLS], -inf)",
        "var x = pad(X[row :+ ROWS, col :+ COLS], 99.0)",
        {"M": 5, "N": 130},
    ),
    "b read transposed": Planted(
        "batched_gemm",
        "wrong index",
        "var b = B[z, k :+ TILE_K, j :+ TILE_N]\n    acc += dot(a, b)",
        "var b = B[z, j :+ TILE_N, k :+ TILE_K]\n    acc += dot_t(a, b)",
        {"Z": 2, "M": 32, "N": 32, "K": 32},
    ),
    "a shifted by one": Planted(
        "gemm_fp32_any", "wrong index", ", kt :+ TILE_K]", ", (kt + 1) :+ TILE_K]", SQUARE
    ),
}

UNSEEN = {
    "softmax forgets to pad the sum": Planted(
        "softmax",
        "tail",
        "var x = pad(X[row :+ ROWS, col :+ COLS], -inf)",
        "var x = pad(X[row :+ ROWS, col :+ COLS], 0.0)",
        {"M": 6, "N": 150},
    ),
    "the variance counts what is outside": Planted(
        "layer_norm",
        "tail",
        "where(iota(COLS) < N - col, x - mean, 0.0)",
        "x - mean",
        {"M": 6, "N": 150},
    ),
    "the scan stops before its last rows": Planted(
        "rms_norm", "tail", "for col in range(0, N, COLS) {\n    var",
        "for col in range(0, N / COLS * COLS, COLS) {\n    var",
        {"M": 6, "N": 150},
    ),
    "rows and columns of the result exchanged": Planted(
        "transpose", "wrong index", "= transpose(t)", "= t", {"M": 64, "N": 64}
    ),
    "one neighbour too far": Planted(
        "stencil", "wrong index", "X[i :+ TILE_M, j + 1 :+", "X[i :+ TILE_M, j + 2 :+",
        {"M": 16, "N": 64}
    ),
    "every batch multiplies the first": Planted(
        "batched_gemm", "wrong index", "A[z, i", "A[0, i", {"Z": 3, "M": 33, "N": 35, "K": 17}
    ),
    "no barrier in the tree": Planted(
        "reduce_shared", "race", "      s[t] = s[t] + s[t + half]\n    }\n    barrier()",
        "      s[t] = s[t] + s[t + half]\n    }",
        {"N": 1024, "B": 2}, {"seed": 5},
    ),
    "the rotation turns the other way": Planted(
        "rotary", "wrong operation", "a * s + b * c", "b * c - a * s", {"T": 20, "H": 2, "D": 32}
    ),
    "beta forgotten": Planted(
        "gemm_fp16", "wrong operation", " + beta * c_old", "", {"M": 33, "N": 40, "K": 24}
    ),
    "the sums rounded to f16": Planted(
        "gemm_fp32_any", "rounding", "alpha * acc", "f32(f16(alpha * acc))", SQUARE
    ),
    "a grid of whole tiles": Planted(
        "scan", "not written", "", "", {"M": 20, "N": 64}, {"grid": (1, 1, 1)}
    ),
    "a bin too far": Planted(
        "histogram", "wrong index", "i32(X[i])", "i32(X[i]) + 1", {"N": 900, "BINS": 256}
    ),
}  # fmt: skip

FRESH = {
    "the operands of saxpy exchanged": Planted(
        "saxpy_fp32", "wrong operation", "a * x + y", "a * y + x", {"N": 700}
    ),
    "no barrier behind the products": Planted(
        "matmul_shared", "race", "    }\n    barrier()\n  }\n  C", "    }\n  }\n  C",
        {"M": 16, "N": 16, "K": 48}, {"seed": 3},
    ),
    "b's row by the wrong thread index": Planted(
        "matmul_shared", "wrong index", "B[k + row, j]", "B[k + column, j]", {"M": 16, "N": 16, "K": 16}
    ),
    "whole slices only": Planted(
        "matmul_shared", "tail", "range(0, K, 16)", "range(0, K / 16 * 16, 16)",
        {"M": 16, "N": 32, "K": 37}
    ),
    "shared memory read by rows": Planted(
        "transpose_shared", "wrong index", "s[ctx.lane, r + ctx.warp]", "s[r + ctx.warp, ctx.lane]",
        {"M": 64, "N": 32},
    ),
    "every group takes the first matrix": Planted(
        "grouped_gemm", "wrong index", "B[g, k", "B[0, k", {"M": 100, "N": 40, "K": 33, "G": 3, "L": 4}
    ),
    "the carry forgotten": Planted(
        "segmented_scan", "wrong operation", "carry += colsum(x)", "carry += 0.0 * colsum(x)",
        {"N": 300, "L": 3},
    ),
    "attention to keys that are not there": Planted(
        "flash_attention_fp32", "tail", "where(iota(BC) < NK - j, scale * dot_t(q, k), -inf)",
        "scale * dot_t(q, k)", {"H": 2, "NQ": 32, "NK": 75, "D": 64},
    ),
    "scores not scaled": Planted(
        "flash_attention_fp32", "wrong operation", "scale * dot_t", "dot_t",
        {"H": 1, "NQ": 8, "NK": 8, "D": 64}
    ),
    "keys in place of values": Planted(
        "flash_attention_fp32", "wrong operation", "V[h, j", "K[h, j",
        {"H": 1, "NQ": 8, "NK": 8, "D": 64}
    ),
    "a column further": Planted(
        "mandelbrot", "wrong index", "f32(c) * step", "f32(c + 1) * step", {"R": 4, "C": 300}
    ),
    "the products rounded to f16": Planted(
        "linear_attention", "rounding", "before + dot(inside, v)", "before + f32(f16(dot(inside, v)))",
        {"H": 2, "T": 40, "D": 32, "E": 32},
    ),
}  # fmt: skip
"""As `UNSEEN`, written after the diagnosis had been mended by those."""

LAST = {
    "weight and bias exchanged": Planted(
        "layer_norm", "wrong operation", "* scale * w + b", "* scale * b + w", {"M": 6, "N": 128}
    ),
    "a weight further": Planted(
        "layer_norm", "wrong index", "W[col :+ COLS]", "W[col + 1 :+ COLS]", {"M": 6, "N": 128}
    ),
    "the first half of the pair twice": Planted(
        "rotary", "wrong index", "X[t :+ ROWS, h, 1, :]", "X[t :+ ROWS, h, 0, :]",
        {"T": 20, "H": 2, "D": 32}
    ),
    "the scan without its carry": Planted(
        "scan", "wrong operation", "carry + cumsum(x)", "cumsum(x)", {"M": 64, "N": 40}
    ),
    "segments write on": Planted(
        "segmented_scan", "race", "Y[i :+ TILE until end]", "Y[i :+ TILE]", {"N": 300, "L": 5}
    ),
    "a transpose without its barrier": Planted(
        "transpose_shared", "race", "  barrier()\n", "", {"M": 64, "N": 32}, {"seed": 2}
    ),
    "north is south": Planted(
        "stencil", "wrong index", "X[i - 1 :+", "X[i + 1 :+", {"M": 16, "N": 64}
    ),
    "normalised in f16": Planted(
        "layer_norm", "rounding", "(x - mean) * scale * w + b", "f32(f16((x - mean) * scale * w + b))",
        {"M": 6, "N": 128},
    ),
    "the last batch is not launched": Planted(
        "batched_gemm", "not written", "", "", {"Z": 3, "M": 32, "N": 32, "K": 16}, {"grid": (1, 1, 2)}
    ),
    "a pair one further": Planted(
        "reduce_shared", "wrong index", "X[i + 256]", "X[i + 257]", {"N": 1024, "B": 2}
    ),
}  # fmt: skip
"""As `FRESH`, after those."""

OPEN = {
    "attention behind the sequence's end": Planted(
        "varlen_attention", "tail", "where(iota(BC) < end - j, scale * dot_t(q, k), -inf)",
        "scale * dot_t(q, k)", {"N": 40, "H": 1, "B": 3, "D": 32},
    ),
}  # fmt: skip
"""Not told before single changes were tried: filler inside an array, behind a row's own end."""

FOURTH = {
    "residual not added": Planted(
        "rms_norm", "wrong operation",
        "R[row :+ ROWS, col :+ COLS] + X[row :+ ROWS, col :+ COLS]", "X[row :+ ROWS, col :+ COLS]",
        {"M": 6, "N": 150},
    ),
    "root of the sum": Planted(
        "rms_norm", "wrong operation", "squares / f32(N)", "squares", {"M": 6, "N": 150}
    ),
    "the input normalised, not the sum": Planted(
        "rms_norm", "wrong operation", "let r = R[row", "let r = X[row", {"M": 6, "N": 150}
    ),
    "the weight's first part again": Planted(
        "rms_norm", "wrong index", "W[col :+ COLS]", "W[0 :+ COLS]", {"M": 6, "N": 300}
    ),
    "future keys too": Planted(
        "linear_attention", "wrong operation", "tril(dot_t(q, k) * exp(b - transpose(b)))",
        "dot_t(q, k) * exp(b - transpose(b))", {"H": 2, "T": 40, "D": 32, "E": 32},
    ),
    "state not decayed": Planted(
        "linear_attention", "wrong operation", "exp(end) * state", "state",
        {"H": 2, "T": 70, "D": 32, "E": 32},
    ),
    "decay from the start": Planted(
        "linear_attention", "wrong operation", "exp(end - b)", "exp(b)",
        {"H": 2, "T": 70, "D": 32, "E": 32},
    ),
    "gates not summed": Planted(
        "linear_attention", "wrong operation", "= cumsum(g)", "= g", {"H": 2, "T": 40, "D": 32, "E": 32}
    ),
    "angle of the row in its tile": Planted(
        "rotary", "wrong index", "f32(transpose(iota(ROWS)) + t)", "f32(transpose(iota(ROWS)))",
        {"T": 20, "H": 2, "D": 32},
    ),
    "sine for cosine": Planted(
        "rotary", "wrong operation", "a * s + b * c", "a * c + b * s", {"T": 20, "H": 2, "D": 32}
    ),
    "one head for all": Planted(
        "rotary", "wrong index", "X[t :+ ROWS, h, 1, :]", "X[t :+ ROWS, 0, 1, :]",
        {"T": 20, "H": 2, "D": 32},
    ),
    "the product once": Planted(
        "mandelbrot", "wrong operation", "2.0 * x * y", "x * y", {"R": 4, "C": 300}
    ),
    "the new x too early": Planted(
        "mandelbrot", "wrong operation", "    y = 2.0 * x * y + q\n    x = next",
        "    x = next\n    y = 2.0 * x * y + q", {"R": 4, "C": 300},
    ),
    "rows and columns exchanged": Planted(
        "mandelbrot", "wrong index", "f32(c) * step", "f32(r) * step", {"R": 4, "C": 300}
    ),
    "total not rescaled": Planted(
        "flash_attention_fp32", "wrong operation", "total * shrink", "total",
        {"H": 1, "NQ": 8, "NK": 75, "D": 64},
    ),
    "another head's keys": Planted(
        "flash_attention_fp32", "wrong index", "K[h, j :+ BC", "K[0, j :+ BC",
        {"H": 2, "NQ": 8, "NK": 40, "D": 64},
    ),
    "the k step too wide": Planted(
        "gemm_fp32_any", "wrong index", "range(0, K, TILE_K)", "range(0, K, 2 * TILE_K)", SQUARE
    ),
    "alpha on both": Planted(
        "gemm_fp32_any", "wrong operation", "alpha * acc + beta * c_old", "alpha * (acc + beta * c_old)",
        SQUARE,
    ),
    "columns counted from the chunk": Planted(
        "argmax", "wrong index", "rowargmax(x) + col", "rowargmax(x)", {"M": 9, "N": 300}
    ),
    "the last among equals": Planted(
        "argmax", "wrong operation", "top > best", "top < best", {"M": 9, "N": 300}
    ),
}  # fmt: skip
"""On the examples again, written after the sets of `data/planted.toml` had been mended by."""

SETS = {"built": BUILT, "unseen": UNSEEN, "fresh": FRESH, "last": LAST, "open": OPEN, "fourth": FOURTH}
NOT_TOLD = ("future keys too", "angle of the row in its tile")
TOLD = {n: planted for of in SETS.values() for n, planted in of.items() if n not in NOT_TOLD}
