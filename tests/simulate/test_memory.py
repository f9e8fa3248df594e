"""Bounds, poison and alignment: what is touched is the caller's array and nothing else."""

import numpy as np
import pytest

COPY = """
  %c4 = arith.constant 4 : index
  %i = arith.muli %t, %c4 : index
  %x = vector.load %a[%i] {{alignment = {align} : i64}} : memref<?xf32>, vector<4xf32>
  vector.store %x, %out[%i] {{alignment = {align} : i64}} : memref<?xf32>, vector<4xf32>
"""
TENSORS = [("a", "f32", False), ("out", "f32", True)]


def data(n):
    return np.arange(n, dtype=np.float32)


def test_the_callers_arrays_stay(make):
    """Outputs are copies unless `in_place` is asked for."""
    k = make(COPY.format(align=16), TENSORS)
    a, out = data(256), np.zeros(256, np.float32)
    result = k.run(a=a, out=out)
    assert (result.outputs["out"] == a).all()
    assert not out.any()
    k.run(a=a, out=out, in_place=True)
    assert (out == a).all()


def test_one_element_too_short(make):
    """The last thread's vector runs one element past the end: named, not read, not written."""
    k = make(COPY.format(align=16), TENSORS)
    result = k.run(a=data(255), out=np.zeros(256, np.float32))
    (fault,) = result.faults
    assert (fault.kind, fault.tensor, fault.element, fault.thread) == ("out_of_bounds", "a", (255,), 63)
    assert "255" in fault.message
    assert np.isnan(result.outputs["out"][255])


def test_holes_of_a_strided_array_are_outside(make):
    """Elements between the columns of a sliced array belong to somebody else."""
    k = make(COPY.format(align=16), TENSORS)
    result = k.run(a=data(512)[::2], out=np.zeros(256, np.float32))
    assert {(f.kind, f.tensor) for f in result.faults} == {("out_of_bounds", "a")}


def test_misaligned_vectors(make):
    """A 16-byte access from base + 4 bytes is a fault; without the promise it is none."""
    a = data(257)[1:]
    wide = make(COPY.format(align=16), TENSORS).run(a=a, out=np.zeros(256, np.float32))
    assert {(f.kind, f.tensor) for f in wide.faults} == {("misaligned", "a")}
    narrow = make(COPY.format(align=4), TENSORS).run(a=a, out=np.zeros(256, np.float32))
    assert narrow.clean
    assert (narrow.outputs["out"] == a).all()


def test_overlapping_arguments_share_memory(make):
    """One array passed twice is one memory: out = a in place, shifted by the view's offset."""
    k = make(COPY.format(align=4), TENSORS)
    both = data(320)
    result = k.run(a=both[64:], out=both[:256], races=False)
    assert (result.outputs["out"] == np.arange(64, 320)).all()


def test_lines_and_sectors(make):
    """2 warps that move 512 bytes each in 16-byte pieces touch 4 lines and 16 sectors, the fewest.

    Without a known alignment the same vectors move in 4-byte pieces: each piece of a warp spreads over
    4 lines, 5 where it starts 16 bytes into the first.
    """
    wide = make(COPY.format(align=16), TENSORS)
    accesses = wide.run(a=data(256), out=np.zeros(256, np.float32)).global_accesses
    counts = [(a.kind, a.lines, a.fewest_lines, a.sectors, a.fewest_sectors) for a in accesses]
    assert counts == [("load", 8, 8, 32, 32), ("store", 8, 8, 32, 32)]
    narrow = make(COPY.format(align=4), TENSORS)
    shifted = narrow.run(a=data(257)[1:], out=np.zeros(256, np.float32)).global_accesses[0]
    assert (shifted.lines, shifted.fewest_lines) == (2 * (4 + 4 + 4 + 5), 2 * 4)
    assert (shifted.sectors, shifted.fewest_sectors) == (2 * (16 + 16 + 16 + 17), 2 * 4 * 4)


def test_masked_vectors(make):
    """Elements that a mask leaves out are neither read nor written, and are counted."""
    k = make(
        """
  %c4 = arith.constant 4 : index
  %i = arith.muli %t, %c4 : index
  %n = arith.subi %na, %i : index
  %m = vector.create_mask %n : vector<4xi1>
  %pad = arith.constant dense<9.0> : vector<4xf32>
  %x = vector.maskedload %a[%i], %m, %pad : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %out[%i], %m, %x : memref<?xf32>, vector<4xi1>, vector<4xf32>
""",
        TENSORS,
    )
    result = k.run(a=data(201), out=np.full(256, -1, np.float32))
    assert result.clean
    assert (result.outputs["out"] == np.where(np.arange(256) < 201, np.arange(256), -1)).all()
    assert [a.masked for a in result.accesses] == [55, 55]
    assert [a.elements for a in result.accesses] == [201, 201]


