"""Addresses of memref elements as C++ expressions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from xdsl.ir import SSAValue

from phobos_nb.cuda.emit.emitter import Emitter, Memory, Stride
from phobos_nb.cuda.intervals import INT32

Term = int | str
"""A number known now, or an expression."""


def element(e: Emitter, memref: SSAValue, indices: Sequence[SSAValue]) -> str:
    """The element of a memref at some indices, as an lvalue."""
    return f"{e.text(memref)}[{offset(e, memref, indices)}]"


def pointer(e: Emitter, memref: SSAValue, indices: Sequence[SSAValue]) -> str:
    """The address of an element."""
    return f"&{element(e, memref, indices)}"


def offset(e: Emitter, memref: SSAValue, indices: Sequence[SSAValue]) -> str:
    """The element offset of some indices: Horner's rule where each stride divides the one before."""
    memory = memory_of(e, memref)
    terms = [term(e, x) for x in indices]
    steps = memory.strides
    if _nested(steps):
        return str(_horner(terms, [int(s) for s in steps]))
    return str(total(product(t, s) for t, s in zip(terms, steps, strict=True)))


def memory_of(e: Emitter, memref: SSAValue) -> Memory:
    """How a memref is addressed; ValueError when its strides were never known."""
    memory = e.spelled(memref).memory
    if memory is None:
        raise ValueError(f"{memref.type} has no known strides")
    return memory


def term(e: Emitter, value: SSAValue) -> Term:
    """An index as a number where it is a constant."""
    text = e.text(value)
    return int(text) if text.lstrip("-").isdigit() else text


def _nested(strides: Sequence[Stride]) -> bool:
    numbers = [s for s in strides if isinstance(s, int)]
    whole = len(numbers) == len(strides)
    return whole and all(b > 0 and a % b == 0 for a, b in pairwise(numbers))


def _horner(terms: Sequence[Term], strides: Sequence[int]) -> Term:
    found: Term = 0
    for place, (index, step) in enumerate(zip(terms, strides, strict=True)):
        following = strides[place + 1] if place + 1 < len(strides) else 1
        found = product(plus(found, index), step // following)
    return found


def product(a: Term, b: Term) -> Term:
    """The product, done now where both are numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return _fits(a * b)
    if 0 in (a, b):
        return 0
    if a == 1:
        return b
    if b == 1:
        return a
    return f"{_factor(a)} * {_factor(b)}"


def plus(a: Term, b: Term) -> Term:
    """The sum, done now where both are numbers."""
    if isinstance(a, int) and isinstance(b, int):
        return _fits(a + b)
    if a == 0:
        return b
    return a if b == 0 else f"{a} + {b}"


def total(terms: Iterable[Term]) -> Term:
    """The sum of some terms."""
    found: Term = 0
    for x in terms:
        found = plus(found, x)
    return found


def _fits(value: int) -> Term:
    return value if INT32.lo <= value <= INT32.hi else f"{value}LL"


def _factor(value: Term) -> str:
    text = str(value)
    return f"({text})" if " + " in text or " - " in text else text
