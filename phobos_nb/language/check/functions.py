"""Functions are inlined at each call: compile-time parameters inferred, arguments by value."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from phobos_nb.diagnostics import Severity, Stop
from phobos_nb.language.check.argument import check_argument
from phobos_nb.language.check.block import check_statements
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.declare import as_declared
from phobos_nb.language.check.inference import bind_arguments
from phobos_nb.language.check.names import check_name
from phobos_nb.language.check.ordered import in_order
from phobos_nb.language.check.resolve import resolve_local
from phobos_nb.language.check.returns import (
    RESULT,
    RETURNED,
    Structured,
    returns,
    structured,
    surely_returns,
)
from phobos_nb.language.check.scope import Scope
from phobos_nb.language.tree import Block, Boolean, CallExpression, Declare, FunctionNode, Name
from phobos_nb.language.typed import Expr
from phobos_nb.language.types import ScalarType, SharedType, TileType, VoidType
from phobos_nb.source import Span


@dataclass(frozen=True, kw_only=True)
class Nothing(Expr):
    """What a call of a function without a result stands for; it never reaches a typed kernel."""


def inline(checker: Checker, function: FunctionNode, node: CallExpression) -> Expr:
    """The value of a call; the body's statements are emitted before the statement being checked."""
    _expect_callable(checker, function, node)
    arguments = in_order(checker, node.arguments, check_argument)
    outer, checker.inlining = checker.inlining, (*checker.inlining, function.name)
    loop, checker.flow.loop = checker.flow.loop, None
    try:
        with checker.nested_scope(Scope()), checker.deeper(node.span):
            bind_arguments(checker, function, arguments, node)
            with checker.nested_scope(), _called_from(checker, function, node):
                return _body(checker, function, node.span)
    finally:
        checker.inlining, checker.flow.loop = outer, loop


@contextmanager
def _called_from(checker: Checker, function: FunctionNode, node: CallExpression) -> Generator[None]:
    """Errors in a function's body say by which call they came about."""
    items = checker.diagnostics.items
    before = len(items)
    try:
        yield
    except Stop:
        note = f"in the call of `{function.name}` in line {checker.line(node.span)}"
        for place in range(before, len(items)):
            if items[place].severity is Severity.ERROR:
                help = f"{items[place].help}; {note}" if items[place].help else note
                items[place] = replace(items[place], help=help)
        raise


def _expect_callable(checker: Checker, function: FunctionNode, node: CallExpression) -> None:
    if function.name in checker.inlining:
        chain = " -> ".join((*checker.inlining, function.name))
        message = f"`{function.name}` calls itself ({chain})"
        raise checker.error("PH112", message, node.span, "functions are inlined: use a loop")
    if len(node.arguments) != len(function.parameters):
        wanted = ", ".join(p.name for p in function.parameters)
        count = len(node.arguments)
        message = f"`{function.name}` takes {len(function.parameters)} arguments, found {count}"
        raise checker.error("PH107", message, node.span, f"write `{function.name}({wanted})`")


def _body(checker: Checker, function: FunctionNode, span: Span) -> Expr:
    kind = _result_type(checker, function)
    body = structured(function.body)
    check_clean(checker, (*_prologue(function, body), *body.body))
    if kind is None:
        return Nothing(type=VoidType(), span=span)
    if body.value is not None:
        return as_declared(checker, body.value, kind, f"the result of `{function.name}`")
    return check_name(checker, Name(RESULT, span=span))


def check_clean(checker: Checker, block: Block) -> None:
    """Check statements; where any is faulty, the call that they belong to is given up."""
    errors = len(checker.diagnostics.errors)
    check_statements(checker, block)
    if len(checker.diagnostics.errors) > errors:
        raise Stop


def _prologue(function: FunctionNode, body: Structured) -> Block:
    """Declarations of the result and of the flag, where the rewritten body uses them."""
    span = function.name_span
    result = Declare(True, Name(RESULT, span=span), function.result, None, span=span)
    flag = Declare(True, Name(RETURNED, span=span), None, Boolean(False, span=span), span=span)
    return (*((result,) if body.assigns else ()), *((flag,) if body.flagged else ()))


def _result_type(checker: Checker, function: FunctionNode) -> ScalarType | TileType | None:
    """The declared type of the result. Reports a body that does not agree with it (PH113)."""
    found = returns(function.body)
    name = function.name
    if function.result is None:
        for node in found:
            if node.value is not None:
                message = f"`{name}` yields a value, but does not say of which type"
                help = f"write `fn {name}(...) -> f32`"
                raise checker.error("PH113", message, node.value.span, help)
        return None
    for node in found:
        if node.value is None:
            raise checker.error("PH113", f"this `return` of `{name}` has no value", node.span)
    kind = resolve_local(checker, function.result)
    if isinstance(kind, SharedType):
        raise checker.error("PH113", "a function yields a scalar or a tile", function.result.span)
    if not surely_returns(function.body):
        message = f"`{name}` can end without a `return`, but yields {kind}"
        raise checker.error("PH113", message, function.name_span, "end it with `return value`")
    return kind
