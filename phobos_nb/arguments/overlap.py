"""Arrays that share memory: a written array must not overlap another argument.

Note [In place]
One exception is safe and common: the same elements in the same layout passed for a written and a
read tensor, where every access of either uses the same indices and nothing is read after it was
written (`y = a*x + y` with x is y). `language/aliasing.py` finds such pairs: here, `in_place`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any, cast

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.findings import Findings
from phobos_nb.contract import TensorParameter

_MAX_WORK = 100_000
"""Steps NumPy may take to prove two strided arrays disjoint; beyond it they count as overlapping."""


def check_overlap(
    tensors: Sequence[TensorParameter],
    arrays: Mapping[str, ArrayDescription],
    in_place: Collection[frozenset[str]],
    found: Findings,
) -> None:
    """Record pairs that share memory where at least one is written, and outputs that repeat elements."""
    known = [t for t in tensors if t.name in arrays]
    for tensor in known:
        if tensor.writes and repeats_elements(arrays[tensor.name]):
            strides = arrays[tensor.name].strides
            message = (
                f"{tensor.name} is written, but its strides {strides} put several elements in one place"
            )
            found.value_error("PH706", message)
    for one, other in combinations(known, 2):
        a, b = arrays[one.name], arrays[other.name]
        if not (one.writes or other.writes) or not overlap(a, b):
            continue
        together = frozenset((one.name, other.name)) in in_place
        if together and same_elements(a, b):
            continue
        written = " and ".join(t.name for t in (one, other) if t.writes)
        same = ", or the very same array for both" if together else ""
        help = f"the kernel writes {written}; pass a copy{same}"
        found.value_error("PH706", f"{one.name} and {other.name} overlap in memory", help)


def same_elements(a: ArrayDescription, b: ArrayDescription) -> bool:
    """Whether both arrays are the same elements in the same order."""
    return (a.address, a.shape, a.strides) == (b.address, b.shape, b.strides)


def repeats_elements(array: ArrayDescription) -> bool:
    """Whether a zero stride gives several indices one place."""
    pairs = zip(array.shape, array.strides, strict=True)
    return not array.empty and any(s == 0 and n > 1 for n, s in pairs)


def overlap(a: ArrayDescription, b: ArrayDescription) -> bool:
    """Whether two arrays share a byte; exact for strided arrays up to a bound on the work."""
    if a.empty or b.empty:
        return False
    (a_low, a_high), (b_low, b_high) = a.span(), b.span()
    if a_high <= b_low or b_high <= a_low:
        return False
    return _shares_memory(a, b)


def _shares_memory(a: ArrayDescription, b: ArrayDescription) -> bool:
    """NumPy's bounded solver on arrays that only pretend to lie at the addresses; nothing is read."""
    import numpy as np

    try:
        return bool(np.shares_memory(_phantom(a), _phantom(b), max_work=cast(Any, _MAX_WORK)))
    except np.exceptions.TooHardError:
        return True


def _phantom(array: ArrayDescription) -> Any:
    import numpy as np

    class Phantom:
        __array_interface__ = {  # noqa: RUF012 - the protocol asks for this attribute
            "version": 3,
            "typestr": f"|V{array.itemsize}",
            "data": (array.address, True),
            "shape": array.shape,
            "strides": array.strides,
        }

    return np.asarray(Phantom())
