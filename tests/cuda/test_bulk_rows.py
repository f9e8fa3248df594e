"""Rows of memory barriers, bulk copies, clusters, fences: NVRTC makes the right instructions of them."""

from __future__ import annotations

import re

import pytest

from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit
from phobos_nb.cuda.sass import disassemble
from tests.cuda.conftest import thread_module

SHARED = "#gpu.address_space<workgroup>"
GROUP = f"!nvgpu.mbarrier.group<memorySpace = {SHARED}, num_barriers = 2>"
TOKEN = "!nvgpu.mbarrier.token"


def map_type(box, swizzle="none"):
    """The type of a tensor map of f16 boxes."""
    fields = f"swizzle = {swizzle}, l2promo = l2promo_128b, oob = zero, interleave = none"
    return f"!nvgpu.tensormap.descriptor<tensor = memref<{box}xf16, {SHARED}>, {fields}>"


START = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %ticks = arith.constant 10000 : index
  %smem = memref.get_global @smem : memref<4096xi8, {SHARED}>
  %bars = "nvgpu.mbarrier.create"() : () -> {GROUP}
"""
ARRIVALS = (
    START
    + f"""
  "nvgpu.mbarrier.init"(%bars, %c64, %c0) : ({GROUP}, index, index) -> ()
  "nvgpu.mbarrier.init"(%bars, %c64, %c1, %p) : ({GROUP}, index, index, i1) -> ()
  "nvvm.fence.mbarrier.init"() : () -> ()
  %t = "nvgpu.mbarrier.arrive"(%bars, %c0) : ({GROUP}, index) -> {TOKEN}
  %u = "nvgpu.mbarrier.arrive.nocomplete"(%bars, %c1, %n) : ({GROUP}, index, index) -> {TOKEN}
  "nvgpu.mbarrier.arrive.expect_tx"(%bars, %n, %c0, %p) : ({GROUP}, index, index, i1) -> ()
  %d = "nvgpu.mbarrier.test.wait"(%bars, %t, %c0) : ({GROUP}, {TOKEN}, index) -> i1
  %one = arith.constant 1.0 : f16
  scf.if %d {{
    memref.store %one, %A[%c0] : memref<?xf16>
  }}
  "nvgpu.mbarrier.try_wait.parity"(%bars, %p, %ticks, %c1) : ({GROUP}, i1, index, index) -> ()
