"""The one place that guesses what a misspelt name was meant to be."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A help text naming the closest known name, or nothing when none is close."""
    candidates = sorted(set(known))
    close = get_close_matches(name, candidates, n=1, cutoff=0.6)
    if not close:
        folded = {c.casefold(): c for c in candidates}
        close = [folded[m] for m in get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)]
    return f"did you mean `{close[0]}`?" if close else ""
