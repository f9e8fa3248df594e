"""Constant indices outside shared arrays (PH209).

Such an access touches another array or nothing at all, so that an index that is outside whenever its
line runs is an error, under a run-time condition too: whoever gets there goes wrong. What the constants
of this configuration leave out is not looked at, so that a kernel may guard by them: a branch, a loop,
the right side of `&&` or `||`, what stands behind a `return`. A program whose run-time conditions alone
keep every thread away is refused all the same; a condition on a constant says it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from phobos_nb.counts import counted
from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.check.known import Values, value_of
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
    Tensor,
    Variable,
    While,
)
from phobos_nb.language.types import ScalarType
from phobos_nb.language.walk import children, statements
from phobos_nb.source import Span


def check_bounds(body: tuple[Statement, ...], diagnostics: Diagnostics) -> None:
    """Report each constant index outside a shared array at its place, once."""
    _Walk(diagnostics).block(body)


@dataclass
class _Walk:
    """Goes through a body in the order in which it runs. values: what variables are sure to hold."""

    diagnostics: Diagnostics
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
        for child in children(statement):
            self._expression(child)
        if isinstance(statement, StoreElement):
            self._access(statement.base, statement.indices)
        if isinstance(statement, Assign):
            known = value_of(statement.value, self.values)
            self.values.pop(statement.variable, None)
            if known is not None:
                self.values[statement.variable] = known

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
        if isinstance(expr, ElementRead):
            self._access(expr.base, expr.indices)

    def _access(self, base: Tensor | SharedArray, indices: tuple[Expr, ...]) -> None:
        """Each index against the array's own extent; what lies outside a tensor is masked."""
        if isinstance(base, Tensor):
            return
        for axis, (index, extent) in enumerate(zip(indices, base.type.shape, strict=True)):
            found = value_of(index, self.values)
            if found is not None and not 0 <= found < extent:
                self._report(base, axis, int(found), index.span)

    def _report(self, base: SharedArray, axis: int, found: int, span: Span) -> None:
        extent = base.type.shape[axis]
        array = f"`{base.name}`" if len(base.type.shape) == 1 else f"axis {axis} of `{base.name}`"
        message = f"{array} has {counted(extent, 'element')}, 0 to {extent - 1}, found index {found}"
        if (message, span) in self.reported:
            return
        self.reported.add((message, span))
        past = f"the last index is {extent - 1}: correct it, or declare a larger array"
        help = past if found >= extent else f"no index counts from the end: the last is {extent - 1}"
        self.diagnostics.error("PH209", message, span, help=help)
