"""Configurations in the order of a model of their time, corrected by what was measured.

The model ranks before anything is run. From then on its error, the logarithm of measured over predicted
time, is a Gaussian process over the space: a level, a slope along each axis, and bumps a step or two
wide. The next trial is the one with the shortest time that may be hoped for: the model's, with the
expected error, less a part of how unsure that is. So a region is left once it has been seen to be slower
than predicted, and one that nobody has seen is tried even where the model is against it. Rasmussen and
Williams, Gaussian Processes for Machine Learning, 2006, algorithm 2.1 and section 2.7.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.tune.outcome import Constants, Measured, Outcome, label
from phobos_nb.tune.space import Space
from phobos_nb.tune.strategies import Setting, Strategy, Trial

LEVEL, SLOPE, BUMP = 3.0, 0.5, 0.2
"""Standard deviations of the error's parts, as logarithms; the slope's is of one step."""

WIDTH = 1.5
"""Steps over which a bump falls off."""

LONGEST = 5.0
"""Steps that an axis counts as at most: one of many values is not more uncertain at its ends."""

NOISE = 0.02
"""Standard deviation of a first look's error."""

HOPE = 0.5
"""Standard deviations by which an unsure prediction is taken to be better."""

MOST_SEEN = 150
"""Measurements that correct predictions: the fastest, once there are more."""

WAVES, FEWEST = 4, 2
"""A budget in trials is spent in about so many waves, each of two trials at least: what is asked for
while all others are still being compiled learns nothing."""

Array = NDArray[np.floating[Any]]


class Guided:
    """Asks for the most promising configuration that was not asked for."""

    def __init__(self, setting: Setting) -> None:
        predict = setting.predict or _no_model
        predicted = [(c, predict(c)) for c in setting.space]
        self._samples = setting.samples
        self._at_once = math.inf if setting.trials is None else max(FEWEST, setting.trials // WAVES)
        self._constants = [c for c, p in predicted if math.isfinite(p)]
        self._hopeless = [c for c, p in predicted if not math.isfinite(p)]
        self._predicted = np.log([p for _, p in predicted if math.isfinite(p)])
        self._places = _places(setting.space, self._constants)
        self._index = {label(c): i for i, c in enumerate(self._constants)}
        self._open = list(range(len(self._constants)))
        self._pending: list[int] = []
        self._error: dict[int, float] = {}

    def ask(self) -> Trial | None:
        """The most promising one; those that the model rules out come last, to be named as failures."""
        if len(self._pending) >= self._at_once:
            return None
        if not self._open:
            return Trial(self._hopeless.pop(0), self._samples) if self._hopeless else None
        chosen = self._open.pop(int(np.argmin(self._hoped_for())))
        self._pending.append(chosen)
        return Trial(self._constants[chosen], self._samples)

    def tell(self, outcome: Outcome) -> None:
        """Learn how far the model was off."""
        place = self._index.get(outcome.label)
        if place in self._pending:
            self._pending.remove(place)
        if place is not None and isinstance(outcome, Measured):
            self._error[place] = math.log(outcome.median) - float(self._predicted[place])

    def _hoped_for(self) -> Array:
        """The logarithm of an optimistic time for each open configuration.

        What is under way is taken to come out as expected: it makes its surroundings sure, not better.
        """
        seen = sorted(self._error, key=lambda i: self._predicted[i] + self._error[i])[:MOST_SEEN]
        errors = np.array([self._error[i] for i in seen])
        if self._pending:
            expected, _ = self._posterior(self._pending, seen, errors)
            seen, errors = [*seen, *self._pending], np.concatenate([errors, expected])
        error, unsure = self._posterior(self._open, seen, errors)
        return self._predicted[self._open] + error - HOPE * unsure

    def _posterior(self, wanted: list[int], seen: list[int], errors: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the error at places, given errors at others."""
        own = LEVEL**2 + SLOPE**2 * (self._places[wanted] ** 2).sum(axis=1) + BUMP**2
        if not seen:
            return np.zeros(len(wanted)), np.full(len(wanted), LEVEL)
        both = self._covariance(seen, seen) + NOISE**2 * np.eye(len(seen))
        across = self._covariance(seen, wanted)
        solved: Array = np.linalg.solve(both, np.column_stack([errors, across]))
        mean: Array = across.T @ solved[:, 0]
        spread: Array = own - (across * solved[:, 1:]).sum(axis=0)
        return mean, np.sqrt(np.maximum(spread, 0.0))

    def _covariance(self, one: list[int], other: list[int]) -> Array:
        a, b = self._places[one], self._places[other]
        apart = ((a[:, None] - b[None]) ** 2).sum(axis=2)
        return LEVEL**2 + SLOPE**2 * a @ b.T + BUMP**2 * np.exp(-apart / (2 * WIDTH**2))


def _no_model(constants: Constants) -> float:  # noqa: ARG001 - the signature of every model
    """All alike."""
    return 1.0


def _places(space: Space, constants: list[Constants]) -> Array:
    """Configurations as steps along each axis, from the middle of what there is."""
    values = space.values
    steps = [[values[name].index(c[name]) for name in values] for c in constants]
    found = np.array(steps, dtype=np.float64).reshape(len(constants), len(values))
    if not constants:
        return found
    longest = np.maximum(found.max(axis=0) - found.min(axis=0), 1.0)
    return (found - found.mean(axis=0)) * np.minimum(1.0, LONGEST / longest)


def make(setting: Setting) -> Strategy:
    """Guided by the setting's model; without one, by what was measured alone."""
    return Guided(setting)
