"""Faults as users make them in kernels of their own, with the kind of each: `data/planted.toml`.

Every set was written down before the diagnosis was tried on it, and before it was mended by that set.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import phobos_nb as ph
from phobos_nb.simulate.difference import Differences
from tests.simulate import planted_last, planted_matrices, planted_more
from tests.simulate.planted_texts import KERNELS

assert planted_matrices.__doc__
assert planted_more.__doc__
assert planted_last.__doc__


@dataclass(frozen=True)
class Planted:
    """One change of a kernel's text, the kind of fault that it is, and what else the call is given."""

    kernel: str
    kind: str
    old: str = ""
    new: str = ""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """The kernel with the fault in it."""
        text = KERNELS[self.kernel].text
        assert self.old in text, self.old
        return text.replace(self.old, self.new, 1)

    @property
    def line(self) -> int:
        """The first line that the fault changes; the number of lines where a line is missing."""
        right, wrong = KERNELS[self.kernel].text.splitlines(), self.text.splitlines()
        pairs = enumerate(zip(right, wrong, strict=False), 1)
        return next((n for n, (a, b) in pairs if a != b), len(wrong))

    def differences(self, *, function: bool) -> Differences:
        """What `compare` says, the right answer given as arrays or as a function."""
        case = KERNELS[self.kernel]
        kernel = ph.compile(self.text)[self.kernel]
        arguments = case.arguments(np.random.default_rng(11))
        ref = case.right if function else case.right(arguments)
        return kernel.compare(**arguments, ref=ref, **{**case.options, **self.options})


def _planted(row: dict[str, Any]) -> Planted:
    own = {name: row.pop(name) for name in ("kernel", "kind", "old", "new") if name in row}
    return Planted(**own, options={name: tuple(v) if name == "grid" else v for name, v in row.items()})


def _sets() -> dict[str, dict[str, Planted]]:
    text = (Path(__file__).parent / "data" / "planted.toml").read_text("utf-8")
    return {
        of: {n: _planted(row) for n, row in rows.items()} for of, rows in tomllib.loads(text).items()
    }


SETS = _sets()
"""By set and by name."""

OPEN = (
    "half of the stride",
    "rows by thread",
    "a window further",
    "halves exchanged",
    "one lane's part only",
    "interleaved for halves",
)
"""Told otherwise, or not at all, from arrays: an index that leads to a race or out of memory is called
that, two changes at once are not found, and another change may give the right values too."""
