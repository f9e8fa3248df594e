"""What can be wrong with a product of a warpgroup, and how the simulator says it."""

import numpy as np
import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import VectorType, f16, f32, i64

from phobos_nb.ir.dialects import nvgpu, nvvm_wgmma
from phobos_nb.ir.dialects.vector_memory import StoreOp
from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp, WgmmaFenceOp, WgmmaOp, WgmmaWaitOp
from tests.simulate.test_wgmma import Operands, descriptor
from tests.tensor_core_kernels import Wgmma, kernel, wgmma_kernel

CASE = Wgmma(64, "f16", "f32")


def with_descriptor(bits):
    """The faults of a product whose right operand has this descriptor."""
    operands = Operands(CASE)
    operands.descriptors[1] = np.array([bits])
    made = wgmma_kernel(CASE, len(operands.image))
    return made.run(**operands.arguments(CASE)).faults


def test_a_descriptor_that_leaves_the_memory():
    """The fault names the operand, the descriptor's fields and the byte."""
    (fault,) = with_descriptor(descriptor(44 * 1024, 16, 1024, 128))
    assert fault.kind == "descriptor"
    assert fault.message == (
        "bad matrix descriptor of operand b (start 45056, leading 16, stride 1024, 128-byte swizzle, "
        "base offset 0): it reads up to byte 53248 of 49152"
    )


def test_a_descriptor_that_leaves_its_array():
    """What a descriptor reads belongs to the array that it was made for, through sums and loops too."""

    def body(t):
        view = t.view("f16", [1024], 1024)
        bits = t.b.value(WgmmaDescriptorOp(view, [t.b.index(0)], leading=128, stride=256, swizzle=0))
        moved = t.b.addi(bits, t.b.constant(1, i64))
        (acc,) = t.b.insert(WgmmaFenceOp([zeros(t)])).passed
        acc = t.b.value(WgmmaOp(acc, bits, moved, (64, 8, 16), f16))
        acc = t.b.value(WgmmaOp(acc, moved, bits, (64, 8, 16), f16))
        t.b.insert(nvvm_wgmma.WgmmaCommitOp())
        ends(t, acc)

    (fault,) = [f for f in run(build(body)).faults if "operand a" in f.message]
    assert fault.message.endswith(
        "it reads bytes 1040 to 3087, outside a shared array of 1024 elements, bytes 1024 to 3071"
    )


def test_reserved_bits():
    """Bits that have to be zero are named."""
    bits = descriptor(8192, 16, 1024, 128) | 1 << 30
    (fault,) = with_descriptor(bits)
    assert fault.message.endswith("bits 0x40000000 have to be zero")


def build(body, *, threads=128, shared=4096):
    """A kernel whose body may use zeroed shared memory and a descriptor of its start."""

    def whole(t):
        t.copy_image("image", shared, threads)
        t.fence_proxy()
        t.barrier()
        body(t)

    tensors = [("image", "i32", False), ("out", "f32", True)]
    return kernel(whole, tensors, threads=threads, shared=shared)


def run(made, threads=128, **options):
    image = np.zeros(1024, np.int32)
    return made.run(image=image, out=np.zeros(4 * threads, np.float32), **options)


def product(t, acc, place=0):
    """One product of 8 columns on the start of shared memory, from a fence to a commit."""
    view = t.view("f16", [2048])
    start = t.b.index(place) if isinstance(place, int) else place
    bits = t.b.value(WgmmaDescriptorOp(view, [start], leading=128, stride=256, swizzle=0))
    (acc,) = t.b.insert(WgmmaFenceOp([acc])).passed
    made = t.b.value(WgmmaOp(acc, bits, bits, (64, 8, 16), f16))
    t.b.insert(nvvm_wgmma.WgmmaCommitOp())
    return made


def zeros(t):
    return t.b.constant(0.0, VectorType(f32, [1, 2, 2]))


def ends(t, acc):
    (done,) = t.b.insert(WgmmaWaitOp([acc], 0)).passed
    t.store_lane_vector("out", "f32", done, 128)


def test_threads_that_give_different_descriptors():
    """All threads of a warpgroup have to name one matrix."""

    def body(t):
        ends(t, product(t, zeros(t), t.b.muli(t.b.divui(t.thread, t.b.index(64)), t.b.index(8))))

    faults = run(build(body)).faults
    assert [(f.kind, f.thread, f.count) for f in faults] == [("descriptor", 64, 128)]
    assert faults[0].message == "the threads of a warpgroup give different matrix descriptors"


def under(t, condition, body):
    """A branch."""
    branch = t.b.if_(condition)
    with t.b.inside(branch.true_region.block):
        body()
        t.b.yield_()


def test_half_a_warp():
    """A product under a condition that splits a warp is reported."""

    def body(t):
        half = t.b.cmpi("ult", t.thread, t.b.index(16))
        under(t, half, lambda: ends(t, product(t, zeros(t))))

    faults = run(build(body)).faults
    assert faults[0].message == "only 16 of 32 lanes of a warp execute this product of the warpgroup"


