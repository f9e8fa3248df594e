"""Kernels, functions, their attributes, compile-time parameters and parameters."""

from __future__ import annotations

from phobos_nb.diagnostics import Stop
from phobos_nb.language.lexer import TokenKind
from phobos_nb.language.parser.cursor import Cursor
from phobos_nb.language.parser.expressions import ADDITIVE, parse_expression
from phobos_nb.language.parser.statements import parse_block
from phobos_nb.language.parser.types import parse_type
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import (
    AttributeArgument,
    AttributeNode,
    FunctionNode,
    Generic,
    KernelNode,
    NamedArgument,
    ParameterNode,
    PlainArgument,
    Program,
    SpaceArgument,
)
from phobos_nb.source import Source, Span

GENERIC_KINDS = ("dtype", "int", "bool")


def parse_program(cursor: Cursor, source: Source) -> Program:
    """All kernels and functions of a text; a faulty one is left out."""
    kernels: list[KernelNode] = []
    functions: list[FunctionNode] = []
    cursor.skip_terminators()
    while not cursor.at_kind(TokenKind.END):
        start = cursor.index
        try:
            declaration = _parse_declaration(cursor)
            if isinstance(declaration, KernelNode):
                kernels.append(declaration)
            else:
                functions.append(declaration)
        except Stop:
            cursor.recover_declaration(start)
        cursor.skip_terminators()
    _check_names(cursor, (*kernels, *functions))
    return Program(tuple(kernels), tuple(functions), source)


def _check_names(cursor: Cursor, declarations: tuple[KernelNode | FunctionNode, ...]) -> None:
    seen: set[str] = set()
    for declaration in sorted(declarations, key=lambda d: d.name_span):
        if declaration.name in seen:
            message = f"`{declaration.name}` is declared twice in this text"
            cursor.diagnostics.error("PH102", message, declaration.name_span, stage="parse")
        seen.add(declaration.name)


def _parse_declaration(cursor: Cursor) -> KernelNode | FunctionNode:
    attributes = _parse_attributes(cursor)
    if cursor.at("kernel") and cursor.at_kind(TokenKind.KEYWORD):
        return _parse_kernel(cursor, attributes)
    if cursor.at("fn") and cursor.at_kind(TokenKind.KEYWORD):
        if attributes:
            cursor.diagnostics.error(
                "PH004",
                "attributes belong to kernels, not to functions",
                attributes[0].span,
                stage="parse",
            )
        return _parse_function(cursor)
    help = ""
    if cursor.at_kind(TokenKind.NAME):
        help = did_you_mean(cursor.current.text, ("kernel", "fn"))
    if cursor.at("%") and cursor.ahead(1).text == "%":
        help = "leave out this line: `%%phobos` starts a notebook cell, and is no part of the text"
    raise cursor.unexpected("`kernel`, `fn` or an attribute", help)


def _parse_kernel(cursor: Cursor, attributes: tuple[AttributeNode, ...]) -> KernelNode:
    keyword = cursor.take()
    name = cursor.expect_name("the name of the kernel")
    generics = _parse_generics(cursor)
    parameters = _parse_parameters(cursor)
    span = keyword.span.to(cursor.previous)
    body = parse_block(cursor, "parameters")
    return KernelNode(name.text, attributes, generics, parameters, body, name_span=name.span, span=span)


def _parse_function(cursor: Cursor) -> FunctionNode:
    keyword = cursor.take()
    name = cursor.expect_name("the name of the function")
    generics = _parse_generics(cursor)
    parameters = _parse_parameters(cursor)
    result = parse_type(cursor) if cursor.accept("->") else None
    span = keyword.span.to(cursor.previous)
    body = parse_block(cursor, "function's header")
    return FunctionNode(name.text, generics, parameters, result, body, name_span=name.span, span=span)


def _parse_generics(cursor: Cursor) -> tuple[Generic, ...]:
    if not cursor.accept("<"):
        return ()
    return cursor.listed(lambda: _parse_generic(cursor), ">", "in the compile-time parameters")


def _parse_generic(cursor: Cursor) -> Generic:
    name = cursor.expect_name("the name of a compile-time parameter")
    cursor.expect(
        ":", f"after `{name.text}`", "write `T: dtype`, `D: int = 64` or `CAUSAL: bool = false`"
    )
    if not cursor.at(*GENERIC_KINDS):
        raise cursor.unexpected("`dtype`, `int` or `bool`")
    kind = cursor.take()
    default = parse_expression(cursor, ADDITIVE) if cursor.accept("=") else None
    return Generic(name.text, kind.text, default, span=name.span.to(cursor.previous))


def _parse_parameters(cursor: Cursor) -> tuple[ParameterNode, ...]:
    cursor.expect("(", "before the parameters")
    parameters = cursor.listed(lambda: _parse_parameter(cursor), ")", "in the parameters")
    seen: set[str] = set()
    for parameter in parameters:
        if parameter.name in seen:
            message = f"the parameter `{parameter.name}` is declared twice"
            cursor.diagnostics.error("PH102", message, parameter.span, stage="parse")
        seen.add(parameter.name)
    return parameters


def _parse_parameter(cursor: Cursor) -> ParameterNode:
    name = cursor.expect_name("a parameter")
    cursor.expect(":", f"after the parameter `{name.text}`", f"write `{name.text}: f32`")
    return ParameterNode(name.text, parse_type(cursor), span=name.span)


def _parse_attributes(cursor: Cursor) -> tuple[AttributeNode, ...]:
    attributes: list[AttributeNode] = []
    while cursor.at_attribute():
        attributes.append(_parse_attribute(cursor))
        cursor.skip_terminators()
    return tuple(attributes)


def _parse_attribute(cursor: Cursor) -> AttributeNode:
    at = cursor.take()
    name = cursor.expect_name("the name of an attribute after `@`")
    arguments: tuple[AttributeArgument, ...] = ()
    if cursor.accept("("):
        arguments = cursor.listed(lambda: _parse_argument(cursor), ")", f"in `@{name.text}`")
    return AttributeNode(name.text, arguments, span=at.span.to(cursor.previous))


def _parse_argument(cursor: Cursor) -> AttributeArgument:
    start = cursor.current.span
    if cursor.at_kind(TokenKind.NAME) and cursor.ahead().text == "in":
        return _parse_space(cursor, start)
    if cursor.at_kind(TokenKind.NAME) and cursor.ahead().text == "=":
        name = cursor.take()
        cursor.take()
        value = parse_expression(cursor)
        return NamedArgument(name.text, value, span=start.to(value.span))
    value = parse_expression(cursor)
    return PlainArgument(value, span=value.span)


def _parse_space(cursor: Cursor, start: Span) -> SpaceArgument:
    name = cursor.take()
    cursor.take()
    cursor.expect("[", "after `in`", f"write `{name.text} in [32, 256]`")
    values = cursor.listed(lambda: _parse_integer(cursor), "]", "in the values")
    return SpaceArgument(name.text, values, span=start.to(cursor.previous))


def _parse_integer(cursor: Cursor) -> int:
    negative = cursor.accept("-") is not None
    if not cursor.at_kind(TokenKind.INTEGER):
        raise cursor.unexpected("an integer")
    value = cursor.take().value
    assert isinstance(value, int)
    return -value if negative else value
