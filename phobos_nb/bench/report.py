"""A run of the benchmark as a file: rows with what is needed to repeat and to compare them."""

from __future__ import annotations

import csv
import datetime
import io
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from phobos_nb.bench.place import Place
from phobos_nb.bench.row import Row, from_plain
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.files import write_whole

KIND = "phobos-nb bench"
FORMAT = 1
"""Of the JSON files; raised when a reader of the old ones would misread the new."""


@dataclass(frozen=True)
class Report:
    """conditions: what times depend on beside the kernels; facts: date, versions, command."""

    rows: Sequence[Row]
    conditions: Mapping[str, str]
    facts: Mapping[str, str]

    def write_json(self, path: Path) -> None:
        """Everything, each round's time too: a baseline for `--against`."""
        data = {
            "kind": KIND,
            "format": FORMAT,
            "conditions": dict(self.conditions),
            "facts": dict(self.facts),
            "rows": [row.to_plain() for row in self.rows],
        }
        write_whole(path, json.dumps(data, indent=1, allow_nan=False) + "\n")

    def write_csv(self, path: Path) -> None:
        """One line per row: its figures, the conditions, the facts."""
        circumstances = {**self.conditions, **self.facts}
        names = [*Row("", "", "", "", 0.0, True).figures(), *circumstances]
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, names)
        writer.writeheader()
        writer.writerows({**row.figures(), **circumstances} for row in self.rows)
        write_whole(path, text.getvalue())


def report(rows: Sequence[Row], place: Place, inner: int, command: str = "") -> Report:
    """The rows of a run that ends now, here."""
    conditions = {**place.conditions(), "inner": str(inner)}
    return Report(rows, conditions, facts(command or "phobos-nb " + " ".join(sys.argv[1:])))


def facts(command: str) -> dict[str, str]:
    """When, by which versions, by which command."""
    from phobos_nb.compilation.compiler_hash import compiler_identity
    from phobos_nb.cuda.driver import package_versions

    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return {"date": now, "phobos_nb": compiler_identity(), **package_versions(), "command": command}


def read(path: Path) -> Report:
    """A report from its file; `PhobosError` PH402 for a file that is none, is damaged or newer."""
    text = path.read_text("utf-8", errors="replace")
    try:
        data = cast("dict[str, Any]", json.loads(text))
        if data["kind"] != KIND:
            raise _unreadable(path, "it was not written by `phobos-nb bench --json`")
        if data["format"] != FORMAT:
            raise _unreadable(path, f"it has format {data['format']}, this version reads {FORMAT}")
        rows = [from_plain(row) for row in data["rows"]]
        return Report(rows, data["conditions"], data["facts"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _unreadable(
            path, f"it is cut short or damaged ({type(error).__name__}: {error})"
        ) from None


def _unreadable(path: Path, why: str) -> PhobosError:
    return PhobosError(
        [Diagnostic("PH402", f"{path} is no report that can be read: {why}", stage="bench")]
    )
