"""The form in which a pipelined loop is printed: what decides its speed beside the tile, as plain data.

Note [Loop forms]
All forms compute the same. Which is fastest was measured (H200, 4096^3, f32): neutral rewrites of
addresses move one kernel by 10 %, and neither its length nor its share of multiply-adds says which way.
Each choice has a name, a default from measurements, and a number by which a caller can fix it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ADDRESSES = ("pointer", "position")
"""Global addresses: a pointer that the loop moves, or the tensor's base and an offset that it moves."""

GUARDS = ("predicate", "branch", "zero_fill")
"""Copies past the last slice: each one predicated, a branch around all, or copies of no bytes."""

RINGS = ("stage", "offset")
"""Places in the ring of stages: a stage's number, or an element offset for each buffer."""

ORDERS = ("snake", "straight", "columns")
"""Multiply-adds of a k-step: by rows with columns back and forth, by rows, or the first turned."""

GUARD = "phobos.guard"
"""Attribute of the `scf.if` around copies: "branch" where it shall stay a branch in printed code."""


@dataclass(frozen=True)
class LoopForm:
    """One choice of each kind. slices: k-slices of one iteration, the rest in a loop of its own."""

    address: str = "pointer"
    guard: str = "predicate"
    ring: str = "stage"
    slices: int = 1


UNROLLED = 2048
"""Multiply-adds of an unrolled iteration: 36 KB of code, which still ran at full speed."""

MOST_SLICES = 4

MASKED_SLICES = 8

WORTH_UNROLLING = 32
"""Products a k-step below which unrolled masked copies cost more than they gain, by spills."""

MANY_SUMS = 64
"""Products a k-step from which copies of no bytes are cheaper than predicates."""

DEEPEST = 3
"""Stages where copies are asynchronous; for four slices four, then places in the ring are constants."""


def unrolled_slices(accumulators: int, depth: int, *, masked: bool = False) -> int:
    """K-slices that one iteration holds by default: 4, 2 or 1, as many as `UNROLLED` allows.

    With masked copies 8 or 1: at 1000 and 1023 cubed eight slices of 8 k-steps with 8 x 4 elements a
    thread gained 5 % and 15 %, four 4 % and 13 %; two of 8 x 8 and 16 x 8 lost 4 % and 6 %, by spills.

    `accumulators`: products that a thread adds in one k-step of `depth`. Measured on an H200 against one
    slice: 8 x 8 and 8 x 4 elements a thread +3.5 % and +11 % with four, 16 x 8 +2 % with two, -6 % with
    three.
    """
    if masked:
        fits = MASKED_SLICES * accumulators * depth <= UNROLLED
        return MASKED_SLICES if fits and accumulators >= WORTH_UNROLLING else 1
    fits = UNROLLED // max(1, accumulators * depth)
    return next((n for n in (MOST_SLICES, 2) if fits >= n), 1)


def default_stages(slices: int) -> int:
    """Stages for so many slices in an iteration."""
    return max(DEEPEST, min(slices, MOST_SLICES))


def choose_form(
    accumulators: int,
    depth: int,
    mode: str,
    constants: Mapping[str, int],
    *,
    masked: bool,
    wide: bool = False,
) -> LoopForm:
    """The form for a loop whose threads add `accumulators` products `depth` times per slice.

    mode: how copies are made, "async" or "registers". masked: whether copies look at their place.
    wide: whether some move several elements. Masked copies that do are made past the last slice too, of
    no bytes, in loops of 64 sums a thread: at 4100 cubed that gained 10 % with tiles of 64 x 256; with
    128 x 256 from -4 to 4 %, by how the rest of the code fell out; at 4096 x 16 x 4096 it lost 20 %.
    """
    slices = unrolled_slices(accumulators, depth, masked=masked) if mode == "async" else 1
    ring = picked(RINGS, "RING", constants)
    filled = masked and wide and mode == "async" and MANY_SUMS <= accumulators < 2 * MANY_SUMS
    default = GUARDS.index("zero_fill") if filled else 0
    return LoopForm(
        picked(ADDRESSES, "ADDRESS", constants),
        picked(GUARDS, "GUARD", constants, default),
        ring if mode == "async" else "stage",
        max(1, constants.get("SLICES", slices)),
    )


def picked(choices: tuple[str, ...], name: str, constants: Mapping[str, int], default: int = 0) -> str:
    """The choice that a caller fixed by its number, else the default; a number too large is the last."""
    return choices[min(max(0, constants.get(name, default)), len(choices) - 1)]
