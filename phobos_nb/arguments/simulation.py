"""Checks of what `simulate` and `compare` take beside a kernel's arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from phobos_nb.arguments.array import is_masked
from phobos_nb.arguments.findings import Findings, findings

CODE = "PH715"
FLAGS = ("races", "banks", "stop_at_first", "in_place")


def check_simulation(
    kernel: str,
    options: Mapping[str, Any],
    grid: tuple[int, int, int],
    shapes: Mapping[str, tuple[int, ...]],
) -> None:
    """Raise `ArgumentTypeError` or `ArgumentValueError` PH715, with every option that cannot be.

    shapes: the extents of the call's arrays, by name.
    """
    with findings(kernel) as found:
        if options.get("ctas") is not None:
            _check_ctas(options["ctas"], grid, found)
        if not _whole(options.get("seed", 0)) or options.get("seed", 0) < 0:
            found.value_error(
                CODE, f"seed: wanted a whole number of at least 0, got {options['seed']!r}"
            )
        if not _whole(options.get("trace", 0)) or options.get("trace", 0) not in (0, 1, 2):
            found.value_error(CODE, f"trace: wanted 0, 1 or 2, got {options['trace']!r}")
        for name in FLAGS:
            if not isinstance(options.get(name, True), bool | np.bool_):
                found.type_error(CODE, f"{name}: wanted True or False, got {options[name]!r}")
        if options.get("probe") is not None:
            _check_probe(options["probe"], shapes, found)


def _whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _check_ctas(ctas: Any, grid: tuple[int, int, int], found: Findings) -> None:
    several = isinstance(ctas, Sequence | np.ndarray | set)
    numbers: list[Any] = list(cast(Any, ctas)) if several else [None]
    if not numbers or not all(_whole(n) for n in numbers):
        found.type_error(CODE, f"ctas: wanted a list of CTAs' numbers, x fastest, got {ctas!r}")
        return
    count = grid[0] * grid[1] * grid[2]
    outside = [int(n) for n in numbers if not 0 <= n < count]
    if outside:
        found.value_error(CODE, f"ctas: there is no CTA {outside[0]}: the grid {grid} has {count}")
    elif len(set(numbers)) < len(numbers):
        found.value_error(CODE, f"ctas: every CTA runs once, got {list(map(int, numbers))}")


def _check_probe(probe: Any, shapes: Mapping[str, tuple[int, ...]], found: Findings) -> None:
    """A pair of a tensor's name and the index of an element of it."""
    pair: tuple[Any, ...] = tuple(cast(Any, probe)) if isinstance(probe, tuple | list) else ()
    name, index = pair if len(pair) == 2 else (None, ())
    shape = shapes.get(str(name))
    if shape is None or not isinstance(index, tuple | list):
        names = ", ".join(shapes)
        found.type_error(CODE, f"probe: wanted (name, index) with a name of {names}, got {probe!r}")
        return
    places = cast(Sequence[Any], index)
    if len(places) != len(shape) or not all(
        _whole(i) and 0 <= i < n for i, n in zip(places, shape, strict=True)
    ):
        found.value_error(CODE, f"probe: {name} has shape {shape}, and no element {list(places)}")


def check_comparison(
    kernel: str, right: Any, outputs: Mapping[str, NDArray[Any]], tolerance: Any
) -> dict[str, NDArray[Any]]:
    """The right outputs as arrays. Raises PH715 where names or shapes are not those of outputs."""
    known = f"its outputs: {', '.join(outputs)}"
    with findings(kernel) as found:
        if not isinstance(right, Mapping):
            arrays = ", ".join(f'"{name}": ...' for name in outputs)
            wanted = f"ref: wanted arrays by name, {{{arrays}}}, or a function that returns them"
            found.type_error(CODE, f"{wanted}, got {_called(right)}", known)
            found.raise_errors()
        given = {n: np.asarray(a) for n, a in cast(Mapping[str, Any], right).items()}
        if not given:
            found.value_error(CODE, "ref: holds no right values", known)
        for name in (n for n, a in cast(Mapping[str, Any], right).items() if is_masked(a)):
            message = f"ref: wanted an array for {name}, got one with a mask, which nothing here knows"
            found.type_error(CODE, message, "fill what is masked: `array.filled(0)`")
        for name, array in given.items():
            if name not in outputs:
                found.value_error(CODE, f"ref: {name} is no output", known)
            elif array.shape != outputs[name].shape:
                shape = outputs[name].shape
                found.value_error(CODE, f"ref: {name} has shape {shape}, got {array.shape}")
        _check_tolerance(tolerance, given, found)
    return given


def _called(given: object) -> str:
    return f"{type(given).__name__} {given!r}" if np.isscalar(given) else type(given).__name__


def _check_tolerance(tolerance: Any, given: Mapping[str, object], found: Findings) -> None:
    """Nothing, numbers of at least 0, or those for every tensor that is compared."""
    by_name = cast(Mapping[str, Any], tolerance) if isinstance(tolerance, Mapping) else None
    missing = [n for n in given if by_name is not None and n not in by_name]
    if missing:
        found.value_error(CODE, f"tolerance: none for {', '.join(missing)}")
        return
    bounds: list[Any] = [tolerance] if by_name is None else [by_name[n] for n in given]
    for value in bounds:
        numbers = np.asarray(0 if value is None else value)
        if numbers.dtype.kind not in "iuf" or not (numbers >= 0).all():
            found.value_error(CODE, f"tolerance: wanted numbers of at least 0, got {value!r}")
