"""One small change of a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from phobos_nb.language.tree import Node, Program
from phobos_nb.language.unparse import unparse_node
from phobos_nb.source import Span

Role = Literal["index", "bound", "operand", "operation", "order", "type", "padding"]
"""What a change is about: positions, how far a loop or guard goes, which value is taken, what is done
with it, when, in which type, and what stands outside a tensor."""


@dataclass(frozen=True)
class Slip:
    """A change of one place. `old` became `new`, None where something is left out or put in.

    cost: how far-fetched the change is, from 1. span: the place in the text. target: of what is written.
    """

    role: Role
    cost: int
    span: Span
    old: Node | None
    new: Node | None
    program: Program | None = None
    target: bool = False

    @property
    def was(self) -> str:
        """The text that was changed, in one line."""
        return _text(self.old)

    @property
    def should(self) -> str:
        """The text as changed, in one line."""
        return _text(self.new)

    @property
    def words(self) -> str:
        """The change as a person says it: `B[j]` in place of `B[i]`."""
        if self.new is None:
            return f"without `{self.was}`"
        if self.old is None:
            return f"with `{self.should}` too"
        return f"with `{self.should}` in place of `{self.was}`"


def _text(node: Node | None) -> str:
    return "" if node is None else " ".join(unparse_node(node).split())
