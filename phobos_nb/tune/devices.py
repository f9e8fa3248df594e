"""Devices that one search measures on at once: told apart by UUID, of one model."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from phobos_nb.compilation.remembered import CPU
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.tune.bench import Task
from phobos_nb.tune.worker import Worker

if TYPE_CHECKING:
    from distributed import Client

    from phobos_nb.tune.place import Place
    from phobos_nb.tune.runner import BenchCaller

    Devices = Literal["all"] | Sequence[int] | Client
    """All GPUs here that are of the arrays' model, some by ordinal, or a cluster's, one per worker."""

LOG = logging.getLogger("phobos_nb")


@dataclass(frozen=True)
class Device:
    """ordinal: in the process that listed it. uuid: the same in all. model: the product name."""

    ordinal: int
    uuid: str
    model: str


def gpus_here() -> list[Device]:
    """The GPUs that this process sees, in order of ordinal. Needs CuPy."""
    from phobos_nb.cuda.driver import cupy
    from phobos_nb.cuda.identity import device_name, device_uuid

    count = int(cupy().cuda.runtime.getDeviceCount())
    return [Device(i, device_uuid(i), device_name(i)) for i in range(count)]


def cpu_here() -> list[Device]:
    """The process itself as a device, for searches of NumPy arrays."""
    return [Device(0, f"{socket.gethostname()}/{os.getpid()}", CPU)]


def choose_here(wanted: Literal["all"] | Sequence[int], model: str) -> list[Device]:
    """GPUs of this process for a search on that model; `PhobosError` PH402 for what cannot be."""
    if model == CPU:
        raise wrong("devices= needs arrays on a GPU", "for NumPy arrays give a Dask client")
    there = gpus_here()
    if wanted == "all":
        return of_one_model(there, model)
    numbers = [int(number) for number in wanted]
    unknown = [n for n in numbers if not 0 <= n < len(there)]
    if unknown or not numbers:
        raise wrong(f"devices={list(wanted)!r}: there are GPUs 0 to {len(there) - 1}")
    found = distinct(there[n] for n in numbers)
    others = [f"GPU {d.ordinal} is {d.model}" for d in found if d.model != model]
    if others:
        raise wrong(
            f"devices: {', '.join(others)}, the arrays are on {model}", "times of two models differ"
        )
    return found


def distinct(devices: Iterable[Device]) -> list[Device]:
    """Each device once, however many ordinals or processes name it."""
    found: dict[str, Device] = {}
    for device in devices:
        found.setdefault(device.uuid, device)
    return list(found.values())


def of_one_model(devices: Sequence[Device], model: str) -> list[Device]:
    """Those of the model; others are logged and left out. `PhobosError` PH402 where none is left."""
    kept = [d for d in distinct(devices) if d.model == model]
    left_out = sorted({d.model for d in devices if d.model != model})
    if not kept:
        raise wrong(f"devices: none is of the arrays' model {model}; there are: {', '.join(left_out)}")
    if left_out:
        LOG.warning("the search runs on %s; left out: %s", model, ", ".join(left_out))
    return kept


def wrong(message: str, help: str = "") -> PhobosError:
    """The error for devices that cannot be used."""
    return PhobosError([Diagnostic("PH402", message, stage="tune", help=help)])


def is_client(value: Any) -> bool:
    """Whether something is a Dask client, asked without importing Dask."""
    return hasattr(value, "scheduler_info") and hasattr(value, "submit")


def hosts(wanted: Devices, place: Place, task: Task) -> list[tuple[Device, BenchCaller]]:
    """The devices of a search and what measures on each; `PhobosError` PH402 for what cannot be."""
    if is_client(wanted):
        return _on_cluster(cast("Client", wanted), place, task)
    found: list[tuple[Device, BenchCaller]] = []
    for device in choose_here(cast("Literal['all'] | Sequence[int]", wanted), place.name):
        worker = Worker(place.bench, replace(task, device=device.ordinal))
        worker.begin()
        found.append((device, worker))
    return found


def _on_cluster(client: Client, place: Place, task: Task) -> list[tuple[Device, BenchCaller]]:
    from phobos_nb.tune.cluster import RemoteBench, devices_of

    here = cpu_here if place.name == CPU else gpus_here
    found: list[tuple[Device, BenchCaller]] = []
    for address, device in devices_of(client, here, place.name).items():
        bench = RemoteBench(client, address, place.bench, replace(task, device=device.ordinal))
        bench.begin()
        found.append((device, bench))
    return found
