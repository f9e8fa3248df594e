"""Tokens to the syntax tree, by recursive descent; every independent syntax error is reported."""

from __future__ import annotations

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.lexer import tokenize
from phobos_nb.language.parser.cursor import Cursor
from phobos_nb.language.parser.declarations import parse_program
from phobos_nb.language.tree import FunctionNode, KernelNode, Program
from phobos_nb.source import Source


def parse(source: Source) -> Program:
    """The syntax tree of a text.

    Raises `PhobosError` with every error of the lexer and the parser (PH0xx), in source order.
    """
    diagnostics = Diagnostics(source)
    program = parse_program(Cursor(tokenize(source, diagnostics), diagnostics), source)
    diagnostics.raise_errors()
    return program


def sound_part(source: Source) -> Program:
    """The kernels of a faulty text that hold no syntax error, so that they can be checked as well.

    Empty where a function is faulty, since any kernel may call it.
    """
    diagnostics = Diagnostics(source)
    program = parse_program(Cursor(tokenize(source, diagnostics), diagnostics), source)
    places = [d.span.start for d in diagnostics.errors if d.span is not None]
    starts = sorted(d.span.start for d in (*program.kernels, *program.functions))

    def is_sound(declaration: KernelNode | FunctionNode) -> bool:
        start = declaration.span.start
        end = next((s for s in starts if s > start), len(source.text))
        return not any(start <= place < end for place in places)

    first = starts[0] if starts else 0
    if any(place < first for place in places) or not all(map(is_sound, program.functions)):
        return Program((), (), source)
    return Program(tuple(filter(is_sound, program.kernels)), program.functions, source)


__all__ = ["parse", "sound_part"]
