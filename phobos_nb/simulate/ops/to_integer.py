"""Floats to integers: what does not fit the integer is undefined, so the lane is reported."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from phobos_nb.simulate.findings import first_marked, report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.numerics import saturate
from phobos_nb.simulate.ops.common import lanes_of, settle
from phobos_nb.simulate.program import Decoder, Row, Step, element_dtype
from phobos_nb.simulate.strand import Strand


def to_integer_row(*, signed: bool) -> Row:
    """Truncate; NaN and what lies outside the integer's range are faults, and give 0 or the nearest."""

    def row(d: Decoder, op: Operation) -> Step:
        a, r = d.slot(op.operands[0]), d.slot(op.results[0])
        target, index = element_dtype(op.results[0].type), d.op
        bits = target.itemsize * 8
        low, high = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if signed else (0.0, 2.0**bits)

        def step(m: Machine, s: Strand) -> None:
            value = s.values[a]
            wide = np.trunc(np.asarray(value, np.float64))
            outside = ~((wide >= low) & (wide < high))
            if outside.any():
                bad = lanes_of(outside, s)
                if bad.any():
                    shape = (*wide.shape[:-1], s.count)
                    at, lane = first_marked(np.broadcast_to(outside, shape) & bad)
                    first = np.broadcast_to(wide, shape)[(*at, lane)]
                    text = f"converts {first:g} to an integer of {bits} bits, which cannot hold it"
                    report_lanes(m, s, "conversion", index, text, bad, lane)
            s.values[r] = settle(saturate(value, target, signed=signed), target)

        return step

    return row
