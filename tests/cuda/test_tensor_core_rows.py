"""The tensor-core rows: NVRTC takes their text, and the instruction is in the machine code."""

import re

import pytest

from phobos_nb import target
from phobos_nb.cuda import nvrtc, sass
from phobos_nb.cuda.emit import emit
from phobos_nb.ir.dialects import nvvm_wgmma
from phobos_nb.ir.dialects.matrix_moves import MovMatrixOp, StMatrixOp
from phobos_nb.ir.dialects.subgroup_mma import (
    MatrixType,
    SubgroupMmaConstantOp,
    SubgroupMmaStoreOp,
)
from tests.tensor_core_kernels import (
    TYPES,
    Wgmma,
    Wmma,
    kernel,
    mma_kernel,
    wgmma_kernel,
    wmma_kernel,
)


def bare_order(t):
    """Upstream's own fence, commit and wait."""
    t.b.insert(nvvm_wgmma.WgmmaFenceAlignedOp())
    t.b.insert(nvvm_wgmma.WgmmaCommitOp())
    t.b.insert(nvvm_wgmma.WgmmaWaitGroupOp(0))


def moves(t):
    """Each form of stmatrix, and movmatrix."""
    zero = t.b.index(0)
    rows = t.view("f16", [64, 64])
    for tiles in (1, 2, 4):
        value = t.lane_vector("a", "f16", (tiles, 2), 32)
        for transpose in (False, True):
            t.b.insert(StMatrixOp(value, rows, [t.thread, zero], transpose=transpose))
    one = t.b.value(MovMatrixOp(t.lane_vector("a", "f16", (1, 2), 32)))
    t.store_lane_vector("out", "f16", one, 32)


def constants(t):
    """A matrix of one value, of every type that can be one."""
    for element, value in (("f16", 1.5), ("f32", 2.0), ("i32", -4)):
        type_ = MatrixType(16, 16, TYPES[element], "COp")
        one = t.b.constant(value, TYPES[element])
        made = t.b.value(SubgroupMmaConstantOp(one, type_))
        for transpose in (False, True):
            place = [t.b.index(0)]
            t.b.insert(SubgroupMmaStoreOp(made, t.tensors[element], place, 16, transpose=transpose))


SUMS = [(t, t, True) for t in ("f16", "f32", "i32")]
WMMA = [
    *(
        Wmma(shape, "f16", sums, way)
        for shape in ((16, 16, 16), (32, 8, 16), (8, 32, 16))
        for sums, way in (("f16", (False, True)), ("f32", (True, False)))
    ),
    Wmma((16, 16, 8), "f32", "f32", (True, True)),
    Wmma((8, 8, 4), "f64", "f64"),
    Wmma((32, 8, 16), "i8", "i32"),
    Wmma((16, 16, 16), "i8", "i32", (False, True)),
]
F16 = [("a", "f16", False), ("out", "f16", True)]
KERNELS = {
    "order": lambda: kernel(bare_order, [], threads=128),
    "constants": lambda: kernel(constants, SUMS, threads=32),
    **{str(case): lambda case=case: wmma_kernel(case) for case in WMMA},
    "moves": lambda: kernel(moves, F16, threads=32, shared=8192),
    "mma tf32 k4": lambda: mma_kernel((16, 8, 4), "f32", "f32"),
    "mma tf32 k8": lambda: mma_kernel((16, 8, 8), "f32", "f32"),
    "mma f64": lambda: mma_kernel((8, 8, 4), "f64", "f64"),
    **{
        str(case): lambda case=case: wgmma_kernel(case, 32768)
        for case in (
            Wgmma(256, "f16", "f32", mn_major=(False, True)),
            Wgmma(64, "f16", "f16"),
            Wgmma(64, "bf16", "f32", in_registers=True),
            Wgmma(128, "f32", "f32", negate=(True, False)),
            Wgmma(32, "f32", "f32", in_registers=True),
            Wgmma(96, "i8", "i32"),
            Wgmma(8, "i8", "i32", in_registers=True),
            Wgmma(8, "f16", "f32", fresh=True),
        )
    },
}


def operations():
    """The names of all operations in these kernels."""
    return {op.name for make in KERNELS.values() for op in make().module.walk()}


