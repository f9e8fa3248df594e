"""Every operation of the thread-level dialects against upstream: accepted, and given back unchanged."""

import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    VectorType,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.dialects.vector import BroadcastOp, CombiningKindFlag, CreateMaskOp
from xdsl.utils.exceptions import VerifyException

from phobos_nb.ir import upstream
from phobos_nb.ir.dialects import arith, gpu, llvm, nvgpu, vector
from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.text import custom, parse
from tests.ir.modules import module_with

INDEX = IndexType()

OPS = {
    "arith.cmpi": lambda b, v: b.cmpi("ult", v["i"], v["i2"]),
    "arith.cmpi on vectors": lambda b, v: b.insert(arith.CmpiOp(v["n4"], v["n4"], "sge")),
    "arith.cmpf": lambda b, v: b.insert(arith.CmpfOp(v["v4"], v["v4"], "olt")),
    "arith.select": lambda b, v: b.insert(arith.SelectOp(v["p"], v["v4"], v["v4"])),
    "arith.select by elements": lambda b, v: b.insert(arith.SelectOp(v["m4"], v["v4"], v["v4"])),
    "arith.index_cast": lambda b, v: b.index_cast(v["n"], INDEX),
    "arith.index_castui": lambda b, v: b.index_castui(v["b"], INDEX),
    "arith.fptosi": lambda b, v: b.fptosi(v["v4"], i32),
    "arith.fptoui": lambda b, v: b.fptoui(v["x"], i8),
    "arith.sitofp": lambda b, v: b.sitofp(v["n4"], f32),
    "arith.uitofp": lambda b, v: b.uitofp(v["b"], f32),
    "arith.trunci": lambda b, v: b.trunci(v["n4"], i8),
    "arith.extsi": lambda b, v: b.extsi(v["n4"], i64),
    "arith.extui": lambda b, v: b.extui(v["b"], i32),
    "arith.extf": lambda b, v: b.extf(v["h8"], f32),
    "arith.truncf": lambda b, v: b.truncf(b.extf(v["x"], f64), f32),
    "arith.bitcast": lambda b, v: b.bitcast(v["x"], i32),
    "arith.remf": lambda b, v: b.remf(v["x"], v["x"]),
    "arith.addf": lambda b, v: b.addf(v["x"], v["x"]),
    "arith.addi": lambda b, v: b.addi(v["n"], v["n"]),
    "arith.constant inf": lambda b, v: b.constant(float("-inf"), VectorType(f32, [4])),
    "arith.constant nan": lambda b, v: b.constant(float("nan"), f32),
    "math.fma": lambda b, v: b.fma(v["v4"], v["v4"], v["v4"]),
    "vector.load": lambda b, v: b.insert(
        vector.LoadOp(v["A"], [v["i"]], VectorType(f32, [4]), alignment=16)
    ),
    "vector.store": lambda b, v: b.insert(vector.StoreOp(v["v4"], v["A"], [v["i"]], alignment=16)),
    "vector.maskedload": lambda b, v: b.insert(
        vector.MaskedLoadOp(v["A"], [v["i"]], v["m4"], v["v4"], alignment=16)
    ),
    "vector.maskedstore": lambda b, v: b.insert(
        vector.MaskedStoreOp(v["A"], [v["i"]], v["m4"], v["v4"])
    ),
    "vector.create_mask": lambda b, v: b.insert(CreateMaskOp([v["i"]], v["m4"].type)),
    "vector.outerproduct": lambda b, v: b.insert(vector.OuterProductOp(v["v4"], v["v8"], v["v4x8"])),
    "vector.outerproduct alone": lambda b, v: b.insert(vector.OuterProductOp(v["v4"], v["v8"])),
    "vector.extract_strided_slice": lambda b, v: b.insert(
        vector.ExtractStridedSliceOp(v["v4x8"], [1], [2])
    ),
    "vector.insert_strided_slice": lambda b, v: b.insert(
        vector.InsertStridedSliceOp(v["v4"], v["v4x8"], [1, 4])
    ),
    "vector.shape_cast": lambda b, v: b.insert(vector.ShapeCastOp(v["v4x8"], [32])),
    "vector.multi_reduction": lambda b, v: b.insert(
        vector.MultiReductionOp(CombiningKindFlag.MAXIMUMF, v["v4x8"], v["v4"], [1])
    ),
    "vector.multi_reduction to a scalar": lambda b, v: b.insert(
        vector.MultiReductionOp(CombiningKindFlag.ADD, v["v4x8"], v["x"], [0, 1])
    ),
    "vector.transpose": lambda b, v: b.insert(vector.TransposeOp(v["v4x8"], [1, 0])),
    "vector.from_elements": lambda b, v: b.insert(
        vector.FromElementsOp([v["x"], v["x"]], VectorType(f32, [2]))
    ),
    "vector.to_elements": lambda b, v: b.insert(vector.ToElementsOp(v["v4"])),
    "vector.broadcast": lambda b, v: b.insert(BroadcastOp(v["x"], v["v4"].type)),
    "vector.broadcast stretching": lambda b, v: b.insert(
        BroadcastOp(b.insert(vector.ShapeCastOp(v["v4"], [4, 1])).result, v["v4x8"].type)
    ),
    "gpu.shuffle": lambda b, v: b.insert(gpu.ShuffleOp(v["x"], v["n"], v["n"], gpu.ShuffleMode.XOR)),
    "gpu.dynamic_shared_memory": lambda b, v: b.insert(gpu.DynamicSharedMemoryOp()),
    "gpu.printf": lambda b, v: b.insert(gpu.PrintfOp("%d: %f\n", [v["n"], v["x"]])),
    "llvm.intr.trap": lambda b, v: b.insert(llvm.TrapOp()),
    "nvgpu.device_async_copy": lambda b, v: b.insert(
        nvgpu.DeviceAsyncCopyOp(v["s"], [v["i"], v["i"]], v["H"], [v["i"]], 8, bypass_l1=True)
    ),
    "nvgpu.device_async_copy guarded": lambda b, v: b.insert(
        nvgpu.DeviceAsyncCopyOp(v["s"], [v["i"], v["i"]], v["H"], [v["i"]], 2, src_elements=v["i"])
    ),
    "nvgpu.device_async_create_group": lambda b, v: b.insert(nvgpu.DeviceAsyncCreateGroupOp()),
    "nvgpu.device_async_wait": lambda b, v: b.insert(
        nvgpu.DeviceAsyncWaitOp(b.insert(nvgpu.DeviceAsyncCreateGroupOp()).token, 1)
    ),
    "nvgpu.ldmatrix": lambda b, v: b.insert(
        nvgpu.LdMatrixOp(v["s"], [v["i"], v["i"]], 4, transpose=True)
    ),
    "nvgpu.mma.sync": lambda b, v: b.insert(nvgpu.MmaSyncOp(v["a42"], v["b22"], v["c22"], (16, 8, 16))),
    "nvgpu.mbarrier.create": lambda b, v: b.insert(nvgpu.MBarrierCreateOp()),
    "nvgpu.mbarrier.init": lambda b, v: b.insert(
        nvgpu.MBarrierInitOp(b.insert(nvgpu.MBarrierCreateOp(4)).barriers, v["i"], v["i"], v["p"])
    ),
    "nvgpu.mbarrier.arrive": lambda b, v: b.insert(
        nvgpu.MBarrierArriveOp(b.insert(nvgpu.MBarrierCreateOp(4)).barriers, v["i"])
    ),
    "nvgpu.mbarrier.arrive.expect_tx": lambda b, v: b.insert(
        nvgpu.MBarrierArriveExpectTxOp(b.insert(nvgpu.MBarrierCreateOp(4)).barriers, v["i"], v["i"])
    ),
    "nvgpu.mbarrier.try_wait.parity": lambda b, v: b.insert(
        nvgpu.MBarrierTryWaitParityOp(
            b.insert(nvgpu.MBarrierCreateOp(4)).barriers, v["i"], v["p"], v["i"]
        )
    ),
    "nvgpu.tma.async.load": lambda b, v: b.insert(
        nvgpu.TmaAsyncLoadOp(
            v["s"],
            b.insert(nvgpu.MBarrierCreateOp()).barriers,
            v["map"],
            [v["i"], v["i"]],
            v["i"],
            v["p"],
        )
    ),
    "memref.view": lambda b, v: b.insert(
        memref.ViewOp(
            b.insert(gpu.DynamicSharedMemoryOp()).result,
            v["i"],
            [],
            MemRefType(f32, [8, 8], memory_space=WORKGROUP),
        )
    ),
    "scf.for and scf.if": lambda b, v: _control(b, v),
}


