"""Whether bulk copies can address an array in boxes, and how their tensor map describes it.

Rules and numbers: CUDA driver API, cuTensorMapEncodeTiled, without interleaving. The driver also takes
rows that are narrower than the swizzle. On an H200 they lie as far apart in shared memory as the swizzle
is wide (19 boxes, `results/h200_async.json`), outside an array of the box's extents: refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phobos_nb.contract import TensorMap
from phobos_nb.diagnostics import Diagnostic, PhobosError

DATA_TYPES = {"u8": 0, "i8": 0, "bool": 0, "i32": 3, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
"""CUtensorMapDataType by dtype; one of the same size where the driver has none of that name."""
SIZES = {"u8": 1, "i8": 1, "bool": 1, "i32": 4, "i64": 8, "f16": 2, "f32": 4, "f64": 8, "bf16": 2}
SWIZZLES = (0, 32, 64, 128)
PROMOTIONS = (0, 64, 128, 256)
MOST_AXES, LONGEST_BOX, PIECE = 5, 256, 16
LARGEST_EXTENT, LARGEST_STRIDE = 1 << 32, 1 << 40


@dataclass(frozen=True)
class Encoding:
    """The arguments of cuTensorMapEncodeTiled after the address: axes innermost first, strides in bytes.

    The innermost axis has no stride.
    """

    data_type: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    promotion: int


def encoding(
    map_: TensorMap, dtype: str, shape: Sequence[int], strides: Sequence[int], address: int
) -> Encoding:
    """How to encode a tensor map of an array; strides in elements.

    Raises
    ------
    PhobosError
        PH713, with every rule that the array or the box breaks.
    """
    broken = [
        *_box_problems(map_, dtype, len(shape)),
        *_array_problems(dtype, shape, strides, address),
    ]
    if broken:
        help = "make a contiguous copy whose rows are multiples of 16 bytes"
        text = f"{map_.tensor} cannot be copied in boxes: {'; '.join(broken)}"
        raise PhobosError([Diagnostic("PH713", text, stage="launch", help=help)])
    size = SIZES[dtype]
    return Encoding(
        DATA_TYPES[dtype],
        tuple(reversed(shape)),
        tuple(s * size for s in reversed(strides[:-1])),
        tuple(reversed(map_.box)),
        SWIZZLES.index(map_.swizzle),
        PROMOTIONS.index(map_.promotion),
    )


def _box_problems(map_: TensorMap, dtype: str, axes: int) -> list[str]:
    """What is wrong with a box whatever the array."""
    box, found = map_.box, list[str]()
    if not 1 <= len(box) <= MOST_AXES:
        return [f"a box has 1 to {MOST_AXES} axes, not {len(box)}"]
    if len(box) != axes:
        return [f"a box of {len(box)} axes for an array of {axes}"]
    if map_.swizzle not in SWIZZLES or map_.promotion not in PROMOTIONS:
        return [f"a swizzle of {map_.swizzle} bytes, an L2 promotion of {map_.promotion}"]
    if not all(1 <= n <= LONGEST_BOX for n in box):
        found.append(f"the box {list(box)} is longer than {LONGEST_BOX} along an axis, or empty")
    row = box[-1] * SIZES[dtype]
    if row % PIECE:
        found.append(f"rows of the box have {row} bytes, not a multiple of {PIECE}")
    if map_.swizzle and row > map_.swizzle:
        found.append(f"rows of the box have {row} bytes, more than the swizzle, {map_.swizzle}")
    if row < map_.swizzle:
        apart = f"would lie {map_.swizzle} bytes apart, outside the box's array"
        found.append(f"rows of the box have {row} bytes, narrower than the swizzle: they {apart}")
    return found


def _array_problems(dtype: str, shape: Sequence[int], strides: Sequence[int], address: int) -> list[str]:
    """What is wrong with an array whatever the box."""
    size, found = SIZES[dtype], list[str]()
    if address % PIECE:
        found.append(f"its address is not a multiple of {PIECE} bytes")
    if strides and strides[-1] != 1:
        found.append(f"its innermost stride is {strides[-1]} elements, not 1")
    for axis, stride in enumerate(strides[:-1]):
        if stride * size % PIECE or not 0 < stride * size < LARGEST_STRIDE:
            found.append(
                f"axis {axis} has a stride of {stride * size} bytes, not a positive multiple of {PIECE}"
            )
    if not all(1 <= n <= LARGEST_EXTENT for n in shape):
        found.append(f"its extents {list(shape)} are not from 1 to 2^32")
    return found
