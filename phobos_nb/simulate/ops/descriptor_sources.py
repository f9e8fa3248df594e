"""From a matrix descriptor back to the arrays whose memory it was made for."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp
from phobos_nb.simulate.value_flow import origins


def sources_of(descriptor: SSAValue) -> tuple[SSAValue, ...]:
    """The memrefs that a descriptor may describe: through sums, choices and loops."""
    found: dict[SSAValue, None] = {}
    seen: set[SSAValue] = set()
    left = [descriptor]
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        made = value.owner
        if isinstance(made, WgmmaDescriptorOp):
            found[made.src] = None
        elif isinstance(made, arith.AddiOp | arith.SelectOp):
            left += made.operands
        else:
            left += origins(value)
    return tuple(found)
