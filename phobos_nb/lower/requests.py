"""What the author asked of the lowering by attributes, and whether it was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.typed import AttributeUse
from phobos_nb.lower.choices import CHOICES, out_of_range
from phobos_nb.lower.edge_rules import Edge
from phobos_nb.lower.gemm_plan import GRID_NAMES, DotShape, GemmPlan, estimate, named
from phobos_nb.lower.k_groups import Grouped
from phobos_nb.lower.loop_report import LoopReport
from phobos_nb.lower.matvec import MODE
from phobos_nb.lower.split_k import Split
from phobos_nb.source import Span
from phobos_nb.target import Target


def wanted_constants(attributes: Iterable[AttributeUse], constants: Mapping[str, int]) -> dict[str, int]:
    """The caller's constants, with STAGES from `@pipeline(stages)` where the caller set none."""
    found = dict(constants)
    for use in attributes:
        stages = use.values.get("stages", 0) if use.name == "pipeline" else 0
        if isinstance(stages, int) and stages:
            found.setdefault("STAGES", stages)
    return found


def check_choices(constants: Mapping[str, int], diagnostics: Diagnostics, span: Span | None) -> None:
    """Report PH405 for each of the compiler's own choices whose number stands for nothing."""
    for name, value in constants.items():
        wanted = out_of_range(name, value) if name in CHOICES else ""
        if wanted:
            message = f"{name}: wanted {wanted}, got {value}"
            diagnostics.error("PH405", message, span, help=CHOICES[name], stage="lower")


def check_sums(
    shapes: Iterable[tuple[DotShape, int]],
    target: Target,
    diagnostics: Diagnostics,
    span: Span | None,
) -> None:
    """Report PH513 where the accumulator of one dot takes more registers than a thread has.

    shapes: dots, each with the threads that share its result.
    """
    allowed = target.registers_per_thread
    for shape, threads in dict.fromkeys(shapes):
        sums = estimate([shape], threads, target, narrow=False).sums
        if sums > allowed:
            diagnostics.error(
                "PH513",
                f"the accumulator of a {shape.rows} x {shape.columns} tile takes {sums} registers "
                f"a thread, {target.name} allows {allowed}",
                span,
                help=f"more than {threads} threads in `@launch`, or a smaller tile",
                stage="lower",
            )


def note_unfollowed(
    plans: Iterable[tuple[DotShape, GemmPlan]],
    constants: Mapping[str, int],
    diagnostics: Diagnostics,
    span: Span | None,
) -> None:
    """Note PH517: a division among threads that no dot could take, and what it is instead."""
    grids = [named(shape, plan.grid) for shape, plan in plans]
    for name in GRID_NAMES:
        has = sorted({grid[name] for grid in grids})
        if name in constants and has and constants[name] not in has:
            instead = ", ".join(map(str, has))
            message = f"{name} = {constants[name]} fits no product here; it is {instead}"
            diagnostics.note("PH517", message, span, stage="lower")


def note_split(split: Split | None, reason: str, diagnostics: Diagnostics, span: Span | None) -> None:
    """Note PH514: how a loop was split among CTAs, or why it was not although SPLIT_K asks for it."""
    if split is not None:
        message = (
            f"SPLIT_K: {split.parts} CTAs share the k loop of a tile; a second launch adds their sums, "
            f"{split.parts} x {split.sums} {split.dtype} a tile, in the same order always"
        )
    elif reason:
        message = f"SPLIT_K: the k loop is not split: {reason}"
    else:
        return
    diagnostics.note("PH514", message, span, stage="lower")


def note_groups(grouped: Iterable[Grouped], diagnostics: Diagnostics, span: Span | None) -> None:
    """Note PH517 where K_GROUPS or SPREAD asks for what a loop cannot have."""
    for loop in grouped:
        if loop.reason:
            what = "no groups of warps share the k-steps" if loop.groups > 1 else "sums are not spread"
            message = f"line {loop.line}: {what}: {loop.reason}"
            diagnostics.note("PH517", message, span, stage="lower")


def note_cropped(
    cropped: Mapping[str, tuple[int, int]], diagnostics: Diagnostics, span: Span | None
) -> None:
    """Note PH515: which tiles are cut to what a call can have."""
    for symbol, (before, after) in cropped.items():
        message = f"{symbol} is at most {after}: of tiles of {before} only {after} are computed"
        diagnostics.note("PH515", message, span, stage="lower")


def note_edges(edges: Iterable[Edge], diagnostics: Diagnostics, span: Span | None) -> None:
    """Note PH515: which CTAs run code of their own."""
    for edge in edges:
        message = (
            f"CTAs with at most {edge.most} of {edge.step} positions of {edge.symbol} left "
            f"run code of their own, cut to {edge.most}"
        )
        diagnostics.note("PH515", message, span, stage="lower")


def note_direct(loops: Iterable[LoopReport], diagnostics: Diagnostics, span: Span | None) -> None:
    """Note PH515: which products with a vector run without shared memory."""
    for loop in loops:
        message = (
            f"line {loop.line}: a matrix times a vector runs without shared memory: a thread multiplies "
            f"what it loads, {loop.stages} k-slices an iteration, and threads add up at the end"
        )
        diagnostics.note("PH515", message, span, stage="lower")


def check_requests(
    attributes: Iterable[AttributeUse],
    loops: tuple[LoopReport, ...],
    diagnostics: Diagnostics,
    *,
    has_dot: bool,
) -> None:
    """Report PH511 where `@pipeline` found no loop, note PH512 where `@tensorcore` changes nothing."""
    for use in attributes:
        if use.name == "pipeline" and not any(map(_overlaps, loops)):
            why = "; ".join(f"line {loop.line}: {loop.reason}" for loop in loops)
            diagnostics.error(
                "PH511",
                "@pipeline: no loop overlaps copies with arithmetic",
                use.span,
                help=why or "no loop of the kernel holds a dot",
                stage="lower",
            )
        if use.name == "tensorcore" and has_dot:
            diagnostics.note(
                "PH512",
                "@tensorcore: dot runs as f32 multiply-adds; code for tensor cores is not generated yet",
                use.span,
                stage="lower",
            )


def _overlaps(loop: LoopReport) -> bool:
    """Whether loads run ahead of arithmetic: in stages, or as many loads at once as registers hold."""
    return loop.stages > 1 or loop.mode == MODE
