"""Statements and blocks, going on after a faulty statement."""

from __future__ import annotations

from collections.abc import Callable

from phobos_nb.diagnostics import Stop
from phobos_nb.language.hints import FOREIGN, continued
from phobos_nb.language.lexer import Token, TokenKind
from phobos_nb.language.parser.cursor import Cursor
from phobos_nb.language.parser.expressions import parse_expression, parse_literal
from phobos_nb.language.parser.types import parse_type
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import (
    AssertStatement,
    Block,
    BreakStatement,
    CallExpression,
    CallStatement,
    ContinueStatement,
    Declare,
    Expression,
    ForStatement,
    IfStatement,
    Name,
    ReturnStatement,
    StatementNode,
    Subscripted,
    Text,
    Update,
    WhileStatement,
)
from phobos_nb.source import Span

ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")


def parse_block(cursor: Cursor, after: str) -> Block:
    """`{ ... }`; `after` says what the block belongs to."""
    if cursor.at_kind(TokenKind.TERMINATOR) and _brace_follows(cursor):
        help = f"the `{{` stands on the same line as the {after} before it"
        cursor.unexpected("`{`", help)
        cursor.skip_terminators()
    help = "`==` compares, `=` assigns" if cursor.at("=") else ""
    if cursor.at("->"):
        help = "a kernel yields nothing: store results to a tensor"
    opening = cursor.expect("{", f"after the {after}", help)
    with cursor.deeper_block():
        statements = _parse_statements(cursor)
    if not cursor.accept("}"):
        line = ""
        if cursor.diagnostics.source is not None:
            line = f" in line {cursor.diagnostics.source.position(opening.span.start).line}"
        raise cursor.unexpected(f"`}}` to close the block opened{line}")
    return statements


def _brace_follows(cursor: Cursor) -> bool:
    count = 0
    while cursor.ahead(count).kind is TokenKind.TERMINATOR:
        count += 1
    return cursor.ahead(count).text == "{"


def _parse_statements(cursor: Cursor) -> Block:
    statements: list[StatementNode] = []
    cursor.skip_terminators()
    while not cursor.at_kind(TokenKind.END) and not cursor.at("}", "kernel", "fn"):
        start = cursor.index
        try:
            statements.append(_parse_statement(cursor))
            _end_statement(cursor)
        except Stop:
            cursor.recover_statement(start)
        cursor.skip_terminators()
    return tuple(statements)


def _end_statement(cursor: Cursor) -> None:
    if cursor.at_kind(TokenKind.TERMINATOR, TokenKind.END) or cursor.at("}"):
        return
    help = "statements are separated by a newline or `;`"
    raise cursor.unexpected("the end of the statement", "write `dot(a, b)`" if cursor.at("@") else help)


def _parse_statement(cursor: Cursor) -> StatementNode:
    if cursor.at_kind(TokenKind.KEYWORD):
        parse = _KEYWORD_STATEMENTS.get(cursor.current.text)
        if parse is not None:
            return parse(cursor, cursor.take())
        if cursor.at("else"):
            raise cursor.unexpected("a statement", "an `else` follows the `}` of its `if`")
    return _parse_update_or_call(cursor)


def _parse_declare(cursor: Cursor, keyword: Token) -> Declare:
    name = cursor.expect_name(f"a name after `{keyword.text}`")
    kind = parse_type(cursor) if cursor.accept(":") else None
    value = parse_expression(cursor) if cursor.accept("=") else None
    span = keyword.span.to(cursor.previous)
    return Declare(keyword.text == "var", Name(name.text, span=name.span), kind, value, span=span)


ASSIGN_IT = "assign it, or call something"


def _parse_update_or_call(cursor: Cursor) -> Update | CallStatement:
    first = cursor.index
    target = parse_expression(cursor)
    if cursor.at_kind(TokenKind.OPERATOR) and cursor.at(*ASSIGNMENTS):
        return _parse_update(cursor, target)
    if isinstance(target, CallExpression):
        return CallStatement(target, span=target.span)
    if not _at_statement_end(cursor):
        help = did_you_mean(target.text, _KEYWORD_STATEMENTS) if isinstance(target, Name) else ""
        raise cursor.unexpected("an assignment or the end of the statement", help)
    raise cursor.diagnostics.error(
        "PH110",
        "this expression does nothing by itself",
        target.span,
        help=_effect_help(cursor, target, first),
        stage="parse",
    )


def _effect_help(cursor: Cursor, target: Expression, first: int) -> str:
    """What was meant by an expression alone: a word of another language, `-` and the rest of a line."""
    if isinstance(target, Name):
        return FOREIGN.get(target.text, ASSIGN_IT)
    before = cursor.tokens[max(0, first - 1)].text
    return continued("-") if before == "\n" and cursor.tokens[first].text == "-" else ASSIGN_IT


def _at_statement_end(cursor: Cursor) -> bool:
    return cursor.at_kind(TokenKind.TERMINATOR, TokenKind.END) or cursor.at("}")


