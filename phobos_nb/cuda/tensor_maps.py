"""Tensor maps encoded by the driver: 128 bytes that a kernel takes by value."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.tensor_maps import Encoding, encoding
from phobos_nb.contract import LaunchContract, TensorMap
from phobos_nb.cuda.driver import library
from phobos_nb.diagnostics import Diagnostic, PhobosError

BYTES, ALIGNMENT = 128, 64
"""Size of a CUtensorMap and what its address is a multiple of: cuda.h."""


def encode(found: Encoding, address: int) -> bytes:
    """The bytes of a tensor map of memory at an address; PhobosError PH606 where the driver refuses."""
    room = ctypes.create_string_buffer(BYTES + ALIGNMENT)
    start = -ctypes.addressof(room) % ALIGNMENT
    place = ctypes.c_void_p(ctypes.addressof(room) + start)
    axes = len(found.extents)
    ones = (ctypes.c_uint32 * axes)(*[1] * axes)
    status = library().cuTensorMapEncodeTiled(
        place,
        ctypes.c_int(found.data_type),
        ctypes.c_uint32(axes),
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * axes)(*found.extents),
        (ctypes.c_uint64 * max(1, axes - 1))(*found.strides),
        (ctypes.c_uint32 * axes)(*found.box),
        ones,
        ctypes.c_int(0),  # CU_TENSOR_MAP_INTERLEAVE_NONE
        ctypes.c_int(found.swizzle),
        ctypes.c_int(found.promotion),
        ctypes.c_int(0),  # CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE: zeros
    )
    if status:
        text = f"the driver refused a tensor map (status {status}): {found}"
        raise PhobosError([Diagnostic("PH606", text, stage="driver")])
    return room.raw[start : start + BYTES]


class MapWriter:
    """Writes the tensor maps of a launch into its parameters whenever addresses change."""

    def __init__(self, contract: LaunchContract, buffer: Any, offsets: Mapping[str, int]) -> None:
        self._tensors = [a.name for a in contract.arguments if a.kind == "pointer"]
        self._dtypes = {t.name: t.dtype for t in contract.tensors}
        self._maps: list[tuple[TensorMap, int]] = [(x, offsets[x.name]) for x in contract.maps]
        self._buffer = buffer
        self._arrays: Mapping[str, ArrayDescription] = {}

    def lay_out(self, arrays: Mapping[str, ArrayDescription]) -> None:
        """Note extents and strides."""
        self._arrays = arrays

    def write(self, *addresses: int) -> None:
        """Encode every map, for tensors at these addresses in the order of the pointers."""
        places = dict(zip(self._tensors, addresses, strict=True))
        for map_, offset in self._maps:
            array = self._arrays[map_.tensor]
            strides = [s // array.itemsize for s in array.strides]
            address = places[map_.tensor]
            found = encoding(map_, self._dtypes[map_.tensor], array.shape, strides, address)
            ctypes.memmove(ctypes.addressof(self._buffer) + offset, encode(found, address), BYTES)
