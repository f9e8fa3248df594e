"""Simulating a launch: arguments in, chunks of CTAs through, findings out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from phobos_nb.arguments.tensor_maps import encoding
from phobos_nb.contract import EntryArgument, LaunchContract, TensorMap
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.simulate.agents import Agents
from phobos_nb.simulate.arithmetic import flops_of_run
from phobos_nb.simulate.clocks import OP_MASK, THREAD_MASK, Clocks, Epochs, VectorClocks
from phobos_nb.simulate.decode import decode, find_kernel
from phobos_nb.simulate.machine import LaunchShape, Machine, Watch, shadows_for
from phobos_nb.simulate.memory import POISON, SharedMemory, Tensor, place_tensors
from phobos_nb.simulate.operands import Probe
from phobos_nb.simulate.program import Program, dtype_of
from phobos_nb.simulate.recorder import Cta, Recorder, SimulationInterrupted, Stopped
from phobos_nb.simulate.records import SimulationResult
from phobos_nb.simulate.schedule import run_chunk
from phobos_nb.simulate.shadow import Shadow
from phobos_nb.simulate.tensor_boxes import TensorMapValue
from phobos_nb.simulate.values import Array, DTypeLike, Ints, Ref, Value
from phobos_nb.simulate.writers import Writers

CHUNK_LANES = 8192
"""Lanes that are simulated together."""
CHUNK_BYTES = 1 << 28
"""Bytes that the values of a chunk may take."""
OTHER_POISON = 0x3D
"""A second poison byte: unwritten memory matters when the outputs differ under the two."""

Outputs = Mapping[str, Array]
"""Tensors that a launch writes, by name."""


def differ_anywhere(one: Outputs, other: Outputs) -> bool:
    """Whether some byte of two runs' outputs differs."""
    return any(one[name].tobytes() != other[name].tobytes() for name in one)


def simulate(
    module: ModuleOp,
    contract: LaunchContract,
    arguments: Mapping[str, Any],
    *,
    grid: Cta | None = None,
    ctas: Sequence[int] | None = None,
    races: bool = True,
    banks: bool = True,
    trace: int = 0,
    seed: int = 0,
    stop_at_first: bool = False,
    in_place: bool = False,
    probe: tuple[str, tuple[int, ...]] | None = None,
    differ: Callable[[Outputs, Outputs], bool] = differ_anywhere,
) -> SimulationResult:
    """Run a thread module over the caller's arrays.

    Parameters
    ----------
    arguments
        Name of each parameter -> array (shape as in the signature) or number.
    grid
        CTAs per axis; inferred by the contract's grid rule when absent.
    ctas
        Linear numbers of the CTAs to run (x fastest), all of them when absent.
    races, banks
        Whether to look for races and to count wavefronts, lines and sectors.
    trace
        0 records no events; 1 the accesses, barriers and waits of the first CTA of `ctas`; 2 all of its
        operations.
    seed
        0 runs all warps in step; another number runs each warp on its own, in an order it decides.
    stop_at_first
        End at the first race or fault.
    in_place
        Copy the outputs back into the caller's arrays.
    probe
        An output and an index: `operands` of the result are the values behind the last store to it.
    differ
        Whether the outputs of two runs differ where it matters; a launch that others follow leaves
        elements in scratch that none of them uses.

    A read of unwritten shared memory is a fault if the outputs depend on what was read: then a second
    run over other poison gives other outputs (a prefetch that is never used does not). Of a run that was
    stopped or interrupted that is not known, so such reads are left out.
    The caller's arrays are otherwise left alone. Faults and races are in the result, not raised; Ctrl-C
    raises `SimulationInterrupted`, a `KeyboardInterrupt` that has what was seen until then in `result`.
    """
    kernel = find_kernel(module)
    program = decode(kernel)
    arrays = {t.name: np.asarray(arguments[t.name]) for t in contract.tensors}
    shape = launch_shape(program, contract, grid or contract.grid.shape(symbols(contract, arrays)))
    numbers = chosen_ctas(shape, ctas)
    if ctas is not None:
        shape = replace(shape, chosen=np.sort(numbers))
    if races:
        _check_room(shape, len(numbers), len(program.places))
    dtypes = [dtype_of(v.type) or np.dtype(np.uint8) for v in kernel.body.block.args]

    def run(poison: int, watch: Watch) -> _Launch:
        recorder = Recorder(program.places, stop_at_first=stop_at_first)
        launch = _Launch(program, contract, shape, place_tensors(arrays), recorder, watch, poison)
        if probe is not None:
            launch.look_at(*probe)
        values = entry_values(contract, launch.tensors, arguments, arrays, dtypes)
        with np.errstate(all="ignore"):
            try:
                launch.run(numbers, values, seed)
            except KeyboardInterrupt:
                launch.recorder.forget("uninitialised")
                raise SimulationInterrupted(launch.result(launch.outputs())) from None
        return launch

    launch = run(POISON, Watch(races, banks, trace, program.shared_unit))
    outputs = launch.outputs()
    try:
        if launch.stopped or (
            launch.recorder.has("uninitialised")
            and not differ(outputs, run(OTHER_POISON, Watch(races=False, banks=False)).outputs())
        ):
            launch.recorder.forget("uninitialised")
    except KeyboardInterrupt:
        launch.recorder.forget("uninitialised")
        raise SimulationInterrupted(launch.result(outputs)) from None
    if in_place:
        for name, output in outputs.items():
            arrays[name][...] = output
    return launch.result(outputs)


