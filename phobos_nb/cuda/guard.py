"""The overlap check of a layout, reduced to comparing address ranges on the hot path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.findings import findings
from phobos_nb.arguments.overlap import check_overlap
from phobos_nb.contract import TensorParameter

PAIRS = frozenset[frozenset[str]]

MOST_REMEMBERED = 4096
"""Distances proven good that are kept per layout."""


class OverlapGuard:
    """Whether arrays of one layout share memory where they must not, at given addresses."""

    def __init__(
        self,
        tensors: tuple[TensorParameter, ...],
        arrays: Mapping[str, ArrayDescription],
        in_place: PAIRS,
        kernel: str,
    ) -> None:
        self._tensors, self._arrays = tensors, arrays
        self._in_place, self._kernel = in_place, kernel
        spans = [_relative_span(arrays[t.name]) for t in tensors]
        self._pairs = [
            (i, j, spans[i][0] - spans[j][1], spans[i][1] - spans[j][0])
            for i, j in combinations(range(len(tensors)), 2)
            if tensors[i].writes or tensors[j].writes
        ]
        self._allowed: set[tuple[int, ...]] = set()

    def check(self, addresses: Sequence[int]) -> None:
        """Raise if a written array shares memory with another at these addresses."""
        for i, j, low, high in self._pairs:
            if low < addresses[j] - addresses[i] < high:
                self._check_exactly(addresses)
                return

    def _check_exactly(self, addresses: Sequence[int]) -> None:
        """Ranges meet: decide by elements. Only the distances matter, so good ones are remembered."""
        distances = tuple(a - addresses[0] for a in addresses)
        if distances in self._allowed:
            return
        moved = {
            t.name: replace(self._arrays[t.name], address=a)
            for t, a in zip(self._tensors, addresses, strict=True)
        }
        with findings(self._kernel) as found:
            check_overlap(self._tensors, moved, self._in_place, found)
        if len(self._allowed) < MOST_REMEMBERED:
            self._allowed.add(distances)


def _relative_span(array: ArrayDescription) -> tuple[int, int]:
    low, high = array.span()
    return (0, 0) if array.empty else (low - array.address, high - array.address)
