"""Whose values were loaded from shared memory that nothing has written."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools, Ints


@dataclass
class Unwritten:
    """By load operation: the threads whose last execution of it read what nothing has written.

    said: what the report of that load says.
    """

    threads: dict[int, Ints] = field(default_factory=dict[int, Ints])
    said: dict[int, str] = field(default_factory=dict[int, str])

    def note(self, s: Strand, op: int, bad: Bools, where: str) -> None:
        """Some lanes of a load read unwritten memory, the others did not."""
        self.forget(s, op)
        lanes = bad.reshape(-1, s.count).any(0)
        self.threads[op] = np.union1d(self.threads.get(op, np.zeros(0, np.int64)), s.gid[lanes])
        self.said[op] = where

    def forget(self, s: Strand, op: int) -> None:
        """The active lanes execute a load anew."""
        before = self.threads.get(op)
        if before is not None:
            self.threads[op] = np.setdiff1d(before, s.gid[s.active])
