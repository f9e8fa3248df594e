"""Launch plans: what one kernel needs to start on arrays of one layout, and the fast path to it.

A call with arrays of a layout seen before costs a few microseconds of host time: a dictionary look-up by
layout, a comparison of address ranges, two packs, one driver call. Everything else was checked when the
plan was made, and depends only on what the key holds.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.findings import Findings, findings
from phobos_nb.arguments.grid import Grid, check_limits
from phobos_nb.arguments.overlap import check_overlap
from phobos_nb.arguments.scalars import Scalar, check_range, convert_scalar
from phobos_nb.contract import LaunchContract, Parameter, ScalarParameter, TensorParameter
from phobos_nb.cuda.arrays import Library, adopt, library_of
from phobos_nb.cuda.driver import (
    LoadedKernel,
    check_target,
    cupy,
    current_device,
    explained,
    load_kernel,
    recent_launches,
)
from phobos_nb.cuda.launch import Parameters, Start, starter

PAIRS = frozenset[frozenset[str]]


@dataclass(frozen=True)
class Prepared:
    """What compiling for a call yields: the contract, code for the GPU, and the solved call.

    cubin and ptx are made on demand, since a GPU needs one of the two. `synchronize` asks for a wait
    after each launch, so that a fault is reported where it happens.
    """

    contract: LaunchContract
    cubin: Callable[[], bytes]
    ptx: Callable[[], str]
    extents: Mapping[str, int]
    grid: Grid
    in_place: PAIRS
    synchronize: bool = False


Prepare = Callable[[Mapping[str, ArrayDescription], Mapping[str, Any], Any], Prepared]
"""prepare(arrays, scalars, grid): checks a call and compiles for the current GPU, or raises."""


class LaunchPlan:
    """A kernel laid out for arrays of one layout on one GPU; `kernel` is None for an empty grid."""

    def __init__(
        self,
        prepared: Prepared,
        arrays: Mapping[str, ArrayDescription],
        device: int,
        kernel: LoadedKernel | None,
    ) -> None:
        contract = prepared.contract
        self.contract = contract
        self.device = device
        self.empty = 0 in prepared.grid
        self.lock = threading.Lock()
        self._layout = prepared.extents, arrays
        self._grid = prepared.grid
        self._kernel = kernel
        self.parameters = self.new_parameters()
        self.start = self.starter(self.parameters)
        self.scalars = tuple(p for p in contract.parameters if isinstance(p, ScalarParameter))
        self.plain = tuple(_plain_types(p) for p in self.scalars)
        self.guard = OverlapGuard(contract.tensors, arrays, prepared.in_place, contract.kernel)
        self.synchronize = prepared.synchronize

    def new_parameters(self) -> Parameters:
        """A parameter buffer with the layout filled in."""
        parameters = Parameters(self.contract)
        parameters.write_layout(*self._layout)
        return parameters

    def starter(self, parameters: Parameters) -> Start:
        """What launches with those parameters; nothing where the grid is empty."""
        if self._kernel is None:
            return _no_launch
        return starter(self._kernel, self.contract, self._grid, parameters.address)

    def convert(self, values: Sequence[Any]) -> list[Scalar]:
        """Scalars as their parameters want them; raises what does not fit."""
        with findings(self.contract.kernel) as found:
            return [_checked(p, v, found) for p, v in zip(self.scalars, values, strict=True)]

    def write(self, parameters: Parameters, addresses: Sequence[int], values: Sequence[Any]) -> None:
        """Put the addresses and scalars of one call in place."""
        parameters.write_addresses(addresses)
        if self.plain:
            plain = all(type(v) in t for v, t in zip(values, self.plain, strict=True))
            try:
                parameters.write_scalars(values if plain else self.convert(values))
            except (struct.error, OverflowError):
                parameters.write_scalars(self.convert(values))

    def launch(self, addresses: Sequence[int], values: Sequence[Any], stream: int) -> None:
        """Start the kernel; every driver status is checked."""
        with self.lock:
            self.write(self.parameters, addresses, values)
            try:
                self.start(stream)
            except RuntimeError:
                with explained(self.contract, "start"):
                    raise
        recent_launches.append(self.contract)
        if self.synchronize:
            with explained(self.contract, "run"):
                cupy().cuda.runtime.streamSynchronize(stream)


def _no_launch(stream: int) -> None:
    """Stands for the launch of an empty grid."""


def _load(prepared: Prepared, device: int) -> LoadedKernel:
    contract = prepared.contract
    image = prepared.cubin() if check_target(contract, device) else prepared.ptx().encode()
    kernel = load_kernel(image, contract)
    with findings(contract.kernel) as found:
        check_limits(contract, kernel.registers, found)
    return kernel


def _plain_types(parameter: ScalarParameter) -> tuple[type, ...]:
    """The Python types that need no conversion; bool is no number here."""
    if parameter.dtype == "bool":
        return (bool,)
    return (float, int) if parameter.dtype in ("f16", "bf16", "f32", "f64") else (int,)


def _checked(parameter: ScalarParameter, value: Any, found: Findings) -> Scalar:
    scalar = convert_scalar(parameter, value, found)
    check_range(parameter, scalar, found)
    return scalar


class OverlapGuard:
    """The overlap check of a layout, reduced to comparing address ranges on the hot path."""

    def __init__(
        self,
        tensors: tuple[TensorParameter, ...],
        arrays: Mapping[str, ArrayDescription],
        in_place: PAIRS,
        kernel: str,
    ) -> None:
        self._tensors, self._arrays = tensors, arrays
        self._in_place, self._kernel = in_place, kernel
        spans = [_relative_span(arrays[t.name]) for t in tensors]
        self._pairs = [
            (i, j, spans[i][0] - spans[j][1], spans[i][1] - spans[j][0])
            for i, j in combinations(range(len(tensors)), 2)
            if tensors[i].writes or tensors[j].writes
        ]
        self._allowed: set[tuple[int, ...]] = set()

    def check(self, addresses: Sequence[int]) -> None:
        """Raise if a written array shares memory with another at these addresses."""
        for i, j, low, high in self._pairs:
            if low < addresses[j] - addresses[i] < high:
                self._check_exactly(addresses)
                return

    def _check_exactly(self, addresses: Sequence[int]) -> None:
        """Ranges meet: decide by elements. Only the distances matter, so good ones are remembered."""
        distances = tuple(a - addresses[0] for a in addresses)
        if distances in self._allowed:
            return
        moved = {
            t.name: _moved(self._arrays[t.name], a)
            for t, a in zip(self._tensors, addresses, strict=True)
        }
        with findings(self._kernel) as found:
            check_overlap(self._tensors, moved, self._in_place, found)
        self._allowed.add(distances)


def _relative_span(array: ArrayDescription) -> tuple[int, int]:
    low, high = array.span()
    return (0, 0) if array.empty else (low - array.address, high - array.address)


def _moved(array: ArrayDescription, address: int) -> ArrayDescription:
    return ArrayDescription(
        array.dtype, array.shape, array.strides, address, array.itemsize, array.writable, array.owner
    )


@dataclass(frozen=True)
class Ready:
    """A call made ready: its plan, the addresses and scalars, the arrays that own them, the stream."""

    plan: LaunchPlan
    addresses: list[int]
    values: tuple[Any, ...]
    arrays: tuple[Any, ...]
    library: Library


class Dispatcher:
    """Finds or makes the launch plan of each call of one kernel."""

    def __init__(self, parameters: Sequence[Parameter], prepare: Prepare) -> None:
        self._parameters = tuple(parameters)
        self._prepare = prepare
        self._tensors = [i for i, p in enumerate(parameters) if isinstance(p, TensorParameter)]
        self._scalars = [i for i, p in enumerate(parameters) if isinstance(p, ScalarParameter)]
        self._plans: dict[Hashable, LaunchPlan] = {}
        self._libraries: dict[type, Library] = {}
        self._kernels: dict[tuple[int, int], tuple[LaunchContract, LoadedKernel]] = {}

    def __call__(self, arguments: Sequence[Any], grid: Any = None) -> None:
        """Check and start one call; `arguments` are complete and in source order."""
        ready = self.ready(arguments, grid)
        plan = ready.plan
        if plan.empty:
            plan.convert(ready.values)
            return
        if current_device() == plan.device:
            plan.launch(ready.addresses, ready.values, ready.library.stream(plan.device))
        else:
            with cupy().cuda.Device(plan.device):
                plan.launch(ready.addresses, ready.values, ready.library.stream(plan.device))

    def knows(self, arguments: Sequence[Any]) -> bool:
        """Whether these are complete arguments with arrays of libraries met before, on a GPU."""
        if len(arguments) != len(self._parameters):
            return False
        for position in self._tensors:
            library = self._libraries.get(arguments[position].__class__)
            if library is None or not library.present(arguments[position]):
                return False
        return True

    def ready(self, arguments: Sequence[Any], grid: Any = None) -> Ready:
        """The plan for these arguments, made if need be, with overlap checked."""
        arrays = [arguments[i] for i in self._tensors]
        values = tuple([arguments[i] for i in self._scalars])
        try:
            libraries = [self._libraries[a.__class__] for a in arrays]
        except KeyError:
            arrays = [adopt(a) for a in arrays]
            libraries = [self._library(a) for a in arrays]
        if isinstance(grid, list):
            grid = tuple(cast("list[Any]", grid))
        key = (grid, *[x.layout(a) for x, a in zip(libraries, arrays, strict=True)])
        plan = self._plans.get(key) or self._make(key, arrays, values, libraries, grid)
        addresses = [x.address(a) for x, a in zip(libraries, arrays, strict=True)]
        plan.guard.check(addresses)
        return Ready(plan, addresses, values, tuple(arrays), _streams_of(libraries))

    def _library(self, array: Any) -> Library:
        return self._libraries.setdefault(array.__class__, library_of(array))

    def _make(
        self,
        key: Hashable,
        arrays: list[Any],
        values: tuple[Any, ...],
        libraries: list[Library],
        grid: Any,
    ) -> LaunchPlan:
        names = [self._parameters[i].name for i in self._tensors]
        described = {n: x.describe(a) for n, x, a in zip(names, libraries, arrays, strict=True)}
        device = self._one_device(names, arrays, libraries)
        scalars = {self._parameters[i].name: v for i, v in zip(self._scalars, values, strict=True)}
        with cupy().cuda.Device(device):
            prepared = self._prepare(described, scalars, grid)
            kernel = None if 0 in prepared.grid else self._loaded(prepared, device)
            plan = LaunchPlan(prepared, described, device, kernel)
        self._plans[key] = plan
        return plan

    def _loaded(self, prepared: Prepared, device: int) -> LoadedKernel:
        """Each compilation is loaded once per GPU, however many layouts it serves."""
        key = id(prepared.contract), device
        if key not in self._kernels:
            self._kernels[key] = prepared.contract, _load(prepared, device)
        return self._kernels[key][1]

    def _one_device(self, names: list[str], arrays: list[Any], libraries: list[Library]) -> int:
        devices = [x.device(a) for x, a in zip(libraries, arrays, strict=True)]
        with findings("call") as found:
            for name, device in zip(names, devices, strict=True):
                if device != devices[0]:
                    message = f"{name} is on GPU {device}, {names[0]} on GPU {devices[0]}"
                    found.value_error("PH712", message, "move them to one GPU")
        return devices[0] if devices else current_device()


def _streams_of(libraries: list[Library]) -> Library:
    """Whose current stream counts: torch's where any array is torch's."""
    for library in libraries:
        if library.name == "torch":
            return library
    return libraries[0]
