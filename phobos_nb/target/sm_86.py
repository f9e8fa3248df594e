"""Ampere, workstation and consumer (A10, A40, RTX 30)."""

from __future__ import annotations

from phobos_nb.target.facts import AMPERE, Card, Target, TensorCore

KIB = 1024

TARGET = Target(
    name="sm_86",
    capability=(8, 6),
    nvrtc_arch="sm_86",
    upstream_chip="sm_86",
    ptx_feature="+ptx78",  # 70 was refused by upstream 22, 78 taken, tried
    warps_per_sm=48,  # PG
    ctas_per_sm=16,  # PG
    shared_per_sm=100 * KIB,  # PG
    shared_per_cta_optin=99 * KIB,  # PG
    shared_reserved=1 * KIB,  # OC
    shared_unit=128,  # OC
    features=AMPERE,
    # TP; WP: 4 tensor cores of 128 FMA, at half that rate with f32 sums on GeForce.
    fma={"f32": 128, "f64": 2, "tensor.f16": 512},
    tensor_core=TensorCore(16, 24),  # MS; no such GPU was at hand
    cards=(
        Card("A10", 72, 1695, 6 * KIB * KIB, 600),
        Card("RTX 3090", 82, 1695, 6 * KIB * KIB, 936),
    ),  # WP
)
