"""The bundled benchmarks; NumPy's functions run on CuPy arrays by dispatch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from phobos_nb.bench.workload import Contenders, Extents, Values, Workload
from phobos_nb.cuda import peers

Answer = Mapping[str, Any]

GEMM_SIZES = ({"M": 4096, "N": 4096, "K": 4096},)
SQUARE = ({"M": 8192, "N": 8192},)
ATTENTION = ({"H": 16, "NQ": 4096, "NK": 4096},)
HEAD = 64
SCALE = HEAD**-0.5
EPS = 1e-5


def wide(array: Any) -> Any:
    """The array in float64."""
    return array.astype("float64")


def _gemm(v: Values) -> Answer:
    return {"C": v["alpha"] * (wide(v["A"]) @ wide(v["B"])) + v["beta"] * wide(v["C"])}


def _saxpy(v: Values) -> Answer:
    return {"Y": v["a"] * wide(v["X"]) + wide(v["Y"])}


def _transpose(v: Values) -> Answer:
    return {"B": wide(v["A"]).T}


def _softmax(v: Values) -> Answer:
    return {"Y": softmax(wide(v["X"]))}


def softmax(x: Any) -> Any:
    """Softmax over the last axis."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _layer_norm(v: Values) -> Answer:
    x = wide(v["X"])
    x = x - x.mean(axis=-1, keepdims=True)
    scale = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + v["eps"])
    return {"Y": x * scale * wide(v["W"]) + wide(v["B"])}


def _attention(v: Values) -> Answer:
    scores = v["scale"] * (wide(v["Q"]) @ wide(v["K"]).swapaxes(-1, -2))
    return {"O": softmax(scores) @ wide(v["V"])}


def _gemm_flops(e: Extents) -> int:
    return 2 * e["M"] * e["N"] * e["K"]


def _attention_flops(e: Extents) -> int:
    return 4 * e["H"] * e["NQ"] * e["NK"] * HEAD


def _gemm_peers(**modes: str) -> Any:
    def contenders(v: Values) -> Contenders:
        return peers.gemm(v, v["alpha"], v["beta"], modes)

    return contenders


F32_MODES = _gemm_peers(
    cublasSgemm="32F", cublas_fast_tf32="32F_FAST_TF32", cublas_fast_16f="32F_FAST_16F"
)
TENSOR_MODES = _gemm_peers(
    cublas_fast_16f="32F_FAST_16F", cublasSgemm="32F", cublas_fast_tf32="32F_FAST_TF32"
)
"""Like for like first: f32 arrays rounded to f16 for the tensor cores."""
F16_MODES = _gemm_peers(cublas_f32_sums="32F", cublas_f16_sums="16F")
FAST = {"cublas_fast_tf32": "tf32", "cublas_fast_16f": "fp16tcf32acc"}
SLOW = {"cublas_fast_tf32": "tf32", "cublasSgemm": "fp32"}
GEMM_SCALARS = {"alpha": 1.0, "beta": 0.5}

WORKLOADS: dict[str, Workload] = {
    w.name: w
    for w in (
        Workload(
            "gemm_fp32", "gemm_fp32.ph", GEMM_SIZES, _gemm, 1e-5, GEMM_SCALARS,
            flops=_gemm_flops, peers=F32_MODES, unit="fp32", units=FAST,
        ),
        Workload(
            "gemm_fp32_any", "gemm_fp32_any.ph", GEMM_SIZES, _gemm, 1e-5, GEMM_SCALARS,
            flops=_gemm_flops, peers=F32_MODES, unit="fp32", units=FAST,
        ),
        Workload(
            "gemm_fp16tc_fp32acc", "gemm_fp16tc_fp32acc.ph", GEMM_SIZES, _gemm, 1e-3, GEMM_SCALARS,
            flops=_gemm_flops, peers=TENSOR_MODES, unit="fp16tcf32acc",
            units=SLOW,
        ),
        Workload(
            "gemm_fp16", "gemm_fp16.ph", GEMM_SIZES, _gemm, 2e-3, GEMM_SCALARS,
            flops=_gemm_flops, peers=F16_MODES, unit="fp16tcf32acc",
            units={"cublas_f16_sums": "fp16tc"},
        ),
        Workload(
            "saxpy_fp32", "saxpy_fp32.ph", ({"N": 2**28},), _saxpy, 1e-6, {"a": 0.5},
            traffic=lambda e: 3 * 4 * e["N"], peers=lambda v: peers.saxpy(v, v["a"]),
        ),
        Workload(
            "transpose", "transpose.ph", SQUARE, _transpose, 0.0,
            traffic=lambda e: 2 * 4 * e["M"] * e["N"], peers=peers.transpose,
        ),
        Workload(
            "softmax", "softmax.ph", SQUARE, _softmax, 1e-5,
            traffic=lambda e: 2 * 4 * e["M"] * e["N"], peers=peers.softmax,
        ),
        Workload(
            "layer_norm", "layer_norm.ph", SQUARE, _layer_norm, 1e-5, {"eps": EPS},
            traffic=lambda e: 2 * 4 * e["M"] * e["N"], peers=lambda v: peers.layer_norm(v, v["eps"]),
        ),
        Workload(
            "flash_attention_fp32", "flash_attention_fp32.ph", ATTENTION, _attention, 1e-5,
            {"scale": SCALE}, flops=_attention_flops, peers=lambda v: peers.attention(v, v["scale"]),
            unit="fp32",
        ),
        Workload(
            "flash_attention_fp16", "flash_attention_fp16.ph", ATTENTION, _attention, 2e-3,
            {"scale": SCALE}, flops=_attention_flops, peers=lambda v: peers.attention(v, v["scale"]),
            unit="fp16tcf32acc",
        ),
    )
}  # fmt: skip
"""By name, in the order of the table. Tolerances follow from operation counts: sqrt(K) * 2^-24 for f32
sums, 2^-11 for f16."""

ALIASES = {
    "flash_fp32": "flash_attention_fp32",
    "flash_fp16": "flash_attention_fp16",
    "saxpy": "saxpy_fp32",
}
"""Other names of benchmarks: those of the original program, and short ones."""
