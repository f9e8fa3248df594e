"""Rows of the dialect `memref`: buffers, views of them, single elements, atomics."""

from __future__ import annotations

from xdsl.dialects.memref import ReinterpretCastOp, SubviewOp
from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.emitter import Emitter, Memory, Spelled, Stride, static_memory
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.reading import either, integer, reference, shape, static_offset, static_strides
from phobos_nb.ir.atomic_kinds import AtomicKind
from phobos_nb.ir.dialects.memref import GenericAtomicRMWOp

DYNAMIC = -(1 << 63)
"""How MLIR marks an entry of a static list that an operand gives (`ShapedType::kDynamic`)."""


@row("memref.load")
def _load(e: Emitter, op: Operation) -> None:
    e.define(op.results[0], memory.element(e, op.operands[0], op.operands[1:]))


@row("memref.store")
def _store(e: Emitter, op: Operation) -> None:
    value, target, *indices = op.operands
    own = e.scalar_type(target)
    e.line(f"{memory.element(e, target, indices)} = {e.text(value, own)};")


@row("memref.get_global")
def _global(e: Emitter, op: Operation) -> None:
    """The statically planned shared buffer; declared where it is first named."""
    name = e.buffer(reference(op.properties["name"]), shape(op.results[0].type)[0])
    e.bind(op.results[0], Spelled(name, "unsigned char*", memory=Memory((1,))))


@row("gpu.dynamic_shared_memory")
def _dynamic(e: Emitter, op: Operation) -> None:
    e.bind(op.results[0], Spelled(e.dynamic_buffer(), "unsigned char*", memory=Memory((1,))))


@row("memref.alloca")
def _private(e: Emitter, op: Operation) -> None:
    """An array of the thread's own; in registers when every index is known after unrolling."""
    result = op.results[0]
    name = e.names.fresh(result.name_hint)
    size = 1
    for extent in shape(result.type):
        size *= extent
    align = integer(either(op, "alignment"))
    mark = f"alignas({align}) " if align else ""
    e.line(f"{mark}{e.scalar_type(result)} {name}[{size}];")
    e.bind(result, Spelled(name, e.ctype(result), memory=static_memory(result)))


@row("memref.view")
def _view(e: Emitter, op: Operation) -> None:
    source, shift = op.operands[0], op.operands[1]
    ctype = e.ctype(op.results[0])
    place = f"{e.text(source)} + {e.text(shift)}"
    e.define(op.results[0], f"reinterpret_cast<{ctype}>({place})", memory=static_memory(op.results[0]))


@row("memref.reinterpret_cast")
def _reinterpret(e: Emitter, op: Operation) -> None:
    """A pointer to the new offset, which counts from the buffer's own start."""
    assert isinstance(op, ReinterpretCastOp)
    if static_offset(op.source.type) != 0:
        raise NotImplementedError(f"memref.reinterpret_cast of a shifted view: {op.source.type}")
    offsets = _mixed(e, op.static_offsets.get_values(), list(op.offsets))
    strides = _mixed(e, op.static_strides.get_values(), list(op.strides))
    e.define(op.results[0], _moved(e, op.source, offsets[0]), memory=Memory(tuple(strides)))


@row("memref.subview")
def _subview(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SubviewOp)
    own = memory.memory_of(e, op.source).strides
    offsets = _mixed(e, op.static_offsets.get_values(), list(op.offsets))
    steps = _mixed(e, op.static_strides.get_values(), list(op.strides))
    shift = memory.total(memory.product(o, s) for o, s in zip(offsets, own, strict=True))
    strides = tuple(memory.product(a, b) for a, b in zip(own, steps, strict=True))
    if len(shape(op.results[0].type)) != len(strides):
        known = static_strides(op.results[0].type)
        strides = tuple(s for s in known if s is not None)
    e.define(op.results[0], _moved(e, op.source, shift), memory=Memory(strides))


def _moved(e: Emitter, source: SSAValue, shift: Stride) -> str:
    return e.text(source) if shift == 0 else f"{e.text(source)} + {shift}"


def _mixed(e: Emitter, static: tuple[int, ...], dynamic: list[SSAValue]) -> list[Stride]:
    """Static entries with the operands put where they are marked."""
    waiting = iter(dynamic)
    return [memory.term(e, next(waiting)) if x == DYNAMIC else x for x in static]


@row("memref.cast", "memref.memory_space_cast")
def _cast(e: Emitter, op: Operation) -> None:
    e.bind(op.results[0], e.spelled(op.operands[0]))


@row("memref.assume_alignment")
def _assume(e: Emitter, op: Operation) -> None:
    for result in op.results:
        e.bind(result, e.spelled(op.operands[0]))


ATOMICS: dict[int, str] = {
    AtomicKind.ADDI: "atomic_add",
    AtomicKind.ASSIGN: "atomic_exchange",
    AtomicKind.MAXS: "atomic_max",
    AtomicKind.MAXU: "atomic_max_unsigned",
    AtomicKind.MINS: "atomic_min",
    AtomicKind.MINU: "atomic_min_unsigned",
    AtomicKind.ORI: "atomic_or",
    AtomicKind.ANDI: "atomic_and",
    AtomicKind.XORI: "atomic_xor",
}
"""`arith::AtomicRMWKind` of integers -> helper."""

FLOAT_ATOMICS: dict[int, str] = {
    AtomicKind.ADDF: "atomic_add",
    AtomicKind.ASSIGN: "atomic_exchange",
    AtomicKind.MAXIMUMF: "atomic_max_nan",
    AtomicKind.MINIMUMF: "atomic_min_nan",
}
"""The same of floats."""


@row("memref.atomic_rmw")
def _atomic(e: Emitter, op: Operation) -> None:
    value, target, *indices = op.operands
    kind, own = integer(op.properties["kind"]), e.scalar_type(value)
    table = FLOAT_ATOMICS if own in ("f16", "bf16", "float", "double") else ATOMICS
    if kind not in table:
        raise NotImplementedError(f"no CUDA row for memref.atomic_rmw of kind {kind} on {own}")
    key = f"{table[kind]}.{own.replace(' ', '_')}"
    update = e.call(key, memory.pointer(e, target, indices), e.text(value))
    if any(True for _ in op.results[0].uses):
        e.define(op.results[0], update)
    else:
        e.line(f"{update};")


@row("memref.generic_atomic_rmw")
def _swap(e: Emitter, op: Operation) -> None:
    assert isinstance(op, GenericAtomicRMWOp)
    if op.swap is None:
        raise NotImplementedError("memref.generic_atomic_rmw other than compare-and-swap")
    compare, value = op.swap
    place = memory.pointer(e, op.memref, list(op.indices))
    own = e.scalar_type(op.result).replace(" ", "_")
    update = e.call(f"atomic_swap.{own}", place, e.text(compare), e.text(value))
    if any(True for _ in op.result.uses):
        e.define(op.result, update)
    else:
        e.line(f"{update};")


@row("memref.dim")
def _extent(e: Emitter, op: Operation) -> None:
    """Only static extents; run-time ones are arguments of the kernel."""
    axis = memory.term(e, op.operands[1])
    extents = shape(op.operands[0].type)
    if not isinstance(axis, int) or extents[axis] < 0:
        raise NotImplementedError("memref.dim of a run-time extent")
    e.bind(op.results[0], Spelled(str(extents[axis]), e.ctype(op.results[0])))
