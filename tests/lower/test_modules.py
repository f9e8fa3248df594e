"""Lowered modules are valid thread MLIR, small, and masked exactly where nothing is proven."""

import shutil
import subprocess

import pytest
from xdsl.dialects.builtin import f16, f64, i8, i32

from phobos_nb.contract import GridRule, GridTerm, Variant
from phobos_nb.ir import text
from phobos_nb.lower.pipeline import KernelFacts, Lowered, lower
from phobos_nb.options import CompileOptions
from phobos_nb.target import get
from tests.lower.kernels import gemm, saxpy


def covered(*terms: tuple[str, int]) -> GridRule:
    """The grid that stores of so many elements of these extents ask for."""
    axes = [(GridTerm(extent, step),) for extent, step in terms]
    first, second, third = (*axes, (), (), ())[:3]
    return GridRule((first, second, third))


def lowered(kernel, variant=None, grid=None, **options) -> Lowered:
    kernel.module.verify()
    facts = KernelFacts(kernel.parameters, grid=grid or KernelFacts(()).grid)
    result = lower(kernel.module, facts, get("sm_80"), variant or Variant(), CompileOptions(**options))
    result.module.verify()
    printed = text.generic(result.module)
    assert text.generic(text.parse(printed)) == printed
    tool = shutil.which("mlir-opt-22") or shutil.which("mlir-opt")
    if tool:
        checked = subprocess.run([tool], input=printed, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
    return result


def names(result: Lowered) -> list[str]:
    return [op.name for op in result.module.walk()]


@pytest.mark.parametrize(("threads", "tile"), [(32, 1024), (96, 48), (64, 48), (256, 1), (128, 513)])
@pytest.mark.parametrize("variant", [Variant(), Variant(aligned=False), Variant(False, False)])
def test_saxpy_any_shape_and_variant(threads, tile, variant):
    """Any tile extent on any thread count lowers for every variant."""
    assert "llvm.intr.trap" not in names(lowered(saxpy(threads, tile), variant))


def test_promise_drops_masks_and_traps():
    """With N a multiple of the tile loads are plain 16-byte ones, and the entry checks the promise."""
    found = names(lowered(saxpy(promises={"N": 1024}), grid=covered(("N", 1024))))
    assert found.count("vector.load") == 2
    assert "vector.maskedload" not in found
    assert "llvm.intr.trap" in found
    masked = names(lowered(saxpy(promises={"N": 512}), grid=covered(("N", 1024))))
    assert "vector.load" not in masked
    assert "llvm.intr.trap" not in masked


def test_masks_stay_where_the_grid_does_not_follow_the_promise():
    """Blocks may lie past the promised extent: no plain loads, no trap."""
    for grid in (None, covered(("L", 1024))):
        found = names(lowered(saxpy(promises={"N": 1024}), grid=grid))
        assert "vector.load" not in found
        assert "llvm.intr.trap" not in found


@pytest.mark.parametrize(
    ("shape", "threads"), [((64, 64, 8), 256), ((5, 7, 3), 64), ((48, 96, 24), 96), ((1, 1, 1), 32)]
)
@pytest.mark.parametrize("transpose_b", [False, True])
def test_gemm_shapes(shape, threads, transpose_b):
    """Any tile of any thread count lowers, without stages with two barriers a k-slice."""
    result = lowered(gemm(shape, threads, transpose_b=transpose_b), constants={"STAGES": 1, "DIRECT": 0})
    assert [b.kept for b in result.barriers] == [True, True]
    assert "line 8" in result.barriers[0].reason
    assert "next iteration" in result.barriers[0].reason


@pytest.mark.parametrize(("element", "name"), [(f16, "f16"), (f64, "f64"), (i8, "i8"), (i32, "i32")])
def test_gemm_operand_types(element, name):
    """Operands of other types are staged as they are and widened in registers."""
    sums = {"f64": f64, "i8": i32, "i32": i32}.get(name)
    kernel = gemm((32, 32, 8), 64, element=element, name=name, sums=sums)
    assert "vector.outerproduct" in names(lowered(kernel))


def test_gemm_size_of_the_ir():
    """The 128 x 256 x 8 GEMM is a few hundred ops, and a second k-slice in an iteration adds fewer
    ops than the first took; a 256 x 256 tile on 512 threads stays in the low thousands.
    """

    def ops(**constants: int) -> int:
        kernel = gemm((128, 256, 8), promises={"M": 128, "N": 256, "K": 8})
        return len(names(lowered(kernel, grid=covered(("N", 256), ("M", 128)), constants=constants)))

    assert ops(SLICES=1) < 450
    assert ops(SLICES=2) < 450 + 300
    assert len(names(lowered(gemm((256, 256, 64), 512, promises=None)))) < 3000


def test_dropped_barrier_is_gone():
    """`drop_barrier` leaves out exactly the numbered barrier and says so."""
    kept = lowered(gemm(), constants={"STAGES": 1})
    dropped = lowered(gemm(), drop_barrier=2, constants={"STAGES": 1})
    assert names(kept).count("gpu.barrier") == 2
    assert names(dropped).count("gpu.barrier") == 1
    assert [b.kept for b in dropped.barriers] == [True, False]


def test_plan_overrides_reach_the_code():
    """THREAD_M = 8 on 64 x 64 gives outer products with 8 rows."""
    module = lowered(gemm(), constants={"THREAD_M": 8}).module
    products = [op for op in module.walk() if op.name == "vector.outerproduct"]
    assert {op.result.type.get_shape()[0] for op in products} == {8}