class _Launch:
    """One launch in progress. `poison` is the byte in shared memory that nothing has written."""

    def __init__(
        self,
        program: Program,
        contract: LaunchContract,
        shape: LaunchShape,
        tensors: dict[str, Tensor],
        recorder: Recorder,
        watch: Watch,
        poison: int,
    ) -> None:
        self.program = program
        self.contract = contract
        self.shape = shape
        self.tensors = tensors
        self.recorder = recorder
        self.watch = watch
        self.poison = poison
        self.counts = [0] * len(program.code)
        self.prints: list[tuple[int, str]] = []
        self.issuers: dict[int, int] = {}
        self.shadows: dict[int, Shadow] = {}
        self.done = 0
        self.stopped = False
        self.probe: Probe | None = None
        recorder.reasons = program.reasons

    def look_at(self, name: str, index: Sequence[int]) -> None:
        """Keep what is stored to one element of a tensor."""
        tensor = self.tensors[name]
        program, position = self.program, tensor.position(index)
        self.probe = Probe(tensor.allocation, position, program.operations, program.slot_of)

    def outputs(self) -> dict[str, Array]:
        """The contents of the tensors that the kernel writes, in the caller's shapes."""
        written = [t.name for t in self.contract.tensors if t.writes]
        return {name: np.array(self.tensors[name].contents()) for name in written}

    def run(self, numbers: Ints, values: list[Value], seed: int) -> None:
        """Run the CTAs with these linear numbers, in chunks that fit in memory."""
        if not len(numbers):
            return
        each = self.shape.agents.cluster
        if seed:
            clusters = np.random.default_rng(seed).permutation(numbers.reshape(-1, each))
            numbers = clusters.reshape(-1)
        size = max(1, self._chunk_size() // each) * each
        try:
            for start in range(0, len(numbers), size):
                machine = self._machine(numbers[start : start + size])
                machine.probe = self.probe
                machine.traced = start == 0 and (self.watch.trace > 0 or self.probe is not None)
                run_chunk(machine, self.program, values, seed)
                self.done += len(machine.ctas)
        except Stopped:
            self.stopped = True

    def _chunk_size(self) -> int:
        """CTAs per chunk."""
        by_bytes = CHUNK_BYTES // max(1, self.program.lane_bytes)
        return max(1, min(CHUNK_LANES, by_bytes) // self.shape.threads)

    def _machine(self, numbers: Ints) -> Machine:
        count = len(numbers)
        clocks: Clocks = (
            VectorClocks(count, self.shape.agents) if self.program.needs_clocks else Epochs(count)
        )
        shared = SharedMemory(count, self.contract.shared_bytes, self.poison)
        if self.watch.races:
            self._prepare_shadows(clocks)
        return Machine(
            self.shape,
            numbers,
            self.tensors,
            shared,
            clocks,
            self.recorder,
            self.watch,
            self._shared_shadow(shared, clocks),
            self.shadows,
            self.counts,
            self.contract.target,
            prints=self.prints,
            issuers=self.issuers,
        )

    def _prepare_shadows(self, clocks: Clocks) -> None:
        """Global shadows live for the launch, but the clocks of a chunk order its accesses."""
        written = {t.name for t in self.contract.tensors if t.writes}
        if not self.shadows:
            self.shadows.update(shadows_for(self.tensors, written, clocks, self.numbers))
        for shadow in self.shadows.values():
            shadow.enter_reads()
            shadow.clocks = clocks

    def _shared_shadow(self, shared: SharedMemory, clocks: Clocks) -> Shadow | None:
        if not self.watch.races or not self.contract.shared_bytes:
            return None
        units = len(shared.allocation.buffer) // self.watch.unit
        return Shadow(units, clocks, self.numbers, across=False, unit=self.watch.unit)

    @property
    def numbers(self) -> int:
        """Numbers in the grid that one cluster takes."""
        return self.shape.agents.numbers * self.shape.agents.cluster

    def result(self, outputs: dict[str, Array]) -> SimulationResult:
        """Everything that was seen."""
        recorder = self.recorder
        for pc, count in enumerate(self.counts):
            recorder.instructions[self.program.ops[pc]] += count
        self.prints.sort(key=lambda p: p[0])
        return SimulationResult(
            outputs,
            recorder.races,
            recorder.faults,
            recorder.access_records(),
            recorder.line_records(counted=self.watch.banks),
            recorder.barrier_records(),
            recorder.events,
            [text.removesuffix("\n") for _, text in self.prints],
            sum(recorder.instructions),
            self.done,
            Writers(self.shape, self.tensors, self.shadows, self.program.places, self.issuers),
            [] if self.probe is None else self.probe.operands,
            None if self.probe is None else self.probe.step,
            flops_of_run(self.program.operations, recorder.instructions),
            math.prod(self.shape.grid),
            self.stopped,
            self.watch.races,
            self.watch.banks,
        )


def launch_shape(program: Program, contract: LaunchContract, grid: Cta) -> LaunchShape:
    """The shape of a launch; `ValueError` where clusters do not fill the grid."""
    cluster = contract.cluster
    if any(n % c for n, c in zip(grid, cluster, strict=True)):
        raise ValueError(f"a grid of {grid} CTAs is not made of whole clusters of {cluster}")
    size = math.prod(cluster)
    agents = Agents(contract.threads, program.mbarriers, program.stores, program.products, size)
    return LaunchShape(contract.threads, grid, cluster, agents)


def chosen_ctas(shape: LaunchShape, ctas: Sequence[int] | None) -> Ints:
    """The numbers of the CTAs to run: all, or the clusters of the given linear numbers."""
    size = shape.agents.cluster
    if ctas is None:
        return np.arange(math.prod(shape.grid))
    numbers = np.array(list(ctas), np.int64)
    if size == 1:
        return numbers
    clusters = dict.fromkeys((shape.number(numbers) // size).tolist())
    return (np.array(list(clusters))[:, None] * size + np.arange(size)).reshape(-1)


def _check_room(shape: LaunchShape, ctas: int, operations: int) -> None:
    """Raise PH715 where the race detector cannot tell all threads or operations apart."""
    threads = ctas * shape.agents.numbers
    if threads <= THREAD_MASK and operations <= OP_MASK:
        return
    message = (
        f"races: {threads} threads and {operations} operations, and no more than "
        f"{THREAD_MASK} and {OP_MASK} can be told apart"
    )
    help = "run some of the CTAs, `ctas=range(1000)`, or look for no races, `races=False`"
    raise PhobosError([Diagnostic("PH715", message, help=help, stage="simulate")])


def symbols(contract: LaunchContract, arrays: Mapping[str, Array]) -> dict[str, int]:
    """The run-time extents of a call: each symbol from the first tensor that names it."""
    found: dict[str, int] = {}
    for tensor in contract.tensors:
        for dim, extent in zip(tensor.dims, arrays[tensor.name].shape, strict=True):
            if isinstance(dim, str):
                found.setdefault(dim, extent)
    return found


def map_value(map_: TensorMap, contract: LaunchContract, tensor: Tensor) -> TensorMapValue:
    """A tensor map as bulk copies read it; `PhobosError` PH713 where the array does not allow one."""
    dtype = next(t.dtype for t in contract.tensors if t.name == map_.tensor)
    address = tensor.allocation.address + tensor.start
    encoding(map_, dtype, tensor.shape, tensor.strides, address)
    return TensorMapValue(tensor, map_.box, map_.swizzle)


def entry_values(
    contract: LaunchContract,
    tensors: Mapping[str, Tensor],
    arguments: Mapping[str, Any],
    arrays: Mapping[str, Array],
    dtypes: Sequence[DTypeLike],
) -> list[Value]:
    """The values of the entry's arguments, see Note [Entry arguments] in `contract`."""
    extents = symbols(contract, arrays)
    maps = {x.name: map_value(x, contract, tensors[x.tensor]) for x in contract.maps}

    def one(argument: EntryArgument, dtype: DTypeLike) -> Value:
        if argument.kind == "pointer":
            return Ref(tensors[argument.name], 0, (1,), dtype)
        if argument.kind == "stride":
            return tensors[argument.name].strides[argument.axis]
        if argument.kind == "extent":
            return extents[argument.name]
        if argument.kind == "map":
            return maps[argument.name]
        value = dtype.type(arguments[argument.name])
        return value.item() if dtype.kind in "iub" else value

    return [one(a, d) for a, d in zip(contract.arguments, dtypes, strict=True)]
