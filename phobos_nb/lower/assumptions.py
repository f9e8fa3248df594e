"""What a thread-level kernel takes for granted of its integer arguments and of the grid.

The bounds go into `phobos.assumes`; arguments/variant.py checks them before a launch, and a call that
breaks one gets the variant without them.
"""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.contract import EXTENT_BOUND, STRIDE_BOUND, EntryArgument, GridRule, Variant


def argument_name(argument: EntryArgument) -> str:
    """The name of an entry argument in the thread-level function."""
    if argument.kind == "stride":
        return f"{argument.name}_stride{argument.axis}"
    return argument.name


def assumed(arguments: Sequence[EntryArgument], variant: Variant, grid: GridRule) -> dict[str, int]:
    """Upper bounds by argument name, and by "grid.x" and so on; what is named is never negative."""
    widest = (1 << 62) if variant.index_bits == 64 else (1 << 31) - 1
    extents = [a for a in arguments if a.kind == "extent"]
    found = {argument_name(a): EXTENT_BOUND if variant.bounded else widest for a in extents}
    if variant.bounded:
        found |= {argument_name(a): STRIDE_BOUND for a in arguments if a.kind == "stride"}
        bounds = zip("xyz", grid.bounds(), strict=True)
        found |= {f"grid.{axis}": most for axis, most in bounds if most is not None}
    return found
