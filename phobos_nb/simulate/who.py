"""Threads as a person names them: by warp and lane."""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.simulate.banks import WARP

SHOWN = 6
"""Runs of lanes that a text lists."""


def thread(number: int) -> str:
    """One thread."""
    return f"thread {number} (warp {number // WARP} lane {number % WARP})"


def threads(numbers: Sequence[int]) -> str:
    """Several: whole warps by their numbers, else lanes, said once for warps that have the same."""
    if len(numbers) == 1:
        return thread(numbers[0])
    lanes: dict[int, list[int]] = {}
    for number in sorted(numbers):
        lanes.setdefault(number // WARP, []).append(number % WARP)
    warps: dict[tuple[int, ...], list[int]] = {}
    for warp, held in lanes.items():
        warps.setdefault(tuple(held), []).append(warp)
    parts = [_part(held, of) for held, of in list(warps.items())[:SHOWN]]
    more = f" and {len(warps) - SHOWN} warps more" if len(warps) > SHOWN else ""
    return f"{len(numbers)} threads: {', '.join(parts)}{more}"


def _part(lanes: Sequence[int], warps: Sequence[int]) -> str:
    of = f"warp{'s' * (len(warps) > 1)} {_runs(warps)}"
    if len(lanes) == WARP:
        return of
    return f"lane{'s' * (len(lanes) > 1)} {_runs(lanes)} of {of}"


def _runs(numbers: Sequence[int]) -> str:
    """Such as `0-3, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(a) if a == b else f"{a}-{b}" for a, b in runs[:SHOWN]]
    return ", ".join(shown) + (", ..." if len(runs) > SHOWN else "")
