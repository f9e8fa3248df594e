"""The sentences that say why a barrier stands where it does, or why none does."""

from __future__ import annotations

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.locations import place_of
from phobos_nb.lower.accesses import Access, Box, who_meets
from phobos_nb.lower.conflicts import Pair
from phobos_nb.lower.layouts import WARP
from phobos_nb.lower.meetings import Meeting
from phobos_nb.lower.stage_operands import PARTIAL


def reason(pair: Pair) -> str:
    """What would go wrong without the barrier: who meets whose element, and at which lines."""
    first, then = pair.earlier, pair.later
    threads = who_meets(first, then, pair.crossed)
    turn = _turn(pair)
    if threads is None:
        return (
            f"{_is(first)} at line {first.line}, {_how(first)}, and {then.kind.value} "
            f"at line {then.line}{turn}, {_how(then)}: one lane may meet what is another's"
        )
    who, other = (f"by lane {t % WARP} of warp {t // WARP}" for t in threads)
    start = f"{_is(first)} {who} at line {first.line} and"
    end = ", always in one warp" if pair.meeting is Meeting.WARP else ""
    return f"{start} {_then(pair)} {other} at line {then.line}{turn}{end}"


def elision(pair: Pair) -> str:
    """Why no barrier stands between two accesses to one memory."""
    first, then = pair.earlier, pair.later
    start = f"{_is(first)} at line {first.line} and {_then(pair)} at line {then.line}{_turn(pair)}"
    if pair.meeting is Meeting.THREAD:
        return f"{start}: each lane meets only its own elements again"
    return f"{start}: no element is touched by both"


def _is(access: Access) -> str:
    verb = "are" if access.name.startswith(PARTIAL) else "is"
    return f"{access.name} {verb} {access.kind.value}"


def _then(pair: Pair) -> str:
    """What the later access does, and to what, where a reader takes that for another thing."""
    then = pair.later
    return then.kind.value if _same_memory(pair.earlier, then) else f"{_is(then)}, in the same bytes,"


def _same_memory(a: Access, b: Access) -> bool:
    """Whether a reader takes both for one thing."""
    if isinstance(a.memory, Box) or isinstance(b.memory, Box):
        return True
    return a.name == b.name and a.memory.start == b.memory.start


def _turn(pair: Pair) -> str:
    """That a loop began another iteration in between: the outermost one."""
    if not pair.crossed:
        return ""
    lines = [place.line for loop in pair.crossed if (place := place_of(loop))]
    return (
        f" in the next iteration of the loop at line {min(lines)}" if lines else " in the next iteration"
    )


def _how(access: Access) -> str:
    """How the lanes share an access whose elements are not known, or meet others."""
    op = access.op
    if isinstance(op, tile.GatherOp):
        return "each lane at the positions of a gather"
    if isinstance(op, tile.StoreElementOp) and op.once is not None:
        return "by lane 0 of warp 0 alone"
    return "each lane its elements of a tile" if access.by_tile else "each lane at an index of its own"
