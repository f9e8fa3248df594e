"""Truth tables: every kind of access to shared memory against every other, ordered or not.

Warpgroup 0 makes the first access and warpgroup 1 the second, both to the same 2048 bytes. Kinds differ
in who accesses (the threads, or an engine for them), and in what ends the access.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from tests.async_text import (
    BARRIER,
    COMMIT,
    FENCE,
    FENCE_INIT,
    PARITY,
    TICKS,
    WAIT_READ,
    barriers,
    expect,
    kernel,
    op,
    wait,
    when,
)

SIZE = 2048
ALL = 4096
"""Shared bytes: the accessed ones, the right operand of products, and room."""
HALVES = "memref<1024xf16, S>"


@dataclass(frozen=True)
class Access:
    """One kind: its operations by warpgroup number, and of which class each part is.

    start: begins it. end: waits until it is over. writes: whether it writes. engine: whether the
    asynchronous proxy makes it. atomic: whether others of its kind may happen at once.
    """

    start: str
    end: str = ""
    writes: bool = False
    engine: bool = False
    atomic: bool = False


def bulk_load(g):
    types = f"{HALVES}, index, memref<?xf16>, index, index, G<2>, index"
    segments = (1, 1, 1, 1, 1, 1, 1, 0, 0)
    load = op("phobos.bulk.load", f"%h, %c0, %src, %c0, %c{SIZE}, %bar, %c{g}", types, segments)
    return when(f"%leader{g}", expect(f"%c{g}", SIZE, 2) + load + "\n")


def bulk_store(g):
    types = f"memref<?xf16>, index, {HALVES}, index, index"
    store = op("phobos.bulk.store", f"%dst, %c{g * 1024}, %h, %c0, %c{SIZE}", types, (1, 1, 1, 1, 1, 0))
    return when(f"%leader{g}", store + "\n" + COMMIT)


def copy(g):
    segments = "operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>"
    return f"""
%ck{g} = "nvgpu.device_async_copy"(%h, %mine{g}, %src, %mine{g}) <{{dstElements = 8 : index, {segments}}}> : ({HALVES}, index, memref<?xf16>, index) -> !nvgpu.device.async.token
%cg{g} = "nvgpu.device_async_create_group"(%ck{g}) : (!nvgpu.device.async.token) -> !nvgpu.device.async.token
"""  # noqa: E501


def matrix(g):
    return (
        f'%m{g} = "nvgpu.ldmatrix"(%h, %mine{g}) <{{transpose = false, numTiles = 4 : i32}}> : '
        f"({HALVES}, index) -> vector<4x2xf16>\n"
    )


def product(g):
    return (
        matrix(g) + f"%mb{g} = arith.constant dense<0.0> : vector<2x2xf16>\n"
        f"%mc{g} = arith.constant dense<0.0> : vector<2x2xf32>\n"
        f'%md{g} = "nvgpu.mma.sync"(%m{g}, %mb{g}, %mc{g}) '
        "<{mmaShape = [16 : i64, 8 : i64, 16 : i64]}> : "
        "(vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>\n"
    )


def wgmma(g):
    flags = "mn_major_a = false, mn_major_b = false, negate_a = false, negate_b = false"
    place = "<{leading = 128 : i64, stride = 256 : i64, swizzle = 0 : i64}>"
    return f"""
