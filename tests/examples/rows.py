"""softmax and layer norm: what works on whole rows, walked in chunks."""

from __future__ import annotations

import numpy as np

from tests.examples.case import U32, Arguments, Array, Constants, ExampleCase, Shape, normal, stale, wide
from tests.examples.simple import matrix_shapes

CONFIGURATIONS = (
    {"ROWS": 4, "COLS": 128},
    {"ROWS": 8, "COLS": 256},
    {"ROWS": 16, "COLS": 128},
)


def _shapes(constants: Constants) -> list[Shape]:
    return matrix_shapes(constants["ROWS"], constants["COLS"])


def softmax(x: Array) -> Array:
    """Along the last axis, in float64; a row without elements stays empty."""
    with np.errstate(invalid="ignore"):
        p = np.exp(x - np.max(x, axis=-1, keepdims=True, initial=-np.inf))
        return p / p.sum(axis=-1, keepdims=True)


def _softmax_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n = shape["M"], shape["N"]
    return {"X": 3 * normal(rng, (m, n)), "Y": stale((m, n))}


def _softmax_reference(arguments: Arguments) -> dict[str, Array]:
    return {"Y": softmax(wide(arguments["X"]))}


def _softmax_bound(arguments: Arguments) -> dict[str, Array]:
    """A chunk rescales the sum once (an exp, a product, an addition): less than n / 2 roundings."""
    x = wide(arguments["X"])
    if x.shape[1] == 0:
        return {"Y": np.zeros(x.shape)}
    spread = np.ptp(x, axis=1, keepdims=True)
    return {"Y": U32 * (1.5 * x.shape[1] + 4 * spread + 64) * softmax(x) + 2.0**-126}


def _layer_norm_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n = shape["M"], shape["N"]
    x = normal(rng, (m, n)) + np.float32(4.0)
    return {"X": x, "W": normal(rng, (n,)), "B": normal(rng, (n,)), "Y": stale((m, n)), "eps": 1e-5}


def _centred(arguments: Arguments) -> tuple[Array, Array]:
    """X - mean and the variance, in float64."""
    x = wide(arguments["X"])
    n = max(1, x.shape[1])
    d = x - x.sum(axis=1, keepdims=True) / n
    return d, (d * d).sum(axis=1, keepdims=True) / n


def _layer_norm_reference(arguments: Arguments) -> dict[str, Array]:
    d, variance = _centred(arguments)
    scale = 1.0 / np.sqrt(variance + float(np.float32(arguments["eps"])))
    return {"Y": d * scale * wide(arguments["W"]) + wide(arguments["B"])}


def _layer_norm_bound(arguments: Arguments) -> dict[str, Array]:
    """The mean is off by `shift`; that moves every x - mean, and the variance by its square."""
    x, (d, variance) = wide(arguments["X"]), _centred(arguments)
    w, b = np.abs(wide(arguments["W"])), np.abs(wide(arguments["B"]))
    n = max(1, x.shape[1])
    shift = (n + 2) * U32 * np.abs(x).sum(axis=1, keepdims=True) / n
    whole = variance + arguments["eps"]
    spread = np.abs(d).sum(axis=1, keepdims=True) / n
    moved = shift + U32 * np.abs(x).max(initial=0)
    relative = (n + 20) * U32 + (moved * spread + moved**2) / whole
    offset = (shift + 2 * U32 * (np.abs(x) + np.abs(d))) / np.sqrt(whole)
    size = np.abs(d) / np.sqrt(whole) * w
    return {"Y": size * relative + w * offset + 4 * U32 * (size + b)}


CASES = (
    ExampleCase(
        name="softmax",
        kernel="softmax",
        outputs=("Y",),
        configurations=CONFIGURATIONS,
        shapes=_shapes,
        arrays=_softmax_arrays,
        reference=_softmax_reference,
        bound=_softmax_bound,
    ),
    ExampleCase(
        name="layer_norm",
        kernel="layer_norm",
        outputs=("Y",),
        configurations=CONFIGURATIONS,
        shapes=_shapes,
        arrays=_layer_norm_arrays,
        reference=_layer_norm_reference,
        bound=_layer_norm_bound,
    ),
)
