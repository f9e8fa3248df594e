"""Truth tables of races: every kind of pair of accesses, ordered by a barrier and not."""

import itertools
import re

import numpy as np
import pytest

from phobos_nb.diagnostics import PhobosError

TENSORS = [("a", "f32", False), ("out", "f32", True)]
PRELUDE = """
  %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c63 = arith.constant 63 : index
  %one = arith.constant 1.0 : f32
  %s = memref.view %smem[%c0][] : memref<256xi8, S> to memref<64xf32, S>
  %o = arith.subi %c63, %t : index
  %fl = arith.index_cast %t : index to i32
  %f = arith.sitofp %fl : i32 to f32
"""
FIRST = {
    "store": "memref.store %f, %s[%t] : memref<64xf32, S>",
    "load": "%x = memref.load %s[%t] : memref<64xf32, S>",
    "copy": """
  %k1 = "nvgpu.device_async_copy"(%s, %t, %a, %t)
    <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}>
    : (memref<64xf32, S>, index, memref<?xf32>, index) -> !nvgpu.device.async.token
  %g1 = "nvgpu.device_async_create_group"(%k1) : (!nvgpu.device.async.token) -> !nvgpu.device.async.token
  "nvgpu.device_async_wait"(%g1) <{numGroups = 0 : i32}> : (!nvgpu.device.async.token) -> ()""",
    "atomic": """%w = "memref.atomic_rmw"(%one, %s, %t) <{kind = 0 : i64}>
    : (f32, memref<64xf32, S>, index) -> f32""",
}
SECOND = {
    kind: text.replace("[%t]", "[%o]").replace("(%s, %t,", "(%s, %o,").replace("%s, %t)", "%s, %o)")
    for kind, text in FIRST.items()
}
SECOND = {
    kind: text.replace("%x =", "%y =")
    .replace("%w =", "%z =")
    .replace("%k1", "%k2")
    .replace("%g1", "%g2")
    for kind, text in SECOND.items()
}
PAIRS = list(itertools.product(FIRST, SECOND))
FILL = 'memref.store %one, %s[%t] : memref<64xf32, S>\n  "gpu.barrier"() : () -> ()\n'
BARRIER = '"gpu.barrier"() : () -> ()\n'


def run(make, first, second, between, seed=0):
    k = make(PRELUDE + FILL + first + "\n" + between + second + "\n" + BARRIER, TENSORS, shared=256)
    a = np.arange(64, dtype=np.float32)
    return k.run(a=a, out=np.zeros(64, np.float32), seed=seed)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_pair(make, first, second, seed):
    """Two accesses of different threads to one word race unless both read or both are atomic."""
    result = run(make, FIRST[first], SECOND[second], "", seed)
    harmless = first == second and first in ("load", "atomic")
    assert bool(result.races) == (not harmless)
    assert result.faults == []
    for race in result.races:
        assert race.tensor == "shared"
        assert race.first_thread != race.second_thread
        assert 0 <= race.element[0] < 256
        assert race.element[0] % 4 == 0


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_every_pair_with_a_barrier(make, first, second, seed):
    """A barrier between them orders every pair."""
    assert run(make, FIRST[first], SECOND[second], BARRIER, seed).clean


@pytest.mark.parametrize("second", FIRST)
def test_a_thread_does_not_race_with_itself(make, second):
    """Program order is enough within one thread, an awaited copy included."""
    text = re.sub(r"%o\b", "%t", SECOND[second])
    for first in FIRST.values():
        assert run(make, first, text, "").clean


def test_a_copy_in_flight(make):
    """Until the wait, the bytes belong to the copy even for the thread that started it."""
    issued = FIRST["copy"].rsplit('"nvgpu.device_async_wait"', 1)[0]
    result = run(make, issued, re.sub(r"%o\b", "%t", SECOND["load"]), "")
    assert [r.kind for r in result.races] == ["copy in flight"]


def test_one_value_by_many_threads_is_no_race(make):
    """Threads that write the same value to one place agree; different values are reported."""
    agree = "memref.store %one, %s[%c0] : memref<64xf32, S>"
    differ = "memref.store %f, %s[%c0] : memref<64xf32, S>"
    assert run(make, agree, "", "").clean
    (race,) = run(make, differ, "", "").races
    assert race.kind == "write after write"
    assert race.element == (0,)


def test_lines_of_both_sides(make):
    """A race names the source lines of both accesses."""
    first = FIRST["store"] + ' loc("cell":3:5)'
    second = SECOND["load"] + ' loc("cell":7:9)'
    (race,) = run(make, first, second, "").races
    assert (race.first.line, race.first.column) == (3, 5)
    assert (race.second.line, race.second.column) == (7, 9)
    assert "line 3:5" in str(race)
    assert "line 7:9" in str(race)


GLOBAL = """
  %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c64 = arith.constant 64 : index
  %bl = arith.index_cast %b : index to i32
  %fb = arith.sitofp %bl : i32 to f32
  %one = arith.constant 1.0 : f32
"""


def launch(make, body, ctas=2):
    k = make(GLOBAL + body, TENSORS)
    a = np.arange(64, dtype=np.float32)
    return k.run(grid=(ctas, 1, 1), a=a, out=np.zeros(128, np.float32))


