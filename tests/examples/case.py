"""What an example is to the suites: configurations, shapes, data, float64 reference, error bound.

A bound is absolute per element and follows from the number of roundings: a sum of n terms, in any
order, is off by at most about n * u * sum(|terms|), u being the unit roundoff (N. Higham, "Accuracy
and Stability of Numerical Algorithms", 2002, section 4.2). Two runs that each keep the bound to the
reference differ by at most twice the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import load_with
from phobos_nb.options import CompileOptions

EXAMPLES = Path(__file__).parents[2] / "examples"
U32, U16, UB16 = 2.0**-24, 2.0**-11, 2.0**-8
"""Unit roundoff of f32, f16 and bf16."""
TINY16 = 2.0**-25
"""Largest rounding error among f16's subnormal numbers."""

Array = np.ndarray[Any, np.dtype[Any]]
Constants = Mapping[str, int]
Shape = Mapping[str, int]
Arguments = dict[str, Any]
Grid = tuple[int, int, int]


@dataclass(frozen=True)
class ExampleCase:
    """One example kernel and all that is needed to run and judge it.

    configurations: full sets of constants; the first is what the kernel takes when nothing is set.
    shapes(constants) -> symbol values that must be right; refused(constants) -> those that break an
    `@aligned` promise and must raise. arrays(shape, rng) -> arguments by parameter name, outputs
    filled with what the kernel must overwrite. reference(arguments) -> the outputs in float64, from
    the arguments before the run. bound(arguments) -> the largest absolute error per output element.
    source: the file, where several cases are of one. dtypes: values of dtype parameters. grid(constants,
    arguments) -> `grid=` of the call, where the kernel needs one. fast: how many shapes of the first
    configuration the ordinary suite runs in the simulator.
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
    source: str = ""
    dtypes: Mapping[str, str] = field(default_factory=dict[str, str])
    grid: Callable[[Constants, Arguments], Grid | None] = lambda constants, arguments: None
    fast: int = 99

    @property
    def path(self) -> Path:
        """The source file."""
        return EXAMPLES / f"{self.source or self.name}.ph"

    def load(self, options: CompileOptions | None = None) -> Kernel:
        """The kernel, with the case's dtypes."""
        return load_with(self.path, replace(options or CompileOptions(), dtypes=self.dtypes))[
            self.kernel
        ]

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


def normal(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """Numbers of the standard normal distribution."""
    return rng.standard_normal(shape).astype(dtype)


def stale(shape: tuple[int, ...], dtype: Any = np.float32) -> Array:
    """What an output holds before the run: NaN, so that an element left out is seen."""
    return np.full(shape, np.nan, dtype)


def wide(array: Array) -> Array:
    """The values in float64."""
    return array.astype(np.float64)