@pytest.mark.parametrize(
    ("length", "requests"), [(256, 2), (201, 3), (200, 2), (128, 1), (127, 4), (0, 0)]
)
def test_requests_of_masked_vectors(make, length, requests):
    """A warp makes one request for its whole vectors, one per element of a cut one, none for no lane."""
    k = make(
        """
  %c4 = arith.constant 4 : index
  %i = arith.muli %t, %c4 : index
  %n = arith.subi %na, %i : index
  %m = vector.create_mask %n : vector<4xi1>
  %pad = arith.constant dense<9.0> : vector<4xf32>
  %x = vector.maskedload %a[%i], %m, %pad {alignment = 16 : i64}
    : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.store %x, %out[%i] {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
""",
        TENSORS,
    )
    result = k.run(a=data(length), out=np.zeros(256, np.float32))
    assert result.clean
    assert [(a.kind, a.executions, a.requests) for a in result.accesses] == [
        ("load", 2, requests),
        ("store", 2, 2),
    ]


def test_copies_of_nothing_read_nothing(make):
    """An asynchronous copy whose lanes all fill with zeros makes no request of global memory."""
    k = make(
        """
  %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index
  %s = memref.view %smem[%c0][] : memref<512xi8, S> to memref<128xf32, S>
  %p = arith.cmpi ult, %t, %na : index
  %n = arith.select %p, %c1, %c0 : index
  %i = arith.select %p, %t, %c0 : index
  %k = "nvgpu.device_async_copy"(%s, %t, %a, %i, %n)
    <{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
    : (memref<128xf32, S>, index, memref<?xf32>, index, index) -> !nvgpu.device.async.token
  %g = "nvgpu.device_async_create_group"(%k) : (!nvgpu.device.async.token) -> !nvgpu.device.async.token
  "nvgpu.device_async_wait"(%g) <{numGroups = 0 : i32}> : (!nvgpu.device.async.token) -> ()
  %x = memref.load %s[%t] : memref<128xf32, S>
  memref.store %x, %out[%t] : memref<?xf32>
""",
        TENSORS,
        threads=128,
        shared=512,
    )
    result = k.run(a=data(40) + 1, out=np.full(128, -1, np.float32))
    assert result.clean
    assert result.outputs["out"].tolist() == [*range(1, 41), *[0] * 88]
    counts = {a.kind: (a.executions, a.requests) for a in result.accesses[:2]}
    assert counts == {"load": (4, 2), "async": (4, 4)}


@pytest.mark.parametrize(("shift", "copied", "loaded"), [(0, 16, 16), (4, 20, 17), (8, 16, 16)])
def test_sectors_of_wide_copies(make, shift, copied, loaded):
    """16-byte copies ask for the sectors of 8 lanes at a time, as ncu counts; loads for a warp's."""
    k = make(
        f"""
  %c0 = arith.constant 0 : index %c4 = arith.constant 4 : index %shift = arith.constant {shift} : index
  %s = memref.view %smem[%c0][] : memref<512xi8, S> to memref<128xf32, S>
  %i = arith.muli %t, %c4 : index %from = arith.addi %i, %shift : index
  %k = "nvgpu.device_async_copy"(%s, %i, %a, %from)
    <{{dstElements = 4 : index, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}}>
    : (memref<128xf32, S>, index, memref<?xf32>, index) -> !nvgpu.device.async.token
  %x = vector.load %a[%from] {{alignment = 16 : i64}} : memref<?xf32>, vector<4xf32>
  vector.store %x, %out[%i] {{alignment = 16 : i64}} : memref<?xf32>, vector<4xf32>
""",
        TENSORS,
        threads=32,
        shared=512,
    )
    result = k.run(a=data(160), out=np.zeros(128, np.float32))
    sectors = {a.place.op: a.sectors for a in result.accesses if a.kind == "load"}
    assert sectors == {"nvgpu.device_async_copy": copied, "vector.load": loaded}


def test_masked_scalars(make):
    """A scalar access under a condition counts the lanes that it leaves out, if it asks for an end."""
    k = make(
        """
  %p = arith.cmpi ult, %t, %na {phobos.end} : index
  %zero = arith.constant 0.0 : f32
  %x = scf.if %p -> (f32) {
    %y = memref.load %a[%t] : memref<?xf32>
    scf.yield %y : f32
  } else {
    scf.yield %zero : f32
  }
  memref.store %x, %out[%t] : memref<?xf32>
""",
        TENSORS,
    )
    result = k.run(a=data(9) + 1, out=np.full(64, -1, np.float32))
    assert result.clean
    assert result.outputs["out"].tolist() == [*range(1, 10), *[0] * 55]
    assert [a.masked for a in result.accesses] == [55, 0]


