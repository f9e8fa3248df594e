"""The rows of a differential run as counts, small enough to be kept.

usage: python -m tests.gpu.summary RAW.json[.gz] RESULT.json TITLE

RAW is what `differential` or `public_calls` wrote. Failed rows are kept whole.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def main() -> None:
    """Read the rows, write the counts."""
    source, target, title = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    data = source.read_bytes()
    raw = json.loads(gzip.decompress(data) if source.suffix == ".gz" else data)
    target.write_text(json.dumps(summary(raw, title), indent=1) + "\n", "utf-8")


def summary(raw: dict[str, Any], title: str) -> dict[str, Any]:
    """The run's circumstances, its counts per kernel and per layout, and the failures."""
    rows: list[Row] = raw["rows"]
    return {
        "what": title,
        **{name: raw[name] for name in raw if name != "rows"},
        "calls": len(rows),
        "right": sum(row["ok"] for row in rows),
        "layouts": dict(Counter(row["layout"] for row in rows)),
        "failures": [row for row in rows if not row["ok"]],
        "rows": list(_counts(rows, _code_of if "kind" in rows[0] else _choices_of)),
    }


def _counts(rows: list[Row], group: Callable[[Row], Row]) -> list[Row]:
    found: dict[str, list[bool]] = {}
    for row in rows:
        found.setdefault(json.dumps({"case": row["case"], **group(row)}), []).append(row["ok"])
    return [{**json.loads(key), "calls": len(ok), "right": sum(ok)} for key, ok in sorted(found.items())]


def _code_of(row: Row) -> Row:
    return {"code": row["kind"], "target": row["target"]}


def _choices_of(row: Row) -> Row:
    """Launches per call so far: 2 where the k loop is split among CTAs."""
    return {"split_k": row["fixed"].get("SPLIT_K", "default"), "launches": row.get("launches", [])}


if __name__ == "__main__":
    main()
