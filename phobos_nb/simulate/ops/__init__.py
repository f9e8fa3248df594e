"""How each thread-level operation is executed: one table per dialect, joined here."""

from __future__ import annotations

from phobos_nb.simulate.ops import (
    arith,
    gpu,
    llvm,
    math,
    memref,
    nvgpu,
    nvvm,
    scf,
    tiles,
    vector,
    wgmma,
    wmma,
)
from phobos_nb.simulate.program import Row

ROWS: dict[str, Row] = {
    **arith.ROWS,
    **gpu.ROWS,
    **llvm.ROWS,
    **math.ROWS,
    **memref.ROWS,
    **nvgpu.ROWS,
    **nvvm.ROWS,
    **scf.ROWS,
    **tiles.TILE_ROWS,
    **vector.ROWS,
    **wgmma.WGMMA_ROWS,
    **wmma.WMMA_ROWS,
}
