"""Which few of many configurations serve several shapes best: the set with the least weighted regret.

The regret of a set at a shape is how much slower the set's fastest configuration is there than the
fastest of all: 0.1 for 10 %. Its cost is the mean over the shapes, by weight.

Configurations that another one beats or equals at every shape are left out first. Then all sets are
tried where there are at most `EXACT`; beyond, a set grows by the configuration that lowers the cost
most, and members are swapped for others as long as that lowers it further (Teitz and Bart's heuristic
for the p-median problem, which this is).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

EXACT = 200_000
"""Sets of one size that are all tried."""

CHUNK = 20_000
"""Sets that are looked at together."""

NOT_AT_ALL = 10.0
"""The regret at a shape that no member of a set can run, or was measured at."""

WORTH_ONE_MORE = 0.001
"""A larger set must lower the cost by more than that."""

Array = Any


def regrets(times: Sequence[Sequence[float | None]]) -> Array:
    """Rows are shapes, columns configurations; times in ms, None where there is none."""
    wide = np.array([[math.inf if t is None else t for t in row] for row in times], dtype=np.float64)
    best = wide.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore"):
        found = wide / best - 1.0
    return np.where(np.isfinite(wide), found, NOT_AT_ALL)


def cost(regret: Array, weights: Array, members: Sequence[int]) -> float:
    """The weighted mean regret of a set."""
    return float(regret[:, list(members)].min(axis=1) @ weights / weights.sum())


def pick(
    times: Sequence[Sequence[float | None]], weights: Sequence[float], most: int
) -> tuple[int, ...]:
    """The columns of the best set of at most `most`; fewer where more add nothing."""
    regret, weight = regrets(times), np.array(weights, dtype=np.float64)
    if not weight.any():
        weight = np.ones_like(weight)
    useful = _useful(regret)
    sizes = range(1, min(most, len(useful)) + 1)
    found = [_best_of_size(regret, weight, useful, size) for size in sizes]
    costs = [cost(regret, weight, members) for members in found]
    least = min(costs)
    return next(m for m, c in zip(found, costs, strict=True) if c <= least + WORTH_ONE_MORE)


def _useful(regret: Array) -> list[int]:
    """Columns that no other column beats or equals everywhere; the first of equal ones."""
    columns = range(regret.shape[1])

    def is_beaten(one: int) -> bool:
        return any(
            bool((regret[:, other] <= regret[:, one]).all())
            and (other < one or bool((regret[:, other] < regret[:, one]).any()))
            for other in columns
            if other != one
        )

    return [c for c in columns if not is_beaten(c)]


def _best_of_size(regret: Array, weights: Array, useful: list[int], size: int) -> tuple[int, ...]:
    if math.comb(len(useful), size) <= EXACT:
        return _exact(regret, weights, useful, size)
    return _swapped(regret, weights, useful, _grown(regret, weights, useful, size))


def _exact(regret: Array, weights: Array, useful: list[int], size: int) -> tuple[int, ...]:
    best, least = (), math.inf
    for sets in _chunks(useful, size):
        costs = weights @ regret[:, sets].min(axis=2)
        place = int(costs.argmin())
        if costs[place] < least:
            best, least = tuple(int(c) for c in sets[place]), float(costs[place])
    return best


def _chunks(useful: list[int], size: int) -> Iterator[Array]:
    sets = itertools.combinations(useful, size)
    while some := list(itertools.islice(sets, CHUNK)):
        yield np.array(some)


def _grown(regret: Array, weights: Array, useful: list[int], size: int) -> tuple[int, ...]:
    members: list[int] = []
    while len(members) < size:
        rest = [c for c in useful if c not in members]
        members.append(min(rest, key=lambda c: cost(regret, weights, [*members, c])))
    return tuple(members)


def _swapped(
    regret: Array, weights: Array, useful: list[int], members: tuple[int, ...]
) -> tuple[int, ...]:
    while True:
        swaps = [
            tuple(new if m == old else m for m in members)
            for old in members
            for new in useful
            if new not in members
        ]
        better = min(swaps, key=lambda m: cost(regret, weights, m), default=members)
        if cost(regret, weights, better) >= cost(regret, weights, members):
            return members
        members = better
