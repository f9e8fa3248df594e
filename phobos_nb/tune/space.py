"""The configurations that a search may visit."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import SupportsIndex, cast

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.check.configuration import names_help
from phobos_nb.lower.gemm_plan import OVERRIDES
from phobos_nb.tune.outcome import Constants, label
from phobos_nb.tune.settings_check import is_whole


@dataclass(frozen=True)
class Space:
    """Names and the values of each; a configuration takes one value for each name."""

    values: Mapping[str, tuple[int, ...]]

    def __len__(self) -> int:
        return math.prod(len(v) for v in self.values.values())

    def __iter__(self) -> Iterator[Constants]:
        """All configurations, the last name fastest."""
        for combination in itertools.product(*self.values.values()):
            yield dict(zip(self.values, combination, strict=True))

    def __contains__(self, constants: object) -> bool:
        if not isinstance(constants, Mapping):
            return False
        found = cast(Constants, constants)
        return set(found) == set(self.values) and all(
            found[name] in values for name, values in self.values.items()
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The configurations as text, in order."""
        return tuple(label(c) for c in self)


def space_of(kernel: Kernel, choices: Mapping[str, int | Sequence[int]] | None = None) -> Space:
    """The kernel's open `@autotune` names with their values, changed and widened by `choices`.

    choices: name -> values, for a name of `@autotune` (its values are replaced), a generic, or one of
    the compiler's own choices such as STAGES; a single value pins a name. Raises `PhobosError` PH404
    for a name that the kernel does not have, PH405 where values are missing or no whole numbers.
    """
    given = {n: _values(n, v) for n, v in (choices or {}).items()}
    known = kernel.constant_names
    for name, values in given.items():
        if name not in known:
            message = f"{kernel.name} has no constant {name} to tune"
            help = names_help(name, known - {*OVERRIDES}, OVERRIDES)
            raise PhobosError([Diagnostic("PH404", message, stage="tune", help=help)])
        if not values:
            message = f"{name}: no value to try"
            raise PhobosError([Diagnostic("PH405", message, stage="tune")])
    written = kernel.typed(kernel.options.constants).space
    free = {n: v for n, v in written.items() if n not in kernel.options.constants}
    return Space({n: tuple(dict.fromkeys(v)) for n, v in {**free, **given}.items()})


def _values(name: str, given: object) -> tuple[int, ...]:
    """One number or several; text would be taken apart, and 64.0 named otherwise than 64."""
    several: tuple[object, ...] = (given,)
    if isinstance(given, Iterable) and not isinstance(given, str):
        several = tuple(cast("Iterable[object]", given))
    if not all(is_whole(value) for value in several):
        message = f"{name}: wanted a whole number or several, got {given!r}"
        raise PhobosError([Diagnostic("PH405", message, stage="tune")])
    return tuple(operator.index(cast(SupportsIndex, value)) for value in several)
