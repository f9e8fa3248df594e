"""A launch plan made concrete: one kernel's launches on arrays of one layout on one GPU."""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.findings import Findings, findings
from phobos_nb.arguments.grid import Grid
from phobos_nb.arguments.scalars import Scalar, check_range, convert_scalar
from phobos_nb.contract import LaunchPlan, ScalarParameter, TensorParameter
from phobos_nb.cuda.driver import cupy, explained, recent_launches
from phobos_nb.cuda.guard import PAIRS, OverlapGuard
from phobos_nb.cuda.loading import LoadedKernel
from phobos_nb.cuda.outputs import DeviceOutput
from phobos_nb.cuda.program import Program
from phobos_nb.cuda.scratch import ScratchMemory, capture_id
from phobos_nb.diagnostics import PhobosError


@dataclass(frozen=True)
class Code:
    """One launch's code. cubin and ptx are made on demand, since a GPU needs one of the two."""

    cubin: Callable[[], bytes]
    ptx: Callable[[], str]


@dataclass(frozen=True)
class Prepared:
    """What compiling for a call yields: the plan, code for each launch, and the solved call.

    grid: of the main launch. synchronize: wait after each call, so that a fault is reported where it
    happens.
    """

    plan: LaunchPlan
    code: tuple[Code, ...]
    extents: Mapping[str, int]
    grid: Grid
    in_place: PAIRS
    synchronize: bool = False


Run = Callable[[tuple[int, ...], Sequence[Any], int], None]
"""run(addresses, plain scalars, stream): one call of a plan."""


class DevicePlan:
    """Everything fixed by the layout of the arrays; `loaded` has a kernel and a grid per launch.

    run: starts a call with the plan's own parameter memory, under its lock.
    """

    run: Run

    def __init__(
        self,
        prepared: Prepared,
        arrays: Mapping[str, ArrayDescription],
        device: int,
        loaded: Sequence[tuple[LoadedKernel, Grid]],
    ) -> None:
        plan = prepared.plan
        self.contract = plan.main
        self.device = device
        self.empty = 0 in prepared.grid
        self.scalars = tuple(p for p in plan.parameters if isinstance(p, ScalarParameter))
        self.plain = tuple(_plain_types(p) for p in self.scalars)
        tensors = tuple(p for p in plan.parameters if isinstance(p, TensorParameter))
        self.guard = OverlapGuard(tensors, arrays, prepared.in_place, plan.kernel)
        self._prepared, self._arrays, self._loaded = prepared, arrays, loaded
        self._scratch = ScratchMemory(plan.scratch, prepared.extents) if plan.scratch else None
        self.after = _after(prepared, loaded)
        self.run = self._runner()

    def program(self) -> Program:
        """The launches with parameter memory of their own and the layout filled in."""
        p = self._prepared
        return Program(p.plan, p.extents, self._arrays, self._loaded, self._scratch)

    def convert(self, values: Sequence[Any]) -> list[Scalar]:
        """Scalars as their parameters want them; raises what does not fit."""
        with findings(self.contract.kernel) as found:
            return [_checked(p, v, found) for p, v in zip(self.scalars, values, strict=True)]

    def write_scalars(self, program: Program, values: Sequence[Any]) -> None:
        """Put plain scalars in place, or raise the error of the one that does not fit."""
        try:
            program.write_scalars(*values)
        except (struct.error, OverflowError):
            self.convert(values)
            raise

    def takes_plainly(self, values: Sequence[Any]) -> bool:
        """Whether every scalar is of a type that is packed as it is; then only its range counts."""
        return all(type(v) in t for v, t in zip(values, self.plain, strict=True))

    def _runner(self) -> Run:
        if self.empty:
            return lambda addresses, values, stream: _ignore(self.convert(values))  # noqa: ARG005
        program, contract, check = self.program(), self.contract, self.guard.check
        write_addresses, write_scalars, start = (
            program.write_addresses, program.write_scalars, program.start,
        )  # fmt: skip
        lock, remember, convert, after = (
            threading.Lock(),
            recent_launches.append,
            self.convert,
            self.after,
        )
        last: tuple[int, ...] | None = None

        def run(addresses: tuple[int, ...], values: Sequence[Any], stream: int) -> None:
            nonlocal last
            try:
                with lock:
                    if addresses != last:  # the same addresses were checked and written before
                        check(addresses)
                        write_addresses(*addresses)
                        last = addresses
                    write_scalars(*values)
                    start(stream)
                    remember(contract)
                    if after:
                        after(stream)
            except (struct.error, OverflowError):
                convert(values)  # says which one does not fit
                raise
            except RuntimeError as error:
                if isinstance(error, PhobosError):
                    raise
                with explained(contract, "start"):
                    raise

        return run


def _ignore(converted: list[Scalar]) -> None:
    """An empty grid starts nothing, but its scalars were checked."""


def _after(
    prepared: Prepared, loaded: Sequence[tuple[LoadedKernel, Grid]]
) -> Callable[[int], None] | None:
    """What follows every call: showing what it printed, or a wait; None where nothing does."""
    contracts = [x.contract for x in prepared.plan.launches]
    shown = [
        DeviceOutput(kernel.module, contract)
        for (kernel, _), contract in zip(loaded, contracts, strict=False)
        if contract.outputs
    ]
    if not shown and not prepared.synchronize:
        return None
    main = prepared.plan.main

    def after(stream: int) -> None:
        if capture_id(stream):
            return
        with explained(main, "run"):
            cupy().cuda.runtime.streamSynchronize(stream)
            for output in shown:
                output.show()

    return after


def _plain_types(parameter: ScalarParameter) -> tuple[type, ...]:
    """The Python types that need no conversion; bool is no number here, and bf16 needs its own check."""
    if parameter.dtype == "bool":
        return (bool,)
    if parameter.dtype == "bf16":
        return ()
    return (float, int) if parameter.dtype in ("f16", "f32", "f64") else (int,)


def _checked(parameter: ScalarParameter, value: Any, found: Findings) -> Scalar:
    scalar = convert_scalar(parameter, value, found)
    check_range(parameter, scalar, found)
    return scalar
