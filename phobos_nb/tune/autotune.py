"""`Kernel.tune`: a search for one call's arguments, from the arguments to the remembered winner."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from phobos_nb.arguments.findings import findings
from phobos_nb.arguments.grid import Grid, explicit_grid
from phobos_nb.arguments.match import name_arguments
from phobos_nb.arguments.variant import choose_variant
from phobos_nb.compilation.call import SolvedCall, host_values, on_device, solve
from phobos_nb.compilation.configuration import Configuration, resolve
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.remembered import Identity
from phobos_nb.compilation.tile_shape import with_extents
from phobos_nb.contract import Variant
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.typed import TypedKernel
from phobos_nb.lower.choices import BY_EXTENTS
from phobos_nb.tune import strategies
from phobos_nb.tune.bench import Task
from phobos_nb.tune.check import tolerance_of
from phobos_nb.tune.compile_job import Compiled, CompileJob, KernelText, reasons
from phobos_nb.tune.devices import Device, hosts, is_client, wrong
from phobos_nb.tune.earlier import circumstances, grids_of, still_valid
from phobos_nb.tune.limits import broken_promise
from phobos_nb.tune.many_devices import ManyDevices
from phobos_nb.tune.merge import champions, merged, restricted
from phobos_nb.tune.model import predictor
from phobos_nb.tune.outcome import Constants, Failed, Kind, Outcome, label
from phobos_nb.tune.place import Gpu, Host, Place
from phobos_nb.tune.pool import WorkerPool
from phobos_nb.tune.progress import progress
from phobos_nb.tune.records import Record, Store, conclude, now
from phobos_nb.tune.reference import References, by_meaning, given
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.runner import LiveRunner, Local
from phobos_nb.tune.search import Event, Listener, Peer, Search
from phobos_nb.tune.settings import Settings, Shape, split
from phobos_nb.tune.shared_compiles import SharedCompiles
from phobos_nb.tune.snapshot import Snapshot, lay_out, take
from phobos_nb.tune.space import Space, space_of
from phobos_nb.tune.worker import Worker
from phobos_nb.tune.yardstick import counted_work

if TYPE_CHECKING:
    from phobos_nb.tune.shapes_result import ShapesTuning

SAVE_EVERY = 2.0
"""Seconds between two writes of a record while a search runs."""


@overload
def autotune(
    kernel: Kernel,
    *arguments: Any,
    shapes: Sequence[Shape],
    grid: Any = None,
    **named: Any,
) -> ShapesTuning: ...
@overload
def autotune(
    kernel: Kernel, *arguments: Any, shapes: None = None, grid: Any = None, **named: Any
) -> Tuning: ...
def autotune(kernel: Kernel, *arguments: Any, grid: Any = None, **named: Any) -> Tuning | ShapesTuning:
    """Find the fastest constants for a call; see `settings.Settings` for the options.

    NumPy arrays tune the NumPy meaning on the CPU, arrays on a GPU the compiled kernel there. The
    arrays are read, never written. `grid` is that of the call, or a function from constants to it for a
    kernel whose grid cannot be inferred. With `shapes=`, several calls share a few configurations, see
    `shapes.tune_shapes`. An interrupt ends the search and returns what there is.
    Raises what the call itself would raise, and `PhobosError` for options that cannot be.
    """
    if named.get("shapes") is not None and "shapes" not in [p.name for p in kernel.parameters]:
        from phobos_nb.tune.shapes import tune_shapes

        return tune_shapes(kernel, arguments, grid, named)
    return session_of(kernel, arguments, grid, named).tuning()


def session_of(kernel: Kernel, arguments: Sequence[Any], grid: Any, named: Mapping[str, Any]) -> Session:
    """A call's session: arguments and options told apart and checked."""
    settings, named = split(named, [p.name for p in kernel.parameters])
    if settings.shapes is not None:
        message = "shapes: a search in the background is of one call; use tune(shapes=...)"
        raise PhobosError([Diagnostic("PH402", message, stage="tune")])
    kernel = kernel.for_call(arguments, named)
    values = name_arguments(kernel.name, kernel.parameters, arguments, named)
    return Session(kernel, values, grid, settings)


