"""Records made by a formula, for replays: a space with a clear best region, noise and failures."""

from __future__ import annotations

import random
from collections.abc import Mapping

from phobos_nb.compilation.remembered import Identity
from phobos_nb.tune.outcome import Failed, Kind, Measured, Outcome
from phobos_nb.tune.records import Record
from phobos_nb.tune.space import Space

SPACE = Space({"M": (32, 64, 128, 256), "N": (32, 64, 128, 256), "K": (4, 8, 16, 32)})


def identity(**changed: object) -> Identity:
    """An identity of a kernel nobody wrote."""
    fields: dict[str, object] = {
        "kernel": "gemm",
        "fingerprint": "f" * 64,
        "fixed": {},
        "extents": {"M": 512, "N": 512, "K": 512},
        "dtypes": {"A": "f32"},
        "index_bits": 64,
        "device": "Example GPU",
        "target": "sm_90a",
        "compiler": "0.1.0",
        "nvrtc": "13.0",
    }
    return Identity(**{**fields, **changed})  # type: ignore[arg-type]  # the test's own dictionary


def true_time(constants: Mapping[str, int]) -> float:
    """Milliseconds, least at M=128, N=256, K=8."""
    best = {"M": 128, "N": 256, "K": 8}
    steps = sum(abs(constants[n].bit_length() - v.bit_length()) for n, v in best.items())
    return 1.0 + 0.2 * steps


def record(noise: float = 0.01, seed: int = 0, rounds: int = 25) -> Record:
    """Every configuration measured; those with M = N = 256 fail by a constraint."""
    rng = random.Random(seed)
    clock = [rng.gauss(1.0, noise) for _ in range(rounds)]
    outcomes: list[Outcome] = []
    for constants in SPACE:
        if constants["M"] == constants["N"] == 256:
            outcomes.append(Failed(constants, Kind.CONSTRAINT, "256 registers"))
            continue
        t = true_time(constants)
        times = tuple(t * rng.gauss(1.0, noise) for _ in range(5))
        each = tuple(t * c * rng.gauss(1.0, noise / 4) for c in clock)
        outcomes.append(Measured(constants, times, each, 1e-6, {"registers": 100.0}, 0.5))
    found = {o.label: o for o in outcomes}
    best = {"M": 128, "N": 256, "K": 8}
    return Record(identity(), SPACE.values, found, best, date="2026-11-29 12:00:00 UTC", checked="x")
