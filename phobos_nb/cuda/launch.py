"""Starting a kernel: its parameters packed once, each launch one driver call."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.grid import Grid
from phobos_nb.arguments.scalars import Scalar
from phobos_nb.contract import EntryArgument, LaunchContract
from phobos_nb.cuda.driver import LoadedKernel, driver_api

_FORMATS = {
    "f16": "e",
    "bf16": "H",
    "f32": "f",
    "f64": "d",
    "i8": "b",
    "u8": "B",
    "i32": "i",
    "i64": "q",
    "bool": "?",
}


def bfloat16_bits(value: float) -> int:
    """The bits of a float rounded to the nearest bf16, ties to even; NaN stays NaN."""
    if value != value:
        return 0x7FC0
    bits = struct.unpack("=I", struct.pack("=f", value))[0]
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


class Parameters:
    """The entry's arguments in memory, as `cuLaunchKernel` takes them: a table of their addresses.

    Pointers come first and scalars last (Note [Entry arguments]), so that a call rewrites two runs;
    extents and strides between them belong to the layout and are written once.
    """

    def __init__(self, contract: LaunchContract) -> None:
        self._arguments = contract.arguments
        formats = [self._format(a, contract.variant.index_bits) for a in contract.arguments]
        offsets = _offsets(formats)
        pointers = sum(a.kind == "pointer" for a in contract.arguments)
        scalars = sum(a.kind == "scalar" for a in contract.arguments)
        head, tail = formats[:pointers], formats[len(formats) - scalars :]
        self._middle = formats[pointers : len(formats) - scalars]
        self._middle_offsets = offsets[pointers : len(formats) - scalars]
        self.bfloat16 = tuple(i for i, a in enumerate(contract.arguments[len(formats) - scalars :])
                              if a.dtype == "bf16")  # fmt: skip
        self._buffer = ctypes.create_string_buffer(
            max(8, struct.calcsize("@" + "".join(formats) + "0q"))
        )
        base = ctypes.addressof(self._buffer)
        self._table = (ctypes.c_void_p * max(1, len(offsets)))(*(base + o for o in offsets))
        self.address = ctypes.addressof(self._table)
        self._pack_pointers = struct.Struct("@" + "".join(head)).pack_into
        self._pack_scalars = [
            (struct.Struct("=" + f).pack_into, o)  # standard mode refuses what does not fit
            for f, o in zip(tail, offsets[len(formats) - scalars :], strict=True)
        ]

    @staticmethod
    def _format(argument: EntryArgument, index_bits: int) -> str:
        if argument.kind == "pointer":
            return "Q"
        if argument.dtype == "index":
            return "q" if index_bits == 64 else "i"
        return _FORMATS[argument.dtype]

    def write_layout(self, extents: Mapping[str, int], arrays: Mapping[str, ArrayDescription]) -> None:
        """Write extents and strides, the latter in elements."""
        middle = [a for a in self._arguments if a.kind in ("extent", "stride")]
        for argument, code, offset in zip(middle, self._middle, self._middle_offsets, strict=True):
            if argument.kind == "extent":
                value = extents[argument.name]
            else:
                array = arrays[argument.name]
                value = array.strides[argument.axis] // array.itemsize
            struct.pack_into("@" + code, self._buffer, offset, value)

    def write_addresses(self, addresses: Sequence[int]) -> None:
        """Write the tensors' addresses."""
        self._pack_pointers(self._buffer, 0, *addresses)

    def write_scalars(self, scalars: Sequence[Scalar]) -> None:
        """Write the scalars; `struct.error` or `OverflowError` where one does not fit."""
        if self.bfloat16:
            scalars = [bfloat16_bits(s) if i in self.bfloat16 else s for i, s in enumerate(scalars)]
        buffer = self._buffer
        for (pack, offset), value in zip(self._pack_scalars, scalars, strict=True):
            pack(buffer, offset, value)


def _offsets(formats: Sequence[str]) -> list[int]:
    """Where native alignment puts each field."""
    offsets: list[int] = []
    size = 0
    for code in formats:
        width = struct.calcsize("@" + code)
        size = -(-size // width) * width
        offsets.append(size)
        size += width
    return offsets


Start = Callable[[int], None]
"""Starts one launch on the stream with that handle."""


def starter(kernel: LoadedKernel, contract: LaunchContract, grid: Grid, parameters: int) -> Start:
    """A function that launches with the parameters as they stand at the time."""
    launch = driver_api().launchKernel
    function, threads = kernel.function, contract.threads
    x, y, z = grid
    shared = contract.shared_bytes if contract.dynamic_shared else 0

    def start(stream: int) -> None:
        launch(function, x, y, z, threads, 1, 1, shared, stream, parameters, 0)

    return start
