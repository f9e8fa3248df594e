"""What may have been meant in place of one statement, or of two that stand together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, cast

from phobos_nb.language.slips.known import Known, is_position
from phobos_nb.language.slips.slip import Role
from phobos_nb.language.slips.trees import renamed, replaced
from phobos_nb.language.tree import (
    Block,
    CallExpression,
    CallStatement,
    Declare,
    Float,
    ForStatement,
    IfStatement,
    Infix,
    Integer,
    Name,
    NamedType,
    Node,
    ShapedType,
    StatementNode,
    Subscripted,
    Update,
    WhileStatement,
)
from phobos_nb.language.tree_walk import nodes

WIDER = {"f16": ("f32",), "bf16": ("f32",), "i8": ("i32",), "u8": ("i32",), "i32": ("i64", "f32"),
         "f32": ("f64",)}  # fmt: skip


@dataclass(frozen=True)
class Rewritten:
    """A block with a change: what it is about, how far-fetched, the statements before and after."""

    role: Role
    cost: int
    old: Node | None
    new: Node | None
    block: Block


def block_slips(block: Block, known: Known) -> Iterator[Rewritten]:
    """Statements left out, changed as a whole, in another order, or in and out of a loop."""
    for i, statement in enumerate(block):
        before, after = block[:i], block[i + 1 :]
        for role, cost, other in statement_slips(statement, known):
            yield Rewritten(role, cost, statement, other, (*before, other, *after))
        if not isinstance(statement, Declare):
            yield Rewritten("operation", 2, statement, None, (*before, *after))
        yield from _opened(statement, before, after)
        if after:
            yield from _with_next(statement, before, after)
    yield from _exchanged_stores(block)
    yield from _unassigned(block, known)


def _opened(statement: StatementNode, before: Block, after: Block) -> Iterator[Rewritten]:
    """The guarded statements without their guard; a statement of a loop before or behind it."""
    if isinstance(statement, IfStatement):
        if statement.otherwise is None:
            yield Rewritten("bound", 2, statement, None, (*before, *statement.then, *after))
        else:
            turned = replace(statement, then=statement.otherwise, otherwise=statement.then)
            yield Rewritten("operation", 2, statement, turned, (*before, turned, *after))
    if isinstance(statement, ForStatement) and len(statement.body) > 1:
        first, last = statement.body[0], statement.body[-1]
        rest = replace(statement, body=statement.body[1:])
        yield Rewritten("order", 2, first, first, (*before, first, rest, *after))
        rest = replace(statement, body=statement.body[:-1])
        yield Rewritten("order", 2, last, last, (*before, rest, last, *after))


def _with_next(statement: StatementNode, before: Block, after: Block) -> Iterator[Rewritten]:
    other, rest = after[0], after[1:]
    yield Rewritten("order", 2, statement, other, (*before, other, statement, *rest))
    if isinstance(other, ForStatement):  # cleared once, not in every pass
        inside = replace(other, body=(statement, *other.body))
        yield Rewritten("order", 2, statement, statement, (*before, inside, *rest))
    if isinstance(statement, ForStatement):
        inside = replace(statement, body=(*statement.body, other))
        yield Rewritten("order", 2, other, other, (*before, inside, *rest))


def _unassigned(block: Block, known: Known) -> Iterator[Rewritten]:
    """A `var` that is never assigned to takes a value at the block's end."""
    if not block or not known.constant:
        return
    end = block[-1].span
    for name in known.constant:
        for other in known.before(end.stop):
            for op in ("", "+") if other != name else ():
                new = Update(Name(name, span=end), op, Name(other, span=end), span=end)
                yield Rewritten("operation", 2, None, new, (*block, new))


def _exchanged_stores(block: Block) -> Iterator[Rewritten]:
    """Two stores, or two declarations, each with the other's value."""
    for kind in (Update, Declare):
        places = [i for i, s in enumerate(block) if isinstance(s, kind)]
        for i, j in combinations(places, 2):
            one, other = cast(Any, block[i]), cast(Any, block[j])
            if one.value is None or other.value is None:
                continue
            first, second = replace(one, value=other.value), replace(other, value=one.value)
            changed = list(block)
            changed[i], changed[j] = first, second
            yield Rewritten("operand", 2, one, first, tuple(changed))


def statement_slips(node: StatementNode, known: Known) -> Iterator[tuple[Role, int, StatementNode]]:
    """A statement with another way to assign, another type, or two of its names exchanged."""
    if isinstance(node, Update):
        yield from _updates(node)
    if isinstance(node, Declare) and node.type is not None:
        yield from _types(node)
    if not isinstance(node, ForStatement | IfStatement | WhileStatement):
        yield from _exchanged_names(node, known)
        yield from _exchanged_parts(node, known)
        yield from _unused_instead(node, known)
        yield from _unread_tensors(node, known)
        yield from _same_corrections(node)


