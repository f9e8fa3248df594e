"""One function per stage: the only place where compilation meets the rooms that do the work.

Rooms are imported inside the functions: a NumPy call loads no xDSL, and no stage loads the next.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from phobos_nb.language.tree import KernelNode, Program
from phobos_nb.language.typed import TypedKernel
from phobos_nb.source import Source
from phobos_nb.target import get

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from phobos_nb.arguments.grid import Grid
    from phobos_nb.arguments.scalars import Scalar
    from phobos_nb.compilation.configuration import Configuration
    from phobos_nb.contract import LaunchContract, LaunchPlan, Output
    from phobos_nb.cuda.emit import CudaSource
    from phobos_nb.cuda.nvrtc import NvrtcResult
    from phobos_nb.cuda.resources import Occupancy, Resources
    from phobos_nb.cuda.sass import Disassembly
    from phobos_nb.lower.pipeline import Lowered
    from phobos_nb.simulate.records import SimulationResult


def parse(source: Source) -> Program:
    """Text to syntax tree."""
    from phobos_nb.language.frontend import parse as parse_text

    return parse_text(source)


def sound_part(source: Source) -> Program:
    """The kernels of a text with syntax errors that have none themselves."""
    from phobos_nb.language.frontend import sound_part as sound

    return sound(source)


def check(
    program: Program,
    kernel: str,
    constants: Mapping[str, int],
    dtypes: Mapping[str, str],
    chip: str | None = None,
) -> TypedKernel:
    """Syntax tree to typed kernel for one set of constants and dtypes (by name).

    chip: the target that was asked for, whose limits errors name.
    """
    from phobos_nb import attributes, builtins
    from phobos_nb.language.check.limits import Room
    from phobos_nb.language.frontend import check as check_kernel
    from phobos_nb.lower.gemm_plan import OVERRIDES

    tables = builtins.table(), attributes.table()
    target = get(chip) if chip else None
    room = Room(target.name, target.shared_per_cta_optin) if target else None
    return check_kernel(program, kernel, constants, *tables, dtypes, OVERRIDES, room)


def check_change(program: Program, before: TypedKernel, dtypes: Mapping[str, str]) -> TypedKernel:
    """The typed kernel of a syntax tree that differs only within the kernel's body."""
    from phobos_nb import builtins
    from phobos_nb.language.frontend import check_change as check_body
    from phobos_nb.lower.gemm_plan import OVERRIDES

    return check_body(program, before, builtins.table(), dtypes, choices=OVERRIDES)


def constant_names(kernel: KernelNode) -> set[str]:
    """The names whose values a caller may set: tuning names, generics, dims of tensors."""
    from phobos_nb.language.check.configuration import search_space, tensor_dims
    from phobos_nb.lower.gemm_plan import OVERRIDES

    generics = {*OVERRIDES, *(g.name for g in kernel.generics)}
    return {*search_space(kernel), *generics, *(name for name, _ in tensor_dims(kernel))}


def run_meaning(
    typed: TypedKernel,
    arrays: Mapping[str, Any],
    scalars: Mapping[str, Scalar],
    grid: Grid,
    ctas: Iterable[Grid] | None = None,
    *,
    outside: float | None = None,
    silent: bool = False,
    deadline: float | None = None,
) -> None:
    """Run all CTAs, or some, on NumPy arrays on the CPU; what they print goes to standard output.

    outside, deadline: see `phobos_nb.language.meaning.run`. silent: nothing is printed.
    """
    from phobos_nb import builtins
    from phobos_nb.language.meaning import run

    values = {**arrays, **scalars}
    result = run(
        typed, values, grid, ctas, builtins=builtins.table(), outside=outside, deadline=deadline
    )
    for line in () if silent else result.printed:
        sys.stdout.write(f"{line.text}\n")


def tile(typed: TypedKernel, configuration: Configuration) -> ModuleOp:
    """Typed kernel to tile MLIR."""
    from phobos_nb import builtins
    from phobos_nb.lower.build_tile_ir import build

    return build(typed, builtins.table(), configuration.variant.index_bits)


def lower(module: ModuleOp, typed: TypedKernel, configuration: Configuration) -> Lowered:
    """Tile MLIR to thread MLIR."""
    from phobos_nb.lower import pipeline

    facts = pipeline.KernelFacts(
        typed.parameters, typed.source, typed.span, typed.attributes, typed.grid
    )
    return pipeline.lower(
        module, facts, configuration.target, configuration.variant, configuration.options
    )


