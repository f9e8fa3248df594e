"""A few configurations for all shapes of a kernel: which one a call takes, as plain data.

Note [Dispatch]
A table holds its members (configurations) and points (measured shapes, with each member's time there).
For other extents nothing is measured or compiled; `choose` decides so:

* members whose `@aligned` promises the extents break are out;
* at a measured shape the fastest member there is taken;
* elsewhere the points nearest in log2 of the extents speak, nearer ones more (1 / distance^2). Each
  says how its members' times compare, corrected for the grid: a member's time is multiplied by how its
  load changes from the point to the call, the load being the CTAs of the busiest SM (whole waves,
  partial tiles counted in full) over the CTAs that share one tile's k loop.

The file is JSON (`to_json`), and needs nothing of this package to be read: an exporter can print the
same decision into C++.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from phobos_nb.compilation.remembered import Identity
from phobos_nb.contract import GridRule, GridTerm, Variant, variant_from_plain
from phobos_nb.lower.choices import SPLIT

WHAT = "phobos_nb dispatch table"

FORMAT = 1

NEAREST = 3
"""Measured shapes that speak for another shape."""


class TableError(ValueError):
    """Text that is no table this version can read; it says why."""


@dataclass(frozen=True)
class Member:
    """One configuration. promises: symbol -> multiple that extents must be. grid: the CTAs it starts."""

    constants: Mapping[str, int]
    promises: Mapping[str, int]
    grid: GridRule

    def admits(self, extents: Mapping[str, int]) -> bool:
        """Whether a call of these extents keeps what the configuration was promised."""
        return all(extents.get(s, 0) % multiple == 0 for s, multiple in self.promises.items())

    def load(self, extents: Mapping[str, int], sms: int) -> float:
        """Tiles that the busiest SM works through; 1 where the kernel's grid cannot be inferred."""
        if self.grid.problem:
            return 1.0
        sharing = max(1, self.constants.get(SPLIT, 1))
        ctas = math.prod(self.grid.shape(extents)) * sharing
        return max(1, -(-ctas // sms)) / sharing


@dataclass(frozen=True)
class Point:
    """A measured shape. times: ms of each member, None where it has none. best: of the fastest of all.

    weight: how much the shape counted when the members were picked.
    """

    extents: Mapping[str, int]
    times: tuple[float | None, ...]
    best: float
    weight: float = 1.0

    def distance(self, extents: Mapping[str, int]) -> float:
        """Euclidean, in doublings of an extent."""
        steps = [math.log2(max(1, n) / max(1, extents.get(s, 1))) for s, n in self.extents.items()]
        return math.hypot(*steps)


@dataclass(frozen=True)
class DispatchTable:
    """Members and points, see Note [Dispatch].

    identity: of the kernel, its device and compilers, without extents. sms: of the device, 1 for a CPU.
    variants: of arrays, for which members are compiled when the table is loaded. date: ISO, UTC.
    """

    identity: Identity
    members: tuple[Member, ...]
    points: tuple[Point, ...]
    sms: int = 1
    variants: tuple[Variant, ...] = ()
    date: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def choose(self, extents: Mapping[str, int]) -> dict[str, int] | None:
        """The constants for a call; None where its extents break every member's promises."""
        found = self.choose_member(extents)
        return None if found is None else dict(self.members[found].constants)

    def choose_member(self, extents: Mapping[str, int]) -> int | None:
        """The member's number, see Note [Dispatch]."""
        allowed = [i for i, m in enumerate(self.members) if m.admits(extents)]
        scores = {i: self.score(i, extents) for i in allowed}
        known = [i for i, score in scores.items() if math.isfinite(score)]
        return min(known or allowed, key=lambda i: scores[i], default=None)

    def score(self, member: int, extents: Mapping[str, int]) -> float:
        """The log of a member's expected time over the best member's; inf where nothing is known."""
        near = sorted((p.distance(extents), i) for i, p in enumerate(self.points))[:NEAREST]
        if near and near[0][0] == 0:
            near = near[:1]
        total = weights = 0.0
        for distance, i in near:
            value = self._relative(member, self.points[i], extents)
            if math.isfinite(value):
                weight = 1.0 / max(distance, 1e-3) ** 2
                total, weights = total + weight * value, weights + weight
        return total / weights if weights else math.inf

    def _relative(self, member: int, point: Point, extents: Mapping[str, int]) -> float:
        """What one point says: the log of a member's time there, moved to other extents."""
        moved = [self._moved(i, point, extents) for i in range(len(self.members))]
        return moved[member] - min(moved) if math.isfinite(moved[member]) else math.inf

    def _moved(self, member: int, point: Point, extents: Mapping[str, int]) -> float:
        time = point.times[member]
        if time is None:
            return math.inf
        found = self.members[member]
        growth = found.load(extents, self.sms) / found.load(point.extents, self.sms)
        return math.log(time * growth)

    # Text -------------------------------------------------------------------------------------------

    def to_json(self) -> str:
        """As text; equal tables give equal text."""
        plain = {"what": WHAT, "format": FORMAT, **asdict(self)}
        plain["identity"] = self.identity.to_plain()
        return json.dumps(plain, indent=1, sort_keys=True) + "\n"

    @staticmethod
    def from_json(text: str) -> DispatchTable:
        """What `to_json` wrote; `TableError` with the reason for anything else."""
        if not text.strip():
            raise TableError("an empty file")
        try:
            data: Any = json.loads(text)
        except ValueError as error:
            raise TableError(f"cut short or no JSON ({error})") from error
        if not isinstance(data, dict) or cast("dict[str, Any]", data).get("what") != WHAT:
            raise TableError("not a dispatch table of phobos_nb")
        found = cast("dict[str, Any]", data)
        if found.get("format") != FORMAT:
            raise TableError(f"format {found.get('format')}, this version reads {FORMAT}")
        try:
            return _table(found)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise TableError(f"damaged ({type(error).__name__}: {error})") from error


def _table(data: Mapping[str, Any]) -> DispatchTable:
    members = tuple(_member(m) for m in data["members"])
    points = tuple(_point(p, len(members)) for p in data["points"])
    return DispatchTable(
        identity=Identity(**data["identity"]),
        members=members,
        points=points,
        sms=int(data["sms"]),
        variants=tuple(map(variant_from_plain, data["variants"])),
        date=str(data["date"]),
        settings=dict(data["settings"]),
    )


def _member(data: Mapping[str, Any]) -> Member:
    axes = [tuple(GridTerm(t["extent"], t["step"]) for t in axis) for axis in data["grid"]["axes"]]
    return Member(
        constants={str(n): int(v) for n, v in data["constants"].items()},
        promises={str(n): int(v) for n, v in data["promises"].items()},
        grid=GridRule((axes[0], axes[1], axes[2]), str(data["grid"]["problem"])),
    )


def _point(data: Mapping[str, Any], members: int) -> Point:
    times = tuple(None if t is None else float(t) for t in data["times"])
    if len(times) != members:
        raise ValueError(f"{len(times)} times for {members} members")
    extents = {str(n): int(v) for n, v in data["extents"].items()}
    return Point(extents, times, float(data["best"]), float(data["weight"]))
