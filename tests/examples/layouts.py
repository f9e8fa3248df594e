"""The same values in memory in other ways: strides of all kinds, odd base addresses."""

from __future__ import annotations

import numpy as np

from tests.examples.case import Arguments, Array

LAYOUTS = ("contiguous", "transposed", "strided", "reversed", "shifted")
"""Ways to hold the same values: other strides, or a base address that is not a multiple of 16."""


def laid_out(array: Array, layout: str) -> Array:
    """A copy of equal values and shape in a layout of `LAYOUTS`."""
    if layout == "contiguous":
        return array.copy()
    if layout == "transposed":
        return array.T.copy().T
    if layout == "reversed":
        return array[..., ::-1].copy()[..., ::-1]
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1] + 1), array.dtype)
    view = wide[..., 1::2] if layout == "strided" else wide[..., 1 : 1 + array.shape[-1]]
    view[...] = array
    return view


def with_layout(arguments: Arguments, layout: str) -> Arguments:
    """The arguments with every array in a layout; scalars stay."""
    return {n: laid_out(v, layout) if isinstance(v, np.ndarray) else v for n, v in arguments.items()}


def copied(arguments: Arguments) -> Arguments:
    """The arguments with every array copied, to be kept before a run writes into them."""
    return {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
