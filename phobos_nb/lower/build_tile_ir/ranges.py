"""The positions of a counted loop as `scf.for` counts: from `start` in positive steps below `stop`.

A loop that counts down, or whose step is known only at run time, counts its iterations instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from phobos_nb.dtypes import INDEX as INDEX_DTYPE
from phobos_nb.dtypes import DType
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.convert import convert
from phobos_nb.ir.fold import constant_value
from phobos_nb.language.typed import For
from phobos_nb.language.types import ScalarType
from phobos_nb.lower.build_tile_ir.expressions import Expressions


@dataclass(frozen=True)
class Range:
    """What to count, and how the loop variable follows: `origin + count * stride`, or the count."""

    start: SSAValue
    stop: SSAValue
    step: SSAValue
    dtype: DType
    origin: SSAValue | None = None
    stride: SSAValue | None = None

    def variable(self, builder: Builder, count: SSAValue) -> SSAValue:
        """The loop variable at a count."""
        if self.origin is not None and self.stride is not None:
            count = builder.addi(self.origin, builder.muli(count, self.stride))
        return convert(builder, count, INDEX_DTYPE, self.dtype)


def counted_range(expressions: Expressions, loop: For) -> Range:
    """The range of a loop; start, stop and step are evaluated in that order."""
    assert isinstance(loop.variable.type, ScalarType)
    dtype = loop.variable.type.dtype
    start, stop, step = (expressions.index(e) for e in (loop.start, loop.stop, loop.step))
    builder = expressions.state.builder
    known = constant_value(step)
    if known is not None and known > 0:
        return Range(start, stop, step, dtype)
    count = _iterations(builder, start, stop, step, downward=None if known is None else known < 0)
    return Range(builder.index(0), count, builder.index(1), dtype, start, step)


def _iterations(
    builder: Builder, start: SSAValue, stop: SSAValue, step: SSAValue, *, downward: bool | None
) -> SSAValue:
    """How often the loop runs; negative or zero for none. `downward` is None where it is not known."""
    down = builder.ceildivsi(builder.subi(start, stop), builder.subi(builder.index(0), step))
    if downward:
        return down
    up = builder.ceildivsi(builder.subi(stop, start), step)
    return (
        up
        if downward is not None
        else builder.select(builder.cmpi("slt", step, builder.index(0)), down, up)
    )
