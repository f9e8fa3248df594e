"""The names and numbers of a kernel, and which of them stand for positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phobos_nb.language.tree import (
    Along,
    At,
    Between,
    Declare,
    Float,
    ForStatement,
    FunctionNode,
    Infix,
    Integer,
    KernelNode,
    Name,
    Node,
    ParameterNode,
    PlainArgument,
    ShapedType,
    Subscript,
    Subscripted,
    Update,
)
from phobos_nb.language.tree_walk import nodes

MOST = 8
"""Ways to subscript that are tried for another tensor."""
DEFAULT_THREADS = 256


@dataclass(frozen=True)
class Known:
    """What a kernel's expressions can name.

    locals: each with where it is declared. positions: names that end up in subscripts, bounds or loop
    variables. arrays: what can be subscripted. unused: scalars and locals that are never read. unread:
    tensors that are not. constant: `var`s that are never assigned to. subscripts: those of the text.
    threads: of the launch. ints, floats: the literals of the text.
    """

    locals: tuple[tuple[str, int], ...]
    positions: frozenset[str]
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]
    symbols: tuple[str, ...]
    unused: tuple[str, ...]
    unread: tuple[str, ...]
    constant: tuple[str, ...]
    subscripts: tuple[tuple[Subscript, ...], ...]
    threads: int
    ints: tuple[int, ...]
    floats: tuple[Float, ...]

    def before(self, place: int) -> Iterator[str]:
        """The local names that are declared before a place of the text."""
        return (name for name, start in self.locals if start < place)


def known(kernel: KernelNode | FunctionNode) -> Known:
    """Look through a kernel."""
    body = [node for statement in kernel.body for node in nodes(statement)]
    shaped = [p for p in kernel.parameters if isinstance(p.type, ShapedType)]
    dims = [d.text for p in shaped for d in _dims(p.type) if isinstance(d, Name)]
    subscripted = [n.base.text for n in body if isinstance(n, Subscripted)]
    return Known(
        tuple(dict.fromkeys(_declared(body))),
        positions(body),
        tuple(dict.fromkeys([*(p.name for p in shaped), *subscripted])),
        tuple(p.name for p in kernel.parameters if p not in shaped),
        tuple(dict.fromkeys(dims)),
        tuple(_unused(kernel, body, shaped)),
        tuple(_unread(body, shaped)),
        tuple(_constant(body)),
        tuple(dict.fromkeys(n.subscripts for n in body if isinstance(n, Subscripted)))[:MOST],
        _threads(kernel),
        tuple(dict.fromkeys(n.value for n in body if isinstance(n, Integer))),
        tuple({n.value: n for n in body if isinstance(n, Float)}.values()),
    )


def _unused(
    kernel: KernelNode | FunctionNode, body: list[Node], shaped: list[ParameterNode]
) -> list[str]:
    scalars = [p.name for p in kernel.parameters if p not in shaped]
    declared = [n.name.text for n in body if isinstance(n, Declare)]
    written = {id(n.name) for n in body if isinstance(n, Declare)}
    for node in body:  # a sum that is only added to is not used
        if isinstance(node, Update) and isinstance(node.target, Name):
            own = (n for n in nodes(node) if isinstance(n, Name) and n.text == node.target.text)
            written |= {id(n) for n in own}
    read = {n.text for n in body if isinstance(n, Name) and id(n) not in written}
    return [n for n in (*scalars, *declared) if n not in read]


def _constant(body: list[Node]) -> list[str]:
    declared = [n.name.text for n in body if isinstance(n, Declare) and n.mutable]
    assigned = {_target(n) for n in body if isinstance(n, Update)}
    return [n for n in declared if n not in assigned]


def _threads(kernel: KernelNode | FunctionNode) -> int:
    """The threads of `@launch`, 256 without one."""
    for attribute in kernel.attributes if isinstance(kernel, KernelNode) else ():
        first = attribute.arguments[0] if attribute.arguments else None
        if attribute.name == "launch" and isinstance(first, PlainArgument):
            return first.value.value if isinstance(first.value, Integer) else DEFAULT_THREADS
    return DEFAULT_THREADS


def _unread(body: list[Node], shaped: list[ParameterNode]) -> list[str]:
    """Tensors that nothing in the body names."""
    named = {n.text for n in body if isinstance(n, Name)}
    return [p.name for p in shaped if p.name not in named]


def _dims(kind: object) -> tuple[Node, ...]:
    return kind.dims if isinstance(kind, ShapedType) else ()


def _declared(body: list[Node]) -> Iterator[tuple[str, int]]:
    for node in body:
        if isinstance(node, Declare | ForStatement):
            yield node.name.text, node.span.start


def positions(body: list[Node]) -> frozenset[str]:
    """Names in subscripts and bounds, loop variables, and names that those are computed from."""
    found = {n.name.text for n in body if isinstance(n, ForStatement)}
    for node in body:
        for part in _positional(node):
            found |= _names(part)
    while True:
        more = set(found)
        for node in body:
            target = _target(node)
            if target in found and isinstance(node, Declare | Update) and node.value is not None:
                more |= _names(node.value)
        if more == found:
            return frozenset(found)
        found = more


def _target(node: Node) -> str | None:
    if isinstance(node, Declare):
        return node.name.text
    return node.target.text if isinstance(node, Update) and isinstance(node.target, Name) else None


def _positional(node: Node) -> list[Node]:
    """The parts of a node that are positions."""
    match node:
        case At(index=index):
            return [index]
        case Along(start=start, until=until):
            return [start, *([until] if until else [])]
        case Between():
            return [x for x in (node.start, node.stop) if x]
        case ForStatement():
            return [x for x in (node.start, node.stop, node.step) if x]
        case _:
            return []


def _names(node: Node) -> set[str]:
    """The names in an expression, but for arrays and functions."""
    skipped = {id(n.base) for n in nodes(node) if isinstance(n, Subscripted)}
    return {n.text for n in nodes(node) if isinstance(n, Name) and id(n) not in skipped}


def is_position(node: Node, names: Known) -> bool:
    """Whether an expression is one of positions only: integers, `ctx`, extents, names of positions."""
    allowed = names.positions | set(names.symbols) | {"ctx"}
    values = (Float, Subscripted)
    return not any(isinstance(n, values) for n in nodes(node)) and _names(node) <= allowed


def is_count(node: Node, names: Known) -> bool:
    """Whether an expression of positions is made of extents and numbers only."""
    return _names(node) <= set(names.symbols)


def comparison(node: Node) -> bool:
    """Whether a node compares."""
    return isinstance(node, Infix) and node.op in ("<", "<=", ">", ">=", "==", "!=")
