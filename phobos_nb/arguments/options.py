"""What `simulate` and `compare` take beside a kernel's parameters, by name."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Any

SIMULATION_OPTIONS = ("ctas", "races", "banks", "trace", "seed", "stop_at_first", "in_place", "probe")
"""Options of `phobos_nb.simulate.launch.simulate` that a kernel's `simulate` hands on."""

CALL_OPTIONS = ("grid", "drop_barrier")
COMPARE_OPTIONS = ("ref", "tolerance")

NEAR = 0.45
"""How alike two names are (difflib's ratio, 1 for the same) to be taken for a slip: rtol, tolerance."""


def take_options(named: dict[str, Any], parameters: Collection[str]) -> dict[str, Any]:
    """Take the simulator's options out of a call's named arguments, but for names of parameters."""
    names = [n for n in SIMULATION_OPTIONS if n in named and n not in parameters]
    found = {n: named.pop(n) for n in names}
    if found.get("seed", 0) is None:
        del found["seed"]
    return found


def what_there_is(name: str, parameters: Sequence[str]) -> str:
    """The help for an unknown name in a call: the nearest one, the parameters and the options."""
    options = (*CALL_OPTIONS, *SIMULATION_OPTIONS)
    near = get_close_matches(name, [*parameters, *options, *COMPARE_OPTIONS], n=1, cutoff=NEAR)
    meant = f"did you mean {near[0]}? " if near else ""
    return (
        f"{meant}its parameters: {', '.join(parameters)}; options of `simulate` and `compare`: "
        f"{', '.join(options)}; of `compare` too: {', '.join(COMPARE_OPTIONS)}"
    )
