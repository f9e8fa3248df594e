"""From a call's arguments to its launch plan, made when its layout is met first.

A call with arrays of a layout seen before costs a few microseconds of host time (`fast.py`). Everything
that is not checked there was checked when the plan was made, and depends only on what the key holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.findings import findings
from phobos_nb.arguments.grid import Grid, check_limits
from phobos_nb.contract import LaunchContract, Parameter, ScalarParameter, TensorParameter
from phobos_nb.cuda.arrays import Library, adopt, library_of
from phobos_nb.cuda.device_plan import Code, DevicePlan, Prepared
from phobos_nb.cuda.driver import cupy, current_device
from phobos_nb.cuda.fast import Path, fast_path
from phobos_nb.cuda.loading import LoadedKernel, check_target, load_kernel

Prepare = Callable[[Mapping[str, ArrayDescription], Mapping[str, Any], Any], Prepared]
"""prepare(arrays, scalars, grid): checks a call and compiles for the current GPU, or raises."""

MOST_PLANS = 512
"""Layouts kept per kernel; the first made goes first."""

MOST_PATHS = 64
"""Combinations of argument types with a fast path, per kernel."""


@dataclass(frozen=True)
class Ready:
    """A call made ready: its plan, the addresses and scalars, the arrays that own them, the stream."""

    plan: DevicePlan
    addresses: tuple[int, ...]
    values: tuple[Any, ...]
    arrays: tuple[Any, ...]
    library: Library


class Dispatcher:
    """Finds or makes the launch plan of each call of one kernel.

    paths: by the types of all arguments, the fast path of warm calls.
    """

    def __init__(self, parameters: Sequence[Parameter], prepare: Prepare) -> None:
        self._parameters = tuple(parameters)
        self._prepare = prepare
        self._tensors = [i for i, p in enumerate(parameters) if isinstance(p, TensorParameter)]
        self._scalars = [i for i, p in enumerate(parameters) if isinstance(p, ScalarParameter)]
        self._plans: dict[Hashable, DevicePlan] = {}
        self._kernels: dict[tuple[int, int], tuple[LaunchContract, LoadedKernel]] = {}
        self.paths: dict[tuple[type, ...], Path] = {}

    def __call__(self, arguments: Sequence[Any], grid: Any = None) -> None:
        """Check and start one call; `arguments` are complete and in source order."""
        path = self.paths.get(tuple(map(type, arguments)))
        if path is not None and path(tuple(arguments), grid):
            return
        ready = self.ready(arguments, grid)
        plan = ready.plan
        values = ready.values
        if plan.takes_plainly(values):
            self._learn(arguments, ready)
        else:
            values = plan.convert(values)
        if current_device() == plan.device:
            plan.run(ready.addresses, values, ready.library.stream(plan.device))
        else:
            with cupy().cuda.Device(plan.device):
                plan.run(ready.addresses, values, ready.library.stream(plan.device))

    def _learn(self, arguments: Sequence[Any], ready: Ready) -> None:
        """Make a fast path for arguments of these types, if their arrays are of one library."""
        types = tuple(map(type, arguments))
        adopted = any(x is not arguments[i] for x, i in zip(ready.arrays, self._tensors, strict=True))
        names = {library_of(a).name for a in ready.arrays}
        if types in self.paths or adopted or len(names) != 1 or len(self.paths) >= MOST_PATHS:
            return
        self.paths[types] = fast_path(ready.library, self._tensors, self._scalars, self._plans)

    def ready(self, arguments: Sequence[Any], grid: Any = None) -> Ready:
        """The plan for these arguments, made if need be, with overlap checked."""
        arrays = [adopt(arguments[i]) for i in self._tensors]
        values = tuple([arguments[i] for i in self._scalars])
        libraries = [library_of(a) for a in arrays]
        key: list[Hashable] = [tuple(cast("list[Any]", grid)) if isinstance(grid, list) else grid]
        addresses: list[int] = []
        for library, array in zip(libraries, arrays, strict=True):
            addresses += library.scan((array,), key)
        plan = self._plans.get(tuple(key))
        if plan is None:
            plan = self._make(arrays, values, libraries, grid)
            if len(self._plans) >= MOST_PLANS:
                del self._plans[next(iter(self._plans))]
            self._plans[tuple(key)] = plan
        plan.guard.check(addresses)
        return Ready(plan, tuple(addresses), values, tuple(arrays), _streams_of(libraries))

    def _make(
        self, arrays: list[Any], values: tuple[Any, ...], libraries: list[Library], grid: Any
    ) -> DevicePlan:
        names = [self._parameters[i].name for i in self._tensors]
        described = {n: x.describe(a) for n, x, a in zip(names, libraries, arrays, strict=True)}
        device = self._one_device(names, arrays, libraries)
        scalars = {self._parameters[i].name: v for i, v in zip(self._scalars, values, strict=True)}
        with cupy().cuda.Device(device):
            prepared = self._prepare(described, scalars, grid)
            loaded = [] if 0 in prepared.grid else self._load_all(prepared, device)
            return DevicePlan(prepared, described, device, loaded)

    def _load_all(self, prepared: Prepared, device: int) -> list[tuple[LoadedKernel, Grid]]:
        plan = prepared.plan
        grids = plan.grids(prepared.grid, prepared.extents)
        return [
            (self._loaded(launch.contract, code, device), grid)
            for launch, code, grid in zip(plan.launches, prepared.code, grids, strict=True)
        ]

    def _loaded(self, contract: LaunchContract, code: Code, device: int) -> LoadedKernel:
        """Each compilation is loaded once per GPU, however many layouts it serves."""
        key = id(contract), device
        if key not in self._kernels:
            self._kernels[key] = contract, _load(contract, code, device)
        return self._kernels[key][1]

    def _one_device(self, names: list[str], arrays: list[Any], libraries: list[Library]) -> int:
        devices = [x.device(a) for x, a in zip(libraries, arrays, strict=True)]
        with findings("call") as found:
            for name, device in zip(names, devices, strict=True):
                if device != devices[0]:
                    message = f"{name} is on GPU {device}, {names[0]} on GPU {devices[0]}"
                    found.value_error("PH712", message, "move them to one GPU")
        return devices[0] if devices else current_device()


def _load(contract: LaunchContract, code: Code, device: int) -> LoadedKernel:
    image = code.cubin() if check_target(contract, device) else code.ptx().encode()
    kernel = load_kernel(image, contract)
    with findings(contract.kernel) as found:
        check_limits(contract, kernel.registers, found)
    return kernel


def _streams_of(libraries: list[Library]) -> Library:
    """Whose current stream counts: torch's where any array is torch's; CuPy's without arrays."""
    for library in libraries:
        if library.name == "torch":
            return library
    return libraries[0] if libraries else library_of(None)
