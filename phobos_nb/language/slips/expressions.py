"""What may have been meant in place of one expression."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from phobos_nb.language.slips.calls import Alternative, call_slips, wrapped
from phobos_nb.language.slips.known import Known, comparison
from phobos_nb.language.slips.slip import Role
from phobos_nb.language.slips.trees import exchanged
from phobos_nb.language.tree import (
    At,
    CallExpression,
    Expression,
    Field,
    Float,
    ForStatement,
    Infix,
    Integer,
    Name,
    Prefix,
    Subscripted,
)
from phobos_nb.language.tree_walk import nodes


@dataclass(frozen=True)
class Place:
    """Where an expression stands.

    loop: the innermost around it. position: in a subscript or what leads to one. bound: of a loop or
    guard. whole: it is all of a statement's right side, or all of a call's argument. count: a number of
    elements as a value. ends: those of the statement's slices.
    """

    known: Known
    loop: ForStatement | None = None
    position: bool = False
    bound: bool = False
    whole: bool = False
    count: bool = False
    ends: tuple[Expression, ...] = ()

    @property
    def role(self) -> Role:
        """What a change of which value is taken is about, here."""
        if self.count:
            return "operation"
        return "bound" if self.bound else "index" if self.position else "operand"


def alternatives(node: Expression, place: Place) -> Iterator[Alternative]:
    """Expressions that one may stand for by a slip, cheaper ones not always first."""
    match node:
        case Name():
            yield from _names(node, place)
        case Field():
            yield from _fields(node, place)
        case Integer():
            yield from _integers(node, place)
        case Float():
            yield from _floats(node, place)
        case Infix():
            yield from _infix(node, place)
        case Prefix():
            yield ("operation", 1, node.operand)
        case Subscripted():
            yield from _subscripted(node, place)
        case CallExpression():
            yield from call_slips(node, place.role if place.position else "operation")
        case _:
            pass
    if not place.position:
        yield from wrapped(node, whole=place.whole)
        yield from _combined(node, place)
    elif not isinstance(node, Integer) and not comparison(node):
        yield from _moved(node, place)


def _names(node: Name, place: Place) -> Iterator[Alternative]:
    known = place.known
    alike = node.text in known.positions
    for name in known.before(node.span.start):
        if name != node.text:
            cost = 1 if (name in known.positions) == alike else 2
            yield place.role, cost, replace(node, text=name)
    others: tuple[str, ...] = ()
    for group in (known.symbols, known.scalars, known.arrays):
        if node.text in group:
            others = group
    if place.position and not others:
        others = known.symbols
    for name in others:
        if name != node.text:
            yield place.role, 1 if node.text in others else 2, replace(node, text=name)


FIELDS = {"x": "yz", "y": "xz", "z": "xy"}
THREADS = ("thread", "warp", "lane")


def _fields(node: Field, place: Place) -> Iterator[Alternative]:
    others = tuple(FIELDS.get(node.name, ())) or tuple(
        n for n in THREADS if node.name in THREADS and n != node.name
    )
    for name in others:
        yield place.role, 1, replace(node, name=name)


WARP = 32


def _integers(node: Integer, place: Place) -> Iterator[Alternative]:
    n = node.value
    near, far = (n + 1, n - 1), (2 * n, n // 2, 2 * n + 1, 0, 1)
    widths = (WARP, place.known.threads) if n >= WARP // 2 else ()
    for value in dict.fromkeys([*near, *place.known.ints, *far, *widths]):
        if value != n and value >= 0:
            cost = 1 if n and (value in near or value in place.known.ints) else 2
            yield place.role if place.position else "operation", cost, replace(node, value=value)
    if place.position and n < 2:
        for name in place.known.before(node.span.start):
            if name in place.known.positions:
                yield place.role, 2, Name(name, span=node.span)


def _floats(node: Float, place: Place) -> Iterator[Alternative]:
    v = node.value
    near = [0.0, 1.0, 2 * v, v / 2, 10 * v, v / 10, 4 * v, v / 4]
    written = [x.value for x in place.known.floats]
    for value in dict.fromkeys([*near, *written]):
        if value != v:
            yield "operation", 1, Float(value, span=node.span)
    if v:
        yield "operation", 1, Prefix("-", node, span=node.span)
    for sign in (False, True):
        yield "operation", 1, infinite(node, negative=sign)
    for symbol in place.known.symbols:
        yield "operation", 3, CallExpression(Name("f32"), (Name(symbol),), span=node.span)


def infinite(node: Expression, *, negative: bool) -> Expression:
    """`inf` or `-inf` at a node's place."""
    bare = Name("inf", span=node.span)
    return Prefix("-", bare, span=node.span) if negative else bare


GROUPS = (("+", "-"), ("*", "/"), ("/", "%"), ("<", "<=", ">", ">=", "==", "!="), ("&&", "||"),
          ("<<", ">>"), ("&", "|", "^"))  # fmt: skip
"""Operators that are taken for each other."""
FARTHER = (("+", "-", "*", "/", "%"), ("/", "%", ">>"))
"""Operators that are so less often."""


def _infix(node: Infix, place: Place) -> Iterator[Alternative]:
    role: Role = place.role if place.position else "operation"
    if place.position and node.op == "/":
        yield role, 1, ceiling(node)
    yield role, 1, node.left
    yield role, 1, node.right
    if place.bound:
        for leaf in _symbols(node, place.known):
            yield role, 1, leaf
    near, far = (_taken_for(node.op, groups) for groups in (GROUPS, FARTHER))
    if isinstance(node.left, Subscripted) and len(node.left.subscripts) == 1:
        yield "index", 1, _inwards(node, node.left)
    for op in dict.fromkeys([*near, *far]):
        yield role, 1 if op in near else 2, replace(node, op=op)
    for other in _by_bits(node):
        yield role, 1, other
    if node.op in ("-", "/", "%", "<<", ">>"):
        yield role, 1, replace(node, left=node.right, right=node.left)
    for other in _regrouped(node):
        yield role, 2, other


