"""Functions taken for each other, left out, or put where none is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from phobos_nb.language.slips.slip import Role
from phobos_nb.language.slips.trees import exchanged
from phobos_nb.language.tree import CallExpression, Expression, Float, Infix, Integer, Name, Prefix

Alternative = tuple[Role, int, Expression]

FAMILIES = (
    ("exp", "exp2", "log", "log2"),
    ("sqrt", "rsqrt"),
    ("sin", "cos", "tanh", "sigmoid", "erf", "exp"),
    ("floor", "ceil", "round"),
    ("max", "min"),
    ("tmax", "tmin"),
    ("rowsum", "rowmax", "rowmin", "colsum"),
    ("colsum", "colmax", "colmin", "rowsum"),
    ("colmax", "rowmax"),
    ("colmin", "rowmin"),
    ("block_sum", "block_max", "block_min", "lane_sum"),
    ("lane_sum", "lane_max", "lane_min", "block_sum"),
    ("lane_max", "block_max"),
    ("lane_min", "block_min"),
    ("dot", "dot_t"),
    ("tril", "triu"),
    ("shuffle_xor", "shuffle_down", "shuffle"),
    ("atomic_add", "atomic_max", "atomic_min"),
    ("f16", "bf16", "f32", "f64"),
    ("i8", "u8", "i32", "i64", "f32"),
)
"""Built-ins of one form that are taken for each other."""

TYPES = {"f16", "bf16", "f32", "f64", "i8", "u8", "i32", "i64"}
MOVES = {"transpose", "dot", "dot_t", "tril", "triu", "shuffle", "shuffle_xor", "shuffle_down", "gather"}
"""Built-ins that say which elements meet, rather than what is done with them."""

FORGOTTEN = ("sqrt", "rsqrt", "exp", "log", "abs", "transpose", "cumsum")
COLLECTIVE = ("lane_sum", "block_sum", "lane_max", "block_max")
WIDER = ("f32", "i32", "i64")


def call_slips(node: CallExpression, role: Role) -> Iterator[Alternative]:
    """Another function of the family, none at all, arguments in another order."""
    name = node.callee.text
    about = _role(name, role)
    for other in dict.fromkeys(n for family in FAMILIES if name in family for n in family):
        if other != name:
            yield about, 1, replace(node, callee=replace(node.callee, text=other))
    first = node.arguments[0] if node.arguments else None
    if first is not None and (len(node.arguments) == 1 or name == "pad"):
        yield about, 1, first
    if len(node.arguments) > 1:
        yield from _rearranged(node, about)
    if name in TYPES and isinstance(first, Infix):
        yield "type", 1, _pushed_in(node, first)


def _role(name: str, role: Role) -> Role:
    if name in TYPES:
        return "type"
    if name == "pad":
        return "padding"
    return "index" if name in MOVES else role


def _rearranged(node: CallExpression, role: Role) -> Iterator[Alternative]:
    for order in exchanged(node.arguments):
        yield role, 1, replace(node, arguments=order)
    if node.callee.text in ("max", "min", "tmax", "tmin", "pow", "where"):
        for argument in node.arguments:
            yield role, 1, argument


def _pushed_in(node: CallExpression, operation: Infix) -> Infix:
    """`i64(a) * i64(b)` for `i64(a * b)`."""
    left, right = (replace(node, arguments=(x,)) for x in (operation.left, operation.right))
    return replace(operation, left=left, right=right)


def wrapped(node: Expression, *, whole: bool) -> Iterator[Alternative]:
    """The value with a function around it that was forgotten, of another sign, inverted or squared."""
    if isinstance(node, Integer | Float):
        return
    for name in FORGOTTEN:
        if not (isinstance(node, CallExpression) and node.callee.text == name):
            role: Role = "index" if name in MOVES else "operation"
            yield role, 2, CallExpression(Name(name), (node,), span=node.span)
    for name in WIDER:
        if not (isinstance(node, CallExpression) and node.callee.text in TYPES):
            yield "type", 2, CallExpression(Name(name), (node,), span=node.span)
    yield "operation", 2, Infix("*", node, node, span=node.span)
    if whole:
        for name in COLLECTIVE:
            yield "operation", 1, CallExpression(Name(name), (node,), span=node.span)
        yield "operation", 2, Prefix("-", node, span=node.span)
        yield "operation", 2, Infix("/", Float(1.0), node, span=node.span)
        yield "operation", 2, Infix("-", Float(1.0), node, span=node.span)
        for name in ("tmax", "max"):
            yield "operation", 2, CallExpression(Name(name), (node, Float(0.0)), span=node.span)
