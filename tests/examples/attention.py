"""The flash attention examples, in f32 and f16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.examples.case import (
    TINY16,
    U16,
    U32,
    Arguments,
    Array,
    Constants,
    ExampleCase,
    Shape,
    normal,
    stale,
    wide,
)
from tests.examples.rows import softmax


def _shapes(constants: Constants) -> list[Shape]:
    br, bc = constants["BR"], constants["BC"]
    sizes = [
        (2, br, 2 * bc),
        (1, br + 1, bc),
        (2, br, 2 * bc - 3),
        (1, 1, 1),
        (3, 37, 53),
        (1, 0, bc),
        (1, br, 0),
        (0, br, bc),
        (1, 2 * br - 1, 3 * bc + 1),
    ]
    return [{"H": h, "NQ": nq, "NK": nk, "D": constants["D"]} for h, nq, nk in sizes]


def _arrays(dtype: Any) -> Callable[[Shape, np.random.Generator], Arguments]:
    def arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
        h, nq, nk, d = (shape[s] for s in ("H", "NQ", "NK", "D"))
        q, k, v = (normal(rng, (h, n, d), dtype) for n in (nq, nk, nk))
        return {"Q": q, "K": k, "V": v, "O": stale((h, nq, d), dtype), "scale": d**-0.5}

    return arrays


def _products(q: Array, k: Array) -> Array:
    return q @ np.swapaxes(k, 1, 2)


def _scores(arguments: Arguments) -> Array:
    scale = float(np.float32(arguments["scale"]))
    return scale * _products(wide(arguments["Q"]), wide(arguments["K"]))


def _reference(arguments: Arguments) -> dict[str, Array]:
    if arguments["K"].shape[1] == 0:
        return {"O": np.full(arguments["O"].shape, np.nan)}
    return {"O": softmax(_scores(arguments)) @ wide(arguments["V"])}


def _bound(unit: float) -> Callable[[Arguments], dict[str, Array]]:
    """`unit`: unit roundoff of a probability as `dot` takes it, and of the stored result.

    A score is off by `drift`, its exponential relatively by as much and by what the subtraction of
    the maximum rounds; both the weighted sum and the total feel it.
    """

    def bound(arguments: Arguments) -> dict[str, Array]:
        q, k, v = (np.abs(wide(arguments[n])) for n in "QKV")
        scores = _scores(arguments)
        if scores.shape[2] == 0:
            return {"O": np.zeros(arguments["O"].shape)}
        size = abs(arguments["scale"]) * _products(q, k)
        drift = (q.shape[2] + 2) * U32 * size.max(axis=2, keepdims=True)
        rounded = U32 * np.ptp(scores, axis=2, keepdims=True)
        relative = 2 * (drift + rounded) + (2 * k.shape[1] + 64) * U32
        half = unit == U16
        mean = softmax(scores) @ v
        weights = U16 * mean + TINY16 * v.sum(axis=1, keepdims=True) if half else 0.0
        stored = U16 * np.abs(_reference(arguments)["O"]) + TINY16 if half else 0.0
        return {"O": 1.01 * (relative * mean + weights + stored)}

    return bound


def _configurations(*blocks: tuple[int, int]) -> tuple[Constants, ...]:
    return tuple({"BR": br, "BC": bc, "D": 64} for br, bc in blocks)


def _case(name: str, configurations: tuple[Constants, ...], dtype: Any, unit: float) -> ExampleCase:
    return ExampleCase(
        name=name,
        kernel="flash_attention",
        outputs=("O",),
        configurations=configurations,
        shapes=_shapes,
        arrays=_arrays(dtype),
        reference=_reference,
        bound=_bound(unit),
    )


CASES = (
    _case("flash_attention_fp32", _configurations((32, 32), (64, 32), (32, 64)), np.float32, U32),
    _case("flash_attention_fp16", _configurations((64, 32), (64, 64), (128, 32)), np.float16, U16),
)
