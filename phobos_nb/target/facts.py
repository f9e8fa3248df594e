"""The record that every architecture file fills in: facts only, no decisions.

Sources, named by these letters in the architecture files:

- PG: CUDA C++ Programming Guide, section "Compute Capabilities", table "Technical Specifications
  per Compute Capability".
- TP: the same guide, table "Throughput of Native Arithmetic Instructions" (per clock and SM).
- OC: the CUDA Occupancy Calculator's allocation units (register, warp and shared granularity).
- WP: the architecture white paper of that generation (tensor core rates, caches, cards).
- PTX: PTX ISA, the "Target ISA Notes" of the instruction.
- MS: P. Xie et al., "MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores",
  arXiv:2511.10909 (2025); earlier: M. Fasi et al., "Numerical behavior of NVIDIA tensor cores", PeerJ
  Computer Science 7:e330 (2021).
- H200: measured on an H200, `results/h200_tensor_cores.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Banks:
    """Shared memory as `count` banks of `width` bytes; one wavefront serves each bank once.

    The same for every architecture since compute capability 5.0 (PG, "Shared Memory").
    """

    count: int = 32
    width: int = 4


@dataclass(frozen=True)
class TensorCore:
    """How a tensor core adds products of floats.

    block_bytes: bytes of operand along k whose products join the accumulator in one sum.
    fraction_bits: bits kept below the largest exponent in that sum, or below lowest_exponent if that is
    larger (MS says that zeros count as -126; on an H200 it is -133). wmma_tf32_bytes: the same as
    block_bytes for tf32 through WMMA. measured: on hardware here, else from the literature.
    """

    block_bytes: int
    fraction_bits: int
    lowest_exponent: int = -126
    wmma_tf32_bytes: int = 16
    measured: bool = False


@dataclass(frozen=True)
class Card:
    """A product: its SMs, boost clock in MHz, L2 in bytes, DRAM bandwidth in GB/s (data sheets)."""

    name: str
    sms: int
    clock_mhz: int
    l2_bytes: int
    dram_gbs: int


@dataclass(frozen=True)
class Target:
    """One GPU architecture.

    Limits are per CTA, per SM or per thread as named; sizes are bytes unless named otherwise.
    shared_per_cta is the static limit, shared_per_cta_optin the one with the dynamic opt-in;
    shared_reserved is what the system takes from shared_per_sm for each resident CTA.
    Registers are allocated per warp in multiples of register_unit, warps in multiples of warp_unit.
    fma: multiply-adds per SM and clock by kind, "f32", "f64", and "tensor.f16" (f16 operands, f32
    sums) for the dense tensor core rate. ptx_feature: the lowest feature string that upstream's
    NVPTX back end takes for this chip. default_index_bits: the width of sizes when nobody chose.
    """

    name: str
    capability: tuple[int, int]
    nvrtc_arch: str
    upstream_chip: str
    ptx_feature: str
    warps_per_sm: int
    ctas_per_sm: int
    shared_per_sm: int
    shared_per_cta_optin: int
    shared_reserved: int
    shared_unit: int
    features: frozenset[str]
    fma: Mapping[str, int]
    tensor_core: TensorCore
    cards: tuple[Card, ...] = ()
    warp_size: int = 32
    threads_per_cta: int = 1024
    registers_per_sm: int = 65536
    registers_per_cta: int = 65536
    registers_per_thread: int = 255
    register_unit: int = 256
    warp_unit: int = 4
    shared_per_cta: int = 48 * 1024
    default_index_bits: int = 64
    banks: Banks = field(default_factory=Banks)
    line_bytes: int = 128
    sector_bytes: int = 32

    @property
    def threads_per_sm(self) -> int:
        """The most threads resident on one SM."""
        return self.warps_per_sm * self.warp_size

    def has(self, feature: str) -> bool:
        """Whether the instruction family is there, such as "cp.async", "ldmatrix" or "wgmma"."""
        return feature in self.features


TURING = frozenset(
    {"ldmatrix", "mma.sync", "wmma", "atomic.f16", "atomic.f64", "movmatrix", "tanh.approx"}
)
"""PTX: ldmatrix, mma.m16n8k8 from sm_75; wmma, atom.add.f16 from sm_70; atom.add.f64 from sm_60."""

AMPERE = TURING | {
    "cp.async",
    "mma.m16n8k16",
    "mma.bf16",
    "mma.tf32",
    "mma.f64",
    "bf16",
    "min.nan",
    "redux.sync",
    "mbarrier",
}
"""PTX: cp.async, mbarrier, redux.sync, bf16 conversions and min.NaN need sm_80; cvt.rn.bf16.f32 too."""

HOPPER = AMPERE | {
    "atomic.bf16",
    "cluster",
    "stmatrix",
    "setmaxnreg",
    "tma",
    "wgmma",
    "elect",
    "cp.async.bulk",
}
"""PTX: atom.add.noftz.bf16, clusters, stmatrix, bulk tensor copies from sm_90; wgmma on sm_90a alone."""
