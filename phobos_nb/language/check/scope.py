"""What a name stands for, and the nested scopes that hold names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from phobos_nb.dtypes import DType
from phobos_nb.language.tree import Expression
from phobos_nb.language.typed import Expr, Region, SharedArray, Tensor, Variable


@dataclass(frozen=True)
class Alias:
    """A name for an expression that may be repeated: a constant, an extent, a scalar parameter.

    `what` says in messages what the name is.
    """

    expr: Expr
    what: str


@dataclass(frozen=True)
class View:
    """A `let` of a slice: memory is read at each use."""

    region: Region
    pad: Expr | None


@dataclass(frozen=True)
class WholeView:
    """A `let` of a slice with `:` on a run-time extent: its text, with positions evaluated."""

    node: Expression


@dataclass(frozen=True)
class Broken:
    """A name whose declaration was faulty; its uses are not reported again."""


Binding = Variable | Alias | View | WholeView | Tensor | SharedArray | DType | Broken


@dataclass
class Scope:
    """Names of one block; lookups go on in the parent."""

    parent: Scope | None = None
    names: dict[str, Binding] = field(default_factory=dict[str, Binding])

    def find(self, name: str) -> Binding | None:
        """The innermost binding of a name."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def visible(self) -> Iterator[str]:
        """All names that can be seen from here."""
        yield from self.names
        if self.parent is not None:
            yield from self.parent.visible()
