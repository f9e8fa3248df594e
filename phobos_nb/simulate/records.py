"""What a simulation reports: plain data, one class per kind of finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from phobos_nb.counts import counted
from phobos_nb.simulate import advice
from phobos_nb.simulate.shared_arrays import indexed
from phobos_nb.simulate.tile_accesses import TileAccess, tile_accesses
from phobos_nb.simulate.who import thread as who_is
from phobos_nb.simulate.who import threads as who_are

if TYPE_CHECKING:
    import pandas as pd

    from phobos_nb.simulate.operands import Operand
    from phobos_nb.simulate.writers import Writer, Writers

FaultKind = Literal[
    "out_of_bounds",
    "misaligned",
    "uninitialised",
    "barrier_divergence",
    "deadlock",
    "mbarrier",
    "named_barrier",
    "bulk_copy",
    "cluster",
    "registers",
    "division_by_zero",
    "shift",
    "conversion",
    "shuffle",
    "descriptor",
    "fragment",
    "assert",
    "trap",
]
RaceKind = Literal[
    "read after write",
    "write after read",
    "write after write",
    "copy in flight",
    "read in flight",
    "missing proxy fence",
    "registers in flight",
    "missing wgmma fence",
]


@dataclass(frozen=True)
class Place:
    """An operation and where it comes from: 1-based line and column, 0 when unknown."""

    op: str
    index: int
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        where = f"line {self.line}:{self.column}" if self.line else f"op {self.index}"
        return f"{self.op} at {where}"


@dataclass(frozen=True)
class Fault:
    """Something the GPU forbids or leaves undefined, at the first thread that did it.

    `tensor` and `element` name the memory for accesses (element index in the tensor, or byte
    offset in shared memory); `count` is how often it happened at this place. `threads` are those of the
    CTA that did it at once, where that is known. Of an access that left an array of shared memory,
    `index` is the element's in it and `array` the array's first byte and extents.
    """

    kind: FaultKind
    message: str
    place: Place
    cta: tuple[int, int, int]
    thread: int
    tensor: str = ""
    element: tuple[int, ...] = ()
    count: int = 1
    threads: tuple[int, ...] = ()
    index: tuple[int, ...] = ()
    array: tuple[int, tuple[int, ...]] | None = None
    remedy: str = ""

    @property
    def help(self) -> str:
        """What mends it: `remedy`, where this one's is known, else what its kind tells."""
        return self.remedy or advice.FAULTS.get(self.kind, "")

    @property
    def lane(self) -> int:
        """The thread's lane in its warp."""
        return self.thread % 32

    def __str__(self) -> str:
        who, often = who_are(self.threads or (self.thread,)), counted(self.count, "time")
        return f"{self.message} ({self.place}, CTA {self.cta}, {who}, {often})"


@dataclass(frozen=True)
class Race:
    """Two accesses to one unit of memory with no synchronisation between them.

    `first` came earlier in the simulated order; threads are numbered within their CTAs. `tensor` is
    "shared" or a parameter's name, `element` a byte offset or the element's index. `name` is the element
    of the buffer that holds the byte, such as `a[stage 1][3, 17]`, where it is known. With `several`,
    more threads made the first access, `first_thread` last; that one may be `second_thread` too.
    `also` are further races of these lines, buffer and kind, by other operations, as an unrolled loop
    has them: `count` is the sum. `remedy` replaces the help that kind and lines give.
    """

    kind: RaceKind
    first: Place
    second: Place
    first_cta: tuple[int, int, int]
    second_cta: tuple[int, int, int]
    first_thread: int
    second_thread: int
    tensor: str
    element: tuple[int, ...]
    count: int = 1
    name: str = ""
    several: bool = False
    also: tuple[Race, ...] = field(default=(), repr=False)
    remedy: str = ""

    @property
    def buffer(self) -> str:
        """The buffer's name without stage and element, empty where it is not known."""
        return self.name.partition("[")[0]

    @property
    def stages(self) -> list[int]:
        """The stages of the buffer at which it was seen first by each pair of operations."""
        names = [r.name.partition("[stage ")[2].partition("]")[0] for r in (self, *self.also)]
        return sorted({int(n) for n in names if n.isdigit()})

    @property
    def where(self) -> str:
        """The element; of shared memory its byte too."""
        place = indexed(self.tensor, self.element)
        return f"{self.name} ({place})" if self.name else place

    @property
    def help(self) -> str:
        """What orders the two accesses: `remedy`, where the text tells, else what kind and lines do."""
        return self.remedy or self.usual_help

    @property
    def usual_help(self) -> str:
        """What orders two such accesses wherever they stand in the text, where their kind tells."""
        if " after " not in self.kind or not (self.first.line and self.second.line):
            return advice.RACES.get(self.kind, "")
        if self.first_cta != self.second_cta:
            ctas = (
                "CTAs run in no order: use an atomic, give each its own elements, or launch two kernels"
            )
            return "" if self.tensor == "shared" else ctas
        if self.first.line == self.second.line and self.kind != "write after write":
            return (
                f"line {self.first.line} reads what others write there: read, put a barrier, then write"
            )
        if self.first == self.second and self.kind == "write after write":
            return f"line {self.first.line} writes an element twice: let one thread, or use an atomic"
        return (
            f"put a barrier behind line {self.first.line} and before line {self.second.line} comes next"
        )

    def __str__(self) -> str:
        who = "several threads, the last of them " if self.several else ""
        first = f"{self.first} by {who}{who_is(self.first_thread)}"
        second = f"{self.second} by {who_is(self.second_thread)}"
        if self.first_cta == self.second_cta:
            ctas = f", both of CTA {self.first_cta}"
        else:
            first, second, ctas = (
                f"{first} of CTA {self.first_cta}",
                f"{second} of CTA {self.second_cta}",
                "",
            )
        often = counted(self.count, "time") + self._alike
        return f"{self.kind} on {self.where}: {second} and {first}{ctas} ({often})"

    @property
    def _alike(self) -> str:
        """How many pairs of operations are meant, and in which stages."""
        if not self.also:
            return ""
        stages = self.stages
        shown = ", ".join(map(str, stages))
        where = f" in stage{'s' if len(stages) > 1 else ''} {shown}" if stages else ""
        return f", by {len(self.also) + 1:,} pairs of operations of these lines{where}"


