"""Counts in sentences."""

from __future__ import annotations


def counted(count: int, one: str, several: str = "") -> str:
    """A count with its noun: `1 CTA`, `1,024 CTAs`, `2 entries` from ("entry", "entries")."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"
