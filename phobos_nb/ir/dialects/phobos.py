"""The dialect `phobos`: thread-level operations that upstream has not."""

from __future__ import annotations

from xdsl.ir import Dialect

from phobos_nb.ir.dialects.bulk import BULK_OPS
from phobos_nb.ir.dialects.matrix_moves import MATRIX_OPS
from phobos_nb.ir.dialects.wgmma import WGMMA_OPS

Phobos = Dialect("phobos", [*MATRIX_OPS, *WGMMA_OPS, *BULK_OPS])
