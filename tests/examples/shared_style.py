"""What is written per thread: shared arrays with the author's own barriers, atomics, escape loops."""

from __future__ import annotations

import numpy as np

from tests.examples.case import U32, Arguments, Array, Constants, ExampleCase, Shape, normal, stale, wide
from tests.examples.simple import exact, matrix_shapes, transpose_arrays, transpose_reference


def _matmul_shapes(constants: Constants) -> list[Shape]:
    sizes = [(33, 17, 40), (16, 32, 16), (1, 1, 1), (0, 5, 3), (20, 3, 0), (15, 16, 17), (67, 53, 41)]
    return [{"M": m, "N": n, "K": k} for m, n, k in sizes]


def _matmul_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n, k = shape["M"], shape["N"], shape["K"]
    return {"A": normal(rng, (m, k)), "B": normal(rng, (k, n)), "C": stale((m, n))}


def _matmul_reference(arguments: Arguments) -> dict[str, Array]:
    return {"C": wide(arguments["A"]) @ wide(arguments["B"])}


def _matmul_bound(arguments: Arguments) -> dict[str, Array]:
    a, b = (np.abs(wide(arguments[n])) for n in "AB")
    return {"C": (a.shape[1] + 1) * U32 * (a @ b)}


def _reduce_shapes(constants: Constants) -> list[Shape]:
    return [{"N": n, "B": -(-n // 512)} for n in (5000, 513, 1, 0, 511, 512, 2048)]


def _reduce_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    return {"X": normal(rng, (shape["N"],)), "P": stale((shape["B"],))}


def _parts(x: Array, count: int) -> Array:
    padded = np.zeros(count * 512)
    padded[: len(x)] = x
    return padded.reshape(count, 512).sum(axis=1)


def _reduce_reference(arguments: Arguments) -> dict[str, Array]:
    return {"P": _parts(wide(arguments["X"]), len(arguments["P"]))}


def _reduce_bound(arguments: Arguments) -> dict[str, Array]:
    return {"P": 9.01 * U32 * _parts(np.abs(wide(arguments["X"])), len(arguments["P"]))}


def _histogram_shapes(constants: Constants) -> list[Shape]:
    return [{"N": n, "BINS": constants["BINS"]} for n in (1500, 769, 1, 0, 255, 4097)]


def _histogram_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    x = np.minimum(rng.integers(0, 256, shape["N"]), rng.integers(0, 256, shape["N"]))
    return {"X": x.astype(np.uint8), "H": rng.integers(0, 9, shape["BINS"]).astype(np.int32)}


def _histogram_reference(arguments: Arguments) -> dict[str, Array]:
    bins = len(arguments["H"])
    return {"H": wide(arguments["H"]) + np.bincount(arguments["X"], minlength=256)[:bins]}


def _mandelbrot_shapes(constants: Constants) -> list[Shape]:
    return [{"R": r, "C": c} for r, c in ((3, 300), (2, 256), (1, 1), (0, 9), (5, 0), (7, 257))]


def _mandelbrot_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    y = np.full((shape["R"], shape["C"]), -1, np.int32)
    return {"Y": y, "left": -2.0, "top": -0.25, "step": 0.0125, "limit": 30}


def _mandelbrot_reference(arguments: Arguments) -> dict[str, Array]:
    """The same operations in f32, one rounding each, so that the counts are exact."""
    left, top, step = (np.float32(arguments[n]) for n in ("left", "top", "step"))
    rows, columns = (np.arange(n, dtype=np.float32) for n in arguments["Y"].shape)
    p, q = np.broadcast_arrays(left + columns * step, (top + rows * step)[:, None])
    x, y, count = np.zeros_like(p), np.zeros_like(p), np.zeros(p.shape)
    for _ in range(arguments["limit"]):
        going = x * x + y * y <= 4
        count += going
        stepped = x * x - y * y + p, np.float32(2) * x * y + q
        x, y = np.where(going, stepped[0], x), np.where(going, stepped[1], y)
    return {"Y": count}


CASES = (
    ExampleCase(
        name="matmul_shared",
        kernel="matmul_shared",
        outputs=("C",),
        configurations=({},),
        shapes=_matmul_shapes,
        arrays=_matmul_arrays,
        reference=_matmul_reference,
        bound=_matmul_bound,
        fast=2,
    ),
    ExampleCase(
        name="transpose_shared",
        kernel="transpose_shared",
        outputs=("B",),
        configurations=({},),
        shapes=lambda constants: matrix_shapes(32, 32),
        arrays=transpose_arrays,
        reference=transpose_reference,
        bound=exact("B"),
        fast=2,
    ),
    ExampleCase(
        name="reduce_shared",
        kernel="reduce_shared",
        outputs=("P",),
        configurations=({},),
        shapes=_reduce_shapes,
        arrays=_reduce_arrays,
        reference=_reduce_reference,
        bound=_reduce_bound,
        fast=2,
    ),
    ExampleCase(
        name="histogram",
        kernel="histogram",
        outputs=("H",),
        configurations=({"BINS": 256}, {"BINS": 64}, {"BINS": 100}),
        shapes=_histogram_shapes,
        arrays=_histogram_arrays,
        reference=_histogram_reference,
        bound=exact("H"),
        grid=lambda constants, arguments: (3, 1, 1),
        fast=2,
    ),
    ExampleCase(
        name="mandelbrot",
        kernel="mandelbrot",
        outputs=("Y",),
        configurations=({},),
        shapes=_mandelbrot_shapes,
        arrays=_mandelbrot_arrays,
        reference=_mandelbrot_reference,
        bound=exact("Y"),
        fast=2,
    ),
)
