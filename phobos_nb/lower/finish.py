"""Cleans a thread-level function: merges equal ops, moves invariant ones out of loops, drops dead."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import is_side_effect_free

from phobos_nb.ir.dialects import gpu
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.fold import constant_value

_ALSO_PURE = frozenset(
    (
        "gpu.thread_id",
        "gpu.block_id",
        "gpu.grid_dim",
        "gpu.dynamic_shared_memory",
        "memref.get_global",
        "vector.create_mask",
    )
)
"""Ops for which xDSL knows no effects, but that compute a value of their operands all the same."""


def finish(function: gpu.FuncOp) -> None:
    """Clean in place."""
    body = function.body.blocks[0]
    _hoist(body)
    _merge(body, {})
    _erase_dead(body)


def merge_equal(kernel: KernelOp) -> None:
    """Merge equal pure ops of a tile kernel, so that equal addresses are one value."""
    _merge(kernel.body.block, {})


def is_pure(op: Operation) -> bool:
    """Whether the op only computes results from operands, and may be moved, merged or left out."""
    free = is_side_effect_free(op) or op.name in _ALSO_PURE
    return bool(op.results) and not op.regions and free


def _hoist(block: Block) -> None:
    """Move ops of loops that depend on nothing made in them in front of the loop, inner loops first."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                _hoist(inner)
        if isinstance(op, scf.ForOp):
            _hoist_loop(op)


def _hoist_loop(loop: scf.ForOp) -> None:
    body = loop.body.block
    inside = set[SSAValue](body.args)
    for op in list(body.ops):
        held = any(v in inside for v in op.operands)
        if is_pure(op) and not held and not _may_trap(op):
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(loop))
        else:
            inside.update(op.results)


def _may_trap(op: Operation) -> bool:
    """Divisions by what may be zero stay where they are: the loop around may not run at all."""
    divides = isinstance(op, arith.DivSIOp | arith.RemSIOp | arith.DivUIOp | arith.RemUIOp)
    return divides and not constant_value(op.operands[1])


_Key = tuple[object, ...]


def _merge(block: Block, known: dict[_Key, Operation]) -> None:
    """Replace an op by an equal one that dominates it."""
    for op in list(block.ops):
        for region in op.regions:
            for inner in region.blocks:
                _merge(inner, dict(known))
        if not is_pure(op):
            continue
        key = _key(op)
        earlier = known.setdefault(key, op)
        if earlier is not op:
            for old, new in zip(op.results, earlier.results, strict=True):
                new.name_hint = new.name_hint or old.name_hint
                old.replace_all_uses_with(new)
            block.erase_op(op)


def _key(op: Operation) -> _Key:
    return (
        op.name,
        tuple(op.operands),
        tuple(r.type for r in op.results),
        frozenset(op.properties.items()),
        frozenset(op.attributes.items()),
    )


def _erase_dead(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if is_pure(op) and not any(r.uses for r in op.results):
            block.erase_op(op)
            continue
        for region in op.regions:
            for inner in region.blocks:
                _erase_dead(inner)
