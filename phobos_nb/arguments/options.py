"""What `simulate` and `compare` take beside a kernel's parameters, by name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

SIMULATION_OPTIONS = ("ctas", "races", "banks", "trace", "seed", "stop_at_first", "in_place", "probe")
"""Options of `phobos_nb.simulate.launch.simulate` that a kernel's `simulate` hands on."""

_OF_SIMULATE = ("grid", "drop_barrier", *SIMULATION_OPTIONS)

TAKES: Mapping[str, tuple[str, ...]] = {
    "a call": ("grid",),
    "`bind`": ("grid",),
    "`simulate`": _OF_SIMULATE,
    "`compare`": ("ref", "tolerance", *_OF_SIMULATE),
    "`profile`": ("grid", "report", "simulated"),
}
"""What takes a kernel's arguments -> the options that it has beside them."""

NEAR = 0.45
"""How alike two names are (difflib's ratio, 1 for the same) to be taken for a slip: rtol, tolerance."""


def take_options(named: dict[str, Any], parameters: Collection[str]) -> dict[str, Any]:
    """Take the simulator's options out of a call's named arguments, but for names of parameters."""
    names = [n for n in SIMULATION_OPTIONS if n in named and n not in parameters]
    found = {n: named.pop(n) for n in names}
    if found.get("seed", 0) is None:
        del found["seed"]
    return found


def what_there_is(name: str, parameters: Sequence[str], taker: str) -> str:
    """The help for an unknown name: the nearest one, the parameters and the options.

    taker: a key of `TAKES`, whose options are listed, or anything else, which has none.
    """
    options = TAKES.get(taker, ())
    near = get_close_matches(name, [*parameters, *options], n=1, cutoff=NEAR)
    others = [other for other, known in TAKES.items() if name in known]
    meant = f"did you mean {near[0]}? " if near else ""
    if others:
        meant = f"{name} is an option of {' and '.join(others)}; "
    listed = f"; options of {taker}: {', '.join(options)}" if options else ""
    return f"{meant}its parameters: {', '.join(parameters)}{listed}"
