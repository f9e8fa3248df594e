"""Integer division and shifts: where the operands are out of range the lane is reported."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from xdsl.ir import Operation

from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.common import lanes_of
from phobos_nb.simulate.ops.integers import unsigned, wrap
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import DTypeLike, Value, is_array

Part = Literal["quotient", "rest", "floor", "ceil"]
Shift = Literal["left", "right", "right unsigned"]


def division_row(part: Part, *, signed: bool) -> Row:
    """Quotient truncated, floored or rounded up, or rest with the dividend's sign.

    Division by zero is a fault and gives 0.
    """

    def row(d: Decoder, op: Operation) -> Step:
        a, b, r = d.slot(op.operands[0]), d.slot(op.operands[1]), d.slot(op.results[0])
        dtype, index = element_dtype(op.results[0].type), d.op

        def step(m: Machine, s: Strand) -> None:
            x, y = s.values[a], s.values[b]
            zero = y == 0
            if np.any(zero):
                bad = lanes_of(zero, s)
                if bad.any():
                    lane = int(bad.argmax())
                    text = f"divides{_operand(x, lane)} by zero"
                    report_lanes(m, s, "division_by_zero", index, text, bad, lane)
                y = np.where(zero, 1, y) if is_array(y) else 1
                x = np.where(zero, 0, x).astype(dtype, copy=False)
            s.values[r] = divide(x, y, part, dtype, signed=signed)

        return step

    return row


def _operand(value: Value, lane: int) -> str:
    """A scalar operand in one lane, with a space before it; nothing of a vector."""
    if is_array(value):
        return f" {int(value[lane])}" if value.ndim == 1 else ""
    return f" {int(value)}"


def divide(x: Value, y: Value, part: Part, dtype: DTypeLike, *, signed: bool) -> Value:
    """Divide where no divisor is zero."""
    if not signed:
        x, y = unsigned(x, dtype), unsigned(y, dtype)
    result: Any = _PARTS[part](x, y)
    if is_array(result):
        return result.astype(dtype, copy=False)
    return wrap(int(result), dtype)


def _rest(x: Any, y: Any) -> Any:
    if is_array(x) or is_array(y):
        return np.fmod(x, y)
    return x - y * _truncated(x, y)


def _truncated(x: Any, y: Any) -> Any:
    if is_array(x) or is_array(y):
        quotient = np.floor_divide(x, y)
        if quotient.dtype.kind == "u":
            return quotient
        return quotient + ((quotient < 0) & (quotient * y != x))
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _ceiling(x: Any, y: Any) -> Any:
    return x // y + (x % y != 0)


_PARTS: dict[Part, Any] = {
    "quotient": _truncated,
    "rest": _rest,
    "floor": np.floor_divide,
    "ceil": _ceiling,
}


def shift_row(direction: Shift) -> Row:
    """A shift; by the width or more is a fault and gives 0 (or the sign, to the right)."""

    def row(d: Decoder, op: Operation) -> Step:
        a, b, r = d.slot(op.operands[0]), d.slot(op.operands[1]), d.slot(op.results[0])
        dtype, index = element_dtype(op.results[0].type), d.op
        bits = dtype.itemsize * 8

        def step(m: Machine, s: Strand) -> None:
            x, y = s.values[a], s.values[b]
            wide = (y < 0) | (y >= bits)
            if np.any(wide):
                bad = lanes_of(wide, s)
                if bad.any():
                    lane = int(bad.argmax())
                    by = _operand(y, lane) or f" {bits} or more"
                    text = f"shifts an integer of {bits} bits by{by}"
                    report_lanes(m, s, "shift", index, text, bad, lane)
                y = np.where(wide, 0, y) if is_array(y) else 0
                x = np.where(wide, -1 if direction == "right" else 0, x).astype(dtype, copy=False)
            s.values[r] = _shift(x, y, direction, dtype)

        return step

    return row


def _shift(x: Value, y: Value, direction: Shift, dtype: DTypeLike) -> Value:
    if direction == "right unsigned":
        x = unsigned(x, dtype)
        y = unsigned(y, dtype)
    result = x << y if direction == "left" else x >> y
    if is_array(result):
        return result.astype(dtype, copy=False)
    return wrap(int(result), dtype)
