"""Statements for their effect: calls, `print` and `assert`."""

from __future__ import annotations

import re

from phobos_nb.counts import counted
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import converted, dtype_of
from phobos_nb.language.check.expressions import check_condition, check_expression, check_scalar
from phobos_nb.language.check.operators import joined
from phobos_nb.language.stable import is_repeatable
from phobos_nb.language.tree import AssertStatement, CallExpression, CallStatement, Expression, Text
from phobos_nb.language.typed import Assert, Call, Evaluate, Expr, Print
from phobos_nb.language.types import Uniformity, VoidType

_BRACES = re.compile(r"\{\{|\}\}|\{\}|[{}]")


def check_call_statement(checker: Checker, node: CallStatement) -> None:
    """A call; a pure one whose value is dropped does nothing (PH110)."""
    call = node.call
    local = checker.scope.find(call.callee.text) is not None
    if call.callee.text == "print" and "print" not in checker.functions and not local:
        _check_print(checker, call)
        return
    value = check_expression(checker, call)
    if isinstance(value, Call) and not checker.builtins[value.builtin].pure:
        checker.emit(Evaluate(value=value, span=node.span))
    elif call.callee.text not in checker.functions:
        message = f"the value of `{call.callee.text}` is not used"
        raise checker.error("PH110", message, node.span, "assign it to a name")
    elif not isinstance(value.type, VoidType) and not is_repeatable(value):
        checker.hidden(value, f"unused result of {call.callee.text}")


def _check_print(checker: Checker, node: CallExpression) -> None:
    if not node.arguments or not isinstance(node.arguments[0], Text):
        help = 'write `print("x = {}", x)`'
        raise checker.error("PH107", "`print` starts with a text in double quotes", node.span, help)
    text, *rest = node.arguments
    assert isinstance(text, Text)
    values = tuple(_shown(checker, a) for a in rest)
    _check_braces(checker, text, len(values))
    checker.emit(Print(text=text.value, arguments=values, once=_once(checker, values), span=node.span))


def _shown(checker: Checker, node: Expression) -> Expr:
    value = check_scalar(checker, node, "what `print` shows")
    return converted(checker, value, dtype_of(value))


def check_assert(checker: Checker, node: AssertStatement) -> None:
    """`assert condition, "text"`."""
    condition = check_condition(checker, node.condition, "the condition of `assert`")
    _check_braces(checker, node.text, 0)
    checker.emit(
        Assert(
            condition=condition,
            text=node.text.value,
            once=_once(checker, (condition,)),
            span=node.span,
        )
    )


def _once(checker: Checker, values: tuple[Expr, ...]) -> bool:
    return max(checker.flow.level, joined(*values)) is Uniformity.CTA


def _check_braces(checker: Checker, text: Text, count: int) -> None:
    """Report braces that are neither doubled nor `{}`, and a wrong number of `{}` (PH118)."""
    braces = _BRACES.findall(text.value)
    if "{" in braces or "}" in braces:
        help = "`{}` stands for a value, `{{` and `}}` for braces"
        raise checker.error("PH118", "a brace stands alone in this text", text.span, help)
    places = braces.count("{}")
    if places != count:
        follow = f"{counted(count, 'value')} {'follows' if count == 1 else 'follow'}"
        message = f"the text has {places} `{{}}`, but {follow} it"
        raise checker.error("PH118", message, text.span, "write one `{}` for each value")
