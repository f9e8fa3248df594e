"""Rows of the dialect `llvm`: the trap."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from phobos_nb.ir.dialects.llvm import ASSERTED
from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.program import Decoder, Row, Step
from phobos_nb.simulate.records import FaultKind
from phobos_nb.simulate.strand import Strand
from phobos_nb.simulate.values import Bools


def _trap(d: Decoder, op: Operation) -> Step:
    index, asserted = d.op, op.attributes.get(ASSERTED)
    failed = isinstance(asserted, StringAttr)
    kind: FaultKind = "assert" if failed else "trap"
    text = f"assert failed: {asserted.data}" if failed else "traps: a launch check failed"

    def step(m: Machine, s: Strand) -> None:
        bad: Bools = np.ones(s.count, np.bool_) if s.mask is None else s.mask
        report_lanes(m, s, kind, index, text, bad, int(bad.argmax()))

    return step


ROWS: dict[str, Row] = {"llvm.intr.trap": _trap}
