"""Sliders at work: moves in, compilations in another process, and a model that is always up to date."""

from __future__ import annotations

import json
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.target.cards import card_of
from phobos_nb.tune.compile_job import Compiled, KernelText
from phobos_nb.tune.outcome import label
from phobos_nb.tune.worker import RemoteError, WorkerCrashError, WorkerTimeoutError
from phobos_nb.views.roofline import Point, RooflineView, point
from phobos_nb.views.roofline_count import MOST_BYTES, Counted
from phobos_nb.views.roofline_of import Looked
from phobos_nb.views.roofline_roofs import Roofs, nominal
from phobos_nb.views.sliders import Place, Slider, SlidersView, Timing
from phobos_nb.views.sliders_job import Call, Desk, Outcome, Work, compiled
from phobos_nb.views.sliders_space import Parameter, Value, parameters, why_not
from phobos_nb.views.sliders_stopwatch import Stopwatch
from phobos_nb.views.sliders_worker import DroppableWorker, DroppedError

if TYPE_CHECKING:
    from phobos_nb.tune.live import LiveSearch

DELAY = 0.15
"""Seconds that sliders must rest before what they stand at is compiled."""

COMPILE_SECONDS = 120.0
"""The longest that a configuration may compile, or count."""

IDLE_SECONDS = 300.0
"""After so long without a move the processes end; the next move starts them again."""

TRAIL = 5
"""Points of the roofline: the present configuration's and those of the ones before it."""

FAULTS = RemoteError, WorkerTimeoutError, WorkerCrashError


