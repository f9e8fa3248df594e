"""What statements assign, and how they can leave a block: read off the typed tree before it is built."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from phobos_nb.language.typed import (
    Assign,
    Break,
    Continue,
    For,
    If,
    Return,
    Statement,
    Variable,
    While,
)
from phobos_nb.language.types import Uniformity

Escapes = frozenset[type[Statement]]

NONE: Escapes = frozenset()
EARLY_EXIT: Escapes = frozenset({Break, Return})


def assigned(statements: Sequence[Statement]) -> tuple[Variable, ...]:
    """The variables that the statements set, in order of first assignment."""
    return tuple(dict.fromkeys(_assigned(statements)))


def _assigned(statements: Sequence[Statement]) -> Iterator[Variable]:
    for statement in statements:
        match statement:
            case Assign():
                yield statement.variable
            case If():
                yield from _assigned(statement.then)
                yield from _assigned(statement.otherwise)
            case For() | While():
                yield from _assigned(statement.body)
            case _:
                pass


def escapes(statements: Sequence[Statement]) -> Escapes:
    """How the statements can leave the block around them: Break, Continue, Return."""
    return NONE.union(*(escapes_of(s) for s in statements))


def escapes_of(statement: Statement) -> Escapes:
    """How one statement can leave the block around it; a loop keeps its own breaks and continues."""
    match statement:
        case Break() | Continue() | Return():
            return frozenset({type(statement)})
        case If():
            return escapes(statement.then) | escapes(statement.otherwise)
        case For() | While():
            return escapes(statement.body) & {Return}
        case _:
            return NONE


def leaves_divergently(statements: Sequence[Statement]) -> bool:
    """Whether some threads may leave the loop around the statements, or the kernel, before others."""
    return any(_leaves(s, divergent=False, inner=False) for s in statements)


def _leaves(statement: Statement, *, divergent: bool, inner: bool) -> bool:
    """`inner`: inside a loop of its own, whose breaks stay there."""
    match statement:
        case Return():
            return divergent
        case Break():
            return divergent and not inner
        case If():
            under = divergent or statement.condition.uniformity is not Uniformity.CTA
            arms = (*statement.then, *statement.otherwise)
            return any(_leaves(s, divergent=under, inner=inner) for s in arms)
        case For() | While():
            under = divergent or _trips(statement) is not Uniformity.CTA
            return any(_leaves(s, divergent=under, inner=True) for s in statement.body)
        case _:
            return False


def _trips(loop: For | While) -> Uniformity:
    if isinstance(loop, While):
        return loop.condition.uniformity
    return max(e.uniformity for e in (loop.start, loop.stop, loop.step))


def loop_uniformity(loop: For | While) -> Uniformity:
    """Who makes the same iterations of a loop: by its bounds or condition, and by how it is left."""
    return Uniformity.LANE if leaves_divergently(loop.body) else _trips(loop)
