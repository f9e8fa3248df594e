"""Tokens to the syntax tree, by recursive descent; every independent syntax error is reported."""

from __future__ import annotations

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.lexer import tokenize
from phobos_nb.language.parser.cursor import Cursor
from phobos_nb.language.parser.declarations import parse_program
from phobos_nb.language.tree import Program
from phobos_nb.source import Source


def parse(source: Source) -> Program:
    """The syntax tree of a text.

    Raises `PhobosError` with every error of the lexer and the parser (PH0xx), in source order.
    """
    diagnostics = Diagnostics(source)
    program = parse_program(Cursor(tokenize(source, diagnostics), diagnostics), source)
    diagnostics.raise_errors()
    return program


__all__ = ["parse"]
