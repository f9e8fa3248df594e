"""What became of a loop with a dot."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LoopReport:
    """What became of one loop with a dot: its stages (1: not pipelined) and why not more.

    mode: "async" (cp.async), "registers" (copies through registers), or "direct" (no copies: `stages`
    k-slices are loaded by one iteration, see Note [Matrix times vector] of matvec.py).
    """

    line: int
    stages: int
    mode: str
    reason: str
