"""The launches of a plan in order, with parameter memory of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.grid import Grid
from phobos_nb.contract import LaunchContract, LaunchPlan, ScalarParameter
from phobos_nb.cuda.launch import Parameters, Start, Write, starter
from phobos_nb.cuda.loading import LoadedKernel
from phobos_nb.cuda.scratch import ScratchMemory


class Program:
    """What a call writes and starts. Writing for one call must not overlap the start of another.

    write_addresses(*addresses), write_scalars(*values): of the call's parameters in source order.
    start(stream): all launches, in order; nothing where the grid is empty.
    """

    write_addresses: Write
    write_scalars: Write
    start: Start

    def __init__(
        self,
        plan: LaunchPlan,
        extents: Mapping[str, int],
        arrays: Mapping[str, ArrayDescription],
        loaded: Sequence[tuple[LoadedKernel, Grid]],
        scratch: ScratchMemory | None,
    ) -> None:
        tensors = [p.name for p in plan.parameters if p.name in arrays]
        scalars = [p.name for p in plan.parameters if isinstance(p, ScalarParameter)]
        described = {**arrays, **(scratch.described if scratch else {})}
        places = [*tensors, *(scratch.described if scratch else ())]
        addresses: list[Write] = []
        values: list[Write] = []
        starts: list[Start] = []
        for launch, (kernel, grid) in zip(plan.launches, loaded, strict=True):
            if 0 in grid:
                continue
            contract = launch.contract
            parameters = Parameters(contract)
            parameters.write_layout(_extents(contract, extents, described), described)
            addresses.append(_picked(parameters.write_addresses, _names(contract, "pointer"), places))
            values.append(_picked(parameters.write_scalars, _names(contract, "scalar"), scalars))
            starts.append(starter(kernel, contract, grid, parameters))
        self.write_addresses = _in_order(addresses)
        self.write_scalars = _in_order(values)
        self.start = _in_order(starts)
        if scratch:
            self._take(scratch)

    def _take(self, scratch: ScratchMemory) -> None:
        """Find the scratch of the stream at each start, and write addresses where they changed."""
        write, start = self.write_addresses, self.start
        lock = threading.Lock()
        given: tuple[int, ...] = ()
        written: tuple[int, ...] = ()

        def remember(*addresses: int) -> None:
            nonlocal given
            given = addresses

        def start_with_scratch(stream: int) -> None:
            nonlocal written
            with lock:
                whole = given + scratch.addresses(stream)
                if whole != written:
                    write(*whole)
                    written = whole
                start(stream)

        self.write_addresses, self.start = remember, start_with_scratch


def _names(contract: LaunchContract, kind: str) -> list[str]:
    return [a.name for a in contract.arguments if a.kind == kind]


def _extents(
    contract: LaunchContract, extents: Mapping[str, int], arrays: Mapping[str, ArrayDescription]
) -> dict[str, int]:
    """The call's extents, and those that a launch's own signature names, such as scratch's."""
    own = {
        dim: size
        for t in contract.tensors
        for dim, size in zip(t.dims, arrays[t.name].shape, strict=True)
        if isinstance(dim, str)
    }
    return {**own, **extents}


def _picked(write: Write, wanted: Sequence[str], given: Sequence[str]) -> Write:
    """`write` for a launch that takes `wanted` of the values `given`."""
    if list(wanted) == list(given):
        return write
    indices = [given.index(name) for name in wanted]
    return lambda *values: write(*[values[i] for i in indices])


def _in_order(functions: Sequence[Callable[..., None]]) -> Callable[..., None]:
    """All of them with the same arguments; one is called without a detour."""
    if len(functions) == 1:
        return functions[0]

    def all_of_them(*values: Any) -> None:
        for function in functions:
            function(*values)

    return all_of_them
