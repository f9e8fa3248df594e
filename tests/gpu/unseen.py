"""The kernels of `unseen.ph` as cases, with data and float64 references."""

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

FILE = Path(__file__).with_name("unseen.ph")


@dataclass(frozen=True)
class UnseenCase:
    """What a search needs of a case."""

    name: str
    arrays: Callable[[Shape, np.random.Generator], Arguments]
    reference: Callable[[Arguments], dict[str, Array]]
    configurations: tuple[dict[str, int], ...] = ({},)

    def load(self) -> Kernel:
        """The kernel."""
        return load(FILE)[self.name]

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
    )
}
