"""Configurations on the GPU: loaded from their cubins, checked, timed by events in CUDA graphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from phobos_nb.arguments.findings import findings
from phobos_nb.arguments.grid import choose_grid
from phobos_nb.arguments.match import check_promises, check_thin, match_arguments
from phobos_nb.cuda.bind import BoundCall, bound_call
from phobos_nb.cuda.device_plan import Code, Prepared
from phobos_nb.cuda.driver import cupy
from phobos_nb.cuda.plan import Dispatcher
from phobos_nb.cuda.timing import on_stream
from phobos_nb.tune.bench import Task, Verdict
from phobos_nb.tune.check import Expected, complaint, poison
from phobos_nb.tune.compile_job import Compiled
from phobos_nb.tune.device_timer import DeviceTimer, Timed
from phobos_nb.tune.snapshot import lay_out, put


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
        self._timer = DeviceTimer(task.device, task.cold)
        self._calls: dict[str, BoundCall] = {}
        self._timed: dict[str, Timed] = {}
        complaint(self._arrays, self._expected, task.tolerance)  # CuPy compiles its kernels here, once
        module.cuda.Device(task.device).synchronize()

    def check(self, name: str, compiled: Compiled) -> Verdict:
        """Load, run once on poisoned outputs, compare."""
        grid = self._task.grid_of(compiled.constants)
        call = bound(compiled, self._task.in_order(self._arrays), grid)
        with on_stream(self._timer.stream):
            self._restore()
            for array in self._poisoned:
                poison(array)
            call()
            self._timer.stream.synchronize()
            error, problem = complaint(self._arrays, self._expected, self._task.tolerance)
            self._restore()
        self._calls[name] = call
        self._timed.pop(name, None)
        return Verdict(error, problem)

    def time(self, name: str, samples: int) -> tuple[float, ...]:
        """Milliseconds per call, one per sample."""
        if name not in self._timed:
            self._timed[name] = self._timer.prepare(self._calls[name])
        timed = self._timed[name]
        return tuple(self._timer.sample(timed, self._restore) for _ in range(samples))

    def drop(self, name: str) -> None:
        """Forget a configuration."""
        self._calls.pop(name, None)
        self._timed.pop(name, None)

    def _restore(self) -> None:
        for name, values in self._kept.items():
            self._arrays[name][...] = values


def bound(compiled: Compiled, arguments: list[Any], grid: Any) -> BoundCall:
    """The loaded kernel with its arguments fixed, through the checks of every call."""
    plan = compiled.plan
    if plan is None:
        raise ValueError("not compiled for a GPU")
    contract = plan.main

    def prepare(arrays: Mapping[str, Any], scalars: Mapping[str, Any], grid: Any) -> Prepared:
        values = {p.name: scalars.get(p.name, p.name) for p in plan.parameters}
        with findings(plan.kernel) as found:
            call = match_arguments(plan.parameters, values, arrays.get, found)
            check_promises(contract.promises, call.extents, found)
            check_thin(contract.grid.thin(contract.constants), call.extents, found)
            shape = choose_grid(contract.grid, call.extents, grid, found)
        code = tuple(_code(image) for image in compiled.cubins)
        return Prepared(plan, code, call.extents, shape, compiled.in_place)

    return bound_call(Dispatcher(plan.parameters, prepare), arguments, grid)


def _code(cubin: bytes) -> Code:
    return Code(lambda: cubin, str)


def _on_device(expected: Expected, module: Any) -> Expected:
    values = module.empty(expected.values.shape, expected.values.dtype)
    put(values, expected.values, module)
    return Expected(values, None if expected.known is None else module.asarray(expected.known))
