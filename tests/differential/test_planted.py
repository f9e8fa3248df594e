"""Lowering bugs, planted one by one into thread MLIR: the differential suite finds every one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

import phobos_nb as ph
from phobos_nb.compilation import stages
from phobos_nb.contract import Variant
from tests.examples.case import Constants
from tests.examples_cases import CASES, ExampleCase

Bug = Callable[[ModuleOp], None]
LESS, NOT_GREATER = 6, 7
"""`arith.cmpi` predicates ult and ule."""


def all_of(module: ModuleOp, name: str) -> list[Any]:
    return [op for op in module.walk() if op.name == name]


def arguments(module: ModuleOp) -> dict[str, SSAValue]:
    """The entry's arguments by name."""
    (function,) = all_of(module, "gpu.func")
    return {v.name_hint or "": v for v in function.body.block.args}


def exchange(one: SSAValue, other: SSAValue) -> None:
    """Let all uses of each value take the other."""
    uses = [(u.operation, u.index, other) for u in one.uses]
    uses += [(u.operation, u.index, one) for u in other.uses]
    for operation, index, value in uses:
        operation.operands[index] = value


def drop_barrier(number: int) -> Bug:
    def bug(module: ModuleOp) -> None:
        all_of(module, "gpu.barrier")[number].detach()

    return bug


def one_too_many(symbol: str) -> Bug:
    """The mask of an extent lets the position after the last one through."""

    def bug(module: ModuleOp) -> None:
        for op in all_of(module, "arith.cmpi"):
            if op.rhs is arguments(module)[symbol] and op.predicate.value.data == LESS:
                op.predicate = IntegerAttr(NOT_GREATER, op.predicate.type)

    return bug


def half_a_mask(module: ModuleOp) -> None:
    """Wherever two axes are masked, the second one is forgotten."""
    for op in all_of(module, "arith.andi"):
        op.result.replace_all_uses_with(op.lhs)


def exchanged(one: str, other: str) -> Bug:
    def bug(module: ModuleOp) -> None:
        exchange(arguments(module)[one], arguments(module)[other])

    return bug


def starts_late(module: ModuleOp) -> None:
    """The k loop begins at its second slice."""
    (loop,) = all_of(module, "scf.for")
    loop.operands[0] = loop.step


def starts_at_one(module: ModuleOp) -> None:
    """The accumulator starts at 1 instead of 0."""
    (loop,) = all_of(module, "scf.for")
    sums = all_of(module, "vector.outerproduct")[0].result.type
    number = [v.type for v in loop.iter_args].index(sums)
    start = loop.iter_args[number].owner
    one = arith.ConstantOp(type(start.value).from_list(start.value.type, [1.0]))
    loop.parent.insert_op_before(one, loop)
    loop.operands[3 + number] = one.result


def reads_one_row_twice(module: ModuleOp) -> None:
    """The second step of the inner product takes the first row of B's slice again."""
    rows = [op for op in all_of(module, "vector.load") if op.result.type.get_shape() == (1,)]
    rows[1].operands[1] = rows[0].operands[1]


def same_block(module: ModuleOp) -> None:
    """Both block ids are x."""
    first, second = all_of(module, "gpu.block_id")[:2]
    second.result.replace_all_uses_with(first.result)


def forgets_the_sum(module: ModuleOp) -> None:
    """The last product of a slice is added to the accumulator of the slice before."""
    products = all_of(module, "vector.outerproduct")
    products[-1].operands[2] = products[0].operands[2]


def incomplete_shuffle(module: ModuleOp) -> None:
    """A reduction over lanes repeats one step and leaves another out."""
    offsets = list(dict.fromkeys(op.operands[1] for op in all_of(module, "gpu.shuffle")))
    offsets[1].replace_all_uses_with(offsets[0])


def no_pad(module: ModuleOp) -> None:
    """Zero instead of minus infinity outside the tensor."""
    for op in all_of(module, "arith.constant"):
        fills = [u for u in op.result.uses if u.operation.name in ("scf.yield", "vector.maskedload")]
        if not isinstance(op.value, FloatAttr) or op.value.value.data != -np.inf or not fills:
            continue
        zero = arith.ConstantOp(FloatAttr(0.0, op.result.type))
        op.parent.insert_op_before(zero, op)
        for use in fills:
            use.operation.operands[use.index] = zero.result


