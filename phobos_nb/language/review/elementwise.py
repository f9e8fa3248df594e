"""The value of an elementwise expression at positions of filler."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Final

from phobos_nb.dtypes import BOOL
from phobos_nb.language import numeric
from phobos_nb.language.typed import Binary, Call, Compare, Convert, Expr, Unary
from phobos_nb.language.types import ScalarType, TileType


class _Unknown(Enum):
    UNKNOWN = "unknown"


UNKNOWN: Final = _Unknown.UNKNOWN
Value = float | _Unknown | None
"""A known number; UNKNOWN filler; None: an operand that is no filler, any finite number."""

_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "exp": lambda x: math.exp(min(x, 700.0)),
    "exp2": lambda x: 2.0 ** min(x, 1000.0),
    "sqrt": lambda x: math.sqrt(x) if x >= 0 else math.nan,
    "tanh": math.tanh,
    "sin": lambda x: math.sin(x) if math.isfinite(x) else math.nan,
    "cos": lambda x: math.cos(x) if math.isfinite(x) else math.nan,
    "erf": math.erf,
    "sigmoid": lambda x: 1.0 / (1.0 + math.exp(-max(x, -700.0))) if x > -700.0 else 0.0,
    "abs": abs,
    "log": lambda x: math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan),
    "log2": lambda x: math.log2(x) if x > 0 else (-math.inf if x == 0 else math.nan),
    "round": lambda x: float(round(x)) if math.isfinite(x) else x,
    "floor": lambda x: float(math.floor(x)) if math.isfinite(x) else x,
    "ceil": lambda x: float(math.ceil(x)) if math.isfinite(x) else x,
}


def at_filler(node: Expr, values: list[Value], masks: bool) -> Value:
    """The result where at least one operand is filler.

    `masks`: the first operand was computed from positions, so that a `where` on it is taken to
    mask the filler by hand.
    """
    match node:
        case Binary(op=op):
            return _binary(node, op, values[0], values[1])
        case Compare(op=op):
            left, right = values
            known = isinstance(left, float) and isinstance(right, float)
            return float(numeric.compare(op, left, right)) if known else UNKNOWN  # type: ignore[arg-type]
        case Unary(op="-"):
            return -values[0] if isinstance(values[0], float) else UNKNOWN
        case Convert():
            return values[0] if isinstance(values[0], float) else UNKNOWN
        case Call():
            return _call(node, values, masks)
        case _:
            return UNKNOWN


def _binary(node: Expr, op: str, left: Value, right: Value) -> Value:
    if op == "*" and 0.0 in (left, right):
        return 0.0
    if op == "/" and left == 0.0 and right != 0.0:
        return 0.0
    if isinstance(left, float) and isinstance(right, float):
        assert isinstance(node.type, ScalarType | TileType)
        if node.type.dtype == BOOL:
            return UNKNOWN
        folded = numeric.binary(op, left, right, node.type.dtype)
        return UNKNOWN if folded is None else float(folded)
    return _infinite(op, left, right)


def _infinite(op: str, left: Value, right: Value) -> Value:
    """Infinite filler stays infinite when a finite number is added or taken away."""
    if op in "+-" and isinstance(left, float) and math.isinf(left) and right is None:
        return left
    if op in "+-" and isinstance(right, float) and math.isinf(right) and left is None:
        return right if op == "+" else -right
    return UNKNOWN


def _call(node: Call, values: list[Value], masks: bool) -> Value:
    if node.builtin == "where":
        return _where(values, masks)
    known = [v for v in values if isinstance(v, float)]
    if len(known) < len(values):
        return UNKNOWN
    if node.builtin in _FUNCTIONS and len(known) == 1:
        return _FUNCTIONS[node.builtin](known[0])
    if node.builtin in ("max", "tmax"):
        return max(known)
    if node.builtin in ("min", "tmin"):
        return min(known)
    if node.builtin in ("tril", "triu") and known[0] == 0.0:
        return 0.0
    return UNKNOWN


def _where(values: list[Value], masks: bool) -> Value:
    condition, chosen, other = values
    if masks:
        constants = [v for v in (other, chosen) if isinstance(v, float)]
        return constants[0] if constants else UNKNOWN
    if isinstance(condition, float):
        picked = chosen if condition else other
        return picked if picked is not None else UNKNOWN
    return chosen if chosen == other and chosen is not None else UNKNOWN
