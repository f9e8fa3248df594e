"""All slips of a kernel: what may have been meant, in every place of its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, cast

from phobos_nb.language.slips.expressions import Place, alternatives
from phobos_nb.language.slips.known import Known, is_count, is_position, known
from phobos_nb.language.slips.masks import masked
from phobos_nb.language.slips.slip import Slip
from phobos_nb.language.slips.statements import block_slips
from phobos_nb.language.tree import (
    Along,
    At,
    Between,
    Block,
    CallExpression,
    CallStatement,
    Declare,
    Expression,
    Field,
    ForStatement,
    FunctionNode,
    IfStatement,
    Infix,
    KernelNode,
    Name,
    Node,
    Program,
    StatementNode,
    Subscripted,
    Update,
    WhileStatement,
)
from phobos_nb.language.tree_walk import nodes
from phobos_nb.source import Span

SHORT = 14
"""Characters of a changed text from which it is told without what stands around it."""

INDEXED = ("atomic_add", "atomic_max", "atomic_min", "atomic_cas")
"""Built-ins that take positions behind a tensor."""

Changed = tuple[Slip, Any]
"""A slip and the node that holds it, with the change made."""


def slips(program: Program, kernel: str) -> Iterator[Slip]:
    """Every small change of a kernel and of the functions of its program, each with the program changed.

    Most do not type-check: that is for who tries them to find out.
    """
    for i, node in enumerate(program.kernels):
        if node.name == kernel:
            for slip, changed in _declaration(node, known(node)):
                kernels = (*program.kernels[:i], changed, *program.kernels[i + 1 :])
                yield replace(slip, program=replace(program, kernels=kernels))
    for i, function in enumerate(program.functions):
        for slip, changed in _declaration(function, known(function)):
            functions = (*program.functions[:i], changed, *program.functions[i + 1 :])
            yield replace(slip, program=replace(program, functions=functions))


def _declaration(node: KernelNode | FunctionNode, names: Known) -> Iterator[Changed]:
    for slip, block in _block(node.body, Place(names)):
        yield slip, replace(node, body=block)


def _block(block: Block, around: Place) -> Iterator[Changed]:
    for changed in block_slips(block, around.known):
        place = (changed.old or changed.new or block[0]).span
        yield Slip(changed.role, changed.cost, place, changed.old, changed.new), changed.block
    for i, statement in enumerate(block):
        for slip, other in _statement(statement, around):
            yield slip, (*block[:i], other, *block[i + 1 :])


def _statement(node: StatementNode, around: Place) -> Iterator[Changed]:
    around = replace(around, ends=_ends_in(node))
    plain = replace(around, whole=True)
    match node:
        case Declare() | Update():
            yield from _assignment(node, plain)
        case CallStatement(call=call):
            if call.callee.text != "print":
                for slip, other in _expression(call, around):
                    if isinstance(other, CallExpression):
                        yield slip, replace(node, call=other)
        case ForStatement():
            bounds = replace(around, position=True, bound=True)
            yield from _fields(node, bounds, ("start", "stop", "step"))
            yield from _inner(node, replace(around, loop=node), ("body",))
        case WhileStatement(condition=condition) | IfStatement(condition=condition):
            here = is_position(condition, around.known)
            yield from _fields(node, replace(around, position=here, bound=here), ("condition",))
            yield from _inner(node, around, ("body", "then", "otherwise"))
        case _:
            pass


def _assignment(node: Declare | Update, plain: Place) -> Iterator[Changed]:
    """A right side is a position where the variable is one; a target's subscripts always are."""
    target = node.name if isinstance(node, Declare) else node.target
    names = plain.known.positions
    position = isinstance(target, Name) and target.text in names
    yield from _fields(node, replace(plain, position=position), ("value",))
    if isinstance(target, Subscripted):
        for slip, other in _expression(target, plain):
            if isinstance(other, Subscripted):
                yield replace(slip, target=True), replace(cast(Any, node), target=other)


