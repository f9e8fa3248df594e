"""What mends a fault or a race, by its kind: the sentence behind `help:`."""

from __future__ import annotations

from collections.abc import Mapping

FAULTS: Mapping[str, str] = {
    "out_of_bounds": "guard the access by the extent, or correct the index: none counts from the end",
    "misaligned": "begin at a multiple of that many bytes, or move fewer elements at once",
    "uninitialised": "write the element first, with a barrier behind it where another thread reads it",
    "barrier_divergence": "let all threads come: move the barrier out of the branch or loop",
    "deadlock": "what each waits for has to be done by one who does not wait: compare counts, order",
    "named_barrier": "whoever meets at a number gives one count: the threads of whole warps that come",
    "division_by_zero": "divide only where the divisor is not zero",
    "shift": "shift by less than the integer has bits",
    "conversion": "bring the number into the integer's range first, and NaN to a number",
    "shuffle": "let the lane that is read take part: move the shuffle out of the branch",
    "mbarrier": "init once, then a fence and a barrier; as many arrivals and bytes as a phase expects",
    "bulk_copy": "16-byte addresses and sizes, inside the tensor and array, by a descriptor of this box",
    "cluster": "name a CTA of this cluster, and let none end before the last access: a cluster barrier",
    "registers": "write all registers of the operand first, by all lanes that the operation reads",
    "descriptor": "take start, strides and swizzle from the layout in which the tile was written",
    "assert": "look at the values of the condition at this thread: `trace`, or a print before it",
    "trap": "the kernel ends itself here: look at the condition that leads to it",
    "fragment": "the whole warp has to come: move the operation out of the branch",
}
"""By kind of fault: every kind has one."""

RACES: Mapping[str, str] = {
    "copy in flight": "wait for the copy's group first, and then a barrier where another thread reads",
    "read in flight": "wait until the copy or product has read it before it is written again",
    "missing proxy fence": "put `fence.proxy.async` behind the threads' writes and before the copy",
    "registers in flight": "wait for the product's group before its registers are touched",
    "missing wgmma fence": "put `wgmma.fence` between the writing of the registers and the product",
}
"""By kind of race, where that alone tells."""


def one_index(*, past: bool) -> str:
    """Of an access outside an array at an index that all threads have: no condition by thread mends it.

    past: behind the last element, else before the first.
    """
    side = "past the last element" if past else "before the first element"
    larger = ", or make the array larger" if past else ""
    return f"the index is {side} whichever thread comes: correct it{larger}"
