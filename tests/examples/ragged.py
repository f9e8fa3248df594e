"""What works on stretches of its arrays that other stretches border: sequences, groups, segments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.examples.case import (
    U32,
    Arguments,
    Array,
    Constants,
    ExampleCase,
    Grid,
    Shape,
    normal,
    stale,
    wide,
)
from tests.examples.rows import softmax


def offsets(rng: np.random.Generator, total: int, count: int) -> Array:
    """`count` ascending positions in [0, total], some rows before the first and after the last."""
    margin = min(2, total // 3)
    return np.sort(rng.integers(margin, total - margin + 1, count)).astype(np.int32)


def stretches(starts: Array) -> Iterator[tuple[int, slice]]:
    """Number and rows of each stretch."""
    pairs = zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    return enumerate(slice(start, end) for start, end in pairs)


def blocks(starts: Array, tile: int) -> int:
    """How many tiles the longest stretch takes."""
    return max((-(-int(n) // tile) for n in np.diff(starts)), default=0)


def untouched(array: Array) -> Array:
    """The output as it is before the run, in float64."""
    return wide(array).copy()


def _attention_shapes(constants: Constants) -> list[Shape]:
    d = {"D": constants["D"]}
    sizes = [(150, 2, 4), (90, 1, 3), (1, 1, 2), (0, 1, 2), (37, 3, 1), (64, 1, 6), (131, 2, 3)]
    return [{"N": n, "H": h, "B": b, **d} for n, h, b in sizes]


def _attention_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    size = shape["N"], shape["H"], shape["D"]
    q, k, v = (normal(rng, size) for _ in range(3))
    s = offsets(rng, shape["N"], shape["B"])
    return {"Q": q, "K": k, "V": v, "S": s, "O": stale(size), "scale": shape["D"] ** -0.5}


def _attention_reference(arguments: Arguments) -> dict[str, Array]:
    o = untouched(arguments["O"])
    for _, rows in stretches(arguments["S"]):
        q, k, v = (wide(arguments[n])[rows].swapaxes(0, 1) for n in "QKV")
        scores = float(np.float32(arguments["scale"])) * (q @ k.swapaxes(1, 2))
        o[rows] = (softmax(scores) @ v).swapaxes(0, 1) if scores.size else o[rows]
    return {"O": o}


def _attention_bound(arguments: Arguments) -> dict[str, Array]:
    """As in `attention.py`, sequence by sequence."""
    bound = np.zeros(arguments["O"].shape)
    for _, rows in stretches(arguments["S"]):
        q, k, v = (wide(arguments[n])[rows].swapaxes(0, 1) for n in "QKV")
        scores = float(np.float32(arguments["scale"])) * (q @ k.swapaxes(1, 2))
        if not scores.size:
            continue
        size = abs(arguments["scale"]) * (np.abs(q) @ np.abs(k).swapaxes(1, 2))
        drift = (q.shape[2] + 2) * size.max(axis=2, keepdims=True)
        rounded = np.ptp(scores, axis=2, keepdims=True)
        relative = U32 * (2 * (drift + rounded) + 2 * k.shape[1] + 64)
        bound[rows] = (1.01 * relative * (softmax(scores) @ np.abs(v))).swapaxes(0, 1)
    return {"O": bound}


def _attention_grid(constants: Constants, arguments: Arguments) -> Grid:
    s = arguments["S"]
    return blocks(s, constants["BR"]), arguments["Q"].shape[1], len(s) - 1


def _grouped_shapes(constants: Constants) -> list[Shape]:
    sizes = [
        (100, 40, 33, 3),
        (45, 32, 16, 2),
        (1, 1, 1, 1),
        (0, 4, 5, 2),
        (20, 8, 0, 2),
        (129, 65, 7, 5),
    ]
    return [{"M": m, "N": n, "K": k, "G": g, "L": g + 1} for m, n, k, g in sizes]


def _grouped_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n, k, g = (shape[s] for s in "MNKG")
    a, b = normal(rng, (m, k)), normal(rng, (g, k, n))
    return {"A": a, "B": b, "S": offsets(rng, m, g + 1), "C": stale((m, n))}


def _grouped_reference(arguments: Arguments) -> dict[str, Array]:
    c = untouched(arguments["C"])
    for g, rows in stretches(arguments["S"]):
        c[rows] = wide(arguments["A"])[rows] @ wide(arguments["B"])[g]
    return {"C": c}


def _grouped_bound(arguments: Arguments) -> dict[str, Array]:
    bound = np.zeros(arguments["C"].shape)
    for g, rows in stretches(arguments["S"]):
        bound[rows] = np.abs(wide(arguments["A"]))[rows] @ np.abs(wide(arguments["B"]))[g]
    return {"C": (arguments["A"].shape[1] + 1) * U32 * bound}


def _grouped_grid(constants: Constants, arguments: Arguments) -> Grid:
    s, columns = arguments["S"], arguments["C"].shape[1]
    return blocks(s, constants["TILE_M"]), -(-columns // constants["TILE_N"]), len(s) - 1


def _segmented_shapes(constants: Constants) -> list[Shape]:
    return [{"N": n, "L": s} for n, s in ((300, 5), (97, 4), (1, 2), (0, 2), (50, 1), (700, 3), (33, 9))]


def _segmented_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    n = shape["N"]
    return {"X": normal(rng, (n,)), "S": offsets(rng, n, shape["L"]), "Y": stale((n,))}


def _segmented_reference(arguments: Arguments) -> dict[str, Array]:
    y = untouched(arguments["Y"])
    for _, rows in stretches(arguments["S"]):
        y[rows] = np.cumsum(wide(arguments["X"])[rows])
    return {"Y": y}


def _segmented_bound(arguments: Arguments) -> dict[str, Array]:
    bound = np.zeros(arguments["Y"].shape)
    for _, rows in stretches(arguments["S"]):
        sums = np.cumsum(np.abs(wide(arguments["X"])[rows]))
        bound[rows] = 1.01 * U32 * np.arange(1, len(sums) + 1) * sums
    return {"Y": bound}


CASES = (
    ExampleCase(
        name="varlen_attention",
        kernel="varlen_attention",
        outputs=("O",),
        configurations=tuple({"BR": br, "BC": bc, "D": 32} for br, bc in ((32, 32), (64, 32), (32, 64))),
        shapes=_attention_shapes,
        arrays=_attention_arrays,
        reference=_attention_reference,
        bound=_attention_bound,
        grid=_attention_grid,
        fast=2,
    ),
    ExampleCase(
        name="grouped_gemm",
        kernel="grouped_gemm",
        outputs=("C",),
        configurations=tuple(
            {"TILE_M": m, "TILE_N": n, "TILE_K": k}
            for m, n, k in ((32, 32, 8), (64, 32, 16), (32, 64, 8))
        ),
        shapes=_grouped_shapes,
        arrays=_grouped_arrays,
        reference=_grouped_reference,
        bound=_grouped_bound,
        grid=_grouped_grid,
        fast=2,
    ),
    ExampleCase(
        name="segmented_scan",
        kernel="segmented_scan",
        outputs=("Y",),
        configurations=({"TILE": 32}, {"TILE": 64}, {"TILE": 128}),
        shapes=_segmented_shapes,
        arrays=_segmented_arrays,
        reference=_segmented_reference,
        bound=_segmented_bound,
        grid=lambda constants, arguments: (len(arguments["S"]) - 1, 1, 1),
        fast=2,
    ),
)
