"""What calls take from disk: the winner recorded for exactly their shape, or a dispatch table's choice.

The newer of the two counts. A table's members are compiled when it is loaded, for the variants of
arrays it names, so that a shape that was never measured finds compiled code at its first call.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from phobos_nb.compilation import remembered
from phobos_nb.compilation.dispatch_table import DispatchTable, TableError
from phobos_nb.compilation.remembered import Identity
from phobos_nb.contract import Variant
from phobos_nb.diagnostics import PhobosError

LOG = logging.getLogger("phobos_nb")

Configured = tuple[tuple[str, int], ...]

Prepare = Callable[[Mapping[str, int], Variant], None]
"""prepare(constants, variant): compiles, so that a later call only looks the code up; or raises."""


def of_any_shape(identity: Identity) -> Identity:
    """What a table of that identity holds for: all extents, and calls whatever the cache holds."""
    return replace(identity, extents={}, cache="warm")


def table_path(identity: Identity) -> Path:
    """Where the table for all extents of this identity is, or would be."""
    name = of_any_shape(identity).file_name
    return remembered.folder() / f"{name.removesuffix('.json')}.table.json"


def read_table(identity: Identity) -> DispatchTable | None:
    """The table of that identity, whatever its extents; None without a usable one, with a warning."""
    path = table_path(identity)
    try:
        found = DispatchTable.from_json(path.read_text("utf-8", errors="replace"))
    except FileNotFoundError:
        return None
    except (TableError, OSError) as error:
        return remembered.warn_once(str(path), str(error))
    if found.identity.to_plain() != of_any_shape(identity).to_plain():
        return remembered.warn_once(str(path), "it is about something else")
    return found


class Dispatch:
    """One kernel's remembered choices on one device."""

    def __init__(self, identity: Identity, prepare: Prepare | None) -> None:
        self.table = read_table(identity)
        self._ready: dict[Configured, tuple[Variant, ...]] = {}
        if self.table is not None and prepare is not None:
            for member in self.table.members:
                ready = [v for v in self.table.variants if _prepared(prepare, member.constants, v)]
                self._ready[_key(member.constants)] = tuple(ready)

    def choose(self, identity: Identity) -> dict[str, int] | None:
        """The constants for a call of these extents; None where nothing is remembered."""
        found, date = remembered.winner(identity) or (None, "")
        if self.table is None or (found is not None and date > self.table.date):
            return found
        return self.table.choose(identity.extents) or found

    def is_compiled(self, constants: Mapping[str, int]) -> bool:
        """Whether the constants are those of a member, for which any extents find compiled code."""
        return _key(constants) in self._ready

    def variant(self, constants: Mapping[str, int], wanted: Variant) -> Variant:
        """The compiled variant that a call's arrays allow, the closest one; `wanted` without one."""
        for names in self._ready:
            if all(constants.get(n) == v for n, v in names):
                return closest(self._ready[names], wanted)
        return wanted


def closest(variants: Iterable[Variant], wanted: Variant) -> Variant:
    """Of those that take no more for granted than `wanted` grants, the one that takes most."""
    fit = [v for v in variants if allows(wanted, v)]
    return max(fit, key=lambda v: (v.unit_stride, v.aligned, v.bounded, -v.index_bits), default=wanted)


def allows(wanted: Variant, variant: Variant) -> bool:
    """Whether code for `variant` is right for arrays of which `wanted` holds."""
    return (
        wanted.unit_stride >= variant.unit_stride
        and wanted.aligned >= variant.aligned
        and wanted.bounded >= variant.bounded
        and wanted.index_bits <= variant.index_bits
        and (not variant.aligned or set(wanted.thin) <= set(variant.thin))
    )


def _prepared(prepare: Prepare, constants: Mapping[str, int], variant: Variant) -> bool:
    """Compile ahead; what cannot be compiled is said, and left to the call that needs it."""
    try:
        prepare(constants, variant)
    except PhobosError as error:
        LOG.warning("%s for %s was not compiled ahead: %s", dict(constants), variant, error)
        return False
    return True


def _key(constants: Mapping[str, int]) -> Configured:
    return tuple(sorted(constants.items()))
