"""The bundled kernels against what a user would pick instead, on one GPU.

From Python: `phobos_nb.bench.measure.measure("gemm_fp32", peers={"mine": run})`.
"""
