"""Rows of vector loads and stores, whole and masked.

`alignment` is what the compiler knows of the address in bytes; without it only the element's own
alignment holds and the access is done element by element.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.emitter import UNROLLED_IN_LINE, Emitter, Spelled, count
from phobos_nb.cuda.emit.spelling import SIZES
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.emit.vector import steps
from phobos_nb.cuda.reading import either, integer, is_global, is_vector, shape

WIDEST = 16
"""Bytes of the widest access of one thread."""


def chunk(e: Emitter, op: Operation, vector: SSAValue) -> int:
    """How many elements one access may move: a power of two that the alignment and the count allow."""
    size = SIZES[e.element_ctype(vector.type)]
    allowed = min(integer(either(op, "alignment"), size), WIDEST) // size
    elements = count(vector)
    found = 1
    while found * 2 <= allowed and elements % (found * 2) == 0:
        found *= 2
    return found


def natural(elements: int, size: int) -> int:
    """The elements that `vec<T, elements>`, read as it stands, takes to be aligned together."""
    found = 1
    while elements % (found * 2) == 0 and found * 2 * size <= WIDEST:
        found *= 2
    return found


def _whole(e: Emitter, op: Operation, vector: SSAValue) -> bool:
    """Whether the vector may be read and written as it stands."""
    size = SIZES[e.element_ctype(vector.type)]
    return chunk(e, op, vector) >= natural(count(vector), size)


def in_memory(e: Emitter, value: SSAValue) -> SSAValue:
    """The vector as memory holds it; index vectors that are held narrower have no place there."""
    if is_vector(value) and e.scalar_type(value) != e.element_ctype(value.type):
        raise NotImplementedError(f"a vector of narrowed indices in memory: {value.type}")
    return value


@row("vector.load")
def _load(e: Emitter, op: Operation) -> None:
    base, *indices = op.operands
    result = op.results[0]
    place = memory.pointer(e, base, indices)
    if count(result) == 1:
        e.define_elements(result, [memory.element(e, base, indices)])
    elif _whole(e, op, result):
        e.define(result, f"*reinterpret_cast<const {e.ctype(result)}*>({place})")
    else:
        e.define(result, e.call("load", place, template=_template(e, op, result)))


@row("vector.store")
def _store(e: Emitter, op: Operation) -> None:
    value, base, *indices = op.operands
    place = memory.pointer(e, base, indices)
    vector = in_memory(e, value)
    if count(vector) == 1:
        e.line(f"{memory.element(e, base, indices)} = {e.element(vector, 0)};")
    elif _whole(e, op, vector):
        e.line(f"*reinterpret_cast<{e.ctype(value)}*>({place}) = {e.text(vector)};")
    else:
        e.line(f"{e.call('store', place, e.text(vector), template=_template(e, op, vector))};")


def _template(e: Emitter, op: Operation, vector: SSAValue) -> str:
    return f"<{count(vector)}, {chunk(e, op, vector)}>"


@row("vector.maskedload")
def _masked_load(e: Emitter, op: Operation) -> None:
    base, *indices, mask, other = op.operands
    result = op.results[0]
    place, rest = memory.pointer(e, base, indices), e.text(other)
    prefix = e.spelled(mask).count
    if prefix:
        template = _template(e, op, result)
        e.define(result, e.call("load_prefix", place, prefix, rest, template=template))
    else:
        e.define(result, e.call("load_masked", place, e.text(mask), rest))


@row("vector.maskedstore")
def _masked_store(e: Emitter, op: Operation) -> None:
    base, *indices, mask, value = op.operands
    place, stored = memory.pointer(e, base, indices), e.text(in_memory(e, value))
    prefix = e.spelled(mask).count
    if prefix:
        template, parts = _template(e, op, value), chunk(e, op, value)
        vectors = parts > 1 and is_global(base)
        helper = "store_prefix_global" if vectors else "store_prefix"
        e.line(f"{e.call(helper, place, prefix, stored, template=template)};")
    else:
        e.line(f"{e.call('store_masked', place, e.text(mask), stored)};")


MASKED = ("vector.maskedload", "vector.maskedstore")


@row("vector.create_mask")
def _create_mask(e: Emitter, op: Operation) -> None:
    """A mask that only masked accesses read stays a count; others get flags."""
    result = op.results[0]
    prefix = e.text(op.operands[0]) if len(op.operands) == 1 else ""
    readers = {use.operation.name for use in result.uses}
    if prefix and readers <= set(MASKED):
        e.bind(result, Spelled("", e.ctype(result), count=prefix))
        return
    _flags(e, result, [e.text(x) for x in op.operands])
    if prefix:
        found = e.spelled(result)
        e.bind(result, Spelled(found.text, found.ctype, count=prefix))


def _flags(e: Emitter, result: SSAValue, limits: Sequence[str]) -> None:
    extents, size = shape(result.type), count(result)
    axes = list(zip(steps(extents), extents, limits, strict=True))
    if size <= UNROLLED_IN_LINE:
        rows = [" && ".join(f"{k // s % n} < {limit}" for s, n, limit in axes) for k in range(size)]
        e.define_elements(result, rows)
        return
    name = e.declare(result)
    inside = " && ".join(f"_i / {s} % {n} < {limit}" for s, n, limit in axes)
    e.line("#pragma unroll")
    e.line(f"for (int _i = 0; _i < {size}; ++_i) {name}.e[_i] = {inside};")