@dataclass
class AccessRecord:
    """Counts of one memory operation over the whole run; sums over warps.

    executions: warps that issued it. requests: accesses that the hardware makes of them: none where a
    mask leaves out all lanes, several where it moves a lane's elements one by one.
    elements: elements moved; masked: elements a mask left out.
    wavefronts and fewest_wavefronts: shared memory, `None` where the hardware shows no number.
    lines, sectors: 128-byte lines and 32-byte sectors of global memory touched. byte: of shared memory,
    where the first lane accessed first; name: the buffer there, where it is known. spread: an
    asynchronous copy from places apart, of which the hardware counts more than banks, how is not known.
    """

    place: Place
    kind: str
    space: Literal["shared", "global"]
    tensor: str = ""
    bytes_per_lane: int = 0
    executions: int = 0
    requests: int = 0
    elements: int = 0
    masked: int = 0
    bytes: int = 0
    wavefronts: int | None = 0
    fewest_wavefronts: int = 0
    lines: int = 0
    fewest_lines: int = 0
    sectors: int = 0
    fewest_sectors: int = 0
    byte: int = 0
    name: str = ""
    spread: bool = False

    @property
    def counted_wavefronts(self) -> int | None:
        """The wavefronts that the hardware's counters show, `None` where that is not known."""
        return None if self.spread else self.wavefronts

    @property
    def conflicts(self) -> int | None:
        """Wavefronts beyond the fewest possible."""
        return None if self.wavefronts is None else self.wavefronts - self.fewest_wavefronts


@dataclass(frozen=True)
class LineRecord:
    """Counts of one source line: warp instructions issued, and its accesses added up.

    `None` where accesses were not counted, and `wavefronts` where the hardware shows no number.
    """

    line: int
    instructions: int
    wavefronts: int | None
    fewest_wavefronts: int | None
    lines: int | None
    fewest_lines: int | None
    sectors: int | None
    fewest_sectors: int | None
    masked: int | None
    bytes: int | None


@dataclass(frozen=True)
class BarrierRecord:
    """One barrier operation: the reason it is kept and how many CTAs passed it, in total.

    Of a barrier of each warp alone, how many warps did.
    """

    place: Place
    reason: str
    executions: int


@dataclass(frozen=True)
class Event:
    """One executed step of the traced CTA by `active` threads.

    kind: "load", "store", "async", "atomic", "matrix", "matrix_store", "barrier", "wait" or
    "operation". For accesses, `addresses` are byte addresses of `threads`, counted from the tensor's
    index 0 or the CTA's shared byte 0, and `bytes` what each thread moves there. elements: in global
    memory, where each element that no mask left out begins, in bytes from a multiple of 256.
    """

    place: Place
    cta: tuple[int, int, int]
    active: int
    kind: str
    tensor: str = ""
    bytes: int = 0
    threads: tuple[int, ...] = ()
    addresses: tuple[int, ...] = ()
    elements: np.ndarray[Any, np.dtype[np.int64]] | None = field(default=None, compare=False, repr=False)
    element_bytes: int = 0


