"""Tensor-core operations that upstream lacks or puts on bare registers: verified, and lowered there."""

import re

import pytest
from xdsl.dialects import memref
from xdsl.dialects.builtin import FunctionType, MemRefType, VectorType, bf16, f16, f32, f64, i8, i32, i64
from xdsl.utils.exceptions import VerifyException

from phobos_nb import target
from phobos_nb.ir import upstream
from phobos_nb.ir.dialects import gpu, nvgpu, nvvm_wgmma
from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.matrix_moves import MovMatrixOp, StMatrixOp
from phobos_nb.ir.dialects.nvgpu_warpgroup import (
    GenerateDescriptorOp,
    InitAccumulatorOp,
    StoreAccumulatorOp,
    WarpgroupMmaOp,
)
from phobos_nb.ir.dialects.subgroup_mma import (
    SI8,
    MatrixType,
    SubgroupMmaComputeOp,
    SubgroupMmaConstantOp,
    SubgroupMmaLoadOp,
    SubgroupMmaStoreOp,
)
from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp, WgmmaFenceOp, WgmmaOp, WgmmaWaitOp
from phobos_nb.ir.text import custom, parse
from phobos_nb.ir.upstream_ops import upstream_ops
from tests.ir.modules import module_with


def zeros(b, element, *shape):
    return b.constant(0, VectorType(element, shape))


def descriptor(b, v, swizzle=128):
    return b.value(WgmmaDescriptorOp(v["s"], [v["i"], v["i"]], leading=16, stride=1024, swizzle=swizzle))


