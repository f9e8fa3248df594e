"""A profiled call as a person reads it: per source line what the GPU counted, beside the simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from phobos_nb.counts import counted

if TYPE_CHECKING:
    from phobos_nb.compilation.profile import Profile
    from phobos_nb.simulate.records import AccessRecord, LineRecord


@dataclass(frozen=True)
class Pair:
    """One count: the GPU's, the simulator's (None: not known) and the fewest that could do.

    simulated is left out where the call was not simulated.
    """

    gpu: int
    simulated: int | None
    fewest: int
    compared: bool = True

    @property
    def differs(self) -> bool:
        """Whether both are known and not the same."""
        return self.compared and self.simulated is not None and self.gpu != self.simulated

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.gpu or self.simulated or self.fewest)


@dataclass(frozen=True)
class ProfileLine:
    """One line of the kernel's text; number 0 is code without a line. notes: why counts differ."""

    number: int
    text: str
    instructions: int
    barriers: int
    wavefronts: Pair
    sectors: Pair
    notes: tuple[str, ...] = ()

    @property
    def costs(self) -> bool:
        """Whether anything was counted here, by either side."""
        return bool(self.instructions) or not (self.wavefronts.empty and self.sectors.empty)


@dataclass(frozen=True)
class ProfileView:
    """A profile, its lines in order; totals: name of a counter -> (GPU, simulator or None)."""

    name: str
    launches: int
    lines: tuple[ProfileLine, ...]
    totals: Mapping[str, tuple[int, int | None]]
    simulated: bool
    report: str

    @property
    def different(self) -> int:
        """How many counts of lines are not the simulator's."""
        return sum(p.differs for line in self.lines for p in (line.wavefronts, line.sectors))


def view_of(profile: Profile) -> ProfileView:
    """The view of a profile."""
    simulation = profile.simulation
    records = {} if simulation is None else {line.line: line for line in simulation.lines}
    accesses: dict[int, list[AccessRecord]] = {}
    for access in () if simulation is None else simulation.accesses:
        accesses.setdefault(access.place.line, []).append(access)
    first, count = profile.source.first_line, len("\n".join(profile.source.lines).rstrip().split("\n"))
    numbers = [0, *range(first, first + count)]
    return ProfileView(
        profile.kernel,
        len(profile.launches),
        tuple(_line(profile, n, records.get(n), accesses.get(n, [])) for n in numbers),
        dict(_totals(profile)),
        simulation is not None,
        str(profile.report or ""),
    )


def _line(
    profile: Profile, number: int, record: LineRecord | None, accesses: Sequence[AccessRecord]
) -> ProfileLine:
    counts = [launch.lines.get(number, {}) for launch in profile.launches]

    def gpu(name: str) -> int:
        return sum(c.get(name, 0) for c in counts)

    compared = profile.simulation is not None and number != 0
    wavefronts = Pair(
        gpu("shared_wavefronts"),
        record.wavefronts if record else 0,
        _or(record and record.fewest_wavefronts, gpu("fewest_shared_wavefronts")),
        compared,
    )
    sectors = Pair(
        gpu("sectors"),
        record.sectors if record else 0,
        _or(record and record.fewest_sectors, gpu("fewest_sectors")),
        compared,
    )
    return ProfileLine(
        number,
        profile.source.line_text(number) if number else "(code without a line)",
        gpu("instructions"),
        gpu("barriers"),
        wavefronts,
        sectors,
        tuple(_notes(wavefronts, sectors, accesses, gpu)) if compared else (),
    )


def _or(simulated: int | None, counted: int) -> int:
    return counted if simulated is None else simulated


Counts = Callable[[str], int]
"""What the GPU counted of a line, by name."""


def _notes(
    wavefronts: Pair, sectors: Pair, accesses: Sequence[AccessRecord], gpu: Counts
) -> Iterator[str]:
    """What is known of the difference of a line's counts."""
    shared = [a for a in accesses if a.space == "shared"]
    if wavefronts.simulated is None:
        yield from _unknown(shared)
    if wavefronts.differs:
        yield "wavefronts: " + ("; ".join(_runs("shared", shared, gpu)) or "not explained")
    if sectors.differs and (blank := gpu("blank_requests")):
        yield (
            f"sectors: ncu's page has none for {blank:,} of {gpu('requests'):,} tag requests, and loses "
            "single records; the launch's counter has all"
        )
    elif sectors.differs:
        outside = [a for a in accesses if a.space == "global"]
        yield "sectors: " + ("; ".join(_runs("global", outside, gpu)) or "not explained")


