"""Reads of memory: one element, or a region as a tile."""

from __future__ import annotations

from phobos_nb.language.check.checker import Checker
from phobos_nb.language.typed import ElementRead, Expr, Region, SharedArray, Tensor, TileRead
from phobos_nb.language.types import ScalarType, TileType, Uniformity
from phobos_nb.source import Span


def element_read(
    checker: Checker, base: Tensor | SharedArray, indices: tuple[Expr, ...], span: Span
) -> Expr:
    """One element; shared by the threads that share the index if nothing writes the tensor."""
    shares = isinstance(base, Tensor) and base.name not in checker.written
    uniformity = max(i.uniformity for i in indices) if shares else Uniformity.LANE
    kind = ScalarType(base.type.dtype)
    return ElementRead(type=kind, span=span, uniformity=uniformity, base=base, indices=indices)


def tile_read(region: Region, pad: Expr | None, span: Span) -> TileRead:
    """A region as a tile."""
    kind = TileType(region.tensor.type.dtype, region.shape)
    return TileRead(type=kind, span=span, region=region, pad=pad)
