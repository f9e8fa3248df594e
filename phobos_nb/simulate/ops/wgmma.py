"""Rows of `phobos.wgmma*` and `nvvm.wgmma.*`: descriptors, products, and what orders them.

The warps of a strand are taken by warpgroups where it holds whole ones, else one by one: a warp makes 16
rows of the result, and reads 16 rows of the left operand and all of the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Operation, SSAValue

from phobos_nb.ir.dialects.nvvm_wgmma import WgmmaWaitGroupOp
from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp, WgmmaOp, WgmmaWaitOp
from phobos_nb.simulate import warpgroups
from phobos_nb.simulate.counting import count_product
from phobos_nb.simulate.descriptors import (
    RESERVED,
    Descriptor,
    Placed,
    addresses_in,
    units_in,
)
from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.in_flight import InFlight, in_flight
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops.addresses import flat_index
from phobos_nb.simulate.ops.descriptor_sources import sources_of
from phobos_nb.simulate.ops.matrix import TF32_MASK
from phobos_nb.simulate.program import Decoder, Row, Step, dtype_of, element_dtype
from phobos_nb.simulate.proxies import begin, issuer
from phobos_nb.simulate.shared_arrays import SharedArray
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.tensor_cores import multiply_accumulate
from phobos_nb.simulate.trace import ACCESSES, trace_operation
from phobos_nb.simulate.values import Array, DTypeLike, Ints, Ref, Value
from phobos_nb.simulate.warpgroups import WARPS, warpgroups_of
from phobos_nb.simulate.whole_warps import check_whole_warps, lanes_of_whole_warps

WINDOW = 0x3FFFF
"""The bits of a shared address that a descriptor holds."""
ROWS_OF_WARP = 16


def _descriptor(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, WgmmaDescriptorOp)
    base, indices, r, fields = d.slot(op.src), d.slots(op.indices), d.slot(op.result), _signed(op.fields)

    def step(m: Machine, s: Strand) -> None:
        ref: Ref = s.values[base]
        offset = ref.offset + flat_index(ref, s.values, indices)
        s.values[r] = (offset * ref.dtype.itemsize & WINDOW) >> 4 | fields

    return step


def _signed(bits: int) -> int:
    return bits - (1 << 64) if bits >> 63 else bits


@dataclass(frozen=True)
class Product:
    """What a product is, apart from its values: extents, types, signs and directions.

    sources: slots of the memrefs that the descriptor of each operand may have been made for.
    """

    op: int
    columns: int
    depth: int
    operand: DTypeLike
    sum: DTypeLike
    mn_major: tuple[bool, bool]
    negate: tuple[bool, bool]
    tf32: bool
    sources: tuple[list[int], list[int]]

    @property
    def exact(self) -> DTypeLike:
        """The type in which operands are multiplied."""
        return np.dtype(np.int64 if self.operand.kind == "i" else np.float64)

    def operands(self, values: Array, *, negate: bool) -> Array:
        """Elements as the tensor cores see them, in the type of the multiplication."""
        if self.tf32:
            values = (np.ascontiguousarray(values).view(np.uint32) & TF32_MASK).view(np.float32)
        wide = values.astype(self.exact)
        return -wide if negate else wide


def _product(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, WgmmaOp)
    _, columns, depth = op.mnk
    operand = dtype_of(op.operand)
    assert operand is not None
    mn_a, mn_b, negate_a, negate_b = op.flags
    tf32 = operand == np.dtype(np.float32)
    sums = element_dtype(op.acc.type)
    sources = d.slots(sources_of(op.a)), d.slots(sources_of(op.b))
    p = Product(d.op, columns, depth, operand, sums, (mn_a, mn_b), (negate_a, negate_b), tf32, sources)
    d.program.needs_clocks = d.program.products = True
    d.program.shared_unit = min(d.program.shared_unit, operand.itemsize)
    a, b, acc, r = d.slot(op.a), d.slot(op.b), d.slot(op.acc), d.slot(op.result)
    scale = None if op.scale_d is None else d.slot(op.scale_d)
    registers, check, note = op.a_in_registers, _fence_check(d, op), _reading(d, op)

    def step(m: Machine, s: Strand) -> None:
        v = s.values
        check(m, s)
        check_whole_warps(m, s, p.op, "this product of the warpgroup")
        lanes = lanes_of_whole_warps(s)
        if not len(lanes):
            v[r] = v[acc]
            return
        group = WARPS if _by_warpgroups(s, lanes) else 1
        right = _from_memory(m, s, lanes, v[b], p, 1, group)
        if registers:
            note(m, s)
            left = p.operands(_left(_lanes(v[a], s, lanes), group), negate=p.negate[0])
        else:
            left = _from_memory(m, s, lanes, v[a], p, 0, group)
        _count(m, s, lanes, p, registers)
        start = _accumulator(_lanes(v[acc], s, lanes), group)
        if scale is not None:
            added = np.broadcast_to(v[scale], (s.count,))[lanes].reshape(-1, group * WARP)[:, :1, None]
            start = np.where(added, start, start.dtype.type(0))
        total = multiply_accumulate(m.target, left, np.swapaxes(right, 1, 2), start, p.operand, p.sum)
        v[r] = _in_registers(m, s, lanes, total, v[acc], p)

    return step


def _fence_check(d: Decoder, op: WgmmaOp) -> Callable[[Machine, Strand], None]:
    """Looks for writers of the product's registers that no fence has followed."""
    watch, index = d.registers, d.op
    assert watch is not None
    given: list[SSAValue] = [op.acc, *([op.a] if op.a_in_registers else [])]

    def check(m: Machine, s: Strand) -> None:
        for value in given:
            watch.check_fences(m, s, value, index)

    return check


