"""Expressions and subscripts, by precedence climbing."""

from __future__ import annotations

from phobos_nb.language.hints import continued
from phobos_nb.language.lexer import TokenKind
from phobos_nb.language.parser.cursor import MAX_EXPRESSION_DEPTH, Cursor
from phobos_nb.language.tree import (
    Along,
    At,
    Between,
    Boolean,
    CallExpression,
    Expression,
    Field,
    Float,
    Infix,
    Integer,
    Name,
    Prefix,
    Subscript,
    Subscripted,
    Text,
)

LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", "<=", ">", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
"""The binary operators, loosest first; all associate to the left."""

PRECEDENCE = {op: level for level, ops in enumerate(LEVELS) for op in ops}
ADDITIVE = PRECEDENCE["+"]
PREFIX = len(LEVELS)
_PREFIX_OPERATORS = ("-", "!", "~")


def parse_expression(cursor: Cursor, loosest: int = 0) -> Expression:
    """An expression whose operators bind at least as tightly as level `loosest`."""
    with cursor.deeper():
        expression = _parse_infix(cursor, loosest)
    if cursor.depth == 0:
        _check_height(cursor, expression)
    return expression


def _parse_infix(cursor: Cursor, loosest: int) -> Expression:
    left = _parse_prefix(cursor)
    while (level := _level(cursor)) is not None and level >= loosest:
        op = cursor.take()
        with cursor.deeper():
            right = _parse_infix(cursor, level + 1)
        left = Infix(op.text, left, right, span=left.span.to(right.span))
    return left


def _check_height(cursor: Cursor, expression: Expression) -> None:
    """Report a tree deeper than walks over it may recurse, such as a sum of a thousand terms."""
    pending: list[tuple[Expression, int]] = [(expression, 1)]
    while pending:
        node, height = pending.pop()
        if height > MAX_EXPRESSION_DEPTH:
            raise cursor.too_deep(f"an expression may nest {MAX_EXPRESSION_DEPTH} levels", node.span)
        pending += [(child, height + 1) for child in _children(node)]


def _children(node: Expression) -> list[Expression]:
    match node:
        case Prefix(operand=operand):
            return [operand]
        case Infix(left=left, right=right):
            return [left, right]
        case Field(base=base):
            return [base]
        case CallExpression(arguments=arguments):
            return list(arguments)
        case Subscripted(subscripts=subscripts):
            return [part for s in subscripts for part in _subscript_parts(s)]
        case _:
            return []


def _subscript_parts(node: Subscript) -> list[Expression]:
    match node:
        case At(index=index):
            return [index]
        case Between(start=start, stop=stop):
            return [part for part in (start, stop) if part is not None]
        case Along(start=start, length=length, until=until):
            return [part for part in (start, length, until) if part is not None]


def _level(cursor: Cursor) -> int | None:
    if not cursor.at_kind(TokenKind.OPERATOR):
        return None
    return PRECEDENCE.get(cursor.current.text)


def _parse_prefix(cursor: Cursor) -> Expression:
    if not (cursor.at_kind(TokenKind.OPERATOR) and cursor.at(*_PREFIX_OPERATORS)):
        return _parse_postfix(cursor)
    op = cursor.take()
    with cursor.deeper():
        operand = _parse_prefix(cursor)
    return Prefix(op.text, operand, span=op.span.to(operand.span))


def _parse_postfix(cursor: Cursor) -> Expression:
    operand = _parse_primary(cursor)
    while cursor.at_kind(TokenKind.OPERATOR) and cursor.at("[", "(", "."):
        if cursor.accept("."):
            name = cursor.expect_name("a name after `.`")
            operand = Field(operand, name.text, span=operand.span.to(name.span))
        elif cursor.at("("):
            operand = _parse_call(cursor, operand)
        else:
            operand = _parse_subscripted(cursor, operand)
    return operand


def _parse_call(cursor: Cursor, callee: Expression) -> Expression:
    if not isinstance(callee, Name):
        raise cursor.unexpected("an operator", "only a name can be called")
    cursor.take()
    arguments = cursor.listed(lambda: parse_expression(cursor), ")", "in the arguments")
    return CallExpression(callee, arguments, span=callee.span.to(cursor.previous))


def _parse_subscripted(cursor: Cursor, base: Expression) -> Expression:
    if not isinstance(base, Name):
        help = "write all subscripts in one pair of brackets: `A[i, j]`"
        if not isinstance(base, Subscripted):
            help = "only a name can be subscripted: bind it with `let` first"
        raise cursor.unexpected("an operator", help)
    return parse_subscripts(cursor, base)


def parse_subscripts(cursor: Cursor, base: Name) -> Subscripted:
    """`[...]` after a name."""
    opening = cursor.take()
    subscripts = cursor.listed(lambda: _parse_subscript(cursor), "]", "in the subscripts")
    if not subscripts:
        cursor.diagnostics.error(
            "PH004", "expected a subscript between `[` and `]`", opening.span, stage="parse"
        )
    return Subscripted(base, subscripts, span=base.span.to(cursor.previous))


def _parse_subscript(cursor: Cursor) -> Subscript:
    if cursor.at(":"):
        cursor.take()
        return _parse_between(cursor, None)
    index = parse_expression(cursor)
    if cursor.accept(":+"):
        return _parse_along(cursor, index)
    if cursor.accept(":"):
        return _parse_between(cursor, index)
    return At(index, span=index.span)


def _parse_between(cursor: Cursor, start: Expression | None) -> Between:
    begin = cursor.previous if start is None else start.span
    stop = None if cursor.at(",", "]") else parse_expression(cursor)
    return Between(start, stop, span=begin.to(cursor.previous))


def _parse_along(cursor: Cursor, start: Expression) -> Along:
    length = parse_expression(cursor)
    until = parse_expression(cursor) if cursor.accept("until") else None
    return Along(start, length, until, span=start.span.to(cursor.previous))


def _parse_primary(cursor: Cursor) -> Expression:
    token = cursor.current
    if token.kind is TokenKind.NAME:
        cursor.take()
        return Name(token.text, span=token.span)
    if token.kind in (TokenKind.INTEGER, TokenKind.FLOAT, TokenKind.STRING):
        return parse_literal(cursor)
    if cursor.at("true", "false"):
        cursor.take()
        return Boolean(token.text == "true", span=token.span)
    if cursor.accept("("):
        inner = parse_expression(cursor)
        cursor.expect(")", "to close the parenthesis", cursor.opened(token))
        return inner
    raise cursor.unexpected("an expression", _operator_help(cursor))


def parse_literal(cursor: Cursor) -> Expression:
    """A number or a string."""
    token = cursor.take()
    if isinstance(token.value, int):
        return Integer(token.value, span=token.span)
    if isinstance(token.value, float):
        return Float(token.value, token.text, span=token.span)
    return Text(str(token.value), span=token.span)


def _operator_help(cursor: Cursor) -> str:
    """What was meant by operators that other languages have, `x++`, `x ** 2`, and in front of a line."""
    before = cursor.tokens[max(0, cursor.index - 1)].text
    if before == "\n" and cursor.at(*PRECEDENCE):
        return continued(cursor.current.text)
    if before == cursor.current.text and before in ("+", "-"):
        return f"write `x {before}= 1`"
    return "write `pow(x, y)`" if before == cursor.current.text == "*" else ""
