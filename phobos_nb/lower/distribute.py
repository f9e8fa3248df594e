"""Staged tile MLIR -> per-thread ops: tiles become vectors, control flow stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, VectorType, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.dialects.nvvm_sync import SyncWarpOp
from phobos_nb.ir.dialects.shapes import element_of
from phobos_nb.ir.fold import constant_value
from phobos_nb.lower import staged
from phobos_nb.lower.chunks import chunks_of, deferred
from phobos_nb.lower.distribute_box import distribute_load, distribute_store
from phobos_nb.lower.distribute_combine import distribute_argmax, distribute_combine, distribute_scan
from phobos_nb.lower.distribute_dot import distribute_add_groups, distribute_dot
from phobos_nb.lower.distribute_element import (
    distribute_atomic,
    distribute_atomic_cas,
    distribute_gather,
    distribute_load_element,
    distribute_load_shared,
    distribute_store_element,
    distribute_store_shared,
)
from phobos_nb.lower.distribute_output import distribute_assert, distribute_print
from phobos_nb.lower.distribute_parts import distribute_add_parts, distribute_leave_part
from phobos_nb.lower.distribute_pipeline import PipelinedLoop, is_pipelined
from phobos_nb.lower.distribute_shared import distribute_read, distribute_write
from phobos_nb.lower.insert_barriers import SCOPE
from phobos_nb.lower.layout_classes import is_elementwise
from phobos_nb.lower.layout_types import is_tile
from phobos_nb.lower.thread_state import ThreadState

ALL_LANES = -1
"""The mask of a whole warp, as an i32."""


def distribute(state: ThreadState, block: Block) -> None:
    """Emit the per-thread form of every op of a block at the builder's point."""
    late = deferred(block, state.threads)
    waiting = frozenset[SSAValue]().union(*late.values())
    for op in block.ops:
        if isinstance(op, scf.YieldOp | scf.ConditionOp) or (op.results and op.results[0] in waiting):
            continue
        with state.b.located(op.location):
            if isinstance(op, tile.StoreOp) and op in late:
                _store_in_chunks(state, op, late[op])
            else:
                _emit(state, op)


def _store_in_chunks(state: ThreadState, store: tile.StoreOp, members: frozenset[SSAValue]) -> None:
    """Make and store a few rows of slots at a time."""
    assert store.parent is not None
    feeders = [op for op in store.parent.ops if op.results and op.results[0] in members]
    for chunk in chunks_of(store, members, state.threads):
        state.chunk = chunk
        for op in feeders:
            with state.b.located(op.location):
                _emit(state, op)
        distribute_store(state, store)
    state.chunk = None


def _emit(state: ThreadState, op: Operation) -> None:
    handler = HANDLERS.get(type(op))
    if handler is not None:
        handler(state, op)
    elif isinstance(op, arith.ConstantOp):
        _constant(state, op)
    elif op.dialect_name() in ("tile", "staged"):
        message = f"{op.name} is not lowered to threads yet"
        raise PhobosError([Diagnostic("PH520", message, stage="lower")])
    elif is_elementwise(op):
        _elementwise(state, op)
    else:
        _copy(state, op)


def _constant(state: ThreadState, op: arith.ConstantOp) -> None:
    number = constant_value(op.result)
    if number is not None:
        held = state.b.constant(number, element_of(op.result.type))
        tiled = is_tile(op.result)
        state.values[op.result] = state.b.splat(held, state.type_of(op.result)) if tiled else held
        return
    assert not isinstance(op.value, DenseIntOrFPElementsAttr), "tile constants are splats"
    _copy(state, op)


def _copy(state: ThreadState, op: Operation) -> None:
    """A per-thread op stays as it is."""
    copy = state.b.insert(op.clone({v: state.get(v) for v in op.operands}))
    for old, new in zip(op.results, copy.results, strict=True):
        state.values[old] = new


def _elementwise(state: ThreadState, op: Operation) -> None:
    """The same op on the thread's vector."""
    _copy(state, op)
    for result in op.results:
        state.values[result] = Rewriter.replace_value_with_new_type(
            state.values[result], state.type_of(result)
        )


def _buffer(state: ThreadState, op: staged.BufferOp) -> None:
    """A buffer is looked up where it is used."""


def _alloc_shared(state: ThreadState, op: tile.AllocSharedOp) -> None:
    """The author's array is a view at its planned place."""
    offset = cast("IntegerAttr[IndexType]", op.attributes[staged.OFFSET]).value.data
    with state.prologue() as b:
        view = b.view(state.memory, b.index(offset), op.result.type, offset)
        state.values[op.result] = b.named(view, op.array.data)


def _splat(state: ThreadState, op: tile.SplatOp) -> None:
    state.values[op.result] = state.b.splat(state.get(op.source), state.type_of(op.result))


def _broadcast(state: ThreadState, op: tile.BroadcastOp) -> None:
    state.values[op.result] = state.b.broadcast(state.get(op.source), state.type_of(op.result))


def _coordinate(state: ThreadState, op: tile.CoordinateOp) -> None:
    b, axis = state.b, op.axis.value.data
    layout = state.layout(op.result)
    place = state.coordinate(layout.axes[axis])
    scalars = [b.addi(place, b.index(o)) for o in layout.axes[axis].offsets]
    shape = [n if a == axis else 1 for a, n in enumerate(layout.slots)]
    along = b.from_elements(scalars, VectorType(place.type, shape))
    state.values[op.result] = b.broadcast(along, state.type_of(op.result))


