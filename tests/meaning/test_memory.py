"""Boxes and points of global tensors: masked at every edge, over any strides."""

from __future__ import annotations

import itertools

import ml_dtypes
import numpy as np
import pytest

from phobos_nb import builtins
from phobos_nb.contract import ScalarParameter
from phobos_nb.dtypes import BF16, F32, I32, INDEX
from phobos_nb.language import typed
from phobos_nb.language.meaning import run
from phobos_nb.language.meaning.memory import Memory, Span
from phobos_nb.language.types import ScalarType, TileType
from tests.meaning.trees import (
    BLOCK,
    HERE,
    binary,
    element,
    execute,
    get,
    integer,
    kernel,
    let,
    real,
    store,
    tensor,
    variable,
)


def in_the_open(array: np.ndarray, box: list[Span], pad: float) -> np.ndarray:
    """The box element by element, in plain Python."""
    out = np.full([s.length for s in box], pad, array.dtype)
    for place in itertools.product(*(range(s.length) for s in box)):
        at = tuple(s.start + k for s, k in zip(box, place, strict=True))
        stops = [n if s.stop is None else min(n, s.stop) for s, n in zip(box, array.shape, strict=True)]
        if all(0 <= p < n for p, n in zip(at, stops, strict=True)):
            out[place] = array[at]
    return out


