"""Blackwell, data centre (B200)."""

from __future__ import annotations

from phobos_nb.target.facts import HOPPER, Card, Target, TensorCore

KIB = 1024

TARGET = Target(
    name="sm_100",
    capability=(10, 0),
    nvrtc_arch="sm_100",
    upstream_chip="sm_100",
    ptx_feature="+ptx86",  # the lowest that upstream 22 takes for sm_100a, tried
    warps_per_sm=64,  # PG
    ctas_per_sm=32,  # PG
    shared_per_sm=228 * KIB,  # PG
    shared_per_cta_optin=227 * KIB,  # PG
    shared_reserved=1 * KIB,  # OC
    shared_unit=128,  # OC
    features=(HOPPER - {"wgmma", "setmaxnreg"})
    | {"fp8"},  # PTX: wgmma is sm_90a's, setmaxnreg sm_100a's
    fma={"f32": 128, "f64": 64, "tensor.f16": 4096},  # TP; WP: dense f16 through tcgen05
    tensor_core=TensorCore(32, 25),  # MS; no such GPU was at hand
    cards=(Card("B200", 148, 1965, 126 * KIB * KIB, 8000),),  # WP
)
