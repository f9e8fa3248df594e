"""In which order, and how thoroughly, a search visits its space: one strategy per file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.tune.outcome import Constants, Outcome
from phobos_nb.tune.space import Space


@dataclass(frozen=True)
class Trial:
    """Measure a configuration with that many timed samples."""

    constants: Constants
    samples: int


class Strategy(Protocol):
    """Asked for trials, told their outcomes; several may be under way at once."""

    def ask(self) -> Trial | None:
        """The next trial; None when there is none, or none before more outcomes are told."""
        ...

    def tell(self, outcome: Outcome) -> None:
        """What became of a trial."""
        ...


Predict = Callable[[Constants], float]
"""An estimate of a configuration's time, in any unit; inf where it cannot run."""


@dataclass(frozen=True)
class Setting:
    """What a strategy may use. trials: the budget in configurations, None for as many as there are.

    samples: timed calls of a first look. predict: a model of the time. seed: of every random choice.
    """

    space: Space
    samples: int = 5
    trials: int | None = None
    seed: int = 0
    predict: Predict | None = field(default=None, compare=False)


def names() -> tuple[str, ...]:
    """The strategies there are."""
    return tuple(m.name for m in pkgutil.iter_modules(__path__))


def make(name: str, setting: Setting) -> Strategy:
    """A strategy by name; `PhobosError` PH402 for an unknown one."""
    check_name(name)
    return importlib.import_module(f"{__name__}.{name}").make(setting)


def check_name(name: str) -> None:
    """Raises `PhobosError` PH402 for a strategy that there is not."""
    if name not in names():
        message = f"unknown strategy {name!r}"
        help = f"there are: {', '.join(names())}"
        raise PhobosError([Diagnostic("PH402", message, stage="tune", help=help)])
