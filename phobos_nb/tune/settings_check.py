"""Options of a search as a caller gives them: kinds and ranges, before anything is begun."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from phobos_nb.diagnostics import Diagnostic, PhobosError

COUNTS = ("trials", "samples", "finalists", "rounds", "workers", "max_configs")
"""Whole numbers from 1 on."""

DURATIONS = ("seconds", "timeout", "compile_timeout")
"""Seconds, above 0."""

NOT_NEGATIVE = ("meaning_seconds", "tolerance")


def check_options(options: Mapping[str, Any]) -> None:
    """Raises `PhobosError` PH402 for the first option whose value cannot be; None is a default."""
    for name, value in options.items():
        wanted = "" if value is None else _wanted(name, value)
        if wanted:
            message = f"{name}: wanted {wanted}, got {value!r}"
            raise PhobosError([Diagnostic("PH402", message, stage="tune")])


def is_whole(value: object) -> bool:
    """Whether it is an integer, NumPy's too; truth values are none."""
    if isinstance(value, bool):
        return False
    try:
        operator.index(cast(Any, value))
    except TypeError:
        return False
    return True


def _is_number(value: object, holds: Callable[[float], bool]) -> bool:
    if isinstance(value, (bool, str)):
        return False
    try:
        number = float(cast(Any, value))
    except (TypeError, ValueError):
        return False
    return math.isfinite(number) and holds(number)


def _wanted(name: str, value: Any) -> str:
    """What an option takes, where the value is not that; else empty."""
    if name in COUNTS:
        if not is_whole(value):
            return "a whole number"
        return "" if value >= 1 else "at least 1"
    if name in DURATIONS and not _is_number(value, lambda n: n > 0):
        return "seconds, more than 0"
    if name in NOT_NEGATIVE and not _is_number(value, lambda n: n >= 0):
        return "a number from 0 on"
    return _wanted_object(name, value)


def _wanted_object(name: str, value: Any) -> str:
    if name not in OBJECTS:
        return ""
    wanted, holds = OBJECTS[name]
    return "" if holds(value) else wanted


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_executor(value: Any) -> bool:
    return callable(getattr(value, "submit", None))


def _is_against(value: Any) -> bool:
    if isinstance(value, Mapping):
        return all(callable(f) for f in cast("Mapping[str, object]", value).values())
    return isinstance(value, str)


def _are_weights(value: Any) -> bool:
    several = isinstance(value, Iterable) and not isinstance(value, str)
    return several and all(_is_number(v, math.isfinite) for v in cast("Iterable[Any]", value))


def _is_list(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, Mapping))


OBJECTS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "choices": ("a dict from names to values", _is_mapping),
    "executor": ("a concurrent.futures executor", _is_executor),
    "listener": ("a function of an event", callable),
    "shapes": ("a list of dicts of extents or tuples of arguments", _is_list),
    "weights": ("numbers, one for each shape", _are_weights),
    "against": ("'cublas' or functions by name", _is_against),
}
"""What other options take, and whether a value is that."""
