"""The GEMM examples, with and without `@aligned`, in f32 and f16."""

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
    wide,
)

NARROW_K = (
    {"TILE_M": 32, "TILE_N": 32, "TILE_K": 4},
    {"TILE_M": 64, "TILE_N": 32, "TILE_K": 16},
    {"TILE_M": 128, "TILE_N": 64, "TILE_K": 8},
)
WIDE_K = (
    {"TILE_M": 32, "TILE_N": 32, "TILE_K": 16},
    {"TILE_M": 64, "TILE_N": 32, "TILE_K": 32},
    {"TILE_M": 128, "TILE_N": 64, "TILE_K": 16},
)


def _arrays(dtype: Any) -> Callable[[Shape, np.random.Generator], Arguments]:
    def arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
        m, n, k = shape["M"], shape["N"], shape["K"]
        a, b, c = (normal(rng, s, dtype) for s in ((m, k), (k, n), (m, n)))
        return {"A": a, "B": b, "C": c, "alpha": 1.25, "beta": -0.5}

    return arrays


def _reference(arguments: Arguments) -> dict[str, Array]:
    a, b, c = (wide(arguments[n]) for n in "ABC")
    return {"C": arguments["alpha"] * (a @ b) + arguments["beta"] * c}


def _bound(operand: float, out: float) -> Callable[[Arguments], dict[str, Array]]:
    """`operand`: relative error of one operand as used; `out`: unit roundoff of the stored result."""

    def bound(arguments: Arguments) -> dict[str, Array]:
        a, b, c = (np.abs(wide(arguments[n])) for n in "ABC")
        size = abs(arguments["alpha"]) * (a @ b)
        old = abs(arguments["beta"]) * c
        summed = (2.01 * operand + (a.shape[1] + 4) * U32) * size + 4 * U32 * old
        if out == U32:
            return {"C": summed}
        return {"C": summed * (1 + out) + 1.01 * out * np.abs(_reference(arguments)["C"]) + TINY16}

    return bound


def _sizes(*extents: tuple[int, int, int]) -> list[Shape]:
    return [{"M": m, "N": n, "K": k} for m, n, k in extents]


def _tiles(constants: Constants) -> tuple[int, int, int]:
    return constants["TILE_M"], constants["TILE_N"], constants["TILE_K"]


def _any_shapes(constants: Constants) -> list[Shape]:
    m, n, k = _tiles(constants)
    ragged = _sizes((m + 1, n, 2 * k), (m, 2 * n - 1, k), (m, n, 3 * k + 1))
    edges = _sizes((1, 1, 1), (0, n, k), (m, 0, k), (m, n, 0), (1, 2 * n + 3, 1))
    return [*_sizes((2 * m, n, 4 * k)), *ragged, *edges, *_sizes((67, 53, 41), (131, 101, 103))]


def _whole_shapes(constants: Constants) -> list[Shape]:
    m, n, k = _tiles(constants)
    full = _sizes((m, n, k), (2 * m, n, 4 * k), (m, 2 * n, 3 * k), (2 * m, 3 * n, 5 * k))
    return [*full, *_sizes((0, n, k), (m, 0, k), (m, n, 0))]


def _ragged_shapes(constants: Constants) -> list[Shape]:
    m, n, k = _tiles(constants)
    return _sizes((m + 1, n, k), (m, n - 1, k), (m, n, k + 1), (1, 1, 1))


def _case(name: str, configurations: tuple[Constants, ...], dtype: Any, operand: float) -> ExampleCase:
    return ExampleCase(
        name=name,
        kernel="gemm",
        outputs=("C",),
        configurations=configurations,
        shapes=_any_shapes,
        arrays=_arrays(dtype),
        reference=_reference,
        bound=_bound(operand, U16 if dtype is np.float16 else U32),
    )


def _aligned_case(name: str, configurations: tuple[Constants, ...], operand: float) -> ExampleCase:
    return ExampleCase(
        name=name,
        kernel="gemm",
        outputs=("C",),
        configurations=configurations,
        shapes=_whole_shapes,
        arrays=_arrays(np.float32),
        reference=_reference,
        bound=_bound(operand, U32),
        refused=_ragged_shapes,
    )


CASES = (
    _aligned_case("gemm_fp32", NARROW_K, 0.0),
    _case("gemm_fp32_any", NARROW_K, np.float32, 0.0),
    _aligned_case("gemm_fp16tc_fp32acc", WIDE_K, U16),
    _case("gemm_fp16", WIDE_K, np.float16, 0.0),
)
