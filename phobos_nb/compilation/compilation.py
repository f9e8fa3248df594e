"""One kernel compiled for one configuration: every stage on demand, kept, with its time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from phobos_nb.compilation import stages
from phobos_nb.compilation.barrier_list import Barriers
from phobos_nb.compilation.configuration import Configuration
from phobos_nb.contract import Launch, LaunchContract, LaunchPlan, single_launch
from phobos_nb.diagnostics import Diagnostic
from phobos_nb.language.typed import TypedKernel
from phobos_nb.source import Source

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from phobos_nb.cuda.emit import CudaSource
    from phobos_nb.cuda.nvrtc import NvrtcResult
    from phobos_nb.cuda.resources import Occupancy, Resources
    from phobos_nb.cuda.sass import Disassembly
    from phobos_nb.lower.loop_report import LoopReport
    from phobos_nb.lower.pipeline import Lowered
    from phobos_nb.lower.plan_shared_memory import SharedPlan

T = TypeVar("T")


class Compilation:
    """A kernel compiled for one configuration; made by `Kernel.compile`.

    Every stage is computed when it is first read and kept. `timings` holds the seconds each took,
    without the stages before it. Modules that xDSL objects stand for are not to be changed.
    """

    def __init__(
        self, typed: TypedKernel, configuration: Configuration, times: Mapping[str, float]
    ) -> None:
        self.typed = typed
        self.configuration = configuration
        self._kept: dict[str, Any] = {}
        self._lock = threading.RLock()
        self._timings = dict(times)

    def __repr__(self) -> str:
        constants = ", ".join(f"{k}={v}" for k, v in self.typed.constants.items())
        return f"<Compilation of {self.name} for {self.configuration.target.name}: {constants}>"

    def _stage(self, name: str, compute: Callable[[], T]) -> T:
        """The kept result of a stage; earlier stages are read before, so that its clock is its own."""
        with self._lock:
            if name not in self._kept:
                start = time.perf_counter()
                self._kept[name] = compute()
                self._timings[name] = time.perf_counter() - start
            return cast(T, self._kept[name])

    # What it is -------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.typed.name

    @property
    def source(self) -> Source:
        """The text it was compiled from."""
        return self.typed.source

    @property
    def timings(self) -> Mapping[str, float]:
        """Seconds per stage that has run, in the order they ran."""
        return dict(self._timings)

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Warnings and notes of checking and, lowering it if need be, of code generation."""
        return (*self.typed.findings, *self._lowered.notes)

    # MLIR -------------------------------------------------------------------------------------------

    @property
    def tile_module(self) -> ModuleOp:
        """The tile-level module, as xDSL holds it."""
        return self._stage("tile", lambda: stages.tile(self.typed, self.configuration))

    @property
    def tile_mlir(self) -> str:
        """The tile-level module as text, with locations."""
        module = self.tile_module
        return self._stage("tile text", lambda: stages.text(module))

    @property
    def _lowered(self) -> Lowered:
        module = self.tile_module
        return self._stage("thread", lambda: stages.lower(module, self.typed, self.configuration))

    @property
    def thread_module(self) -> ModuleOp:
        """The thread-level module, as xDSL holds it: what is printed, simulated and drawn."""
        return self._lowered.module

    @property
    def thread_mlir(self) -> str:
        """The thread-level module as text, with locations."""
        module = self.thread_module
        return self._stage("thread text", lambda: stages.text(module))

    @property
    def thread_generic(self) -> str:
        """The same in the generic form, which upstream's tools read without loss."""
        module = self.thread_module
        return self._stage("thread generic", lambda: stages.text(module, generic=True))

    @property
    def shared_memory(self) -> SharedPlan:
        """Every shared buffer with its offset, in bytes."""
        return self._lowered.shared_plan

    @property
    def barriers(self) -> Barriers:
        """The barriers, kept and elided, with their reasons: a tuple that is printed one a line."""
        return Barriers(self._lowered.barriers)

    @property
    def loops(self) -> tuple[LoopReport, ...]:
        """What became of every loop with a `dot`: its stages, or why it is not pipelined."""
        return self._lowered.loops

    @property
    def contract(self) -> LaunchContract:
        """What a launch must know and check."""
        lowered = self._lowered
        return self._stage("contract", lambda: stages.contract(self.typed, self.configuration, lowered))

    @property
    def plan(self) -> LaunchPlan:
        """The launches of one call, in order, with their scratch."""
        split, contracts = self._lowered.split, [x.contract for x in self.launches]
        if split is None:
            return single_launch(self.contract)
        first, last = contracts
        steps = Launch(first, "split"), Launch(last)
        return LaunchPlan(self.name, self.typed.parameters, steps, (split.scratch,))

    @property
    def launches(self) -> tuple[Compilation, ...]:
        """Itself, and where the k loop is split among CTAs the kernel that adds up their sums."""
        if self._lowered.split is None or self.configuration.role:
            return (self,)
        last = replace(self.configuration, role="finish")
        return self, self._stage("finish", lambda: Compilation(self.typed, last, {}))

    # Code -------------------------------------------------------------------------------------------

    @property
    def cuda_source(self) -> CudaSource:
        """The CUDA C++ with the place of every line."""
        module = self.thread_module
        return self._stage("cuda", lambda: stages.cuda(module, self.configuration))

    @property
    def cuda(self) -> str:
        """The CUDA C++ text as NVRTC compiles it; it includes no header."""
        return self.cuda_source.text

    @property
    def code(self) -> NvrtcResult:
        """What NVRTC made of the CUDA: PTX, cubin and log; from the disk cache where it is there."""
        cuda = self.cuda_source
        return self._stage("nvrtc", lambda: stages.machine_code(cuda, self.source, self.configuration))

    @property
    def ptx(self) -> str:
        """PTX by NVRTC."""
        return self.code.ptx

    @property
    def cubin(self) -> bytes:
        """Machine code by NVRTC, as the driver loads it."""
        return self.code.cubin

    @property
    def sass(self) -> str:
        """The machine code disassembled; needs nvdisasm."""
        listing = self.start_disassembly()
        return self._stage("sass", listing.text)

    def start_disassembly(self) -> Disassembly:
        """Begin what `sass` waits for, so that other stages may run meanwhile."""
        image = self.cubin
        return self._stage("start of nvdisasm", lambda: stages.disassembly(image))

    @property
    def resources(self) -> Resources:
        """Registers, stack, spills and static shared memory of the machine code."""
        code, contract = self.code, self.contract
        return self._stage("resources", lambda: stages.resources(code, contract))

    @property
    def occupancy(self) -> Occupancy:
        """CTAs resident on one SM, and what stops one more."""
        resources, contract = self.resources, self.contract
        return self._stage("occupancy", lambda: stages.occupancy(resources, contract))
