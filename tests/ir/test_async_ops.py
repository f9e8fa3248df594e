"""Barriers, bulk copies and clusters against upstream: accepted, given back unchanged, and lowered."""

import re

import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, UnrankedMemRefType, f16, i16
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.utils.exceptions import VerifyException

from phobos_nb import target
from phobos_nb.ir import upstream
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import bulk, gpu, nvgpu, nvvm_sync
from phobos_nb.ir.dialects.nvvm_sync import ProxyKind, RegisterAction, SharedSpace
from phobos_nb.ir.text import custom, parse
from tests.async_kernels import KERNELS
from tests.ir.modules import module_with


def group(b, number=4):
    return b.value(nvgpu.MBarrierCreateOp(number))


def box(b, v, **options):
    return nvgpu.TmaAsyncLoadOp(v["s"], group(b), v["map"], [v["i"], v["i"]], v["i"], **options)


def peer(b, v):
    return b.value(bulk.PeerOp(v["s"], v["i"]))


PLACE = ("i", "i")


def at(v, name="s", axes=2):
    return v[name], [v["i"]] * axes


OPS = {
    "mbarrier.arrive.nocomplete": lambda b, v: b.insert(
        nvgpu.MBarrierArriveNoCompleteOp(group(b), v["i"], v["i"])
    ),
    "mbarrier.test.wait": lambda b, v: b.insert(
        nvgpu.MBarrierTestWaitOp(
            g := group(b), v["i"], b.insert(nvgpu.MBarrierArriveOp(g, v["i"])).token
        )
    ),
    "mbarrier.get": lambda b, v: b.insert(nvgpu.MBarrierGetOp(group(b), v["i"])),
    "tma.async.load multicast": lambda b, v: b.insert(
        box(b, v, multicast_mask=b.constant(3, i16), predicate=v["p"])
    ),
    "tma.async.store": lambda b, v: b.insert(
        nvgpu.TmaAsyncStoreOp(v["s"], v["map"], [v["i"], v["i"]], v["p"])
    ),
    "tma.prefetch.descriptor": lambda b, v: b.insert(nvgpu.TmaPrefetchOp(v["map"], v["p"])),
    "barrier": lambda b, v: b.insert(nvvm_sync.BarrierOp()),
    "barrier of a number": lambda b, v: b.insert(nvvm_sync.BarrierOp(v["n"])),
    "barrier of some threads": lambda b, v: b.insert(nvvm_sync.BarrierOp(v["n"], v["n"])),
    "barrier.arrive": lambda b, v: b.insert(nvvm_sync.BarrierArriveOp(v["n"], v["n"])),
    "bar.warp.sync": lambda b, v: b.insert(nvvm_sync.SyncWarpOp(v["n"])),
    "cluster.arrive": lambda b, v: b.insert(nvvm_sync.ClusterArriveOp()),
    "cluster.arrive aligned": lambda b, v: b.insert(nvvm_sync.ClusterArriveOp(aligned=True)),
    "cluster.arrive.relaxed": lambda b, v: b.insert(nvvm_sync.ClusterArriveRelaxedOp()),
    "cluster.wait": lambda b, v: b.insert(nvvm_sync.ClusterWaitOp(aligned=True)),
    "cluster.ctarank": lambda b, v: b.insert(nvvm_sync.ClusterRankOp()),
    "fence.mbarrier.init": lambda b, v: b.insert(nvvm_sync.FenceMbarrierInitOp()),
    "fence.proxy async": lambda b, v: b.insert(nvvm_sync.FenceProxyOp()),
    "fence.proxy async.global": lambda b, v: b.insert(nvvm_sync.FenceProxyOp(ProxyKind.ASYNC_GLOBAL)),
    "fence.proxy async.shared": lambda b, v: b.insert(
        nvvm_sync.FenceProxyOp(ProxyKind.ASYNC_SHARED, SharedSpace.CTA)
    ),
    "setmaxregister": lambda b, v: b.insert(nvvm_sync.SetMaxRegisterOp(232, RegisterAction.INCREASE)),
    "bulk.commit.group": lambda b, v: b.insert(nvvm_sync.BulkCommitOp()),
    "bulk.wait_group": lambda b, v: b.insert(nvvm_sync.BulkWaitOp(1)),
    "bulk.wait_group read": lambda b, v: b.insert(nvvm_sync.BulkWaitOp(0, read=True)),
    **{
        kind.name: lambda b, v, kind=kind: b.insert(kind(gpu.DimensionEnum.X))
        for kind in (gpu.ClusterIdOp, gpu.ClusterDimOp, gpu.ClusterBlockIdOp, gpu.ClusterDimBlocksOp)
    },
    "bulk.load": lambda b, v: b.insert(
        bulk.BulkLoadOp(at(v), at(v, "H", 1), v["i"], group(b), v["i"], predicate=v["p"])
    ),
    "bulk.load multicast": lambda b, v: b.insert(
        bulk.BulkLoadOp(
            at(v), at(v, "H", 1), v["i"], group(b), v["i"], multicast_mask=b.constant(3, i16)
        )
    ),
    "bulk.store": lambda b, v: b.insert(bulk.BulkStoreOp(at(v, "H", 1), at(v), v["i"])),
    "bulk.send": lambda b, v: b.insert(
        bulk.BulkSendOp((peer(b, v), [v["i"], v["i"]]), at(v), v["i"], group(b), v["i"], v["i"], v["p"])
    ),
    "bulk.prefetch": lambda b, v: b.insert(bulk.BulkPrefetchOp(at(v, "H", 1), v["i"])),
    "tma.prefetch": lambda b, v: b.insert(bulk.TensorPrefetchOp(v["map"], [v["i"], v["i"]])),
    "mbarrier.arrive.peer": lambda b, v: b.insert(bulk.ArrivePeerOp(group(b), v["i"], v["i"], v["p"])),
    "peer": lambda b, v: b.insert(
        memref.StoreOp.get(
            b.value(memref.LoadOp.get(p := peer(b, v), [v["i"], v["i"]])), p, [v["i"], v["i"]]
        )
    ),
}


