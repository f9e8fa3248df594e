"""What one benchmark is: a kernel file, sizes, inputs, the float64 answer, its work, its peers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Extents = Mapping[str, int]
Values = Mapping[str, Any]
Work = Callable[[], object]
Contenders = dict[str, Work]


PEAKS = {
    "fp32": "FP32 units (FMA)",
    "fp16tc": "tensor cores, f16 operands and sums",
    "fp16tcf32acc": "tensor cores, f16 operands, f32 sums",
}
"""Kinds of arithmetic with a peak of their own, in TFLOP/s: a card's data sheet has the figures."""


def no_peers(values: Values) -> Contenders:  # noqa: ARG001 - the signature of every peers function
    """A workload that nothing is compared with."""
    return {}


def not_counted(extents: Extents) -> int:  # noqa: ARG001 - the signature of every count
    """Stands for a count that says nothing about a workload."""
    return 0


@dataclass(frozen=True)
class Workload:
    """One benchmark.

    file: below the examples folder. sizes: extents by symbol. scalars: by parameter name.
    answer(values) -> outputs by name in float64, computed with the arrays' own library.
    flops and traffic count operations and the fewest bytes for given extents, 0 where they say nothing.
    tolerance bounds ||out - answer|| / ||answer||. peers(values) -> contenders over the same arrays,
    like for like ones first. unit: the arithmetic that the kernel is for, a key of `arithmetic.NAMES`;
    units: contenders with another one, for orientation only.
    """

    name: str
    file: str
    sizes: tuple[Extents, ...]
    answer: Callable[[Values], Mapping[str, Any]]
    tolerance: float
    scalars: Mapping[str, float] = field(default_factory=dict[str, float])
    flops: Callable[[Extents], int] = not_counted
    traffic: Callable[[Extents], int] = not_counted
    peers: Callable[[Values], Contenders] = no_peers
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    unit: str = ""
    units: Mapping[str, str] = field(default_factory=dict[str, str])