"""
)
PLAIN = (
    START
    + f"""
  %s = memref.view %smem[%c0][] : memref<4096xi8, {SHARED}> to memref<64xf16, {SHARED}>
  %m = arith.constant 3 : i16
  "phobos.bulk.load"(%s, %c0, %A, %n, %c64, %bars, %c0)
    <{{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 0, 0>}}>
    : (memref<64xf16, {SHARED}>, index, memref<?xf16>, index, index, {GROUP}, index) -> ()
  "phobos.bulk.load"(%s, %c0, %A, %n, %c64, %bars, %c0, %m, %p)
    <{{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 1>}}>
    : (memref<64xf16, {SHARED}>, index, memref<?xf16>, index, index, {GROUP}, index, i16, i1) -> ()
  "nvvm.fence.proxy"()
    <{{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}> : () -> ()
  "nvvm.fence.proxy"() <{{kind = #nvvm.proxy_kind<async>}}> : () -> ()
  "nvvm.fence.proxy"() <{{kind = #nvvm.proxy_kind<async.global>}}> : () -> ()
  "phobos.bulk.store"(%A, %n, %s, %c0, %c64) <{{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 0>}}>
    : (memref<?xf16>, index, memref<64xf16, {SHARED}>, index, index) -> ()
  "nvvm.cp.async.bulk.commit.group"() : () -> ()
  "nvvm.cp.async.bulk.wait_group"() <{{group = 1 : i32, read}}> : () -> ()
  "nvvm.cp.async.bulk.wait_group"() <{{group = 0 : i32}}> : () -> ()
  "phobos.bulk.prefetch"(%A, %n, %c64) <{{operandSegmentSizes = array<i32: 1, 1, 1>}}>
    : (memref<?xf16>, index, index) -> ()
"""
)
CLUSTERS = (
    START
    + f"""
  %s = memref.view %smem[%c0][] : memref<4096xi8, {SHARED}> to memref<64xf16, {SHARED}>
  "nvvm.cluster.arrive"() : () -> ()
  "nvvm.cluster.wait"() : () -> ()
  "nvvm.cluster.arrive.relaxed"() <{{aligned}}> : () -> ()
  "nvvm.cluster.wait"() <{{aligned}}> : () -> ()
  %r = "nvvm.read.ptx.sreg.cluster.ctarank"() : () -> i32
  %x = "gpu.cluster_block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %y = "gpu.cluster_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %z = "gpu.cluster_dim"() <{{dimension = #gpu<dim x>}}> : () -> index
  %w = "gpu.cluster_dim_blocks"() <{{dimension = #gpu<dim x>}}> : () -> index
  %o = arith.subi %c1, %x : index
  %q = "phobos.peer"(%s, %o) : (memref<64xf16, {SHARED}>, index) -> memref<64xf16, 7 : i64>
  %v = memref.load %q[%x] : memref<64xf16, 7 : i64>
  memref.store %v, %q[%c1] : memref<64xf16, 7 : i64>
  memref.store %v, %A[%y] : memref<?xf16>
  "phobos.bulk.send"(%q, %c0, %s, %c0, %c64, %bars, %c0, %o)
    <{{operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, 1, 1, 1, 0>}}>
    : (memref<64xf16, 7 : i64>, index, memref<64xf16, {SHARED}>, index, index, {GROUP}, index, index)
    -> ()
  "phobos.mbarrier.arrive.peer"(%bars, %c0, %o, %p) : ({GROUP}, index, index, i1) -> ()
"""
)
NAMED = """
  %i = arith.constant 1 : i32
  %k = arith.constant 64 : i32
  %all = arith.constant -1 : i32
  "nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> ()
  "nvvm.barrier"(%i) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i32) -> ()
  "nvvm.barrier"(%i, %k) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()
  "nvvm.barrier.arrive"(%i, %k) : (i32, i32) -> ()
  "nvvm.bar.warp.sync"(%all) : (i32) -> ()
"""
REGISTERS = """
  %i = arith.constant 1 : i32
  %k = arith.constant 128 : i32
  scf.if %p {
    "nvvm.setmaxregister"() <{action = #nvvm<action decrease>, regCount = 40 : i32}> : () -> ()
    "nvvm.barrier"(%i, %k) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()
  } else {
    "nvvm.setmaxregister"() <{action = #nvvm<action increase>, regCount = 232 : i32}> : () -> ()
    "nvvm.barrier"(%k, %k) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i32, i32) -> ()
  }
"""


def _boxes(axes, *, multicast):
    box = "x".join(["2"] * (axes - 1) + ["64"])
    types, coordinates = ", ".join(["index"] * axes), ", ".join(["%n"] * axes)
    memref = f"memref<{box}xf16, {SHARED}>"
    mask, mask_type, has = (", %m", ", i16", 1) if multicast else ("", "", 0)
    return (
        START
        + f"""
  %m = arith.constant 3 : i16
  %s = memref.view %smem[%c0][] : memref<4096xi8, {SHARED}> to {memref}
  "nvgpu.tma.prefetch.descriptor"(%map) : ({map_type(box)}) -> ()
  "phobos.tma.prefetch"(%map, {coordinates}) : ({map_type(box)}, {types}) -> ()
  "nvgpu.tma.async.load"(%s, %bars, %map, {coordinates}, %c0{mask}, %p)
    <{{operandSegmentSizes = array<i32: 1, 1, 1, {axes}, 1, {has}, 1>}}>
    : ({memref}, {GROUP}, {map_type(box)}, {types}, index{mask_type}, i1) -> ()
  "nvgpu.tma.async.store"(%s, %map, {coordinates})
    <{{operandSegmentSizes = array<i32: 1, 1, {axes}, 0>}}>
    : ({memref}, {map_type(box)}, {types}) -> ()
"""
    ), f"%map: {map_type(box)}, %n: index, %p: i1"


BODIES = {
    "arrivals": ("%A: memref<?xf16>, %n: index, %p: i1", ARRIVALS),
    "plain copies": ("%A: memref<?xf16>, %n: index, %p: i1", PLAIN),
    "clusters": ("%A: memref<?xf16>, %n: index, %p: i1", CLUSTERS),
    "named barriers": ("%p: i1", NAMED),
    "registers": ("%p: i1", REGISTERS),
    **{f"boxes of {n} axes": _boxes(n, multicast=n == 2)[::-1] for n in range(1, 6)},
}


def operations():
    """The names of the operations in the small kernels, for the test that none is left out."""
    return {op.name for body in BODIES.values() for op in thread_module(*body).walk()}


SASS = {
    "arrivals": ("SYNCS.EXCH", "SYNCS.ARRIVE", "SYNCS.PHASECHK", "SYNCS.ARRIVE.TRANS64.A1T0"),
    "plain copies": ("UBLKCP", "UBLKPF", "UTMACMDFLUSH", "DEPBAR", "FENCE.VIEW.ASYNC"),
    "clusters": ("UCGABAR_ARV", "UCGABAR_WAIT", "UBLKCP.S.S", "SYNCS.ARRIVE.TRANS64.RED"),
    "named barriers": ("BAR.SYNC", "BAR.ARV"),
    "registers": ("USETMAXREG.DEALLOC", "USETMAXREG.TRY_ALLOC"),
    "boxes of 2 axes": ("UTMALDG.2D.MULTICAST", "UTMASTG.2D", "UTMACCTL.PF", "UTMAPF.L2.2D"),
    "boxes of 5 axes": ("UTMALDG.5D", "UTMASTG.5D"),
}
"""What the disassembler calls the instructions."""


@pytest.mark.nvrtc
@pytest.mark.parametrize("name", BODIES)
def test_nvrtc_takes_every_row(module, name):
    """Each small kernel compiles for Hopper without a header, to the instructions it is named after."""
    made = module(*BODIES[name], threads=384 if name == "registers" else 128)
    made.verify()
    cuda = emit(made, target.get("sm_90a"))
    assert "#include" not in cuda.text
    result = nvrtc.compile(cuda.text, "sm_90a")
    sass = disassemble(result.cubin)
    for instruction in SASS.get(name, ()):
        assert instruction in sass, sass


@pytest.mark.parametrize("name", [n for n in BODIES if n != "named barriers"])
def test_an_older_gpu_has_them_not(module, name):
    """On Ampere the fault names the target and the feature."""
    with pytest.raises(TypeError, match=r"sm_80 has no (tma|cluster|setmaxnreg)"):
        emit(module(*BODIES[name]), target.get("sm_80"))


def test_a_cluster_is_part_of_the_kernel(module):
    """The extents of a cluster stand on the kernel, so that any launch starts it so."""
    made = module(*BODIES["clusters"])
    function = next(op for op in made.walk() if op.name == "gpu.func")
    from xdsl.dialects.builtin import DenseArrayBase, i64

    function.attributes["phobos.cluster"] = DenseArrayBase.from_list(i64, [2, 1, 1])
    assert "__cluster_dims__(2, 1, 1) __launch_bounds__(128, 1)" in emit(made, target.get("sm_90a")).text


def test_barriers_are_the_last_bytes_of_dynamic_memory(module):
    """A static array would push the dynamic buffer off its alignment."""
    body = ARRIVALS.replace(
        f"memref.get_global @smem : memref<4096xi8, {SHARED}>",
        f'"gpu.dynamic_shared_memory"() : () -> memref<?xi8, {SHARED}>',
    )
    cuda = emit(module(BODIES["arrivals"][0], body), target.get("sm_90a"))
    assert re.search(r"bars = reinterpret_cast<unsigned long long\*>\(smem \+ 4080\);", cuda.text)
    assert (cuda.static_shared, cuda.dynamic_shared) == (0, 4096)
