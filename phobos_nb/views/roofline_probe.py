"""Roofs measured on the GPU by four kernels of our own, once per device, kept on disk."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import platformdirs

from phobos_nb import __version__
from phobos_nb.compilation.module import Module, module_of
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.files import write_whole
from phobos_nb.options import CompileOptions, environment
from phobos_nb.source import Source
from phobos_nb.target import Card, Target
from phobos_nb.target.cards import card_of
from phobos_nb.views.roofline_roofs import (
    DRAM,
    FMA,
    L2,
    Roofs,
    nominal,
    roofs_from_plain,
    with_measured,
)

LOG = logging.getLogger("phobos_nb")

HOW = "the fastest of 15 calls of a probe on this GPU"
ROUNDS = 15

LINE = 2048
"""Elements of a CTA of `multiply_add`, eight for each of its 256 threads."""

STEPS, UNROLLED = 512, 16
"""Turns of the loop of `multiply_add`, and its multiply-adds in each."""

WAVES = 16
"""CTAs of `multiply_add` for each SM: eight are resident, twice."""

COPY_BYTES = 1 << 29
"""Of one array of `copy`: far more than any L2 cache."""

ROW = 4096
"""Elements of a row of `walk` and of `read`."""

READ_ROWS = 32
"""Rows that each CTA of `read` adds up."""

WALK_SHARE = 4
"""`walk` reads a quarter of the L2 cache again and again, which also fits each half of a split one."""

WALK_STEPS = 256


def measured_roofs(target: Target) -> Roofs:
    """The roofs of the current GPU, from disk where they were measured before.

    Raises `PhobosError` PH604 without CuPy.
    """
    from phobos_nb.cuda.driver import current_device
    from phobos_nb.cuda.identity import device_name

    device = current_device()
    name = device_name(device)
    known = known_roofs(name)
    if known is not None:
        return known
    base = nominal(target, card_of(target, name) or card_of_driver(device, name))
    found = with_measured(base, name, measure(target, device), HOW)
    path = _file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(found.to_plain(), indent=1))
    return found


def _file(device: str) -> Path:
    chosen = environment().cache_dir or Path(platformdirs.user_cache_dir("phobos_nb"))
    plain = "".join(c if c.isalnum() else "-" for c in device)
    return chosen / "roofs" / f"{plain}-{__version__}.json"


def measured_on(target: Target, ordinal: int) -> Roofs:
    """The roofs of a GPU by its number, for a process of its own."""
    from phobos_nb.cuda.driver import cupy

    cupy().cuda.Device(ordinal).use()
    return measured_roofs(target)


def known_roofs(device: str) -> Roofs | None:
    """What was measured before of a GPU by its name; a file that is damaged counts as none."""
    path = _file(device)
    try:
        return roofs_from_plain(json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        LOG.warning("roofs in %s are not used: %s", path, error)
        return None


def card_of_driver(device: int, name: str) -> Card:
    """What the driver tells of a GPU that no target lists; 0 for what newer drivers no longer tell."""
    from phobos_nb.cuda.driver import cupy

    facts: Mapping[str, int] = cupy().cuda.Device(device).attributes
    clock, memory = facts.get("ClockRate", 0), facts.get("MemoryClockRate", 0)
    width = facts.get("GlobalMemoryBusWidth", 0)
    gbs = 2 * memory * 1000 * width // 8 // 10**9  # two transfers a clock
    if not clock or not gbs:
        message = f"{name}: the driver tells no clock rates and no target lists this card"
        raise PhobosError([Diagnostic("PH405", message, stage="roofline")])
    return Card(name, facts["MultiProcessorCount"], clock // 1000, facts["L2CacheSize"], gbs)


def probes(target: Target) -> Module:
    """The four kernels, for a target."""
    text = files("phobos_nb.views").joinpath("roofline_probe.ph").read_text("utf-8")
    return module_of(Source(text, "roofline_probe.ph"), CompileOptions(target.name))


def measure(target: Target, device: int) -> dict[str, float]:
    """flop/s and bytes/s of the current GPU by the name of the roof."""
    from phobos_nb.cuda.driver import cupy

    module: Any = cupy()
    facts: Mapping[str, int] = module.cuda.Device(device).attributes
    sms, l2 = facts["MultiProcessorCount"], facts["L2CacheSize"]
    kernels = probes(target)
    return {
        FMA: _multiply_add(module, kernels, sms),
        DRAM: max(_copy(module, kernels), _read(module, kernels)),
        L2: _walk(module, kernels, sms, l2),
    }


def _multiply_add(module: Any, kernels: Module, sms: int) -> float:
    x = module.ones(WAVES * sms * LINE, "f4")
    y = module.empty_like(x)
    call = kernels.multiply_add.bind(x, y, 0.5, 0.25, STEPS)
    return 2.0 * UNROLLED * STEPS * x.size / _seconds(call)


def _copy(module: Any, kernels: Module) -> float:
    x = module.zeros(COPY_BYTES // 4, "f4")
    y = module.empty_like(x)
    return 2.0 * COPY_BYTES / _seconds(kernels.copy.bind(x, y))


def _read(module: Any, kernels: Module) -> float:
    """Reads alone: DRAM loses time where it turns from reading to writing."""
    x = module.zeros((COPY_BYTES // (4 * ROW), ROW), "f4")
    y = module.empty((len(x) // READ_ROWS, ROW), "f4")
    return (x.nbytes + y.nbytes) / _seconds(kernels.read.bind(x, y))


def _walk(module: Any, kernels: Module, sms: int, l2: int) -> float:
    rows, ctas = max(1, l2 // WALK_SHARE // (4 * ROW)), 4 * sms
    x = module.zeros((rows, ROW), "f4")
    y = module.empty((ctas, ROW), "f4")
    call = kernels.walk.bind(x, y, WALK_STEPS)
    return 4.0 * ROW * WALK_STEPS * ctas / _seconds(call)


def _seconds(call: Any) -> float:
    from phobos_nb.cuda.timing import time_interleaved

    return time_interleaved({"probe": call}, rounds=ROUNDS)["probe"].fastest * 1e-3
