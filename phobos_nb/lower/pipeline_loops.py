"""Finds the loops whose copies to shared memory can run ahead of their dots, and gives them stages.

Eligible is a loop that loads boxes, writes them to operand buffers, runs dots on them, in any number,
with addresses that move evenly, and computes element by element with the products. Its buffers are then
moved in front of it, one copy per stage, and distribute_pipeline.py emits it. For every other loop with
a dot the reason is kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Block, Operation
from xdsl.rewriter import InsertPoint, Rewriter

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.shapes import element_of
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.fold import constant_value
from phobos_nb.ir.locations import place_of
from phobos_nb.lower import staged
from phobos_nb.lower.coefficient import coefficient
from phobos_nb.lower.distribute_dot import sum_type
from phobos_nb.lower.edges import VERSION
from phobos_nb.lower.finish import is_pure
from phobos_nb.lower.gemm_plan import WORD, DotShape, registers_per_thread, resident_ctas
from phobos_nb.lower.layout_classes import is_elementwise, is_free
from phobos_nb.lower.layout_types import byte_width, element, is_tile, layout_of, set_layout, shape
from phobos_nb.lower.layouts import Layout, blocked
from phobos_nb.lower.loop_form import LoopForm, choose_form, default_stages
from phobos_nb.lower.loop_report import LoopReport
from phobos_nb.lower.noted_form import note_form
from phobos_nb.target import Target

STAGES = "phobos.stages"
"""Attribute of a pipelined loop: how many copies of its buffers there are."""

MODE = "phobos.copies"
"""Attribute of a pipelined loop: "async" (cp.async) or "registers" (through registers, two stages)."""

REGISTER_STAGES = 2

TURNED_RUN = 8
"""Elements of a row that neighbouring lanes copy where a copy transposes: a sector of f32."""

MASKED_REGISTERS = 6
"""Registers for the conditions of masked copies: without them 64 x 128 x 8 spilled with three CTAs."""


def pipeline_loops(
    kernel: KernelOp, target: Target, constants: Mapping[str, int]
) -> tuple[LoopReport, ...]:
    """Mark and rewrite the eligible loops in place; one report per loop that holds a dot."""
    reports: list[LoopReport] = []
    for loop in _loops_with_dots(kernel):
        place = place_of(loop)
        line = place.line if place else 0
        reason = _obstacle(loop)
        if isinstance(loop, scf.WhileOp) or reason:
            reports.append(LoopReport(line, 1, "", reason))
            continue
        _share_the_sm(loop, kernel, target, constants)
        mode = "async" if _can_be_async(loop, target) else "registers"
        form = _form(loop, kernel, mode, constants)
        stages = _stages(loop, kernel, target, constants, mode, form)
        if stages > 1:
            _rewrite(loop, kernel, stages, mode)
            note_form(loop, form)
        reports.append(LoopReport(line, stages, mode, _fewer(loop, stages, target, constants)))
    return tuple(reports)


def _loops_with_dots(kernel: KernelOp) -> list[scf.ForOp | scf.WhileOp]:
    """The innermost loops around dots, in the order of the text."""
    found = dict.fromkeys(_loop_around(op) for op in kernel.body.walk() if isinstance(op, staged.DotOp))
    return [loop for loop in found if loop is not None]


def _loop_around(op: Operation) -> scf.ForOp | scf.WhileOp | None:
    around = op.parent_op()
    while around is not None and not isinstance(around, scf.ForOp | scf.WhileOp):
        around = around.parent_op()
    return around


def _obstacle(loop: scf.ForOp | scf.WhileOp) -> str:
    """Why a loop cannot be pipelined; empty when it can."""
    if isinstance(loop, scf.WhileOp):
        return "the loop may end at any slice (`while`, `break`, `continue` or `return`)"
    body = loop.body.block
    if not any(isinstance(op, staged.DotOp) for op in body.ops):
        return "the dot stands under a condition"
    for op in body.ops:
        if isinstance(op, tile.LoadOp):
            problem = _load_obstacle(op, body)
        elif isinstance(op, staged.WriteOp):
            own = isinstance(op.value.owner, tile.LoadOp) and op.value.owner.parent is body
            problem = "" if own else "an operand of dot is computed in the loop, not loaded"
        elif isinstance(op, staged.DotOp):
            problem = _sum_obstacle(op, body)
        elif isinstance(op, staged.BufferOp | scf.YieldOp) or _is_index(op) or _is_element_work(op):
            problem = ""
        else:
            problem = f"the loop does more than load and accumulate ({op.name})"
        if problem:
            return problem
    if not any(isinstance(op, staged.WriteOp) for op in body.ops):
        return "nothing is copied in the loop"
    return _carried_obstacle(loop)


def _is_index(op: Operation) -> bool:
    return is_pure(op) and not any(is_tile(r) for r in op.results)


def _is_element_work(op: Operation) -> bool:
    """What threads do each with their own sums: it needs neither shared memory nor a barrier."""
    return is_pure(op) and (is_elementwise(op) or is_free(op))


def _sum_obstacle(dot: staged.DotOp, body: Block) -> str:
    """A dot may add to what is carried, to a tile from outside the loop or a constant, or to a dot."""
    maker = dot.acc.owner
    if isinstance(maker, staged.DotOp) and maker.parent is body:
        if not dot.acc.has_one_use():
            return "a product that another is added to is used in another way too"
        if element(dot.acc) != sum_type(element_of(dot.a.type)):
            return "products are rounded before others are added to them"
        return ""
    computed = isinstance(maker, Operation) and maker.parent is body and not is_free(maker)
    return "a dot is added to something computed in the loop" if computed else ""


def _load_obstacle(op: tile.LoadOp, body: Block) -> str:
    users = [use.operation for use in op.result.uses]
    others = [user.name for user in users if not isinstance(user, staged.WriteOp)]
    if others:
        return f"a loaded tile is not for a dot alone ({others[0]})"
    if len(users) != 1:
        return "a loaded tile is used by more than one dot operand"
    if op.pad is not None and constant_value(op.pad) != 0:
        return "a load fills with something other than zero"
    if any(coefficient(i, body.args[0], body) is None for i in (*op.indices, *op.stops)):
        return "an address does not move evenly with the loop"
    return ""


def _carried_obstacle(loop: scf.ForOp) -> str:
    """Only tiles may be carried: addresses must not depend on the slices before."""
    body = loop.body.block
    if not all(is_tile(argument) for argument in body.args[1:]):
        return "the loop carries something other than tiles"
    dots = [op for op in body.ops if isinstance(op, staged.DotOp)]
    if len({dot.depth.value.data for dot in dots}) > 1:
        return "the dots differ in depth"
    return ""


def _copies(loop: scf.ForOp) -> Iterator[tuple[tile.LoadOp, staged.WriteOp, staged.BufferOp]]:
    for op in loop.body.block.ops:
        if isinstance(op, staged.WriteOp):
            assert isinstance(op.value.owner, tile.LoadOp)
            assert isinstance(op.buffer.owner, staged.BufferOp)
            yield op.value.owner, op, op.buffer.owner


def _stages(
    loop: scf.ForOp,
    kernel: KernelOp,
    target: Target,
    constants: Mapping[str, int],
    mode: str,
    form: LoopForm,
) -> int:
    """How many stages: the caller's number, else the default, the default only as far as it fits."""
    bytes_each = sum(_bytes(b) for _, _, b in _copies(loop))
    most = default_stages(form.slices) if mode == "async" else REGISTER_STAGES
    if "STAGES" in constants:
        return constants["STAGES"] if mode == "async" else min(constants["STAGES"], most)
    whole = target.shared_per_cta_optin // bytes_each
    return min(most, max(1, min(whole, REGISTER_STAGES), whole // max(1, kernel.min_blocks.value.data)))


def _share_the_sm(
    loop: scf.ForOp, kernel: KernelOp, target: Target, constants: Mapping[str, int]
) -> None:
    """Where the author left it open: as many CTAs for one SM as the registers of the loop allow."""
    loops = [op for op in kernel.body.walk() if isinstance(op, scf.ForOp | scf.WhileOp)]
    if kernel.min_blocks.value.data or kernel.max_registers.value.data or not _alone(loop, loops):
        return
    threads = kernel.threads.value.data
    versions = [op for op in loops if isinstance(op, scf.ForOp) and any(_copies(op))]
    needed = max(_registers(version, threads) for version in versions)
    two_stages = REGISTER_STAGES * max(sum(_bytes(b) for _, _, b in _copies(op)) for op in versions)
    room = target.shared_per_cta_optin // max(1, two_stages)
    wanted = constants.get("MIN_BLOCKS", min(room, resident_ctas(needed, threads, target)))
    kernel.min_blocks = IntegerAttr(max(1, wanted), i64)


def _alone(loop: scf.ForOp, loops: Sequence[Operation]) -> bool:
    """Whether a CTA runs this loop and no other: the others stand in other bodies of the kernel."""
    return loops == [loop] or all(_versioned(op) for op in loops)


def _versioned(op: Operation) -> bool:
    around = op.parent_op()
    return isinstance(around, scf.IfOp) and VERSION in around.attributes


def _registers(loop: scf.ForOp, threads: int) -> int:
    """Registers that a thread takes for a loop, estimated."""
    needed = 0
    for dot in [op for op in loop.body.block.ops if isinstance(op, staged.DotOp)]:
        held = layout_of(dot.acc, threads)
        rows, columns = held.shape
        problem = DotShape(rows, columns, dot.depth.value.data, WORD, byte_width(element(dot.acc)))
        needed += registers_per_thread(problem, held.slots, threads)
        if isinstance(dot.acc.owner, staged.DotOp):  # both add to the same registers
            needed -= math.prod(held.slots)
    masked = any(any(load.masked) for load, _, _ in _copies(loop))
    body = loop.body.block
    kept = [v for v in body.args[1:] if not any(isinstance(u.operation, staged.DotOp) for u in v.uses)]
    needed += sum(math.prod(layout_of(v, threads).slots) for v in kept)
    return needed + (MASKED_REGISTERS if masked else 0)


def _form(loop: scf.ForOp, kernel: KernelOp, mode: str, constants: Mapping[str, int]) -> LoopForm:
    threads = kernel.threads.value.data
    dots = [op for op in loop.body.block.ops if isinstance(op, staged.DotOp)]
    accumulators = sum(math.prod(layout_of(dot.acc, threads).slots) for dot in dots)
    loads = [load for load, _, _ in _copies(loop)]
    masked = any(any(load.masked) for load in loads)
    wide = any(layout_of(load.result, threads).axes[-1].run > 1 for load in loads)
    depth = dots[0].depth.value.data
    return choose_form(accumulators, depth, mode, constants, masked=masked, wide=wide)


def _fewer(loop: scf.ForOp, stages: int, target: Target, constants: Mapping[str, int]) -> str:
    """Why there are no more stages where there is one, or fewer than asked for."""
    asked = constants.get("STAGES", stages)
    if stages == 1:
        return "STAGES is 1" if asked == 1 and "STAGES" in constants else _shortage(loop, target)
    return f"copies through registers have {stages} stages at most" if asked > stages else ""


def _shortage(loop: scf.ForOp, target: Target) -> str:
    """What two stages would need."""
    needed = 2 * sum(_bytes(b) for _, _, b in _copies(loop))
    has = target.shared_per_cta_optin
    return f"two stages need {needed} bytes of shared memory, {target.name} has {has}"


def _can_be_async(loop: scf.ForOp, target: Target) -> bool:
    """cp.async moves 4, 8 or 16 bytes; a transposing copy moves element by element."""
    return target.has("cp.async") and all(
        byte_width(element(load.result)) in (4, 8) for load, _, _ in _copies(loop)
    )


def _bytes(buffer: staged.BufferOp) -> int:
    size = byte_width(buffer.type_.element_type)
    for extent in buffer.type_.get_shape():
        size *= extent
    return size


def _rewrite(loop: scf.ForOp, kernel: KernelOp, stages: int, mode: str) -> None:
    threads = kernel.threads.value.data
    for load, _, buffer in list(_copies(loop)):
        before = layout_of(load.result, threads)
        if mode == "async":
            set_layout(load.result, _copy_layout(load, buffer, before))
        _move_out(loop, buffer, layout_of(load.result, threads), stages)
    loop.attributes[STAGES] = IntegerAttr(stages, i64)
    loop.attributes[MODE] = StringAttr(mode)


def _copy_layout(load: tile.LoadOp, buffer: staged.BufferOp, held: Layout) -> Layout:
    """Element by element where the copy transposes, neighbours in memory in neighbouring threads.

    A warp takes short runs of several rows where there are enough: those go to different banks.
    """
    if buffer.axis_order[-1] == len(held.shape) - 1:
        return held
    extents = shape(load.result)
    many = math.prod(extents[:-1]) * TURNED_RUN >= held.threads
    return blocked(extents, held.threads, 1, cap=TURNED_RUN if many else 0)


def _move_out(loop: scf.ForOp, buffer: staged.BufferOp, held: Layout, stages: int) -> None:
    """One copy of the buffer per stage, in front of the loop, large enough for the copy's layout."""
    physical = [
        max(extent, held.cover[axis])
        for axis, extent in zip(buffer.axis_order, buffer.type_.get_shape(), strict=True)
    ]
    moved = staged.BufferOp(
        buffer.purpose.data, buffer.type_.element_type, physical, buffer.axis_order, stages
    )
    moved.location = buffer.location
    Rewriter.insert_op(moved, InsertPoint.before(loop))
    buffer.result.replace_all_uses_with(moved.result)
    buffer.detach()
    buffer.erase()
