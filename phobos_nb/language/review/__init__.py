"""Looks at typed kernels for what is legal but seldom meant; adds warnings, never errors."""

from __future__ import annotations

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.review.accumulation import review_accumulation
from phobos_nb.language.review.filler import review_filler
from phobos_nb.language.review.running import review_running_maximum
from phobos_nb.language.typed import TypedKernel


def review(kernel: TypedKernel, diagnostics: Diagnostics) -> None:
    """All reviews of a typed kernel."""
    review_filler(kernel, diagnostics)
    review_accumulation(kernel, diagnostics)
    review_running_maximum(kernel, diagnostics)
