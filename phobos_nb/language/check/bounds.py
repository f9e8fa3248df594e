"""Indices outside shared arrays (PH209) and outside tensors (PH214), as far as constants say so.

Outside a shared array an access touches another array or nothing at all, so that an index that is
outside whenever its line runs is an error, under a run-time condition too: who gets there goes wrong.
What the constants of this configuration leave out is not looked at, so that a kernel may guard by it: a
branch, a loop, the right side of `&&` or `||`, what stands behind a `return`. A program whose run-time
conditions alone keep every thread away is refused all the same; a condition on a constant says it.
Tensors are masked: what is outside of one, by the same rules, is a warning.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from phobos_nb.counts import counted
from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.check.known import Values, position, sum_of, value_of
from phobos_nb.language.check.masked import Accesses, accesses, axis_name, mend
from phobos_nb.language.typed import (
    Assign,
    Break,
    Continue,
    ElementRead,
    Expr,
    For,
    If,
    Logical,
    Return,
    SharedArray,
    Statement,
    StoreElement,
    Variable,
    While,
)
from phobos_nb.language.types import ScalarType
from phobos_nb.language.walk import children, statements
from phobos_nb.source import Span


def check_bounds(body: tuple[Statement, ...], diagnostics: Diagnostics) -> None:
    """Report each index that is sure to be outside a shared array or a tensor at its place, once."""
    _Walk(diagnostics, Accesses(diagnostics)).block(body)


@dataclass
class _Walk:
    """Goes through a body in the order in which it runs. values: what variables are sure to hold."""

    diagnostics: Diagnostics
    masked: Accesses
    values: Values = field(default_factory=Values)
    reported: set[tuple[str, Span]] = field(default_factory=set[tuple[str, Span]])

    def block(self, body: tuple[Statement, ...]) -> bool:
        """Walk statements; whether a thread may come to their end."""
        return all(self._statement(statement) for statement in body)

    def _statement(self, statement: Statement) -> bool:
        match statement:
            case Return() | Break() | Continue():
                return False
            case If():
                return self._branch(statement)
            case For() | While():
                return self._loop(statement)
            case _:
                self._plain(statement)
                return True

    def _plain(self, statement: Statement) -> None:
        self._access(statement)
        for child in children(statement):
            self._expression(child)
        if isinstance(statement, Assign):
            self._set(statement.variable, statement.value)

    def _set(self, variable: Variable, value: Expr) -> None:
        known = value_of(value, self.values)
        held = sum_of(value, self.values) if known is None else known
        self.values.pop(variable, None)
        if held is not None:
            self.values[variable] = held

    def _branch(self, statement: If) -> bool:
        """What both branches leave known; one that is not taken, or not left, leaves nothing to say."""
        self._expression(statement.condition)
        known = value_of(statement.condition, self.values)
        before, after = dict(self.values), list[Values]()
        for body, runs_if in ((statement.then, True), (statement.otherwise, False)):
            self.values = dict(before)
            if known in (None, runs_if) and self.block(body):
                after.append(self.values)
        self.values = after[0] if after else before
        for other in after[1:]:
            self.values = {v: k for v, k in self.values.items() if other.get(v) == k}
        return bool(after)

    def _loop(self, loop: For | While) -> bool:
        """Nothing is known of what the body sets; one that never runs is not looked at."""
        runs = self._runs(loop)
        self._place(loop)
        sets = {s.variable for s in statements(loop.body) if isinstance(s, Assign)}
        self._forget(sets)
        if isinstance(loop, While):
            self._expression(loop.condition)
        if runs:
            self.block(loop.body)
        self._forget(sets)
        return True

    def _runs(self, loop: For | While) -> bool:
        """Whether the body may run."""
        if isinstance(loop, While):
            return value_of(loop.condition, self.values) is not False
        bounds = (loop.start, loop.stop, loop.step)
        for bound in bounds:
            self._expression(bound)
        start, stop, step = (value_of(bound, self.values) for bound in bounds)
        if start is None or stop is None or step is None:
            return True
        return start < stop if step > 0 else start > stop

    def _place(self, loop: For | While) -> None:
        """The variable of a counted loop is its start and some steps, if those are known."""
        if isinstance(loop, While):
            return
        start, step = sum_of(loop.start, self.values), value_of(loop.step, self.values)
        if start is not None and step is not None:
            self.values[loop.variable] = start.plus(position(loop), int(step))

    def _forget(self, variables: set[Variable]) -> None:
        self.values = {v: known for v, known in self.values.items() if v not in variables}

    def _expression(self, expr: Expr) -> None:
        """Every access below an expression that is not sure to be left out."""
        if isinstance(expr, Logical) and isinstance(expr.type, ScalarType):
            self._expression(expr.left)
            if value_of(expr.left, self.values) is not (expr.op == "||"):
                self._expression(expr.right)
            return
        for child in children(expr):
            self._expression(child)
        self._access(expr)

    def _access(self, node: Statement | Expr) -> None:
        """Each index against the extent of its axis."""
        for access in accesses(node):
            self.masked.check(access, self.values)
        if isinstance(node, StoreElement | ElementRead) and isinstance(node.base, SharedArray):
            self._element(node.base, node.indices)

    def _element(self, base: SharedArray, indices: tuple[Expr, ...]) -> None:
        for axis, (index, extent) in enumerate(zip(indices, base.type.shape, strict=True)):
            found = value_of(index, self.values)
            if found is not None and not 0 <= found < extent:
                self._report(base, axis, int(found), index.span)

    def _report(self, base: SharedArray, axis: int, found: int, span: Span) -> None:
        extent = base.type.shape[axis]
        array = axis_name(base.name, len(base.type.shape), axis)
        message = f"{array} has {counted(extent, 'element')}, 0 to {extent - 1}, found index {found}"
        if (message, span) in self.reported:
            return
        self.reported.add((message, span))
        help = mend(extent - 1, "declare a larger array", past=found >= extent)
        self.diagnostics.error("PH209", message, span, help=help)
