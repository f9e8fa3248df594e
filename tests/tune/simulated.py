"""Devices that exist only as numbers: true times, a drifting clock, skewed noise, outliers."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping

from phobos_nb.tune.outcome import Constants, Failed, Kind, label


class Device:
    """Times configurations as a GPU would: all of them on one clock, each call with noise of its own.

    true: milliseconds by label. level: how much slower the device is than another of its model. noise:
    typical part of a time. The clock drifts by 2 % in some 100 calls; one call in 25 takes 20 % longer.
    """

    def __init__(
        self, true: Mapping[str, float], seed: int, *, level: float = 1.0, noise: float = 0.004
    ) -> None:
        self._true, self._level, self._noise = true, level, noise
        self._random = random.Random(seed)
        self._phase, self.calls = self._random.random() * 6, 0
        self.fails: set[str] = set()

    def time(self, constants: Constants, samples: int) -> tuple[float, ...] | Failed:
        """As in `finals.Lane`."""
        name = label(constants)
        if name in self.fails:
            return Failed(constants, Kind.LAUNCH, "planted")
        return tuple(self._one(self._true[name]) for _ in range(samples))

    def _one(self, true: float) -> float:
        self.calls += 1
        clock = self._level * (1 + 0.01 * math.sin(self._phase + self.calls / 16))
        late = 0.2 if self._random.random() < 0.04 else 0.0
        return true * clock * (1 + abs(self._random.gauss(0, self._noise)) + late)


class Peer:
    """A contender of its own on the same device."""

    def __init__(self, device: Device, name: str) -> None:
        self._device, self._name = device, name

    def time(self) -> float:
        """Milliseconds."""
        return self._device._one(self._device._true[self._name])
