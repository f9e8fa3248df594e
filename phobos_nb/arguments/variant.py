"""Which variant of a kernel suits the arrays of a call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.findings import Findings
from phobos_nb.arguments.grid import Grid
from phobos_nb.contract import EXTENT_BOUND, STRIDE_BOUND, GridRule, Variant

OVERHANG = 4096
"""Elements that a partial tile may reach past an extent on any axis before its mask is applied."""

Arrays = Iterable[ArrayDescription] | Mapping[str, ArrayDescription]
"""The arrays of a call, where it matters by name."""

_LIMIT_32 = 2**31 - 1


def choose_variant(
    arrays: Arrays,
    index_bits: int,
    grid: Grid = (1, 1, 1),
    rule: GridRule | None = None,
) -> Variant:
    """The fastest variant that is right for these arrays, with indices at least `index_bits` wide.

    `grid` is what will be started, `rule` how the kernel infers it. Only arrays that come by name can
    be exempt from alignment as `thin`.
    """
    named = _named(arrays)
    known = [array for _, array in named]
    thin = tuple(name for name, array in named if name and is_thin(array))
    wide = [array for name, array in named if name not in thin]
    aligned = all(is_aligned(a) for a in wide)
    narrow = index_bits == 32 and all(fits_32_bits(a) for a in known)
    return Variant(
        unit_stride=all(has_unit_stride(a) for a in known),
        aligned=aligned,
        index_bits=32 if narrow else 64,
        bounded=all(is_bounded(a) for a in known) and grid_is_bounded(grid, rule or GridRule()),
        thin=thin if aligned else (),
    )


def _named(arrays: Arrays) -> list[tuple[str, ArrayDescription]]:
    """The arrays with their names, empty where they have none."""
    if isinstance(arrays, Mapping):
        return list(cast("Mapping[str, ArrayDescription]", arrays).items())
    return [("", array) for array in arrays]


def has_unit_stride(array: ArrayDescription) -> bool:
    """Whether neighbours along the last axis lie side by side."""
    return not array.shape or array.shape[-1] <= 1 or array.strides[-1] == array.itemsize


def is_aligned(array: ArrayDescription) -> bool:
    """Whether the base and every outer stride that is used are multiples of 16 bytes."""
    outer = zip(array.shape[:-1], array.strides[:-1], strict=True)
    return array.address % 16 == 0 and all(s % 16 == 0 or n <= 1 for n, s in outer)


def is_thin(array: ArrayDescription) -> bool:
    """Whether a column: not aligned, and nothing beside an element that a wide access could take."""
    return len(array.shape) > 1 and array.shape[-1] <= 1 and not is_aligned(array)


def is_bounded(array: ArrayDescription) -> bool:
    """Whether extents and strides lie in the ranges that `Variant.bounded` promises."""
    short = all(0 <= s <= STRIDE_BOUND * array.itemsize for s in array.strides)
    return short and all(n < EXTENT_BOUND for n in array.shape)


def grid_is_bounded(grid: Grid, rule: GridRule) -> bool:
    """Whether a grid is no larger than one that bounded extents infer."""
    return all(most is None or n <= most for n, most in zip(grid, rule.bounds(), strict=True))


def fits_32_bits(array: ArrayDescription) -> bool:
    """Whether extents, strides and all byte offsets, overhang included, fit a signed 32-bit number."""
    pairs = zip(array.shape, array.strides, strict=True)
    reach = sum((n + OVERHANG) * abs(s) for n, s in pairs if n)
    return reach <= _LIMIT_32 and all(n + OVERHANG <= _LIMIT_32 for n in array.shape)


def check_index_width(arrays: Mapping[str, ArrayDescription], index_bits: int, found: Findings) -> None:
    """Record arrays that do not fit a kernel compiled for 32-bit indices."""
    for name, array in arrays.items():
        if index_bits == 32 and not fits_32_bits(array):
            message = f"{name}: shape {array.shape} with strides {array.strides} needs 64-bit indices"
            found.value_error("PH709", message, "compile with index_bits=64")


def suits(variant: Variant, arrays: Arrays) -> bool:
    """Whether code compiled for `variant` is right for these arrays; `thin` needs their names."""
    named = _named(arrays)
    best = choose_variant(arrays, variant.index_bits)
    columns = {name for name, array in named if array.shape[-1:] <= (1,)}
    return (
        best.unit_stride >= variant.unit_stride
        and best.aligned >= variant.aligned
        and best.index_bits <= variant.index_bits
        and best.bounded >= variant.bounded
        and (not variant.aligned or set(best.thin) <= set(variant.thin))
        and set(variant.thin) <= columns
    )
