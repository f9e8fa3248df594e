"""The dialect `tile`: text of every operation reads back, and wrong ones say what is wrong."""

import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32, i8, i32
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.utils.exceptions import ParseError, VerifyException

from phobos_nb.contract import TensorParameter
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import tile
from phobos_nb.ir.text import custom, generic, parse

ADD, MAX = CombiningKindFlag.ADD, CombiningKindFlag.MAXIMUMF
LAYOUT = tile.LayoutAttr(
    (
        tile.AxisLayout((tile.Digit(8, 4, 4), tile.Digit(32, 2, 16)), (0, 1, -2)),
        tile.AxisLayout((), (0, 8)),
    )
)


def kernel():
    """A kernel over A: f32[M, 16] and T: i32[M] with a scalar."""
    return tile.KernelOp(
        "k",
        [(TensorParameter("A", "f32", ("M", 16)), f32), (TensorParameter("T", "i32", ("M",)), i32)],
        [("alpha", f32)],
        threads=64,
        constants={"TILE": 32},
        promises={"M": 16},
    )


def every_operation():
    """A kernel that holds each operation of the dialect at least once."""
    op = kernel()
    b = Builder(op.body.block)
    a, table = op.tensor_arguments
    m, alpha = op.symbol_arguments["M"], op.scalar_arguments["alpha"]
    box = TensorType(f32, [32, 16])
    x = b.value(tile.LoadOp(a, [m, m], box, [0, 1]))
    row = b.value(
        tile.LoadOp(a, [m, m], TensorType(f32, [16]), [1], pad=alpha, stops=[m], stop_axes=[1])
    )
    zero = b.value(tile.SplatOp(alpha, [32, 32]))
    product = b.value(tile.DotOp(x, x, zero, transpose_b=True))
    b.insert(tile.StoreOp(x, a, [m, m], [0, 1], mask=[True, False], stops=[m], stop_axes=[0]))
    b.insert(tile.BroadcastOp(row, [32, 16]))
    b.insert(tile.CoordinateOp(1, [1, 8]))
    b.insert(tile.ReduceOp(MAX, product, 1))
    position = b.value(tile.ArgmaxOp(product, 1))
    b.insert(tile.ScanOp(ADD, product, 0))
    b.insert(tile.TransposeOp(x))
    b.insert(tile.ReshapeOp(x, [512]))
    b.insert(tile.ConvertOp(x, TensorType(f32, [32, 16], LAYOUT)))
    b.insert(tile.GatherOp(table, position))
    element = b.value(tile.LoadElementOp(a, [m, m]))
    b.insert(tile.StoreElementOp(element, a, [m, m], once=True))
    shared = b.value(tile.AllocSharedOp("s", tile.shared_type(f32, [4, 4])))
    b.insert(tile.StoreSharedOp(b.value(tile.LoadSharedOp(shared, [m, m])), shared, [m, m]))
    b.insert(tile.AtomicOp(ADD, element, a, [m, m]))
    b.insert(tile.AtomicOp(ADD, x, a, [m, m]))
    number = b.value(tile.LoadElementOp(table, [m]))
    b.insert(tile.AtomicCasOp(number, number, table, [m]))
    b.insert(tile.BlockReduceOp(ADD, alpha))
    b.insert(tile.PrintOp("{} of {{}}", [alpha], once=True))
    b.insert(tile.PrintOp("nothing", []))
    b.insert(tile.AssertOp(b.cmpi("ult", m, m), "{} fits", [m]))
    return ModuleOp([op])


def test_every_operation_is_tried():
    """The kernel that the other tests print covers the dialect."""
    assert {op.name for op in every_operation().walk()} >= {op.name for op in tile.Tile.operations}


@pytest.mark.parametrize("form", [custom, generic])
def test_text_reads_back(form):
    """Both printed forms of every operation parse to the same module, and it verifies."""
    module = every_operation()
    module.verify()
    again = parse(form(module))
    again.verify()
    assert module.is_structurally_equivalent(again)


def test_a_layout_places_a_thread():
    """The base of an axis is the sum of the scaled digits of the thread id."""
    rows, columns = LAYOUT.data
    assert rows.base(8 * 3 + 5) == 12
    assert rows.base(32 + 8) == 20
    assert columns.base(63) == 0


def test_a_malformed_digit_is_refused():
    """A digit of a layout has three numbers."""
    with pytest.raises(ParseError, match="a digit is"):
        parse('"tile.print"() <{text = "", x = #tile.layout<[(1, 2)] + [0]>}> : () -> ()')


