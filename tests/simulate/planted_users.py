"""Faults as users make them in kernels of their own, with the kind of each.

Every set was written down before the diagnosis was tried on it and before it was mended by the set before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import phobos_nb as ph
from phobos_nb.simulate.compare import Difference
from tests.simulate import planted_matrices
from tests.simulate.planted_texts import KERNELS

assert planted_matrices.__doc__


@dataclass(frozen=True)
class Slip:
    """One change of a kernel's text, the kind of fault that it is, and what else the call is given."""

    kernel: str
    kind: str
    old: str
    new: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """The kernel with the fault in it."""
        text = KERNELS[self.kernel].text
        assert self.old in text, self.old
        return text.replace(self.old, self.new, 1)

    @property
    def line(self) -> int:
        """The first line that the fault changes; the number of lines where a line is missing."""
        right, wrong = KERNELS[self.kernel].text.splitlines(), self.text.splitlines()
        pairs = enumerate(zip(right, wrong, strict=False), 1)
        return next((n for n, (a, b) in pairs if a != b), len(wrong))

    def differences(self, *, function: bool) -> list[Difference]:
        """What `compare` says, the right answer given as arrays or as a function."""
        case = KERNELS[self.kernel]
        kernel = ph.compile(self.text)[self.kernel]
        arguments = case.arguments(np.random.default_rng(11))
        ref = case.right if function else case.right(arguments)
        return kernel.compare(**arguments, ref=ref, **{**case.options, **self.options})