def _inner(node: Any, around: Place, names: tuple[str, ...]) -> Iterator[Changed]:
    for name in names:
        block = getattr(node, name, None)
        if block:
            for slip, other in _block(block, around):
                yield slip, replace(node, **{name: other})


def _fields(node: Any, around: Place, names: tuple[str, ...]) -> Iterator[Changed]:
    for name in names:
        value = getattr(node, name, None)
        if value is not None:
            for slip, other in _expression(value, around):
                yield slip, replace(node, **{name: other})


def _expression(node: Expression, around: Place) -> Iterator[Changed]:
    """The slips of an expression and of what is in it, told with what stands around them if short."""
    for role, cost, other in alternatives(node, around):
        yield Slip(role, cost, node.span, node, other), other
    if not around.position:
        for cost, other in masked(node, around.loop, whole=around.whole):
            yield Slip("padding", cost, node.span, node, other), other
    for slip, other in _below(node, around):
        yield (_wider(slip, node, other), other)


def _wider(slip: Slip, node: Expression, other: Expression) -> Slip:
    told = slip.old.span if slip.old else Span(0, 0)
    if told.stop - told.start >= SHORT or not isinstance(node, Subscripted | CallExpression | Infix):
        return slip
    return replace(slip, old=node, new=other)


def _below(node: Expression, around: Place) -> Iterator[Changed]:
    inside = replace(around, whole=False)
    match node:
        case Subscripted():
            yield from _items(node, "subscripts", node.subscripts, replace(inside, position=True))
        case CallExpression():
            yield from _arguments(node, inside)
        case Field():
            pass
        case _:
            for field in fields(node):
                value = getattr(node, field.name)
                if isinstance(value, Node):
                    yield from _fields(node, inside, (field.name,))


def _arguments(node: CallExpression, inside: Place) -> Iterator[Changed]:
    last = len(node.arguments) - 1
    for i, argument in enumerate(node.arguments):
        position = inside.position or is_position(argument, inside.known)
        count = position and not inside.position and is_count(argument, inside.known)
        if node.callee.text in INDEXED:
            position, count = 0 < i < last, False
        around = replace(inside, position=position, whole=not position, count=count)
        for slip, other in _expression(argument, around):
            arguments = (*node.arguments[:i], other, *node.arguments[i + 1 :])
            filler = node.callee.text == "pad" and i == 1
            told = replace(slip, role="padding") if filler else slip
            yield told, replace(node, arguments=arguments)


def _items(node: Subscripted, name: str, items: tuple[Any, ...], inside: Place) -> Iterator[Changed]:
    for i, item in enumerate(items):
        for slip, other in _subscript(item, inside):
            yield slip, replace(node, **{name: (*items[:i], other, *items[i + 1 :])})


def _subscript(node: At | Along | Between, inside: Place) -> Iterator[Changed]:
    """Lengths of slices stay: they are the shape of everything else."""
    match node:
        case At():
            yield from _fields(node, inside, ("index",))
        case Along():
            yield from _fields(node, inside, ("start", "until"))
            yield from _ends(node, inside)
        case Between():
            yield from _fields(node, inside, ("start", "stop"))


def _ends_in(node: StatementNode) -> tuple[Expression, ...]:
    """The ends of slices in a statement that holds no others."""
    if not isinstance(node, Declare | Update | CallStatement):
        return ()
    found = (part.until for part in nodes(node) if isinstance(part, Along))
    return tuple(dict.fromkeys(end for end in found if end is not None))


def _ends(node: Along, inside: Place) -> Iterator[Changed]:
    """Another end of a slice: none, or a position that is at hand."""
    if node.until is not None:
        other = replace(node, until=None)
        yield Slip("padding", 1, node.span, node, other), other
        return
    for end in inside.ends:
        other = replace(node, until=end)
        yield Slip("padding", 1, node.span, node, other), other
    names = [n for n in inside.known.before(node.span.start) if n in inside.known.positions]
    for name in names:
        if Name(name) in inside.ends:
            continue
        other = replace(node, until=Name(name, span=node.span))
        yield Slip("padding", 3, node.span, node, other), other