def _control(b, v):
    loop = b.for_(v["i"], v["i"], b.index(1), [v["x"]])
    with b.inside(loop.body.block):
        branch = b.if_(v["p"], [f32])
        with b.inside(branch.true_region.block):
            b.yield_([loop.body.block.args[1]])
        with b.inside(branch.false_region.block):
            b.yield_([v["x"]])
        b.yield_([branch.output[0]])


def module_of(name):
    def build(builder, values):
        OPS[name](builder, {**values, "i2": builder.index(2)})

    return module_with(build)


@pytest.mark.mlir
@pytest.mark.parametrize("name", OPS)
def test_upstream_gives_back_what_it_got(name):
    """The op verifies here and upstream, and comes back from upstream's printer unchanged."""
    module = module_of(name)
    module.verify()
    upstream.roundtrip(module)


@pytest.mark.parametrize("name", OPS)
def test_custom_text_reads_back(name):
    """The form printed for people parses to the same module."""
    module = module_of(name)
    assert module.is_structurally_equivalent(parse(custom(module)))


@pytest.mark.mlir
def test_the_kernel_is_an_entry_in_ptx():
    """A gpu.func comes out of upstream's pipeline as a visible entry, not as a plain function."""
    from phobos_nb import target

    module = module_with(lambda b, v: b.insert(vector.StoreOp(v["v4"], v["A"], [v["i"]])))
    function = next(op for op in module.walk() if isinstance(op, gpu.FuncOp))
    keep = [v for v in function.body.blocks[0].args if v.uses.get_length()]
    assert len(keep) == 3
    for argument in [a for a in function.body.blocks[0].args if a not in keep]:
        function.body.blocks[0].erase_arg(argument)
    from xdsl.dialects.builtin import FunctionType

    function.properties["function_type"] = FunctionType.from_lists([a.type for a in keep], [])
    assert ".visible .entry f(" in upstream.to_ptx(module, target.get("sm_80"))


