"""Sliders over a small GEMM, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import phobos_nb as ph
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.views.roofline_arguments import call_values
from phobos_nb.views.sliders_session import Sliders

EXAMPLES = Path(__file__).parents[2] / "examples"
SIZE = {"M": 256, "N": 256, "K": 24}
LONG = 120.0
"""Seconds within which any of them has compiled."""


def gemm() -> Kernel:
    """A kernel object of its own for each test: `use` changes it."""
    source = (EXAMPLES / "gemm_fp32.ph").read_text("utf-8")
    return ph.compile(source, name="gemm_fp32.ph", chip="sm_90a").gemm.specialize()


def sliders_of(kernel: Kernel, *arguments: Any, **options: Any) -> Sliders:
    named = {} if arguments else SIZE
    kernel, values, made = call_values(kernel, arguments, named)
    return Sliders(kernel, values, made=made, **options)