@dataclass(repr=False)
class SimulationResult:
    """What a launch left behind and what was seen on the way.

    outputs: for each tensor parameter that was written, its contents in the caller's shape.
    bank_conflicts: shared-memory accesses, worst first; global_accesses: the others.
    printed: lines of device prints in order. flops: floating-point operations by kind, see `arithmetic`.
    operands and step: what was asked with `probe`; the last store there is `trace[step]` of `trace=1`.
    ctas: those that ran to their end, of grid_ctas. stopped: it ended before them, at the first finding.
    counted_accesses: whether `banks` was asked for; else `accesses` is empty and says nothing.
    """

    outputs: dict[str, np.ndarray[Any, np.dtype[Any]]]
    races: list[Race] = field(default_factory=list[Race])
    faults: list[Fault] = field(default_factory=list[Fault])
    accesses: list[AccessRecord] = field(default_factory=list[AccessRecord])
    lines: list[LineRecord] = field(default_factory=list[LineRecord])
    barriers: list[BarrierRecord] = field(default_factory=list[BarrierRecord])
    trace: list[Event] = field(default_factory=list[Event])
    printed: list[str] = field(default_factory=list[str])
    instructions: int = 0
    ctas: int = 0
    writers: Writers | None = field(default=None, repr=False)
    operands: list[Operand] = field(default_factory=lambda: list[Any]())
    step: int | None = None
    flops: dict[str, int] = field(default_factory=dict[str, int])
    grid_ctas: int = 0
    stopped: bool = False
    looked_for_races: bool = True
    counted_accesses: bool = True

    def __repr__(self) -> str:
        """What was seen, in a few lines: the first of each kind of finding."""
        return "\n".join([self.headline, *self.findings()])

    @property
    def headline(self) -> str:
        """How much ran, and what was not looked at."""
        some = f"{self.ctas:,} of " if self.ctas < self.grid_ctas else ""
        whole = counted(max(self.ctas, self.grid_ctas), "CTA")
        ended = " to their end" if self.stopped else ""
        text = f"simulated {some}{whole}{ended}, {counted(self.instructions, 'operation')}"
        return "; ".join([text, *self.unchecked])

    @property
    def unchecked(self) -> list[str]:
        """What the run says nothing of: other CTAs, what follows its end, what was not asked for."""
        found: list[str] = []
        if self.stopped:
            found.append("stopped at the first finding: nothing is known of what follows")
        elif self.ctas < self.grid_ctas:
            found.append("the other CTAs, and races with them, were not looked at")
        if not self.looked_for_races:
            found.append("races and unwritten shared memory were not looked for")
        if not self.counted_accesses:
            found.append("bank conflicts, lines, sectors and masked elements were not counted")
        return found

    def findings(self) -> Iterator[str]:
        """Faults, races, the worst bank conflicts, what was masked and printed, one line each."""
        yield from _first("fault", self.faults)
        yield from _helps(self.faults[:10])
        yield from _first("race", self.races)
        yield from _helps(self.races[:10])
        for access in self.bank_conflicts[:3]:
            if access.conflicts:
                of = f" on {access.name}" if access.name else ""
                yield (
                    f"bank conflicts: {access.conflicts:,} at {access.place}{of}, "
                    f"{counted(access.wavefronts or 0, 'wavefront')}"
                )
        if self.masked is not None:
            yield f"{counted(self.masked, 'element')} masked out"
        yield from _first("printed", self.printed)
        yield from (f"{n}: {a.dtype}{list(a.shape)}" for n, a in self.outputs.items())

    def writer(self, tensor: str, index: Sequence[int]) -> Writer | None:
        """Who wrote an element of an output last; needs `races`."""
        return None if self.writers is None else self.writers.of(tensor, index)

    @property
    def clean(self) -> bool:
        """Whether nothing is wrong, of what was looked at (`unchecked`): no race and no fault."""
        return not self.races and not self.faults

    @property
    def bank_conflicts(self) -> list[AccessRecord]:
        """Shared-memory accesses with their wavefronts, most conflicts first."""
        shared = [a for a in self.accesses if a.space == "shared"]
        return sorted(shared, key=lambda a: -(a.conflicts or 0))

    @property
    def global_accesses(self) -> list[AccessRecord]:
        """Global-memory accesses with the lines and sectors they touch."""
        return [a for a in self.accesses if a.space == "global"]

    def tile_accesses(self) -> list[TileAccess]:
        """Global memory as the traced CTA touches it, tile by tile; needs `trace`. No bulk copies."""
        return tile_accesses(self.trace)

    @property
    def masked(self) -> int | None:
        """Elements that masks left out, over all accesses; `None` where these were not counted."""
        return sum(a.masked for a in self.accesses) if self.counted_accesses else None

    def frame(self) -> pd.DataFrame:
        """The accesses as a pandas frame, one row per operation."""
        return _frame(self.accesses, AccessRecord)

    def line_frame(self) -> pd.DataFrame:
        """The source lines as a pandas frame."""
        return _frame(self.lines, LineRecord)


def _first(kind: str, found: Sequence[object], most: int = 10) -> Iterator[str]:
    yield from (f"{kind}: {x}" for x in found[:most])
    if len(found) > most:
        yield f"{kind}: and {len(found) - most:,} more"


def _helps(found: Sequence[Fault] | Sequence[Race]) -> Iterator[str]:
    yield from (f"  help: {x}" for x in dict.fromkeys(f.help for f in found) if x)


def _frame(records: Iterable[Any], kind: type[Any]) -> pd.DataFrame:
    """One row per record, a column per field; those of its place come first, also without a record."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for record in records:
        row = asdict(record)
        rows.append({**row.pop("place", {}), **row})
    names = [f.name for f in fields(kind)]
    if "place" in names:
        names = [*(f.name for f in fields(Place)), *(n for n in names if n != "place")]
    return pd.DataFrame(rows, columns=names)
