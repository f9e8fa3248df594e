"""An estimate of a configuration's time from counted work and the target's rates: for ordering only.

The SM that has most CTAs ends last. For each of its CTAs the slowest of three things counts:
multiply-adds, fragments read from shared memory, bytes from L2. Too few resident warps to hide latency
stretch it, and each step of a loop waits at its barrier. Rates are the target's facts; the constants
below are measured or from data sheets, and only their ratios matter.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.cuda.resources import occupancy
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.typed import Call, TypedKernel
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import expressions, statements
from phobos_nb.target import Target
from phobos_nb.tune.limits import broken_promise, refusal
from phobos_nb.tune.outcome import Constants
from phobos_nb.tune.strategies import Predict
from phobos_nb.tune.work import Work, work_of

SMS_WITHOUT_CARD = 108
"""Of an A100, where the target names no card."""

SHARED_BYTES_PER_CLOCK = 128
"""Of one SM: 32 banks of 4 bytes (target.facts.Banks)."""

L2_BYTES_PER_CLOCK = 36
"""Of one SM: 9.2 TB/s from L2 over 132 SMs at 1.98 GHz, measured on an H200."""

STEP_CLOCKS = 350
"""One trip of a loop that waits for copies and meets a barrier, when nothing hides it."""

WARPS_TO_HIDE = 8
"""Resident warps from which on latency no longer shows, two per scheduler."""

OTHER_REGISTERS = 48
"""Registers of a thread beside sums and fragments: addresses, counters, copies under way."""


def predictor(
    kernel: Kernel, extents: Mapping[str, int], grid: tuple[int, int, int] | None, target: Target
) -> Predict:
    """The model of one call; a configuration that cannot run is predicted as inf."""

    def predict(constants: Constants) -> float:
        try:
            typed = kernel.typed({**kernel.options.constants, **constants})
        except PhobosError:
            return math.inf
        if refusal(typed, target) or broken_promise(typed, extents):
            return math.inf
        shape = grid or typed.grid.shape(extents)
        stages = constants.get("STAGES", 2)
        return clocks(typed, work_of(typed, extents), math.prod(shape), stages, target)

    return predict


def clocks(typed: TypedKernel, work: Work, ctas: int, stages: int, target: Target) -> float:
    """Clocks until the last SM is done; inf where not even one CTA fits."""
    sms = max((card.sms for card in target.cards), default=SMS_WITHOUT_CARD)
    tiles = _sums(typed)
    sums = sum(math.prod(t.shape) * t.dtype.itemsize / 4 for t in tiles) / typed.threads
    side = math.sqrt(max(1.0, sums))
    registers = min(target.registers_per_thread, int(OTHER_REGISTERS + sums + 4 * side))
    shared = int(_step_bytes(typed) * stages)
    resident = occupancy(target, registers=registers, shared_bytes=shared, threads=typed.threads)
    if not resident.ctas:
        return math.inf
    kind = "tensor.f16" if any(u.name == "tensorcore" for u in typed.attributes) else "f32"
    rate = target.fma.get(kind, target.fma["f32"])
    per_step = max(1.0, work.staged / max(1, _step_bytes(typed)))
    on_one = math.ceil(ctas / sms)
    together = min(resident.ctas, on_one)
    parts = (
        (work.flops / 2 + work.elementwise) / rate,
        (work.flops / 2) * 2 * 4 / side / SHARED_BYTES_PER_CLOCK / 4,
        (work.read + work.written) / L2_BYTES_PER_CLOCK,
    )
    warps = together * typed.threads / target.warp_size
    hidden = min(1.0, 0.5 + 0.5 * warps / WARPS_TO_HIDE)
    waiting = per_step * STEP_CLOCKS / together
    spilled = 1.0 + max(0.0, OTHER_REGISTERS + sums + 4 * side - target.registers_per_thread) / 64
    return on_one * spilled * (max(parts) / hidden + waiting)


def _dots(typed: TypedKernel) -> list[Call]:
    found = (e for s in statements(typed.body) for e in expressions(s))
    return [e for e in found if isinstance(e, Call) and e.builtin in ("dot", "dot_t")]


def _sums(typed: TypedKernel) -> list[TileType]:
    return [d.type for d in _dots(typed) if isinstance(d.type, TileType)]


def _step_bytes(typed: TypedKernel) -> int:
    """Bytes of dot operands of one trip."""
    operands = [a.type for d in _dots(typed) for a in d.arguments[:2] if not isinstance(a, str)]
    return sum(math.prod(t.shape) * t.dtype.itemsize for t in operands if isinstance(t, TileType))
