"""The arrays of a generated call: values of a known kind, in a layout, from a seed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from tests.examples.layouts import laid_out
from tests.fuzz.values import FLOATS, Value, integer_range

Array = NDArray[Any]

NUMPY = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "i8": np.int8, "u8": np.uint8, "i32": np.int32, "i64": np.int64, "bool": np.bool_,
}  # fmt: skip

FLOAT_KINDS = ("units", "quarters", "reals", "special")
INTEGER_KINDS = ("small", "wide")
LAYOUTS = ("contiguous", "transposed", "strided", "reversed", "shifted", "repeated")


@dataclass(frozen=True)
class ArrayRecipe:
    """How to make one array: element type, shape, kind of values, layout, seed."""

    dtype: str
    shape: tuple[int, ...]
    kind: str
    layout: str
    seed: int

    def make(self) -> Array:
        """The array, the same at every call."""
        rng = np.random.default_rng(self.seed)
        values = _values(rng, self.dtype, self.kind, self.shape).astype(NUMPY[self.dtype])
        if self.layout == "repeated":
            first = values[:1] if values.shape[0] else values
            return np.broadcast_to(first, self.shape)
        return laid_out(values, self.layout)


def _values(rng: np.random.Generator, dtype: str, kind: str, shape: tuple[int, ...]) -> Array:
    if dtype == "bool":
        return rng.integers(0, 2, shape)
    if kind == "reals":
        return rng.uniform(-4, 4, shape)
    if kind == "wide":
        low, high = integer_range(dtype)
        return rng.integers(low, high, shape, endpoint=True)
    if kind == "small":
        return rng.integers(0 if dtype == "u8" else -9, 10, shape)
    values = rng.integers(-8, 9, shape) * (1.0 if kind == "units" else 0.25)
    if kind == "special":
        odd = np.array([math.nan, math.inf, -math.inf, -0.0])
        values = np.where(rng.random(shape) < 0.2, odd[rng.integers(0, 4, shape)], values)
    return values


def elements(text: str, dtype: str, kind: str) -> Value:
    """What is known of an array's elements, zero outside included."""
    if dtype == "bool":
        return Value(text, dtype, low=0, high=1, grain=1)
    if kind == "wide":
        low, high = integer_range(dtype)
        return Value(text, dtype, low=low, high=high, grain=1)
    if kind == "small":
        return Value(text, dtype, low=-9 * (dtype != "u8"), high=9, grain=1)
    if kind == "reals":
        return Value(text, dtype, low=-4, high=4)
    bound, grain = (8, 1.0) if kind == "units" else (2, 0.25)
    return Value(text, dtype, low=-bound, high=bound, grain=grain, special=kind == "special")


def kinds_of(dtype: str) -> tuple[str, ...]:
    """The kinds of values that a type has."""
    return FLOAT_KINDS if dtype in FLOATS else INTEGER_KINDS
