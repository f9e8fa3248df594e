"""What a search of several shapes found: the set, its regret at each shape, the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phobos_nb.compilation.dispatch_table import DispatchTable, Point
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.counts import counted
from phobos_nb.tune.outcome import label
from phobos_nb.tune.result import Tuning, first_reasons

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from phobos_nb.views.shapes_widget import ShapesWidget


@dataclass(frozen=True)
class ShapesTuning:
    """A finished or stopped search of several shapes.

    tunings: of each shape, in the order given. table: what calls use, see `DispatchTable`. stopped: ""
    for a search that came to its end, else "interrupted" or "budget".
    """

    tunings: tuple[Tuning, ...]
    table: DispatchTable
    kernel: Kernel | None = None
    stopped: str = ""
    recorded: str = ""

    @property
    def configurations(self) -> tuple[dict[str, int], ...]:
        """The chosen set."""
        return tuple(dict(m.constants) for m in self.table.members)

    @property
    def fresh(self) -> int:
        """Configurations measured just now, over all shapes."""
        return sum(t.fresh for t in self.tunings)

    def choose(self, **extents: int) -> dict[str, int] | None:
        """The constants that a call of these extents takes; `TypeError` unless they are the kernel's."""
        wanted = sorted({n for point in self.table.points for n in point.extents})
        if wanted and sorted(extents) != wanted:
            raise TypeError(f"choose: wanted {', '.join(wanted)}, got {', '.join(extents) or 'nothing'}")
        return self.table.choose(extents)

    def regret(self, point: Point) -> float | None:
        """How much slower the dispatched member is at a measured shape than the fastest of all."""
        chosen = self.table.choose_member(point.extents)
        time = None if chosen is None else point.times[chosen]
        return None if time is None else time / point.best - 1.0

    @property
    def mean_regret(self) -> float:
        """Over the shapes, by weight; 0.01 for 1 %. `ValueError` where nothing was right."""
        found = [(p.weight, r) for p in self.table.points if (r := self.regret(p)) is not None]
        if not found:
            raise ValueError("no configuration gave a right answer")
        total = sum(w for w, _ in found) or 1.0
        return sum(w * r for w, r in found) / total

    @property
    def frame(self) -> DataFrame:
        """One row per shape and configuration, failures too: extents, then as in `Tuning.frame`."""
        import pandas as pd

        rows: list[dict[str, Any]] = []
        for tuning in self.tunings:
            extents = dict(tuning.record.identity.extents)
            rows += [{**extents, **row} for row in tuning.rows()]
        return pd.DataFrame(rows)

    @property
    def regrets(self) -> DataFrame:
        """One row per shape: extents, best ms, each member's regret, the chosen one, its regret."""
        import pandas as pd

        return pd.DataFrame([self._regrets(point) for point in self.table.points])

    def _regrets(self, point: Point) -> dict[str, Any]:
        members = {
            label(m.constants): None if t is None else t / point.best - 1.0
            for m, t in zip(self.table.members, point.times, strict=True)
        }
        chosen = self.table.choose(point.extents)
        return {
            **point.extents,
            "weight": point.weight,
            "best_ms": point.best,
            **members,
            "chosen": None if chosen is None else label(chosen),
            "regret": self.regret(point),
        }

    def widget(self) -> ShapesWidget:
        """In the browser: the set and its losses, and below them the search of a shape of choice."""
        import phobos_nb

        return phobos_nb.ShapesWidget(self)

    def plot(self) -> Figure:
        """A matplotlib figure: each member's time over the best at every shape, the chosen marked."""
        from phobos_nb.tune.shapes_plot import plot

        return plot(self)

    def __repr__(self) -> str:
        return summary(self)


def summary(found: ShapesTuning) -> str:
    """A few lines: the set, what each shape loses by it, how the table reads."""
    table, first = found.table, found.tunings[0].record
    shapes = counted(len(found.tunings), "shape")
    head = f"{first.identity.kernel}, {shapes} on {first.identity.device}"
    lines = [head + (f" (recorded: {found.recorded})" if found.recorded else "")]
    if not table.members:
        return "\n".join([*lines, "  no configuration gave a right answer", *_reasons(found)])
    lines.append(
        f"  {counted(len(table.members), 'configuration')}, mean regret {found.mean_regret:.2%}"
    )
    lines += [f"    {number}: {label(m.constants)}" for number, m in enumerate(table.members)]
    lines += rows(found)
    failed = sum(len(t.failures) for t in found.tunings)
    measured = sum(len(t.measured) for t in found.tunings)
    lines.append(f"  {counted(measured, 'measurement')}, {counted(failed, 'failure')}")
    lines += _reasons(found)
    if found.stopped:
        lines.append(f"  stopped: {found.stopped}")
    return "\n".join(lines)


def _reasons(found: ShapesTuning) -> list[str]:
    """The first failure of every kind at any shape."""
    return first_reasons([failed for tuning in found.tunings for failed in tuning.failures])


def rows(found: ShapesTuning) -> Sequence[str]:
    """One line per shape."""
    lines: list[str] = []
    for point in found.table.points:
        extents = " ".join(f"{n}={v}" for n, v in point.extents.items())
        chosen, regret = found.table.choose_member(point.extents), found.regret(point)
        loss = "not measured" if regret is None else f"{regret:+.1%} of the best"
        lines.append(f"  {extents}: {chosen}, {loss} {point.best:.4g} ms")
    return lines
