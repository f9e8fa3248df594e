"""The state of checking one kernel: names, emitted statements, uniformity, where to report."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from phobos_nb.diagnostics import Diagnostics, Stop
from phobos_nb.language.check.flow import Flow
from phobos_nb.language.check.scope import Binding, Broken, Scope
from phobos_nb.language.registry import Builtins
from phobos_nb.language.tree import FunctionNode
from phobos_nb.language.typed import Assign, Expr, SharedArray, Statement, Variable, VariableRead
from phobos_nb.language.types import ScalarType, TileType, Uniformity
from phobos_nb.source import Span

MAX_DEPTH = 150
"""Nesting of expressions, blocks and inlined functions together; keeps Python's stack in bounds."""


ExpressionRules = Mapping[type[Any], Callable[["Checker", Any], Expr]]
StatementRules = Mapping[type[Any], Callable[["Checker", Any], None]]


@dataclass
class Checker:
    """Checks one kernel; the functions of this package take it as their first argument.

    The rules say what to do with each kind of syntax node; `check/rules.py` holds them.

    written: tensors that some statement of the kernel may write, so that loads of them are per lane.
    definitions: what immutable variables were set to. unknown: names of functions that are not there,
    each reported once.
    """

    diagnostics: Diagnostics
    builtins: Builtins
    functions: Mapping[str, FunctionNode]
    expression_rules: ExpressionRules
    statement_rules: StatementRules
    constants: Mapping[str, int]
    written: frozenset[str]
    scope: Scope = field(default_factory=Scope)
    flow: Flow = field(default_factory=Flow)
    block: list[Statement] = field(default_factory=list[Statement])
    shared: list[SharedArray] = field(default_factory=list[SharedArray])
    definitions: dict[Variable, Expr] = field(default_factory=dict[Variable, Expr])
    unknown: set[str] = field(default_factory=set[str])
    inlining: tuple[str, ...] = ()
    depth: int = 0

    def error(self, code: str, message: str, span: Span | None, help: str = "") -> Stop:
        """Record an error; raise the result where the construct cannot go on."""
        return self.diagnostics.error(code, message, span, help=help)

    def line(self, span: Span) -> int:
        """The line of a span as the reader sees it."""
        source = self.diagnostics.source
        return source.position(span.start).line if source else 0

    @contextmanager
    def nested_scope(self, parent: Scope | None = None) -> Generator[Scope]:
        """A block's scope, by default inside the current one."""
        outer = self.scope
        self.scope = Scope(outer if parent is None else parent)
        try:
            yield self.scope
        finally:
            self.scope = outer

    @contextmanager
    def collect(self) -> Generator[list[Statement]]:
        """Statements emitted inside go to the list that is given."""
        outer = self.block
        self.block = []
        try:
            yield self.block
        finally:
            self.block = outer

    @contextmanager
    def deeper(self, span: Span) -> Generator[None]:
        """One level of nesting, or a diagnostic when there are too many."""
        self.depth += 1
        try:
            if self.depth > MAX_DEPTH:
                help = "name parts of it with `let`"
                raise self.error("PH006", "this is nested too deeply", span, help)
            yield
        finally:
            self.depth -= 1

    def emit(self, statement: Statement) -> None:
        """Append a statement to the block being built."""
        self.block.append(statement)

    def declare(self, name: str, binding: Binding, span: Span) -> None:
        """Bind a name in the innermost scope, reporting one that is there already."""
        present = self.scope.names.get(name)
        if present is not None and not isinstance(present, Broken):
            help = "to change it, assign without `let` or `var`; else choose another name"
            self.error("PH102", f"`{name}` is declared twice in this block", span, help)
        self.scope.names[name] = binding

    def variable(self, name: str, value: Expr, mutable: bool, span: Span) -> Variable:
        """A new variable set to `value` by an emitted declaration; its name is not bound."""
        assert isinstance(value.type, ScalarType | TileType)
        variable = Variable(name, value.type, mutable, span)
        self.emit(Assign(variable=variable, value=value, declares=True, span=span))
        self.flow.assign(variable, value.uniformity)
        if not mutable:
            self.definitions[variable] = value
        return variable

    def read(self, variable: Variable, span: Span) -> Expr:
        """The present value of a variable."""
        uniformity = self.flow.uniformity_of(variable)
        return VariableRead(type=variable.type, span=span, uniformity=uniformity, variable=variable)

    def hidden(self, value: Expr, name: str) -> Expr:
        """The value evaluated now and kept in a hidden variable, to be read later."""
        return self.read(self.variable(name, value, mutable=False, span=value.span), value.span)

    def mark(self) -> tuple[int, int]:
        """A point to which `rewind` can return after a trial."""
        return len(self.diagnostics.items), len(self.shared)

    def rewind(self, mark: tuple[int, int]) -> None:
        """Forget the findings and shared arrays since a mark."""
        del self.diagnostics.items[mark[0] :]
        del self.shared[mark[1] :]
        self.flow.reported = False

    def require_together(self, level: Uniformity, what: str, span: Span) -> None:
        """Report `what` where threads that must take part together may have parted."""
        if self.flow.level <= level or self.flow.reported:
            return
        self.flow.reported = True
        cta = level is Uniformity.CTA
        who = "threads of the CTA" if cta else "lanes of a warp"
        cause = self.flow.cause
        where = f": the condition in line {self.line(cause)} differs between them" if cause else ""
        self.error(
            "PH301" if cta else "PH302",
            f"{what} needs all {who}, but here they may have parted{where}",
            span,
            "move it out of the branch or loop, or make the condition the same for all of them",
        )
