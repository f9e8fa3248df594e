"""Optuna's tree-structured Parzen estimator (extra `[optuna]`)."""

from __future__ import annotations

import importlib
import math
from typing import Any

from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.tune.outcome import Measured, Outcome, label
from phobos_nb.tune.strategies import Setting, Strategy, Trial

PATIENCE = 50
"""Suggestions in a row that were all seen before, after which the space counts as exhausted."""


class Optuna:
    """Every axis is a categorical choice in order; failures count as worse than any time."""

    def __init__(self, setting: Setting) -> None:
        module = _module()
        module.logging.set_verbosity(module.logging.ERROR)
        sampler = module.samplers.TPESampler(seed=setting.seed, constant_liar=True)
        self._study = module.create_study(direction="minimize", sampler=sampler)
        self._complete, self._failed = module.trial.TrialState.COMPLETE, module.trial.TrialState.FAIL
        self._setting = setting
        self._open: dict[str, Any] = {}
        self._seen: dict[str, float | None] = {}

    def ask(self) -> Trial | None:
        """A configuration that was not suggested before; repeated ones are told their known time."""
        values = self._setting.space.values
        if len(self._seen) >= len(self._setting.space):
            return None
        for _ in range(PATIENCE):
            trial = self._study.ask()
            places: dict[str, int] = {n: trial.suggest_int(n, 0, len(v) - 1) for n, v in values.items()}
            constants: dict[str, int] = {n: values[n][place] for n, place in places.items()}
            name = label(constants)
            if name not in self._seen:
                self._seen[name] = None
                self._open[name] = trial
                return Trial(constants, self._setting.samples)
            self._close(trial, self._seen[name])
        return None

    def tell(self, outcome: Outcome) -> None:
        """Pass the outcome on, as the logarithm of the time."""
        time = math.log(outcome.median) if isinstance(outcome, Measured) else None
        self._seen[outcome.label] = time
        if outcome.label in self._open:
            self._close(self._open.pop(outcome.label), time)

    def _close(self, trial: Any, time: float | None) -> None:
        if time is None:
            self._study.tell(trial, state=self._failed)
        else:
            self._study.tell(trial, time, state=self._complete)


def _module() -> Any:
    try:
        return importlib.import_module("optuna")
    except ImportError as error:
        help = 'pip install "phobos_nb[optuna]", or choose another strategy'
        message = f"strategy 'optuna' needs Optuna ({error})"
        raise PhobosError([Diagnostic("PH402", message, stage="tune", help=help)]) from None


def make(setting: Setting) -> Strategy:
    """A new study in memory."""
    return Optuna(setting)