def _block_id(state: ThreadState, op: gpu.BlockIdOp) -> None:
    state.values[op.result] = state.blocks["xyz".index(str(op.dimension.data.value))]


def _gather_threads(state: ThreadState, op: staged.GatherThreadsOp) -> None:
    state.values[op.result] = state.b.splat(state.get(op.source), state.type_of(op.result))


def _scalar(state: ThreadState, op: staged.ScalarOp) -> None:
    state.values[op.result] = state.b.to_elements(state.get(op.source))[0]


def _transpose(state: ThreadState, op: tile.TransposeOp) -> None:
    order = tuple(op.permutation.get_values())
    state.values[op.result] = state.b.transpose(state.get(op.source), order)


# Control flow ------------------------------------------------------------------------------------


def _types(state: ThreadState, values: Sequence[SSAValue]) -> list[Attribute]:
    return [state.type_of(v) if is_tile(v) else v.type for v in values]


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _body(state: ThreadState, source: Block, target: Block) -> None:
    """Emit a region's block, its terminator's operands included, without the terminator."""
    for old, new in zip(source.args, target.args, strict=True):
        state.values[old] = new
        new.name_hint = old.name_hint
    with state.b.inside(target):
        distribute(state, source)


def _yield(state: ThreadState, source: Block, target: Block) -> None:
    with state.b.inside(target):
        state.b.yield_([state.get(v) for v in _last(source).operands])


def _for(state: ThreadState, op: scf.ForOp) -> None:
    if is_pipelined(op):
        PipelinedLoop(state, op, _emit).emit()
        return
    inits = [state.get(v) for v in op.iter_args]
    loop = state.b.for_(state.get(op.lb), state.get(op.ub), state.get(op.step), inits)
    loop.attributes.update(op.attributes)
    _body(state, op.body.block, loop.body.block)
    _yield(state, op.body.block, loop.body.block)
    _finish(state, op, loop)


def _if(state: ThreadState, op: scf.IfOp) -> None:
    otherwise = bool(op.false_region.blocks)
    branch = state.b.if_(state.get(op.cond), _types(state, op.results), otherwise=otherwise)
    for source, target in zip(op.regions, branch.regions, strict=True):
        for old, new in zip(source.blocks, target.blocks, strict=True):
            _body(state, old, new)
            _yield(state, old, new)
    _finish(state, op, branch)


def _while(state: ThreadState, op: scf.WhileOp) -> None:
    before = Block(arg_types=_types(state, op.before_region.block.args))
    after = Block(arg_types=_types(state, op.after_region.block.args))
    inits = [state.get(v) for v in op.arguments]
    loop = scf.WhileOp(inits, _types(state, op.results), Region(before), Region(after))
    state.b.insert(loop)
    _body(state, op.before_region.block, before)
    condition, *passed = [state.get(v) for v in _last(op.before_region.block).operands]
    with state.b.inside(before):
        state.b.insert(scf.ConditionOp(condition, *passed))
    _body(state, op.after_region.block, after)
    _yield(state, op.after_region.block, after)
    _finish(state, op, loop)


def _finish(state: ThreadState, op: Operation, new: Operation) -> None:
    for old, result in zip(op.results, new.results, strict=True):
        state.values[old] = result
        result.name_hint = old.name_hint


def _barrier(state: ThreadState, op: gpu.BarrierOp) -> None:
    """Of the CTA, or of each warp alone."""
    own = SCOPE in op.attributes
    made = SyncWarpOp(state.b.constant(ALL_LANES, i32)) if own else gpu.BarrierOp()
    state.b.insert(made).attributes.update({k: v for k, v in op.attributes.items() if k != SCOPE})


HANDLERS: dict[type[Operation], Callable[[ThreadState, Any], None]] = {
    gpu.BarrierOp: _barrier,
    gpu.BlockIdOp: _block_id,
    scf.ForOp: _for,
    scf.IfOp: _if,
    scf.WhileOp: _while,
    staged.AddGroupsOp: distribute_add_groups,
    staged.AddPartsOp: distribute_add_parts,
    staged.BufferOp: _buffer,
    staged.CombineOp: distribute_combine,
    staged.DotOp: distribute_dot,
    staged.LeavePartOp: distribute_leave_part,
    staged.ReadOp: distribute_read,
    staged.GatherThreadsOp: _gather_threads,
    staged.ScalarOp: _scalar,
    staged.WriteOp: distribute_write,
    tile.AllocSharedOp: _alloc_shared,
    tile.ArgmaxOp: distribute_argmax,
    tile.AssertOp: distribute_assert,
    tile.AtomicCasOp: distribute_atomic_cas,
    tile.AtomicOp: distribute_atomic,
    tile.BroadcastOp: _broadcast,
    tile.CoordinateOp: _coordinate,
    tile.GatherOp: distribute_gather,
    tile.LoadElementOp: distribute_load_element,
    tile.LoadOp: distribute_load,
    tile.LoadSharedOp: distribute_load_shared,
    tile.PrintOp: distribute_print,
    tile.ScanOp: distribute_scan,
    tile.SplatOp: _splat,
    tile.StoreElementOp: distribute_store_element,
    tile.StoreOp: distribute_store,
    tile.StoreSharedOp: distribute_store_shared,
    tile.TransposeOp: _transpose,
}
"""One row per op; elementwise ops and per-thread ops need none."""
