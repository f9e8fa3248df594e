"""Configurations on the GPU: loaded from their cubins, checked, timed by events in CUDA graphs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from phobos_nb.arguments.findings import findings
from phobos_nb.arguments.grid import choose_grid
from phobos_nb.arguments.match import check_promises, match_arguments
from phobos_nb.cuda.bind import BoundCall
from phobos_nb.cuda.driver import cupy
from phobos_nb.cuda.plan import Dispatcher, Prepared
from phobos_nb.cuda.timing import captured_or_none, on_stream, time_once
from phobos_nb.tune.bench import Task, Verdict
from phobos_nb.tune.check import Expected, complaint, poison
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.snapshot import lay_out, put

SHORTEST_MS = 0.3
"""A warm sample spans calls for at least this long: events tick in about half a microsecond."""

MOST_CALLS = 200
"""Calls in one sample at most."""

FLUSH_FACTOR = 2
"""Bytes written to flush the L2 cache, in cache sizes."""


class DeviceBench:
    """One GPU with arrays of its own, laid out like the caller's."""

    def __init__(self, task: Task) -> None:
        self._task = task
        module = cupy()
        module.cuda.Device(task.device).use()
        self._arrays = lay_out(task.arrays, module)
        self._kept = {name: self._arrays[name].copy() for name in task.kept}
        self._poisoned = [self._arrays[name] for name in task.poisoned]
        self._expected = {n: _on_device(e, module) for n, e in task.expected.items()}
        self._stream = module.cuda.Stream(non_blocking=True)
        self._calls: dict[str, BoundCall] = {}
        self._runs: dict[str, tuple[Callable[[], object], int]] = {}
        l2 = module.cuda.Device(task.device).attributes["L2CacheSize"]
        self._flush = module.empty(FLUSH_FACTOR * l2 if task.cold else 0, "uint8")

    def check(self, name: str, compiled: Compiled) -> Verdict:
        """Load, run once on poisoned outputs, compare."""
        call = bound(compiled, self._task.in_order(self._arrays), self._task.grid)
        with on_stream(self._stream):
            self._restore()
            for array in self._poisoned:
                poison(array)
            call()
            self._stream.synchronize()
            error, problem = complaint(self._arrays, self._expected, self._task.tolerance)
            self._restore()
        self._calls[name] = call
        return Verdict(error, problem)

    def time(self, name: str, samples: int) -> tuple[float, ...]:
        """Each sample: in-place outputs put back, the cache flushed or warmed, then the timed calls."""
        if name not in self._runs:
            self._runs[name] = self._prepared(self._calls[name])
        run, calls = self._runs[name]
        found: list[float] = []
        for _ in range(samples):
            with on_stream(self._stream):
                self._restore()
                if self._task.cold:
                    self._flush.fill(1)
                elif calls > 1:
                    run()
                found.append(time_once(run, self._stream) / calls)
        return tuple(found)

    def drop(self, name: str) -> None:
        """Forget a configuration."""
        self._calls.pop(name, None)
        self._runs.pop(name, None)

    def _prepared(self, call: BoundCall) -> tuple[Callable[[], object], int]:
        """A captured graph of as many calls as one sample takes."""
        with on_stream(self._stream):
            once = time_once(call, self._stream)
        wanted = math.ceil(SHORTEST_MS / max(once, 1e-3))
        calls = 1 if self._task.cold else max(1, min(MOST_CALLS, wanted))
        graph = captured_or_none(call, self._stream, calls)
        if graph is None:
            return lambda: [call() for _ in range(calls)], calls
        graph.upload(self._stream)
        return lambda: graph.launch(self._stream), calls

    def _restore(self) -> None:
        for name, values in self._kept.items():
            self._arrays[name][...] = values


def bound(compiled: Compiled, arguments: list[Any], grid: Any) -> BoundCall:
    """The loaded kernel with its arguments fixed, through the checks of every call."""
    contract = compiled.contract
    if contract is None:
        raise ValueError("not compiled for a GPU")

    def prepare(arrays: Mapping[str, Any], scalars: Mapping[str, Any], grid: Any) -> Prepared:
        values = {p.name: scalars.get(p.name, p.name) for p in contract.parameters}
        with findings(contract.kernel) as found:
            call = match_arguments(contract.parameters, values, arrays.get, found)
            check_promises(contract.promises, call.extents, found)
            shape = choose_grid(contract.grid, call.extents, grid, found)
        return Prepared(
            contract, lambda: compiled.cubin, lambda: "", call.extents, shape, compiled.in_place
        )

    return BoundCall(Dispatcher(contract.parameters, prepare), arguments, grid)


def _on_device(expected: Expected, module: Any) -> Expected:
    values = module.empty(expected.values.shape, expected.values.dtype)
    put(values, expected.values, module)
    return Expected(values, None if expected.known is None else module.asarray(expected.known))
