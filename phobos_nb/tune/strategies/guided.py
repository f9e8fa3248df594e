"""Configurations in the order of a model of their time, corrected by what was measured.

The model ranks before anything is run. Once outcomes come in, each configuration's prediction is
multiplied by how far the model was off for the measured ones nearest to it (fewest steps along the
axes of the space): the model gets the shape of the space, the measurements the level of a region.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from phobos_nb.tune.outcome import Constants, Measured, Outcome
from phobos_nb.tune.space import Space
from phobos_nb.tune.strategies import Setting, Strategy, Trial

NEIGHBOURS = 3
"""Measured configurations that correct a prediction."""


class Guided:
    """Asks for the configuration with the smallest corrected prediction that was not asked for."""

    def __init__(self, setting: Setting) -> None:
        predict = setting.predict or _no_model
        self._samples = setting.samples
        self._space = setting.space
        predicted = [(c, predict(c)) for c in setting.space]
        self._open = {_place(setting.space, c): (c, p) for c, p in predicted if math.isfinite(p)}
        self._hopeless = [c for c, p in predicted if not math.isfinite(p)]
        self._predicted = {place: p for place, (_, p) in self._open.items()}
        self._error: dict[tuple[int, ...], float] = {}

    def ask(self) -> Trial | None:
        """The most promising one; those that the model rules out come last, to be named as failures."""
        if not self._open:
            return Trial(self._hopeless.pop(0), self._samples) if self._hopeless else None
        place = min(self._open, key=lambda p: self._open[p][1] * self._correction(p))
        constants, _ = self._open.pop(place)
        return Trial(constants, self._samples)

    def tell(self, outcome: Outcome) -> None:
        """Learn how far the model was off."""
        place = _place(self._space, outcome.constants)
        if isinstance(outcome, Measured) and place in self._predicted:
            self._error[place] = outcome.median / self._predicted[place]

    def _correction(self, place: tuple[int, ...]) -> float:
        """The geometric mean of the nearest errors, nearer ones counting more."""
        if not self._error:
            return 1.0
        near = sorted((_distance(place, other), e) for other, e in self._error.items())[:NEIGHBOURS]
        weights = [1.0 / (0.5 + d) for d, _ in near]
        logs = [w * math.log(e) for w, (_, e) in zip(weights, near, strict=True)]
        return math.exp(sum(logs) / sum(weights))


def _no_model(constants: Constants) -> float:  # noqa: ARG001 - the signature of every model
    """All alike."""
    return 1.0


def _place(space: Space, constants: Constants) -> tuple[int, ...]:
    """A configuration as steps along each axis."""
    values: Mapping[str, tuple[int, ...]] = space.values
    return tuple(values[name].index(constants[name]) for name in values)


def _distance(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def make(setting: Setting) -> Strategy:
    """Guided by the setting's model; without one, in the order of the space."""
    return Guided(setting)
