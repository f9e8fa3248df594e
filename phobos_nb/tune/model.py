"""An estimate of a configuration's time from counted work and the target's rates: for ordering only.

Kernels whose dots run as multiply-adds take the estimate that untuned calls are chosen by
(`compilation/tile_shape.py`). For others, elementwise ones or on tensor cores, the SM that has most CTAs
ends last, and the slowest of two things counts for each of its CTAs: arithmetic, and bytes from memory.
Too few resident warps to hide latency stretch it. Only ratios of estimates matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.tile_shape import dot_shapes, estimated_cycles
from phobos_nb.cuda.resources import occupancy
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.typed import TypedKernel
from phobos_nb.target import Target
from phobos_nb.tune.limits import broken_promise, refusal
from phobos_nb.tune.outcome import Constants
from phobos_nb.tune.strategies import Predict
from phobos_nb.tune.work import Work, work_of

SMS_WITHOUT_CARD = 108
"""Of an A100, where the target names no card."""

MEMORY_BYTES_PER_CLOCK = 18
"""Of one SM: 4.8 TB/s of DRAM over 132 SMs at 1.98 GHz, the H200's data sheet."""

WARPS_TO_HIDE = 32
"""Resident warps from which on memory latency hardly shows, eight per scheduler."""

OTHER_REGISTERS = 32
"""Registers of a thread beside sums: addresses, counters, values under way."""


def predictor(
    kernel: Kernel, extents: Mapping[str, int], grid: tuple[int, int, int] | None, target: Target
) -> Predict:
    """The model of one call; a configuration that cannot run is predicted as inf."""
    sms = max((card.sms for card in target.cards), default=SMS_WITHOUT_CARD)

    def predict(constants: Constants) -> float:
        full = {**kernel.options.constants, **constants}
        try:
            typed = kernel.typed(full)
        except PhobosError:
            return math.inf
        if refusal(typed, target) or broken_promise(typed, extents):
            return math.inf
        tensor = any(use.name == "tensorcore" for use in typed.attributes)
        if dot_shapes(typed) and not tensor and not typed.grid.problem:
            return estimated_cycles(kernel.typed, full, extents, target, sms)
        ctas = math.prod(grid or typed.grid.shape(extents))
        return clocks(typed, work_of(typed, extents), ctas, target, sms)

    return predict


def clocks(typed: TypedKernel, work: Work, ctas: int, target: Target, sms: int) -> float:
    """Clocks until the last SM is done; inf where not even one CTA fits."""
    shapes = dot_shapes(typed)
    sums = sum(s.rows * s.columns * s.sum_bytes / 4 for s in shapes) / typed.threads
    registers = min(target.registers_per_thread, int(OTHER_REGISTERS + sums))
    shared = sum((s.rows + s.columns) * s.depth * min(s.operand_bytes, 2) for s in shapes)
    resident = occupancy(target, registers=registers, shared_bytes=shared, threads=typed.threads)
    if not resident.ctas:
        return math.inf
    rate = target.fma.get("tensor.f16", target.fma["f32"]) if shapes else target.fma["f32"]
    on_one = math.ceil(ctas / sms)
    arithmetic = work.flops / 2 / rate + work.elementwise / target.fma["f32"]
    memory = (work.read + work.written) / MEMORY_BYTES_PER_CLOCK
    warps = min(resident.ctas, on_one) * typed.threads / target.warp_size
    hidden = min(1.0, 0.25 + 0.75 * warps / WARPS_TO_HIDE)
    return on_one * max(arithmetic, memory) / hidden
