"""Successive halving: one sample of many, twice as many samples of the better half, and so on."""

from __future__ import annotations

import random

from phobos_nb.tune.outcome import Constants, Measured, Outcome, label
from phobos_nb.tune.strategies import Setting, Strategy, Trial

KEEP = 2
"""One in how many goes on to the next round."""


class Halving:
    """Rounds of trials; a round is planned when the one before has been told in full."""

    def __init__(self, first: list[Constants], most_samples: int) -> None:
        self._waiting = first
        self._open: set[str] = set()
        self._found: dict[str, Measured] = {}
        self._samples, self._most = 1, most_samples

    def ask(self) -> Trial | None:
        """The next of this round, or the first of the next one."""
        if not self._waiting and not self._open:
            self._plan_next()
        if not self._waiting:
            return None
        constants = self._waiting.pop(0)
        self._open.add(label(constants))
        return Trial(constants, self._samples)

    def tell(self, outcome: Outcome) -> None:
        """Close a trial; failures do not go on."""
        self._open.discard(outcome.label)
        if isinstance(outcome, Measured):
            self._found[outcome.label] = outcome

    def _plan_next(self) -> None:
        best = sorted(self._found.values(), key=lambda m: m.median)
        survivors = best[: max(1, len(best) // KEEP)] if len(best) > 1 else []
        if self._samples >= self._most:
            survivors = []
        self._samples = min(self._most, self._samples * KEEP)
        self._waiting = [m.constants for m in survivors]
        self._found = {}


def make(setting: Setting) -> Strategy:
    """As many random configurations as the budget allows; samples double up to four times a look's."""
    order = list(setting.space)
    random.Random(setting.seed).shuffle(order)
    return Halving(order[: setting.trials], 4 * setting.samples)
