"""The product that a device's name means."""

from __future__ import annotations

import re

from phobos_nb.target.facts import Card, Target


def card_of(target: Target, device: str = "") -> Card | None:
    """The target's card of a device name as CUDA tells it, such as "NVIDIA H200"; None for another one.

    Without a name the last card listed.
    """
    if not device:
        return target.cards[-1] if target.cards else None
    words = set(_words(device))

    def shared(card: Card) -> int:
        own = _words(card.name)
        model = next(w for w in own if any(c.isdigit() for c in w))
        return len(words.intersection(own)) if model in words else 0

    best = max(target.cards, key=shared, default=None)
    return best if best is not None and shared(best) else None


def _words(name: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", name.lower())
