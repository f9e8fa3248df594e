"""What a search found, as people and programs read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from phobos_nb.compilation.kernel import Kernel
from phobos_nb.counts import counted
from phobos_nb.tune.outcome import Failed, Measured, Outcome, label
from phobos_nb.tune.records import Record
from phobos_nb.tune.stages import remark
from phobos_nb.tune.statistics import Comparison, Estimate, compare, estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from phobos_nb.views.autotune_widget import AutotuneWidget

REASON = 160
"""Letters of a failure's reason in the summary; `Tuning.failures` has all of it."""


@dataclass(frozen=True)
class Tuning:
    """A finished, stopped or recorded search.

    kernel: what was tuned, None for a record read without it. fresh: configurations measured just now,
    0 where everything was known. since: the date of the record that answered without a search. recorded:
    where the numbers were not measured here, card and date.
    """

    record: Record
    kernel: Kernel | None = None
    fresh: int = 0
    recorded: str = ""
    since: str = ""

    @property
    def best(self) -> dict[str, int] | None:
        """The winner's constants; None where nothing gave a right answer."""
        return None if self.record.best is None else dict(self.record.best)

    @property
    def winner(self) -> Measured | None:
        """The winner with its times."""
        best = self.record.best
        found = None if best is None else self.record.outcomes.get(label(best))
        return found if isinstance(found, Measured) else None

    @property
    def ties(self) -> tuple[dict[str, int], ...]:
        """Configurations that cannot be told from the winner."""
        return tuple(dict(self.record.outcomes[name].constants) for name in self.record.ties)

    @property
    def failures(self) -> tuple[Failed, ...]:
        """Configurations that cannot win, each with its kind and reason."""
        return tuple(o for o in self.record.outcomes.values() if isinstance(o, Failed))

    @property
    def measured(self) -> tuple[Measured, ...]:
        """Configurations with a right answer, fastest first; those of the rounds before all others."""
        found = [o for o in self.record.outcomes.values() if isinstance(o, Measured)]
        return tuple(sorted(found, key=lambda o: (not o.rounds, o.median)))

    @property
    def stopped(self) -> str:
        """Empty for a search that came to its end, else "interrupted" or "budget"."""
        return self.record.stopped

    @property
    def best_kernel(self) -> Kernel:
        """The kernel with the winner's constants; `ValueError` where there is none."""
        if self.kernel is None or self.best is None:
            raise ValueError("no kernel, or no configuration gave a right answer")
        return self.kernel.specialize(**self.best)

    def against(self, peer: str) -> Comparison:
        """The winner's times over a peer's, round by round: below 1, the winner is faster.

        `KeyError` for an unknown peer, `ValueError` where they were not in the same rounds.
        """
        if self.winner is None:
            raise ValueError("no configuration gave a right answer")
        return compare(self.winner.rounds, self.record.peers[peer])

    @property
    def frame(self) -> DataFrame:
        """One row per configuration, failures too: constants, times in ms, interval, facts.

        timed_in: what the time is of, "finals" or "first look"; times of the two do not compare.
        """
        import pandas as pd

        return pd.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The rows of `frame`."""
        return [self._row(outcome) for outcome in self.record.outcomes.values()]

    def _row(self, outcome: Outcome) -> dict[str, Any]:
        row: dict[str, Any] = dict(outcome.constants)
        if isinstance(outcome, Failed):
            return {**row, "status": outcome.kind.value, "reason": outcome.reason}
        times = estimate(outcome.samples)
        status = "ok"
        if self.record.best is not None and outcome.label == label(self.record.best):
            status = "winner"
        elif outcome.label in self.record.ties:
            status = "tie"
        return {
            **row,
            "status": status,
            "timed_in": outcome.stage,
            "ms": times.median,
            "low": times.low,
            "high": times.high,
            "samples": times.count,
            "error": outcome.error,
            "compile_s": outcome.compile_seconds,
            **outcome.facts,
        }

    def estimate(self, constants: Mapping[str, int]) -> Estimate:
        """The median time of a measured configuration, with its interval, in ms."""
        found = self.record.outcomes[label(constants)]
        if isinstance(found, Failed):
            raise ValueError(f"{found.label} failed: {found.reason}")
        return estimate(found.samples)

    def widget(self) -> AutotuneWidget:
        """The result in the browser: pick a configuration, put it to use."""
        import phobos_nb

        return phobos_nb.AutotuneWidget(self)

    def plot(self, x: str | None = None, **options: Any) -> Figure:
        """A matplotlib figure: points over a parameter or fact, a map, or parallel coordinates.

        See `plot.plot` for `view`, `y`, `rows` and `columns`.
        """
        from phobos_nb.tune.plot import plot

        return plot(self, x, **options)

    def __repr__(self) -> str:
        return summary(self)


def summary(tuning: Tuning, *, reasons: bool = True) -> str:
    """A few lines: the winner, its ties and peers, how many failed, and a reason for each kind."""
    record = tuning.record
    extents = " x ".join(f"{n}={v}" for n, v in record.identity.extents.items())
    head = f"{record.identity.kernel} {extents} on {record.identity.device}"
    lines = [head + (f" (recorded: {tuning.recorded})" if tuning.recorded else "")]
    winner = tuning.winner
    if winner is None:
        lines.append("  no configuration gave a right answer")
    else:
        lines.append(f"  best {winner.label}: {span(estimate(winner.samples))}")
        if record.ties:
            lines.append(f"  tied with it: {'; '.join(record.ties)}")
    if winner is not None and winner.rounds:
        lines += [_against(tuning, name) for name in record.peers]
    counts: dict[str, int] = {}
    for failed in tuning.failures:
        counts[failed.kind.value] = counts.get(failed.kind.value, 0) + 1
    failures = ", ".join(f"{n} {kind}" for kind, n in counts.items()) or "none failed"
    total = len(record.outcomes)
    lines.append(f"  {counted(total, 'configuration')}: {len(tuning.measured)} measured, {failures}")
    if words := remark(record.outcomes, record.best):
        lines.append(f"  {words}")
    if reasons:
        lines += first_reasons(tuning.failures)
    lines.append(f"  answers checked against {record.checked}")
    if record.stopped:
        lines.append(f"  stopped: {record.stopped}")
    if tuning.since:
        lines.append(f"  known since {tuning.since}; resume=False (--fresh) measures anew")
    return "\n".join(lines)


def first_reasons(failures: Sequence[Failed]) -> list[str]:
    """Lines of text: for every kind of failure the first one and why it failed."""
    first: dict[str, Failed] = {}
    for failed in failures:
        first.setdefault(failed.kind.value, failed)
    return [f"    {kind}, {f.label}: {shorten(f.reason, REASON)}" for kind, f in first.items()]


def span(found: Estimate) -> str:
    """A time with its interval."""
    if found.low != found.low:
        return f"{found.median:.4g} ms"
    return f"{found.median:.4g} ms [{found.low:.4g}, {found.high:.4g}]"


def _against(tuning: Tuning, peer: str) -> str:
    times = estimate(tuning.record.peers[peer])
    found = tuning.against(peer)
    words = {"faster": "the best is faster", "slower": "the best is slower", "tie": "a tie"}
    return (
        f"  {peer}: {span(times)}, {words[found.verdict]} "
        f"({1 / found.ratio:.3f}x [{1 / found.high:.3f}, {1 / found.low:.3f}])"
    )
