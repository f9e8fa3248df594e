"""Thread-level MLIR to CUDA C++, one row for each operation."""

from __future__ import annotations

from importlib import import_module

from phobos_nb.cuda.emit.kernel import emit, entry_name
from phobos_nb.cuda.emit.source import CudaSource, Line, Place

__all__ = ["CudaSource", "Line", "Place", "emit", "entry_name"]

FILES = (
    "helpers_float",
    "helpers_integer",
    "helpers_memory",
    "helpers_matrix",
    "helpers_wgmma",
    "helpers_wmma",
    "helpers_sync",
    "helpers_bulk",
    "helpers_atomic",
    "arith",
    "arith_casts",
    "math",
    "memref",
    "vector",
    "vector_memory",
    "scf",
    "gpu",
    "nvgpu",
    "phobos",
    "wmma",
    "mbarrier",
    "bulk",
    "nvvm",
)
"""Importing them fills the tables; helpers come in the order in which they may call each other."""

for _file in FILES:
    import_module(f"{__name__}.{_file}")
