"""Starting a kernel: its parameters packed once, each launch one driver call."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.grid import Grid
from phobos_nb.contract import EntryArgument, LaunchContract
from phobos_nb.cuda.driver import driver_api
from phobos_nb.cuda.loading import LoadedKernel
from phobos_nb.cuda.tensor_maps import BYTES, MapWriter

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


Write = Callable[..., None]
"""Writes the values it is called with into a parameter buffer."""


class Parameters:
    """The entry's arguments in memory, as `cuLaunchKernel` takes them: a table of their addresses.

    Pointers come first and scalars last but for tensor maps (Note [Entry arguments]), so that a call
    rewrites two runs; extents and strides between them belong to the layout and are written once.
    Tensor maps are encoded anew with the addresses.

    write_addresses(*addresses): one per pointer. write_scalars(*values): raises `struct.error` or
    `OverflowError` where one does not fit.
    """

    write_addresses: Write
    write_scalars: Write

    def __init__(self, contract: LaunchContract) -> None:
        arguments = contract.arguments
        formats = [_format(a, contract.variant.index_bits) for a in arguments]
        offsets = _offsets(formats)
        fields = list(zip(arguments, formats, offsets, strict=True))
        self._middle = [f for f in fields if f[0].kind in ("extent", "stride")]
        end = offsets[-1] + struct.calcsize("@" + formats[-1]) if formats else 0
        self._buffer = ctypes.create_string_buffer(max(8, end))
        base = ctypes.addressof(self._buffer)
        self._table = (ctypes.c_void_p * max(1, len(offsets)))(*(base + o for o in offsets))
        self.address = ctypes.addressof(self._table)
        pointers = sum(a.kind == "pointer" for a in arguments)
        self.write_addresses = partial(struct.Struct(f"@{pointers}Q").pack_into, self._buffer, 0)
        self._maps = MapWriter(contract, self._buffer, {a.name: o for a, _, o in fields})
        if contract.maps:
            self.write_addresses = _both(self.write_addresses, self._maps.write)
        self.write_scalars = _scalar_writer(self._buffer, [f for f in fields if f[0].kind == "scalar"])

    def write_layout(self, extents: Mapping[str, int], arrays: Mapping[str, ArrayDescription]) -> None:
        """Write extents and strides, the latter in elements."""
        self._maps.lay_out(arrays)
        for argument, code, offset in self._middle:
            if argument.kind == "extent":
                value = extents[argument.name]
            else:
                array = arrays[argument.name]
                value = array.strides[argument.axis] // array.itemsize
            struct.pack_into("@" + code, self._buffer, offset, value)


def _both(first: Write, second: Write) -> Write:
    def write(*values: Any) -> None:
        first(*values)
        second(*values)

    return write


def _scalar_writer(buffer: Any, fields: Sequence[tuple[EntryArgument, str, int]]) -> Write:
    """One pack of all scalars, in standard mode, which refuses what does not fit but does not pad."""
    layout, end = "=", fields[0][2] if fields else 0
    for _, code, offset in fields:
        layout += f"{offset - end}x{code}"
        end = offset + struct.calcsize("=" + code)
    pack = partial(struct.Struct(layout).pack_into, buffer, fields[0][2] if fields else 0)
    narrow = [a.dtype == "bf16" for a, _, _ in fields]
    if not any(narrow):
        return pack
    return lambda *values: pack(
        *(bfloat16_bits(v) if is_bf16 else v for v, is_bf16 in zip(values, narrow, strict=True))
    )


def _format(argument: EntryArgument, index_bits: int) -> str:
    """The letter of `struct` for an entry argument."""
    if argument.kind == "pointer":
        return "Q"
    if argument.kind == "map":
        return f"{BYTES}s"
    if argument.dtype == "index":
        return "q" if index_bits == 64 else "i"
    return _FORMATS[argument.dtype]


def _offsets(formats: Sequence[str]) -> list[int]:
    """Where native alignment puts each field; a tensor map lies at any multiple of 8."""
    offsets: list[int] = []
    size = 0
    for code in formats:
        width = struct.calcsize("@" + code)
        step = min(width, 8)
        size = -(-size // step) * step
        offsets.append(size)
        size += width
    return offsets


Start = Callable[[int], None]
"""Starts one launch on the stream with that handle."""


def starter(kernel: LoadedKernel, contract: LaunchContract, grid: Grid, parameters: Parameters) -> Start:
    """A function that launches with the parameters as they stand at the time, and keeps them alive.

    CuPy's binding takes 0.2 us of host time beside the driver's own; ctypes and cuda-python take more.
    """
    launch = driver_api().launchKernel
    function, threads = kernel.function, contract.threads
    x, y, z = grid
    shared = contract.shared_bytes if contract.dynamic_shared else 0
    table = parameters.address

    def start(stream: int) -> None:
        launch(function, x, y, z, threads, 1, 1, shared, stream, table, 0)

    start.__dict__.update(parameters=parameters, kernel=kernel)
    return start