def _unknown(accesses: Sequence[AccessRecord]) -> Iterator[str]:
    """Why a line's wavefronts are not known."""
    copies = [a for a in accesses if a.kind == "async"]
    if any(a.wavefronts is None for a in copies):
        yield "wavefronts of copies wider than 4 bytes: no counter shows them alone"
    if any(a.spread for a in copies):
        yield "wavefronts of copies from places apart: ncu counts more than banks, how is not known"


def _runs(space: str, accesses: Sequence[AccessRecord], gpu: Counts) -> Iterator[str]:
    """Of the kinds of access that cost something else than simulated: how often the GPU made them."""
    for word, kinds in (("loads", ("load", "matrix")), ("stores", ("store", "matrix_store"))):
        mine = [a for a in accesses if a.kind in kinds]
        cost = sum((a.wavefronts if space == "shared" else a.sectors) or 0 for a in mine)
        ran, has = gpu(f"{space}_{word}"), sum(a.requests for a in mine)
        if gpu(f"{space}_{word}_cost") != cost and ran != has:
            how = "joins, moves or leaves out some" if ran < has else "splits, repeats or moves some"
            yield f"{ran:,} warp {word} ran, the thread IR has {has:,}: the compiler {how}"


def _totals(profile: Profile) -> Iterator[tuple[str, tuple[int, int | None]]]:
    counts, simulation = profile.counts, profile.simulation
    yield "warp instructions", (counts.get("instructions", 0), None)
    accesses = [] if simulation is None else simulation.accesses
    for name, (space, kinds) in COUNTED.items():
        chosen = [a for a in accesses if a.space == space and a.kind in kinds]
        values = [a.counted_wavefronts if space == "shared" else a.sectors for a in chosen]
        known = [v for v in values if v is not None]
        whole = simulation is not None and len(known) == len(values)
        yield name.replace("_", " "), (_counted(counts, name), sum(known) if whole else None)
    if waits := counts.get("shared_load_wavefronts", 0) - _counted(counts, "shared_load_wavefronts"):
        yield "lost to copies in flight", (waits, None)


def _counted(counts: Mapping[str, int], name: str) -> int:
    """A counter; of loads from shared memory what their instructions took, which does not vary."""
    counter = counts.get(name, 0)
    return counts.get("shared_loads_cost", counter) if name == "shared_load_wavefronts" else counter


COUNTED = {
    "shared_load_wavefronts": ("shared", ("load", "matrix")),
    "shared_store_wavefronts": ("shared", ("store",)),
    "global_load_sectors": ("global", ("load",)),
    "global_store_sectors": ("global", ("store",)),
}
"""Counters of a whole launch and the accesses that they count. Loads include asynchronous copies."""


def text(view: ProfileView) -> str:
    """The profile as text: totals, then the lines that cost anything; a star marks a difference."""
    compared = (
        f", {counted(view.different, 'count of a line is', 'counts of lines are')} not the simulator's"
    )
    head = f"{view.name}: {counted(view.launches, 'launch', 'launches')} under ncu"
    lines = [head + (compared if view.simulated else "")]
    for name, (gpu, simulated) in view.totals.items():
        beside = "" if simulated is None else f", simulated {simulated:,}"
        lines.append(f"  {name}: {gpu:,}{beside}")
    lines.append(f"  {'line':>4} {'instructions':>12} {'wavefronts':>17} {'sectors':>17}  text")
    for line in view.lines:
        if line.costs:
            wavefronts, sectors = (pair_text(p) for p in (line.wavefronts, line.sectors))
            head = f"  {line.number or '':>4} {line.instructions:>12,} {wavefronts:>17} {sectors:>17}"
            lines.append(f"{head}  {line.text.strip()}")
            lines += [f"{'':>56}({note})" for note in line.notes]
    return "\n".join(lines)


def pair_text(pair: Pair) -> str:
    """Such as `128`, or where they differ `160 / 128 *`, the GPU's first; `160 / ?` is not known."""
    if pair.empty:
        return ""
    if not pair.compared or pair.gpu == pair.simulated:
        return f"{pair.gpu:,}"
    return f"{pair.gpu:,} / {'?' if pair.simulated is None else f'{pair.simulated:,} *'}"
