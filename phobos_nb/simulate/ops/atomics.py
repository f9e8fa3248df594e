"""The row of `memref.atomic_rmw`: one read-modify-write after the other, in lane order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.ir import Operation

from phobos_nb.ir.atomic_kinds import AtomicKind
from phobos_nb.ir.dialects.memref import GenericAtomicRMWOp
from phobos_nb.simulate.access import poison, watch_write
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.numerics import in_f32, maximum, minimum
from phobos_nb.simulate.ops.extents import indices_of, reach
from phobos_nb.simulate.ops.integers import unsigned
from phobos_nb.simulate.program import Decoder, Step, UnknownOperation, element_dtype
from phobos_nb.simulate.site import Site
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Array, DTypeLike, Ints, Ref

Update = Callable[[Any, Any], Any]


def _unsigned(function: Update, dtype: DTypeLike) -> Update:
    return lambda old, new: function(unsigned(old, dtype), unsigned(new, dtype)).view(dtype)


def update_of(kind: int, dtype: DTypeLike) -> Update:
    """What an atomic of MLIR's AtomicRMWKind does with the old value and the operand."""
    functions: dict[int, Update] = {
        AtomicKind.ADDF: in_f32(np.add, dtype),
        AtomicKind.ADDI: np.add,
        AtomicKind.ASSIGN: lambda old, new: new,
        AtomicKind.MAXIMUMF: maximum,
        AtomicKind.MAXS: np.maximum,
        AtomicKind.MAXU: _unsigned(np.maximum, dtype),
        AtomicKind.MINIMUMF: minimum,
        AtomicKind.MINS: np.minimum,
        AtomicKind.MINU: _unsigned(np.minimum, dtype),
        AtomicKind.MULF: in_f32(np.multiply, dtype),
        AtomicKind.MULI: np.multiply,
        AtomicKind.ORI: np.bitwise_or,
        AtomicKind.ANDI: np.bitwise_and,
        AtomicKind.XORI: np.bitwise_xor,
    }
    if kind not in functions:
        raise UnknownOperation(f"memref.atomic_rmw of kind {kind}")
    return functions[kind]


def atomic_row(d: Decoder, op: Operation) -> Step:
    """Read, update and write; every lane gets what was there before its own turn."""
    assert isinstance(op, memref.AtomicRMWOp)
    site = Site(d.op, "atomic", ())
    indices = indices_of(d, op.memref, op.indices)
    d.touch(op.memref.type)
    value, base = d.slot(op.value), d.slot(op.memref)
    r, dtype = d.slot(op.result), element_dtype(op.memref.type)
    update = update_of(op.kind.value.data, dtype)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        where = reach(m, s, site, ref, indices, None, s.mask)
        watch_write(m, s, site, ref, where, atomic=True)
        lanes = np.arange(s.count) if where.live is None else np.flatnonzero(where.live)
        positions = np.broadcast_to(where.at, (s.count,))[lanes]
        operands = np.broadcast_to(np.asarray(v[value], dtype), (s.count,))[lanes]
        out = poison((s.count,), dtype)
        out[lanes] = _in_turns(ref.memory.allocation.typed(dtype), positions, operands, update)
        v[r] = out

    return step


def swap_row(d: Decoder, op: Operation) -> Step:
    """Compare-and-swap, one lane after the other; every lane gets what was there before."""
    assert isinstance(op, GenericAtomicRMWOp)
    if op.swap is None:
        raise UnknownOperation("memref.generic_atomic_rmw other than compare-and-swap")
    site = Site(d.op, "atomic", ())
    indices = indices_of(d, op.memref, op.indices)
    d.touch(op.memref.type)
    base = d.slot(op.memref)
    compare, value = (d.slot(x) for x in op.swap)
    r, dtype = d.slot(op.result), element_dtype(op.memref.type)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        ref: Ref = v[base]
        where = reach(m, s, site, ref, indices, None, s.mask)
        watch_write(m, s, site, ref, where, atomic=True)
        lanes = np.arange(s.count) if where.live is None else np.flatnonzero(where.live)
        positions = np.broadcast_to(where.at, (s.count,))[lanes]
        pairs = [np.broadcast_to(np.asarray(v[x], dtype), (s.count,))[lanes] for x in (compare, value)]
        out = poison((s.count,), dtype)
        typed = ref.memory.allocation.typed(dtype)
        out[lanes] = _in_turns(typed, positions, np.stack(pairs, 1), _swapped)
        v[r] = out

    return step


def _swapped(old: Array, pairs: Array) -> Array:
    return np.where(old == pairs[:, 0], pairs[:, 1], old)


def _in_turns(typed: Array, positions: Ints, operands: Array, update: Update) -> Array:
    """Apply the updates, those of one address one after the other; the old values."""
    old = np.empty(len(positions), typed.dtype)
    left = np.arange(len(positions))
    while len(left):
        _, first = np.unique(positions[left], return_index=True)
        now = left[first]
        old[now] = typed[positions[now]]
        typed[positions[now]] = update(old[now], operands[now])
        left = np.delete(left, first)
    return old