def contract(typed: TypedKernel, configuration: Configuration, lowered: Lowered) -> LaunchContract:
    """What a launch must know and check."""
    from phobos_nb.contract import LaunchContract, entry_arguments

    parameters, grid, split = typed.parameters, typed.grid, lowered.split
    if split is not None:
        parameters = (*parameters, split.parameter)
        grid = grid if configuration.role else split.split_grid
    return LaunchContract(
        kernel=typed.name,
        entry=entry_name(lowered.module),
        parameters=parameters,
        arguments=entry_arguments(parameters, configuration.variant),
        grid=grid,
        threads=lowered.threads,
        body_threads=typed.threads,
        shared_bytes=lowered.shared_bytes,
        dynamic_shared=lowered.dynamic_shared,
        variant=configuration.variant,
        target=configuration.target.name,
        promises=typed.promises,
        constants=configuration.constants,
        outputs=outputs(lowered.module),
    )


def outputs(module: ModuleOp) -> tuple[Output, ...]:
    """The places of a thread-level module that print or fail an assertion, in order."""
    from xdsl.dialects.builtin import StringAttr

    from phobos_nb.contract import Output
    from phobos_nb.ir.locations import place_of

    found: list[Output] = []
    for op in module.walk():
        text, types = op.attributes.get("phobos.text"), op.attributes.get("phobos.types")
        if isinstance(text, StringAttr) and isinstance(types, StringAttr):
            place, after = place_of(op), op.next_op
            fails = after is not None and after.name == "llvm.intr.trap"
            kinds = tuple(types.data.split())
            found.append(Output(text.data, place.line if place else 0, fails, kinds))
    return tuple(found)


def entry_name(module: ModuleOp) -> str:
    """The name that the machine code has for the only `gpu.func` of a thread-level module."""
    from phobos_nb.cuda.emit import entry_name as printed
    from phobos_nb.ir.dialects import gpu

    symbol = next(op for op in module.walk() if isinstance(op, gpu.FuncOp)).sym_name.data
    return printed(symbol)


def cuda(module: ModuleOp, configuration: Configuration) -> CudaSource:
    """Thread MLIR to CUDA C++."""
    from phobos_nb.cuda.emit import emit

    return emit(module, configuration.target)


def machine_code(cuda: CudaSource, source: Source, configuration: Configuration) -> NvrtcResult:
    """CUDA C++ to PTX and cubin, through the disk cache."""
    from phobos_nb.cuda.build import build

    return build(cuda, configuration.target, source)


def disassembly(cubin: bytes) -> Disassembly:
    """Start to disassemble machine code."""
    from phobos_nb.cuda.sass import Disassembly

    return Disassembly(cubin)


def resources(code: NvrtcResult, contract: LaunchContract) -> Resources:
    """What the machine code takes."""
    from phobos_nb.cuda.resources import resources as read

    return read(code.cubin, code.log, contract.entry)


def occupancy(taken: Resources, contract: LaunchContract) -> Occupancy:
    """How many CTAs fit on an SM."""
    from phobos_nb.cuda.resources import occupancy as count

    return count(
        get(contract.target),
        registers=taken.registers,
        shared_bytes=contract.shared_bytes,
        threads=contract.threads,
    )


def text(module: ModuleOp, *, generic: bool = False) -> str:
    """A module with source locations, in the form for people or in the generic one for tools."""
    from phobos_nb.ir import text as forms

    return (forms.generic if generic else forms.custom)(module, locations=True)


def simulate(
    module: ModuleOp, launch: LaunchContract, values: Mapping[str, Any], grid: Grid, **options: Any
) -> SimulationResult:
    """Run thread MLIR over NumPy lanes; `options` are those of `simulate.launch.simulate`."""
    from phobos_nb.simulate.launch import simulate as run

    return run(module, launch, values, grid=grid, **options)


def simulate_plan(
    modules: Sequence[ModuleOp], plan: LaunchPlan, values: Mapping[str, Any], grid: Grid, **options: Any
) -> SimulationResult:
    """Run the launches of a call, one thread module each; options as in `simulate`."""
    from phobos_nb.simulate.plan import simulate_plan as run

    return run(modules, plan, values, grid=grid, **options)
