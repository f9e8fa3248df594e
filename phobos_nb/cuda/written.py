"""Which memrefs a kernel writes through, so that the others can be `const`."""

from __future__ import annotations

from xdsl.ir import Operation, Region, SSAValue

from phobos_nb.cuda.reading import is_global, is_memref

READERS = (
    "memref.load",
    "vector.load",
    "vector.maskedload",
    "vector.gather",
    "memref.dim",
    "nvgpu.ldmatrix",
    "nvgpu.tma.async.store",
    "phobos.bulk.prefetch",
)
"""Operations that only read their memref operands."""

TARGET_FIRST = (
    "nvgpu.device_async_copy",
    "nvgpu.tma.async.load",
    "phobos.bulk.load",
    "phobos.bulk.store",
    "phobos.bulk.send",
)
"""Operations that write their first memref operand and read the others."""


class _Groups:
    """Memrefs that may be one buffer, by union and find."""

    def __init__(self) -> None:
        self.parents: dict[SSAValue, SSAValue] = {}

    def find(self, value: SSAValue) -> SSAValue:
        parent = self.parents.setdefault(value, value)
        while parent is not self.parents[parent]:
            parent = self.parents[parent]
        self.parents[value] = parent
        return parent

    def join(self, a: SSAValue, b: SSAValue) -> None:
        self.parents[self.find(a)] = self.find(b)


def written(body: Region) -> frozenset[SSAValue]:
    """The memref values that the kernel may write through, and all that are not global memory."""
    groups = _Groups()
    targets: list[SSAValue] = []
    for op in body.walk():
        memrefs = [x for x in op.operands if is_memref(x)]
        for value in [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]:
            if is_memref(value):
                groups.find(value)
        _link(groups, op, memrefs)
        targets += _targets(op, memrefs)
    marked = {groups.find(x) for x in targets}
    return frozenset(x for x in groups.parents if groups.find(x) in marked or not is_global(x))


def _link(groups: _Groups, op: Operation, memrefs: list[SSAValue]) -> None:
    """Views share their source's buffer; values that flow through control flow share theirs."""
    for value in memrefs:
        groups.find(value)
    others = [x for x in op.results if is_memref(x)]
    if op.name.startswith("scf."):
        _link_flow(groups, op)
    else:
        for result in others:
            for source in memrefs:
                groups.join(result, source)


def _link_flow(groups: _Groups, op: Operation) -> None:
    """Every memref that enters, leaves or goes round a structured operation at one position.

    Positions differ between the regions of a `scf.while`, so all of one type are joined there.
    """
    values = [*op.operands, *op.results]
    for region in op.regions:
        for block in region.blocks:
            values += block.args
            values += block.last_op.operands if block.last_op is not None else ()
    memrefs = [x for x in values if is_memref(x)]
    if op.name == "scf.for":
        carried = op.operands[3:]
        block = op.regions[0].block
        assert block.last_op is not None
        columns = zip(carried, block.args[1:], block.last_op.operands, op.results, strict=True)
        for column in columns:
            for other in column[1:]:
                if is_memref(other):
                    groups.join(other, column[0])
        return
    for other in memrefs[1:]:
        if other.type == memrefs[0].type:
            groups.join(other, memrefs[0])


def _targets(op: Operation, memrefs: list[SSAValue]) -> list[SSAValue]:
    """The memrefs an operation writes; one that is not known to only read writes them all."""
    if op.name in TARGET_FIRST:
        return memrefs[:1]
    passes_on = bool(op.results) and any(is_memref(x) for x in op.results)
    if op.name in READERS or passes_on or op.name.startswith("scf."):
        return []
    return memrefs