def _parse_update(cursor: Cursor, target: Expression) -> Update:
    if not isinstance(target, Name | Subscripted):
        raise cursor.diagnostics.error(
            "PH103",
            "only a name or a subscripted name can be assigned to",
            target.span,
            stage="parse",
        )
    op = cursor.take().text[:-1]
    value = parse_expression(cursor)
    return Update(target, op, value, span=target.span.to(value.span))


def _parse_assert(cursor: Cursor, keyword: Token) -> AssertStatement:
    condition = parse_expression(cursor)
    cursor.expect(",", "between the condition and the text of the assert")
    if not cursor.at_kind(TokenKind.STRING):
        raise cursor.unexpected("the text of the assert in double quotes")
    text = parse_literal(cursor)
    assert isinstance(text, Text)
    return AssertStatement(condition, text, span=keyword.span.to(text.span))


def _parse_for(cursor: Cursor, keyword: Token) -> ForStatement:
    unroll = _parse_unroll(cursor)
    if cursor.at("("):
        raise cursor.unexpected("the loop variable", "write `for i in range(0, n) { ... }`")
    name = cursor.expect_name("the loop variable")
    cursor.expect("in", "after the loop variable")
    cursor.expect("range", "after `in`", "loops run over `range(start, stop, step)`")
    opening = cursor.expect("(", "after `range`")
    bounds = cursor.listed(lambda: parse_expression(cursor), ")", "in the bounds")
    header = opening.span.to(cursor.previous)
    start, stop, step = _range_bounds(cursor, bounds, header)
    body = parse_block(cursor, "loop's `range(...)`")
    loop_name = Name(name.text, span=name.span)
    return ForStatement(loop_name, start, stop, step, body, unroll, span=keyword.span.to(header))


def _parse_unroll(cursor: Cursor) -> int | None:
    if not cursor.accept("<"):
        return None
    cursor.expect("unroll", "after `for<`")
    if not cursor.at_kind(TokenKind.INTEGER):
        raise cursor.unexpected("how often to unroll")
    count = cursor.take()
    cursor.expect(">", "after the unroll count")
    if not isinstance(count.value, int) or count.value < 1:
        cursor.diagnostics.error("PH004", "a loop is unrolled at least once", count.span, stage="parse")
        return None
    return count.value


def _range_bounds(
    cursor: Cursor, bounds: tuple[Expression, ...], span: Span
) -> tuple[Expression | None, Expression, Expression | None]:
    if not 1 <= len(bounds) <= 3:
        message = f"`range` takes one to three bounds, found {len(bounds)}"
        raise cursor.diagnostics.error("PH004", message, span, stage="parse")
    if len(bounds) == 1:
        return None, bounds[0], None
    return bounds[0], bounds[1], bounds[2] if len(bounds) == 3 else None


def _parse_while(cursor: Cursor, keyword: Token) -> WhileStatement:
    condition = parse_expression(cursor)
    body = parse_block(cursor, "condition")
    return WhileStatement(condition, body, span=keyword.span.to(condition.span))


def _parse_if(cursor: Cursor, keyword: Token) -> IfStatement:
    condition = parse_expression(cursor)
    then = parse_block(cursor, "condition")
    otherwise = None
    if _accept_else(cursor):
        if cursor.at("if"):
            with cursor.deeper_block():
                otherwise = (_parse_if(cursor, cursor.take()),)
        else:
            otherwise = parse_block(cursor, "`else`")
    return IfStatement(condition, then, otherwise, span=keyword.span.to(condition.span))


def _accept_else(cursor: Cursor) -> bool:
    """Take an `else`; one on a later line is an error of its own, and parsing goes on with it."""
    if cursor.accept("else"):
        return True
    count = 0
    while cursor.ahead(count).kind is TokenKind.TERMINATOR:
        count += 1
    token = cursor.ahead(count)
    if count == 0 or token.kind is not TokenKind.KEYWORD or token.text != "else":
        return False
    cursor.diagnostics.error(
        "PH005",
        "`else` stands on the line of the `}` before it",
        token.span,
        help="write `} else {`",
        stage="parse",
    )
    cursor.skip_terminators()
    cursor.take()
    return True


def _parse_break(_cursor: Cursor, keyword: Token) -> BreakStatement:
    return BreakStatement(span=keyword.span)


def _parse_continue(_cursor: Cursor, keyword: Token) -> ContinueStatement:
    return ContinueStatement(span=keyword.span)


def _parse_return(cursor: Cursor, keyword: Token) -> ReturnStatement:
    value = None if _at_statement_end(cursor) else parse_expression(cursor)
    return ReturnStatement(value, span=keyword.span.to(cursor.previous))


_KEYWORD_STATEMENTS: dict[str, Callable[[Cursor, Token], StatementNode]] = {
    "let": _parse_declare,
    "var": _parse_declare,
    "assert": _parse_assert,
    "for": _parse_for,
    "while": _parse_while,
    "if": _parse_if,
    "break": _parse_break,
    "continue": _parse_continue,
    "return": _parse_return,
}
