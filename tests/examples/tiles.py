"""Tile kernels beyond the first ten: stencil, rotary embedding, norm, scans, batches, states."""

from __future__ import annotations

import numpy as np

from tests.examples.case import U32, Arguments, Array, Constants, ExampleCase, Shape, normal, stale, wide
from tests.examples.simple import exact, matrix_shapes

ROWS_AND_COLS = ({"ROWS": 4, "COLS": 128}, {"ROWS": 8, "COLS": 256}, {"ROWS": 16, "COLS": 128})


def _row_shapes(constants: Constants) -> list[Shape]:
    return matrix_shapes(constants["ROWS"], constants["COLS"])


# Stencil ------------------------------------------------------------------------------------------


def _stencil_shapes(constants: Constants) -> list[Shape]:
    return matrix_shapes(constants["TILE_M"], constants["TILE_N"])


def _stencil_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    size = shape["M"], shape["N"]
    return {"X": normal(rng, size), "Y": stale(size), "centre": -4.0, "side": 0.75}


def _stencil_terms(x: Array, centre: float, side: float) -> Array:
    p = np.pad(x, 1)
    around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
    return centre * x + side * around


def _stencil_reference(arguments: Arguments) -> dict[str, Array]:
    return {"Y": _stencil_terms(wide(arguments["X"]), arguments["centre"], arguments["side"])}


def _stencil_bound(arguments: Arguments) -> dict[str, Array]:
    x, centre, side = np.abs(wide(arguments["X"])), abs(arguments["centre"]), abs(arguments["side"])
    return {"Y": 6 * U32 * _stencil_terms(x, centre, side)}


# Rotary embedding ---------------------------------------------------------------------------------


def _rotary_shapes(constants: Constants) -> list[Shape]:
    rows, d = constants["ROWS"], {"D": constants["D"]}
    sizes = [(rows + 1, 2), (2 * rows, 1), (1, 1), (0, 2), (3, 0), (37, 3), (101, 1)]
    return [{"T": t, "H": h, **d} for t, h in sizes]


def _rotary_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    size = shape["T"], shape["H"], 2, shape["D"]
    f = 10000.0 ** -(np.arange(shape["D"]) / shape["D"])
    return {"X": normal(rng, size), "F": f.astype(np.float32), "Y": stale(size)}


def _rotary_angles(arguments: Arguments) -> Array:
    return np.arange(arguments["X"].shape[0])[:, None, None] * wide(arguments["F"])


def _rotary_reference(arguments: Arguments) -> dict[str, Array]:
    x, angle = wide(arguments["X"]), _rotary_angles(arguments)
    a, b = x[:, :, 0], x[:, :, 1]
    c, s = np.cos(angle), np.sin(angle)
    return {"Y": np.stack([a * c - b * s, a * s + b * c], axis=2)}


def _rotary_bound(arguments: Arguments) -> dict[str, Array]:
    """The angle is off by its rounding; sine and cosine by at most 2 units in the last place."""
    size = np.abs(wide(arguments["X"])).sum(axis=2, keepdims=True)
    angle = _rotary_angles(arguments)[:, :, None]
    return {"Y": 1.01 * U32 * size * (angle + 8) + np.zeros(arguments["Y"].shape)}


# RMS norm -----------------------------------------------------------------------------------------


def _rms_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n = shape["M"], shape["N"]
    x, r = normal(rng, (m, n)), normal(rng, (m, n))
    return {"X": x, "R": r, "W": normal(rng, (n,)), "Y": stale((m, n)), "eps": 1e-5}


def _rms_reference(arguments: Arguments) -> dict[str, Array]:
    r = wide(arguments["R"]) + wide(arguments["X"])
    mean = (r * r).sum(axis=1, keepdims=True) / max(1, r.shape[1])
    return {"R": r, "Y": r / np.sqrt(mean + arguments["eps"]) * wide(arguments["W"])}


def _rms_bound(arguments: Arguments) -> dict[str, Array]:
    """Adding R and X rounds once: that is U32 of r, and what it moves of Y is U32 of it and less."""
    wanted = _rms_reference(arguments)
    y = np.abs(wanted["Y"])
    return {"R": 1.01 * U32 * np.abs(wanted["R"]), "Y": 1.01 * U32 * (y.shape[1] / 2 + 12) * y}


# Argmax and scan ----------------------------------------------------------------------------------


def _argmax_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    x = rng.integers(-50, 50, (shape["M"], shape["N"])).astype(np.float32)
    return {"X": x, "Y": np.full(shape["M"], -1, np.int32)}


def _argmax_reference(arguments: Arguments) -> dict[str, Array]:
    x = arguments["X"]
    return {"Y": wide(np.argmax(x, axis=1) if x.shape[1] else np.zeros(x.shape[0]))}


def _scan_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    size = shape["M"], shape["N"]
    return {"X": normal(rng, size), "Y": stale(size)}


def _scan_reference(arguments: Arguments) -> dict[str, Array]:
    return {"Y": np.cumsum(wide(arguments["X"]), axis=0)}


def _scan_bound(arguments: Arguments) -> dict[str, Array]:
    sums = np.cumsum(np.abs(wide(arguments["X"])), axis=0)
    return {"Y": 1.01 * U32 * np.arange(1, len(sums) + 1)[:, None] * sums}


# Batched GEMM -------------------------------------------------------------------------------------


