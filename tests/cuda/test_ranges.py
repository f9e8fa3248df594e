"""Which integers need 64 bits."""

from __future__ import annotations

import random

import pytest

from phobos_nb.cuda.intervals import Interval
from phobos_nb.cuda.ranges import Ranges
from phobos_nb.cuda.reading import bounds

EXTENTS = "M = 2147483647 : i64, N = 2147483647 : i64, K = 2147483647 : i64"
SIZES = "%M: index, %N: index, %K: index"


def analyse(module):
    (function,) = [op for op in module.walk() if op.name == "gpu.func"]
    names = [a.name_hint for a in function.regions[0].block.args]
    assumes = bounds(function.attributes["phobos.assumes"])
    ranges = Ranges(function.regions[0], threads=128, names=names, assumes=assumes)
    named = {r.name_hint: r for op in function.walk() for r in op.results if r.name_hint}
    named |= {
        a.name_hint: a for op in function.walk() for g in op.regions for b in g.blocks for a in b.args
    }
    return ranges, named


def test_a_product_of_two_extents_is_wide_and_the_rest_is_not(module):
    """Rule of the emitter: 64 bits only for products of run-time values and what follows from them."""
    ranges, v = analyse(
        module(
            SIZES,
            """
            %c8 = arith.constant 8 : index
            %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
            %tiles = arith.divui %K, %c8 : index
            %lane = arith.remui %tid, %c8 : index
            %row = arith.muli %M, %N : index
            %place = arith.addi %row, %lane : index
            """,
            assumes=EXTENTS,
        )
    )
    assert {n: ranges.narrow(v[n]) for n in ("tid", "tiles", "lane", "row", "place")} == {
        "tid": True,
        "tiles": True,
        "lane": True,
        "row": False,
        "place": False,
    }


def test_an_argument_without_a_bound_is_wide(module):
    """Nothing is assumed that no launch check enforces."""
    ranges, v = analyse(
        module("%n: index", "%c1 = arith.constant 1 : index\n%m = arith.addi %n, %c1 : index")
    )
    assert not ranges.narrow(v["n"])
    assert not ranges.narrow(v["m"])


def test_a_bound_counts_to_the_unit(module):
    """An n + 1 with n up to 2^31 - 1 needs 64 bits, with n up to 2^31 - 2 it does not."""
    body = "%c1 = arith.constant 1 : index\n%m = arith.addi %n, %c1 : index"
    ranges, v = analyse(module("%n: index", body, assumes="n = 2147483647 : i64"))
    assert not ranges.narrow(v["m"])
    ranges, v = analyse(module("%n: index", body, assumes="n = 2147483646 : i64"))
    assert ranges.of(v["m"]) == Interval(1, 2147483647)


def test_the_grid_can_be_bounded(module):
    """`grid.x` in the assumptions bounds the block id, so that a tile's first row stays narrow."""
    body = """
        %c128 = arith.constant 128 : index
        %pid = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
        %m0 = arith.muli %pid, %c128 : index
        """
    ranges, v = analyse(module("", body))
    assert not ranges.narrow(v["m0"])
    ranges, v = analyse(module("", body, assumes="grid.x = 16777215 : i64"))
    assert ranges.of(v["m0"]) == Interval(0, 16777214 * 128)


RING = """
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %r = scf.for %k = %c0 to %K step %c1 iter_args(%stage = %c2) -> (index) {
      %next = arith.addi %stage, %c1 : index
      %wrap = arith.cmpi eq, %next, %c3 : index
      %turned = arith.select %wrap, %c0, %next : index
      scf.yield %turned : index
    }
    """


def test_a_ring_of_stages_stays_in_its_ring(module):
    """`stage + 1 == 3 ? 0 : stage + 1` from 2 is 0..2 for ever."""
    ranges, v = analyse(module(SIZES, RING, assumes=EXTENTS))
    assert ranges.of(v["stage"]) == Interval(0, 2)
    assert ranges.of(v["next"]) == Interval(1, 3)
    assert ranges.of(v["k"]) == Interval(0, 2147483646)


@pytest.mark.parametrize("step", [1, 7])
def test_a_running_sum_is_wide(module, step):
    """A carried value that grows each round is not proven to stay small."""
    body = f"""
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %cs = arith.constant {step} : index
        %r = scf.for %k = %c0 to %K step %c1 iter_args(%at = %c0) -> (index) {{
          %next = arith.addi %at, %cs : index
          scf.yield %next : index
        }}
        """
    ranges, v = analyse(module(SIZES, body, assumes=EXTENTS))
    assert not ranges.narrow(v["at"])
    assert not ranges.narrow(v["r"])


def test_a_while_loop_joins_every_round(module):
    """What goes round a `scf.while` is known only up to its type, what is chosen inside exactly."""
    body = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c5 = arith.constant 5 : index
        %r = "scf.while"(%c0) ({
        ^bb0(%i: index):
          %go = arith.cmpi slt, %i, %c5 : index
          "scf.condition"(%go, %i) : (i1, index) -> ()
        }, {
        ^bb1(%j: index):
          %next = arith.addi %j, %c1 : index
          %capped = arith.minsi %next, %c5 : index
          "scf.yield"(%capped) : (index) -> ()
        }) : (index) -> index
        """
    ranges, v = analyse(module("", body))
    assert ranges.of(v["i"]) == Interval(0, 5)
    assert ranges.of(v["r"]) == Interval(0, 5)


OPERATIONS = (
    "addi",
    "subi",
    "muli",
    "divui",
    "remui",
    "minui",
    "maxui",
    "minsi",
    "maxsi",
    "andi",
    "ori",
    "xori",
)


def _run(name: str, a: int, b: int) -> int:
    """One operation of `index` at 64 bits, read signed; None where it means nothing."""
    ua, ub = a % 2**64, b % 2**64
    value = {
        "addi": a + b,
        "subi": a - b,
        "muli": a * b,
        "divui": ua // ub if ub else 0,
        "remui": ua % ub if ub else 0,
        "minui": min(ua, ub),
        "maxui": max(ua, ub),
        "minsi": min(a, b),
        "maxsi": max(a, b),
        "andi": a & b,
        "ori": a | b,
        "xori": a ^ b,
    }[name]
    return (value + 2**63) % 2**64 - 2**63


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_stay_in_their_ranges(module, seed):
    """Thirty random operations on bounded arguments, tried on random values: never narrower than is."""
    rng = random.Random(seed)
    limits = {"a": rng.choice([1, 7, 1000]), "b": 2**31 - 1, "c": rng.choice([2**16, 2**40])}
    names, lines, steps = list(limits), [], []
    for k in range(30):
        op, x, y = rng.choice(OPERATIONS), rng.choice(names), rng.choice(names)
        lines.append(f"%t{k} = arith.{op} %{x}, %{y} : index")
        steps.append((f"t{k}", op, x, y))
        names.append(f"t{k}")
    assumes = ", ".join(f"{n} = {limit} : i64" for n, limit in limits.items())
    ranges, v = analyse(module("%a: index, %b: index, %c: index", "\n".join(lines), assumes=assumes))
    for _ in range(40):
        values = {n: rng.choice([0, 1, limit, rng.randint(0, limit)]) for n, limit in limits.items()}
        meaningful = True
        for name, op, x, y in steps:
            meaningful &= not (op in ("divui", "remui") and values[y] == 0)
            values[name] = _run(op, values[x], values[y])
            if not meaningful:
                break
            found = ranges.of(v[name])
            assert found.lo <= values[name] <= found.hi, (name, op, values)
