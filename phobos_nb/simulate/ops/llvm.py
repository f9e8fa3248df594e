"""Rows of the dialect `llvm`: the trap."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program import Decoder, Row, Step
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools


def _trap(d: Decoder, op: Operation) -> Step:
    index = d.op

    def step(m: Machine, s: Strand) -> None:
        bad: Bools = np.ones(s.count, np.bool_) if s.mask is None else s.mask
        report_lanes(
            m, s, "trap", index, "traps: a launch check or an assert failed", bad, int(bad.argmax())
        )

    return step


ROWS: dict[str, Row] = {"llvm.intr.trap": _trap}