class Sliders:
    """A kernel's call with a slider per constant. Callbacks are called from a thread of its own.

    made: whether the arrays are random ones. against: peers as of `tune`, timed once on a GPU. Close it,
    or forget it: its processes end with it.
    """

    def __init__(
        self,
        kernel: Kernel,
        values: Mapping[str, Any],
        grid: Any = None,
        *,
        made: bool = False,
        choices: Mapping[str, int | Sequence[int]] | None = None,
        against: Any = None,
        delay: float = DELAY,
    ) -> None:
        self.kernel = kernel
        self._looked = looked = Looked(kernel, values, grid)
        self.extents = dict(looked.call.extents)
        self.parameters = parameters(kernel, choices or {}, looked.chosen)
        self._delay, self._grid = delay, grid
        self._at = {p.name: _start(p, looked.chosen) for p in self.parameters}
        self._failures: dict[str, str] = {}
        self._points: list[Point] = []
        self._callbacks: list[Callable[[], None]] = []
        self._lock = threading.Condition(threading.RLock())
        self._generation, self._done = 0, {"look": 0, "time": 0}
        self._timing, self._clock = False, threading.Lock()
        self._work: Counted | None = None
        self._moved = time.monotonic()
        self._thread: threading.Thread | None = None
        self._idle: threading.Timer | None = None
        self._roofs = _roofs(looked)
        self._ask_roofs = self._roofs is None or not self._roofs.measured
        self._desk = DroppableWorker(Desk, _call(looked, made), timeout=COMPILE_SECONDS)
        self._end = weakref.finalize(self, self._desk.close)
        self._stopwatch = Stopwatch(looked, against) if looked.there else None
        self._view = self._fresh("compiling", "")
        self._first: Outcome | None = compiled(looked, self.constants)
        self._view = replace(self._view, **self._compiled(self.constants, self._first))
        self._generation = 1
        with self._lock:
            self._start_work()

    # What is shown ----------------------------------------------------------------------------------

    @property
    def on_gpu(self) -> bool:
        """Whether the call's arrays are on a GPU."""
        return self._looked.there

    @property
    def view(self) -> SlidersView:
        """The model as it is now."""
        with self._lock:
            return self._view

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call it whenever the model changes."""
        self._callbacks.append(callback)

    def wait(self, timeout: float | None = None) -> SlidersView:
        """Wait until everything about the present places is known; `TimeoutError` after some seconds."""
        with self._lock:
            if not self._lock.wait_for(self._at_rest, timeout):
                raise TimeoutError("the configuration is still being compiled, counted or timed")
            return self._view

    def _at_rest(self) -> bool:
        return all(generation == self._generation for generation in self._done.values())

    # Moves ------------------------------------------------------------------------------------------

    def move(self, places: Mapping[str, Value]) -> None:
        """Set sliders to values, then compile; what is being compiled is dropped.

        `PhobosError` PH404 for a name without a slider, PH405 for a value that it does not have.
        """
        known = {p.name: p for p in self.parameters}
        for name, value in places.items():
            if name not in known:
                raise _wrong("PH404", f"there is no slider {name}; there are {', '.join(known)}")
            if value not in known[name].values:
                labels = ", ".join(known[name].label(v) for v in known[name].values)
                raise _wrong("PH405", f"{name}: wanted one of {labels}, got {value}")
        with self._lock:
            self._at.update(places)
            self._generation += 1
            self._moved = time.monotonic()
            reason = self._refusal(self.constants)
            self._view = self._fresh("refused" if reason else "compiling", reason)
            self._desk.drop()
            self._start_work()
        self._tell()

    def _start_work(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
        if self._thread is None:
            self._thread = threading.Thread(target=_work, args=(weakref.ref(self),), daemon=True)
            self._thread.start()

    @property
    def constants(self) -> dict[str, int]:
        """Where the sliders stand; the compiler's own choices only where they are not "auto"."""
        return {n: v for n, v in self._at.items() if v is not None}

    def _refusal(self, constants: Mapping[str, int]) -> str:
        """Why a configuration cannot work: it failed before, or breaks a limit.

        The limits do not depend on the compiler's own choices.
        """
        own = {p.name for p in self.parameters if p.own}
        searched = {n: v for n, v in constants.items() if n not in own}
        known = self._failures.get(label(constants), "")
        return known or why_not(self.kernel, searched, self.extents, self._looked.target)

    def _fresh(self, state: str, message: str) -> SlidersView:
        """The model right after a move: sliders and reasons are new, figures are still the old ones."""
        sliders = tuple(self._slider(p) for p in self.parameters)
        here = label(self.constants)
        changed: dict[str, Any] = {"sliders": sliders, "state": state, "message": message, "label": here}
        old: SlidersView | None = getattr(self, "_view", None)
        if old is not None:
            return replace(old, **changed, counting=False)
        title = f"{self.kernel.name}: {_shapes(self._looked)}"
        target = self._looked.target.name
        blank = SlidersView(self.kernel.name, title, self.extents, target, (), state, "")
        return replace(blank, **changed, timing=Timing(missing=self._untimed(Outcome())))

    def _untimed(self, outcome: Outcome) -> str:
        """Why there is no time, or not yet."""
        if self._stopwatch is None:
            return "not measured: the arrays are not on a GPU"
        return (
            "measuring ..." if outcome.compiled is not None else "not measured: there is no machine code"
        )

    def _slider(self, parameter: Parameter) -> Slider:
        """Places with what refuses them; for a choice of the compiler's own, only what failed before."""

        def reason(value: Value) -> str:
            there = self._with(parameter.name, value)
            return self._failures.get(label(there), "") if parameter.own else self._refusal(there)

        places = tuple(Place(v, parameter.label(v), reason(v)) for v in parameter.values)
        at = parameter.values.index(self._at[parameter.name])
        return Slider(parameter.name, places, at, parameter.own, parameter.meaning)

    def _with(self, name: str, value: Value) -> dict[str, int]:
        return {n: v for n, v in {**self._at, name: value}.items() if v is not None}

    # Work, in the thread ----------------------------------------------------------------------------

    def _next(self) -> int | None:
        """Wait until the sliders rest; the move to work on, None when there is nothing to do."""
        with self._lock:
            while self._done["look"] != self._generation:
                rest = self._moved + self._delay - time.monotonic()
                if rest <= 0:
                    return self._generation
                self._lock.wait(rest)
            self._thread = None
            self._idle = threading.Timer(IDLE_SECONDS, _close_idle, (weakref.ref(self),))
            self._idle.daemon = True
            self._idle.start()
            return None

    def _treat(self, generation: int) -> None:
        """Compile, count and time what the sliders stand at, unless they move meanwhile."""
        try:
            self._look(generation)
        except DroppedError:
            return
        except Exception as error:  # a fault of ours is shown too
            self._publish(generation, {"state": "failed", "message": f"{type(error).__name__}: {error}"})
        if not self._timing:
            self._settle("time", generation)
        self._settle("look", generation)

    def _look(self, generation: int) -> None:
        self._timing = False
        with self._lock:
            self._work = None
            constants, refused = self.constants, self._view.state == "refused"
        if refused:
            return
        first, self._first = self._first, None
        outcome = first if first is not None and generation == 1 else self._compile(constants)
        if not self._publish(generation, self._compiled(constants, outcome)) or outcome.view is None:
            return
        if self._stopwatch is not None and outcome.compiled is not None:
            self._timing = True
            work = generation, outcome.compiled, self._stopwatch
            threading.Thread(target=self._time, args=work, daemon=True).start()
        self._count(generation, constants)

    def _compile(self, constants: Mapping[str, int]) -> Outcome:
        try:
            return self._desk.call("compile", constants)
        except FAULTS as error:
            return Outcome(failed=str(error), lasting=False)
        finally:
            self._desk.stand_by()

    def _compiled(self, constants: Mapping[str, int], outcome: Outcome) -> Mapping[str, Any]:
        """The changes to the model."""
        name = label(constants)
        if outcome.failed or outcome.refused:
            reason = outcome.failed or outcome.refused
            if outcome.lasting:
                self._failures[name] = reason
            kind = "refused" if outcome.refused else "failed"
            sliders = tuple(self._slider(p) for p in self.parameters)
            return {"state": kind, "message": reason, "sliders": sliders}
        old = self._view.shown
        before = {f.name: f.value for f in old.facts} if old is not None else {}
        return {
            "state": "ready",
            "message": "",
            "compiled": name,
            "shown": outcome.view,
            "before": before,
            "roofline": None,
            "counting": True,
            "missing": "",
            "timing": Timing(missing=self._untimed(outcome)),
        }

    def _count(self, generation: int, constants: Mapping[str, int]) -> None:
        """Count work, then place its point."""
        try:
            work: Work = self._desk.call("count", constants)
        except FAULTS as error:
            work = Work(missing=str(error))
        missing = work.missing
        if work.counted is not None and self._roofs is None:
            missing = f"no card of {self._looked.target.name} is listed"
        with self._lock:
            self._work = work.counted
            self._publish(generation, {"counting": False, "missing": missing})
            self._place_point(generation)

    def _time(self, generation: int, compiled: Compiled, stopwatch: Stopwatch) -> None:
        """In a thread of its own: the time, unless the sliders have moved on before it is its turn."""
        with self._clock:
            if generation == self._generation:
                try:
                    timing = stopwatch.time(compiled)
                except Exception as error:  # a fault of ours is shown too
                    timing = Timing(missing=f"not timed, {type(error).__name__}: {error}")
                with self._lock:
                    self._publish(generation, {"timing": timing})
                    self._place_point(generation)
                self._measure_roofs(generation, stopwatch)
        self._settle("time", generation)

    def _measure_roofs(self, generation: int, stopwatch: Stopwatch) -> None:
        """Once: measured roofs in place of nominal ones; earlier points are of the nominal ones."""
        if not self._ask_roofs:
            return
        self._ask_roofs = False
        found = stopwatch.roofs()
        if found is not None:
            with self._lock:
                self._roofs, self._points = found, []
                self._place_point(generation)

    def _place_point(self, generation: int) -> None:
        """The roofline with the present point, once its work is known; the lock is held."""
        view, work = self._view, self._work
        if generation != self._generation or work is None or self._roofs is None:
            return
        us = None if view.timing.ms is None else view.timing.ms * 1e3
        shown = point(view.label or self.kernel.name, work, self._roofs, us)
        roofline = RooflineView(view.title, self._roofs, self._trail(shown))
        self._publish(generation, {"roofline": roofline})

    def _settle(self, part: str, generation: int) -> None:
        """A part of a move's work is done: "look" (compiled and counted) or "time"."""
        with self._lock:
            self._done[part] = max(self._done[part], generation)
            self._lock.notify_all()
        self._tell()

    def _trail(self, shown: Point) -> tuple[Point, ...]:
        """The point, last, after those of the configurations before it."""
        earlier = [p for p in self._points if p.label != shown.label]
        self._points = [*earlier, shown][-TRAIL:]
        return tuple(self._points)

    def _publish(self, generation: int, changes: Mapping[str, Any]) -> bool:
        """Change the model, unless the sliders have moved since; whether it was changed."""
        with self._lock:
            if generation != self._generation:
                return False
            self._view = replace(self._view, **changes)
        self._tell()
        return True

    def _tell(self) -> None:
        for callback in self._callbacks:
            callback()

    # Buttons ----------------------------------------------------------------------------------------

    def use(self) -> dict[str, int]:
        """Let calls of the kernel take what the sliders stand at.

        `PhobosError` PH402 for a configuration that cannot work.
        """
        with self._lock:
            constants = self.constants
            if self._view.state in ("refused", "failed"):
                raise _wrong("PH402", f"{self._view.label}: {self._view.message}")
            self.kernel.use(**constants)
            self._view = replace(self._view, used=label(constants))
        self._tell()
        return constants

    def export(self) -> str:
        """The configuration as JSON: kernel, constants, extents, dtypes, target."""
        known = {
            "kernel": self.kernel.name,
            "constants": self.constants,
            "extents": self.extents,
            "dtypes": {p.name: p.dtype for p in self.kernel.parameters},
            "target": self._looked.target.name,
        }
        return json.dumps(known, indent=1)

    def line(self) -> str:
        """The configuration as a line of Python."""
        fixed = ", ".join(f"{n}={v}" for n, v in sorted(self.constants.items()))
        return f"{self.kernel.name} = {self.kernel.name}.specialize({fixed})"

    def tune(self, **options: Any) -> LiveSearch:
        """Search all values of the sliders of a search, the compiler's own choices as they stand here.

        Takes the options of `tune`. Arrays that are not on a GPU tune the NumPy meaning.
        """
        import phobos_nb

        own = {p.name: v for p in self.parameters if p.own and (v := self._at[p.name]) is not None}
        free = {p.name: [v for v in p.values if v is not None] for p in self.parameters if not p.own}
        choices = {**free, **own, **options.pop("choices", {})}
        values = self._looked.values
        ordered = [values[p.name] for p in self.kernel.parameters]
        return phobos_nb.autotune_live(
            self.kernel, *ordered, grid=self._grid, choices=choices, **options
        )

    def close(self) -> None:
        """End the processes; a later move starts them again."""
        self._desk.close()
        if self._stopwatch is not None:
            self._stopwatch.close()


