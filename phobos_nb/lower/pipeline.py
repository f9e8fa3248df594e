"""The lowering from tile MLIR to thread MLIR: the passes in their order, and what comes out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.dialects.builtin import ModuleOp, f32, f64
from xdsl.dialects.test import TestOp
from xdsl.ir import Operation

from phobos_nb.contract import GridRule, Parameter, Variant, entry_arguments
from phobos_nb.diagnostics import Diagnostic, Diagnostics
from phobos_nb.ir.dialects import gpu
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.language.typed import AttributeUse
from phobos_nb.lower.accumulate import accumulate_dots
from phobos_nb.lower.assign_layouts import Assignment, assign_layouts, dot_shape
from phobos_nb.lower.assumptions import argument_name, assumed
from phobos_nb.lower.crop import crop_edge, crop_tiles
from phobos_nb.lower.distribute import distribute
from phobos_nb.lower.drop_barrier import check_dropped
from phobos_nb.lower.drop_masks import EntryChecks, drop_masks
from phobos_nb.lower.edge_rules import edges_of
from phobos_nb.lower.edges import version_edges
from phobos_nb.lower.entry import bind, emit_checks, function_for, module_around, set_attributes
from phobos_nb.lower.finish import finish, merge_equal
from phobos_nb.lower.gemm_plan import share
from phobos_nb.lower.index_facts import IndexFacts
from phobos_nb.lower.insert_barriers import Barrier, insert_barriers
from phobos_nb.lower.k_groups import group_loops
from phobos_nb.lower.loop_report import LoopReport
from phobos_nb.lower.matvec import direct_loops
from phobos_nb.lower.pipeline_loops import pipeline_loops
from phobos_nb.lower.plan_shared_memory import SharedPlan, check_limit
from phobos_nb.lower.raster import block_ids
from phobos_nb.lower.requests import (
    check_choices,
    check_requests,
    check_sums,
    note_cropped,
    note_direct,
    note_edges,
    note_groups,
    note_split,
    note_unfollowed,
    wanted_constants,
)
from phobos_nb.lower.shared_liveness import plan_kernel
from phobos_nb.lower.shared_memory import is_dynamic
from phobos_nb.lower.split_k import Split, split_loop
from phobos_nb.lower.stage_operands import stage_operands
from phobos_nb.lower.thread_builder import ThreadBuilder
from phobos_nb.lower.thread_state import Parts, ThreadState
from phobos_nb.lower.turned_operands import turn_operands
from phobos_nb.options import CompileOptions
from phobos_nb.source import Source, Span
from phobos_nb.target import Target


@dataclass(frozen=True)
class KernelFacts:
    """What the lowering needs besides the tile module: the signature, the source, the kernel's place."""

    parameters: tuple[Parameter, ...]
    source: Source | None = None
    span: Span | None = None
    attributes: tuple[AttributeUse, ...] = ()
    grid: GridRule = field(default_factory=lambda: GridRule(problem="not inferred"))


@dataclass(frozen=True)
class Lowered:
    """A kernel at thread level, and what a launch contract and the views take from the lowering.

    module: thread MLIR. staged: the tile MLIR just before it, with layouts, buffers and barriers.
    threads and shared_bytes: per CTA. barriers: kept and elided. loops: what became of each loop with
    a dot. notes: decisions the author should see. assumes: entry argument -> upper bound that a launch
    check must enforce. split: how the kernel is divided into two launches, if it is.
    """

    module: ModuleOp
    staged: ModuleOp
    threads: int
    shared_bytes: int
    dynamic_shared: bool
    shared_plan: SharedPlan
    barriers: tuple[Barrier, ...]
    loops: tuple[LoopReport, ...]
    notes: tuple[Diagnostic, ...]
    assumes: dict[str, int]
    split: Split | None = None


