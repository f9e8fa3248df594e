"""Which function checks which kind of syntax node."""

from __future__ import annotations

from phobos_nb.language import tree
from phobos_nb.language.check import (
    calls,
    control,
    declare,
    effects,
    expressions,
    names,
    subscripts,
    update,
)
from phobos_nb.language.check.checker import ExpressionRules, StatementRules

EXPRESSIONS: ExpressionRules = {
    tree.Integer: expressions.check_integer,
    tree.Float: expressions.check_float,
    tree.Boolean: expressions.check_boolean,
    tree.Text: expressions.check_text,
    tree.Prefix: expressions.check_prefix,
    tree.Infix: expressions.check_infix,
    tree.Name: names.check_name,
    tree.Field: names.check_field,
    tree.Subscripted: subscripts.check_subscripted,
    tree.CallExpression: calls.check_call,
}

STATEMENTS: StatementRules = {
    tree.Declare: declare.check_declare,
    tree.Update: update.check_update,
    tree.CallStatement: effects.check_call_statement,
    tree.AssertStatement: effects.check_assert,
    tree.ForStatement: control.check_for,
    tree.WhileStatement: control.check_while,
    tree.IfStatement: control.check_if,
    tree.BreakStatement: control.check_break,
    tree.ContinueStatement: control.check_continue,
    tree.ReturnStatement: control.check_return,
}
