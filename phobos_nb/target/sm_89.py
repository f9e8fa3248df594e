"""Ada (L4, L40, RTX 40)."""

from __future__ import annotations

from phobos_nb.target.facts import AMPERE, Card, Target, TensorCore

KIB = 1024

TARGET = Target(
    name="sm_89",
    capability=(8, 9),
    nvrtc_arch="sm_89",
    upstream_chip="sm_89",
    ptx_feature="+ptx78",  # 70 was refused by upstream 22, 78 taken, tried
    warps_per_sm=48,  # PG
    ctas_per_sm=24,  # PG
    shared_per_sm=100 * KIB,  # PG
    shared_per_cta_optin=99 * KIB,  # PG
    shared_reserved=1 * KIB,  # OC
    shared_unit=128,  # OC
    features=AMPERE | {"fp8"},  # PTX: cvt and mma of e4m3, e5m2 from sm_89
    # TP; WP: 4 tensor cores of 128 FMA, at half that rate with f32 sums on GeForce.
    fma={"f32": 128, "f64": 2, "tensor.f16": 512},
    tensor_core=TensorCore(16, 24),  # MS; no such GPU was at hand
    cards=(
        Card("L4", 58, 2040, 48 * KIB * KIB, 300),
        Card("RTX 4090", 128, 2520, 72 * KIB * KIB, 1008),
    ),  # WP
)
