"""Statements and reductions over a whole run-time extent, walked in chunks of a constant length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod

from phobos_nb.dtypes import INDEX, Kind
from phobos_nb.language import numeric
from phobos_nb.language.check import operators
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import constant, converted, dtype_of, filled, shape_of
from phobos_nb.language.check.expressions import check_value
from phobos_nb.language.check.openness import CLOSING, Open, is_whole, open_axes, open_subscripts
from phobos_nb.language.check.scope import Alias, WholeView
from phobos_nb.language.registry import CallSite
from phobos_nb.language.stable import is_stable
from phobos_nb.language.tree import (
    Along,
    At,
    Between,
    CallExpression,
    Expression,
    Infix,
    Integer,
    Literal,
    Name,
    Prefix,
    Subscript,
    Subscripted,
    Update,
)
from phobos_nb.language.typed import Assign, Expr, Extent, For, Statement, Variable
from phobos_nb.language.types import ScalarType
from phobos_nb.source import Span

SHORTEST, LONGEST = 32, 1024
ELEMENTS = 4096
"""A chunk is as long as makes its tile about this large, within these lengths."""

Chunks = dict[int, tuple[str, int]]
"""Axis from the right -> the name of the position in it, and the length of a chunk."""


def reduce_whole(checker: Checker, node: CallExpression) -> Expr:
    """A reduction along an open axis: combined chunk by chunk, positions past the end left out."""
    name, axis = node.callee.text, CLOSING[node.callee.text]
    (written,) = node.arguments
    symbol = open_axes(checker, written)[axis]
    length = _length(checker, lambda at: check_value(checker, chunked(checker, written, at)), (axis,))
    position = _position(symbol, node.span)
    with checker.nested_scope(), checker.collect() as body:
        checker.scope.names[position.name] = position
        chunk = check_value(checker, chunked(checker, written, {axis: (position.name, length)}))
        inside = _masked(checker, chunk, (axis, symbol, length), position, name)
        part = _call(checker, name, (inside,), node.span)
    start = filled(checker, _identity(name, part, node.span), shape_of(part), "the start")
    total = checker.variable(f"{name} over {symbol}", start, mutable=True, span=node.span)
    value = _combined(checker, name, checker.read(total, node.span), part)
    body.append(Assign(variable=total, value=value, declares=False, span=node.span))
    checker.emit(_walk(position, symbol, length, tuple(body), node.span))
    return checker.read(total, node.span)


def store_whole(checker: Checker, node: Update, store: Callable[[Checker, Update], None]) -> None:
    """A store to open axes: what is the same for all chunks first, then `store` chunk by chunk."""
    assert isinstance(node.target, Subscripted)
    axes = open_axes(checker, node.target)
    _expect_aligned(checker, node.target, node.value)
    with checker.nested_scope():
        value = _hoisted(checker, node.value)
        target = _kept_positions(checker, node.target)
        _expect_covered(checker, axes, open_axes(checker, value), node)
        length = _length(
            checker, lambda at: check_value(checker, chunked(checker, target, at)), tuple(axes)
        )
        _store_chunks(checker, replace(node, target=target, value=value), axes, length, store)


def _store_chunks(
    checker: Checker,
    node: Update,
    axes: Open,
    length: int,
    store: Callable[[Checker, Update], None],
) -> None:
    """One loop per open axis around the store of one chunk."""
    positions = {axis: _position(symbol, node.span) for axis, symbol in axes.items()}
    chunks = {axis: (position.name, length) for axis, position in positions.items()}
    with checker.collect() as body:
        checker.scope.names.update({p.name: p for p in positions.values()})
        target = chunked(checker, node.target, chunks)
        assert isinstance(target, Subscripted)
        store(checker, replace(node, target=target, value=chunked(checker, node.value, chunks)))
    for axis, symbol in reversed(list(axes.items())):
        body = [_walk(positions[axis], symbol, length, tuple(body), node.span)]
    checker.emit(body[0])


def whole_view(checker: Checker, written: Expression) -> WholeView:
    """A view of an open slice, with its positions evaluated now."""
    if isinstance(written, CallExpression):
        inner = whole_view(checker, written.arguments[0]).node
        value = _hoisted(checker, written.arguments[1])
        return WholeView(replace(written, arguments=(inner, value)))
    if isinstance(written, Name):
        binding = checker.scope.find(written.text)
        assert isinstance(binding, WholeView)
        return binding
    assert isinstance(written, Subscripted)
    tensor = checker.scope.find(written.base.text)
    assert tensor is not None
    base = f"{written.base.text} in line {checker.line(written.span)}"
    checker.scope.names[base] = tensor
    renamed = replace(written, base=Name(base, span=written.base.span))
    return WholeView(_kept_positions(checker, renamed))


def chunked(checker: Checker, node: Expression, chunks: Chunks) -> Expression:
    """The expression with `:` of open axes replaced by the present chunk."""
    match node:
        case Name():
            binding = checker.scope.find(node.text)
            return chunked(checker, binding.node, chunks) if isinstance(binding, WholeView) else node
        case Subscripted():
            return _chunked_slice(checker, node, chunks)
        case Prefix(operand=operand):
            return replace(node, operand=chunked(checker, operand, chunks))
        case Infix(left=left, right=right):
            left, right = chunked(checker, left, chunks), chunked(checker, right, chunks)
            return replace(node, left=left, right=right)
        case CallExpression(arguments=arguments):
            inner = _transposed(chunks) if node.callee.text == "transpose" else chunks
            return replace(node, arguments=tuple(chunked(checker, a, inner) for a in arguments))
        case _:
            return node


def _transposed(chunks: Chunks) -> Chunks:
    return {-3 - axis: chunk for axis, chunk in chunks.items()}


def _chunked_slice(checker: Checker, node: Subscripted, chunks: Chunks) -> Subscripted:
    subscripts = list(node.subscripts)
    for axis, _, place in open_subscripts(checker, node):
        if axis in chunks:
            position, length = chunks[axis]
            span = subscripts[place].span
            start = Name(position, span=span)
            subscripts[place] = Along(start, Integer(length, span=span), whole=True, span=span)
    return replace(node, subscripts=tuple(subscripts))


def _hoisted(checker: Checker, node: Expression) -> Expression:
    """The expression with its parts that have no open axis evaluated now, under names of their own."""
    if isinstance(node, Literal):
        return node
    if not open_axes(checker, node):
        return _kept(checker, check_value(checker, node), node.span)
    match node:
        case Prefix(operand=operand):
            return replace(node, operand=_hoisted(checker, operand))
        case Infix(left=left, right=right):
            return replace(node, left=_hoisted(checker, left), right=_hoisted(checker, right))
        case CallExpression(arguments=arguments):
            return replace(node, arguments=tuple(_hoisted(checker, a) for a in arguments))
        case Subscripted():
            return _kept_positions(checker, node)
        case _:
            return node


def _kept(checker: Checker, value: Expr, span: Span) -> Name:
    if not is_stable(value):
        value = checker.hidden(value, "operand")
    name = f"operand at {span.start} to {span.stop}"
    checker.scope.names[name] = Alias(value, "an operand")
    return Name(name, span=span)


def _kept_positions(checker: Checker, node: Subscripted) -> Subscripted:
    def kept(part: Expression | None) -> Expression | None:
        if part is None or isinstance(part, Literal):
            return part
        return _kept(checker, check_value(checker, part), part.span)

    def subscript(written: Subscript) -> Subscript:
        match written:
            case At(index=index):
                return replace(written, index=kept(index) or index)
            case Along(start=start, until=until):
                return replace(written, start=kept(start) or start, until=kept(until))
            case Between():
                if is_whole(written):
                    return written
                return replace(written, start=kept(written.start), stop=kept(written.stop))

    return replace(node, subscripts=tuple(subscript(s) for s in node.subscripts))


def _expect_aligned(checker: Checker, target: Subscripted, value: Expression) -> None:
    """A chunk stored must not be read by a later one (PH207): same tensor, other axis."""
    stored = checker.scope.find(target.base.text)
    places = {axis: place for axis, _, place in open_subscripts(checker, target)}
    for read in _open_reads(checker, value):
        if checker.scope.find(read.base.text) is not stored:
            continue
        if {axis: place for axis, _, place in open_subscripts(checker, read)} != places:
            raise checker.error(
                "PH207",
                f"`{target.base.text}` is stored along one axis and read along another",
                read.span,
                "store to another tensor, or walk the extent in slices",
            )


def _open_reads(checker: Checker, node: Expression) -> list[Subscripted]:
    match node:
        case Name():
            binding = checker.scope.find(node.text)
            return _open_reads(checker, binding.node) if isinstance(binding, WholeView) else []
        case Subscripted():
            return [node] if open_axes(checker, node) else []
        case Prefix(operand=operand):
            return _open_reads(checker, operand)
        case Infix(left=left, right=right):
            return _open_reads(checker, left) + _open_reads(checker, right)
        case CallExpression(arguments=arguments) if open_axes(checker, node):
            return [read for a in arguments for read in _open_reads(checker, a)]
        case _:
            return []


def _expect_covered(checker: Checker, target: Open, value: Open, node: Update) -> None:
    for axis, symbol in value.items():
        if target.get(axis) != symbol:
            message = f"an axis of `{symbol}` elements is stored where the slice has another"
            raise checker.error("PH201", message, node.value.span)


def _length(checker: Checker, trial: Callable[[Chunks], Expr], axes: tuple[int, ...]) -> int:
    """The length of a chunk, from the shape that the tile has with chunks of one element."""
    mark, symbol = checker.mark(), "first position"
    with checker.nested_scope(), checker.collect():
        checker.scope.names[symbol] = Alias(constant(0, INDEX, Span(0, 0)), "a position")
        shape = shape_of(trial(dict.fromkeys(axes, (symbol, 1))))
    checker.rewind(mark)
    room = ELEMENTS // max(1, prod(shape))
    length = 1 << (max(1, int(room ** (1 / len(axes)))).bit_length() - 1)
    return max(SHORTEST, min(LONGEST, length))


def _position(symbol: str, span: Span) -> Variable:
    name = f"position in {symbol} at {span.start} to {span.stop}"
    return Variable(name, ScalarType(INDEX), False, span)


def _walk(position: Variable, symbol: str, length: int, body: tuple[Statement, ...], span: Span) -> For:
    return For(
        variable=position,
        start=constant(0, INDEX, span),
        stop=Extent(type=ScalarType(INDEX), span=span, symbol=symbol),
        step=constant(length, INDEX, span),
        body=body,
        span=span,
    )


def _call(checker: Checker, name: str, arguments: tuple[Expr, ...], span: Span) -> Expr:
    site = CallSite(name, arguments, span, checker.diagnostics, checker.constants)
    return checker.builtins[name].check(site)


def _masked(
    checker: Checker, chunk: Expr, axis: tuple[int, str, int], position: Variable, name: str
) -> Expr:
    """The chunk with the identity of the reduction at positions past the end."""
    place, symbol, length = axis
    span = chunk.span
    row = _call(checker, "iota", (constant(length, INDEX, span),), span)
    if place == -2:
        row = _call(checker, "transpose", (row,), span)
    end = Extent(type=ScalarType(INDEX), span=span, symbol=symbol)
    left = operators.binary(checker, "-", end, checker.read(position, span), span)
    inside = operators.compare(checker, "<", row, left, span)
    return _call(checker, "where", (inside, chunk, _identity(name, chunk, span)), span)


def _identity(name: str, like: Expr, span: Span) -> Expr:
    """The value that leaves a reduction as it is, in the dtype of `like`."""
    dtype = dtype_of(like)
    if name.endswith("sum"):
        return constant(numeric.convert(0, dtype), dtype, span)
    lowest = name.endswith("max")
    if dtype.is_float:
        return constant(float("-inf") if lowest else float("inf"), dtype, span)
    assert dtype.kind is not Kind.BOOL
    return constant(numeric.integer_range(dtype)[0 if lowest else 1], dtype, span)


def _combined(checker: Checker, name: str, total: Expr, part: Expr) -> Expr:
    if name.endswith("sum"):
        return operators.binary(checker, "+", total, part, part.span)
    both = "tmax" if name.endswith("max") else "tmin"
    return converted(checker, _call(checker, both, (total, part), part.span), dtype_of(total))
