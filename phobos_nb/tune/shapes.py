"""`Kernel.tune(shapes=[...])`: a few configurations for many shapes, and the table that calls use.

Every shape is searched like a single call, with its own record; a configuration that several shapes ask
for is compiled once. `pick.py` then chooses the set with the least regret, and the table
(`compilation/dispatch_table.py`) that maps any shape to a member of it is kept beside the records. The
members are compiled before this returns; later sessions compile them when they load the table.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from phobos_nb.arguments.make import extents_of, random_arguments
from phobos_nb.arguments.match import name_arguments
from phobos_nb.compilation import remembered
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.defaults import sms_of
from phobos_nb.compilation.dispatch import of_any_shape, read_table, table_path
from phobos_nb.compilation.dispatch_table import DispatchTable, Member, Point
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.contract import Variant
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.lower.choices import BY_EXTENTS
from phobos_nb.lower.gemm_plan import OVERRIDES
from phobos_nb.tune.autotune import Session
from phobos_nb.tune.files import write_table
from phobos_nb.tune.outcome import Constants, Measured
from phobos_nb.tune.pick import pick
from phobos_nb.tune.pool import WorkerPool
from phobos_nb.tune.records import Record, now
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.settings import Settings, Shape, split
from phobos_nb.tune.shapes_result import ShapesTuning
from phobos_nb.tune.shared_compiles import SharedCompiles

GENERAL = Variant(unit_stride=True, aligned=False, bounded=False)
"""What holds of any contiguous array: members are compiled for it too, so that no extent needs more."""


def tune_shapes(
    kernel: Kernel, arguments: Sequence[Any], grid: Any, named: Mapping[str, Any]
) -> ShapesTuning:
    """Search every shape, pick at most `max_configs` configurations, write the dispatch table.

    shapes: dicts of extents by symbol (arrays are made: on the GPU where there is one, random, scalars
    from the other named arguments or 1), or tuples of a call's arguments. weights: how much each shape
    counts, by default alike. The other options hold for every shape, except that `seconds` is for all of
    them. An interrupt keeps what is found, but not a table of fewer shapes than there was; with no
    shape done it is raised. Raises `PhobosError` PH402 for shapes and weights that cannot be.
    """
    settings, named = split(named, [p.name for p in kernel.parameters])
    shapes, weights = _checked(settings, arguments)
    return ShapesSearch(kernel, shapes, weights, grid, settings, named).run()


def _checked(settings: Settings, arguments: Sequence[Any]) -> tuple[list[Shape], list[float]]:
    shapes = list(settings.shapes or ())
    weights = [1.0] * len(shapes) if settings.weights is None else [float(w) for w in settings.weights]
    problem = ""
    if arguments:
        problem = "with shapes=, arguments belong into the shapes"
    elif not shapes:
        problem = "shapes: none given"
    elif len(weights) != len(shapes) or min(weights) < 0 or not sum(weights):
        problem = f"weights: wanted {len(shapes)} numbers from 0 on, not all 0, got {settings.weights}"
    wrong = [s for s in cast("list[object]", shapes) if not _is_shape(s)]
    if wrong:
        problem = f"shapes: wanted dicts of extents or tuples of arguments, got {wrong[0]!r}"
    if problem:
        raise PhobosError([Diagnostic("PH402", problem, stage="tune")])
    return shapes, weights


def _is_shape(value: object) -> bool:
    return isinstance(value, Mapping | Sequence) and not isinstance(value, str)


class ShapesSearch:
    """The searches of one kernel's shapes, one after the other."""

    def __init__(
        self,
        kernel: Kernel,
        shapes: Sequence[Shape],
        weights: Sequence[float],
        grid: Any,
        settings: Settings,
        named: Mapping[str, Any],
    ) -> None:
        self.kernel, self.shapes, self.weights = kernel, shapes, weights
        self.grid, self.named = grid, named
        self.settings = replace(settings, shapes=None, weights=None)
        self.tunings: list[Tuning] = []
        self.variants: dict[Variant, None] = {}
        self.last: Session | None = None
        self.stopped = ""
        self.on_gpu = _has_gpu() if settings.on is None else settings.on == "gpu"
        self._budget = _Budget(settings.seconds, len(shapes))

    def run(self) -> ShapesTuning:
        """All shapes, then the set and its table."""
        with self.compiling() as executor:
            self.settings = replace(self.settings, executor=executor, choices=self.choices())
            for number in range(len(self.shapes)):
                try:
                    self.search(number)
                except KeyboardInterrupt:
                    if not self.tunings:
                        raise
                    self.stopped = "interrupted"
                if self.stopped == "interrupted":
                    break
        return self.conclude()

    def search(self, number: int) -> None:
        """One shape, as a search of its own."""
        settings = replace(self.settings, seconds=self._budget.share(number))
        session = self.session(self.shapes[number], settings)
        session.title = f"shape {number + 1} of {len(self.shapes)}, {session.title}"
        tuning = session.tuning()
        self.tunings.append(tuning)
        self.last = session
        self.stopped = tuning.stopped or self.stopped
        self.variants.update(dict.fromkeys(session.variants(tuning)))

    def session(self, shape: Shape, settings: Settings) -> Session:
        """The call that stands for a shape."""
        arguments, named = self.call(shape)
        kernel = self.kernel.for_call(arguments, named)
        values = name_arguments(kernel.name, kernel.parameters, arguments, named)
        session = Session(kernel, values, self.grid, settings)
        if self.last is not None and of_any_shape(session.identity) != of_any_shape(self.last.identity):
            problem = f"shapes: {session.title} differs from the first shape in more than its extents"
            raise PhobosError([Diagnostic("PH402", problem, stage="tune")])
        return session

    def call(self, shape: Shape) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The shape's arguments: its own, or arrays made for its extents."""
        if not isinstance(shape, Mapping):
            return tuple(shape), dict(self.named)
        import numpy as np

        kernel = self.kernel.for_some({**self.named, **shape})
        rng = np.random.default_rng(self.settings.seed)
        values = random_arguments(kernel.name, kernel.parameters, {**self.named, **shape}, rng)
        return (), {n: _to_device(v) for n, v in values.items()} if self.on_gpu else values

    def choices(self) -> dict[str, Any]:
        """The caller's choices, and what the compiler would choose by itself for any of the shapes."""
        found: dict[str, set[int]] = {}
        if self.on_gpu:
            target = resolve(self.kernel.options).target
            for shape in self.shapes:
                kernel = self.kernel.for_some(shape) if isinstance(shape, Mapping) else self.kernel
                extents = self.extents(kernel, shape)
                for name, value in kernel.constants_for(extents, target).items():
                    by_extents = name in kernel.options.constants or name in BY_EXTENTS
                    if name in OVERRIDES and not by_extents:
                        found.setdefault(name, {1}).add(value)
        return {**{n: tuple(sorted(v)) for n, v in found.items()}, **self.settings.choices}

    def extents(self, kernel: Kernel, shape: Shape) -> dict[str, int]:
        """Extents by symbol."""
        if isinstance(shape, Mapping):
            return extents_of(kernel.parameters, {**self.named, **shape})
        return dict(self.session(shape, self.settings).call.extents)

    @contextmanager
    def compiling(self) -> Generator[Executor | None]:
        """One executor for all shapes, which compiles no configuration twice."""
        if self.settings.executor is not None:
            yield SharedCompiles(self.settings.executor)
            return
        if not self.on_gpu:
            yield None
            return
        pool = WorkerPool(self.settings.width, self.settings.compile_timeout)
        try:
            yield SharedCompiles(pool)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    # The set and the table --------------------------------------------------------------------------

    def conclude(self) -> ShapesTuning:
        """The best set of what was measured; its table kept and its members compiled."""
        table = self.best_table()
        session = cast(Session, self.last)
        if session.remembers and table.members and not self.is_worth_less(table):
            write_table(table, table_path(table.identity))
            session.kernel.choose_anew()
            session.kernel.remembered(session.identity)
        return ShapesTuning(tuple(self.tunings), table, session.kernel, self.stopped)

    def is_worth_less(self, table: DispatchTable) -> bool:
        """Whether a stopped search would replace the table of more shapes."""
        earlier = read_table(table.identity) if self.stopped else None
        return earlier is not None and len(earlier.points) > len(table.points)

    def best_table(self) -> DispatchTable:
        """The set that costs the least, at the shapes where anything gave a right answer."""
        measured = [
            (t.record, weight)
            for t, weight in zip(self.tunings, self.weights, strict=False)
            if t.winner is not None
        ]
        names, times = times_of([record for record, _ in measured])
        members: tuple[int, ...] = ()
        if measured:
            members = pick(times, [weight for _, weight in measured], self.settings.max_configs)
        points = tuple(
            point_of(record, row, members, weight)
            for (record, weight), row in zip(measured, times, strict=True)
        )
        return self.table([names[m] for m in members], points)

    def table(self, chosen: Sequence[Constants], points: tuple[Point, ...]) -> DispatchTable:
        """The table of these configurations."""
        session = cast(Session, self.last)
        device = session.identity.device
        general = replace(GENERAL, index_bits=session.configuration.variant.index_bits)
        variants = () if device == remembered.CPU else tuple({**self.variants, general: None})
        return DispatchTable(
            of_any_shape(session.identity),
            tuple(member_of(session.kernel, c) for c in chosen),
            points,
            1 if device == remembered.CPU else sms_of(session.configuration.target),
            variants,
            now(),
            {"max_configs": self.settings.max_configs, "cache": self.settings.cache},
        )


