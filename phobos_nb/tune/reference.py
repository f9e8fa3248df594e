"""The right outputs of a call: the caller's, or the kernel's NumPy meaning."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phobos_nb.arguments.grid import Grid
from phobos_nb.compilation.stages import run_meaning
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.typed import TypedKernel
from phobos_nb.tune.check import Expected, poison, wide

Reference = Mapping[str, Any] | Callable[[Mapping[str, Any]], Any]
"""Outputs by name, or a function from the arguments by name (copies) to them, or to the only output."""

GIVEN = "the given reference"
"""The source of references that the caller gave."""


@dataclass(frozen=True)
class References:
    """What outputs are checked against, and where it comes from, in words."""

    expected: Mapping[str, Expected]
    source: str


def given(
    reference: Reference,
    outputs: Sequence[str],
    values: Mapping[str, Any],
    to_host: Callable[[Any], Any],
) -> References:
    """The caller's reference on copies of the arguments.

    Raises `PhobosError` PH701 where an output is missing or of another shape.
    """
    found: Any = reference
    if callable(reference):
        found = reference({n: _copy(v) for n, v in values.items()})
    if not isinstance(found, Mapping):
        found = {outputs[0]: found} if len(outputs) == 1 else {}
    missing = [name for name in outputs if name not in found]
    if missing:
        message = f"reference: no values for {', '.join(missing)}"
        raise PhobosError([Diagnostic("PH701", message, stage="tune")])
    host = {name: np.asarray(to_host(found[name])) for name in outputs}
    for name, array in host.items():
        if array.shape != tuple(values[name].shape):
            message = f"reference: {name} has shape {tuple(values[name].shape)}, got {array.shape}"
            raise PhobosError([Diagnostic("PH701", message, stage="tune")])
    return References({n: Expected(_comparable(a)) for n, a in host.items()}, GIVEN)


def _copy(value: Any) -> Any:
    """A copy of an array (torch calls it a clone); scalars as they are."""
    copy = getattr(value, "clone", None) or getattr(value, "copy", None)
    return copy() if copy else value


def by_meaning(
    typed: TypedKernel,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Any],
    grid: Grid,
    *,
    seconds: float,
    seed: int = 0,
) -> References:
    """The NumPy meaning of as many CTAs as the time allows, the corners of the grid first.

    arrays: NumPy arrays that may be written. Where not all CTAs ran, only elements that changed are
    known: of outputs that the kernel reads, those that get another value; of others, those no longer
    poisoned.
    """
    written = {p.name: arrays[p.name] for p in typed.tensor_parameters if p.writes}
    unread = {p.name for p in typed.tensor_parameters if p.writes and not p.reads}
    for name in unread:
        poison(written[name])
    before = {name: array.copy() for name, array in written.items()}
    total = grid[0] * grid[1] * grid[2]
    done, stop = 0, time.perf_counter() + seconds
    for ctas in _batches(grid, seed):
        run_meaning(typed, arrays, scalars, grid, ctas)
        done += len(ctas)
        if time.perf_counter() > stop:
            break
    if done == total:
        return References({n: Expected(_comparable(a)) for n, a in written.items()}, "the NumPy meaning")
    expected = {
        name: Expected(_comparable(array), _bits(array) != _bits(before[name]))
        for name, array in written.items()
    }
    return References(expected, f"the NumPy meaning of {done} of {total} CTAs")


def _batches(grid: Grid, seed: int) -> Iterator[list[Grid]]:
    """All CTAs: corners, then the rest in random order, few at a time."""
    x, y, z = grid
    corners = list(dict.fromkeys((i, j, k) for i in (0, x - 1) for j in (0, y - 1) for k in (0, z - 1)))
    if 0 in grid:
        return
    yield corners
    numbers = random.Random(seed).sample(range(x * y * z), x * y * z)
    rest = ((n % x, n // x % y, n // (x * y)) for n in numbers)
    for block in rest:
        if block not in corners:
            yield [block]


def _bits(array: Any) -> Any:
    return array.view(f"uint{8 * array.itemsize}")


def _comparable(array: Any) -> Any:
    return array if array.dtype.kind in "iub" else wide(array)