@dataclass
class _Work:
    """A kernel on its way; each pass fills in what it finds."""

    kernel: KernelOp
    facts: KernelFacts
    target: Target
    variant: Variant
    options: CompileOptions
    diagnostics: Diagnostics
    checks: EntryChecks = field(default_factory=EntryChecks)
    assignment: Assignment = field(default_factory=Assignment)
    plan: SharedPlan = field(default_factory=SharedPlan)
    barriers: tuple[Barrier, ...] = ()
    loops: tuple[LoopReport, ...] = ()
    function: gpu.FuncOp | None = None
    split: Split | None = None
    edges: tuple[bool, bool] = (False, False)
    assumes: dict[str, int] = field(default_factory=dict[str, int])


def _check_choices(work: _Work) -> None:
    constants = wanted_constants(work.facts.attributes, work.options.constants)
    check_choices(constants, work.diagnostics, work.facts.span)
    work.diagnostics.raise_errors()


def _accumulate_dots(work: _Work) -> None:
    accumulate_dots(work.kernel)
    turn_operands(work.kernel)


def _merge_equal(work: _Work) -> None:
    merge_equal(work.kernel)


def _version_edges(work: _Work) -> None:
    wanted = edges_of(work.facts.grid, work.options.constants)
    made = version_edges(work.kernel, wanted)
    axes = {edge.axis for edge, _ in made}
    work.edges = 0 in axes, 1 in axes
    for edge, body in made:
        crop_edge(work.kernel, edge, body)
    if not work.options.role:
        note_edges([edge for edge, _ in made], work.diagnostics, work.facts.span)


def _crop_tiles(work: _Work) -> None:
    most = work.facts.grid.thin(work.options.constants)
    cropped = crop_tiles(work.kernel, most)
    work.checks = EntryChecks(most=tuple(most.items()))
    if not work.options.role:
        note_cropped(cropped, work.diagnostics, work.facts.span)


def _drop_masks(work: _Work) -> None:
    found = drop_masks(work.kernel, work.facts.grid)
    work.checks = replace(found, most=work.checks.most)


def _direct_loops(work: _Work) -> None:
    constants = wanted_constants(work.facts.attributes, work.options.constants)
    work.loops = direct_loops(work.kernel, constants)
    if not work.options.role:
        note_direct(work.loops, work.diagnostics, work.facts.span)


def _group_loops(work: _Work) -> None:
    constants = wanted_constants(work.facts.attributes, work.options.constants)
    grouped = group_loops(work.kernel, work.target, constants)
    if not work.options.role:
        note_groups(grouped, work.diagnostics, work.facts.span)


