"""The flash attention examples, in f32 and f16."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tests.examples.case import (
    TINY16,
    U16,
    U32,
    UB16,
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


def _arrays(dtype: Any, power: float = -0.5) -> Callable[[Shape, np.random.Generator], Arguments]:
    def arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
        h, nq, nk, d = (shape[s] for s in ("H", "NQ", "NK", "D"))
        q, k, v = (normal(rng, (h, n, d), dtype) for n in (nq, nk, nk))
        return {"Q": q, "K": k, "V": v, "O": stale((h, nq, d), dtype), "scale": d**power}

    return arrays


def _products(q: Array, k: Array) -> Array:
    return q @ np.swapaxes(k, 1, 2)


def _scores(arguments: Arguments) -> Array:
    scale = float(np.float32(arguments["scale"]))
    return scale * _products(wide(arguments["Q"]), wide(arguments["K"]))


def _weights(arguments: Arguments, causal: bool) -> Array:
    scores = _scores(arguments)
    hidden = ~np.tri(*scores.shape[1:], dtype=bool) if causal else False
    return softmax(np.where(hidden, -np.inf, scores))


def _reference(causal: bool) -> Callable[[Arguments], dict[str, Array]]:
    def reference(arguments: Arguments) -> dict[str, Array]:
        if arguments["K"].shape[1] == 0:
            return {"O": np.full(arguments["O"].shape, np.nan)}
        return {"O": _weights(arguments, causal) @ wide(arguments["V"])}

    return reference


def _bound(
    unit: float, causal: bool = False, operand: float = 0.0
) -> Callable[[Arguments], dict[str, Array]]:
    """`unit`: unit roundoff of a probability as `dot` takes it, and of the stored result.

    `operand`: relative error of one element of Q or K as `dot` takes it.

    A score is off by `drift`, its exponential relatively by as much and by what the subtraction of
    the maximum rounds; both the weighted sum and the total feel it.
    """

    def bound(arguments: Arguments) -> dict[str, Array]:
        q, k, v = (np.abs(wide(arguments[n])) for n in "QKV")
        scores = _scores(arguments)
        if scores.shape[2] == 0:
            return {"O": np.zeros(arguments["O"].shape)}
        size = abs(arguments["scale"]) * _products(q, k)
        drift = ((q.shape[2] + 2) * U32 + 2.01 * operand) * size.max(axis=2, keepdims=True)
        rounded = U32 * np.ptp(scores, axis=2, keepdims=True)
        relative = 2 * (drift + rounded) + (2 * k.shape[1] + 64) * U32
        half = unit > U32
        mean = _weights(arguments, causal) @ v
        weights = (unit + operand) * mean + TINY16 * v.sum(axis=1, keepdims=True) if half else 0.0
        stored = unit * np.abs(_reference(causal)(arguments)["O"]) + TINY16 if half else 0.0
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
        reference=_reference(False),
        bound=_bound(unit),
    )


def _generic(name: str, dtype: Any, causal: bool, unit: float, operand: float = 0.0) -> ExampleCase:
    """Where tensor cores round the operands, small scores keep the bound sharp."""
    flag = {"CAUSAL": int(causal)}
    return ExampleCase(
        name=f"attention_{name}{'_causal' if causal else ''}",
        kernel="attention",
        outputs=("O",),
        configurations=tuple({**c, **flag} for c in _configurations((32, 32), (64, 32), (128, 64))),
        shapes=_shapes,
        arrays=_arrays(dtype, -1.0 if operand else -0.5),
        reference=_reference(causal),
        bound=_bound(unit, causal, operand),
        source="attention",
        dtypes={"T": name},
        fast=2,
    )


CASES = (
    _case("flash_attention_fp32", _configurations((32, 32), (64, 32), (32, 64)), np.float32, U32),
    _case("flash_attention_fp16", _configurations((64, 32), (64, 64), (128, 32)), np.float16, U16),
    *(_generic("f16", np.float16, causal, U16) for causal in (False, True)),
    *(_generic("bf16", ml_dtypes.bfloat16, causal, UB16) for causal in (False, True)),
    # tensor cores round f32 operands to f16
    *(_generic("f32", np.float32, causal, U16, U16) for causal in (False, True)),
)
