"""The roofs of a card: nominal ones from data sheets, measured ones from the GPU itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from phobos_nb.target import Card, Target

GUIDE = "CUDA C++ Programming Guide, arithmetic throughput"
PAPER = "white paper of the architecture"
SHEET = "data sheet"


@dataclass(frozen=True)
class Roof:
    """One limit. kind: "compute", in flop/s, or "memory", in bytes/s. source: of the number."""

    name: str
    kind: str
    rate: float
    source: str


@dataclass(frozen=True)
class Roofs:
    """The limits of one card, and what the model of a point needs to know of it.

    clock_hz: the one that nominal rates are taken at.
    """

    device: str
    roofs: tuple[Roof, ...]
    sms: int
    clock_hz: float
    measured: bool = False

    def rate(self, name: str) -> float | None:
        """A roof's rate by its name; None where it is not known."""
        return next((r.rate for r in self.roofs if r.name == name), None)

    def of_kind(self, kind: str) -> tuple[Roof, ...]:
        """The compute or the memory roofs."""
        return tuple(r for r in self.roofs if r.kind == kind)

    def to_plain(self) -> dict[str, Any]:
        """As JSON's types."""
        return {**asdict(self), "roofs": [asdict(r) for r in self.roofs]}


def roofs_from_plain(data: Mapping[str, Any]) -> Roofs:
    """What `Roofs.to_plain` wrote; `KeyError` or `TypeError` where it did not."""
    known: dict[str, Any] = {**data, "roofs": tuple(Roof(**r) for r in data["roofs"])}
    return Roofs(**known)


FMA, TENSOR, DOUBLE = "f32 arithmetic", "tensor cores, f16", "f64 arithmetic"
DRAM, L2, SHARED = "DRAM", "L2 cache", "shared memory"


def nominal(target: Target, card: Card) -> Roofs:
    """The roofs that documents promise, at the card's boost clock."""
    clock = card.clock_mhz * 1e6
    at = f"{card.sms} SMs at {card.clock_mhz:,} MHz ({SHEET})"
    rates = [(FMA, "f32", GUIDE), (DOUBLE, "f64", GUIDE), (TENSOR, "tensor.f16", PAPER)]
    compute = [
        Roof(title, "compute", 2.0 * target.fma[key] * card.sms * clock, f"{source}; {at}")
        for title, key, source in rates
        if key in target.fma
    ]
    width = target.banks.count * target.banks.width
    shared = f"{target.banks.count} banks of {target.banks.width} bytes each clock; {at}"
    memory = [
        Roof(DRAM, "memory", card.dram_gbs * 1e9, SHEET),
        Roof(SHARED, "memory", float(width * card.sms * clock), shared),
    ]
    return Roofs(card.name, (*compute, *memory), card.sms, clock)


def with_measured(base: Roofs, device: str, rates: Mapping[str, float], how: str) -> Roofs:
    """The same with what was measured in place of what was promised; others keep their source."""
    kept = [_replaced(roof, rates, how) for roof in base.roofs]
    known = {r.name for r in kept}
    more = [Roof(n, "memory", rate, how) for n, rate in rates.items() if n not in known]
    return Roofs(device, (*kept, *more), base.sms, base.clock_hz, measured=True)


def _replaced(roof: Roof, rates: Mapping[str, float], how: str) -> Roof:
    if roof.name not in rates:
        return roof
    nominal = amount(roof.rate, "flop/s" if roof.kind == "compute" else "B/s")
    return Roof(roof.name, roof.kind, rates[roof.name], f"{how}; nominally {nominal}")


PREFIXES: Sequence[tuple[float, str]] = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def amount(value: float, unit: str) -> str:
    """A number with a decimal prefix and three digits, such as `52.8 Tflop/s`."""
    for scale, prefix in PREFIXES:
        if value >= scale:
            return f"{three(value / scale)} {prefix}{unit}"
    return f"{three(value)} {unit}"


def three(value: float) -> str:
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - len(str(int(abs(value)))) + 1) if abs(value) >= 1 else 3
    return f"{value:.{digits}f}"