def test_two_ctas_write_different_values(make):
    """Nothing orders CTAs: the race names both, the tensor and the element."""
    result = launch(make, "memref.store %fb, %out[%t] : memref<?xf32>")
    (race,) = result.races
    assert (race.kind, race.tensor, race.element) == ("write after write", "out", (0,))
    assert {race.first_cta, race.second_cta} == {(0, 0, 0), (1, 0, 0)}


def test_two_ctas_write_one_value(make):
    """The same value twice is no race."""
    assert launch(make, "memref.store %one, %out[%t] : memref<?xf32>").clean


def test_ctas_on_their_own_parts(make):
    """Read and write of disjoint parts by different CTAs is clean."""
    body = """
  %at = arith.muli %b, %c64 : index
  %i = arith.addi %at, %t : index
  %x = memref.load %out[%i] : memref<?xf32>
  %y = arith.addf %x, %one : f32
  memref.store %y, %out[%i] : memref<?xf32>"""
    assert launch(make, body).clean


def test_a_cta_reads_what_another_writes(make):
    """A halo that another CTA writes is a race, across chunks of CTAs too."""
    body = """
  %at = arith.muli %b, %c64 : index
  %i = arith.addi %at, %t : index
  %n = arith.subi %c64, %c1 : index
  %x = memref.load %out[%n] : memref<?xf32>
  memref.store %fb, %out[%i] : memref<?xf32>"""
    result = launch(make, body)
    assert {r.kind for r in result.races} <= {"read after write", "write after read"}
    assert result.races
    assert {r.element for r in result.races} == {(63,)}


def test_a_barrier_orders_global_memory_within_a_cta(make):
    """What a thread wrote to a tensor before the barrier its CTA may read after it."""
    body = """
  memref.store %fb, %out[%t] : memref<?xf32>
  {barrier}
  %c63 = arith.constant 63 : index
  %o = arith.subi %c63, %t : index
  %x = memref.load %out[%o] : memref<?xf32>"""
    assert launch(make, body.format(barrier=BARRIER), ctas=1).clean
    assert launch(make, body.format(barrier=""), ctas=1).races


def test_atomics_of_many_ctas(make):
    """Every addition counts once, and atomics do not race with each other."""
    body = """%w = "memref.atomic_rmw"(%one, %out, %c0) <{kind = 0 : i64}>
    : (f32, memref<?xf32>, index) -> f32"""
    result = launch(make, body, ctas=200)
    assert result.clean
    assert result.outputs["out"][0] == 200 * 64


def test_ctas_of_high_numbers(make):
    """CTA 300000 of a large grid is one like the first: its own accesses do not race, others' do."""
    body = "memref.store %fb, %out[%t] : memref<?xf32>\n%x = memref.load %out[%t] : memref<?xf32>"
    k = make(GLOBAL + body, TENSORS)
    arrays = {"a": np.zeros(64, np.float32), "out": np.zeros(64, np.float32)}
    assert k.run(grid=(300001, 1, 1), ctas=[300000], **arrays).clean
    races = k.run(grid=(300001, 1, 1), ctas=[300000, 5], **arrays).races
    assert {c for r in races for c in (r.first_cta, r.second_cta)} == {(300000, 0, 0), (5, 0, 0)}


def test_more_threads_than_can_be_told_apart(make):
    """PH715 says what to do, before anything runs."""
    k = make(GLOBAL, TENSORS)
    arrays = {"a": np.zeros(64, np.float32), "out": np.zeros(64, np.float32)}
    with pytest.raises(PhobosError, match="PH715") as caught:
        k.run(grid=(1 << 20, 1, 1), **arrays)
    assert "`races=False`" in caught.value.diagnostics[0].help


SHARED = """
@launch(64)
kernel turn(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var s: shared<f32>[64]
  let t = ctx.thread
  s[t] = X[t]
  Y[t] = s[63 - t]
}
"""
EVERYWHERE = """
@launch(64)
kernel count(X: tensor<i32>[N], Y: tensor<i32>[N]) {
  Y[%s] = X[ctx.thread] + ctx.block.x
}
"""


def test_a_race_says_how_it_is_mended():
    """Within a CTA a barrier, with both lines; between CTAs what no barrier can do."""
    import phobos_nb as ph

    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    result = ph.compile(SHARED, chip="sm_80").turn.simulate(x, y, grid=1)
    assert result.races[0].help == "put a barrier behind line 6 and before line 7"
    assert f"help: {result.races[0].help}" in str(result)
    x, y = np.arange(64, dtype=np.int32), np.zeros(64, np.int32)
    result = ph.compile(EVERYWHERE % "ctx.thread", chip="sm_80").count.simulate(x, y, grid=2)
    assert result.races[0].help.startswith("CTAs run in no order: use an atomic")
    result = ph.compile(EVERYWHERE % "0", chip="sm_80").count.simulate(x, y, grid=1)
    assert result.races[0].help == "line 4 writes an element twice: let one thread, or use an atomic"
    x = np.arange(64, dtype=np.int32)
    text = EVERYWHERE.replace(
        "Y[%s] = X[ctx.thread] + ctx.block.x", "X[ctx.thread] = X[63 - ctx.thread]"
    )
    result = ph.compile(text, chip="sm_80").count.simulate(x, y, grid=1)
    said = "line 4 reads what others write there: read into a variable, put a barrier, then write"
    assert result.races[0].help == said
