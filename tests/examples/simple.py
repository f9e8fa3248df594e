"""saxpy and transpose: one operation per element, or none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tests.examples.case import U32, Arguments, Array, Constants, ExampleCase, Shape, normal, stale, wide


def _saxpy_shapes(constants: Constants) -> list[Shape]:
    tile = constants["TILE"]
    return [{"N": n} for n in (2 * tile, tile + 1, tile - 1, 1, 0, 1009, 3001)]


def _saxpy_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    n = (shape["N"],)
    return {"X": normal(rng, n), "Y": normal(rng, n), "a": 1.5}


def _saxpy_reference(arguments: Arguments) -> dict[str, Array]:
    return {"Y": arguments["a"] * wide(arguments["X"]) + wide(arguments["Y"])}


def _saxpy_bound(arguments: Arguments) -> dict[str, Array]:
    product = np.abs(arguments["a"] * wide(arguments["X"]))
    return {"Y": 1.01 * U32 * (product + np.abs(_saxpy_reference(arguments)["Y"]))}


def matrix_shapes(rows: int, columns: int) -> list[Shape]:
    """Extents M and N around whole tiles of rows x columns, one, none, and primes."""
    pairs = [
        (2 * rows, columns),
        (rows + 1, columns),
        (rows, 2 * columns - 1),
        (1, 1),
        (1, columns + 5),
        (0, columns),
        (rows, 0),
        (37, 53),
        (71, 211),
    ]
    return [{"M": m, "N": n} for m, n in pairs]


def _transpose_shapes(constants: Constants) -> list[Shape]:
    return matrix_shapes(constants["TILE_M"], constants["TILE_N"])


def transpose_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    """A [M, N], and B [N, M] to be overwritten."""
    m, n = shape["M"], shape["N"]
    return {"A": normal(rng, (m, n)), "B": stale((n, m))}


def transpose_reference(arguments: Arguments) -> dict[str, Array]:
    """B, the transpose of A."""
    return {"B": wide(arguments["A"]).T}


def exact(name: str) -> Callable[[Arguments], dict[str, Array]]:
    """The bound of an output that may not differ at all."""
    return lambda arguments: {name: np.zeros(arguments[name].shape)}


CASES = (
    ExampleCase(
        name="saxpy_fp32",
        kernel="saxpy",
        outputs=("Y",),
        configurations=({"TILE": 256}, {"TILE": 512}, {"TILE": 1024}),
        shapes=_saxpy_shapes,
        arrays=_saxpy_arrays,
        reference=_saxpy_reference,
        bound=_saxpy_bound,
    ),
    ExampleCase(
        name="transpose",
        kernel="transpose",
        outputs=("B",),
        configurations=tuple({"TILE_M": m, "TILE_N": n} for m, n in ((32, 32), (64, 32), (64, 64))),
        shapes=_transpose_shapes,
        arrays=transpose_arrays,
        reference=transpose_reference,
        bound=exact("B"),
    ),
)
