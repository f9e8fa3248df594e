"""The bundled examples as cases: configurations, shapes, data, float64 references and error bounds.

Every differential suite reads `CASES`. A bound is absolute per element and follows from the number of
roundings: a sum of n terms, in any order, is off by at most about n * u * sum(|terms|), u being the
unit roundoff (N. Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 4.2). Two
runs that each keep the bound to the reference differ by at most twice the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

EXAMPLES = Path(__file__).parents[1] / "examples"
U32, U16 = 2.0**-24, 2.0**-11
"""Unit roundoff of f32 and f16."""
TINY16 = 2.0**-25
"""Largest rounding error among f16's subnormal numbers."""

Array = np.ndarray[Any, np.dtype[Any]]
Constants = Mapping[str, int]
Shape = Mapping[str, int]
Arguments = dict[str, Any]


@dataclass(frozen=True)
class ExampleCase:
    """One example kernel and all that is needed to run and judge it.

    configurations: full sets of constants; the first is what the kernel takes when nothing is set.
    shapes(constants) -> symbol values that must be right; refused(constants) -> those that break an
    `@aligned` promise and must raise. arrays(shape, rng) -> arguments by parameter name, outputs
    filled with what the kernel must overwrite. reference(arguments) -> the outputs in float64, from
    the arguments before the run. bound(arguments) -> the largest absolute error per output element.
    """

    name: str
    kernel: str
    outputs: tuple[str, ...]
    configurations: tuple[Constants, ...]
    shapes: Callable[[Constants], list[Shape]]
    arrays: Callable[[Shape, np.random.Generator], Arguments]
    reference: Callable[[Arguments], dict[str, Array]]
    bound: Callable[[Arguments], dict[str, Array]]
    refused: Callable[[Constants], list[Shape]] = lambda constants: []

    @property
    def path(self) -> Path:
        """The source file."""
        return EXAMPLES / f"{self.name}.ph"

    def excess(self, before: Arguments, after: Arguments, times: float = 1.0) -> dict[str, float]:
        """Per output, the largest |error| - times * bound; not above zero where the run is right.

        A NaN or infinity must be one in the reference too; `before` are copies of the arguments.
        """
        wanted, bounds = self.reference(before), self.bound(before)
        return {
            name: worst(np.asarray(after[name]), wanted[name], times * bounds[name])
            for name in self.outputs
        }


def worst(found: Array, wanted: Array, bound: Array) -> float:
    """The largest |found - wanted| - bound; infinity where only one of them is finite."""
    if found.size == 0:
        return 0.0
    found = found.astype(np.float64)
    with np.errstate(invalid="ignore"):
        over = np.abs(found - wanted) - bound
    special = ~np.isfinite(wanted)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    return float(np.max(np.where(special, np.where(same, 0.0, np.inf), np.nan_to_num(over, nan=np.inf))))


LAYOUTS = ("contiguous", "transposed", "strided", "reversed", "shifted")
"""Ways to hold the same values: other strides, or a base address that is not a multiple of 16."""


def laid_out(array: Array, layout: str) -> Array:
    """An array of equal values and shape in a layout of `LAYOUTS`."""
    if layout == "contiguous":
        return np.ascontiguousarray(array)
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    if layout == "reversed":
        return np.ascontiguousarray(array[..., ::-1])[..., ::-1]
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
    view = wide[..., 1::2] if layout == "strided" else wide[..., 1 : 1 + array.shape[-1]]
    view[...] = array
    return view


def with_layout(arguments: Arguments, layout: str) -> Arguments:
    """The arguments with every array in a layout; scalars stay."""
    return {n: laid_out(v, layout) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}


def copied(arguments: Arguments) -> Arguments:
    """The arguments with every array copied, to be kept before a run writes into them."""
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in arguments.items()}


def _normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    return rng.standard_normal(shape).astype(dtype)