class _Budget:
    """Seconds for all shapes, shared out: what one leaves over, the next ones get."""

    def __init__(self, seconds: float | None, shapes: int) -> None:
        self._begun = time.perf_counter()
        self._seconds, self._shapes = seconds, shapes

    def share(self, number: int) -> float | None:
        """What the shape of that number may take."""
        if self._seconds is None:
            return None
        left = self._seconds - (time.perf_counter() - self._begun)
        return max(0.0, left) / (self._shapes - number)


def member_of(kernel: Kernel, constants: Constants) -> Member:
    """A configuration as a table needs it."""
    typed = kernel.typed({**kernel.options.constants, **constants})
    return Member(dict(constants), dict(typed.promises), typed.grid)


def point_of(
    record: Record, times: Sequence[float | None], members: Sequence[int], weight: float
) -> Point:
    """A measured shape: the members' times there, and the best of all."""
    best = min(t for t in times if t is not None)
    return Point(record.identity.extents, tuple(times[m] for m in members), best, weight)


def times_of(records: Sequence[Record]) -> tuple[list[Constants], list[list[float | None]]]:
    """Configurations that are right at some shape, and per shape their times in ms, None without one."""
    names: dict[str, Constants] = {}
    for record in records:
        names.update({o.label: o.constants for o in record.outcomes.values() if isinstance(o, Measured)})
    found = [comparable_times(record) for record in records]
    return list(names.values()), [[row.get(name) for name in names] for row in found]


def comparable_times(record: Record) -> dict[str, float]:
    """One time per right configuration, in ms: of the finals, else the fastest of the first stage.

    First times are taken while compilers keep the machine busy; they are brought to the level of the
    finals by what the finalists' two times differ by.
    """
    measured = [o for o in record.outcomes.values() if isinstance(o, Measured)]
    shifts = [statistics.median(o.rounds) / min(o.times) for o in measured if o.rounds]
    shift = statistics.median(shifts) if shifts else 1.0
    return {o.label: statistics.median(o.rounds) if o.rounds else min(o.times) * shift for o in measured}


def _has_gpu() -> bool:
    from phobos_nb.cuda.driver import native_chip

    return native_chip() is not None


def _to_device(value: Any) -> Any:
    """A NumPy array on the GPU; anything else as it is."""
    from phobos_nb.cuda.arrays import to_device

    is_array = hasattr(value, "dtype") and hasattr(value, "__array_interface__")
    return to_device(value) if is_array else value
