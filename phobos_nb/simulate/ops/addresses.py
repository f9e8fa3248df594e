"""Element offsets from indices and strides."""

from __future__ import annotations

from collections.abc import Sequence

from phobos_nb.simulate.values import Ref, Value


def flat_index(ref: Ref, values: Sequence[Value], indices: Sequence[int]) -> Value:
    """The offset of an indexed element from the memref's first: an int or [lanes]."""
    if len(indices) == 1:
        stride = ref.strides[0]
        index = values[indices[0]]
        return index if isinstance(stride, int) and stride == 1 else index * stride
    flat: Value = 0
    for slot, stride in zip(indices, ref.strides, strict=True):
        index = values[slot]
        if not isinstance(index, int) or index:
            flat = flat + index * stride
    return flat