def _stale(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """What an output holds before the run: NaN, so that an element left out is seen."""
    return np.full(shape, np.nan, dtype)


def _wide(array: Array) -> Array:
    return array.astype(np.float64)


# saxpy -----------------------------------------------------------------------------------------


def _saxpy_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    n = (shape["N"],)
    return {"X": _normal(rng, n), "Y": _normal(rng, n), "a": 1.5}


def _saxpy_reference(arguments: Arguments) -> dict[str, Array]:
    return {"Y": arguments["a"] * _wide(arguments["X"]) + _wide(arguments["Y"])}


def _saxpy_bound(arguments: Arguments) -> dict[str, Array]:
    product = np.abs(arguments["a"] * _wide(arguments["X"]))
    return {"Y": 1.01 * U32 * (product + np.abs(_saxpy_reference(arguments)["Y"]))}


# gemm ------------------------------------------------------------------------------------------


def _gemm_arrays(dtype: Any) -> Callable[[Shape, np.random.Generator], Arguments]:
    def arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
        m, n, k = shape["M"], shape["N"], shape["K"]
        a, b, c = (_normal(rng, s, dtype) for s in ((m, k), (k, n), (m, n)))
        return {"A": a, "B": b, "C": c, "alpha": 1.25, "beta": -0.5}

    return arrays


def _gemm_reference(arguments: Arguments) -> dict[str, Array]:
    a, b, c = (_wide(arguments[n]) for n in "ABC")
    return {"C": arguments["alpha"] * (a @ b) + arguments["beta"] * c}


def _gemm_bound(operand: float, out: float) -> Callable[[Arguments], dict[str, Array]]:
    """`operand`: relative error of one operand as used; `out`: unit roundoff of the stored result."""

    def bound(arguments: Arguments) -> dict[str, Array]:
        a, b, c = (np.abs(_wide(arguments[n])) for n in "ABC")
        size = abs(arguments["alpha"]) * (a @ b)
        summed = (2.01 * operand + (a.shape[1] + 4) * U32) * size + 4 * U32 * abs(arguments["beta"]) * c
        stored = 1.01 * out * np.abs(_gemm_reference(arguments)["C"]) + (TINY16 if out == U16 else 0.0)
        return {"C": summed * (1 + out) + stored}

    return bound


_GEMM_32 = (
    {"TILE_M": 32, "TILE_N": 32, "TILE_K": 4},
    {"TILE_M": 64, "TILE_N": 32, "TILE_K": 16},
    {"TILE_M": 128, "TILE_N": 64, "TILE_K": 8},
)
_GEMM_16 = (
    {"TILE_M": 32, "TILE_N": 32, "TILE_K": 16},
    {"TILE_M": 64, "TILE_N": 32, "TILE_K": 32},
    {"TILE_M": 128, "TILE_N": 64, "TILE_K": 16},
)


def _sizes(*extents: tuple[int, int, int]) -> list[Shape]:
    return [{"M": m, "N": n, "K": k} for m, n, k in extents]


def _gemm_shapes(constants: Constants) -> list[Shape]:
    m, n, k = constants["TILE_M"], constants["TILE_N"], constants["TILE_K"]
    ragged = _sizes((m + 1, n, 2 * k), (m, 2 * n - 1, k), (m, n, 3 * k + 1))
    edges = _sizes((1, 1, 1), (0, n, k), (m, 0, k), (m, n, 0), (1, 2 * n + 3, 1))
    return [*_sizes((2 * m, n, 4 * k)), *ragged, *edges, *_sizes((67, 53, 41), (131, 101, 103))]


def _gemm_aligned(constants: Constants) -> list[Shape]:
    m, n, k = constants["TILE_M"], constants["TILE_N"], constants["TILE_K"]
    full = _sizes((m, n, k), (2 * m, n, 4 * k), (m, 2 * n, 3 * k), (2 * m, 3 * n, 5 * k))
    return [*full, *_sizes((0, n, k), (m, 0, k), (m, n, 0))]


def _gemm_refused(constants: Constants) -> list[Shape]:
    m, n, k = constants["TILE_M"], constants["TILE_N"], constants["TILE_K"]
    return _sizes((m + 1, n, k), (m, n - 1, k), (m, n, k + 1), (1, 1, 1))


# transpose -------------------------------------------------------------------------------------


def _matrix_shapes(rows: int, columns: int) -> list[Shape]:
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


def _transpose_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n = shape["M"], shape["N"]
    return {"A": _normal(rng, (m, n)), "B": _stale((n, m))}


def _transpose_reference(arguments: Arguments) -> dict[str, Array]:
    return {"B": _wide(arguments["A"]).T}


def _exact(arguments: Arguments) -> dict[str, Array]:
    return {"B": np.zeros(arguments["B"].shape)}


# softmax ---------------------------------------------------------------------------------------


def _softmax_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n = shape["M"], shape["N"]
    return {"X": 3 * _normal(rng, (m, n)), "Y": _stale((m, n))}


def softmax(x: Array) -> Array:
    """Along the last axis, in float64; a row without elements stays empty."""
    with np.errstate(invalid="ignore"):
        p = np.exp(x - np.max(x, axis=-1, keepdims=True, initial=-np.inf))
        return p / p.sum(axis=-1, keepdims=True)


def _softmax_reference(arguments: Arguments) -> dict[str, Array]:
    return {"Y": softmax(_wide(arguments["X"]))}


def _softmax_bound(arguments: Arguments) -> dict[str, Array]:
    """Per chunk of at least 32 columns the sum is rescaled once: an exp, a product, an addition."""
    x = _wide(arguments["X"])
    n = x.shape[1]
    spread = np.max(x, axis=1, keepdims=True, initial=-1e3) - np.min(
        x, axis=1, keepdims=True, initial=1e3
    )
    return {"Y": U32 * (n * 1.5 + 4 * np.abs(spread) + 64) * softmax(x) + 2.0**-126}


# layer norm ------------------------------------------------------------------------------------


def _layer_norm_arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n = shape["M"], shape["N"]
    x = _normal(rng, (m, n)) + np.float32(4.0)
    return {"X": x, "W": _normal(rng, (n,)), "B": _normal(rng, (n,)), "Y": _stale((m, n)), "eps": 1e-5}


def _centred(arguments: Arguments) -> tuple[Array, Array]:
    """X - mean and the variance, in float64."""
    x = _wide(arguments["X"])
    n = max(1, x.shape[1])
    d = x - x.sum(axis=1, keepdims=True) / n
    return d, (d * d).sum(axis=1, keepdims=True) / n


def _layer_norm_reference(arguments: Arguments) -> dict[str, Array]:
    d, variance = _centred(arguments)
    scale = 1.0 / np.sqrt(variance + np.float32(arguments["eps"]))
    return {"Y": d * scale * _wide(arguments["W"]) + _wide(arguments["B"])}


def _layer_norm_bound(arguments: Arguments) -> dict[str, Array]:
    """The mean is off by `shift`; that moves every x - mean, and the variance by its square."""
    x, (d, variance) = _wide(arguments["X"]), _centred(arguments)
    w, b = _wide(arguments["W"]), _wide(arguments["B"])
    n = max(1, x.shape[1])
    shift = (n + 2) * U32 * np.abs(x).sum(axis=1, keepdims=True) / n
    whole = variance + arguments["eps"]
    spread = np.abs(d).sum(axis=1, keepdims=True) / n
    relative = (n + 12) * U32 + (
        shift * spread + shift**2 + U32 * np.abs(x).max(initial=0) * spread
    ) / whole
    size = np.abs(d) / np.sqrt(whole)
    moved = (shift + 2 * U32 * (np.abs(x) + np.abs(d))) / np.sqrt(whole)
    return {
        "Y": np.abs(w) * (size * (relative + 8 * U32) + moved) + 4 * U32 * (size * np.abs(w) + np.abs(b))
    }


# flash attention -------------------------------------------------------------------------------


def _flash_arrays(dtype: Any) -> Callable[[Shape, np.random.Generator], Arguments]:
    def arrays(shape: Shape, rng: np.random.Generator) -> Arguments:
        h, nq, nk, d = (shape[s] for s in ("H", "NQ", "NK", "D"))
        q, k, v = (_normal(rng, (h, n, d), dtype) for n in (nq, nk, nk))
        return {"Q": q, "K": k, "V": v, "O": _stale((h, nq, d), dtype), "scale": d**-0.5}

    return arrays


def _scores(arguments: Arguments) -> Array:
    return np.float32(arguments["scale"]) * (
        _wide(arguments["Q"]) @ np.swapaxes(_wide(arguments["K"]), 1, 2)
    )


def _flash_reference(arguments: Arguments) -> dict[str, Array]:
    if arguments["K"].shape[1] == 0:
        return {"O": np.full(arguments["O"].shape, np.nan)}
    return {"O": softmax(_scores(arguments)) @ _wide(arguments["V"])}


def _flash_bound(weight: float, out: float) -> Callable[[Arguments], dict[str, Array]]:
    """`weight`: unit roundoff of a probability as used; `out`: of the stored result."""

    def bound(arguments: Arguments) -> dict[str, Array]:
        q, k, v = (np.abs(_wide(arguments[n])) for n in "QKV")
        scores = _scores(arguments)
        if scores.shape[2] == 0:
            return {"O": np.zeros(arguments["O"].shape)}
        size = abs(arguments["scale"]) * (q @ np.swapaxes(k, 1, 2))
        drift = (q.shape[2] + 2) * U32 * size.max(axis=2, keepdims=True)
        spread = U32 * (scores.max(axis=2, keepdims=True) - scores.min(axis=2, keepdims=True))
        relative = 2 * (drift + spread) + (2 * k.shape[1] + 64) * U32 + 1.01 * weight
        floor = TINY16 * v.sum(axis=1, keepdims=True) if weight == U16 else 0.0
        mean = softmax(scores) @ v
        stored = 1.01 * out * np.abs(_flash_reference(arguments)["O"]) + (TINY16 if out == U16 else 0.0)
        return {"O": 1.01 * (relative * mean + floor) + stored}

    return bound


def _flash_shapes(constants: Constants) -> list[Shape]:
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


def _gemm(
    name: str, configurations: tuple[Constants, ...], dtype: Any, operand: float, **other: Any
) -> ExampleCase:
    return ExampleCase(
        name=name,
        kernel="gemm",
        outputs=("C",),
        configurations=configurations,
        shapes=_gemm_aligned if "refused" in other else _gemm_shapes,
        arrays=_gemm_arrays(dtype),
        reference=_gemm_reference,
        bound=_gemm_bound(operand, U16 if dtype is np.float16 else U32),
        **other,
    )


def _flash(name: str, configurations: tuple[Constants, ...], dtype: Any, unit: float) -> ExampleCase:
    return ExampleCase(
        name=name,
        kernel="flash_attention",
        outputs=("O",),
        configurations=configurations,
        shapes=_flash_shapes,
        arrays=_flash_arrays(dtype),
        reference=_flash_reference,
        bound=_flash_bound(unit, unit),
    )


def _chunks(*pairs: tuple[int, int]) -> tuple[Constants, ...]:
    return tuple({"ROWS": r, "COLS": c} for r, c in pairs)


_ALL = (
    ExampleCase(
        name="saxpy_fp32",
        kernel="saxpy",
        outputs=("Y",),
        configurations=({"TILE": 256}, {"TILE": 512}, {"TILE": 1024}),
        shapes=lambda c: [
            {"N": n} for n in (2 * c["TILE"], c["TILE"] + 1, c["TILE"] - 1, 1, 0, 1009, 3001)
        ],
        arrays=_saxpy_arrays,
        reference=_saxpy_reference,
        bound=_saxpy_bound,
    ),
    _gemm("gemm_fp32", _GEMM_32, np.float32, 0.0, refused=_gemm_refused),
    _gemm("gemm_fp32_any", _GEMM_32, np.float32, 0.0),
    _gemm("gemm_fp16tc_fp32acc", _GEMM_16, np.float32, U16, refused=_gemm_refused),
    _gemm("gemm_fp16", _GEMM_16, np.float16, 0.0),
    ExampleCase(
        name="transpose",
        kernel="transpose",
        outputs=("B",),
        configurations=tuple({"TILE_M": m, "TILE_N": n} for m, n in ((32, 32), (64, 32), (64, 64))),
        shapes=lambda c: _matrix_shapes(c["TILE_M"], c["TILE_N"]),
        arrays=_transpose_arrays,
        reference=_transpose_reference,
        bound=_exact,
    ),
    ExampleCase(
        name="softmax",
        kernel="softmax",
        outputs=("Y",),
        configurations=_chunks((4, 128), (8, 256), (16, 128)),
        shapes=lambda c: _matrix_shapes(c["ROWS"], c["COLS"]),
        arrays=_softmax_arrays,
        reference=_softmax_reference,
        bound=_softmax_bound,
    ),
    ExampleCase(
        name="layer_norm",
        kernel="layer_norm",
        outputs=("Y",),
        configurations=_chunks((4, 128), (8, 256), (16, 128)),
        shapes=lambda c: _matrix_shapes(c["ROWS"], c["COLS"]),
        arrays=_layer_norm_arrays,
        reference=_layer_norm_reference,
        bound=_layer_norm_bound,
    ),
    _flash(
        "flash_attention_fp32",
        tuple({"BR": r, "BC": c, "D": 64} for r, c in ((32, 32), (64, 32), (32, 64))),
        np.float32,
        U32,
    ),
    _flash(
        "flash_attention_fp16",
        tuple({"BR": r, "BC": c, "D": 64} for r, c in ((64, 32), (64, 64), (128, 32))),
        np.float16,
        U16,
    ),
)
CASES: dict[str, ExampleCase] = {case.name: case for case in _ALL}
