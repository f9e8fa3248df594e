"""The triangles of a tile, `tril` and `triu`: what they share is their check."""

from __future__ import annotations

from phobos_nb.builtins.families import operands
from phobos_nb.language.registry import CallSite
from phobos_nb.language.typed import Call
from phobos_nb.language.types import TileType


def check(site: CallSite) -> Call:
    """A rank-2 tile and a compile-time diagonal, kept as `attributes["diagonal"]`; 0 if left out."""
    operands.expect_count(site, 1, 2)
    tile = operands.rows(site, 0)
    diagonal = operands.constant_int(site, 1) if len(site.arguments) == 2 else 0
    return Call(
        type=TileType(operands.dtype_of(tile), operands.shape_of(tile)),
        span=site.span,
        builtin=site.name,
        arguments=(tile,),
        attributes={"diagonal": diagonal},
    )
