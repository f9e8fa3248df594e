"""Every kind of access to shared memory stays in its own array, whatever lies behind it."""

import re
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr

import phobos_nb as ph
from phobos_nb.compilation.shared_names import with_shared_names
from phobos_nb.ir.dialects.nvgpu import DeviceAsyncCopyOp
from phobos_nb.simulate.launch import simulate
from tests.async_text import START, bulk_load, expect, init, kernel, op, shared_view, wait, when
from tests.simulate.small_programs import Small

BESIDE = """
shared s f32 256
shared u f32 256
v = f32x4 1.0
vec s[t4] = v
vec u[t4] = v
barrier
i = t4 + 4
"""
MATRIX = """
shared s f16 16x16
shared u f16 16x16
v = f16x8 1.0
j = t % 2
k = j * 8
r = t / 2
vec s[r, k] = v
vec u[r, k] = v
barrier
q = lane + 8
"""
MASK = "%m = vector.create_mask %c4 : vector<4xi1>\n"
KINDS = {
    "load": (BESIDE + "w = vec4 s[i] !", "reads s[256]", 4, (63,)),
    "store": (BESIDE + "vec s[i] = v !", "writes s[256]", 4, (63,)),
    "masked load": (
        BESIDE + MASK + "%w = vector.maskedload %s[%i], %m, %v : memref<256xf32, S>, vector<4xi1>, "
        "vector<4xf32> into vector<4xf32> !",
        "reads s[256]",
        4,
        (63,),
    ),
    "masked store": (
        BESIDE + MASK + "vector.maskedstore %s[%i], %m, %v : memref<256xf32, S>, vector<4xi1>, "
        "vector<4xf32> !",
        "writes s[256]",
        4,
        (63,),
    ),
    "atomic": (BESIDE + "j = t + 224\ny = add s[j] one !", "updates s[256]", 32, tuple(range(32, 64))),
    "async copy": (BESIDE + "copy s[i] a[t4] 4 !\ncommit\nwait 0", "copies to s[256]", 4, (63,)),
    "ldmatrix": (MATRIX + "m = ldmatrix4 s[q, 0] !", "reads s[16, 0]", 8 * 24, tuple(range(8, 32))),
    "stmatrix": (
        MATRIX + "%h = arith.constant dense<1.0> : vector<4x2xf16>\n"
        '"phobos.stmatrix"(%h, %s, %q, %c0) <{transpose = false}> : '
        "(vector<4x2xf16>, memref<16x16xf16, S>, index, index) -> () !",
        "writes s[16, 0]",
        8 * 24,
        tuple(range(8, 32)),
    ),
    "wmma load": (
        MATRIX + "%h = gpu.subgroup_mma_load_matrix %s[%c8, %c0] {leadDimension = 16 : index} : "
        'memref<16x16xf16, S> -> !gpu.mma_matrix<16x16xf16, "AOp"> !',
        "reads s[16, 0]",
        128,
        tuple(range(32)),
    ),
    "wmma store": (
        MATRIX + "%z = arith.constant 0.0 : f16\n"
        '%h = "gpu.subgroup_mma_constant_matrix"(%z) : (f16) -> !gpu.mma_matrix<16x16xf16, "COp">\n'
        "gpu.subgroup_mma_store_matrix %h, %s[%c8, %c0] {leadDimension = 16 : index} : "
        '!gpu.mma_matrix<16x16xf16, "COp">, memref<16x16xf16, S> !',
        "writes s[16, 0]",
        128,
        tuple(range(32)),
    ),
    "end of a row": (
        "shared s f32 64x6\nv = f32x4 1.0\nvec/8 s[t, 4] = v !",
        "writes s[0, 6]",
        128,
        tuple(range(64)),
    ),
    "before the first row": (
        "shared u f32 64x8\nshared s f32 64x8\nv = f32x4 1.0\ni = t - 1\nvec s[i, 4] = v !",
        "writes s[-1, 4]",
        4,
        (0,),
    ),
}
"""Program, what is said, how many elements, and the threads that did it."""


WHOLE_WARPS = ("ldmatrix", "stmatrix", "wmma load", "wmma store")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, seed):
    """The fault names array, element, its threads and its line."""
    text, said, count, threads = KINDS[kind]
    small = Small(kind, text, threads=32 if kind in WHOLE_WARPS else 64)
    (fault,) = [f for f in small.run(seed=seed).faults if f.kind == "out_of_bounds"]
    assert re.match(re.escape(said) + ", outside `s` of [0-9 x]+ elements$", fault.message)
    assert {fault.place.line} == small.marked
    assert fault.count == count
    assert fault.threads == threads or (seed and set(fault.threads) <= set(threads))
    assert (fault.tensor, fault.array[0]) == ("shared", 1024 * 2 if "before" in kind else 0)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_lies_outside_is_not_touched(seed):
    """A store past the end leaves the next array as it was."""
    small = Small("", BESIDE + "w = f32x4 2.0\nvec s[i] = w\nbarrier\nx = u[0]\nout[t] = x")
    assert (small.run(seed=seed).outputs["out"][:64] == 1).all()