def _assign_layouts(work: _Work) -> None:
    constants = wanted_constants(work.facts.attributes, work.options.constants)
    work.assignment = assign_layouts(work.kernel, work.target, work.variant, constants)
    threads = work.kernel.threads.value.data
    shared = [
        (share(dot_shape(dot), dot.group_count), threads // dot.group_count, plan)
        for dot, plan in work.assignment.plans.items()
    ]
    sums = [(problem, own) for problem, own, _ in shared]
    check_sums(sums, work.target, work.diagnostics, work.facts.span)
    work.diagnostics.raise_errors()
    if not work.options.role:
        plans = [(problem, plan) for problem, _, plan in shared]
        note_unfollowed(plans, constants, work.diagnostics, work.facts.span)


def _split_loop(work: _Work) -> None:
    constants = wanted_constants(work.facts.attributes, work.options.constants)
    role = work.options.role
    work.split, reason = split_loop(work.kernel, work.facts.grid, constants, role)
    if not role:
        note_split(work.split, reason, work.diagnostics, work.facts.span)


def _stage_operands(work: _Work) -> None:
    stage_operands(work.kernel, work.assignment.plans)


def _pipeline_loops(work: _Work) -> None:
    constants = wanted_constants(work.facts.attributes, work.options.constants)
    work.loops = (*work.loops, *pipeline_loops(work.kernel, work.target, constants))
    if work.options.role == "finish":  # its loop runs in the other launch
        return
    has_dot = bool(work.assignment.plans)
    check_requests(work.facts.attributes, work.loops, work.diagnostics, has_dot=has_dot)


def _plan_shared_memory(work: _Work) -> None:
    work.plan = plan_kernel(work.kernel)
    check_limit(work.plan, work.target, work.diagnostics, work.facts.span)
    work.diagnostics.raise_errors()


def _insert_barriers(work: _Work) -> None:
    drop = work.options.drop_barrier
    work.barriers = insert_barriers(work.kernel, drop)
    if drop is not None and work.options.role != "finish":
        check_dropped(drop, work.barriers, work.diagnostics, work.facts.span)
        work.diagnostics.raise_errors()


def _distribute(work: _Work) -> None:
    kernel = work.kernel
    split = work.split
    parameters, grid = work.facts.parameters, work.facts.grid
    if split is not None:
        parameters = (*parameters, split.parameter)
        grid = grid if work.options.role == "finish" else split.split_grid
    arguments = entry_arguments(parameters, work.variant)
    own = {argument_name(a) for a in arguments if split and a.kind == "stride" and a.name == split.name}
    found = assumed(arguments, work.variant, grid)
    work.assumes = {name: most for name, most in found.items() if name not in own}
    scratch = {split.name: f64 if split.dtype == "f64" else f32} if split else {}
    function, named = function_for(kernel, arguments, scratch)
    entry = function.body.blocks[0]
    b = ThreadBuilder(entry)
    b.location = kernel.location
    blocks = (*block_ids(b, _raster(work), work.edges), b.named(b.block_id("z"), "block_z"))
    emit_checks(work.checks, named, blocks, b)
    anchor: Operation = TestOp()
    b.insert(anchor)
    state = ThreadState(kernel, work.variant, b, anchor, IndexFacts(kernel))
    state.blocks = blocks
    state.shared_bytes = work.plan.total
    state.debug = work.options.debug
    if split is not None:
        state.parts = Parts(named["pointer", split.name, -1], split.sums)
    state.tensors.update(bind(kernel, named, b))
    for name, value in kernel.symbol_arguments.items():
        state.values[value] = named["extent", name, -1]
    for name, value in kernel.scalar_arguments.items():
        state.values[value] = named["scalar", name, -1]
    distribute(state, kernel.body.block)
    b.insert(gpu.ReturnOp())
    entry.erase_op(anchor)
    set_attributes(function, kernel, work.variant, work.plan.total, work.assumes)
    work.function = function


def _raster(work: _Work) -> int:
    """Groups are for kernels whose operands stream through pipelined loops, or for who asks."""
    streams = any(loop.stages > 1 for loop in work.loops)
    wanted = streams or "GROUP" in work.options.constants
    return max((p.group for p in work.assignment.plans.values()), default=0) if wanted else 0


def _finish(work: _Work) -> None:
    assert work.function is not None
    finish(work.function)


PASSES = (
    _check_choices,
    _accumulate_dots,
    _merge_equal,
    _version_edges,
    _crop_tiles,
    _drop_masks,
    _direct_loops,
    _group_loops,
    _assign_layouts,
    _split_loop,
    _stage_operands,
    _pipeline_loops,
    _plan_shared_memory,
    _insert_barriers,
    _distribute,
    _finish,
)
"""The order of the lowering."""


def lower(
    module: ModuleOp,
    facts: KernelFacts,
    target: Target,
    variant: Variant,
    options: CompileOptions | None = None,
) -> Lowered:
    """Lower a module with one `tile.kernel`; the given module is not changed.

    Raises `PhobosError` where the kernel does not fit the target.
    """
    staged = module.clone()
    kernel = next(op for op in staged.walk() if isinstance(op, KernelOp))
    diagnostics = Diagnostics(facts.source)
    work = _Work(kernel, facts, target, variant, options or CompileOptions(), diagnostics)
    for run in PASSES:
        run(work)
    assert work.function is not None
    return Lowered(
        module=module_around(work.function, work.plan.total),
        staged=staged,
        threads=kernel.threads.value.data,
        shared_bytes=work.plan.total,
        dynamic_shared=is_dynamic(work.plan.total),
        shared_plan=work.plan,
        barriers=work.barriers,
        loops=work.loops,
        notes=tuple(diagnostics.items),
        assumes=work.assumes,
        split=work.split,
    )
