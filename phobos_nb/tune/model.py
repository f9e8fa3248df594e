"""An estimate of a configuration's time from counted work and the target's rates: for ordering only.

Kernels whose only dot runs as multiply-adds take the estimate that untuned calls are chosen by
(`compilation/tile_shape.py`). For others, Note [Time of a CTA]:

* the SM that has most CTAs ends last;
* it issues multiply-adds and elementwise operations, and moves bytes, at fixed rates;
* each CTA waits: for memory once per loop body, unless the loop is pipelined, and at every reduction.
  CTAs that are resident together wait together;
* the three overlap, not wholly: their squares add up. Code near the limit of registers spills.

The form was made with results/records in view; what the order is worth with rates fitted without a
kernel, and at other sizes, is judged by `tools/guided_search.py`. Only ratios of estimates matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from phobos_nb.arguments.make import numpy_dtype
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.tile_shape import dot_shapes, estimated_cycles
from phobos_nb.cuda.resources import occupancy
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.typed import TypedKernel
from phobos_nb.lower.choices import SPLIT
from phobos_nb.target import Target
from phobos_nb.tune.counts import Counts, counts_of
from phobos_nb.tune.limits import broken_promise, refusal
from phobos_nb.tune.outcome import Constants
from phobos_nb.tune.strategies import Predict

SMS_WITHOUT_CARD = 108
"""Of an A100, where the target names no card."""

MEMORY_BYTES_PER_CLOCK = 18
"""Of one SM: 4.8 TB/s of DRAM over 132 SMs at 1.98 GHz, the H200's data sheet."""


@dataclass(frozen=True)
class Rates:
    """What the hardware takes for what is counted; clocks of one SM, round numbers.

    instructions: of one elementwise operation per element, exponentials and selections among them.
    latency: from a load's issue to its last value, of a loaded memory system. pipelined: of a pipelined
    loop's body, what is not hidden: two barriers. reduction: within warps, five shuffles; crossing: in
    addition, through shared memory. full_registers: estimated ones of a thread above which code begins
    to spill; spilling: the part of a CTA's time that each one beyond costs.
    """

    instructions: float = 4
    latency: float = 1000
    pipelined: float = 100
    reduction: float = 50
    crossing: float = 300
    full_registers: float = 225
    spilling: float = 0.02


RATES = Rates()

Grids = Callable[[Constants], tuple[int, int, int] | None]
"""The grid that a caller gives for a configuration; None to infer it."""


def predictor(
    kernel: Kernel,
    extents: Mapping[str, int],
    grid: tuple[int, int, int] | Grids | None,
    target: Target,
    rates: Rates = RATES,
) -> Predict:
    """The model of one call; a configuration that cannot run is predicted as inf."""
    sms = max((card.sms for card in target.cards), default=SMS_WITHOUT_CARD)

    def predict(constants: Constants) -> float:
        full = {**kernel.options.constants, **constants}
        try:
            typed = kernel.typed({n: v for n, v in full.items() if n != SPLIT})
        except PhobosError:
            return math.inf
        if refusal(typed, target) or broken_promise(typed, extents):
            return math.inf
        tensor = any(use.name == "tensorcore" for use in typed.attributes)
        if len(dot_shapes(typed)) == 1 and not tensor and not typed.grid.problem:
            return estimated_cycles(kernel.typed, full, extents, target, sms)
        counts = counts_of(typed, extents, target)
        given = grid(constants) if callable(grid) else grid
        ctas = math.prod(given) if given else _ctas(typed, extents, counts)
        return clocks(typed, counts, ctas, full, target, sms, rates)

    return predict


def _ctas(typed: TypedKernel, extents: Mapping[str, int], counts: Counts) -> int:
    """The inferred grid, or as many CTAs as fill the outputs."""
    if not typed.grid.problem:
        return math.prod(typed.grid.shape(extents))
    total = 0
    for p in typed.tensor_parameters:
        if p.writes:
            shape = (d if isinstance(d, int) else extents.get(d, 1) for d in p.dims)
            total += math.prod(shape) * numpy_dtype(p.dtype).itemsize
    return max(1, math.ceil(total / counts.stored)) if counts.stored else 1


def clocks(
    typed: TypedKernel,
    counts: Counts,
    ctas: int,
    constants: Constants,
    target: Target,
    sms: int,
    rates: Rates,
) -> float:
    """Clocks until the last SM is done, by Note [Time of a CTA]; inf where not even one CTA fits."""
    parts = max(1, constants.get(SPLIT, 1))
    on_one = math.ceil(ctas * parts / sms) / parts
    registers = min(target.registers_per_thread, math.ceil(counts.registers))
    resident = occupancy(target, registers=registers, shared_bytes=0, threads=typed.threads).ctas
    if not resident:
        return math.inf
    issued = counts.dots + counts.elements * rates.instructions / target.fma["f32"]
    moved = counts.moved / MEMORY_BYTES_PER_CLOCK
    wait = rates.pipelined if _is_pipelined(typed, constants) else rates.latency
    waiting = rates.latency + counts.rounds * wait
    waiting += counts.reductions * rates.reduction + counts.crossing * rates.crossing
    together = max(1.0, min(float(resident), on_one))
    total = math.hypot(on_one * issued, on_one * moved, waiting * on_one / together)
    return total * (1 + rates.spilling * max(0.0, counts.registers - rates.full_registers))


def _is_pipelined(typed: TypedKernel, constants: Constants) -> bool:
    asked = any(use.name == "pipeline" for use in typed.attributes)
    return asked and constants.get("STAGES", 2) > 1