def _reading(d: Decoder, op: WgmmaOp) -> Callable[[Machine, Strand], None]:
    """Notes that the product reads its fragment of a until it is over."""
    watch, index = d.registers, d.op
    assert watch is not None
    return lambda m, s: watch.note_reader(m, s, op.a, index)


# Lanes and layouts -------------------------------------------------------------------------------


def _by_warpgroups(s: Strand, lanes: Ints) -> bool:
    """Whether the lanes are whole warpgroups, each in one piece."""
    size = WARPS * WARP
    if len(lanes) % size:
        return False
    thread = s.thread[lanes].reshape(-1, size)
    return bool(((thread[:, 0] % size == 0) & (thread[:, -1] - thread[:, 0] == size - 1)).all())


def _lanes(value: Array, s: Strand, lanes: Ints) -> Array:
    """Some lanes of a vector, [elements, lanes]."""
    wide = np.broadcast_to(value, (*value.shape[:-1], s.count)).reshape(-1, s.count)
    wide = np.asarray(wide)
    return wide if len(lanes) == s.count else wide[:, lanes]


def _accumulator(values: Array, group: int) -> Array:
    """[registers, lanes] as matrices [groups, rows, columns]; PTX ISA, fragment D of wgmma.

    Elements are counted by 8 columns, row half, neighbouring column; lanes by warp, row, column pair.
    """
    eights = values.shape[0] // 4
    parts = values.reshape(eights, 2, 2, -1, group, 8, 4).transpose(3, 4, 1, 5, 0, 6, 2)
    return parts.reshape(-1, group * ROWS_OF_WARP, 8 * eights)


def _registers(matrices: Array, group: int) -> Array:
    """The inverse of `_accumulator`."""
    eights = matrices.shape[2] // 8
    parts = matrices.reshape(-1, group, 2, 8, eights, 4, 2).transpose(4, 2, 6, 0, 1, 3, 5)
    return parts.reshape(4 * eights, -1)