def inside(build):
    op = kernel()
    b = Builder(op.body.block)
    a, table = op.tensor_arguments
    x = b.value(tile.SplatOp(op.scalar_arguments["alpha"], [32, 16]))
    b.insert(build(a, table, op.symbol_arguments["M"], x, op.scalar_arguments["alpha"]))
    return op


WRONG = {
    "an index too few": (
        lambda a, t, m, x, s: tile.LoadOp(a, [m], TensorType(f32, [8]), [1]),
        "wanted 2 indices, one per axis of the tensor, found 1",
    ),
    "a mask too short": (
        lambda a, t, m, x, s: tile.LoadOp(a, [m, m], TensorType(f32, [8]), [1], mask=[True]),
        "mask: wanted 2 flags, one per axis of the tensor, found 1",
    ),
    "axes out of order": (
        lambda a, t, m, x, s: tile.LoadOp(a, [m, m], TensorType(f32, [8, 8]), [1, 0]),
        "axes: wanted ascending axes of a rank 2 tensor, found [1, 0]",
    ),
    "a tile of another rank": (
        lambda a, t, m, x, s: tile.StoreOp(x, a, [m, m], [1]),
        "wanted a tile of rank 1, the number of sliced axes, found shape [32, 16]",
    ),
    "a stop on a point": (
        lambda a, t, m, x, s: tile.LoadOp(
            a, [m, m], TensorType(f32, [8]), [1], stops=[m], stop_axes=[0]
        ),
        "stop_axes: [0] are not among the sliced axes",
    ),
    "another element type": (
        lambda a, t, m, x, s: tile.LoadOp(a, [m, m], TensorType(f16, [8]), [1]),
        "tile: wanted elements of type f32, found f16",
    ),
    "a product of unlike depths": (
        lambda a, t, m, x, s: tile.DotOp(x, x, x),
        "wanted one inner extent, found 16 and 32",
    ),
    "an accumulator of another shape": (
        lambda a, t, m, x, s: tile.DotOp(x, x, x, transpose_b=True),
        "accumulator: wanted shape [32, 32], found [32, 16]",
    ),
    "an integer maximum of floats": (
        lambda a, t, m, x, s: tile.ReduceOp(CombiningKindFlag.MAXSI, x, 0),
        "kind maxsi: wanted add, maximumf or minimumf for f32",
    ),
    "an axis that is not there": (
        lambda a, t, m, x, s: tile.ScanOp(ADD, x, 2),
        "axis: wanted 0 to 1, found 2",
    ),
    "a stretch that NumPy refuses": (
        lambda a, t, m, x, s: tile.BroadcastOp(x, [64, 16]),
        "shape [32, 16] does not stretch to [64, 16]",
    ),
    "elements lost by a reshape": (
        lambda a, t, m, x, s: tile.ReshapeOp(x, [100]),
        "result: wanted 512 elements, found 100",
    ),
    "a gather of a matrix": (
        lambda a, t, m, x, s: tile.GatherOp(a, x),
        "table: wanted rank 1, found rank 2",
    ),
    "an atomic of another type": (
        lambda a, t, m, x, s: tile.AtomicOp(ADD, s, t, [m]),
        "value: wanted elements of type i32, found f32",
    ),
    "a hole without a value": (
        lambda a, t, m, x, s: tile.PrintOp("{} {}", [s]),
        "wanted 2 arguments, one per {} of the text, found 1",
    ),
    "a shared array in global memory": (
        lambda a, t, m, x, s: tile.AllocSharedOp("s", memref_of(i8)),
        "s: wanted memory space #gpu.address_space<workgroup>, found none",
    ),
}


def memref_of(element):
    from xdsl.dialects.builtin import MemRefType

    return MemRefType(element, [4])


@pytest.mark.parametrize("name", WRONG)
def test_wrong_operations_say_what_is_wrong(name):
    """The verifier names what it wanted and what it found."""
    build, message = WRONG[name]
    op = inside(build)
    with pytest.raises(VerifyException) as caught:
        op.verify()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"threads": 48}, "threads: wanted a multiple of 32 up to 1024, found 48"),
        ({"threads": 64, "index_bits": 16}, "index_bits: wanted 32 or 64, found 16"),
    ],
)
def test_wrong_kernels_say_what_is_wrong(change, message):
    """A kernel's own numbers are checked."""
    op = tile.KernelOp("k", [], [], **change)
    with pytest.raises(VerifyException) as caught:
        op.verify()
    assert message in str(caught.value)
