"""The part of the dialect `nvgpu` about memory barriers: objects in shared memory that count arrivals.

A phase is complete when no arrival is pending and as many bytes came as were expected; then the next
phase begins with the count that `init` gave (PTX ISA, "mbarrier").
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntAttr, i1, i64
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.address_space import WORKGROUP

Value = SSAValue | Operation


@irdl_attr_definition
class MBarrierGroupType(ParametrizedAttribute, TypeAttribute):
    """`!nvgpu.mbarrier.group<...>`: one or several memory barriers in shared memory."""

    name = "nvgpu.mbarrier.group"
    memory_space: Attribute
    barriers: IntAttr

    def __init__(self, barriers: int = 1) -> None:
        super().__init__(WORKGROUP, IntAttr(barriers))

    def print_parameters(self, printer: Printer) -> None:
        """Print `<memorySpace = .., num_barriers = ..>`; upstream leaves the number one out."""
        with printer.in_angle_brackets():
            printer.print_string("memorySpace = ")
            printer.print_attribute(self.memory_space)
            if self.barriers.data != 1:
                printer.print_string(f", num_barriers = {self.barriers.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse `<memorySpace = .., num_barriers = ..>`."""
        with parser.in_angle_brackets():
            parser.parse_keyword("memorySpace")
            parser.parse_punctuation("=")
            space = parser.parse_attribute()
            count = 1
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("num_barriers")
                parser.parse_punctuation("=")
                count = parser.parse_integer()
        return [space, IntAttr(count)]


@irdl_attr_definition
class MBarrierTokenType(ParametrizedAttribute, TypeAttribute):
    """`!nvgpu.mbarrier.token`, the phase that an arrival took part in."""

    name = "nvgpu.mbarrier.token"


@irdl_op_definition
class MBarrierCreateOp(IRDLOperation):
    """Reserve memory barriers in shared memory."""

    name = "nvgpu.mbarrier.create"
    barriers = result_def(MBarrierGroupType)

    def __init__(self, count: int = 1) -> None:
        super().__init__(result_types=[MBarrierGroupType(count)])


@irdl_op_definition
class MBarrierInitOp(IRDLOperation):
    """Set the number of arrivals that complete a phase of barrier `index`; one thread does it."""

    name = "nvgpu.mbarrier.init"
    barriers = operand_def(MBarrierGroupType)
    count = operand_def(IndexType())
    index = operand_def(IndexType())
    predicate = opt_operand_def(i1)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self, barriers: Value, index: Value, count: Value, predicate: Value | None = None
    ) -> None:
        super().__init__(operands=[barriers, count, index, predicate])


@irdl_op_definition
class MBarrierArriveOp(IRDLOperation):
    """Arrive at barrier `index`."""

    name = "nvgpu.mbarrier.arrive"
    barriers = operand_def(MBarrierGroupType)
    index = operand_def(IndexType())
    token = result_def(MBarrierTokenType())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, barriers: Value, index: Value) -> None:
        super().__init__(operands=[barriers, index], result_types=[MBarrierTokenType()])


@irdl_op_definition
class MBarrierArriveExpectTxOp(IRDLOperation):
    """Arrive at barrier `index` and add `bytes` to what its phase waits for."""

    name = "nvgpu.mbarrier.arrive.expect_tx"
    barriers = operand_def(MBarrierGroupType)
    bytes = operand_def(IndexType())
    index = operand_def(IndexType())
    predicate = opt_operand_def(i1)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, barriers: Value, index: Value, bytes_: Value, predicate: Value | None = None
    ) -> None:
        super().__init__(operands=[barriers, bytes_, index, predicate])


@irdl_op_definition
class MBarrierTryWaitParityOp(IRDLOperation):
    """Wait until the phase of that parity of barrier `index` is complete, asking every `ticks`."""

    name = "nvgpu.mbarrier.try_wait.parity"
    barriers = operand_def(MBarrierGroupType)
    parity = operand_def(i1)
    ticks = operand_def(IndexType())
    index = operand_def(IndexType())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, barriers: Value, index: Value, parity: Value, ticks: Value) -> None:
        super().__init__(operands=[barriers, parity, ticks, index])


@irdl_op_definition
class MBarrierArriveNoCompleteOp(IRDLOperation):
    """Arrive `count` times at barrier `index`, which must not complete its phase."""

    name = "nvgpu.mbarrier.arrive.nocomplete"
    barriers = operand_def(MBarrierGroupType)
    index = operand_def(IndexType())
    count = operand_def(IndexType())
    token = result_def(MBarrierTokenType())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, barriers: Value, index: Value, count: Value) -> None:
        super().__init__(operands=[barriers, index, count], result_types=[MBarrierTokenType()])


@irdl_op_definition
class MBarrierTestWaitOp(IRDLOperation):
    """Whether the phase that a token belongs to is complete; does not wait."""

    name = "nvgpu.mbarrier.test.wait"
    barriers = operand_def(MBarrierGroupType)
    token = operand_def(MBarrierTokenType())
    index = operand_def(IndexType())
    complete = result_def(i1)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, barriers: Value, index: Value, token: Value) -> None:
        super().__init__(operands=[barriers, token, index], result_types=[i1])


@irdl_op_definition
class MBarrierGetOp(IRDLOperation):
    """The address of barrier `index`, for operations of upstream that take pointers."""

    name = "nvgpu.mbarrier.get"
    barriers = operand_def(MBarrierGroupType)
    index = operand_def(IndexType())
    pointer = result_def(i64)
    traits = traits_def(Pure())

    def __init__(self, barriers: Value, index: Value) -> None:
        super().__init__(operands=[barriers, index], result_types=[i64])


MBARRIER_OPS: list[type[Operation]] = [
    MBarrierCreateOp,
    MBarrierInitOp,
    MBarrierArriveOp,
    MBarrierArriveNoCompleteOp,
    MBarrierArriveExpectTxOp,
    MBarrierTestWaitOp,
    MBarrierTryWaitParityOp,
    MBarrierGetOp,
]
