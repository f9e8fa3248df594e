"""The part of upstream's dialect `nvvm` about meeting: barriers, fences, clusters, groups, registers.

Semantics: PTX ISA, the instruction that each docstring names.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i32
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.str_enum import StrEnum

from phobos_nb.ir.dialects.shapes import require

Value = SSAValue | Operation
NAMED_BARRIERS = 16
"""Barriers of a CTA: PTX ISA, `barrier`."""


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """`barrier.sync`: wait at barrier `id` until `threads` threads have arrived; all where not given."""

    name = "nvvm.barrier"
    id = opt_operand_def(i32)
    threads = opt_operand_def(i32)
    reduction = opt_operand_def(i32)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, id: Value | None = None, threads: Value | None = None) -> None:
        super().__init__(operands=[id, threads, None])

    def verify_(self) -> None:
        """A count belongs to a barrier with a number; reductions are not used."""
        require(self.threads is None or self.id is not None, "a count of threads needs a barrier's id")
        require(self.reduction is None, "reductions at barriers are not supported")


@irdl_op_definition
class BarrierArriveOp(IRDLOperation):
    """`barrier.arrive`: count as arrived at barrier `id` of `threads` threads, without waiting."""

    name = "nvvm.barrier.arrive"
    id = opt_operand_def(i32)
    threads = operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, id: Value, threads: Value) -> None:
        super().__init__(operands=[id, threads])


@irdl_op_definition
class SyncWarpOp(IRDLOperation):
    """`bar.warp.sync`: wait for the lanes of the warp that the mask names; orders their accesses."""

    name = "nvvm.bar.warp.sync"
    mask = operand_def(i32)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, mask: Value) -> None:
        super().__init__(operands=[mask])


class _ClusterBarrierOp(IRDLOperation, ABC):
    """Half of a barrier of all threads of a cluster; `aligned`: whole warps run it together."""

    aligned = opt_prop_def(UnitAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, *, aligned: bool = False) -> None:
        super().__init__(properties={"aligned": UnitAttr() if aligned else None})


@irdl_op_definition
class ClusterArriveOp(_ClusterBarrierOp):
    """`barrier.cluster.arrive.release`: hand over what was done to the other CTAs of the cluster."""

    name = "nvvm.cluster.arrive"


@irdl_op_definition
class ClusterArriveRelaxedOp(_ClusterBarrierOp):
    """`barrier.cluster.arrive.relaxed`: arrive without ordering any access to memory."""

    name = "nvvm.cluster.arrive.relaxed"


@irdl_op_definition
class ClusterWaitOp(_ClusterBarrierOp):
    """`barrier.cluster.wait.acquire`: wait until every thread of the cluster has arrived or ended."""

    name = "nvvm.cluster.wait"


@irdl_op_definition
class ClusterRankOp(IRDLOperation):
    """`%cluster_ctarank`: the CTA's number in its cluster, x fastest."""

    name = "nvvm.read.ptx.sreg.cluster.ctarank"
    result = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


@irdl_op_definition
class FenceMbarrierInitOp(IRDLOperation):
    """`fence.mbarrier_init.release.cluster`: let the cluster see the memory barriers made before it."""

    name = "nvvm.fence.mbarrier.init"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self) -> None:
        super().__init__()


class ProxyKind(StrEnum):
    """Between which proxies a fence stands; `async.*` are the generic and the asynchronous one."""

    ALIAS = "alias"
    ASYNC = "async"
    ASYNC_GLOBAL = "async.global"
    ASYNC_SHARED = "async.shared"


class SharedSpace(StrEnum):
    """The window of shared memory that is meant."""

    CTA = "cta"
    CLUSTER = "cluster"


@irdl_attr_definition
class ProxyKindAttr(EnumAttribute[ProxyKind]):
    """`#nvvm.proxy_kind<async.shared>`."""

    name = "nvvm.proxy_kind"

    def print_parameter(self, printer: Printer) -> None:
        """Print `<async.shared>`; the name has a point in it, so it is no plain keyword."""
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ProxyKind:
        """Parse `<async.shared>`."""
        with parser.in_angle_brackets():
            return ProxyKind(parser.parse_identifier())


