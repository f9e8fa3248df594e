"""Results in the T4 format, which autotuners share, so that other tools read ours and we read theirs.

Schema: https://github.com/odgaard/TuningSchema, results-schema.json of its branch T4: per configuration
its values, times in ms, an invalidity word, a correctness flag and measurements. The word of a good
configuration is "correct", as Kernel Tuner writes it; the schema itself names only the five failures.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from phobos_nb.tune.files import put_in_place
from phobos_nb.tune.outcome import Failed, Kind, Measured, Outcome
from phobos_nb.tune.records import Record, RecordError

VERSION = "1.0.0"

INVALIDITY = {
    Kind.CONSTRAINT: "constraints",
    Kind.COMPILE: "compile",
    Kind.LAUNCH: "runtime",
    Kind.WRONG: "correctness",
    Kind.TIMEOUT: "timeout",
    Kind.CRASH: "runtime",
}
"""Our kinds of failure as T4's words; a crash is a runtime failure there, named in the reason."""

KINDS = {
    "constraints": Kind.CONSTRAINT,
    "compile": Kind.COMPILE,
    "runtime": Kind.LAUNCH,
    "correctness": Kind.WRONG,
    "timeout": Kind.TIMEOUT,
}


def to_t4(record: Record) -> dict[str, Any]:
    """The record as T4; what T4 has no place for is under `metadata`."""
    identity = record.identity
    return {
        "schema_version": VERSION,
        "metadata": {
            "hardware": {"device": identity.device, "target": identity.target},
            "environment": {
                "phobos_nb": identity.compiler,
                "nvrtc": identity.nvrtc,
                **dict(record.host),
            },
            "kernel": identity.kernel,
            "problem_size": dict(identity.extents),
            "date": record.date,
        },
        "results": [_result(o, record.date) for o in record.outcomes.values()],
    }


def _result(outcome: Outcome, date: str) -> dict[str, Any]:
    base = {"timestamp": date, "configuration": dict(outcome.constants), "objectives": ["time"]}
    if isinstance(outcome, Failed):
        times: dict[str, Any] = {"compilation_time": 0.0, "runtimes": []}
        return {
            **base,
            "times": times,
            "invalidity": INVALIDITY[outcome.kind],
            "correctness": 0,
            "measurements": [],
            "reason": f"{outcome.kind.value}: {outcome.reason}",
        }
    return {
        **base,
        "times": {
            "compilation_time": outcome.compile_seconds * 1e3,
            "runtimes": list(outcome.samples),
        },
        "invalidity": "correct",
        "correctness": 1,
        "measurements": [
            {"name": "time", "value": outcome.median, "unit": "ms"},
            *({"name": n, "value": v, "unit": ""} for n, v in outcome.facts.items()),
        ],
    }


def write(record: Record, path: str | Path) -> None:
    """Write a T4 file whole; a file in its place that is none is kept under another name."""
    put_in_place(json.dumps(to_t4(record), indent=1) + "\n", Path(path), _parse)


def outcomes(data: Any) -> dict[str, Outcome]:
    """The configurations of a T4 document of any tool; `RecordError` where it is none."""
    try:
        found = [_outcome(r) for r in data["results"]]
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise RecordError(f"not a T4 document ({type(error).__name__}: {error})") from error
    return {o.label: o for o in found}


def _outcome(result: Mapping[str, Any]) -> Outcome:
    values = cast("Mapping[str, Any]", result["configuration"])
    constants = {n: int(v) for n, v in values.items()}
    word = result["invalidity"]
    if word != "correct":
        return Failed(constants, KINDS[word], str(result.get("reason", word)))
    runtimes = tuple(float(t) for t in result["times"].get("runtimes", ()))
    facts = {m["name"]: float(m["value"]) for m in result["measurements"] if _is_number(m["value"])}
    median = facts.pop("time", None)
    if not runtimes and median is not None:
        runtimes = (median,)
    if not runtimes:
        raise ValueError(f"no runtime of {dict(constants)}")
    seconds = float(result["times"].get("compilation_time", 0.0)) / 1e3
    return Measured(constants, runtimes, (), 0.0, facts, seconds)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def read(path: str | Path) -> dict[str, Outcome]:
    """The configurations of a T4 file; `RecordError` where it is none."""
    return _parse(Path(path).read_text("utf-8", errors="replace"))


def _parse(text: str) -> dict[str, Outcome]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise RecordError(f"cut short or no JSON ({error})") from error
    return outcomes(data)