%wa{g} = "phobos.wgmma.descriptor"(%h, %c0) {place} : ({HALVES}, index) -> i64
%wb{g} = "phobos.wgmma.descriptor"(%right, %c0) {place} : ({HALVES}, index) -> i64
%wz{g} = arith.constant dense<0.0> : vector<1x2x2xf32>
%wf{g} = "phobos.wgmma.fence"(%wz{g}) : (vector<1x2x2xf32>) -> vector<1x2x2xf32>
%ww{g} = "phobos.wgmma"(%wf{g}, %wa{g}, %wb{g}) <{{shape = [64 : i64, 8 : i64, 16 : i64], operand = f16, {flags}}}> : (vector<1x2x2xf32>, i64, i64) -> vector<1x2x2xf32>
"nvvm.wgmma.commit.group.sync.aligned"() : () -> ()
"""  # noqa: E501


def atomic(g):
    return f'%a{g} = "memref.atomic_rmw"(%one, %w, %own{g}) <{{kind = 1 : i64}}> : (i32, memref<512xi32, S>, index) -> i32\n'  # noqa: E501


def kinds(g):
    """Every kind of access by warpgroup g."""
    vector = f"%h[%mine{g}] {{alignment = 16 : i64}} : {HALVES}, vector<8xf16>\n"
    return {
        "load": Access(f"%l{g} = vector.load {vector}"),
        "store": Access(f"vector.store %ones{g}, {vector}", writes=True),
        "clear": Access(f"vector.store %zeros, {vector}", writes=True),
        "async copy": Access(
            copy(g),
            f'"nvgpu.device_async_wait"(%cg{g}) <{{numGroups = 0 : i32}}> : (!nvgpu.device.async.token)'
            " -> ()\n",
            writes=True,
        ),
        "bulk load": Access(bulk_load(g), wait(f"%c{g}", "%even", 2), writes=True, engine=True),
        "bulk store": Access(bulk_store(g), WAIT_READ, engine=True),
        "ldmatrix": Access(matrix(g)),
        "mma": Access(product(g)),
        "wgmma": Access(
            wgmma(g),
            '"nvvm.wgmma.wait.group.sync.aligned"() <{group = 0 : i64}> : () -> ()\n',
            engine=True,
        ),
        "atomic": Access(atomic(g), writes=True, atomic=True),
    }


START = (
    PARITY
    + TICKS
    + f"""
