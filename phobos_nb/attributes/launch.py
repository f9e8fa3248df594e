"""`@launch(threads[, min_blocks[, max_regs]])`: the shape of a CTA and its share of a multiprocessor."""

from __future__ import annotations

from collections.abc import Mapping

from phobos_nb.language.attribute_arguments import expect_named, expect_positional, integer, place
from phobos_nb.language.registry import Attribute, AttributeSite

FORM = "@launch(threads[, min_blocks[, max_regs]])"
WARP = 32
MAX_THREADS = 1024
"""Threads of a CTA on every target (CUDA C++ Programming Guide, technical specifications)."""
MAX_BLOCKS = 32
"""Most CTAs that any target keeps on one multiprocessor (same table)."""
MAX_REGISTERS = 255
"""Registers of a thread on every target (same table)."""


def check(site: AttributeSite) -> Mapping[str, object]:
    """threads, min_blocks and max_registers; 0 leaves the last two to the compiler."""
    expect_positional(site, 3, FORM)
    expect_named(site, (), FORM)
    if not site.positional:
        raise site.diagnostics.error(
            "PH402", "`@launch` wants the number of threads", site.span, help=FORM
        )
    threads = integer(site, 0, "the number of threads")
    if threads % WARP or not WARP <= threads <= MAX_THREADS:
        message = f"a CTA has a multiple of {WARP} threads, at most {MAX_THREADS}, found {threads}"
        raise site.diagnostics.error("PH402", message, place(site, 0), help=f"write {_near(threads)}")
    return {
        "threads": threads,
        "min_blocks": _optional(site, 1, "the number of blocks", MAX_BLOCKS),
        "max_registers": _optional(site, 2, "the number of registers", MAX_REGISTERS),
    }


def _near(threads: int) -> str:
    """The allowed numbers of threads next to one that is not."""
    below = threads // WARP * WARP
    inside = [n for n in (below, below + WARP) if WARP <= n <= MAX_THREADS]
    return " or ".join(map(str, inside)) or str(min(max(threads, WARP), MAX_THREADS))


def _optional(site: AttributeSite, position: int, what: str, most: int) -> int:
    if len(site.positional) <= position:
        return 0
    value = integer(site, position, what)
    if not 0 <= value <= most:
        message = f"{what} is between 0 and {most}, found {value}"
        raise site.diagnostics.error("PH402", message, place(site, position))
    return value


SPEC = Attribute(
    name="launch",
    signature=FORM,
    doc=(
        "The threads that run the body: `ctx.thread` is below it and `barrier()` counts them. Default "
        "256. The compiler may add producer warps."
    ),
    effect="Sets the threads of a CTA and bounds the registers so that min_blocks fit.",
    check=check,
)
