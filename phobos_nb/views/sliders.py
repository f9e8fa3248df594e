"""Sliders over a kernel's constants: the model of what is shown, and its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from phobos_nb.views.compilation import CompilationView, Note
from phobos_nb.views.roofline import RooflineView, duration
from phobos_nb.views.shared_memory import to_text
from phobos_nb.views.sliders_space import Value


@dataclass(frozen=True)
class Place:
    """One value of a slider. reason: why a search would refuse it beside the others' present values."""

    value: Value
    label: str
    reason: str = ""


@dataclass(frozen=True)
class Slider:
    """One constant. at: the index of its present place. own: a choice of the compiler's own."""

    name: str
    places: tuple[Place, ...]
    at: int
    own: bool = False
    meaning: str = ""

    @property
    def here(self) -> Place:
        """The present place."""
        return self.places[self.at]


@dataclass(frozen=True)
class Timing:
    """Measured milliseconds per call, with those of peers; missing: why there is no time."""

    ms: float | None = None
    low: float | None = None
    high: float | None = None
    peers: Mapping[str, float] = field(default_factory=dict[str, float])
    missing: str = ""


@dataclass(frozen=True)
class SlidersView:
    """What is shown. state: "compiling", "ready", "refused" or "failed"; message: of the last two.

    label: the configuration that the sliders stand at. compiled, shown: the last one that compiled, and
    what it is; before: figures of the one before it, by name. counting: whether work is being counted,
    missing: why it was not. used: the one that calls take, empty where nobody chose.
    """

    kernel: str
    title: str
    extents: Mapping[str, int]
    target: str
    sliders: tuple[Slider, ...]
    state: str
    label: str
    message: str = ""
    compiled: str = ""
    shown: CompilationView | None = None
    before: Mapping[str, str] = field(default_factory=dict[str, str])
    roofline: RooflineView | None = None
    counting: bool = False
    missing: str = ""
    timing: Timing = Timing()
    used: str = ""

    @property
    def constants(self) -> dict[str, int]:
        """Where the sliders stand; the compiler's own choices only where they are not "auto"."""
        here = {s.name: s.here.value for s in self.sliders}
        return {n: v for n, v in here.items() if v is not None}

    @property
    def stale(self) -> bool:
        """Whether what is shown is of another configuration than the sliders'."""
        return self.shown is not None and self.compiled != self.label

    def to_plain(self) -> dict[str, Any]:
        """The model as JSON's types."""
        shown = None if self.shown is None else asdict(self.shown)
        roofline = None if self.roofline is None else self.roofline.to_plain()
        fields = {
            n: getattr(self, n) for n in ("kernel", "title", "target", "state", "label", "message")
        }
        return {
            **fields,
            "extents": dict(self.extents),
            "constants": self.constants,
            "sliders": [asdict(s) for s in self.sliders],
            "compiled": self.compiled,
            "shown": shown,
            "before": dict(self.before),
            "roofline": roofline,
            "counting": self.counting,
            "missing": self.missing,
            "timing": asdict(self.timing),
            "used": self.used,
        }


def status(view: SlidersView) -> str:
    """What the sliders' configuration is up to, in one sentence."""
    match view.state:
        case "compiling":
            return f"Compiling {view.label or view.kernel} ..."
        case "refused":
            return f"{view.label} cannot work: {view.message}."
        case "failed":
            return f"{view.label or view.kernel} did not compile: {view.message}"
        case _:
            used = " Calls use it." if view.used == view.label and view.used else ""
            return f"{view.label or view.kernel} is compiled.{used}"


def time_text(timing: Timing) -> str:
    """The measured time beside the peers', or why there is none."""
    return ", ".join(filter(None, time_parts(timing)))


def time_parts(timing: Timing) -> tuple[str, str]:
    """The time with its interval, empty where there is none; how it compares, or why there is none."""
    if timing.ms is None:
        return "", timing.missing
    interval = ""
    if timing.low is not None and timing.high is not None:
        interval = f" [{duration(timing.low * 1e-3)}, {duration(timing.high * 1e-3)}]"
    peers = (
        f"{ms / timing.ms:.3f} times as fast as {name} ({duration(ms * 1e-3)})"
        for name, ms in timing.peers.items()
    )
    return f"{duration(timing.ms * 1e-3)}{interval}", ", ".join(peers)


def figures(view: SlidersView) -> list[tuple[str, str, str, str]]:
    """Name, value, remark, and what it was before where that differs, of the header's figures."""
    if view.shown is None:
        return []
    kept = [f for f in view.shown.facts if f.name != "configuration"]
    return [
        (f.name, f.value, f.remark, was)
        for f in kept
        for was in [view.before.get(f.name, f.value)]
        for was in [was if was != f.value else ""]
    ]


def text(view: SlidersView) -> str:
    """The model as text, without anything that differs between two runs but measured times."""
    lines = [view.title, *(_slider(s) for s in view.sliders if not s.own)]
    own = [s for s in view.sliders if s.own]
    if own:
        chosen = [f"{s.name} {s.here.label}" for s in own if s.at] or ["all auto"]
        lines.append(f"  the compiler's own choices: {', '.join(chosen)}")
    lines.append(status(view))
    lines += _shown(view)
    if view.timing.ms is not None or view.timing.missing:
        lines.append(f"time: {time_text(view.timing)}")
    lines += _bound(view)
    return "\n".join(lines)


def _slider(slider: Slider) -> str:
    """Values in a row: [present], and what cannot work in parentheses, with the reasons below."""
    row = [_place(p, here=i == slider.at) for i, p in enumerate(slider.places)]
    lines = [f"  {slider.name:<8} {' '.join(row)}"]
    lines += [
        f"    {slider.name} = {', '.join(values)}: {why}" for why, values in refused(slider).items()
    ]
    return "\n".join(lines)


def refused(slider: Slider) -> dict[str, list[str]]:
    """Reason -> the labels of the places that it refuses."""
    found: dict[str, list[str]] = {}
    for place in slider.places:
        if place.reason:
            found.setdefault(place.reason, []).append(place.label)
    return found


def _place(place: Place, *, here: bool) -> str:
    shown = f"({place.label})" if place.reason else place.label
    return f"[{shown}]" if here else shown


def _shown(view: SlidersView) -> Iterator[str]:
    if view.shown is None:
        return
    if view.stale:
        yield f"what follows is {view.compiled}:"
    parts = [
        f"{name} {value}{f' ({remark})' if remark else ''}{f', was {was}' if was else ''}"
        for name, value, remark, was in figures(view)
    ]
    yield f"  {'; '.join(parts)}"
    yield from (f"  {_note(n)}" for n in view.shown.notes)
    if view.shown.memory is not None:
        yield to_text(view.shown.memory)


def _note(note: Note) -> str:
    return f"{note.kind}{'' if note.line is None else f' (line {note.line})'}: {note.text}"


def _bound(view: SlidersView) -> Iterator[str]:
    if view.roofline is not None and view.roofline.points:
        yield from view.roofline.points[-1].words
    elif view.counting:
        yield "Counting its work ..."
    if view.missing:
        yield f"Its work was not counted: {view.missing}"