SHARED = """
  %c4 = arith.constant 4 : index %c0 = arith.constant 0 : index
  %s = memref.view %smem[%c0][] : memref<256xi8, S> to memref<64xf32, S>
  {body}
"""


def test_unwritten_shared_memory_that_matters(make):
    """An output that depends on an unwritten byte of shared memory is a fault; the rest is none."""
    body = """
  %c62 = arith.constant 62 : index
  %x = memref.load %a[%t] : memref<?xf32>
  memref.store %x, %s[%t] : memref<64xf32, S>
  "gpu.barrier"() : () -> ()
  %y = memref.load %s[%t] : memref<64xf32, S>
  memref.store %y, %out[%t] : memref<?xf32>
"""
    skipping = body.replace(
        "  memref.store %x, %s[%t]",
        "  %q = arith.cmpi ne, %t, %c62 : index\n  scf.if %q {\n  memref.store %x, %s[%t]",
    ).replace('memref<64xf32, S>\n  "gpu', 'memref<64xf32, S>\n  }\n  "gpu')
    used = make(SHARED.format(body=skipping), TENSORS, shared=256)
    result = used.run(a=data(64), out=np.zeros(64, np.float32))
    assert [(f.kind, f.element) for f in result.faults] == [("uninitialised", (62 * 4,))]
    assert np.isnan(result.outputs["out"][62])
    whole = make(SHARED.format(body=body), TENSORS, shared=256)
    assert whole.run(a=data(64), out=np.zeros(64, np.float32)).clean


def test_an_unused_prefetch_of_unwritten_memory_is_no_fault(make):
    """What is read and never used does not matter."""
    k = make(
        SHARED.format(
            body="""
  %y = memref.load %s[%t] : memref<64xf32, S>
  %x = memref.load %a[%t] : memref<?xf32>
  memref.store %x, %out[%t] : memref<?xf32>"""
        ),
        TENSORS,
        shared=256,
    )
    assert k.run(a=data(64), out=np.zeros(64, np.float32)).clean


def test_shared_memory_has_an_end(make):
    """One element past the CTA's shared bytes is outside, even where another CTA's begin."""
    k = make(
        """
  %c4 = arith.constant 4 : index
  %s = memref.view %smem[%c4][] : memref<256xi8, S> to memref<64xf32, S>
  %x = memref.load %a[%t] : memref<?xf32>
  memref.store %x, %s[%t] : memref<64xf32, S>""",
        TENSORS,
        shared=256,
    )
    result = k.run(grid=(3, 1, 1), a=data(64), out=data(1))
    (fault,) = result.faults
    assert (fault.kind, fault.tensor, fault.element, fault.count) == (
        "out_of_bounds",
        "shared",
        (256,),
        3,
    )


BESIDE = """
@launch(64)
kernel beside(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var a: shared<f32>[2, 32]
  var b: shared<f32>[2, 32]
  a[ctx.warp, ctx.lane] = X[ctx.thread]
  b[ctx.warp, ctx.lane] = 0.0
  barrier()
  Y[ctx.thread] = a[%s] + b[ctx.warp, ctx.lane]
}
"""


@pytest.mark.parametrize(
    ("index", "said", "count"),
    [
        ("ctx.warp, ctx.lane", "", 0),
        ("ctx.warp + 1, ctx.lane", "reads a[2, 0], outside `a` of 2 x 32 elements", 32),
        ("ctx.warp, ctx.lane + 1", "reads a[0, 32], outside `a` of 2 x 32 elements", 2),
        ("ctx.warp - 1, ctx.lane", "reads a[-1, 0], outside `a` of 2 x 32 elements", 32),
    ],
)
def test_an_index_outside_its_shared_array(index, said, count):
    """Another array or the next row lies there: no less a fault than behind all memory."""
    import phobos_nb as ph

    kernel = ph.compile(BESIDE % index, chip="sm_80").beside
    result = kernel.simulate(np.ones(64, np.float32), np.zeros(64, np.float32), grid=1)
    faults = [f for f in result.faults if f.kind == "out_of_bounds"]
    assert [f.count for f in faults] == ([count] if count else [])
    assert all(f.place.line == 9 for f in faults)
    assert [f.message for f in faults] == ([said] if said else [])
