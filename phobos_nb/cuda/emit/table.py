"""The table of rows: which function prints which operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.ir import Operation

if TYPE_CHECKING:
    from phobos_nb.cuda.emit.emitter import Emitter

Row = Callable[["Emitter", Operation], None]

ROWS: dict[str, Row] = {}
"""Operation name -> the function that prints it. Filled by the modules of this package."""


def row(*names: str) -> Callable[[Row], Row]:
    """Register a function as the row of these operations."""

    def register(function: Row) -> Row:
        for name in names:
            if name in ROWS:
                raise ValueError(f"{name} has two rows")
            ROWS[name] = function
        return function

    return register