class Session:
    """One call to be tuned, with everything found out about it once."""

    def __init__(self, kernel: Kernel, values: Mapping[str, Any], grid: Any, settings: Settings) -> None:
        strategies.check_name(settings.strategy)
        self.kernel, self.settings = kernel, settings
        self.place: Place = Gpu(values, kernel.parameters) if on_device(kernel, values) else Host()
        self.values = dict(values) if isinstance(self.place, Gpu) else host_values(values)
        self.configuration: Configuration = resolve(kernel.options)
        target = self.configuration.target
        space_of(kernel, settings.choices)  # wrong names are reported before wrong arguments
        first = grid(kernel.typed(kernel.options.constants).constants) if callable(grid) else grid
        self.call: SolvedCall = solve(kernel, self.values, self.place.describe, first, target)
        self.space: Space = space_of(kernel, {**self.default_choices(), **settings.choices})
        self.grid = None if grid is None else self.call.grid
        self.asked = grid if callable(grid) else None
        self.grids: dict[str, Grid] = {}
        if self.asked is not None:
            self.grids = {label(c): self.asked_grid(self.asked, c) for c in self.space}
        self.remembers = settings.remember and not self.has_other_grid()
        self.identity: Identity = replace(
            kernel.identity(self.call.extents, target, self.place.name), cache=settings.cache
        )
        self.store = Store()
        self.checked = ""
        self.devices: tuple[Device, ...] = ()
        self.title = " ".join((kernel.name, *(f"{n}={v}" for n, v in self.call.extents.items())))

    def default_choices(self) -> dict[str, tuple[int, ...]]:
        """What the compiler itself would choose for an untuned call, such as SPLIT_K, beside not to.

        So the space holds the untuned configuration, and tuning never makes a call slower.
        """
        fixed = self.kernel.options.constants
        if not self.place.compiles:
            return {}
        free = {n: v for n, v in self.call.choices.items() if n not in fixed and n not in BY_EXTENTS}
        return {n: tuple(sorted({1, v})) for n, v in free.items()}

    def asked_grid(self, grid: Callable[[Constants], Any], constants: Constants) -> Grid:
        """What the caller's function gives for a configuration."""
        fixed = self.kernel.typed(self.kernel.options.constants).constants
        with findings(self.kernel.name) as found:
            return explicit_grid(grid({**fixed, **constants}), found)

    def grid_of(self, constants: Constants) -> Grid | None:
        """The caller's grid for a configuration, None to infer it."""
        return self.grids.get(label(constants), self.grid)

    def given_grid(self, constants: Constants) -> str:
        """The caller's grid for any configuration as text, empty where there is none."""
        grid = self.grid_of(constants)
        if self.asked is not None and label(constants) not in self.grids:
            grid = self.asked_grid(self.asked, constants)
        return "" if grid is None else ",".join(map(str, grid))

    def has_other_grid(self) -> bool:
        """Whether the caller's grid is another than calls without one infer: their times are others."""
        if self.grid is None or self.call.typed.grid.problem:
            return False
        return any(self.grid_of(c) != self.inferred_grid(c) for c in self.space)

    def inferred_grid(self, constants: Constants) -> Grid | None:
        """A configuration's grid without the caller's; None for one that cannot be."""
        try:
            typed = self.kernel.typed({**self.kernel.options.constants, **constants})
        except PhobosError:
            return self.grid_of(constants)
        return typed.grid.shape(self.call.extents)

    # Earlier records --------------------------------------------------------------------------------

    def before(self) -> Record | None:
        """What still holds of earlier searches under the same conditions; new ones are merged in."""
        found = self.store.get(self.identity) if self.remembers else None
        if found is None:
            return None
        return still_valid(found, self.settings, self.recorded_grid)

    def keep(self, record: Record) -> None:
        """Write what this search found beside what others have written since it began."""
        self.store.put(merged(record, self.before()))

    def recorded_grid(self, constants: Constants) -> str:
        """The grid that a record tells apart: of kernels whose grid cannot be inferred."""
        return self.given_grid(constants) if self.call.typed.grid.problem else ""

    def is_answered_by(self, record: Record) -> bool:
        """Whether that record leaves nothing to measure, finals included."""
        if self.settings.against is not None and not record.peers:
            return False
        settings = record.settings
        same = settings.get("strategy") == self.settings.strategy and not record.stopped
        if same and dict(record.space) == dict(self.space.values):
            return True
        if any(name not in record.outcomes for name in self.space.labels):
            return False
        winner = Tuning(restricted(record, self.space)).winner
        return winner is None or bool(winner.rounds)

    # The search -------------------------------------------------------------------------------------

    def tuning(self) -> Tuning:
        """The answer of an earlier record where that is one, else of a search."""
        known = self.before() if self.settings.resume else None
        if known is not None and self.is_answered_by(known):
            return Tuning(restricted(known, self.space), self.kernel, since=known.date)
        return self.run()

    def run(self, measured: Mapping[str, Outcome] | None = None) -> Tuning:
        """Search, keep the record, and let later calls of the kernel use its winner.

        measured: what need not be measured again, by default what the record of earlier searches holds.
        """
        before = self.before()
        known: Mapping[str, Outcome] = measured or {}
        if measured is None and before is not None and self.settings.resume:
            known = before.outcomes
        old = {n: o for n, o in known.items() if o.constants in self.space}
        shown = progress(self.title) if self.settings.listener is None else None
        with self.executor() as compilers:
            executor = self.begin_compiling(compilers, old)
            arrays = take(self.call.arrays, self.values, self.place.to_host)
            references = self.references(arrays)
            self.checked = references.source
            runner = self.runner(executor, self.task(arrays, references))
            try:
                search = self.search(runner, old, before, shown or self.settings.listener)
                search.run()
            finally:
                runner.close()
                if shown is not None:
                    shown.close()
        record = self.record(search)
        if self.remembers:
            self.keep(record)
            self.kernel.choose_anew()
        found = restricted(record, self.space)
        return Tuning(found, self.kernel, fresh=len(found.outcomes) - len(old.keys() & found.outcomes))

    def begin_compiling(self, executor: Executor, known: Mapping[str, Outcome]) -> Executor:
        """The executor with the first configurations under way, while answers are still computed.

        Where the strategy says by itself which are first; it then finds them compiled, or nearly.
        """
        shared = SharedCompiles(executor)
        if self.settings.strategy == "exhaustive" and self.place.compiles:
            first = (c for c in self.space if label(c) not in known)
            most = self.width if self.settings.trials is None else min(self.width, self.settings.trials)
            for constants in islice(first, most):
                function, job = self.job(constants)
                if isinstance(job, CompileJob):
                    shared.submit(function, job)
        return shared

    def references(self, arrays: Mapping[str, Snapshot]) -> References:
        """What outputs are checked against."""
        outputs = [p.name for p in self.call.typed.tensor_parameters if p.writes]
        if self.settings.reference is not None:
            return given(self.settings.reference, outputs, self.values, self.place.to_host)
        return by_meaning(
            self.call.typed,
            lay_out(arrays, np),
            self.call.scalars,
            self.call.grid,
            seconds=self.settings.meaning_seconds,
            seed=self.settings.seed,
        )

    def task(self, arrays: Mapping[str, Snapshot], references: References) -> Task:
        """The call as plain data."""
        typed, wanted = self.call.typed, self.settings.tolerance
        rounded = any(use.name == "tensorcore" for use in typed.attributes)
        return Task(
            text=self.text,
            parameters=self.kernel.parameters,
            arrays=arrays,
            scalars=self.call.scalars,
            expected=references.expected,
            tolerance=tolerance_of(typed.tensor_parameters, rounded) if wanted is None else wanted,
            grid=self.grid,
            grids=self.grids,
            cold=self.settings.cache == "cold",
            device=self.place.ordinal,
        )

    @property
    def text(self) -> KernelText:
        """The kernel as text, its options resolved here, where the GPU is known."""
        options = replace(self.kernel.options, chip=self.configuration.target.name)
        return KernelText(self.kernel.source, self.kernel.name, options)

    @contextmanager
    def executor(self) -> Generator[Executor]:
        """The caller's executor, left open, or processes of our own."""
        if self.settings.executor is not None:
            yield self.settings.executor
            return
        if not self.place.compiles:
            with ThreadPoolExecutor(1) as threads:
                yield threads
            return
        pool = WorkerPool(self.settings.width, self.settings.compile_timeout)
        try:
            yield pool
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def runner(self, executor: Executor, task: Task) -> LiveRunner | ManyDevices:
        """Compiles there, measures in a process of its own, or in one per device."""
        if self.settings.devices is not None:
            return self.many_devices(executor, task)
        bench: Worker | Local
        if self.settings.isolate:
            bench = Worker(self.place.bench, task)
            bench.begin()
        else:
            bench = Local(self.place.bench, task)
        return LiveRunner(executor, self.width, self.job, bench, self.settings.timeout)

    @property
    def width(self) -> int:
        """Compilations under way at once, so that compilers stay busy while one result is measured."""
        return self.settings.width + 2

    def many_devices(self, executor: Executor, task: Task) -> ManyDevices:
        """Measures on the devices that the settings name, each in a process of its own."""
        found = hosts(self.settings.devices or "all", self.place, task)
        self.devices = tuple(device for device, _ in found)
        compiled: dict[str, Compiled] = {}
        runners = [
            LiveRunner(executor, self.width, self.job, bench, self.settings.timeout, compiled)
            for _, bench in found
        ]
        return ManyDevices(runners, lambda number: self.peers(self.devices[number].ordinal))

    def job(self, constants: Constants) -> Any:
        """The job for a configuration; one that cannot be, or breaks a promise, is refused here."""
        try:
            typed = self.kernel.typed({**self.kernel.options.constants, **constants})
        except PhobosError as error:
            return refuse, Failed(constants, Kind.CONSTRAINT, reasons(error))
        reason = broken_promise(typed, self.call.extents)
        if reason:
            return refuse, Failed(constants, Kind.CONSTRAINT, reason)
        full = {**self.kernel.options.constants, **constants}
        whole = with_extents(self.kernel.typed, full, self.call.extents)
        found = {name: value for name, value in whole.items() if name not in full}
        return self.place.job, CompileJob(self.text, self.variant(typed), constants, found)

    def variant(self, typed: TypedKernel) -> Variant:
        """What code of these constants may take for granted of the call's arrays."""
        bits = self.configuration.variant.index_bits
        grid = max(self.grids.values()) if self.grids else self.grid
        grid = grid or typed.grid.shape(self.call.extents)
        return choose_variant(self.call.arrays, bits, grid, typed.grid)

    def variants(self, tuning: Tuning) -> set[Variant]:
        """The variants that right configurations of a search were compiled for."""
        fixed = self.kernel.options.constants
        return {self.variant(self.kernel.typed({**fixed, **m.constants})) for m in tuning.measured}

    def search(
        self,
        runner: LiveRunner | ManyDevices,
        known: Mapping[str, Outcome],
        before: Record | None,
        listener: Listener | None,
    ) -> Search:
        """The search, not begun; it writes what it has every few seconds."""
        settings = self.settings
        target = self.configuration.target
        setting = strategies.Setting(
            self.space,
            settings.samples,
            settings.trials,
            settings.seed,
            predictor(self.kernel, self.call.extents, self.grid_of, target),
        )
        last = time.perf_counter()

        def listen(event: Event) -> None:
            nonlocal last
            if listener is not None:
                listener(event)
            if self.remembers and time.perf_counter() - last > SAVE_EVERY:
                last = time.perf_counter()
                self.keep(replace(self.record(search), stopped="interrupted"))

        strategy = strategies.make(settings.strategy, setting)
        search = Search(
            runner, strategy, settings.plan, len(self.space), known=known,
            champions=champions(before, self.space), listener=listen,
            peers={} if self.devices else self.peers(), stop=settings.stop,
        )  # fmt: skip
        return search

    def peers(self, device: int | None = None) -> dict[str, Peer]:
        """The contenders that the settings name, ready to be timed, here or on another device."""
        against = self.settings.against
        if against is None:
            return {}
        if is_client(self.settings.devices):
            raise wrong("against= is timed in this process, not on a cluster's devices")
        arrays = {name: self.values[name] for name in self.call.arrays}
        call = self.call.typed, arrays, self.call.scalars, against
        found = self.place.peers(*call) if device is None else self.place.peers_on(device, *call)
        cold = self.settings.cache == "cold"
        return {name: self.place.timed(work, cold, device) for name, work in found.items()}

    def record(self, search: Search) -> Record:
        """What the search has found so far."""
        found = replace(self.empty(), peers=search.peer_rounds, checked=self.checked)
        grids = grids_of(search.outcomes, self.recorded_grid)
        if grids:
            found = replace(found, settings={**found.settings, "grids": grids})
        return conclude(found, search.outcomes, search.stopped)

    def empty(self) -> Record:
        """A record of this call without outcomes."""
        return Record(
            self.identity,
            self.space.values,
            {},
            date=now(),
            settings=circumstances(self.settings),
            host={**self.place.host_facts(), **self.shown_devices()},
            work=self.work,
        )

    @cached_property
    def work(self) -> dict[str, Any]:
        """What the call must do at least, counted once."""
        return counted_work(self.kernel, self.call.extents, self.space, self.grid)

    def shown_devices(self) -> dict[str, str]:
        """Which devices measured, where the caller chose them."""
        return {"devices": ", ".join(d.uuid for d in self.devices)} if self.devices else {}


def refuse(failed: Failed) -> Compiled | Failed:
    """Hands an outcome on that needs no compiling."""
    return failed