def _batched_shapes(constants: Constants) -> list[Shape]:
    m, n, k = (constants[f"TILE_{x}"] for x in "MNK")
    sizes = [(2, m + 1, n, k), (3, m, n - 1, 2 * k + 1), (1, 1, 1, 1), (0, m, n, k), (2, 0, 5, 3)]
    return [{"Z": z, "M": a, "N": b, "K": c} for z, a, b, c in (*sizes, (2, 5, 7, 0), (4, 37, 41, 29))]


def _batched_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    z, m, n, k = (shape[s] for s in "ZMNK")
    return {"A": normal(rng, (z, m, k)), "B": normal(rng, (z, k, n)), "C": stale((z, m, n))}


def _batched_reference(arguments: Arguments) -> dict[str, Array]:
    return {"C": wide(arguments["A"]) @ wide(arguments["B"])}


def _batched_bound(arguments: Arguments) -> dict[str, Array]:
    a, b = (np.abs(wide(arguments[n])) for n in "AB")
    return {"C": (a.shape[2] + 1) * U32 * (a @ b)}


# Gated linear attention ---------------------------------------------------------------------------


def _linear_shapes(constants: Constants) -> list[Shape]:
    c, sizes = constants["C"], {"D": constants["D"], "E": constants["E"]}
    pairs = [(2, 2 * c + 1), (1, c), (1, 1), (0, c), (2, 0), (3, 101)]
    return [{"H": h, "T": t, **sizes} for h, t in pairs]


def _linear_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    h, t, d, e = (shape[s] for s in "HTDE")
    q, k, v = (normal(rng, (h, t, n)) for n in (d, d, e))
    g = -0.2 * np.abs(normal(rng, (h, t)))
    return {"Q": q, "K": k, "V": v, "G": g.astype(np.float32), "O": stale((h, t, e))}


def _recurrence(q: Array, k: Array, v: Array, g: Array) -> Array:
    """The definition, step by step."""
    state, out = np.zeros((len(q), q.shape[2], v.shape[2])), np.zeros(v.shape)
    for t in range(q.shape[1]):
        new = k[:, t, :, None] * v[:, t, None, :]
        state = np.exp(g[:, t])[:, None, None] * state + new
        out[:, t] = (q[:, t, None, :] @ state)[:, 0]
    return out


def _linear_reference(arguments: Arguments) -> dict[str, Array]:
    return {"O": _recurrence(*(wide(arguments[n]) for n in "QKVG"))}


def _linear_bound(arguments: Arguments) -> dict[str, Array]:
    """A decay over m steps: its gates are summed in chunks of 64 or less, m roundings of the sum.

    The sizes of all terms follow the same recurrence; each is rounded once per step or less.
    """
    q, k, v = (np.abs(wide(arguments[n])) for n in "QKV")
    g = wide(arguments["G"])
    gates = 128 * np.abs(g).sum(axis=1)[:, None, None]
    steps = 2 * g.shape[1] + q.shape[2] + 128
    return {"O": U32 * (gates + steps) * _recurrence(q, k, v, g)}


CASES = (
    ExampleCase(
        name="stencil",
        kernel="stencil",
        outputs=("Y",),
        configurations=tuple({"TILE_M": m, "TILE_N": n} for m, n in ((8, 32), (16, 64), (32, 128))),
        shapes=_stencil_shapes,
        arrays=_stencil_arrays,
        reference=_stencil_reference,
        bound=_stencil_bound,
        fast=2,
    ),
    ExampleCase(
        name="rotary",
        kernel="rotary",
        outputs=("Y",),
        configurations=tuple({"ROWS": r, "D": 32} for r in (16, 32, 64)),
        shapes=_rotary_shapes,
        arrays=_rotary_arrays,
        reference=_rotary_reference,
        bound=_rotary_bound,
        fast=2,
    ),
    ExampleCase(
        name="rms_norm",
        kernel="rms_norm",
        outputs=("R", "Y"),
        configurations=ROWS_AND_COLS,
        shapes=_row_shapes,
        arrays=_rms_arrays,
        reference=_rms_reference,
        bound=_rms_bound,
        fast=2,
    ),
    ExampleCase(
        name="argmax",
        kernel="argmax",
        outputs=("Y",),
        configurations=ROWS_AND_COLS,
        shapes=_row_shapes,
        arrays=_argmax_arrays,
        reference=_argmax_reference,
        bound=exact("Y"),
        fast=2,
    ),
    ExampleCase(
        name="scan",
        kernel="scan",
        outputs=("Y",),
        configurations=tuple({"ROWS": r, "COLS": c} for r, c in ((16, 32), (32, 64), (64, 128))),
        shapes=_row_shapes,
        arrays=_scan_arrays,
        reference=_scan_reference,
        bound=_scan_bound,
        fast=2,
    ),
    ExampleCase(
        name="batched_gemm",
        kernel="batched_gemm",
        outputs=("C",),
        configurations=tuple(
            {"TILE_M": m, "TILE_N": n, "TILE_K": k}
            for m, n, k in ((32, 32, 8), (64, 32, 16), (64, 64, 8))
        ),
        shapes=_batched_shapes,
        arrays=_batched_arrays,
        reference=_batched_reference,
        bound=_batched_bound,
        fast=2,
    ),
    ExampleCase(
        name="linear_attention",
        kernel="linear_attention",
        outputs=("O",),
        configurations=tuple({"C": c, "D": 32, "E": 32} for c in (16, 32, 64)),
        shapes=_linear_shapes,
        arrays=_linear_arrays,
        reference=_linear_reference,
        bound=_linear_bound,
        fast=2,
    ),
)
