"""Groups of warps of a CTA that share the k-steps of a slice.

Note [K groups]
With K_GROUPS = G the warps of a CTA form G groups. Each covers the whole tile with the threads that it
has, so that a thread owns G times as many sums and reads fewer operands from shared memory for each
multiply-add, but runs only its G-th of the k-steps of every slice. Behind the loop the groups leave
their sums in shared memory and all threads add them, in the order of the groups: deterministic.

It pays where a tile is small for its threads: 64 x 128 on 256 threads is 8 x 4 sums a thread, where
loads of fragments take as many cycles as multiply-adds; in two groups it is 8 x 8, in four 16 x 8.

With SPREAD = 1 a single group does the same: a thread owns scattered squares of the result while it
multiplies, but where rows do not start at multiples of 16 bytes its stores would be of single elements
far apart; the threads that take the sums from shared memory lie side by side along rows.

The accumulator of such a loop is a stack of G tiles, [G * M, N]; group g holds rows g * M to
(g + 1) * M.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, TensorType, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.shapes import is_float
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.locations import place_of
from phobos_nb.lower.accumulating import does_more
from phobos_nb.lower.assign_layouts import dot_shape
from phobos_nb.lower.choices import K_GROUPS, SPREAD
from phobos_nb.lower.distribute_dot import sum_type
from phobos_nb.lower.gemm_plan import choose, share
from phobos_nb.lower.layout_types import byte_width, element, is_tile, shape
from phobos_nb.lower.layouts import WARP
from phobos_nb.lower.matvec import SUMMED
from phobos_nb.target import Target

PADDING = 4096
"""Bytes that sums may take beside themselves in shared memory, against bank conflicts."""


@dataclass(frozen=True)
class Grouped:
    """What became of a loop: its line, the groups asked for, and why there are none ("": there are)."""

    line: int
    groups: int
    reason: str


def group_loops(kernel: KernelOp, target: Target, constants: Mapping[str, int]) -> tuple[Grouped, ...]:
    """Rewrite the eligible loops in place, where K_GROUPS or SPREAD asks for it."""
    groups = constants.get(K_GROUPS, 1)
    if groups <= 1 and not constants.get(SPREAD, 0):
        return ()
    found: list[Grouped] = []
    for loop in [op for op in kernel.body.walk() if isinstance(op, scf.ForOp)]:
        dots = [op for op in loop.body.block.ops if isinstance(op, tile.DotOp)]
        if dots:
            reason = _obstacle(loop, dots, groups, kernel.threads.value.data, target, constants)
            if not reason:
                _rewrite(loop, dots, groups)
            place = place_of(loop)
            found.append(Grouped(place.line if place else 0, groups, reason))
    return tuple(found)


def _obstacle(
    loop: scf.ForOp,
    dots: list[tile.DotOp],
    groups: int,
    threads: int,
    target: Target,
    constants: Mapping[str, int],
) -> str:
    """Why the groups cannot be; empty where they can."""
    if threads % (WARP * groups):
        return f"{threads} threads are no {groups} groups of whole warps"
    if does_more(loop, several=True):
        return does_more(loop, several=True)
    for dot in dots:
        if element(dot.acc) != sum_type(element(dot.a)):
            return "the sums are narrower than they are made"
        if dot.extents[2] % groups:
            return f"a slice of {dot.extents[2]} k-steps is not {groups} times as long as another"
        own = share(dot_shape(dot), groups)
        plan = choose(own, threads // groups, target, constants)
        if not plan.accumulator(own, threads // groups).exact:
            return "a group has more threads than the tile takes"
    stack = sum(groups * math.prod(shape(v)) * byte_width(element(v)) for v in loop.results)
    if stack + PADDING > target.shared_per_cta_optin:
        return f"their sums take {stack} bytes of shared memory, {target.name} has too little"
    return ""


def _rewrite(loop: scf.ForOp, dots: list[tile.DotOp], groups: int) -> None:
    """Sums from zero in stacks of tiles; behind the loop they are added to what it started from."""
    starts, results = list(loop.iter_args), list[SSAValue](loop.results)
    held = {v for v in (*loop.body.block.args[1:], *(d.result for d in dots)) if is_tile(v)}
    for value in held:
        Rewriter.replace_value_with_new_type(value, _stack_type(value, groups))
    for dot in dots:
        dot.groups = IntegerAttr(groups, i64)
    loop.attributes[SUMMED] = UnitAttr()
    before, behind = Builder.before(loop), Builder.after(loop)
    for number, (start, result) in enumerate(zip(starts, results, strict=True)):
        loop.operands[3 + number] = before.constant(0, _stack_type(start, groups))
        stack = Rewriter.replace_value_with_new_type(result, _stack_type(result, groups))
        users = list(stack.uses)
        with behind.located(loop.location):
            added = behind.value(tile.AddGroupsOp(stack, groups))
            total = (behind.addf if is_float(element(start)) else behind.addi)(start, added)
        added.name_hint = total.name_hint = stack.name_hint
        for use in users:
            use.operation.operands[use.index] = total


def _stack_type(value: SSAValue, groups: int) -> TensorType[Attribute]:
    rows, columns = shape(value)
    return TensorType(element(value), [groups * rows, columns])
