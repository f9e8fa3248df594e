"""Every configuration once, in the order of the space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from phobos_nb.tune.outcome import Constants, Outcome
from phobos_nb.tune.strategies import Setting, Strategy, Trial


class Listed:
    """A fixed order of configurations; outcomes change nothing."""

    def __init__(self, order: Iterable[Constants], samples: int) -> None:
        self._order: Iterator[Constants] = iter(order)
        self._samples = samples

    def ask(self) -> Trial | None:
        """The next of the list."""
        constants = next(self._order, None)
        return None if constants is None else Trial(constants, self._samples)

    def tell(self, outcome: Outcome) -> None:
        """Nothing is learnt."""


def make(setting: Setting) -> Strategy:
    """All of the space."""
    return Listed(setting.space, setting.samples)
