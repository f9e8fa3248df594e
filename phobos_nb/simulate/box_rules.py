"""Which boxes of a tensor bulk copies can move: what an H200 does, found by trying.

The PTX ISA and the driver API do not say it. 152 single boxes, all element types, 1 to 5 axes and all
swizzles (`tests/async_probes.py`; `results/h200_async.json`, "probes"):

* An innermost coordinate that is no multiple of 16 bytes ends the launch with an illegal instruction,
  with a swizzle or without, loading or storing, however wide the rows are.
* So does a store at a negative coordinate, of any axis. Loads may begin before the tensor.
* Boxes may lie far outside the tensor: loads bring zeros, stores write nothing.
* A store is cut off at the end of the tensor's rows only to a multiple of 16 bytes: elements of the box
  behind the end are written up to there. Loads are cut off to the element.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from phobos_nb.simulate.records import FaultKind
from phobos_nb.simulate.tensor_boxes import TensorMapValue

PIECE = 16
"""Bytes that first coordinates, and the ends of rows for stores, are multiples of."""


class Problem(NamedTuple):
    """Why a box cannot be moved: what kind of fault it is, and how it is told."""

    kind: FaultKind
    text: str


def box_problem(map_: TensorMapValue, corner: tuple[int, ...], *, stores: bool) -> Problem | None:
    """What is wrong with a box at a corner of its tensor, which is given outermost first."""
    start = corner[-1] * map_.dtype.itemsize
    if start % PIECE:
        text = f"needs a first coordinate at a multiple of {PIECE} bytes, found byte {start}"
        return Problem("misaligned", text)
    if stores and min(corner) < 0:
        text = f"stores a box that begins at {list(corner)}, before the tensor"
        return Problem("out_of_bounds", text)
    return _spilled(map_, corner) if stores else None


def _spilled(map_: TensorMapValue, corner: tuple[int, ...]) -> Problem | None:
    """What a store writes behind the ends of rows."""
    size, extent = map_.dtype.itemsize, map_.tensor.shape[-1]
    end = math.ceil(extent * size / PIECE) * PIECE // size
    last = min(end, corner[-1] + map_.box[-1])
    exists = all(c < n for c, n in zip(corner, map_.tensor.shape, strict=True))
    if last <= extent or not exists:
        return None
    text = (
        f"writes {(last - extent) * size} bytes behind the ends of rows of {extent * size} bytes: "
        f"a store is cut off at a multiple of {PIECE}"
    )
    return Problem("out_of_bounds", text)