def test_a_copy_that_lies_outside_as_a_whole():
    """It is left out, and its groups and waits go on without it."""
    text = "shared s f32 64\nshared u f32 64\ni = t + 64\ncopy s[i] a[t] 1 !\ncommit\nwait 0"
    small = Small("", text)
    (fault,) = small.run().faults
    assert (fault.message, fault.count) == ("copies to s[64], outside `s` of 64 elements", 64)


def test_the_compilers_buffers():
    """A fault in generated code names buffer, stage and the element of the tile; the row is 40 long."""
    text = Path(__file__).parents[2].joinpath("examples", "gemm_fp32.ph").read_text("utf-8")
    (gemm,) = ph.compile(text, chip="sm_80")
    made = gemm.compile()
    module = made.thread_module.clone()
    copy = next(op for op in module.walk() if isinstance(op, DeviceAsyncCopyOp))
    far = arith.ConstantOp(IntegerAttr(40, IndexType()))
    copy.parent_block().insert_op_before(far, copy)
    copy.operands[len(copy.dst_indices)] = far.result
    ones = np.ones((64, 64), np.float32)
    arguments = {"A": ones, "B": ones, "C": ones, "alpha": 1.0, "beta": 0.0}
    result = simulate(module, made.contract, arguments, grid=(1, 1, 1))
    fault = with_shared_names(result, made.shared_memory).faults[0]
    assert fault.message == (
        "copies to a for dot[stage 0][40, 0], outside `a for dot` of 40 x 4 elements in 4 stages"
    )
    assert fault.place.line == 23


VIEW = (
    '%s = "memref.view"(%smem, %at) {phobos.offset = 1024 : i64} : '
    "(memref<4096xi8, S>, index) -> memref<4x8xf32, S>\n"
)
AT = "shared u i8 4096\ni = t % 8\nj = i * 4\nat = j + 1024\n"


def test_a_view_at_a_threads_place():
    """Where the view says at which byte its array begins, the thread's place counts as index."""
    inside = AT + VIEW + "x = f32 1.0\nmemref.store %x, %s[%c3, %c0] : memref<4x8xf32, S>"
    assert Small("", inside).run(races=False).clean
    (fault,) = Small("", inside.replace("%c3, %c0", "%c3, %c1")).run(races=False).faults
    assert fault.message == "writes s[3, 8], outside `s` of 4 x 8 elements"
    assert fault.threads == tuple(range(7, 64, 8))


COPIED = [("src", "i32", (256,), False), ("out", "i32", (256,), True)]


def bulk(bytes_, text=""):
    """A bulk copy to the first of two arrays of 64 words, and one of them out again."""
    load = bulk_load("%s", 64, "%src", "%c0", f"%c{bytes_}", "%c0", 1)
    views = shared_view("s", "%c0", [64], "i32", 1024) + shared_view("u", "%c256", [64], "i32", 1024)
    body = views + init([1]) + when("%first", expect("%c0", bytes_, 1) + load)
    arguments = {"src": np.arange(256, dtype=np.int32), "out": np.zeros(256, np.int32)}
    made = kernel(START + body + text, COPIED, threads=32, shared=1024, arguments=arguments)
    return made.run()


def test_bulk_copies():
    """The bytes of a bulk copy belong to one array on the side of shared memory."""
    assert bulk(256, wait("%c0", "%even", 1)).clean
    (fault,) = bulk(272).faults
    said = "copies 272 bytes at byte 0 of shared, which reach outside `s` of 64 elements"
    assert (fault.kind, fault.message) == ("out_of_bounds", said)
    types = "memref<?xi32>, index, memref<64xi32, S>, index, index"
    store = op("phobos.bulk.store", "%out, %c0, %s, %c4, %c256", types, (1, 1, 1, 1, 1, 0))
    faults = bulk(256, wait("%c0", "%even", 1) + when("%first", store + "\n")).faults
    said = "copies 256 bytes at byte 16 of shared, which reach outside `s` of 64 elements"
    assert said in [f.message for f in faults]


TILE = """
@launch(64)
kernel copied(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var s: shared<f32>[%d]
  var u: shared<f32>[64]
  s[ctx.thread] = X[ctx.thread]
  u[ctx.thread] = 0.0
  barrier()
  Y[ctx.thread] = s[ctx.thread] + u[0]
}
"""


@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a"])
def test_the_authors_arrays(chip):
    """A `shared` of 63 elements used as one of 64: at its line, with its name, by its thread."""
    x = np.ones(64, np.float32)
    assert ph.compile(TILE % 64, chip=chip).copied.simulate(x, x.copy(), grid=1).clean
    faults = ph.compile(TILE % 63, chip=chip).copied.simulate(x, x.copy(), grid=1).faults
    assert [(f.place.line, f.message, f.threads) for f in faults if f.kind == "out_of_bounds"] == [
        (6, "writes s[63], outside `s` of 63 elements", (63,)),
        (9, "reads s[63], outside `s` of 63 elements", (63,)),
    ]
