"""The kernels of `unseen.ph` and `held_out.ph` as cases, with data and float64 references."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import load
from tests.examples.case import Arguments, Array, Shape, normal, stale, wide

HERE = Path(__file__).parent
FILES = ("unseen.ph", "held_out.ph")


@dataclass(frozen=True)
class UnseenCase:
    """What a search needs of a case."""

    name: str
    arrays: Callable[[Shape, np.random.Generator], Arguments]
    reference: Callable[[Arguments], dict[str, Array]]
    configurations: tuple[dict[str, int], ...] = ({},)

    def load(self) -> Kernel:
        """The kernel."""
        found = (load(HERE / file) for file in FILES)
        return next(module[self.name] for module in found if self.name in {k.name for k in module})

    def grid(self, constants: Any, arguments: Any) -> None:
        """Inferred for all of them."""


def _matrix(shape: Shape, rng: np.random.Generator) -> Arguments:
    size = shape["M"], shape["N"]
    return {"X": normal(rng, size), "Y": stale(size)}


def _gelu(arguments: Arguments) -> dict[str, Array]:
    x = wide(arguments["X"]) + wide(arguments["B"])
    erf = np.vectorize(math.erf, otypes=[np.float64])
    return {"Y": 0.5 * x * (1 + erf(x / np.sqrt(2)))}


def _unit_rows(arguments: Arguments) -> dict[str, Array]:
    x = wide(arguments["X"])
    return {"Y": x / np.sqrt((x * x).sum(axis=1, keepdims=True))}


def _log_sum_exp(arguments: Arguments) -> dict[str, Array]:
    x = wide(arguments["X"])
    highest = x.max(axis=1)
    return {"Y": highest + np.log(np.exp(x - highest[:, None]).sum(axis=1))}


def _swiglu(arguments: Arguments) -> dict[str, Array]:
    g = wide(arguments["G"])
    return {"Y": wide(arguments["X"]) * g / (1 + np.exp(-g))}


def _unit_columns(arguments: Arguments) -> dict[str, Array]:
    x = wide(arguments["X"])
    return {"Y": x / np.sqrt((x * x).sum(axis=0, keepdims=True))}


def _two_products(arguments: Arguments) -> dict[str, Array]:
    a, b, g = (wide(arguments[n]) for n in "ABG")
    return {"C": (a @ b) / (1 + np.exp(-(a @ g)))}


def _products(shape: Shape, rng: np.random.Generator) -> Arguments:
    m, n, k = (shape[s] for s in "MNK")
    arrays = {"A": (m, k), "B": (k, n), "G": (k, n)}
    return {**{x: normal(rng, size) for x, size in arrays.items()}, "C": stale((m, n))}


UNSEEN = {
    case.name: case
    for case in (
        UnseenCase("bias_gelu", lambda s, r: {**_matrix(s, r), "B": normal(r, (s["N"],))}, _gelu),
        UnseenCase("unit_rows", _matrix, _unit_rows),
        UnseenCase(
            "column_means",
            lambda s, r: {"X": normal(r, (s["M"], s["N"])) + np.float32(1), "Y": stale((s["N"],))},
            lambda a: {"Y": wide(a["X"]).mean(axis=0)},
        ),
        UnseenCase("two_products", _products, _two_products),
        UnseenCase(
            "log_sum_exp",
            lambda s, r: {"X": normal(r, (s["M"], s["N"])), "Y": stale((s["M"],))},
            _log_sum_exp,
        ),
        UnseenCase("swiglu", lambda s, r: {**_matrix(s, r), "G": normal(r, (s["M"], s["N"]))}, _swiglu),
        UnseenCase(
            "add_transposed",
            lambda s, r: {
                "A": normal(r, (s["M"], s["N"])),
                "B": normal(r, (s["N"], s["M"])),
                "C": stale((s["M"], s["N"])),
            },
            lambda a: {"C": wide(a["A"]) + wide(a["B"]).T},
        ),
        UnseenCase("unit_columns", _matrix, _unit_columns),
    )
}
