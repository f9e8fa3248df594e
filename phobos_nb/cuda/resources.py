"""What a compiled kernel takes of an SM, how many CTAs fit, and what stops one more."""

from __future__ import annotations

import re
from dataclasses import dataclass

from phobos_nb.cuda import elf
from phobos_nb.target import Target

SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
SHARED = re.compile(r"(\d+) bytes smem")
"""ptxas' report in the NVRTC log (option `-v`)."""


@dataclass(frozen=True)
class Resources:
    """registers per thread; local_bytes of stack per thread; spills in bytes; static shared per CTA."""

    registers: int
    local_bytes: int
    spill_stores: int
    spill_loads: int
    static_shared: int

    @property
    def spills(self) -> bool:
        """Whether registers ran out."""
        return bool(self.spill_stores or self.spill_loads)


def resources(cubin: bytes, log: str, entry: str) -> Resources:
    """Read a cubin's own records and ptxas' report; ValueError when the entry is not in the cubin."""
    registers = elf.attribute(cubin, elf.REGISTER_COUNT, entry)
    if registers is None:
        raise ValueError(f"no kernel {entry!r} in the cubin")
    spills = SPILLS.search(log)
    stores, loads = (int(spills[1]), int(spills[2])) if spills else (0, 0)
    local = elf.attribute(cubin, elf.FRAME_SIZE, entry) or 0
    # The cubin's own section counts what the system reserves from sm_90 on.
    shared = SHARED.search(log)
    static = int(shared[1]) if shared else 0
    return Resources(registers, local, stores, loads, static)


@dataclass(frozen=True)
class Occupancy:
    """CTAs and warps resident on one SM, and which limits stop the next CTA.

    by: CTAs each limit alone would allow. limits: the names of the smallest.
    """

    ctas: int
    warps: int
    most_warps: int
    by: dict[str, int]

    @property
    def fraction(self) -> float:
        """Resident warps out of those the SM can hold."""
        return self.warps / self.most_warps

    @property
    def limits(self) -> tuple[str, ...]:
        """The limits reached: "registers", "shared memory", "warps", "CTAs per SM"."""
        least = min(self.by.values())
        return tuple(name for name, allowed in self.by.items() if allowed == least)


def occupancy(target: Target, *, registers: int, shared_bytes: int, threads: int) -> Occupancy:
    """How many CTAs of a kernel fit on an SM of the target.

    registers: per thread; shared_bytes: static and dynamic per CTA; threads: per CTA. The allocation
    rules are those of the CUDA Occupancy Calculator: registers per warp in units, warps shared out
    over four schedulers, shared memory with the system's own part in units.
    """
    warps = -(-threads // target.warp_size)
    per_warp = _up(registers * target.warp_size, target.register_unit)
    by_registers = target.ctas_per_sm
    if per_warp:
        resident = target.registers_per_sm // per_warp
        by_registers = resident // target.warp_unit * target.warp_unit // warps
    if registers > target.registers_per_thread:
        by_registers = 0
    shared = _up(shared_bytes + target.shared_reserved, target.shared_unit)
    too_much = shared_bytes > target.shared_per_cta_optin
    by_shared = 0 if too_much else target.shared_per_sm // shared if shared else target.ctas_per_sm
    by = {
        "warps": 0 if threads > target.threads_per_cta else target.warps_per_sm // warps,
        "CTAs per SM": target.ctas_per_sm,
        "registers": by_registers,
        "shared memory": by_shared,
    }
    ctas = min(by.values())
    return Occupancy(ctas, ctas * warps, target.warps_per_sm, by)


def _up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
