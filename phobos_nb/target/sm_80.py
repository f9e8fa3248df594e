"""Ampere, data centre (A100)."""

from __future__ import annotations

from phobos_nb.target.facts import AMPERE, Card, Target, TensorCore

KIB = 1024

TARGET = Target(
    name="sm_80",
    capability=(8, 0),
    nvrtc_arch="sm_80",
    upstream_chip="sm_80",
    ptx_feature="+ptx70",  # the lowest that upstream 22 takes, tried
    warps_per_sm=64,  # PG
    ctas_per_sm=32,  # PG
    shared_per_sm=164 * KIB,  # PG
    shared_per_cta_optin=163 * KIB,  # PG
    shared_reserved=1 * KIB,  # OC
    shared_unit=128,  # OC
    features=AMPERE,
    fma={"f32": 64, "f64": 32, "tensor.f16": 1024},  # TP; WP: 4 tensor cores of 256 FMA
    tensor_core=TensorCore(16, 24),  # MS; no such GPU was at hand
    cards=(Card("A100-SXM4-80GB", 108, 1410, 40 * KIB * KIB, 2039),),  # WP
)
