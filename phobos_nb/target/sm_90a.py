"""Hopper (H100, H200) with its architecture-specific instructions.

`sm_90` names this target too: a cubin for sm_90a runs on every GPU of compute capability 9.0, and
no other capability runs sm_90 cubins, so plain sm_90 would only lose wgmma and setmaxnreg.
"""

from __future__ import annotations

from phobos_nb.target.facts import HOPPER, Card, Target, TensorCore

KIB = 1024

TARGET = Target(
    name="sm_90a",
    capability=(9, 0),
    nvrtc_arch="sm_90a",
    upstream_chip="sm_90a",
    ptx_feature="+ptx80",  # the lowest that upstream 22 takes, tried
    warps_per_sm=64,  # PG
    ctas_per_sm=32,  # PG
    shared_per_sm=228 * KIB,  # PG
    shared_per_cta_optin=227 * KIB,  # PG
    shared_reserved=1 * KIB,  # OC
    shared_unit=128,  # OC
    features=HOPPER | {"fp8"},
    fma={"f32": 128, "f64": 64, "tensor.f16": 2048},  # TP; WP: 4 tensor cores of 512 FMA
    tensor_core=TensorCore(32, 25, lowest_exponent=-133, measured=True),  # H200, and MS
    cards=(
        Card("H100-SXM5-80GB", 132, 1980, 50 * KIB * KIB, 3352),
        Card("H200-SXM-141GB", 132, 1980, 50 * KIB * KIB, 4800),
    ),  # WP
)
