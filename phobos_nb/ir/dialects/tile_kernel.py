"""`tile.kernel`: the operation that holds one kernel at tile level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from phobos_nb.contract import Dim, TensorParameter
from phobos_nb.ir.dialects.shapes import require
from phobos_nb.ir.dialects.tile_types import GlobalType


def _integers(values: Mapping[str, int]) -> DictionaryAttr:
    return DictionaryAttr({k: IntegerAttr(v, i64) for k, v in values.items()})


def _tensor(parameter: TensorParameter) -> DictionaryAttr:
    dims = [IntegerAttr(d, i64) if isinstance(d, int) else StringAttr(d) for d in parameter.dims]
    return DictionaryAttr(
        {
            "name": StringAttr(parameter.name),
            "dtype": StringAttr(parameter.dtype),
            "dims": ArrayAttr(dims),
        }
    )


def tensor_name(tensor: SSAValue) -> str:
    """The name of a kernel's tensor; of another value its hint, which ends before a number (`X_1`)."""
    kernel = tensor.owner.parent_op() if isinstance(tensor, BlockArgument) else None
    if isinstance(kernel, KernelOp) and tensor in kernel.tensor_arguments:
        return kernel.tensor_name(kernel.tensor_arguments.index(tensor))
    return tensor.name_hint or ""


@irdl_op_definition
class KernelOp(IRDLOperation):
    """One kernel; its single block runs in every thread of a CTA and has no terminator.

    Block arguments: one `!tile.global` per tensor parameter, one `index` per symbol (its extent),
    then the scalars. `threads` run the body; `min_blocks` and `max_registers` are 0 when unset.
    `tensors` is a list of `{name, dtype, dims}`, a dim being an integer or a symbol's name;
    `symbols` and `scalars` are names in argument order. `constants` are the compile-time values,
    `promises` maps a symbol to the multiple that its extent is (`@aligned`).
    """

    name = "tile.kernel"
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$sym_name attr-dict-with-keyword $body"

    sym_name = prop_def(SymbolNameConstraint())
    threads = prop_def(IntegerAttr)
    min_blocks = prop_def(IntegerAttr)
    max_registers = prop_def(IntegerAttr)
    index_bits = prop_def(IntegerAttr)
    tensors = prop_def(ArrayAttr[DictionaryAttr])
    symbols = prop_def(ArrayAttr[StringAttr])
    scalars = prop_def(ArrayAttr[StringAttr])
    constants = prop_def(DictionaryAttr)
    promises = prop_def(DictionaryAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        tensors: Sequence[tuple[TensorParameter, Attribute]],
        scalars: Sequence[tuple[str, Attribute]],
        *,
        threads: int,
        min_blocks: int = 0,
        max_registers: int = 0,
        index_bits: int = 64,
        constants: Mapping[str, int] | None = None,
        promises: Mapping[str, int] | None = None,
    ) -> None:
        """Make an empty kernel from parameters with their MLIR element types."""
        symbols = dict.fromkeys(d for t, _ in tensors for d in t.dims if isinstance(d, str))
        types: list[Attribute] = [GlobalType(element, len(t.dims)) for t, element in tensors]
        types += [IndexType() for _ in symbols]
        types += [t for _, t in scalars]
        block = Block(arg_types=types)
        names = [*(t.name for t, _ in tensors), *symbols, *(s for s, _ in scalars)]
        for argument, hint in zip(block.args, names, strict=True):
            argument.name_hint = hint
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "threads": IntegerAttr(threads, i64),
                "min_blocks": IntegerAttr(min_blocks, i64),
                "max_registers": IntegerAttr(max_registers, i64),
                "index_bits": IntegerAttr(index_bits, i64),
                "tensors": ArrayAttr([_tensor(t) for t, _ in tensors]),
                "symbols": ArrayAttr([StringAttr(s) for s in symbols]),
                "scalars": ArrayAttr([StringAttr(s) for s, _ in scalars]),
                "constants": _integers(constants or {}),
                "promises": _integers(promises or {}),
            },
            regions=[Region(block)],
        )

    @property
    def tensor_arguments(self) -> tuple[BlockArgument, ...]:
        """The tensors, in source order."""
        return tuple(self.body.block.args[: len(self.tensors)])

    @property
    def symbol_arguments(self) -> dict[str, BlockArgument]:
        """The extents by symbol."""
        first = len(self.tensors)
        names = [s.data for s in self.symbols]
        return dict(zip(names, self.body.block.args[first : first + len(names)], strict=True))

    @property
    def scalar_arguments(self) -> dict[str, BlockArgument]:
        """The scalar parameters by name."""
        first = len(self.tensors) + len(self.symbols)
        return dict(zip([s.data for s in self.scalars], self.body.block.args[first:], strict=True))

    def tensor_name(self, tensor: int) -> str:
        """The name of the tensor with that argument index."""
        return cast(StringAttr, self.tensors.data[tensor].data["name"]).data

    def dims(self, tensor: int) -> tuple[Dim, ...]:
        """The dims of the tensor with that argument index: constants and symbols."""
        dims = cast("ArrayAttr[Attribute]", self.tensors.data[tensor].data["dims"])
        return tuple(
            d.data if isinstance(d, StringAttr) else cast("IntegerAttr[IntegerType]", d).value.data
            for d in dims
        )

    def constant_values(self) -> dict[str, int]:
        """The compile-time values by name."""
        return _values(self.constants)

    def promise_values(self) -> dict[str, int]:
        """The promised multiple of each symbol that has one."""
        return _values(self.promises)

    def verify_(self) -> None:
        """Arguments agree with the signature; the thread count is a legal one."""
        threads = self.threads.value.data
        require(
            0 < threads <= 1024 and threads % 32 == 0,
            f"threads: wanted a multiple of 32 up to 1024, found {threads}",
        )
        bits = self.index_bits.value.data
        require(bits in (32, 64), f"index_bits: wanted 32 or 64, found {bits}")
        wanted = len(self.tensors) + len(self.symbols) + len(self.scalars)
        arguments = self.body.block.args
        require(len(arguments) == wanted, f"wanted {wanted} block arguments, found {len(arguments)}")
        for i, argument in enumerate(self.tensor_arguments):
            self._verify_tensor(i, argument)
        for symbol, argument in self.symbol_arguments.items():
            require(
                isinstance(argument.type, IndexType),
                f"extent {symbol}: wanted index, found {argument.type}",
            )

    def _verify_tensor(self, tensor: int, argument: BlockArgument) -> None:
        name, dims = self.tensor_name(tensor), self.dims(tensor)
        if not isinstance(argument.type, GlobalType):
            raise VerifyException(f"tensor {name}: wanted a !tile.global, found {argument.type}")
        rank = argument.type.rank.data
        require(rank == len(dims), f"tensor {name}: wanted rank {len(dims)}, found {rank}")
        unknown = [d for d in dims if isinstance(d, str) and StringAttr(d) not in self.symbols.data]
        require(not unknown, f"tensor {name}: {', '.join(map(str, unknown))} is not among the symbols")


def _values(attribute: DictionaryAttr) -> dict[str, int]:
    return {k: cast("IntegerAttr[IntegerType]", v).value.data for k, v in attribute.data.items()}