def module_of(name):
    return module_with(lambda b, v: OPS[name](b, v))


@pytest.mark.mlir
@pytest.mark.parametrize("name", OPS)
def test_upstream_gives_back_what_it_got(name):
    """Upstream's own operations come back unchanged; ours go as what they become for it."""
    module = module_of(name)
    module.verify()
    upstream.roundtrip(module)


@pytest.mark.parametrize("name", OPS)
def test_text_reads_back(name):
    """The form printed for people parses to the same module."""
    module = module_of(name)
    assert module.is_structurally_equivalent(parse(custom(module)))


@pytest.mark.mlir
def test_a_descriptor_is_made_on_the_host():
    """`nvgpu.tma.create.descriptor` stands in host code."""
    map_type = nvgpu.TensorMapType(MemRefType(f16, [64, 64], memory_space=bulk.WORKGROUP))
    module = module_with(lambda b, v: None)
    host = FuncOp("host", ([UnrankedMemRefType.from_type(f16)], []))
    b = Builder(host.body.block)
    (tensor,) = host.body.block.args
    b.insert(nvgpu.TmaCreateDescriptorOp(tensor, [b.index(64), b.index(64)], map_type))
    b.insert(ReturnOp())
    module.body.block.add_op(host)
    upstream.roundtrip(module)


@pytest.mark.mlir
@pytest.mark.parametrize("name", ["ring", "multicast", "exchange", "plain copies", "named barriers"])
def test_whole_kernels_verify_upstream(name):
    """The hand-written kernels pass upstream's verifier."""
    upstream.verify(KERNELS[name]().module)


PTX = {
    "plain copies": ("cp.async.bulk.shared::c", "cp.async.bulk.global.shared::cta.bulk_group"),
    "exchange": (
        "cp.async.bulk.shared::cluster.shared::cta",
        "mapa.shared::cluster",
        "mbarrier.arrive.shared::cluster.b64 _, [%",
        "barrier.cluster.wait",
    ),
    "named barriers": ("bar.arrive", "bar.sync"),
}


@pytest.mark.mlir
@pytest.mark.parametrize("name", PTX)
def test_upstream_lowers_them(name):
    """Its own pipeline makes the same instructions of them; as arguments it knows no tensor maps."""
    ptx = upstream.to_ptx(KERNELS[name]().module, target.get("sm_90a"))
    for instruction in PTX[name]:
        assert instruction in ptx


WRONG = {
    "a box of another shape": (
        lambda b, v: nvgpu.TmaAsyncLoadOp(
            b.value(memref.ViewOp(b.value(gpu.DynamicSharedMemoryOp()), v["i"], [], SMALL)),
            group(b),
            v["map"],
            [v["i"], v["i"]],
            v["i"],
        ),
        "target: wanted the box [64, 64], found [32, 64]",
    ),
    "a missing coordinate": (
        lambda b, v: nvgpu.TmaAsyncStoreOp(v["s"], v["map"], [v["i"]]),
        "wanted 2 coordinates, found 1",
    ),
    "registers of no kind": (
        lambda b, v: nvvm_sync.SetMaxRegisterOp(100, RegisterAction.INCREASE),
        "wanted a multiple of 8 from 24 to 256, found 100",
    ),
    "a fence without its window": (
        lambda b, v: nvvm_sync.FenceProxyOp(ProxyKind.ASYNC_SHARED),
        "space: wanted with async.shared, and only there",
    ),
    "a store to shared memory": (
        lambda b, v: bulk.BulkStoreOp(at(v), at(v), v["i"]),
        "target: wanted global memory",
    ),
    "a load from shared memory": (
        lambda b, v: bulk.BulkLoadOp(at(v), at(v), v["i"], group(b), v["i"]),
        "source: wanted global memory",
    ),
    "a peer of global memory": (lambda b, v: bulk.PeerOp(v["H"], v["i"]), "wanted a memref in shared"),
    "a missing index": (
        lambda b, v: bulk.BulkPrefetchOp((v["s"], [v["i"]]), v["i"]),
        "source: wanted 2 indices, found 1",
    ),
}
SMALL = MemRefType(f16, [32, 64], memory_space=bulk.WORKGROUP)


@pytest.mark.parametrize("name", WRONG)
def test_wrong_operations_say_what_is_wrong(name):
    """The verifier names what it wanted and what it found."""
    build, message = WRONG[name]
    with pytest.raises(VerifyException, match=re.escape(message)):
        module_with(lambda b, v: b.insert(build(b, v))).verify()


def test_dynamic_extents_are_what_they_are():
    """A peer view keeps the shape of its own, dynamic ones included."""
    made = MemRefType(f16, [DYNAMIC_INDEX], memory_space=bulk.WORKGROUP)
    assert made.get_shape() == (DYNAMIC_INDEX,)
