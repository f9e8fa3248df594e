"""Source locations of operations: the reader's line and column of the code an op was made for."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation

from phobos_nb.source import Source, Span


class Place(NamedTuple):
    """A line and column of a named source text, both from 1."""

    name: str
    line: int
    column: int


def location(source: Source, span: Span) -> LocationAttr:
    """The location of the start of a span."""
    line, column = source.position(span.start)
    return FileLineColLoc(StringAttr(source.name), IntAttr(line), IntAttr(column))


def place_of(op: Operation) -> Place | None:
    """Where an op comes from, by its own location or that of the nearest op around it."""
    found: Operation | None = op
    while found is not None:
        if isinstance(found.location, FileLineColLoc):
            at = found.location
            return Place(at.filename.data, at.line.data, at.column.data)
        found = found.parent_op()
    return None


def copy_location(source: Operation, target: Operation) -> None:
    """Give `target` the location of `source`, unless it has one of its own."""
    if isinstance(target.location, UnknownLoc):
        target.location = source.location
