"""The few facts about a kernel that its cubin's ELF sections hold.

Layout: ELF-64 (System V gABI); `.nv.info` records are (format, attribute, size, value) as nvdisasm
prints them: EIATTR_REGCOUNT 0x2f and EIATTR_FRAME_SIZE 0x11, each a symbol number and a value.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

REGISTER_COUNT = 0x2F
FRAME_SIZE = 0x11
SIZED = 4
"""The record format whose value is `size` bytes long; others hold two bytes or none."""


class Section(NamedTuple):
    """A section: name, where its bytes are, how many (also for those that take no room in the file)."""

    name: str
    kind: int
    offset: int
    size: int
    link: int


class Attribute(NamedTuple):
    """A record of `.nv.info` about a symbol."""

    number: int
    symbol: str
    value: int


def sections(cubin: bytes) -> list[Section]:
    """The sections of a cubin; ValueError when it is no ELF-64 file or is cut short."""
    if len(cubin) < 64 or cubin[:5] != b"\x7fELF\x02":
        raise ValueError("not an ELF-64 file")
    try:
        (table,) = struct.unpack_from("<Q", cubin, 40)
        size, count, names_at = struct.unpack_from("<HHH", cubin, 58)
        raw = [struct.unpack_from("<IIQQQQI", cubin, table + k * size) for k in range(count)]
    except (struct.error, OverflowError) as error:
        raise ValueError("a cubin that is cut short") from error
    names = raw[names_at][4]
    return [Section(_string(cubin, names + r[0]), r[1], r[4], r[5], r[6]) for r in raw]


def _string(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode()


def attributes(cubin: bytes) -> Iterator[Attribute]:
    """The sized records of `.nv.info` that name a symbol."""
    found = {s.name: s for s in sections(cubin)}
    if ".nv.info" not in found:
        return
    names = _symbols(cubin, found[".symtab"], found[".strtab"])
    info = found[".nv.info"]
    at, end = info.offset, info.offset + info.size
    while at + 4 <= end:
        kind, number, size = struct.unpack_from("<BBH", cubin, at)
        if kind == SIZED and size == 8:
            symbol, value = struct.unpack_from("<II", cubin, at + 4)
            yield Attribute(number, names.get(symbol, ""), value)
        at += 4 + (size if kind == SIZED else 0)


def _symbols(cubin: bytes, table: Section, strings: Section) -> dict[int, str]:
    entries = range(table.size // 24)
    starts = [struct.unpack_from("<I", cubin, table.offset + 24 * k)[0] for k in entries]
    return {k: _string(cubin, strings.offset + start) for k, start in enumerate(starts)}


def attribute(cubin: bytes, number: int, symbol: str) -> int | None:
    """One record's value for a symbol."""
    return next((a.value for a in attributes(cubin) if (a.number, a.symbol) == (number, symbol)), None)