@irdl_attr_definition
class SharedSpaceAttr(EnumAttribute[SharedSpace]):
    """`#nvvm.shared_space<cta>`."""

    name = "nvvm.shared_space"

    def print_parameter(self, printer: Printer) -> None:
        """Print `<cta>`."""
        with printer.in_angle_brackets():
            printer.print_string(self.data.value)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SharedSpace:
        """Parse `<cta>`."""
        with parser.in_angle_brackets():
            return parser.parse_str_enum(SharedSpace)


@irdl_op_definition
class FenceProxyOp(IRDLOperation):
    """`fence.proxy`: accesses through one proxy before it are seen by those through the other after."""

    name = "nvvm.fence.proxy"
    kind = prop_def(ProxyKindAttr)
    space = opt_prop_def(SharedSpaceAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, kind: ProxyKind = ProxyKind.ASYNC, space: SharedSpace | None = None) -> None:
        window = None if space is None else SharedSpaceAttr(space)
        super().__init__(properties={"kind": ProxyKindAttr(kind), "space": window})

    def verify_(self) -> None:
        """Only the fence of shared memory names its window."""
        shared = self.kind.data is ProxyKind.ASYNC_SHARED
        require(shared == (self.space is not None), "space: wanted with async.shared, and only there")


class RegisterAction(StrEnum):
    """Whether a warp gives registers back or asks for some."""

    INCREASE = "increase"
    DECREASE = "decrease"


@irdl_attr_definition
class RegisterActionAttr(EnumAttribute[RegisterAction], SpacedOpaqueSyntaxAttribute):
    """`#nvvm<action increase>`."""

    name = "nvvm.action"


@irdl_op_definition
class SetMaxRegisterOp(IRDLOperation):
    """`setmaxnreg`: from here on the warps of a warpgroup have `count` registers per thread.

    An increase waits until other warps of the CTA have given back enough.
    """

    name = "nvvm.setmaxregister"
    count = prop_def(IntegerAttr, prop_name="regCount")
    action = prop_def(RegisterActionAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, count: int, action: RegisterAction) -> None:
        super().__init__(
            properties={"regCount": IntegerAttr(count, i32), "action": RegisterActionAttr(action)}
        )

    def verify_(self) -> None:
        """24 to 256 registers, a multiple of 8."""
        n = self.count.value.data
        require(24 <= n <= 256 and n % 8 == 0, f"wanted a multiple of 8 from 24 to 256, found {n}")


@irdl_op_definition
class BulkCommitOp(IRDLOperation):
    """`cp.async.bulk.commit_group`: close the thread's group of bulk copies that complete by groups."""

    name = "nvvm.cp.async.bulk.commit.group"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class BulkWaitOp(IRDLOperation):
    """`cp.async.bulk.wait_group`: wait until at most `group` of the thread's latest groups are pending.

    With `read` only for their reads of the source, which may then be written again.
    """

    name = "nvvm.cp.async.bulk.wait_group"
    groups = prop_def(IntegerAttr, prop_name="group")
    read = opt_prop_def(UnitAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, groups: int, *, read: bool = False) -> None:
        super().__init__(
            properties={"group": IntegerAttr(groups, i32), "read": UnitAttr() if read else None}
        )


NVVM_SYNC_OPS: list[type[Operation]] = [
    BarrierOp,
    BarrierArriveOp,
    SyncWarpOp,
    ClusterArriveOp,
    ClusterArriveRelaxedOp,
    ClusterWaitOp,
    ClusterRankOp,
    FenceMbarrierInitOp,
    FenceProxyOp,
    SetMaxRegisterOp,
    BulkCommitOp,
    BulkWaitOp,
]
NVVM_SYNC_ATTRIBUTES: list[type[Attribute]] = [ProxyKindAttr, SharedSpaceAttr, RegisterActionAttr]
