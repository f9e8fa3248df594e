"""Blackwell, workstation and consumer (RTX PRO 6000, RTX 50)."""

from __future__ import annotations

from phobos_nb.target.facts import HOPPER, Card, Target, TensorCore

KIB = 1024

TARGET = Target(
    name="sm_120",
    capability=(12, 0),
    nvrtc_arch="sm_120",
    upstream_chip="sm_120",
    ptx_feature="+ptx87",  # the lowest that upstream 22 takes for sm_120a, tried
    warps_per_sm=48,  # PG
    ctas_per_sm=24,  # PG
    shared_per_sm=100 * KIB,  # PG
    shared_per_cta_optin=99 * KIB,  # PG
    shared_reserved=1 * KIB,  # OC
    shared_unit=128,  # OC
    features=(HOPPER - {"wgmma", "setmaxnreg"}) | {"fp8"},  # PTX
    # TP; WP: 4 tensor cores of 128 FMA, at half that rate with f32 sums on GeForce.
    fma={"f32": 128, "f64": 2, "tensor.f16": 512},
    tensor_core=TensorCore(32, 25),  # MS; no such GPU was at hand
    cards=(Card("RTX 5090", 170, 2407, 96 * KIB * KIB, 1792),),  # WP
)
