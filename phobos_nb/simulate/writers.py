"""Who wrote an element of a tensor last: kept from the race detector's records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from phobos_nb.simulate.clocks import IDENTITY
from phobos_nb.simulate.machine import LaunchShape, linear_number
from phobos_nb.simulate.memory import Tensor
from phobos_nb.simulate.records import Place
from phobos_nb.simulate.shadow import Shadow, operation_of, thread_of


@dataclass(frozen=True)
class Writer:
    """The operation and thread that wrote an element last; `number` is the thread's in the grid."""

    place: Place
    cta: tuple[int, int, int]
    thread: int
    number: int

    @property
    def lane(self) -> int:
        """The thread's lane in its warp."""
        return self.thread % 32


class Writers:
    """The last writer of every element of the tensors that a launch wrote."""

    def __init__(
        self,
        shape: LaunchShape,
        tensors: Mapping[str, Tensor],
        shadows: Mapping[int, Shadow],
        places: Sequence[Place],
        issuers: Mapping[int, int],
    ) -> None:
        self._shape = shape
        self._tensors = tensors
        self._places = places
        self._issuers = issuers
        self._records = {key: (shadow.writes, shadow.unit) for key, shadow in shadows.items()}

    def of(self, tensor: str, index: Sequence[int]) -> Writer | None:
        """The writer of `tensor[index]`; `None` when nobody wrote it or races were not looked for."""
        held = self._tensors[tensor]
        found = self._records.get(id(held.allocation))
        if found is None:
            return None
        records, unit = found
        record = int(records[held.position(index) // unit])
        if not record:
            return None
        number = self._issuers.get(record & IDENTITY, thread_of(record))
        cta, thread = self._shape.owner(number)
        linear = linear_number(cta, self._shape.grid)
        return Writer(
            self._places[operation_of(record)], cta, thread, linear * self._shape.threads + thread
        )
