"""Turing (T4, RTX 20)."""

from __future__ import annotations

from phobos_nb.target.facts import TURING, Card, Target, TensorCore

KIB = 1024

TARGET = Target(
    name="sm_75",
    capability=(7, 5),
    nvrtc_arch="sm_75",
    upstream_chip="sm_75",
    ptx_feature="+ptx63",  # PTX: sm_75 was introduced with PTX ISA 6.3
    warps_per_sm=32,  # PG
    ctas_per_sm=16,  # PG
    shared_per_sm=64 * KIB,  # PG
    shared_per_cta_optin=64 * KIB,  # PG
    shared_reserved=0,  # OC: the 1 KiB reserve came with compute capability 8.0
    shared_unit=256,  # OC
    features=TURING,
    fma={"f32": 64, "f64": 2, "tensor.f16": 512},  # TP; WP: 8 tensor cores of 64 FMA
    tensor_core=TensorCore(16, 24),  # MS; no such GPU was at hand
    cards=(Card("Tesla T4", 40, 1590, 4 * KIB * KIB, 320),),  # WP
    default_index_bits=32,
)