@pytest.mark.nvrtc
def test_nvrtc_takes_every_kernel():
    """Their text compiles for sm_90a, without a header and without a complaint about wgmma."""
    jobs = [
        nvrtc.Job(emit(make().module, target.get("sm_90a")).text, "sm_90a") for make in KERNELS.values()
    ]
    for name, result in zip(KERNELS, nvrtc.compile_all(jobs, workers=2), strict=True):
        assert isinstance(result, nvrtc.NvrtcResult), f"{name}: {result}"
        assert "serialized" not in result.log, f"{name}: {result.log}"


OLDER = {
    "sm_75": [c for c in WMMA if c.operand in ("f16", "i8")],
    "sm_80": [c for c in WMMA if c.operand in ("f32", "f64")],
    "sm_120": WMMA[:1],
}


@pytest.mark.nvrtc
@pytest.mark.parametrize("chip", OLDER)
def test_nvrtc_takes_wmma_for_other_targets(chip):
    """F16 and i8 from Turing on, tf32 and f64 from Ampere on."""
    arch = target.get(chip).nvrtc_arch
    texts = [emit(wmma_kernel(c, chip).module, target.get(chip)).text for c in OLDER[chip]]
    for result in nvrtc.compile_all([nvrtc.Job(t, arch) for t in texts], workers=2):
        assert isinstance(result, nvrtc.NvrtcResult), str(result)


@pytest.mark.parametrize(
    ("operand", "shape", "feature"), [("f32", (16, 16, 8), "mma.tf32"), ("f64", (8, 8, 4), "mma.f64")]
)
def test_turing_says_what_it_lacks(operand, shape, feature):
    """Neither tf32 nor f64 has products on sm_75: the fault names target and feature."""
    with pytest.raises(TypeError, match=f"sm_75 has no {feature}"):
        emit(wmma_kernel(Wmma(shape, operand, operand)).module, target.get("sm_75"))


INSTRUCTIONS = {
    "HGMMA.64x256x16.F32": Wgmma(256, "f16", "f32", mn_major=(False, True)),
    "HGMMA.64x64x16.F16": Wgmma(64, "f16", "f16"),
    "HGMMA.64x64x16.F32.BF16": Wgmma(64, "bf16", "f32", in_registers=True),
    "HGMMA.64x128x8.F32.TF32": Wgmma(128, "f32", "f32", negate=(True, False)),
    "IGMMA.64x96x32.S8.S8": Wgmma(96, "i8", "i32"),
}


@pytest.mark.nvrtc
@pytest.mark.skipif(sass.find_nvdisasm() is None, reason="no nvdisasm")
@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_the_machine_code_has_the_instruction(instruction):
    """One HGMMA (IGMMA for integers) of the shape and types, between WARPGROUP.ARRIVE and DEPBAR."""
    made = wgmma_kernel(INSTRUCTIONS[instruction], 32768)
    text = emit(made.module, target.get("sm_90a")).text
    (result,) = nvrtc.compile_all([nvrtc.Job(text, "sm_90a")], workers=1)
    listing = sass.disassemble(result.cubin)
    found = re.findall(r"(WARPGROUP\.ARRIVE|[HI]GMMA\S*|WARPGROUP\.DEPBAR)", listing)
    assert [f.split(".")[0] for f in found] == ["WARPGROUP", instruction.split(".")[0], "WARPGROUP"]
    assert found[1].startswith(instruction)


@pytest.mark.parametrize("chip", ["sm_80", "sm_89", "sm_120"])
def test_other_targets_say_that_they_have_no_wgmma(chip):
    """Wgmma is Hopper's alone: the fault names target and feature."""
    with pytest.raises(TypeError, match=f"{chip} has no wgmma"):
        emit(wgmma_kernel(Wgmma(8, "f16", "f32"), 32768).module, target.get(chip))


def test_an_accumulator_stays_where_it_is():
    """Fence, product and wait work on one variable: no copy of the registers stands between them."""
    made = wgmma_kernel(Wgmma(64, "f16", "f32"), 32768)
    text = emit(made.module, target.get("sm_90a")).text
    names = re.findall(r"ph::(?:hold|wgmma_m64\w+)(?:<[^>]*>)?\((\w+)", text)
    assert len(names) == 3
    assert len(set(names)) == 1