@pytest.mark.mlir
def test_a_property_that_upstream_drops_is_an_error():
    """The round trip refuses a module from which upstream silently drops a property."""
    module = module_of("gpu.shuffle")
    next(op for op in module.walk() if op.name == "gpu.func").properties["kernel"] = IntegerAttr(1, i32)
    with pytest.raises(upstream.UpstreamError, match=r"gpu\.func"):
        upstream.roundtrip(module)


@pytest.mark.mlir
def test_upstream_refusals_carry_its_message():
    """What upstream's verifier says is the text of the error."""
    module = module_of("arith.extsi")
    next(op for op in module.walk() if op.name == "arith.extsi").results[0]._type = VectorType(i16, [2])
    with pytest.raises(upstream.UpstreamError, match="extsi"):
        upstream.verify(module)


def test_a_missing_tool_is_said(monkeypatch):
    """Without mlir-opt the error names the variable to set."""
    monkeypatch.setenv("PHOBOS_MLIR_OPT", "/nonexistent/mlir-opt")
    with pytest.raises(upstream.UpstreamError, match="PHOBOS_MLIR_OPT"):
        upstream.verify(module_of("arith.addf"))


WRONG = {
    "copy of 6 bytes": (
        lambda b, v: nvgpu.DeviceAsyncCopyOp(v["s"], [v["i"], v["i"]], v["H"], [v["i"]], 3),
        "wanted a copy of 4 or 8 or 16 bytes, found 6",
    ),
    "copy past L1 of 4 bytes": (
        lambda b, v: nvgpu.DeviceAsyncCopyOp(
            v["s"], [v["i"], v["i"]], v["H"], [v["i"]], 2, bypass_l1=True
        ),
        "wanted a copy of 16 bytes, found 4",
    ),
    "copy to global memory": (
        lambda b, v: nvgpu.DeviceAsyncCopyOp(v["H"], [v["i"]], v["H"], [v["i"]], 2),
        "destination: wanted memory space",
    ),
    "missing index": (
        lambda b, v: vector.LoadOp(v["s"], [v["i"]], VectorType(f32, [4])),
        "wanted 2 indices, one per axis of the memref, found 1",
    ),
    "odd alignment": (
        lambda b, v: vector.LoadOp(v["A"], [v["i"]], VectorType(f32, [4]), alignment=12),
        "alignment: wanted a power of two, found 12",
    ),
    "mma of another depth": (
        lambda b, v: nvgpu.MmaSyncOp(v["a42"], v["b22"], v["c22"], (16, 8, 8)),
        "a: wanted 128 elements over the warp, found 256",
    ),
    "slice outside": (
        lambda b, v: vector.InsertStridedSliceOp(v["v4"], v["v4x8"], [1, 6]),
        "a slice of shape [4] at [1, 6] does not lie inside shape [4, 8]",
    ),
    "narrowing by extsi": (lambda b, v: arith.ExtSIOp(v["n"], i8), "wanted integer to wider integer"),
    "select by a vector between scalars": (
        lambda b, v: arith.SelectOp(v["m4"], v["x"], v["x"]),
        "condition: wanted shape a scalar, found [4]",
    ),
    "compare of two types": (
        lambda b, v: arith.CmpiOp(v["n"], v["w"], "eq"),
        "wanted operands of one type, found i32 and i64",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_operations_say_what_is_wrong(name):
    """The verifier names what it wanted and what it found."""
    build, message = WRONG[name]
    module = module_with(lambda b, v: b.insert(build(b, v)))
    with pytest.raises(VerifyException) as caught:
        module.verify()
    assert message in str(caught.value)
