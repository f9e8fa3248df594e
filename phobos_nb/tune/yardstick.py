"""What a call must do at least, and what the card could: milliseconds become rates and shares of a peak.

Operations are those of the kernel's dots, counted from its text; bytes are each array once for every
direction in which the kernel uses it, the least that any configuration must move. Peaks are nominal:
units per SM and clock x SMs x boost clock, and the data sheet's DRAM bandwidth (`target/`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.contract import TensorParameter
from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import ALL
from phobos_nb.language.typed import TypedKernel
from phobos_nb.target import Target, get
from phobos_nb.target.cards import card_of
from phobos_nb.tune.gemm_peers import recognise
from phobos_nb.tune.outcome import Constants
from phobos_nb.tune.records import Record
from phobos_nb.tune.space import Space
from phobos_nb.tune.work import dots_are_certain, work_of

COUNTED = 16
"""Configurations whose counted work is compared; it differs only where tiles overhang the arrays."""

UNITS = {"f32": "FP32 units", "tensor.f16": "tensor cores (f16 operands)"}
"""What does the arithmetic, by the names of `Target.fma`."""


@dataclass(frozen=True)
class Measure:
    """A way to read a time. Its value for t ms is `work` / t; with `work` None it is the time itself.

    peak: the value that the card's nominal peak allows, None where that is unknown. meaning: of what.
    """

    name: str
    unit: str
    work: float | None = None
    peak: float | None = None
    meaning: str = ""

    @property
    def more_is_better(self) -> bool:
        """Whether larger values are faster."""
        return self.work is not None

    def of(self, ms: float) -> float:
        """The value for a time in milliseconds."""
        return ms if self.work is None else self.work / ms


def first_measure(known: Sequence[Measure]) -> Measure:
    """What to look at first: throughput, else bandwidth, else the time."""
    names = {m.name: m for m in known}
    return names.get("throughput") or names.get("bandwidth") or known[0]


def measure_named(known: Sequence[Measure], name: str) -> Measure:
    """The measure of that name; `ValueError` with those there are."""
    for measure in known:
        if measure.name == name:
            return measure
    raise ValueError(f"no measure {name!r}; there are {', '.join(m.name for m in known)}")


def measures_of(record: Record, kernel: Kernel | None = None) -> tuple[Measure, ...]:
    """How the record's times can be read; rates need its counted work, or the kernel it is about."""
    target, identity = target_of(record), record.identity
    work = record.work
    if not work and kernel is not None and kernel.fingerprint == identity.fingerprint:
        work = counted_work(kernel, identity.extents, Space(record.space))
    return (Measure("time", "ms"),) if target is None else measures(work, target, identity.device)


def target_of(record: Record) -> Target | None:
    """The record's architecture; None for one this version does not know, or for the CPU."""
    try:
        return get(record.identity.target)
    except PhobosError:
        return None


def counted_work(
    kernel: Kernel,
    extents: Mapping[str, int],
    configurations: Iterable[Constants],
    grid: tuple[int, int, int] | None = None,
) -> dict[str, Any]:
    """A call's "bytes", "arithmetic", a key of `UNITS`, and "flops": 0 without a dot.

    There is no "flops" where data decide how many there are.
    """
    fixed = kernel.options.constants
    found = _typed(kernel, ({**fixed, **c} for c in islice(configurations, COUNTED)))
    typed = next(found, None)
    if typed is None:
        return {}
    tensor = any(use.name == "tensorcore" for use in typed.attributes)
    work: dict[str, Any] = {
        "bytes": sum(_bytes(t, extents) for t in typed.tensor_parameters),
        "arithmetic": "tensor.f16" if tensor else "f32",
    }
    flops = _gemm_flops(typed, extents) or _least_flops([typed, *found], extents, grid)
    return work if flops is None else {**work, "flops": flops}


def _typed(kernel: Kernel, configurations: Iterable[Constants]) -> Iterator[TypedKernel]:
    for constants in configurations:
        try:
            yield kernel.typed(constants)
        except PhobosError:  # a configuration that cannot be; the search reports it
            continue


def _gemm_flops(typed: TypedKernel, extents: Mapping[str, int]) -> float:
    """Of a product of two matrices 2 M N K; 0 for any other kernel."""
    gemm = recognise(typed)
    if gemm is None or not dots_are_certain(typed, extents):
        return 0.0
    dims = {t.name: t.dims for t in typed.tensor_parameters}
    symbols = (*dims[gemm.c], dims[gemm.a][1])
    return 2.0 * math.prod(extents[s] if isinstance(s, str) else s for s in symbols)


def _least_flops(
    found: Sequence[TypedKernel], extents: Mapping[str, int], grid: tuple[int, int, int] | None
) -> float | None:
    """Those of the configuration with fewest; None where data decide."""
    if not all(dots_are_certain(t, extents) for t in found):
        return None
    return min(_dot_flops(t, extents, grid) for t in found)


def _dot_flops(
    typed: TypedKernel, extents: Mapping[str, int], grid: tuple[int, int, int] | None
) -> float:
    if grid is None and typed.grid.problem:
        return 0.0
    return work_of(typed, extents).flops * math.prod(grid or typed.grid.shape(extents))


def _bytes(tensor: TensorParameter, extents: Mapping[str, int]) -> int:
    elements = math.prod(extents[d] if isinstance(d, str) else d for d in tensor.dims)
    return elements * ALL[tensor.dtype].itemsize * (tensor.reads + tensor.writes)


def measures(work: Mapping[str, Any], target: Target, device: str) -> tuple[Measure, ...]:
    """The time, and what can be said beside it: throughput, bandwidth, share of the peak that binds.

    work: from `counted_work`, empty where nothing is known. device: the card's name, as CUDA tells it.
    """
    card = card_of(target, device)
    flops, moved = float(work.get("flops", 0)), float(work.get("bytes", 0))
    arithmetic = str(work.get("arithmetic", "f32"))
    units = UNITS.get(arithmetic, arithmetic)
    tflops = gbs = None
    if card is not None:
        lanes = target.fma.get(arithmetic)
        tflops = lanes and 2e-6 * lanes * card.sms * card.clock_mhz
        gbs = float(card.dram_gbs)
    ideal = [(flops / tflops / 1e9, units)] if flops and tflops else []
    ideal += [(moved / gbs / 1e6, "DRAM")] if moved and gbs else []
    least, binds = max(ideal, default=(None, "")) if "flops" in work else (None, "")
    nominal = f"nominal peak of {card.name}, {binds}" if card and least else ""
    found = [Measure("time", "ms", None, least, nominal)]
    if flops:
        found.append(Measure("throughput", "TFLOP/s", flops / 1e9, tflops, f"nominal peak, {units}"))
    if moved:
        found.append(Measure("bandwidth", "GB/s", moved / 1e6, gbs, "nominal DRAM bandwidth"))
    if least:
        found.append(Measure("share of peak", "%", 100 * least, 100.0, nominal))
    return tuple(found)
