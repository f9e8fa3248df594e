"""Tokens to the syntax tree, by recursive descent; every independent syntax error is reported."""

from __future__ import annotations

from phobos_nb.diagnostics import Diagnostic, Diagnostics
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
    tokens = tokenize(source, diagnostics)
    faults = list(diagnostics.items)
    program = parse_program(Cursor(tokens, diagnostics), source)
    _drop_consequences(source, diagnostics, faults)
    diagnostics.raise_errors()
    return program


def _drop_consequences(source: Source, diagnostics: Diagnostics, faults: list[Diagnostic]) -> None:
    """Drop what the parser missed because of a faulty token: its complaint on the same line.

    An open string may hold the bracket that ends its statement, so there the next line counts too.
    """
    near: set[int] = set()
    for fault in faults:
        if fault.span is not None:
            line = source.position(fault.span.start).line
            near |= {line, line + 1} if fault.code == "PH003" else {line}
    diagnostics.items[:] = [
        d
        for d in diagnostics.items
        if d.code != "PH004" or d.span is None or source.position(d.span.start).line not in near
    ]


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
