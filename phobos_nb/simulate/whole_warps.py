"""Operations that all lanes of a warp do together: a warp of which only a part comes is reported."""

from __future__ import annotations

import numpy as np

from phobos_nb.simulate.findings import report_lanes
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.strand import WARP, Strand
from phobos_nb.simulate.values import Ints


def check_whole_warps(m: Machine, s: Strand, op: int, what: str) -> None:
    """Report the active lanes of warps that have inactive ones (PTX ISA, `.aligned`)."""
    if s.mask is None:
        return
    warps = s.mask.reshape(-1, WARP)
    torn = np.repeat(warps.any(1) & ~warps.all(1), WARP) & s.mask
    if torn.any():
        lane = int(torn.argmax())
        text = f"only {int(warps[lane // WARP].sum())} of 32 lanes of a warp execute {what}"
        report_lanes(m, s, "fragment", op, text, torn, lane)


def lanes_of_whole_warps(s: Strand) -> Ints:
    """The lanes of the warps that are active as a whole."""
    if s.mask is None:
        return np.arange(s.count)
    return np.flatnonzero(np.repeat(s.mask.reshape(-1, WARP).all(1), WARP))
