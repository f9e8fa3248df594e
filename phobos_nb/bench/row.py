"""One line of the benchmark: a contender's times, and the figures that follow from them."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from phobos_nb.tune.statistics import compare, estimate

OURS = "phobos"
"""The contender that is our kernel."""


@dataclass(frozen=True)
class Row:
    """One contender's result. Times are milliseconds per call; error is ||out - answer|| / ||answer||.

    chosen: where our constants come from: "pinned", "searched", "recorded" or "default". passed: whether
    the error is within the tolerance. times: one per interleaved round, none of ours when it was wrong;
    in equal parts of as many sittings, each with arrays of its own.
    low, high: of the median's 95 % interval. ratio: of the first peer's times to this one's, round by
    round: above 1 is faster than that peer.
    """

    workload: str
    size: str
    contender: str
    constants: str
    error: float
    passed: bool
    arithmetic: str = ""
    same_precision: bool = True
    chosen: str = ""
    times: tuple[float, ...] = ()
    sittings: int = 1
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan
    fastest: float = math.nan
    tflops: float = math.nan
    gbps: float = math.nan
    ratio: float = math.nan
    ratio_low: float = math.nan
    ratio_high: float = math.nan
    peak_percent: float = math.nan

    @property
    def ours(self) -> bool:
        """Whether this is our kernel."""
        return self.contender == OURS

    @property
    def key(self) -> tuple[str, str, str]:
        """What the same row of another run has in common with this one."""
        return self.workload, self.size, self.contender

    @property
    def levels(self) -> list[float]:
        """The median of each sitting."""
        share = len(self.times) // self.sittings
        return [statistics.median(self.times[i * share : (i + 1) * share]) for i in range(self.sittings)]

    def figures(self) -> dict[str, Any]:
        """Everything but the single times."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "times"}

    def to_plain(self) -> dict[str, Any]:
        """As JSON's types: what is not a number becomes None."""
        found = {**asdict(self), "times": list(self.times)}
        return {
            n: None if isinstance(v, float) and not math.isfinite(v) else v for n, v in found.items()
        }


def timed(
    row: Row, times: Sequence[float], peer: Sequence[float], flops: float, traffic: float, peak: float
) -> Row:
    """The row with its times and what follows. peer: the first peer's times of the same rounds, if any.

    flops and traffic: of one call, 0 where they say nothing. peak: TFLOP/s, `nan` where unknown.
    """
    found = estimate(times)
    seconds = found.median / 1e3
    tflops = flops / seconds / 1e12 if flops else math.nan
    row = replace(
        row, times=tuple(times), median=found.median, low=found.low, high=found.high,
        fastest=min(times), tflops=tflops, gbps=traffic / seconds / 1e9 if traffic else math.nan,
        peak_percent=100 * tflops / peak,
    )  # fmt: skip
    if not peer:
        return row
    ratio = compare(peer, times)
    return replace(row, ratio=ratio.ratio, ratio_low=ratio.low, ratio_high=ratio.high)


def from_plain(data: dict[str, Any]) -> Row:
    """What `to_plain` wrote; `KeyError` or `TypeError` where it did not."""
    known = {f.name: f for f in fields(Row)}
    values = {n: v for n, v in data.items() if n in known}
    for name, value in values.items():
        if value is None:
            values[name] = math.inf if name == "error" else math.nan
    values["times"] = tuple(float(t) for t in data["times"])
    return Row(**values)
