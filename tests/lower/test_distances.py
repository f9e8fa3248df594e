"""How far apart indices can be: in one pass, across iterations, between loops."""

import itertools

import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType
from xdsl.dialects.test import TestOp as Unknown
from xdsl.ir import Block, Region

from phobos_nb.ir.builder import Builder
from phobos_nb.lower.distances import Distances, distances, linear


def builder_and_values(count=2):
    """A builder at the end of a block, and index values that nothing is known of."""
    made = Unknown(result_types=[IndexType()] * count)
    block = Block([made])
    return Builder(block), list(made.results)


def loop(b, lower, step):
    """A loop from `lower` by a constant step, and a builder inside of it."""
    body = Block(arg_types=[IndexType()])
    made = scf.ForOp(lower, lower, b.index(step), [], Region(body))
    b.insert(made)
    return made, body.args[0], Builder(body)


def between(earlier, later, crossed=()):
    """The distances of two index values."""
    return distances(linear(earlier), linear(later), frozenset(crossed))


def test_sums_of_one_pass():
    """Equal parts fall out, what is left is a number; other values are not known."""
    b, (x, y) = builder_and_values()
    first = b.addi(b.muli(x, b.index(8)), y)
    assert between(first, b.addi(first, b.index(5))) == Distances(5)
    assert between(b.addi(y, b.muli(b.index(8), x)), first) == Distances(0)
    assert between(x, y) is None
    assert between(b.muli(x, y), b.muli(x, y)) is None


def test_iterations_of_a_loop():
    """Behind the loop's turn an index has moved by one step or more; others have not."""
    b, (x, _) = builder_and_values()
    made, i, inside = loop(b, x, 4)
    twice = inside.addi(inside.muli(i, inside.index(2)), x)
    assert between(i, i) == Distances(0)
    assert between(i, i, [made]) == Distances(4, 4)
    assert between(twice, inside.addi(twice, inside.index(1)), [made]) == Distances(9, 8)
    assert between(x, x, [made]) == Distances(0)
    assert (
        between(i, twice, [made]) == Distances(0, 4, both_ways=True) or between(i, twice, [made]) is None
    )


def test_an_inner_loop_begins_anew():
    """In the next iteration of the outer loop, the inner variable may be any number of steps away."""
    b, (x, _) = builder_and_values()
    outer, _, inside = loop(b, x, 4)
    inner, j, _ = loop(inside, x, 3)
    assert between(j, j, [outer]) == Distances(0, 3, both_ways=True)
    assert between(j, j, [outer, inner]) == Distances(0, 3, both_ways=True)
    assert between(j, j, [inner]) == Distances(3, 3)


def test_two_loops():
    """Variables of two loops with one start are a multiple of both steps' divisor apart."""
    b, (x, y) = builder_and_values()
    _, i, _ = loop(b, x, 4)
    _, j, _ = loop(b, x, 6)
    _, k, _ = loop(b, y, 6)
    assert between(i, j) == Distances(0, 2, both_ways=True)
    assert between(j, k) is None


def test_a_value_of_the_loop_is_another_one():
    """What is computed in a loop of something unknown is not known in the next iteration."""
    b, (x, _) = builder_and_values()
    made, _, inside = loop(b, x, 4)
    value = inside.insert(Unknown(result_types=[IndexType()])).results[0]
    assert between(value, value) == Distances(0)
    assert between(value, value, [made]) is None


@pytest.mark.parametrize("both_ways", [False, True])
def test_distances_within(both_ways):
    """Exactly those of the row that lie strictly between the ends."""
    for start, by, low, high in itertools.product(
        (-7, -1, 0, 3, 9), (-4, 0, 1, 5), (-8, -1, 0), (0, 1, 9)
    ):
        row = {start + n * by for n in range(-30 if both_ways else 0, 31)}
        found = Distances(start, by, both_ways=both_ways and by != 0).within(low, high)
        expected = row if by else {start}
        assert sorted(found) == sorted(d for d in expected if low < d < high), (start, by, low, high)
