"""The form in which a pipelined loop is printed: what decides its speed beside the tile, as plain data.

Note [Loop forms]
All forms compute the same. Which is fastest was measured (H200, 4096^3, f32): neutral rewrites of
addresses move one kernel by 10 %, and neither its length nor its share of multiply-adds says which way.
Each choice has a name, a default from measurements, and a number by which a caller can fix it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

ADDRESSES = ("pointer", "position")
"""Global addresses: a pointer that the loop moves, or the tensor's base and an offset that it moves."""

GUARDS = ("predicate", "branch", "zero_fill")
"""Copies past the last slice: each one predicated, a branch around all, or copies of no bytes."""

RINGS = ("stage", "offset")
"""Places in the ring of stages: a stage's number, or an element offset for each buffer."""

ORDERS = ("snake", "straight", "columns")
"""Multiply-adds of a k-step: by rows with columns back and forth, by rows, or the first turned."""

OVERRIDES = ("ADDRESS", "GUARD", "RING", "SLICES")
"""Compile options that fix one choice each, by its place in the tuples above; SLICES is a count."""

FORM = "phobos.form"

GUARD = "phobos.guard"
"""Attribute of the `scf.if` around copies: "branch" where it shall stay a branch in printed code."""


@dataclass(frozen=True)
class LoopForm:
    """One choice of each kind. slices: k-slices of one iteration, the rest in a loop of its own."""

    address: str = "pointer"
    guard: str = "predicate"
    ring: str = "stage"
    slices: int = 1

    def attach(self, loop: scf.ForOp) -> None:
        """Note the form on a loop."""
        texts = [StringAttr(t) for t in (self.address, self.guard, self.ring)]
        loop.attributes[FORM] = ArrayAttr([*texts, IntegerAttr(self.slices, i64)])


def form_of(loop: scf.ForOp) -> LoopForm:
    """The form that was noted on a loop."""
    form = loop.attributes[FORM]
    assert isinstance(form, ArrayAttr)
    address, guard, ring, slices = cast("ArrayAttr[Attribute]", form).data
    assert isinstance(address, StringAttr)
    assert isinstance(guard, StringAttr)
    assert isinstance(ring, StringAttr)
    assert isinstance(slices, IntegerAttr)
    return LoopForm(address.data, guard.data, ring.data, slices.value.data)


UNROLLED = 2048
"""Multiply-adds of an unrolled iteration: 36 KB of code, which still ran at full speed."""

MOST_SLICES = 4


def choose_form(
    accumulators: int, depth: int, mode: str, constants: Mapping[str, int], *, masked: bool
) -> LoopForm:
    """The form for a loop whose threads add `accumulators` products `depth` times per slice.

    mode: how copies are made, "async" or "registers". masked: whether copies look at their place.
    """
    fits = UNROLLED // max(1, accumulators * depth)
    slices = MOST_SLICES if fits >= MOST_SLICES and not masked and mode == "async" else 1
    ring = picked(RINGS, "RING", constants)
    return LoopForm(
        picked(ADDRESSES, "ADDRESS", constants),
        picked(GUARDS, "GUARD", constants),
        ring if mode == "async" else "stage",
        max(1, constants.get("SLICES", slices)),
    )


def picked(choices: tuple[str, ...], name: str, constants: Mapping[str, int]) -> str:
    """The choice that a caller fixed by its number, else the first; a number too large is the last."""
    return choices[min(max(0, constants.get(name, 0)), len(choices) - 1)]
