"""Search results on disk: versioned, written whole or not at all, readable when old or damaged."""

from __future__ import annotations

import datetime
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from phobos_nb.compilation import remembered
from phobos_nb.compilation.remembered import FORMAT, Identity, warn_once
from phobos_nb.tune.files import put_in_place
from phobos_nb.tune.outcome import Measured, Outcome, from_plain, to_plain
from phobos_nb.tune.statistics import ties_of, winner_of

LOG = logging.getLogger("phobos_nb")

WHAT = "phobos_nb tuning record"


class RecordError(ValueError):
    """A file that is no record this version can read; the text says why."""


@dataclass(frozen=True)
class Record:
    """One search: what it is about, what was found, and under which circumstances.

    best: the winner's constants, None without a right answer. ties: labels of configurations that the
    rounds do not separate from it. stopped: "" for a search that came to its end. date: ISO, UTC.
    checked: what answers were compared with. settings: cache, strategy, rounds. peers: rounds by name.
    host: other circumstances, such as driver and package versions. work: what a call must do at least,
    see `yardstick.counted_work`; empty where nobody counted.
    """

    identity: Identity
    space: Mapping[str, tuple[int, ...]]
    outcomes: Mapping[str, Outcome]
    best: Mapping[str, int] | None = None
    ties: tuple[str, ...] = ()
    stopped: str = ""
    date: str = ""
    checked: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    peers: Mapping[str, tuple[float, ...]] = field(default_factory=dict[str, "tuple[float, ...]"])
    host: Mapping[str, str] = field(default_factory=dict[str, str])
    work: Mapping[str, Any] = field(default_factory=dict[str, Any])


def now() -> str:
    """The time, for a record."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def encode(record: Record) -> dict[str, Any]:
    """The record as JSON's types."""
    return {
        "what": WHAT,
        "format": FORMAT,
        "identity": record.identity.to_plain(),
        "best": None if record.best is None else dict(record.best),
        "ties": list(record.ties),
        "stopped": record.stopped,
        "date": record.date,
        "checked": record.checked,
        "settings": dict(record.settings),
        "host": dict(record.host),
        "work": dict(record.work),
        "space": {n: list(v) for n, v in record.space.items()},
        "peers": {n: list(v) for n, v in record.peers.items()},
        "outcomes": [to_plain(o) for o in record.outcomes.values()],
    }


def decode(data: Any) -> Record:
    """What `encode` wrote, in this format or an older one; `RecordError` for anything else."""
    if not isinstance(data, dict):
        raise RecordError("no JSON object")
    found = cast("dict[str, Any]", data)
    if found.get("what") != WHAT:
        raise RecordError("not a tuning record of phobos_nb")
    number = found.get("format")
    while number in OLDER:
        found = OLDER[number](found)
        number = found.get("format")
    if number != FORMAT:
        raise RecordError(f"format {number}, this version reads up to {FORMAT}")
    try:
        return _decode(found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RecordError(f"damaged ({type(error).__name__}: {error})") from error


OLDER: Mapping[Any, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""Older formats by number, each with what makes the next one of it; format 1 is the first."""


def _decode(data: Mapping[str, Any]) -> Record:
    outcomes = [from_plain(o) for o in data["outcomes"]]
    best = data["best"]
    return Record(
        identity=Identity(**data["identity"]),
        space={n: tuple(v) for n, v in data["space"].items()},
        outcomes={o.label: o for o in outcomes},
        best=None if best is None else dict(best),
        ties=tuple(data["ties"]),
        stopped=data["stopped"],
        date=data["date"],
        checked=data["checked"],
        settings=dict(data["settings"]),
        peers={n: tuple(v) for n, v in data["peers"].items()},
        host=dict(data["host"]),
        work=dict(data.get("work", {})),  # records of before it was kept have none
    )


def write(record: Record, path: str | Path) -> None:
    """Write a record whole; a foreign or newer file in its place is kept under another name."""
    put_in_place(compact(record), Path(path), parse)


def compact(record: Record) -> str:
    """The file's text: one line for each field, and for each outcome."""
    plain = encode(record)
    outcomes = ",\n  ".join(json.dumps(o) for o in plain.pop("outcomes"))
    fields = [f"{json.dumps(n)}: {json.dumps(v)}" for n, v in plain.items()]
    return "{\n " + ",\n ".join([*fields, f'"outcomes": [\n  {outcomes}\n ]']) + "\n}\n"


def read(path: str | Path) -> Record:
    """Read a record; `RecordError` with the reason where that cannot be, `OSError` without a file."""
    return parse(Path(path).read_text("utf-8", errors="replace"))


def parse(text: str) -> Record:
    """A record from a file's text; `RecordError` with the reason where it is none."""
    if not text.strip():
        raise RecordError("an empty file")
    try:
        data = json.loads(text)
    except ValueError as error:
        raise RecordError(f"cut short or no JSON ({error})") from error
    return decode(data)


class Store:
    """The records of one folder; default is where calls look them up."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or remembered.folder()

    def path(self, identity: Identity) -> Path:
        """Where the record of that identity is, or would be."""
        return self.folder / identity.file_name

    def get(self, identity: Identity) -> Record | None:
        """The record of that very identity; None without one, with a warning for an unusable file."""
        path = self.path(identity)
        try:
            found = read(path)
        except FileNotFoundError:
            return None
        except (RecordError, OSError) as error:
            warn_once(str(path), str(error))
            return None
        return found if found.identity.to_plain() == identity.to_plain() else None

    def put(self, record: Record) -> None:
        """Write; a folder that cannot be written costs the record, with a warning, not the search."""
        try:
            write(record, self.path(record.identity))
        except OSError as error:
            LOG.warning("the tuning record was not kept: %s", error)


def conclude(record: Record, outcomes: Mapping[str, Outcome], stopped: str) -> Record:
    """The record with these outcomes and what follows from them: the winner and its ties.

    The winner has the smallest median of the rounds; before any were run, of the first times.
    """
    measured = [o for o in outcomes.values() if isinstance(o, Measured)]
    rounds = {o.label: o.rounds for o in measured if o.rounds}
    best: Mapping[str, int] | None = None
    ties: tuple[str, ...] = ()
    if rounds:
        name = winner_of(rounds)
        best, ties = outcomes[name].constants, ties_of(name, rounds)
    elif measured:
        best = min(measured, key=lambda o: o.median).constants
    return replace(record, outcomes=dict(outcomes), stopped=stopped, best=best, ties=ties)
