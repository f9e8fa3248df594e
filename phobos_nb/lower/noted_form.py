"""The form of a pipelined loop, noted on the loop between the passes that choose and emit it."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, StringAttr, i64
from xdsl.ir import Attribute

from phobos_nb.lower.loop_form import LoopForm

FORM = "phobos.form"


def note_form(loop: scf.ForOp, form: LoopForm) -> None:
    """Note the form on a loop."""
    texts = [StringAttr(t) for t in (form.address, form.guard, form.ring)]
    loop.attributes[FORM] = ArrayAttr([*texts, IntegerAttr(form.slices, i64)])


def form_of(loop: scf.ForOp) -> LoopForm:
    """The form that was noted on a loop."""
    address, guard, ring, slices = cast("ArrayAttr[Attribute]", loop.attributes[FORM]).data
    assert isinstance(address, StringAttr)
    assert isinstance(guard, StringAttr)
    assert isinstance(ring, StringAttr)
    assert isinstance(slices, IntegerAttr)
    count = cast("IntegerAttr[IntegerType]", slices).value.data
    return LoopForm(address.data, guard.data, ring.data, count)
