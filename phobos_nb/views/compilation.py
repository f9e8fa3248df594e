"""What a cell shows of a compiled kernel: facts, notes and listings, as a plain model and as text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from phobos_nb.views.listing import Listing
from phobos_nb.views.shared_memory import SharedMemory, to_text


@dataclass(frozen=True)
class Fact:
    """One figure of the header: what it is, its value, and what the reader should know about it."""

    name: str
    value: str
    remark: str = ""


@dataclass(frozen=True)
class Note:
    """One sentence about what the compiler did. `kind` is "warning" or "note"."""

    kind: str
    text: str
    line: int | None = None


@dataclass(frozen=True)
class Barrier:
    """One barrier of the kernel; kept ones are numbered. `reason` says why it is there, or why not.

    scope: whose threads wait for each other, "CTA" or "warp".
    """

    kept: bool
    reason: str
    number: int | None = None
    line: int | None = None
    scope: str = "CTA"


@dataclass(frozen=True)
class CompilationView:
    """A compilation as a person sees it; no times and nothing that differs between two runs.

    parameters: the signature's, written out. listings: the panes in order, source first.
    """

    name: str
    parameters: tuple[str, ...]
    facts: tuple[Fact, ...]
    notes: tuple[Note, ...] = ()
    listings: tuple[Listing, ...] = ()
    memory: SharedMemory | None = None
    barriers: tuple[Barrier, ...] = ()

    @property
    def signature(self) -> str:
        """The signature in one line."""
        return f"{self.name}({', '.join(self.parameters)})"

    def with_notes(self, notes: Iterable[Note]) -> CompilationView:
        """The same with more notes, warnings first."""
        ordered = sorted((*self.notes, *notes), key=lambda n: n.kind != "warning")
        return replace(self, notes=tuple(ordered))

    def warned(self) -> str:
        """The warnings as text, with the kernel's name; empty when there is none."""
        found = [n for n in self.notes if n.kind == "warning"]
        return "\n".join(f"{self.name}: {n.kind}{_at(n.line)}: {n.text}" for n in found)


def summary(view: CompilationView) -> str:
    """The compilation as text: signature, facts, notes, shared memory, barriers."""
    blocks = [
        view.signature,
        "  " + ", ".join(_fact(f) for f in view.facts),
        *(f"  {n.kind}{_at(n.line)}: {n.text}" for n in view.notes),
    ]
    if view.memory is not None:
        blocks.append(to_text(view.memory))
    if view.barriers:
        blocks.append(barriers_text(view.barriers))
    return "\n".join(blocks)


def barriers_text(barriers: tuple[Barrier, ...]) -> str:
    """The barriers as text, kept ones by number, with their reasons."""
    states = [_state(b) for b in barriers]
    told = [f"{states.count(s)} {s}" for s in STATES if s in (*STATES[:2], *states)]
    head = f"Barriers: {', '.join(told)}"
    return "\n".join([head, *(f"  {barrier_label(b)}: {b.reason}" for b in barriers)])


def barrier_label(barrier: Barrier) -> str:
    """How one barrier is named in lists, such as `barrier 1 (line 14), kept`."""
    number = "" if barrier.number is None else f" {barrier.number}"
    scope = "" if barrier.scope == "CTA" else f"{barrier.scope} "
    return f"{scope}barrier{number}{_at(barrier.line)}, {_state(barrier)}"


STATES = ("kept", "elided", "left out")


def _state(barrier: Barrier) -> str:
    """What became of a barrier; one that has a number and is not kept was left out on request."""
    if barrier.kept:
        return "kept"
    return "elided" if barrier.number is None else "left out"


def _fact(fact: Fact) -> str:
    remark = f" ({fact.remark})" if fact.remark else ""
    return f"{fact.name} {fact.value}{remark}"


def _at(line: int | None) -> str:
    return "" if line is None else f" (line {line})"