def _work(reference: weakref.ref[Sliders]) -> None:
    """The thread: until nothing is to do, or the sliders are forgotten."""
    while (sliders := reference()) is not None:
        generation = sliders._next()  # pyright: ignore[reportPrivateUsage] - its own thread
        if generation is None:
            return
        sliders._treat(generation)  # pyright: ignore[reportPrivateUsage]
        del sliders


def _close_idle(reference: weakref.ref[Sliders]) -> None:
    if (sliders := reference()) is not None:
        sliders.close()


def _start(parameter: Parameter, chosen: Mapping[str, int]) -> Value:
    """The compiler's choice for the call, "auto" for what it does not name, else the first value."""
    found = chosen.get(parameter.name)
    return found if found in parameter.values else parameter.values[0]


def _call(looked: Looked, made: bool) -> Call:
    """The call for the worker process."""
    kernel = looked.kernel
    options = replace(kernel.options, chip=looked.target.name)
    text = KernelText(kernel.source, kernel.name, options)
    grid = None if looked.grid is None else looked.call.grid
    arrays = {} if made or looked.bytes > MOST_BYTES else looked.copies()
    return Call(text, dict(looked.call.scalars), arrays, looked.call.extents, grid)


def _roofs(looked: Looked) -> Roofs | None:
    """Measured ones where they are known already, else nominal ones of the card."""
    if looked.there:
        from phobos_nb.views.roofline_probe import known_roofs

        found = known_roofs(looked.place.name)
        if found is not None:
            return found
    card = card_of(looked.target, looked.place.name if looked.there else "")
    return None if card is None else nominal(looked.target, card)


def _shapes(looked: Looked) -> str:
    arrays = looked.call.arrays.items()
    return ", ".join(f"{name} {' x '.join(map(str, a.shape))}" for name, a in arrays)


def _wrong(code: str, message: str) -> PhobosError:
    return PhobosError([Diagnostic(code, message, stage="tune")])
