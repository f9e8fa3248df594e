"""A faulty cell's error: raised, so that "Run all" stops, and shown without Python's frames."""

from __future__ import annotations

from phobos_nb.colored import message
from phobos_nb.diagnostics import PhobosError


class CellError(PhobosError):
    """What a faulty `%%phobos` cell raises, so that "Run all" stops.

    Places are named by the cell's own line numbers.
    """

    def __init__(self, error: PhobosError) -> None:
        super().__init__(error.diagnostics, error.source)

    def _render_traceback_(self) -> list[str]:
        """The diagnostics alone: the cell is the only frame."""
        return message(self)