def product(element, sums, n, k, **options):
    def build(b, v):
        acc = zeros(b, sums, n // 8, 2, 2)
        scale = v["p"] if options.pop("conditional", False) else None
        (ready,) = b.insert(WgmmaFenceOp([acc])).passed
        started = b.value(
            WgmmaOp(
                ready, descriptor(b, v), descriptor(b, v), (64, n, k), element, scale_d=scale, **options
            )
        )
        b.insert(nvvm_wgmma.WgmmaCommitOp())
        b.insert(WgmmaWaitOp([started], 1))

    return build


def wmma(mnk, element, sums, transposed=(False, False)):
    def build(b, v):
        m, n, k = mnk
        stored = i8 if element == SI8 else element
        type_ = MemRefType(stored, [4096], memory_space=WORKGROUP)
        source = b.value(memref.ViewOp(_bytes(b), b.index(0), [], type_))
        load = [
            b.value(
                SubgroupMmaLoadOp(source, [v["i"]], MatrixType(r, c, element, role), 64, transpose=t)
            )
            for r, c, role, t in ((m, k, "AOp", transposed[0]), (k, n, "BOp", transposed[1]))
        ]
        type_ = MemRefType(sums, [1024], memory_space=WORKGROUP)
        target = b.value(memref.ViewOp(_bytes(b), b.index(0), [], type_))
        held = MatrixType(m, n, sums, "COp")
        if sums == f64:
            acc = b.value(SubgroupMmaLoadOp(target, [v["i"]], held, n))
        else:
            acc = b.value(SubgroupMmaConstantOp(b.constant(0, sums), held))
        done = b.value(SubgroupMmaComputeOp(*load, acc, transposed=transposed))
        b.insert(SubgroupMmaStoreOp(done, target, [v["i"]], n, transpose=transposed[0]))

    return build


def _bytes(b):
    return b.value(gpu.DynamicSharedMemoryOp())


WMMA = {
    "wmma f16": wmma((16, 16, 16), f16, f32),
    "wmma f16 m32n8k16": wmma((32, 8, 16), f16, f16, (True, False)),
    "wmma f16 m8n32k16": wmma((8, 32, 16), f16, f32, (False, True)),
    "wmma tf32": wmma((16, 16, 8), f32, f32, (True, True)),
    "wmma i8": wmma((16, 16, 16), SI8, i32),
    "wmma f64": wmma((8, 8, 4), f64, f64),
}


def warpgroup(b, v):
    """Upstream's own product of tiles, on a hidden accumulator."""
    rows, columns = (MemRefType(f16, s, memory_space=WORKGROUP) for s in ((128, 64), (64, 128)))
    left = b.value(memref.ViewOp(_bytes(b), b.index(0), [], rows))
    right = b.value(memref.ViewOp(_bytes(b), b.index(16384), [], columns))
    acc = b.value(InitAccumulatorOp(VectorType(f32, [128, 128])))
    a, c = (b.value(GenerateDescriptorOp(x, v["map"])) for x in (left, right))
    done = b.value(WarpgroupMmaOp(a, c, acc, 0, transpose_b=True))
    target = MemRefType(f32, [128, 128], memory_space=WORKGROUP)
    place = b.value(memref.ViewOp(_bytes(b), b.index(0), [], target))
    b.insert(StoreAccumulatorOp(done, place))


OPS = {
    **WMMA,
    "nvgpu.warpgroup": warpgroup,
    "stmatrix x4": lambda b, v: b.insert(StMatrixOp(v["a42"], v["s"], [v["i"], v["i"]])),
    "stmatrix x2 transposed": lambda b, v: b.insert(
        StMatrixOp(v["b22"], v["s"], [v["i"], v["i"]], transpose=True)
    ),
    "movmatrix": lambda b, v: b.insert(MovMatrixOp(zeros(b, f16, 1, 2))),
    "fence": lambda b, v: b.insert(nvvm_wgmma.WgmmaFenceAlignedOp()),
    "wait": lambda b, v: b.insert(nvvm_wgmma.WgmmaWaitGroupOp(3)),
    "f16 to f32": product(f16, f32, 64, 16, mn_major=(True, False)),
    "f16 to f16": product(f16, f16, 256, 16, negate=(True, False)),
    "bf16": product(bf16, f32, 8, 16, mn_major=(False, True), conditional=True),
    "tf32": product(f32, f32, 128, 8, negate=(False, True)),
    "i8": product(i8, i32, 96, 32),
}


@pytest.mark.mlir
@pytest.mark.parametrize("name", OPS)
def test_upstream_takes_what_they_become(name):
    """The op verifies here, and what `upstream_ops` makes of it verifies and comes back unchanged."""
    module = module_with(OPS[name])
    module.verify()
    upstream.roundtrip(module)


@pytest.mark.parametrize("name", OPS)
def test_text_reads_back(name):
    """The form printed for people parses to the same module."""
    module = module_with(OPS[name])
    assert module.is_structurally_equivalent(parse(custom(module)))


def test_a_module_without_them_is_left_alone():
    """No copy is made where there is nothing to put differently."""
    module = module_with(lambda b, v: b.addi(v["n"], v["n"]))
    assert upstream_ops(module) is module


INSTRUCTIONS = {
    "stmatrix x4": r"stmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16",
    "movmatrix": r"movmatrix\.sync\.aligned\.m8n8\.trans\.b16",
    "f16 to f32": r"wgmma\.mma_async\.sync\.aligned\.m64n64k16\.f32\.f16\.f16",
    "f16 to f16": r"wgmma\.mma_async\.sync\.aligned\.m64n256k16\.f16\.f16\.f16",
    "bf16": r"wgmma\.mma_async\.sync\.aligned\.m64n8k16\.f32\.bf16\.bf16",
    "tf32": r"wgmma\.mma_async\.sync\.aligned\.m64n128k8\.f32\.tf32\.tf32",
    "wmma f16": r"wmma\.mma\.sync\.aligned\.row\.row\.m16n16k16\.f32\.f32",
    "wmma f16 m8n32k16": r"wmma\.mma\.sync\.aligned\.row\.col\.m8n32k16\.f32\.f32",
    "i8": r"wgmma\.mma_async\.sync\.aligned\.m64n96k32\.s32\.s8\.s8",
}


def with_used_arguments(module):
    """The module whose kernel takes only what it uses: the others have types that PTX has not."""
    function = next(op for op in module.walk() if isinstance(op, gpu.FuncOp))
    block = function.body.block
    for argument in [a for a in block.args if not a.uses.get_length()]:
        block.erase_arg(argument)
    types = [a.type for a in block.args]
    function.properties["function_type"] = FunctionType.from_lists(types, [])
    return module


@pytest.mark.mlir
@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_upstream_makes_the_instruction(name):
    """The PTX of upstream's own pipeline holds the instruction."""
    ptx = upstream.to_ptx(with_used_arguments(module_with(OPS[name])), target.get("sm_90a"))
    assert re.search(INSTRUCTIONS[name], ptx)


def in_registers(element, sums, n, k, **options):
    def build(b, v):
        per = {f16: 2, bf16: 2, f32: 1, i8: 4}[element]
        acc, left = zeros(b, sums, n // 8, 2, 2), zeros(b, element, 4, per)
        scale = v["p"] if options.get("negate") else None
        b.insert(WgmmaOp(acc, left, descriptor(b, v), (64, n, k), element, scale_d=scale, **options))

    return build


FRAGMENTS = {
    "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16": in_registers(
        f16, f32, 64, 16, negate=(True, False), mn_major=(False, True)
    ),
    "wgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16": in_registers(f16, f16, 16, 16),
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32": in_registers(f32, f32, 8, 8),
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8": in_registers(i8, i32, 8, 32),
}


@pytest.mark.mlir
@pytest.mark.parametrize("instruction", FRAGMENTS)
def test_a_left_operand_in_registers(instruction):
    """Upstream takes it as assembler; the PTX holds the instruction with four registers of a."""
    module = module_with(FRAGMENTS[instruction])
    upstream.roundtrip(module)
    ptx = upstream.to_ptx(with_used_arguments(module), target.get("sm_90a"))
    found = re.search(rf"{re.escape(instruction)} \{{([^}}]*)\}}, \{{([^}}]*)\}}, %rd\d+, p", ptx)
    assert len(found.group(2).split(",")) == 4
    columns = int(re.search(r"m64n(\d+)k", instruction).group(1))
    per_register = 4 if ".f16.f16.f16" in instruction else 2
    assert len(found.group(1).split(",")) == columns // per_register


def wrong(n=64, k=16, acc=(8, 2, 2), sums=f32, operand=f16, **options):
    def build(b, v):
        d = descriptor(b, v)
        b.insert(WgmmaOp(zeros(b, sums, *acc), d, d, (64, n, k), operand, **options))

    return build


WRONG = {
    "matrix extents": (wmma((16, 8, 16), f16, f32), "no product of [16, 16] by [16, 8]"),
    "matrix sums": (wmma((16, 16, 16), SI8, f32), "no sums of f32 for operands of si8"),
    "matrix roles": (
        lambda b, v: b.insert(
            SubgroupMmaStoreOp(
                b.value(SubgroupMmaConstantOp(b.constant(0, f32), MatrixType(16, 16, f32, "AOp"))),
                v["A"],
                [v["i"]],
                16,
            )
        ),
        'wanted an accumulator ("COp")',
    ),
    "f32 that is not tf32": (
        lambda b, v: b.insert(
            nvgpu.MmaSyncOp(zeros(b, f32, 4, 1), zeros(b, f32, 2, 1), zeros(b, f32, 2, 2), (16, 8, 8))
        ),
        "tf32Enabled belongs to operands of f32",
    ),
    "columns": (wrong(n=60, acc=(30,)), "no wgmma has 60 columns"),
    "columns of integers": (
        wrong(n=40, k=32, acc=(20,), sums=i32, operand=i8),
        "no wgmma has 40 columns",
    ),
    "depth": (wrong(k=8), "wanted 64 rows and depth 16, found 64 and 8"),
    "accumulator": (wrong(acc=(4, 2, 2)), "wanted 32 elements per thread, found 16"),
    "sums": (wrong(sums=i32), "wanted elements f16 or f32, found i32"),
    "direction": (
        wrong(k=8, operand=f32, mn_major=(True, False)),
        "only 16-bit operands can run along m or n",
    ),
    "sign": (
        wrong(k=32, sums=i32, operand=i8, negate=(True, False)),
        "integer operands cannot be negated",
    ),
    "type": (wrong(operand=i64), "operand: wanted f16, bf16, f32"),
    "swizzle": (lambda b, v: descriptor(b, v, swizzle=16), "wanted 0, 32, 64 or 128 bytes, found 16"),
    "offset": (
        lambda b, v: b.insert(
            WgmmaDescriptorOp(v["s"], [v["i"], v["i"]], leading=8, stride=1024, swizzle=0)
        ),
        "leading: wanted a multiple of 16 below 262144, found 8",
    ),
    "memory": (
        lambda b, v: b.insert(WgmmaDescriptorOp(v["H"], [v["i"]], leading=16, stride=16, swizzle=0)),
        "source: wanted memory space",
    ),
    "groups": (lambda b, v: b.insert(WgmmaWaitOp([], 8)), "groups: wanted 0 to 7, found 8"),
    "tile": (
        lambda b, v: b.insert(StMatrixOp(v["c22"], v["s"], [v["i"], v["i"]])),
        "elements of 16 bits",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_operations_say_what_is_wrong(name):
    """The verifier names what it wanted and what it found."""
    build, message = WRONG[name]
    with pytest.raises(VerifyException) as caught:
        module_with(build).verify()
    assert message in str(caught.value)
