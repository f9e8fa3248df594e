"""Which threads run together, and which values they share, at the statement being checked."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from phobos_nb.language.typed import Variable
from phobos_nb.language.types import Uniformity
from phobos_nb.source import Span

State = dict[Variable, Uniformity]


def join(left: State, right: State) -> State:
    """The least state that both imply; a variable known to one side only keeps its value."""
    out = dict(left)
    for variable, uniformity in right.items():
        out[variable] = max(uniformity, out.get(variable, Uniformity.CTA))
    return out


@dataclass
class Loop:
    """A loop being checked: how far apart its threads are, and the states at its exits."""

    broken: Uniformity = Uniformity.CTA
    exits: list[State] = field(default_factory=list[State])
    continues: list[State] = field(default_factory=list[State])


@dataclass
class Flow:
    """Abstract state: `values` per variable, and how control has divided the threads.

    branch: the conditions and trip counts around the statement. left: `break` and `continue` earlier
    in the innermost loop's body. returned: `return` earlier in the kernel. `cause` is the condition
    that parted the threads. `reported` keeps one statement from repeating an error.
    """

    values: State = field(default_factory=State)
    branch: Uniformity = Uniformity.CTA
    left: Uniformity = Uniformity.CTA
    returned: Uniformity = Uniformity.CTA
    cause: Span | None = None
    loop: Loop | None = None
    reported: bool = False

    @property
    def level(self) -> Uniformity:
        """Who is sure to reach this statement together."""
        return max(self.branch, self.left, self.returned)

    def uniformity_of(self, variable: Variable) -> Uniformity:
        """Who shares the variable's present value."""
        return self.values.get(variable, Uniformity.CTA)

    def assign(self, variable: Variable, uniformity: Uniformity) -> None:
        """Set a variable; under divided control it differs between those who came and who did not."""
        self.values[variable] = max(uniformity, self.level)

    @contextmanager
    def under(self, condition: Uniformity, span: Span) -> Generator[None]:
        """Statements that run only where a condition of this uniformity holds."""
        branch, cause = self.branch, self.cause
        self.branch = max(self.level, condition)
        if condition > branch:
            self.cause = span
        try:
            yield
        finally:
            self.branch = branch
            if self.level <= branch:
                self.cause = cause

    @contextmanager
    def inside(self, loop: Loop) -> Generator[None]:
        """The body of a loop: its `break` and `continue` part no thread after it."""
        outer, left = self.loop, self.left
        self.branch, branch = self.level, self.branch
        self.loop, self.left = loop, Uniformity.CTA
        try:
            yield
        finally:
            self.loop, self.left, self.branch = outer, left, branch

    def leave_loop(self) -> None:
        """A `break`: whoever takes it is gone for all later iterations."""
        assert self.loop is not None
        self.loop.broken = max(self.loop.broken, self.level)
        self.loop.exits.append(dict(self.values))
        self.left = max(self.left, self.level)

    def next_iteration(self) -> None:
        """A `continue`."""
        assert self.loop is not None
        self.loop.continues.append(dict(self.values))
        self.left = max(self.left, self.level)

    def leave_kernel(self) -> None:
        """A `return`."""
        self.returned = max(self.returned, self.level)
