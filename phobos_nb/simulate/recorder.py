"""Collects what a simulation sees; findings of one kind at one place are counted, not repeated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from phobos_nb.counts import counted
from phobos_nb.simulate.patterns import PatternCosts, known
from phobos_nb.simulate.records import (
    AccessRecord,
    BarrierRecord,
    Event,
    Fault,
    FaultKind,
    LineRecord,
    Place,
    Race,
    RaceKind,
    SimulationResult,
)

Cta = tuple[int, int, int]


class Stopped(Exception):
    """Leaves the simulation at the first finding, when that was asked for."""


class SimulationInterrupted(KeyboardInterrupt):
    """Ctrl-C during a simulation; `result` is what was seen until then, outputs as they were then."""

    def __init__(self, result: SimulationResult) -> None:
        seen = f"{counted(len(result.races), 'race')}, {counted(len(result.faults), 'fault')}"
        super().__init__(
            f"after {result.ctas:,} of {counted(result.grid_ctas, 'CTA')}, with {seen}; "
            "what was seen is in `.result` of this exception (`sys.last_value.result`)"
        )
        self.result = result


@dataclass
class AccessCounts:
    """Running sums of one memory operation."""

    record: AccessRecord
    costs: dict[int, PatternCosts] = field(default_factory=dict[int, PatternCosts])

    def add(self, totals: Sequence[int]) -> None:
        """Add the costs of one execution by some warps, in the order of `PatternCosts`."""
        record = self.record
        if record.space == "shared":
            wavefronts = known(totals[0])
            old = record.wavefronts
            record.wavefronts = None if wavefronts is None or old is None else old + wavefronts
            record.fewest_wavefronts += totals[1]
        else:
            record.lines += totals[0]
            record.fewest_lines += totals[1]
            record.sectors += totals[2]
            record.fewest_sectors += totals[3]


class Recorder:
    """The findings and counts of one simulation. `places` are indexed by operation.

    steps: accesses, barriers and waits of the traced CTA so far, counted while it is traced or probed.
    """

    def __init__(self, places: Sequence[Place], *, stop_at_first: bool = False) -> None:
        self.places = places
        self.stop_at_first = stop_at_first
        self.accesses: dict[tuple[int, str], AccessCounts] = {}
        self.instructions = [0] * len(places)
        self.reasons: dict[int, str] = {}
        self.barrier_counts: dict[int, int] = {}
        self.events: list[Event] = []
        self.steps = 0
        self.printed: list[str] = []
        self._faults: dict[tuple[FaultKind, int, str, bool], Fault] = {}
        self._races: dict[tuple[str, int, int, str], Race] = {}

    def fault(
        self,
        kind: FaultKind,
        op: int,
        message: str,
        cta: Cta,
        thread: int,
        *,
        tensor: str = "",
        element: tuple[int, ...] = (),
        count: int = 1,
        threads: tuple[int, ...] = (),
        index: tuple[int, ...] = (),
        array: tuple[int, tuple[int, ...]] | None = None,
        certain: bool = False,
        remedy: str = "",
    ) -> None:
        """Record a fault; a further one of this kind here only raises its count.

        certain: it is one whatever the outputs, so that `forget` keeps it. remedy: as in `Fault`.
        """
        key = (kind, op, tensor, certain)
        seen = self._faults.get(key)
        if seen is None:
            self._faults[key] = Fault(
                kind,
                message,
                self.places[op],
                cta,
                thread,
                tensor,
                element,
                count,
                threads,
                index,
                array,
                remedy,
            )
        else:
            self._faults[key] = replace(seen, count=seen.count + count)
        if kind != "uninitialised" or certain:
            self._maybe_stop()

    def has(self, kind: FaultKind) -> bool:
        """Whether a fault of a kind was recorded."""
        return any(f.kind == kind for f in self._faults.values())

    def forget(self, kind: FaultKind) -> None:
        """Drop the faults of a kind that are not certain."""
        self._faults = {key: f for key, f in self._faults.items() if f.kind != kind or key[-1]}

    def race(
        self,
        kind: RaceKind,
        ops: tuple[int, int],
        ctas: tuple[Cta, Cta],
        threads: tuple[int, int],
        tensor: str,
        element: tuple[int, ...],
        count: int,
        *,
        several: bool = False,
        name: str = "",
    ) -> None:
        """Record a race of two accesses; several: threads made the earlier one, the last is named."""
        key = (kind, *ops, tensor)
        seen = self._races.get(key)
        if seen is None:
            places = self.places[ops[0]], self.places[ops[1]]
            self._races[key] = Race(
                kind, *places, *ctas, *threads, tensor, element, count, name, several
            )
        else:
            self._races[key] = replace(seen, count=seen.count + count)
        self._maybe_stop()

    def access(
        self, op: int, kind: str, space: str, tensor: str, elements: int, size: int
    ) -> AccessCounts:
        """The running sums of a memory operation on one memory."""
        key = (op, tensor)
        counts = self.accesses.get(key)
        if counts is None:
            record = AccessRecord(
                self.places[op],
                kind,
                "shared" if space == "shared" else "global",
                tensor,
                elements * size,
            )
            counts = self.accesses[key] = AccessCounts(record)
        return counts

    def barrier(self, op: int, ctas: int) -> None:
        """Some CTAs passed a barrier."""
        self.barrier_counts[op] = self.barrier_counts.get(op, 0) + ctas

    def _maybe_stop(self) -> None:
        if self.stop_at_first:
            raise Stopped

    @property
    def faults(self) -> list[Fault]:
        """Faults in the order in which they were first seen."""
        return list(self._faults.values())

    @property
    def races(self) -> list[Race]:
        """Races in the order in which they were first seen."""
        return list(self._races.values())

    def access_records(self) -> list[AccessRecord]:
        """Access counts in program order."""
        return [c.record for _, c in sorted(self.accesses.items(), key=lambda i: i[0])]

    def barrier_records(self) -> list[BarrierRecord]:
        """Barriers in program order, those never reached included."""
        return [
            BarrierRecord(self.places[op], reason, self.barrier_counts.get(op, 0))
            for op, reason in sorted(self.reasons.items())
        ]

    def line_records(self, *, counted: bool = True) -> list[LineRecord]:
        """Counts per source line, in line order; lines without an instruction are left out.

        counted: whether accesses were; else the records know only of instructions.
        """
        instructions: dict[int, int] = {}
        for place, count in zip(self.places, self.instructions, strict=True):
            instructions[place.line] = instructions.get(place.line, 0) + count
        by_line: dict[int, list[AccessRecord]] = {}
        for record in self.access_records():
            by_line.setdefault(record.place.line, []).append(record)
        return [
            _line(line, count, by_line.get(line, [])) if counted else _uncounted(line, count)
            for line, count in sorted(instructions.items())
            if line and count
        ]


def _uncounted(line: int, instructions: int) -> LineRecord:
    return LineRecord(line, instructions, None, None, None, None, None, None, None, None)


def _line(line: int, instructions: int, records: Sequence[AccessRecord]) -> LineRecord:
    shown = [r.counted_wavefronts for r in records if r.space == "shared"]
    exact = [w for w in shown if w is not None]
    return LineRecord(
        line,
        instructions,
        sum(exact) if len(exact) == len(shown) else None,
        sum(r.fewest_wavefronts for r in records),
        sum(r.lines for r in records),
        sum(r.fewest_lines for r in records),
        sum(r.sectors for r in records),
        sum(r.fewest_sectors for r in records),
        sum(r.masked for r in records),
        sum(r.bytes for r in records),
    )
