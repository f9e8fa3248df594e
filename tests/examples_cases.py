"""The bundled examples as cases, by file name: what every differential suite reads."""

from __future__ import annotations

from tests.examples import attention, gemm, ragged, rows, shared_style, simple, tiles
from tests.examples.case import ExampleCase
from tests.examples.layouts import LAYOUTS, copied, laid_out, with_layout

CASES: dict[str, ExampleCase] = {
    case.name: case
    for module in (simple, gemm, rows, attention, shared_style, ragged, tiles)
    for case in module.CASES
}

__all__ = ["CASES", "LAYOUTS", "ExampleCase", "copied", "laid_out", "with_layout"]
