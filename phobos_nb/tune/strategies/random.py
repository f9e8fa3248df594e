"""Configurations in random order, each once."""

from __future__ import annotations

import random

from phobos_nb.tune.strategies import Setting, Strategy
from phobos_nb.tune.strategies.exhaustive import Listed


def make(setting: Setting) -> Strategy:
    """The space shuffled by the seed."""
    order = list(setting.space)
    random.Random(setting.seed).shuffle(order)
    return Listed(order, setting.samples)
