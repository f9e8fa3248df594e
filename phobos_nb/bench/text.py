"""The benchmark's table as text."""

from __future__ import annotations

import math

from phobos_nb.bench.row import Row

HEAD = (
    f"{'benchmark':20} {'size':16} {'contender':16} {'ms':>9} {'95 % interval':>19} {'rate':>16} "
    f"{'against':>8}"
)
"""Against: how many times as fast as the first peer."""


def format_row(row: Row) -> str:
    """One line of the table."""
    rate = f"{row.tflops:8.2f} TFLOP/s" if math.isfinite(row.tflops) else f"{row.gbps:8.0f} GB/s   "
    span = f"[{row.low:.4f}, {row.high:.4f}]"
    times = f"{row.median:9.4f} {span:>19}" if row.times else f"{'not timed':>29}"
    ratio = f"{row.ratio:7.3f}x" if math.isfinite(row.ratio) else " " * 8
    return f"{row.workload:20} {row.size:16} {row.contender:16} {times} {rate} {ratio}  {remarks(row)}"


def remarks(row: Row) -> str:
    """What else there is to say: peak, arithmetic, error, verdict, constants and their origin."""
    peak = f"{row.peak_percent:.1f} % of peak" if math.isfinite(row.peak_percent) else ""
    origin = f"{row.constants} ({row.chosen})" if row.chosen else row.constants
    parts = [peak, row.arithmetic, f"error {row.error:.1e}", verdict(row), origin]
    return ", ".join(part for part in parts if part.strip())


def verdict(row: Row) -> str:
    """What to say of a contender's outputs beside their error."""
    if not row.same_precision:
        return "other precision"
    return "" if row.passed else "WRONG"