def smallest(module: ModuleOp) -> None:
    """The running maximum is a minimum."""
    for op in all_of(module, "arith.maximumf"):
        least = arith.MinimumfOp(op.lhs, op.rhs)
        op.parent.insert_op_before(least, op)
        op.result.replace_all_uses_with(least.result)


def wrong_store(module: ModuleOp) -> None:
    """Every element but the first of a thread is stored at the address of the first."""
    stores = [op for op in all_of(module, "memref.store") if isinstance(op, memref.StoreOp)][-4:]
    for op in stores[1:]:
        op.operands[2] = stores[0].operands[2]


def skips_the_tail(module: ModuleOp) -> None:
    """The k loop runs over whole slices only."""
    (slices,) = all_of(module, "arith.ceildivui")
    Rewriter.replace_op(slices, arith.DivUIOp(*slices.operands))


BUGS: dict[str, tuple[str, Bug]] = {
    "barrier before a slice is overwritten": ("gemm_fp32_any", drop_barrier(0)),
    "barrier before a slice is read": ("gemm_fp32_any", drop_barrier(1)),
    "barrier of the transpose": ("transpose", drop_barrier(0)),
    "mask of M one too wide": ("gemm_fp32_any", one_too_many("M")),
    "mask of N one too wide": ("gemm_fp32_any", one_too_many("N")),
    "mask of K one too wide": ("gemm_fp32_any", one_too_many("K")),
    "second mask forgotten": ("gemm_fp32_any", half_a_mask),
    "alpha and beta exchanged": ("gemm_fp32_any", exchanged("alpha", "beta")),
    "strides exchanged": ("gemm_fp32_any", exchanged("A_stride0", "B_stride0")),
    "loop starts late": ("gemm_fp32_any", starts_late),
    "loop skips the tail": ("gemm_fp32_any", skips_the_tail),
    "accumulator starts at one": ("gemm_fp32_any", starts_at_one),
    "one row read twice": ("gemm_fp32_any", reads_one_row_twice),
    "products forgotten": ("gemm_fp32_any", forgets_the_sum),
    "block ids confused": ("gemm_fp32_any", same_block),
    "elements stored at one address": ("gemm_fp32_any", wrong_store),
    "shuffle step missing": ("softmax", incomplete_shuffle),
    "pad lost": ("softmax", no_pad),
    "maximum is a minimum": ("flash_attention_fp32", smallest),
    "extents exchanged": ("transpose", exchanged("M", "N")),
}


def compiled(case: ExampleCase, constants: Constants) -> ph.Compilation:
    """For arrays of unit stride at any address."""
    kernel = getattr(ph.load(case.path), case.kernel)
    return kernel.compile_variant(Variant(aligned=False), **constants)


def found(example: str, bug: Bug) -> bool:
    """Whether some shape of the case's first configuration shows a wrong result, fault or race."""
    case = CASES[example]
    constants = case.configurations[0]
    compilation = compiled(case, constants)
    module = compilation.thread_module.clone()
    bug(module)
    for shape in case.shapes(constants):
        before = case.arrays(shape, np.random.default_rng(3))
        grid = compilation.contract.grid.shape(shape)
        result = stages.simulate(module, compilation.contract, before, grid)
        wrong = max(case.excess(before, {**before, **result.outputs}).values()) > 0
        if wrong or result.faults or result.races:
            return True
    return False


@pytest.mark.parametrize("name", BUGS)
def test_a_planted_bug_is_found(name: str) -> None:
    """The shapes of a case are wide enough: a result is wrong, or a fault or race is reported."""
    assert found(*BUGS[name])


@pytest.mark.parametrize("example", sorted({example for example, _ in BUGS.values()}))
def test_nothing_is_found_where_nothing_is_planted(example: str) -> None:
    """The same search on the unchanged module comes up empty."""
    assert not found(example, lambda module: None)


def test_a_bug_changes_the_module() -> None:
    """Each planting edits what it names, so that no test passes by planting nothing."""
    for name, (example, bug) in BUGS.items():
        case = CASES[example]
        module: Operation = compiled(case, case.configurations[0]).thread_module.clone()
        before = str(module)
        bug(module)
        module.verify()
        assert str(module) != before, name
