"""The path of a warm call: arrays of one library, plain scalars, a layout met before.

Every check that depends on the arguments is made: their types by the table of paths; dtype, shape,
strides, alignment and GPU by comparing the key of the layout with those that plans were made for;
overlap by the plan's guard; the range of scalars by packing them. The rest is left to `Dispatcher`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from operator import itemgetter
from typing import Any, cast

from phobos_nb.cuda.arrays import Library
from phobos_nb.cuda.device_plan import DevicePlan
from phobos_nb.cuda.driver import cupy

Path = Callable[[tuple[Any, ...], Any], bool]
"""path(arguments, grid): start the call; False, with nothing done, where no plan is known for it."""


def fast_path(
    library: Library,
    tensors: Sequence[int],
    scalars: Sequence[int],
    plans: dict[Hashable, DevicePlan],
) -> Path:
    """The path for arguments of certain types; `tensors` and `scalars` are their positions."""
    arrays_of, values_of = _picker(tensors), _picker(scalars)
    scan, stream_of, find = library.scan, library.stream, plans.get
    runtime = cupy().cuda.runtime
    several, current = runtime.getDeviceCount() > 1, runtime.getDevice
    last: tuple[list[Hashable], DevicePlan] | tuple[None, None] = None, None

    def path(arguments: tuple[Any, ...], grid: Any) -> bool:
        nonlocal last
        if grid is not None and not _is_plain(grid):
            return False
        key: list[Hashable] = [grid]
        addresses = scan(arrays_of(arguments), key)
        known, plan = last
        if key != known or plan is None:
            plan = find(tuple(key))
            if plan is None:
                return False
            last = key, plan
        device = plan.device
        if several and current() != device:
            return False
        plan.run(addresses, values_of(arguments), stream_of(device))
        return True

    return path


def _is_plain(grid: Any) -> bool:
    """Whether a grid is an int or a tuple of them, which is compared as it is."""
    sizes = cast("tuple[Any, ...]", grid if type(grid) is tuple else (grid,))
    return all(type(size) is int for size in sizes)


def _picker(positions: Sequence[int]) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """A function that takes these of a tuple's items, as a tuple."""
    if len(positions) > 1:
        return itemgetter(*positions)
    start = positions[0] if positions else 0
    return itemgetter(slice(start, start + len(positions)))