def _symbols(node: Infix, known: Known) -> list[Name]:
    """The extents deep in a bound: what it is without all corrections."""
    near = {id(node.left), id(node.right)}
    found = [n for n in nodes(node) if isinstance(n, Name) and id(n) not in near]
    return [n for n in found if n.text in known.symbols]


def _inwards(node: Infix, element: Subscripted) -> Expression:
    """`S[i + 1]` for `S[i] + 1`."""
    (subscript,) = element.subscripts
    if not isinstance(subscript, At):
        return element
    moved = At(replace(node, left=subscript.index), span=subscript.span)
    return replace(element, subscripts=(moved,), span=node.span)


def _taken_for(op: str, groups: tuple[tuple[str, ...], ...]) -> list[str]:
    return [other for group in groups if op in group for other in group if other != op]


def _by_bits(node: Infix) -> Iterator[Infix]:
    """`a >> 3` for `a / 8`, and the other way round: they differ below zero."""
    if not isinstance(node.right, Integer):
        return
    n = node.right.value
    if node.op == "/" and n > 1 and n & (n - 1) == 0:
        yield replace(node, op=">>", right=replace(node.right, value=n.bit_length() - 1))
    if node.op in (">>", "<<") and n < 31:
        yield replace(node, op="/" if node.op == ">>" else "*", right=replace(node.right, value=1 << n))


def ceiling(node: Infix) -> Infix:
    """`(a + b - 1) / b` for `a / b`."""
    more = Infix("+", node.left, _less_one(node.right), span=node.left.span)
    return replace(node, left=more)


def _less_one(node: Expression) -> Expression:
    if isinstance(node, Integer):
        return replace(node, value=node.value - 1)
    return Infix("-", node, Integer(1), span=node.span)


def _regrouped(node: Infix) -> Iterator[Infix]:
    """The other way to set the parentheses of two operators."""
    a, b = node.left, node.right
    if isinstance(b, Infix) and not comparison(b) and not comparison(node):
        yield replace(b, left=replace(node, right=b.left), right=b.right, span=node.span)
    if isinstance(a, Infix) and not comparison(a) and not comparison(node):
        yield replace(a, left=a.left, right=replace(node, left=a.right), span=node.span)


def _subscripted(node: Subscripted, place: Place) -> Iterator[Alternative]:
    for order in exchanged(node.subscripts):
        yield "index", 1, replace(node, subscripts=order)
    known = place.known
    for name in known.arrays:
        if name != node.base.text:
            yield "operand", 1, replace(node, base=replace(node.base, text=name))
    for name in known.before(node.span.start):
        if not place.position and name not in known.positions:
            yield "operand", 2, Name(name, span=node.span)
    if place.position:
        for subscript in node.subscripts:
            if isinstance(subscript, At):
                yield "index", 1, subscript.index


def _moved(node: Expression, place: Place) -> Iterator[Alternative]:
    """A position by one, by another position, half an extent or a factor of the text away."""
    one = Integer(1, span=node.span)
    for op in "+-":
        yield place.role, 2, Infix(op, node, one, span=node.span)
    if not isinstance(node, Name | Infix | Field):
        return
    known = place.known
    for name in known.arrays:
        yield "index", 3, Subscripted(Name(name), (At(node),), span=node.span)
    names = [n for n in known.before(node.span.start) if n in known.positions]
    for name in dict.fromkeys([*names, *known.symbols]):
        other = Name(name, span=node.span)
        for op in "+-":
            yield place.role, 3, Infix(op, node, other, span=node.span)
        if name in known.symbols:
            half = Infix("/", other, Integer(2), span=node.span)
            yield place.role, 3, Infix("-", node, half, span=node.span)
            yield place.role, 3, Infix("*", node, other, span=node.span)
    for factor in (n for n in known.ints if n > 1):
        for op in "*/":
            yield place.role, 3, Infix(op, node, Integer(factor), span=node.span)


def _unused_terms(node: Expression, known: Known) -> Iterator[Expression]:
    """The value with names that the kernel has and never uses: one, or two multiplied."""
    for i, one in enumerate(known.unused):
        name = Name(one, span=node.span)
        turned = CallExpression(Name("transpose"), (name,), span=node.span)
        for op in "+-*/":
            yield Infix(op, node, name, span=node.span)
            yield Infix(op, node, turned, span=node.span)
        for other in known.unused[i + 1 :]:
            product = Infix("*", Name(one), Name(other), span=node.span)
            for op in "+-":
                yield Infix(op, node, product, span=node.span)


def _combined(node: Expression, place: Place) -> Iterator[Alternative]:
    """A term or a factor that was forgotten: one of the scalars, the extents, or the values at hand."""
    if not (place.whole or isinstance(node, Name | CallExpression)):
        return
    known = place.known
    values = [n for n in known.before(node.span.start) if n not in known.positions]
    names = [Name(n, span=node.span) for n in dict.fromkeys([*known.scalars, *values])]
    for other in names:
        for op in "*/+-" if place.whole else "*/":
            yield "operation", 3, Infix(op, node, other, span=node.span)
    for term in _unused_terms(node, known):
        yield "operation", 2, term
    extents = [CallExpression(Name("f32"), (Name(s),), span=node.span) for s in known.symbols]
    for other in extents if place.whole else ():
        for op in "*/":
            yield "operation", 4, Infix(op, node, other, span=node.span)
