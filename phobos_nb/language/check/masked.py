"""Indices that are outside a tensor for every thread (PH214): masked, and so without any effect.

A tensor masks what is outside, so that the last CTA need not care where the data ends. Where extents,
constants and positions that are never negative say that a whole access is outside, it reads zeros or
stores nothing: that is legal, and hardly ever meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from phobos_nb.counts import counted
from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.check.known import Values, never_negative, sum_of
from phobos_nb.language.linear import Linear, Product
from phobos_nb.language.typed import (
    Call,
    ElementRead,
    Expr,
    Region,
    Slice,
    Statement,
    StoreElement,
    StoreTile,
    Tensor,
    TileRead,
)
from phobos_nb.language.types import ScalarType, TileType
from phobos_nb.source import Span


@dataclass(frozen=True)
class Access:
    """A box of a tensor: the first index and the length per axis, and what comes of one outside."""

    tensor: Tensor
    starts: Sequence[Expr]
    lengths: Sequence[int]
    effect: str


def accesses(node: Statement | Expr) -> Iterator[Access]:
    """The access of a tensor that a statement or expression itself makes, if it makes one."""
    match node:
        case StoreElement(base=Tensor() as base, indices=indices):
            yield _element(base, indices, "stores nothing")
        case ElementRead(base=Tensor() as base, indices=indices):
            yield _element(base, indices, "reads 0")
        case StoreTile(region=region):
            yield _box(region, "is stored nowhere")
        case TileRead(region=region, pad=pad):
            yield _box(region, "reads 0" if pad is None else "is the filler")
        case Call(arguments=(Tensor() as base, *rest)):
            yield from _atomic(base, rest)
        case _:
            return


def _element(base: Tensor, indices: Sequence[Expr], effect: str) -> Access:
    return Access(base, indices, (1,) * len(indices), f"every thread that gets here {effect}")


def _box(region: Region, effect: str) -> Access:
    starts = [s.start if isinstance(s, Slice) else s.index for s in region.subscripts]
    lengths = [s.length if isinstance(s, Slice) else 1 for s in region.subscripts]
    return Access(region.tensor, starts, lengths, f"every element of the slice {effect}")


def _atomic(base: Tensor, rest: Sequence[Expr | object]) -> Iterator[Access]:
    """A built-in with one scalar per axis behind the tensor and operands after them."""
    rank = len(base.type.dims)
    values = [value for value in rest if isinstance(value, Expr)]
    indices = [v for v in values[:rank] if isinstance(v.type, ScalarType)]
    if len(indices) < rank or len(values) <= rank:
        return
    shape = values[-1].type.shape if isinstance(values[-1].type, TileType) else ()
    lengths = (1,) * (rank - len(shape)) + shape
    yield Access(base, indices, lengths, "every thread that gets here changes nothing")


@dataclass
class Accesses:
    """Warns of accesses that are wholly outside, once at each index."""

    diagnostics: Diagnostics
    reported: set[tuple[str, int, Span]] = field(default_factory=set[tuple[str, int, Span]])

    def check(self, access: Access, values: Values) -> None:
        """Hold each axis to its extent. values: what variables are sure to hold."""
        for axis, (start, length) in enumerate(zip(access.starts, access.lengths, strict=True)):
            form = sum_of(start, values)
            place = access.tensor.name, axis, start.span
            if form is None or place in self.reported:
                continue
            extent = _extent(access.tensor.type.dims[axis])
            past = never_negative(form.plus(extent, -1))
            if past or never_negative(Linear(-length).plus(form, -1)):
                self.reported.add(place)
                self._warn(access, axis, _found(form, length, past), past)

    def _warn(self, access: Access, axis: int, found: str, past: bool) -> None:
        tensor, dim = access.tensor, access.tensor.type.dims[axis]
        last = shown(_extent(dim).plus(Linear(-1)))
        name = axis_name(tensor.name, len(tensor.type.dims), axis)
        has = counted(dim, "element") if isinstance(dim, int) else f"{dim} elements"
        message = f"{name} has {has}, 0 to {last}, found {found}: {access.effect}"
        help = mend(last, "leave this out", past=past)
        self.diagnostics.warn("PH214", message, access.starts[axis].span, help=help)


def axis_name(array: str, rank: int, axis: int) -> str:
    """What has an index: an array of one axis, or an axis of several."""
    return f"`{array}`" if rank == 1 else f"axis {axis} of `{array}`"


def mend(last: object, other: str, *, past: bool) -> str:
    """How an index outside is mended. past: it is behind the last one, and `other` would do too."""
    if past:
        return f"the last index is {last}: correct it, or {other}"
    return f"no index counts from the end: the last is {last}"


def _extent(dim: int | str) -> Linear:
    return Linear(dim) if isinstance(dim, int) else Linear(0, {(("extent", dim),): 1})


def _found(form: Linear, length: int, past: bool) -> str:
    """The index or indices, or where they begin if the rest differs between threads and iterations."""
    fixed = {p: c for p, c in form.terms.items() if all(a[0] == "extent" for a in p)}
    exact = len(fixed) == len(form.terms)
    first, last = (Linear(form.constant + more, fixed) for more in (0, length - 1))
    if exact:
        return f"index {shown(first)}" if length == 1 else f"indices {shown(first)} to {shown(last)}"
    return f"index {shown(first)} or more" if past else f"index {shown(last)} or less"


def shown(form: Linear) -> str:
    """A sum of extents as the language writes it: `2 * N - 1`."""
    parts = [_term(product, c) for product, c in sorted(form.terms.items(), key=repr)]
    if form.constant or not parts:
        parts.append(str(form.constant))
    return " + ".join(parts).replace("+ -", "- ")


def _term(product: Product, coefficient: int) -> str:
    names = " * ".join(str(atom[1]) for atom in product)
    return {1: names, -1: f"-{names}"}.get(coefficient, f"{coefficient} * {names}")
