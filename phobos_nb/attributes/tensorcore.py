"""`@tensorcore`: run `dot` on tensor cores where it qualifies, and what that does to operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.dtypes import BF16, F16, F32, I8, DType
from phobos_nb.language.attribute_arguments import expect_named, expect_positional, place
from phobos_nb.language.dots import dots
from phobos_nb.language.registry import Attribute, AttributeSite
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.typed import Call, Expr, TypedKernel
from phobos_nb.language.types import TileType

FORM = "@tensorcore, @tensorcore(wmma), @tensorcore(sync) or @tensorcore(wgmma)"
PATHS = ("wmma", "sync", "wgmma")
FRAGMENT = 16
"""Side of the fragments that a tile must be made of."""
WARP = 32
STAGED = {F32: F16, F16: F16, BF16: BF16, I8: I8}
"""Operand dtype -> the dtype it is rounded to when staged; other dtypes have no tensor-core path."""


def check(site: AttributeSite) -> Mapping[str, object]:
    """path: the instruction path asked for, empty where it is the compiler's choice."""
    expect_positional(site, 1, FORM)
    expect_named(site, (), FORM)
    if not site.positional:
        return {"path": ""}
    path = site.positional[0]
    if path not in PATHS:
        help = did_you_mean(str(path), PATHS) or f"write {FORM}"
        message = f"`{path}` is not a path to the tensor cores"
        raise site.diagnostics.error("PH402", message, place(site, 0), help=help)
    return {"path": path}


@dataclass(frozen=True)
class Qualified:
    """A dot on tensor cores: warps along rows and columns, and the dtype of staged operands."""

    warps_m: int
    warps_n: int
    operand: DType


def qualify(m: int, n: int, k: int, operand: DType, threads: int) -> Qualified | str:
    """Whether a [m, k] x [k, n] dot of `operand` elements runs on tensor cores, or why not.

    Every side is a multiple of 16, and the warps tile the 16 x 16 fragments of the result:
    wm * wn warps with wm dividing m / 16 and wn dividing n / 16, as square as that allows.
    """
    if operand not in STAGED:
        return f"operands of {operand} have no tensor-core path"
    if m % FRAGMENT or n % FRAGMENT or k % FRAGMENT:
        return f"tile {m}x{n}x{k} is not a multiple of {FRAGMENT}"
    warps = threads // WARP
    rows, columns = m // FRAGMENT, n // FRAGMENT
    fits = [w for w in range(1, warps + 1) if warps % w == 0 and rows % w == 0]
    fits = [w for w in fits if columns % (warps // w) == 0]
    if not fits:
        return f"{warps} warps do not tile the {rows}x{columns} fragments of a {m}x{n} tile"
    best = min(fits, key=lambda w: abs(rows // w - columns // (warps // w)))
    return Qualified(best, warps // best, STAGED[operand])


def dot_shape(call: Call) -> tuple[int, int, int, DType]:
    """m, n, k and the operands' dtype of a `dot` or `dot_t`."""
    left = call.arguments[0]
    assert isinstance(call.type, TileType)
    assert isinstance(left, Expr)
    assert isinstance(left.type, TileType)
    m, n = call.type.shape
    return m, n, left.type.shape[-1], left.type.dtype


def qualify_dot(call: Call, kernel: TypedKernel) -> Qualified | str:
    """Whether a dot of the kernel runs on tensor cores; also says so without the attribute."""
    if not any(use.name == "tensorcore" for use in kernel.attributes):
        return "the kernel does not ask for tensor cores"
    m, n, k, operand = dot_shape(call)
    return qualify(m, n, k, operand, kernel.threads)


def review(kernel: TypedKernel, diagnostics: Diagnostics) -> None:
    """Note every dot that falls back, and a kernel without any (PH407)."""
    found = list(dots(kernel))
    use = next(u for u in kernel.attributes if u.name == "tensorcore")
    if not found:
        diagnostics.note("PH407", "the kernel has no `dot` for `@tensorcore`", use.span)
    for call in found:
        outcome = qualify_dot(call, kernel)
        if isinstance(outcome, str):
            diagnostics.note("PH407", f"{outcome}: tensor cores not used", call.span)


SPEC = Attribute(
    name="tensorcore",
    signature=FORM,
    doc=(
        "Runs `dot` on tensor cores. f32 operands are rounded to f16 when staged; f16, bf16 and i8 "
        "stay. A request: sides must be multiples of 16 and the warps must tile the fragments; "
        "otherwise the FMA path is used and a note says so."
    ),
    effect="Chooses tensor-core instructions for qualifying dots.",
    check=check,
    review=review,
)