%h = memref.view %smem[%c0][] : memref<{ALL}xi8, S> to {HALVES}
%right = memref.view %smem[%c{SIZE}][] : memref<{ALL}xi8, S> to {HALVES}
%whole = memref.view %smem[%c0][] : memref<{ALL}xi8, S> to memref<2048xf16, S>
%w = memref.view %smem[%c0][] : memref<{ALL}xi8, S> to memref<512xi32, S>
%one = arith.constant 1 : i32
%count = arith.constant 128 : i32
%id0 = arith.constant 1 : i32
%id1 = arith.constant 2 : i32
%zeros = arith.constant dense<0.0> : vector<8xf16>
%ones0 = arith.constant dense<1.0> : vector<8xf16>
%ones1 = arith.constant dense<2.0> : vector<8xf16>
%fill = arith.muli %t, %c8 : index
%first = arith.cmpi eq, %t, %c0 : index
%in0 = arith.cmpi ult, %t, %c128 : index
%in1 = arith.cmpi uge, %t, %c128 : index
%leader0 = arith.cmpi eq, %t, %c0 : index
%leader1 = arith.cmpi eq, %t, %c128 : index
%t1 = arith.subi %c255, %t : index
%own0 = arith.addi %t, %c0 : index
%own1 = arith.addi %t1, %c0 : index
%mine0 = arith.muli %t, %c8 : index
%mine1 = arith.muli %t1, %c8 : index
vector.store %zeros, %whole[%fill] {{alignment = 16 : i64}} : memref<2048xf16, S>, vector<8xf16>
"""
)
"""The places of all accesses, warpgroup 1 going backwards; all of shared memory written."""


def start():
    """All of shared memory written, fenced, seen by all; two memory barriers."""
    made, inits = barriers([1, 1]).split("\n", 1)
    return START + made + "\n" + when("%first", inits + FENCE_INIT) + FENCE + BARRIER


def at(text, line):
    """The operations with a place in the text."""
    lines = [x for x in text.splitlines() if x.strip()]
    return "".join(
        x + "\n" if x.rstrip().endswith("{") or x.strip() == "}" else f'{x} loc("cell":{line}:1)\n'
        for x in lines
    )


def own_barrier(g):
    """A barrier of the warpgroup alone."""
    return op("nvvm.barrier", f"%id{g}, %count", "i32, i32", (1, 1, 0)) + "\n"


def run(first, second, *, ended=True, between="", after="", seeds=(0,)):
    """Simulate the first access, by warpgroup 0, something between, and the second, by warpgroup 1."""
    a, b = kinds(0)[first], kinds(1)[second]
    body = start() + when("%in0", at(a.start + (a.end if ended else ""), 10) + after)
    body += between + when("%in1", at(b.start + b.end, 20))
    body += when("%in0", "" if ended else at(a.end, 11)) if "%cg0" not in a.end else ""
    if not ended and "%cg0" in a.end:
        body = body.replace('"nvgpu.device_async_wait"(%cg0)', '"nvgpu.device_async_wait"(%late)')
    tensors = [("src", "f16", (1024,), False), ("dst", "f16", (2048,), True)]
    arguments = {"src": np.full(1024, 3, np.float16), "dst": np.zeros(2048, np.float16)}
    made = kernel(body, tensors, threads=256, shared=ALL, arguments=arguments)
    return [made.run(seed=seed, banks=False) for seed in seeds]


NAMES = list(kinds(0))
PAIRS = list(itertools.product(NAMES, NAMES))


def harmless(first, second):
    """Whether two accesses may happen in any order: two clears leave the same."""
    a, b = kinds(0)[first], kinds(1)[second]
    return first == second == "clear" or not (a.writes or b.writes) or (a.atomic and b.atomic)


def needs_fence(first, second):
    """Whether a write of threads comes before an access of an engine."""
    a, b = kinds(0)[first], kinds(1)[second]
    return a.writes and not a.engine and b.engine


def lines(result):
    """The lines of both sides of each race."""
    return {frozenset((r.first.line, r.second.line)) for r in result.races}


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_no_order(first, second):
    """Two accesses that nothing orders race, unless both read or both are atomic; lines are named."""
    for result in run(first, second, seeds=(0, 1, 2)):
        assert result.faults == []
        assert bool(result.races) == (not harmless(first, second))
        assert lines(result) <= {frozenset((10, 20))}


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_right_order(first, second):
    """The first waited for, fenced where an engine follows a write of threads, and a barrier: clean."""
    fence = FENCE if needs_fence(first, second) else ""
    assert all(r.clean for r in run(first, second, after=fence, between=BARRIER, seeds=(0, 1, 2)))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_a_barrier_of_one_side_only(first, second):
    """Barriers of each warpgroup by itself order nothing between the two."""
    (result,) = run(first, second, after=own_barrier(0))
    assert bool(result.races) == (not harmless(first, second))
    assert lines(result) <= {frozenset((10, 20))}


@pytest.mark.parametrize(("first", "second"), [p for p in PAIRS if needs_fence(*p)])
def test_no_fence(first, second):
    """A barrier alone does not hand writes of threads to an engine."""
    (result,) = run(first, second, between=BARRIER)
    assert {r.kind for r in result.races} == {"missing proxy fence"}
    assert lines(result) == {frozenset((10, 20))}


@pytest.mark.parametrize(("first", "second"), [p for p in PAIRS if needs_fence(*p)])
def test_a_fence_of_the_other_memory(first, second):
    """A fence of global memory hands over no writes to shared memory."""
    other = '"nvvm.fence.proxy"() <{kind = #nvvm.proxy_kind<async.global>}> : () -> ()\n'
    (result,) = run(first, second, after=other, between=BARRIER)
    assert {r.kind for r in result.races} == {"missing proxy fence"}


@pytest.mark.parametrize(("first", "second"), [p for p in PAIRS if needs_fence(*p)])
def test_a_fence_of_the_reader_will_do(first, second):
    """The fence may stand anywhere on the way, behind the barrier too."""
    assert run(first, second, between=BARRIER + FENCE)[0].clean


ENDED = [n for n in NAMES if kinds(0)[n].end and n != "async copy"]


@pytest.mark.parametrize(("first", "second"), [p for p in PAIRS if p[0] in ENDED])
def test_a_barrier_instead_of_the_wait(first, second):
    """A barrier does not end what an engine does: it is in flight until the wait."""
    in_step, apart = run(first, second, ended=False, between=BARRIER, seeds=(0, 1))
    assert bool(in_step.races) == bool(apart.races) == (not harmless(first, second))
    found = {r.kind for r in in_step.races if r.first.line == 10}
    assert found <= {"copy in flight", "read in flight"}
    assert bool(found) == (not harmless(first, second))


def test_the_table_has_every_kind():
    """The issue's kinds are all here."""
    assert set(NAMES) >= {"store", "async copy", "bulk load", "bulk store", "ldmatrix", "mma", "atomic"}
    assert {"wgmma", "clear", "load"} <= set(NAMES)
