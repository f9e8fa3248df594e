"""The operations of upstream's dialect `nvvm` that thread MLIR uses: NVIDIA's own instructions."""

from __future__ import annotations

from xdsl.ir import Dialect

from phobos_nb.ir.dialects.nvvm_bulk import NVVM_BULK_OPS
from phobos_nb.ir.dialects.nvvm_matrix import NVVM_MATRIX_ATTRIBUTES, NVVM_MATRIX_OPS
from phobos_nb.ir.dialects.nvvm_sync import NVVM_SYNC_ATTRIBUTES, NVVM_SYNC_OPS
from phobos_nb.ir.dialects.nvvm_wgmma import NVVM_WGMMA_ATTRIBUTES, NVVM_WGMMA_OPS

Nvvm = Dialect(
    "nvvm",
    [*NVVM_WGMMA_OPS, *NVVM_MATRIX_OPS, *NVVM_SYNC_OPS, *NVVM_BULK_OPS],
    [*NVVM_WGMMA_ATTRIBUTES, *NVVM_MATRIX_ATTRIBUTES, *NVVM_SYNC_ATTRIBUTES],
)
