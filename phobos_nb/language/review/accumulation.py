"""f16 tiles that add up long sums (PH211)."""

from __future__ import annotations

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.dtypes import F16
from phobos_nb.language.dots import is_dot
from phobos_nb.language.typed import (
    Assign,
    Binary,
    Constant,
    Convert,
    Expr,
    For,
    Statement,
    TypedKernel,
    VariableRead,
)
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import blocks, expressions

LONGEST = 2048
"""Above 2048 an f16 no longer holds every integer: 2048 + 1 is 2048."""


def review_accumulation(kernel: TypedKernel, diagnostics: Diagnostics) -> None:
    """Warn of f16 accumulators whose sum may be longer than 2048 terms."""
    _block(kernel.body, 1, diagnostics)


def _block(body: tuple[Statement, ...], trips: int | None, diagnostics: Diagnostics) -> None:
    """`trips`: how often the block runs, None where that is known only at run time."""
    for statement in body:
        if isinstance(statement, Assign):
            _assignment(statement, trips, diagnostics)
        inner = trips
        if isinstance(statement, For):
            count = _trips(statement)
            inner = None if trips is None or count is None else trips * count
        for block in blocks(statement):
            _block(block, inner, diagnostics)


def _trips(loop: For) -> int | None:
    bounds = (loop.start, loop.stop, loop.step)
    numbers = [int(b.value) for b in bounds if isinstance(b, Constant)]
    return len(range(*numbers)) if len(numbers) == 3 else None


def _assignment(node: Assign, trips: int | None, diagnostics: Diagnostics) -> None:
    if not isinstance(node.variable.type, TileType) or node.variable.type.dtype != F16:
        return
    added = _added(node)
    if added is None or trips == 1:
        return
    terms = _depth(added)
    if trips is None:
        length = "a number of terms known only at run time"
    elif terms * trips > LONGEST:
        length = f"{terms * trips} terms"
    else:
        return
    diagnostics.warn(
        "PH211",
        f"the f16 tile `{node.variable.name}` adds up {length}: above {LONGEST} small addends are lost",
        node.span,
        help=f"declare it f32: `var {node.variable.name}: tile<f32>[...]`; the store converts",
    )


def _added(node: Assign) -> Expr | None:
    """What an assignment adds to its own variable."""
    value = node.value.operand if isinstance(node.value, Convert) else node.value
    if not isinstance(value, Binary) or value.op != "+":
        return None
    for own, other in ((value.left, value.right), (value.right, value.left)):
        source = own.operand if isinstance(own, Convert) else own
        if isinstance(source, VariableRead) and source.variable is node.variable:
            return other
    return None


def _depth(added: Expr) -> int:
    """How many terms one addition adds: the contracted extent of its dots, else one."""
    lefts = [e.arguments[0] for e in (added, *expressions(added)) if is_dot(e)]
    kinds = [e.type for e in lefts if isinstance(e, Expr)]
    return max((k.shape[-1] for k in kinds if isinstance(k, TileType)), default=1)