VIEWS = {
    "plain": np.arange(20, dtype=np.float32).reshape(4, 5),
    "transposed": np.arange(20, dtype=np.float32).reshape(5, 4).T,
    "backwards": np.arange(20, dtype=np.float32).reshape(4, 5)[::-1, ::-1],
    "repeated": np.broadcast_to(np.arange(5, dtype=np.float32), (4, 5)),
    "empty": np.zeros((0, 5), np.float32),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_box_reads_pad_outside_whatever_the_strides(view: str) -> None:
    """Every start from before to past the tensor, every stop: the box equals the plain loop."""
    array = VIEWS[view]
    for row, column, stop in itertools.product(range(-4, 6), range(-3, 7), (None, 2, 9)):
        box = [Span(row, 3), Span(column, 2, stop)]
        found = Memory("A", F32, array).read_box(box, -7)
        assert np.array_equal(found, in_the_open(array, box, -7)), (row, column, stop)


def test_a_box_writes_only_what_lies_inside() -> None:
    """Each start: the elements inside are set, the others and the neighbours are as they were."""
    for row, column in itertools.product(range(-4, 6), range(-3, 7)):
        whole = np.zeros((8, 9), np.float32)
        inner = whole[2:6, 2:7]
        Memory("A", F32, inner).write_box([Span(row, 3), Span(column, 2)], np.ones((3, 2)))
        expected = np.zeros_like(whole)
        for r, c in itertools.product(range(row, row + 3), range(column, column + 2)):
            if 0 <= r < 4 and 0 <= c < 5:
                expected[2 + r, 2 + c] = 1
        assert np.array_equal(whole, expected)


def test_points_never_count_from_the_end() -> None:
    """Index -1 and the extent read zero and are not written."""
    array = np.array([1, 2, 3], np.float32)
    memory = Memory("A", F32, array)
    places = np.array([-1, 0, 2, 3])
    assert memory.read((places,)).tolist() == [0, 1, 3, 0]
    memory.write((places,), np.full(4, 9, np.float32), None)
    assert array.tolist() == [9, 2, 9]


def region(base: typed.Tensor, *subscripts: typed.Subscript) -> typed.Region:
    return typed.Region(base, subscripts, HERE)


def read(box: typed.Region, pad: typed.Expr | None = None) -> typed.TileRead:
    return typed.TileRead(
        type=TileType(box.tensor.type.dtype, box.shape), span=HERE, region=box, pad=pad
    )


def test_a_point_drops_its_axis() -> None:
    """A[z, i :+ 2, :] of a rank-3 tensor is a rank-2 tile, read and stored."""
    a, b = tensor("A", ("Z", "M", 3)), tensor("B", ("Z", "M", 3))
    last = typed.Slice(integer(0), 3)
    rows = typed.Slice(binary("*", BLOCK, integer(2)), 2)
    box = [typed.Point(integer(1)), rows, last]
    body = (typed.StoreTile(span=HERE, region=region(b, *box), value=read(region(a, *box))),)
    x, y = np.random.default_rng(0).standard_normal((2, 2, 5, 3)).astype(np.float32)
    expected = y.copy()
    expected[1] = x[1]
    execute(kernel((a, b), body), grid=(3, 1, 1), A=x, B=y)
    assert np.array_equal(y, expected)


def test_a_view_reads_memory_at_each_use() -> None:
    """The subscript of a view is kept in a variable; the elements are those of the moment."""
    a, start = tensor("A", ("N",)), variable("start")
    box = region(a, typed.Slice(get(start), 2))
    twice = typed.StoreTile(span=HERE, region=box, value=binary("+", read(box), read(box)))
    array = np.array([1, 10, 100], np.float32)
    execute(kernel((a,), (let(start, integer(1)), twice, twice)), A=array)
    assert array.tolist() == [1, 40, 400]


def test_integer_division_of_filler_is_no_fault() -> None:
    """A partial tile divides zeros by zeros outside the tensor: nobody sees it, nothing raises."""
    a, b = tensor("A", ("N",), I32), tensor("B", ("N",), I32)
    slices = [region(t, typed.Slice(integer(0), 4)) for t in (a, b)]
    value = binary("/", read(slices[0]), read(slices[1]))
    body = (typed.StoreTile(span=HERE, region=slices[0], value=value),)
    x = np.array([7, -7, 9], np.int32)
    execute(kernel((a, b), body), A=x, B=np.array([2, 2, -4], np.int32))
    assert x.tolist() == [3, -3, -2]


def test_bf16_arrays_are_rounded_once() -> None:
    """A sum of bf16 elements is computed in f32 and rounded to nearest even."""
    a = tensor("A", ("N",), BF16)
    body = (store(a, integer(0), binary("+", element(a, integer(0)), element(a, integer(1)))),)
    array = np.array([1.0, 2.0**-8], ml_dtypes.bfloat16)
    execute(kernel((a,), body), A=array)
    assert array[0] == 1.0
    array = np.array([1.0, 2.0**-8 + 2.0**-15], ml_dtypes.bfloat16)
    execute(kernel((a,), body), A=array)
    assert array[0] == 1.0 + 2.0**-7


def test_chosen_ctas_run_in_the_given_order() -> None:
    """`ctas` picks blocks and their order; the others do not run."""
    a = tensor("A", ("N",))
    step = binary("+", binary("*", element(a, integer(0)), real(10.0)), as_f32(BLOCK))
    k = kernel((a,), (store(a, integer(0), step),))
    array = np.zeros(1, np.float32)
    run(k, {"A": array}, (5, 1, 1), [(3, 0, 0), (1, 0, 0), (4, 0, 0)], builtins=builtins.table())
    assert array[0] == 314


def as_f32(expr: typed.Expr) -> typed.Convert:
    return typed.Convert(type=ScalarType(F32), span=HERE, operand=expr)


def test_scalars_take_their_declared_type() -> None:
    """An f32 parameter holds 0.1 rounded to f32, an index expression stays 64 bits wide."""
    a = tensor("A", ("N",))
    s = typed.ScalarArgument(type=ScalarType(F32), span=HERE, name="s")
    array = np.zeros(2, np.float32)
    k = kernel((a,), (store(a, integer(0), s),), scalars=(ScalarParameter("s", "f32"),))
    execute(k, A=array, s=0.1)
    assert array[0] == np.float32(0.1)
    wide = binary("*", integer(2**20, INDEX), integer(2**20, INDEX))
    body = (store(a, integer(1), as_f32(binary("/", wide, integer(2**35)))),)
    execute(kernel((a,), body), A=array)
    assert array[1] == 32


def test_arrays_that_do_not_fit_the_signature_are_refused() -> None:
    """Another dtype, and extents of one symbol that disagree."""
    a, b = tensor("A", ("N",)), tensor("B", ("N",))
    with pytest.raises(ValueError, match="A: wanted f32, got float64"):
        execute(kernel((a,), ()), A=np.zeros(3))
    with pytest.raises(ValueError, match="B: axis 0 has extent 4, which is not N"):
        execute(kernel((a, b), ()), A=np.zeros(3, np.float32), B=np.zeros(4, np.float32))
