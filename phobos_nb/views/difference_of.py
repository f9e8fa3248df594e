"""`phobos_nb.diff`: two compilations side by side, what one attribute, choice or target changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.views.difference import PaneDifference, differences, pane
from phobos_nb.views.difference_html import page
from phobos_nb.views.from_compilation import facts_of


@dataclass(frozen=True)
class FactPair:
    """One figure of both: registers, shared memory, threads, ... "" where one has it not."""

    name: str
    one: str
    other: str


@dataclass(frozen=True)
class Difference:
    """What differs. names: what A and B are. facts: figures of both, equal ones too. panes: by stage."""

    names: tuple[str, str]
    facts: tuple[FactPair, ...]
    panes: tuple[PaneDifference, ...]

    def pane(self, title: str) -> PaneDifference:
        """The pane of that title, such as "SASS"; `KeyError` without one."""
        return {p.title: p for p in self.panes}[title]

    def __str__(self) -> str:
        return text(self)

    def __repr__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        rows = [(f.name, f.one, f.other) for f in self.facts]
        return page(self.names, rows, self.panes)


def diff(one: Compilation | Kernel, other: Compilation | Kernel) -> Difference:
    """Compare two compilations, or kernels as they compile by themselves: figures, then every stage.

    Raises `PhobosError` for a kernel that does not compile. A stage that is not installed here, such as
    SASS without nvdisasm, says so.
    """
    a, b = (c.compile() if isinstance(c, Kernel) else c for c in (one, other))
    facts = [{f.name: _words(f.value, f.remark) for f in facts_of(c)} for c in (a, b)]
    names = dict.fromkeys([*facts[0], *facts[1]])
    source = pane("Source", *(c.source.text.splitlines() for c in (a, b)))
    return Difference(
        (_name(a), _name(b)),
        tuple(FactPair(n, facts[0].get(n, ""), facts[1].get(n, "")) for n in names),
        (source, *differences(a, b)),
    )


def _words(value: str, remark: str) -> str:
    return f"{value} ({remark})" if remark else value


def _name(compilation: Compilation) -> str:
    constants = " ".join(f"{n}={v}" for n, v in compilation.contract.constants.items())
    target = compilation.configuration.target.name
    return " ".join(filter(None, (compilation.name, constants, f"for {target}")))


def text(found: Difference) -> str:
    """The figures that differ, then how many lines of each stage, and the lines of the shortest."""
    return "\n".join(_lines(found))


MOST_TEXT = 40
"""Lines of one pane in the text form; `Difference.pane` has all."""


def _lines(found: Difference) -> Iterator[str]:
    yield f"A: {found.names[0]}"
    yield f"B: {found.names[1]}"
    for fact in found.facts:
        if fact.one != fact.other:
            yield f"  {fact.name}: {fact.one or 'none'} -> {fact.other or 'none'}"
    for shown in found.panes:
        yield f"  {shown.title}: {shown.summary}"
        if len(shown.lines) <= MOST_TEXT:
            yield from (f"    {line}" for line in shown.lines)
