"""Round numbers for an axis."""

from __future__ import annotations

import math


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between `low` and `high`, about `count` of them; equal bounds are the one mark."""
    if low >= high:
        return [low]
    power = 10.0 ** math.floor(math.log10((high - low) / count))
    step = next(s * power for s in (1, 2, 2.5, 5, 10, 20) if s * power * count >= high - low)
    return [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]


def short(value: float) -> str:
    """A mark's text: four digits, thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 1e4 else f"{value:.4g}"
