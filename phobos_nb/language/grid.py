"""The grid of a kernel, from how its stores are placed by `ctx.block`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from phobos_nb.contract import GridRule, GridTerm
from phobos_nb.language.definitions import definitions_of
from phobos_nb.language.linear import Linear, Product, linear, mentions_block
from phobos_nb.language.registry import Builtins
from phobos_nb.language.typed import (
    Call,
    Context,
    Expr,
    Point,
    Statement,
    StoreElement,
    StoreTile,
    Tensor,
)
from phobos_nb.language.walk import all_expressions, statements
from phobos_nb.source import Source, Span

_AXES = "xyz"


@dataclass
class _Found:
    """What the stores say: per grid axis the steps with their extents and places, and obstacles."""

    terms: list[dict[GridTerm, Span]] = field(default_factory=lambda: [{}, {}, {}])
    obstacles: list[tuple[str, Span]] = field(default_factory=list[tuple[str, Span]])


def infer_grid(body: tuple[Statement, ...], builtins: Builtins, source: Source) -> GridRule:
    """Axis d is the largest ceil(extent / step) over stores and atomics at `ctx.block.d * step + c`.

    Where the stores leave it open, `problem` names the lines and asks for `grid=`.
    """
    used = _contexts(body, "block")
    if blocks := _contexts(body, "blocks"):
        span = next(iter(blocks.values()))
        problem = f"line {_line(source, span)} reads the grid (`ctx.blocks`): give grid="
        return GridRule(((), (), ()), problem)
    found = _Found()
    definitions = definitions_of(body)
    for index, extent, span in _positions(body, builtins):
        _place(found, linear(index, definitions), extent, span)
    axes = tuple(found.terms)
    problem = _problem(found, used, source)
    return GridRule((tuple(axes[0]), tuple(axes[1]), tuple(axes[2])), problem)


def _contexts(body: tuple[Statement, ...], kind: str) -> dict[int, Span]:
    """The axes of `ctx.block` or `ctx.blocks` that are read, each with its first place."""
    spans: dict[int, Span] = {}
    for expr in all_expressions(body):
        if isinstance(expr, Context) and expr.kind == kind:
            spans.setdefault(expr.axis, expr.span)
    return spans


def _positions(
    body: tuple[Statement, ...], builtins: Builtins
) -> Iterator[tuple[Expr, int | str, Span]]:
    """Every index of every store and atomic, with the extent of its axis."""
    for statement in statements(body):
        if isinstance(statement, StoreTile):
            dims = statement.region.tensor.type.dims
            for subscript, dim in zip(statement.region.subscripts, dims, strict=True):
                index = subscript.index if isinstance(subscript, Point) else subscript.start
                yield index, dim, statement.span
        elif isinstance(statement, StoreElement) and isinstance(statement.base, Tensor):
            for index, dim in zip(statement.indices, statement.base.type.dims, strict=True):
                yield index, dim, statement.span
    for expr in all_expressions(body):
        if isinstance(expr, Call) and builtins[expr.builtin].writes:
            yield from _atomic_positions(expr)


def _atomic_positions(call: Call) -> Iterator[tuple[Expr, int | str, Span]]:
    tensor, *rest = call.arguments or (None,)
    if isinstance(tensor, Tensor):
        for index, dim in zip(rest, tensor.type.dims, strict=False):
            if isinstance(index, Expr):
                yield index, dim, call.span


def _place(found: _Found, position: Linear, extent: int | str, span: Span) -> None:
    """Record the step of one index, or why it has none."""
    involved: dict[int, int] = {}
    for product, step in position.terms.items():
        axes = _axes(product)
        if not axes:
            continue
        if product == (("ctx", "block", next(iter(axes))),) and step > 0:
            involved[next(iter(axes))] = step
        else:
            found.obstacles.append(("is not `ctx.block * step + c` with a constant step", span))
            return
    if len(involved) > 1:
        found.obstacles.append(("combines two axes of `ctx.block`", span))
        return
    for axis, step in involved.items():
        found.terms[axis].setdefault(GridTerm(extent, step), span)


def _axes(product: Product) -> set[int]:
    return {axis for part in product for axis in mentions_block(part)}


def _problem(found: _Found, used: dict[int, Span], source: Source) -> str:
    for what, span in found.obstacles:
        return f"the index of the store in line {_line(source, span)} {what}: give grid="
    for axis, terms in enumerate(found.terms):
        steps = {term.step: span for term, span in terms.items()}
        if len(steps) > 1:
            listed = ", ".join(f"{step} in line {_line(source, at)}" for step, at in steps.items())
            return (
                f"stores step by different amounts along ctx.block.{_AXES[axis]} ({listed}): give grid="
            )
        if not terms and axis in used:
            return (
                f"no store is indexed by ctx.block.{_AXES[axis]} * step + c, "
                f"which line {_line(source, used[axis])} reads: give grid="
            )
    return ""


def _line(source: Source, span: Span) -> int:
    return source.position(span.start).line