@pytest.mark.parametrize("seed", [0, 1])
def test_a_warp_that_stays_away(seed):
    """Three warps of four wait for ever: the deadlock says how many groups each has committed."""

    def body(t):
        some = t.b.cmpi("ult", t.thread, t.b.index(96))
        under(t, some, lambda: ends(t, product(t, zeros(t))))

    faults = run(build(body), seed=seed).faults
    assert "deadlock" in {f.kind for f in faults}
    (fault,) = [f for f in faults if f.kind == "deadlock"]
    assert "of which its warps have committed [1, 1, 1, 0] groups" in fault.message


def test_memory_that_is_overwritten_while_a_product_reads_it():
    """A store between the product and its wait is a read in flight, by both lines."""

    def body(t):
        acc = product(t, zeros(t))
        view = t.view("f32", [128])
        t.b.insert(memref.StoreOp.get(t.b.constant(1.0, f32), view, [t.thread]))
        ends(t, acc)

    races = run(build(body)).races
    assert {(r.kind, r.first.op, r.second.op) for r in races} == {
        ("read in flight", "phobos.wgmma", "memref.store")
    }


def test_an_accumulator_in_arithmetic_before_the_wait():
    """Scaling it, and giving the scaled one to a product without a fence, are two races."""

    def body(t):
        acc = product(t, zeros(t))
        scaled = t.b.mulf(acc, t.b.constant(2.0, acc.type))
        bits = next(iter(acc.owner.operands[1:2]))
        again = t.b.value(WgmmaOp(scaled, bits, bits, (64, 8, 16), f16))
        t.b.insert(nvvm_wgmma.WgmmaCommitOp())
        ends(t, again)

    found = {(r.kind, r.first.op, r.second.op) for r in run(build(body)).races}
    assert found == {
        ("registers in flight", "phobos.wgmma", "arith.mulf"),
        ("missing wgmma fence", "arith.mulf", "phobos.wgmma"),
    }


@pytest.mark.parametrize(("groups", "races"), [(0, 0), (1, 1), (2, 2)])
def test_a_wait_covers_all_but_the_latest_groups(groups, races):
    """Two accumulators in two groups, read after a wait for all but some."""

    def body(t):
        first, second = product(t, zeros(t)), product(t, t.b.constant(1.0, zeros(t).type))
        t.b.insert(WgmmaWaitOp([], groups))
        for acc in (first, second):
            t.store_lane_vector("out", "f32", acc, 128)
            t.b.insert(WgmmaWaitOp([], groups))

    found = [r for r in run(build(body)).races if r.kind == "registers in flight"]
    assert len({r.first.index for r in found}) == races


def test_an_accumulator_through_loop_and_branch():
    """It is followed through a loop and a branch: read behind them without a wait it is in flight."""

    def body(t):
        b = t.b
        loop = b.for_(b.index(0), b.index(3), b.index(1), [zeros(t)])
        with b.inside(loop.body.block):
            b.yield_([product(t, loop.body.block.args[1])])
        branch = b.if_(b.true(), [loop.results[0].type])
        for region in branch.regions:
            with b.inside(region.block):
                b.yield_([loop.results[0]])
        t.store_lane_vector("out", "f32", branch.results[0], 128)

    kinds = {(r.kind, r.second.op) for r in run(build(body)).races}
    assert kinds == {("registers in flight", "vector.shape_cast")}


@pytest.mark.parametrize("waits", [True, False])
def test_a_fragment_that_is_loaded_anew_while_a_product_reads_it(waits):
    """A loop that loads the left operand into registers has to wait before it loads the next one."""

    def body(t):
        b = t.b
        rows = t.view("f16", [32, 64])
        loop = b.for_(b.index(0), b.index(3), b.index(1), [zeros(t)])
        with b.inside(loop.body.block):
            lane = b.remui(t.thread, b.index(32))
            left = b.value(nvgpu.LdMatrixOp(rows, [lane, b.index(0)], 4))
            (acc,) = b.insert(WgmmaFenceOp([loop.body.block.args[1]])).passed
            bits = b.value(WgmmaDescriptorOp(rows, [b.index(0)] * 2, leading=128, stride=256, swizzle=0))
            acc = b.value(WgmmaOp(acc, left, bits, (64, 8, 16), f16))
            b.insert(nvvm_wgmma.WgmmaCommitOp())
            if waits:
                (acc,) = b.insert(WgmmaWaitOp([acc], 0)).passed
            b.yield_([acc])
        ends(t, loop.results[0])

    found = {(r.kind, r.first.op, r.second.op) for r in run(build(body)).races}
    wanted = {("registers in flight", "phobos.wgmma", "nvgpu.ldmatrix")}
    assert found == (set() if waits else wanted)


def test_a_store_of_zeros_is_not_read_before_it_is_fenced():
    """Generic stores that no proxy fence follows are named, though a barrier orders them."""

    def body(t):
        view = t.view("f16", [1024])
        piece = t.b.constant(0.0, VectorType(f16, [8]))
        t.b.insert(StoreOp(piece, view, [t.at(t.thread, 8)], 16))
        t.barrier()
        ends(t, product(t, zeros(t)))

    races = run(build(body)).races
    assert {(r.kind, r.first.op) for r in races} == {("missing proxy fence", "vector.store")}