def _updates(node: Update) -> Iterator[tuple[Role, int, StatementNode]]:
    number = isinstance(node.value, Float | Integer)
    for op in ("", "+", "-", "*"):
        if op != node.op:
            yield "operation", 3 if number else 1, replace(node, op=op)
    if not node.op:
        for name in ("max", "min", "tmax", "tmin"):
            both = CallExpression(Name(name), (node.target, node.value), span=node.value.span)
            yield "operation", 2, replace(node, value=both)
    else:
        whole = Infix(node.op, node.target, node.value, span=node.value.span)
        yield "order", 2, replace(node, op="", value=replace(whole, left=whole.right, right=whole.left))


def _types(node: Declare) -> Iterator[tuple[Role, int, StatementNode]]:
    kind = node.type
    element = kind.element if isinstance(kind, ShapedType) else cast(NamedType, kind)
    for name in WIDER.get(element.name, ()):
        wider = replace(element, name=name)
        other = replace(kind, element=wider) if isinstance(kind, ShapedType) else wider
        yield "type", 1, replace(node, type=other)


def _exchanged_names(node: StatementNode, known: Known) -> Iterator[tuple[Role, int, StatementNode]]:
    """Every pair of names of the statement, each in the other's place."""
    found = [n.text for n in nodes(node) if isinstance(n, Name)]
    declared = node.name.text if isinstance(node, Declare) else ""
    functions = {n.callee.text for n in nodes(node) if isinstance(n, CallExpression)}
    names = [n for n in dict.fromkeys(found) if n not in functions and n not in (declared, "ctx", "inf")]
    for one, other in combinations(names, 2):
        role: Role = "index" if {one, other} <= known.positions else "operand"
        yield role, 2, cast(StatementNode, renamed(node, {one: other, other: one}))


PARTS = 14
"""A statement of more parts is not tried in all orders."""


def _exchanged_parts(node: StatementNode, known: Known) -> Iterator[tuple[Role, int, StatementNode]]:
    """Every two elements, calls or names of the right side, each in the other's place."""
    if not isinstance(node, Update | Declare | CallStatement):
        return
    found = [n for n in nodes(node) if isinstance(n, Subscripted | CallExpression | Name)]
    skipped = {id(n.base) for n in found if isinstance(n, Subscripted)}
    skipped |= {id(n.callee) for n in found if isinstance(n, CallExpression)}
    for own in ("name", "target", "call"):
        skipped.add(id(getattr(node, own, None)))
    parts = [n for n in found if id(n) not in skipped][:PARTS]
    for one, other in combinations(parts, 2):
        if one == other or one.span.covers(other.span) or other.span.covers(one.span):
            continue
        role: Role = "index" if is_position(one, known) or is_position(other, known) else "operand"
        changed = replaced(node, {id(one): other, id(other): one})
        yield role, 2, cast(StatementNode, changed)


def _unused_instead(node: StatementNode, known: Known) -> Iterator[tuple[Role, int, StatementNode]]:
    """A name that is never used in place of an element or a call, wherever that stands."""
    value = node.value if isinstance(node, Update | Declare) else None
    if value is None:
        return
    parts = {n for n in nodes(value) if isinstance(n, Subscripted | CallExpression)}
    operations = [n for n in nodes(value) if isinstance(n, Infix)]
    for name in known.unused:
        for part in operations:
            for other in {n.text for n in nodes(part) if isinstance(n, Name)}:
                renaming = {id(part): renamed(part, {other: name})}
                yield "operand", 2, replace(node, value=cast(Any, replaced(value, renaming)))
        for part in sorted(parts, key=lambda n: n.span):
            same = {id(n): Name(name, span=n.span) for n in nodes(value) if n == part}
            yield "operand", 2, replace(node, value=cast(Any, replaced(value, same)))


def _unread_tensors(node: StatementNode, known: Known) -> Iterator[tuple[Role, int, StatementNode]]:
    """An element of a tensor that is never read, for a number or beside another element."""
    if not known.unread:
        return
    found = list(nodes(node))
    held = {id(_own(node))}
    held |= {id(n.base) for n in found if isinstance(n, Subscripted)}
    held |= {id(n.callee) for n in found if isinstance(n, CallExpression)}
    for name in known.unread:
        for subscripts in known.subscripts:
            element = Subscripted(Name(name), subscripts, span=node.span)
            for part in found:
                if isinstance(part, Float | Integer):
                    yield "operand", 2, cast(StatementNode, replaced(node, {id(part): element}))
                elif isinstance(part, Subscripted | Name) and id(part) not in held:
                    for op in "*+-/":
                        both = Infix(op, part, element, span=part.span)
                        yield "operand", 2, cast(StatementNode, replaced(node, {id(part): both}))


def _own(node: StatementNode) -> Node | None:
    return node.target if isinstance(node, Update) else node.name if isinstance(node, Declare) else None


def _same_corrections(node: StatementNode) -> Iterator[tuple[Role, int, StatementNode]]:
    """All corrections by one number left out: `X[i, j]` for `X[i - 1, j - 1]`."""
    found = [n for n in nodes(node) if isinstance(n, Infix) and isinstance(n.right, Integer)]
    for op, value in {(n.op, n.right) for n in found if n.op in ("+", "-")}:
        same = {id(n): n.left for n in found if (n.op, n.right) == (op, value)}
        if len(same) > 1:
            yield "index", 2, cast(StatementNode, replaced(node, cast(Any, same)))
