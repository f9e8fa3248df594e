"""The thread-level module around a kernel: arguments, attributes, the check of promises at entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from phobos_nb.contract import EntryArgument, Variant
from phobos_nb.ir.dialects import gpu
from phobos_nb.ir.dialects.llvm import TrapOp
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.dialects.tile_types import GlobalType
from phobos_nb.lower import shared_memory
from phobos_nb.lower.assumptions import argument_name
from phobos_nb.lower.drop_masks import EntryChecks
from phobos_nb.lower.thread_builder import ThreadBuilder, flat_memref
from phobos_nb.lower.thread_state import Tensor

Named = dict[tuple[str, str, int], SSAValue]


def function_for(
    kernel: KernelOp, arguments: Sequence[EntryArgument], scratch: Mapping[str, Attribute]
) -> tuple[gpu.FuncOp, Named]:
    """An empty function with the entry's arguments, and these by (kind, name, axis).

    scratch: element types of tensors that the signature of the kernel has not.
    """
    elements = dict(scratch) | {
        kernel.tensor_name(i): cast(GlobalType, t.type).element_type
        for i, t in enumerate(kernel.tensor_arguments)
    }
    scalars = {name: v.type for name, v in kernel.scalar_arguments.items()}
    types = [_type(a, elements, scalars) for a in arguments]
    function = gpu.FuncOp(kernel.sym_name.data, types)
    function.location = kernel.location
    named: Named = {}
    for argument, value in zip(arguments, function.body.blocks[0].args, strict=True):
        value.name_hint = argument_name(argument)
        named[argument.kind, argument.name, argument.axis] = value
    return function, named


def _type(
    argument: EntryArgument, elements: Mapping[str, Attribute], scalars: Mapping[str, Attribute]
) -> Attribute:
    if argument.kind == "pointer":
        return flat_memref(elements[argument.name])
    return scalars[argument.name] if argument.kind == "scalar" else IndexType()


def bind(kernel: KernelOp, named: Named, b: ThreadBuilder) -> dict[SSAValue, Tensor]:
    """The tensors of a kernel at thread level, from the entry's arguments."""
    tensors: dict[SSAValue, Tensor] = {}
    for number, value in enumerate(kernel.tensor_arguments):
        name, dims = kernel.tensor_name(number), kernel.dims(number)
        strides = [named.get(("stride", name, a)) or b.index(1) for a in range(len(dims))]
        extents = [b.index(d) if isinstance(d, int) else named["extent", d, -1] for d in dims]
        tensors[value] = Tensor(named["pointer", name, -1], tuple(strides), tuple(extents), dims)
    return tensors


def emit_checks(checks: EntryChecks, named: Named, blocks: Sequence[SSAValue], b: ThreadBuilder) -> None:
    """Trap where an extent is not as promised, or a block lies outside what was proven."""
    broken: SSAValue | None = None
    for symbol, multiple in checks.multiples:
        rest = b.remui(named["extent", symbol, -1], b.index(multiple))
        broken = _either(b, broken, b.cmpi("ne", rest, b.index(0)))
    for symbol, most in checks.most:
        above = b.cmpi("ugt", named["extent", symbol, -1], b.index(most))
        broken = _either(b, broken, above)
    for bound in checks.blocks:
        first = b.muli(blocks[bound.axis], b.index(bound.step))
        outside = b.cmpi("uge", first, named["extent", bound.extent, -1])
        broken = _either(b, broken, outside)
    if broken is not None:
        b.when(broken, lambda: _trap(b))


def _trap(b: ThreadBuilder) -> None:
    b.insert(TrapOp())


def _either(b: ThreadBuilder, a: SSAValue | None, c: SSAValue) -> SSAValue:
    return c if a is None else b.ori(a, c)


def set_attributes(
    function: gpu.FuncOp,
    kernel: KernelOp,
    variant: Variant,
    shared_bytes: int,
    assumes: Mapping[str, int],
) -> None:
    """The discardable attributes of the entry, see docs/architecture.md."""
    numbers = {
        "phobos.threads": kernel.threads.value.data,
        "phobos.min_blocks": kernel.min_blocks.value.data,
        "phobos.max_registers": kernel.max_registers.value.data,
        "phobos.shared_bytes": shared_bytes,
        "phobos.index_bits": variant.index_bits,
    }
    function.attributes.update({k: IntegerAttr(v, i64) for k, v in numbers.items()})
    bounds = DictionaryAttr({k: IntegerAttr(v, i64) for k, v in assumes.items()})
    function.attributes["phobos.assumes"] = bounds


def module_around(function: gpu.FuncOp, shared_bytes: int) -> ModuleOp:
    """The module with one `gpu.module` that holds the function and its static shared array."""
    ops: list[Operation] = [function]
    if shared_bytes and not shared_memory.is_dynamic(shared_bytes):
        ops.insert(0, shared_memory.declaration(shared_bytes))
    inner = gpu.ModuleOp.build(
        properties={"sym_name": StringAttr("kernels")}, regions=[Region(Block(ops))]
    )
    return ModuleOp([inner], {"gpu.container_module": UnitAttr()})