def _left(values: Array, group: int) -> Array:
    """A left operand's [elements, lanes] as matrices [groups, rows, depth].

    Elements are counted by k half, row half, place in the register.
    """
    per = values.shape[0] // 4
    parts = values.reshape(2, 2, per, -1, group, 8, 4).transpose(3, 4, 1, 5, 0, 6, 2)
    return parts.reshape(-1, group * ROWS_OF_WARP, 8 * per)


def _in_registers(m: Machine, s: Strand, lanes: Ints, total: Array, acc: Value, p: Product) -> InFlight:
    """The result as the accumulator's lanes hold it, in flight."""
    flat = _registers(total, total.shape[1] // ROWS_OF_WARP)
    if len(lanes) < s.count:
        whole = np.array(np.broadcast_to(acc, (*acc.shape[:-1], s.count)).reshape(-1, s.count))
        whole[:, lanes] = flat
        flat = whole
    group = warpgroups_of(m).committed.copy()
    return in_flight(flat.reshape(*acc.shape[:-1], s.count), group, p.op)


# Shared memory -----------------------------------------------------------------------------------


def _from_memory(
    m: Machine, s: Strand, lanes: Ints, bits: Value, p: Product, side: int, group: int
) -> Array:
    """An operand [groups, rows of m or n, depth] by its descriptor."""
    per_lane = np.broadcast_to(np.asarray(bits, np.int64), (s.count,))[lanes]
    found = _uniform(m, s, lanes, per_lane, p, group)
    first = lanes[:: group * WARP]
    made = [
        _operand(m, s, int(lane), int(one), p, side, group)
        for lane, one in zip(first.tolist(), found.tolist(), strict=True)
    ]
    return p.operands(np.stack(made), negate=p.negate[side])


def _uniform(m: Machine, s: Strand, lanes: Ints, bits: Ints, p: Product, group: int) -> Ints:
    """The descriptor of each group; lanes that hold another one are reported."""
    by_group = bits.reshape(-1, group * WARP)
    differs = (by_group != by_group[:, :1]).reshape(-1)
    if differs.any():
        lane = int(lanes[int(differs.argmax())])
        bad = np.zeros(s.count, np.bool_)
        bad[lanes] = differs
        text = "the threads of a warpgroup give different matrix descriptors"
        report_lanes(m, s, "descriptor", p.op, text, bad, lane)
    return by_group[:, 0]


def _operand(m: Machine, s: Strand, lane: int, bits: int, p: Product, side: int, group: int) -> Array:
    """One operand of the warps from a lane's on; its memory is read by the asynchronous proxy."""
    size, rows = p.operand.itemsize, p.columns if side else ROWS_OF_WARP * WARPS
    first = 0 if side or group == WARPS else ROWS_OF_WARP * (int(s.warp[lane]) % WARPS)
    last = rows if side or group == WARPS else first + ROWS_OF_WARP
    placed = Placed(bits, rows, p.depth, size, p.mn_major[side], m.shared.bytes)
    _check_descriptor(m, s, lane, placed, p, side)
    for k in range(group):
        part = (0, rows) if side else (first + ROWS_OF_WARP * k, first + ROWS_OF_WARP * (k + 1))
        _begin(m, s, lane + k * WARP, placed, part, p)
    positions = addresses_in(placed)[first:last] // size + _origin(m, s, lane, size)
    return m.shared.allocation.typed(p.operand)[positions]


def _origin(m: Machine, s: Strand, lane: int, size: int) -> int:
    """Where the shared memory of a lane's CTA begins, in units of some bytes."""
    return int(s.cta[lane]) * m.shared.stride // size


def _begin(m: Machine, s: Strand, lane: int, placed: Placed, part: tuple[int, int], p: Product) -> None:
    """Note that a warp's product reads these rows until its group is over."""
    state, cta, warp = warpgroups_of(m), int(s.cta[lane]), int(s.warp[lane])
    group = state.group(cta, warp, int(state.committed[cta, warp]))

    def units(unit: int) -> Ints:
        return units_in(placed, part, unit) + _origin(m, s, lane, unit)

    nothing = np.zeros(0, np.int64)
    who = issuer(s, lane, p.op)
    access = begin(m, who, m.shared, p.operand, nothing, writes=False, units=units)
    group.accesses.append(access)


def _check_descriptor(m: Machine, s: Strand, lane: int, placed: Placed, p: Product, side: int) -> None:
    """Report a descriptor that cannot be meant."""
    problem = _problem(placed, [s.values[slot].array for slot in p.sources[side]])
    if problem:
        bad = np.zeros(s.count, np.bool_)
        bad[lane] = True
        text = f"bad matrix descriptor of operand {'ab'[side]} ({Descriptor.of(placed.bits)}): {problem}"
        report_lanes(m, s, "descriptor", p.op, text, bad, lane, m.shared.name)


def _problem(placed: Placed, arrays: Sequence[SharedArray | None]) -> str:
    """What is wrong with a descriptor that was made for one of some arrays."""
    if placed.bits & RESERVED:
        return f"bits {placed.bits & RESERVED:#x} have to be zero"
    start, end = placed.start, placed.end
    if end > placed.size:
        return f"it reads up to byte {end} of {placed.size}"
    known = [a for a in arrays if a is not None]
    if len(known) < len(arrays) or not known or any(a.covers(start, end) for a in known):
        return ""
    names = " and ".join(dict.fromkeys(f"{a.described}, bytes {a.span}" for a in known))
    return f"it reads bytes {start} to {end - 1}, outside {names}"


def _count(m: Machine, s: Strand, lanes: Ints, p: Product, registers: bool, /) -> None:
    """Count what the warps read: each its rows of a, the first of a warpgroup b for all four."""
    warps = s.warp[lanes[::WARP]]
    left = 0 if registers else ROWS_OF_WARP * len(warps)
    right = p.columns * int((warps % WARPS == 0).sum())
    count_product(m, p.op, m.shared, p.operand.itemsize, (left + right) * p.depth, len(warps))


# Order -------------------------------------------------------------------------------------------


def _fence(d: Decoder, op: Operation) -> Step:
    given = d.slots(op.operands)
    passed = d.slots(op.results)
    d.program.needs_clocks = d.program.products = True

    def step(m: Machine, s: Strand) -> None:
        warpgroups.fence(m, s)
        for source, target in zip(given, passed, strict=True):
            s.values[target] = s.values[source]

    return step


def _commit(d: Decoder, op: Operation) -> Step:
    d.program.needs_clocks = d.program.products = True

    def step(m: Machine, s: Strand) -> None:
        warpgroups.commit(m, s)

    return step


def _wait(d: Decoder, op: Operation) -> Step:
    assert isinstance(op, WgmmaWaitOp | WgmmaWaitGroupOp)
    groups = (op.groups if isinstance(op, WgmmaWaitOp) else op.group).value.data
    given, passed, index, here = d.slots(op.operands), d.slots(op.results), d.op, d.here
    d.program.needs_clocks = d.program.products = True

    def step(m: Machine, s: Strand) -> int | None:
        blocked = warpgroups.wait(m, s, groups, index, here)
        if blocked is None:
            trace_operation(m, s, index, "wait", ACCESSES)
            for source, target in zip(given, passed, strict=True):
                s.values[target] = s.values[source]
        return blocked

    return step


WGMMA_ROWS: dict[str, Row] = {
    "phobos.wgmma.descriptor": _descriptor,
    "phobos.wgmma": _product,
    "phobos.wgmma.fence": _fence,
    "phobos.wgmma.wait": _wait,
    "nvvm.wgmma.fence.aligned": _fence,
    "nvvm.wgmma.commit.group.sync.aligned": _commit,
    "nvvm.wgmma.wait.group.sync.aligned": _wait,
}