FIRST = {
    # elementwise
    "stops one element early": Slip("guarded", "tail", "i < N", "i < N - 1"),
    "whole CTAs only": Slip("guarded", "tail", "i < N", "i < N / 128 * 128"),
    "a CTA of 64 elements": Slip("guarded", "not written", "if i < N {", "if i < N && ctx.thread < 64 {"),
    "one CTA too few": Slip("guarded", "not written", "", "", {"grid": (2, 1, 1)}),
    "a constant mistyped": Slip("gelu", "wrong operation", "0.044715", "0.44715"),
    "cubed too seldom": Slip("gelu", "wrong operation", "x * x * x", "x * x"),
    "rows scaled by columns' factors": Slip("scale_both", "wrong index", "R[i :+ 16]", "R[j :+ 16]"),
    "broadcast along the wrong axis": Slip(
        "scale_both", "wrong index", "let c = C[j :+ 16]", "let c: tile<f32>[16, 1] = transpose(C[j :+ 16])"
    ),
    "the sign of i squared": Slip("complex_product", "wrong operation", "- A[i, 1] * B", "+ A[i, 1] * B"),
    "one part read twice": Slip("complex_product", "wrong index", "A[i, 1] * B[i, 0]", "A[i, 1] * B[i, 1]"),
    "root forgotten": Slip("adam", "wrong operation", "sqrt(v)", "v"),
    "the old moment used": Slip("adam", "wrong operation", "lr * m /", "lr * g /"),
    "a guard turned round": Slip("clipped_log", "wrong operation", "x > 0.0", "x < 0.0"),
    "groups of 16": Slip("dequantise", "wrong index", "j / 32", "j / 64"),
    "zero point added": Slip("dequantise", "wrong operation", "- Z[row, g]", "+ Z[row, g]"),
    "outputs exchanged": Slip("sincos", "wrong operation", "S[i :+ 128] = sin(x)\n  C[i :+ 128] = cos(x)",
                              "C[i :+ 128] = sin(x)\n  S[i :+ 128] = cos(x)"),
    # rows
    "exp2 for exp": Slip("row_softmax", "wrong operation", "exp(X[row, j] - top) /", "exp2(X[row, j] - top) /"),
    "each warp its own sum": Slip("row_softmax", "wrong operation", "block_sum(s)", "lane_sum(s)"),
    "a maximum from 0": Slip("row_max", "wrong operation", "= -inf\n", "= 0.0\n"),
    "minimum for maximum": Slip("row_max", "wrong operation", "tmax(best, rowmax(x))", "tmin(best, rowmax(x))"),
    "zeros outside win": Slip("row_max", "tail", "pad(X[i :+ 8, j :+ 32], -inf)", "X[i :+ 8, j :+ 33 - 1]"),
    "last rows left out": Slip("column_sums", "tail", "range(0, M, 32)", "range(0, M - 31, 32)"),
    "only the last tile counts": Slip("column_sums", "wrong operation", "acc += colsum", "acc = colsum"),
    "tiles overlap": Slip("column_sums", "wrong index", "range(0, M, 32)", "range(0, M, 16)"),
    "sums over the wrong axis": Slip("column_sums", "wrong index", "acc += colsum(x)", "acc += transpose(rowsum(x))"),
    "squares not averaged": Slip("moments", "wrong operation", "q / f32(N) -", "q -"),
    "mean not squared": Slip("moments", "wrong operation", "- mean * mean", "- mean"),
    "squares summed in f16": Slip("rms_bf16", "rounding", "var x = f32(X[i :+ 4, j :+ 64])\n    q +=",
                                  "var x = X[i :+ 4, j :+ 64]\n    q +="),
    "factor rounded to f16": Slip("rms_bf16", "rounding", "rsqrt(q / f32(N) + 1e-5)", "f32(f16(rsqrt(q / f32(N) + 1e-5)))"),
    "log forgotten": Slip("cross_entropy", "wrong operation", "log(total)", "total"),
    "the next target": Slip("cross_entropy", "wrong index", "T[row]]", "T[row] + 1]"),
    "sums without the element": Slip("running_sum", "wrong operation", "carry + cumsum(x)", "carry + cumsum(x) - x"),
    "carry of the first row": Slip("running_sum", "wrong index", "carry += colsum(x)", "carry += X[i :+ 1, c :+ 16]"),
    # products
    "last k tile left out": Slip("tiled_product", "tail", "(K + 15) / 16", "K / 16"),
    "a's tile read by columns": Slip("tiled_product", "wrong index", "a[ty, q]", "a[q, ty]"),
    "no barrier before the products": Slip("tiled_product", "race", "    barrier()\n    for q", "    for q"),
    "an inner step too few": Slip("tiled_product", "wrong index", "range(0, 16)", "range(0, 15)"),
    "a row's index for the column": Slip("tiled_product", "wrong index", "B[k * 16 + ty, col]", "B[k * 16 + ty, row]"),
    "summed in f16": Slip("half_product", "rounding", "tile<f32>[32, 32]", "tile<f16>[32, 32]"),
    "not cleared": Slip("half_product", "wrong operation", "tile<f32>[32, 32] = 0.0", "tile<f32>[32, 32] = 1.0"),
    "weights not transposed": Slip("linear_relu", "wrong index", "W[j :+ 32, k :+ 16]", "W[i :+ 32, k :+ 16]"),
    "bias by rows": Slip("linear_relu", "wrong index", "B[j :+ 32]", "B[i :+ 32]"),
    "clamped at 1": Slip("linear_relu", "wrong operation", ", 0.0)", ", 1.0)"),
    "no relu": Slip("linear_relu", "wrong operation", "tmax(acc + B[j :+ 32], 0.0)", "acc + B[j :+ 32]"),
    "group by remainder": Slip("grouped_heads", "wrong index", "h / 2", "h % 2"),
    "scale forgotten": Slip("grouped_heads", "wrong operation", "0.25 * acc", "acc"),
    "the diagonal masked too": Slip("causal_attention", "wrong operation", "ahead <= 0", "ahead < 0 || ahead > 99"),
    "not rescaled": Slip("causal_attention", "wrong operation", "acc = acc * shrink + dot", "acc = acc + dot"),
    # moving
    "target not exchanged": Slip("tile_transpose", "wrong index", "A[i :+ 32, j :+ 32]", "A[j :+ 32, i :+ 32]"),
    "not centred": Slip("convolve", "wrong index", "i + k - R / 2", "i + k"),
    "last weight left out": Slip("convolve", "wrong index", "range(0, R)", "range(0, R - 1)"),
    "weights reversed": Slip("convolve", "wrong index", "W[k]", "W[R - 1 - k]"),
    "reads what it writes": Slip("relax", "race", "let up = X[", "let up = Y["),
    "left twice": Slip("relax", "wrong index", "j + 1 :+", "j - 1 :+"),
    "windows of stride one": Slip("pool", "wrong index", "X[2 * i + 1, 2 * j]", "X[i + 1, 2 * j]"),
    "divided by two": Slip("pool", "wrong operation", "/ 4.0", "/ 2.0"),
    "all to even places": Slip("interleave", "race", "C[2 * i + 1]", "C[2 * i]"),
    "half of the stride": Slip("interleave", "wrong index", "C[2 * i] = A[i]", "C[i] = A[i]"),
    # tables
    "row number for its content": Slip("pick_rows", "wrong index", "T[v, d]", "T[n, d]"),
    "gathers for scatters": Slip("permute", "wrong index", "Y[I[i]] = X[i]", "Y[i] = X[I[i]]"),
    "adds without atomic": Slip("weighted_bins", "race", "atomic_add(H, i32(floor(X[i] * 16.0)), W[i])",
                                "H[i32(floor(X[i] * 16.0))] = H[i32(floor(X[i] * 16.0))] + W[i]"),
    "counts for weights": Slip("weighted_bins", "wrong operation", ", W[i])", ", 1.0)"),
    "rounded bins": Slip("weighted_bins", "wrong index", "floor(", "round("),
    # integers
    "widened too late": Slip("wide_products", "wrong operation", "i64(A[i :+ 128]) * i64(B[i :+ 128])",
                             "i64(A[i :+ 128] * B[i :+ 128])"),
    "division toward zero": Slip("midpoint", "wrong operation", ">> 1", "/ 2"),
    "summed in bytes": Slip("byte_product", "wrong operation", "acc += dot(A[i :+ 16, k :+ 32], B[k :+ 32, j :+ 16])",
                            "acc += i32(i8(dot(A[i :+ 16, k :+ 32], B[k :+ 32, j :+ 16])))"),
}  # fmt: skip
