"""What `results/` keeps of the runs of bulk copies on a GPU.

    python -m tests.gpu.async_summary FOLDER results/h200_async

FOLDER holds `async.json`, `race.json`, `probes.json`, `visibility.json` and `visibility_race.json`, as
those scripts write them. Gives a `.json` and a `.md`.
"""

from __future__ import annotations

import datetime
import json
import statistics
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def summary(folder: Path) -> Json:
    """All of it."""
    runs = {p.stem: json.loads(p.read_text()) for p in folder.glob("*.json")}
    copies = runs["async"]
    return {
        "gpu": copies["gpu"],
        "nvrtc": copies["nvrtc"],
        "date": datetime.date.today().isoformat(),
        "command": "python -m tests.gpu.async_copies, async_probes and async_visibility",
        "launches_of_each": copies["repeats"],
        "different": copies["wrong"],
        "kernel": {n: _digest(f) for n, f in copies["kernel"].items()},
        "random": {n: _digest(f) for n, f in copies["random"].items()},
        "probes": runs["probes"]["outcomes"],
        "visibility": _visibility(runs["visibility"], runs["visibility_race"]),
        "racecheck": {n: _tool(x) for n, x in runs["race"].items()},
    }


def _digest(found: Json) -> str:
    """The bytes of a kernel whose launches all gave the simulator's, else what was wrong."""
    if found["runs"] and found["same"] == found["runs"]:
        return found["sha256"][0]
    return str(found.get("error") or f"{found['same']} of {found['runs']} equal")


def _visibility(run: Json, race: Json) -> Json:
    rows: Json = {}
    for name, x in run["experiments"].items():
        cut, whole = x["cut"], x["whole"]
        rows[name] = {
            "what": x["what"],
            "simulator": cut["simulator"],
            "cut": _wrong(cut),
            "whole": _wrong(whole),
            "racecheck": _tool(race[name]["cut"])["racecheck"],
            "racecheck_whole": _tool(race[name]["whole"])["racecheck"],
        }
    return rows


def _wrong(found: Json) -> Json:
    """Launches that had wrong words, and how many they had in the middle of those launches."""
    if "error" in found:
        return {"ended": found["error"].split(":")[0]}
    bad = [n for n in found["wrong"] if n]
    middle = int(statistics.median(bad)) if bad else 0
    return {"launches": found["runs"], "wrong": len(bad), "words": middle, "of": found["of"]}


def _tool(found: Json) -> Json:
    """Whether racecheck named a race of the kernel, or something else."""
    races = [x for x in found["racecheck"] if x.startswith(("Error: Race", "Warning: Race", "and "))]
    others = [x for x in found["racecheck"] if x not in races]
    told = "race" if races else ("potentially ended block" if others else "nothing")
    ended = {"process": found["process"]} if found["process"] else {}
    return {"simulator": found["simulator"], "racecheck": told, **ended}


def table(report: Json) -> str:
    """The same for people."""
    return "\n".join(
        [
            f"# Bulk copies on an {report['gpu']}, {report['date']}",
            "",
            f"Each kernel was launched {report['launches_of_each']} times; equal means that every byte "
            "of every tensor, those between rows included, was the simulator's in every launch.",
            "",
            *_kernels(report),
            *_experiments(report["visibility"]),
            *_racecheck(report["racecheck"]),
            *_probes(report["probes"]),
        ]
    )


def _kernels(report: Json) -> list[str]:
    families = Counter(n.split()[0] for n in report["random"])
    bad = Counter(n.split()[0] for n in report["random"] if n in report["different"])
    rows = [f"| random: {f} | {n - bad[f]} of {n} |" for f, n in families.items()]
    named = [n for n in report["kernel"] if n not in report["different"]]
    first = f"| written by hand | {len(named)} of {len(report['kernel'])} |"
    return ["| kernels | equal |", "|---|---|", first, *rows, ""]


def _experiments(rows: Mapping[str, Json]) -> list[str]:
    head = [
        "## Without one synchronisation",
        "",
        "Wrong words that the threads of 528 CTAs saw themselves, with the synchronisation left out; "
        "with it there were none. A race that no launch showed is a race all the same.",
        "",
        "| left out | what it orders | simulator | launches with wrong words | words | racecheck |",
        "|---|---|---|---|---|---|",
    ]
    return [*head, *(_experiment(name, x) for name, x in rows.items()), ""]


def _experiment(name: str, x: Json) -> str:
    cut = x["cut"]
    seen = cut.get("ended") or f"{cut['wrong']} of {cut['launches']}"
    words = f"{cut['words']:,} of {cut['of']:,}" if cut.get("wrong") else "-"
    tool = x["racecheck"] + (
        f" (whole: {x['racecheck_whole']})" if x["racecheck_whole"] != "nothing" else ""
    )
    return f"| {name} | {x['what']} | {', '.join(x['simulator'])} | {seen} | {words} | {tool} |"


def _racecheck(rows: Mapping[str, Json]) -> list[str]:
    head = ["## Racecheck", "", "| kernel | simulator | racecheck |", "|---|---|---|"]
    found = [
        f"| {n} | {', '.join(x['simulator']) or 'no race'} | {x['racecheck']} |" for n, x in rows.items()
    ]
    return [*head, *found, ""]


def _probes(outcomes: Mapping[str, str]) -> list[str]:
    head = ["## Boxes at the edge", "", "| box | outcome |", "|---|---|"]
    return [*head, *(f"| {n} | {o} |" for n, o in outcomes.items()), ""]


def main(arguments: list[str]) -> int:
    """The command above."""
    folder, output = arguments
    report = summary(Path(folder))
    Path(f"{output}.json").write_text(json.dumps(report, indent=1) + "\n")
    Path(f"{output}.md").write_text(table(report))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
