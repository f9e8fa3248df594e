"""Kernels compiled ahead: code and contracts in a folder, so that a GPU machine compiles nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from phobos_nb.arguments.findings import findings
from phobos_nb.arguments.grid import choose_grid
from phobos_nb.arguments.match import check_promises, check_thin, match_arguments
from phobos_nb.arguments.overlap import check_overlap
from phobos_nb.contract import LaunchContract, from_plain, single_launch, to_plain
from phobos_nb.cuda.device_plan import Code, Prepared
from phobos_nb.cuda.plan import Dispatcher


@dataclass(frozen=True, eq=False)
class StoredKernel:
    """One compiled kernel. kind: cubin, ptx (both ours) or upstream (PTX by upstream's own pipeline)."""

    case: str
    kind: str
    contract: LaunchContract
    code: Path
    in_place: frozenset[frozenset[str]] = frozenset()

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """Launches the stored code through the same plans, checks and fast path as `Kernel`."""
        return Dispatcher(self.contract.parameters, self._prepare)

    def _prepare(self, arrays: Mapping[str, Any], scalars: Mapping[str, Any], grid: Any) -> Prepared:
        contract = self.contract
        values = {p.name: scalars.get(p.name, p.name) for p in contract.parameters}
        with findings(contract.kernel) as found:
            call = match_arguments(contract.parameters, values, arrays.get, found)
            check_promises(contract.promises, call.extents, found)
            check_thin(contract.grid.thin(contract.constants), call.extents, found)
            check_overlap(contract.tensors, call.arrays, self.in_place, found)
            shape = choose_grid(contract.grid, call.extents, grid, found)
        code = self.code.read_bytes()
        plan, codes = single_launch(contract), (Code(lambda: code, code.decode),)
        return Prepared(plan, codes, call.extents, shape, self.in_place)


def save(folder: Path, kernels: Iterator[tuple[StoredKernel, bytes]]) -> int:
    """Write code files and `manifest.json`; returns how many kernels there are."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    for kernel, code in kernels:
        (folder / kernel.code).write_bytes(code)
        rows.append(
            {
                "case": kernel.case,
                "kind": kernel.kind,
                "code": str(kernel.code),
                "in_place": [sorted(pair) for pair in kernel.in_place],
                "contract": to_plain(kernel.contract),
            }
        )
    (folder / "manifest.json").write_text(json.dumps(rows, indent=1), "utf-8")
    return len(rows)


def load(folder: Path) -> list[StoredKernel]:
    """The kernels of a folder."""
    rows = json.loads((folder / "manifest.json").read_text("utf-8"))
    return [
        StoredKernel(
            row["case"],
            row["kind"],
            from_plain(row["contract"]),
            folder / row["code"],
            frozenset(frozenset(pair) for pair in row["in_place"]),
        )
        for row in rows
    ]
