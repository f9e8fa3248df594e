"""Measuring on the workers of a Dask cluster: one device each, told apart by UUID.

Compiling on a cluster needs nothing from here: `client.get_executor()` is an executor like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from phobos_nb.tune.devices import Device, of_one_model, wrong
from phobos_nb.tune.worker import (
    START_SECONDS,
    RemoteError,
    Worker,
    WorkerCrashError,
    WorkerTimeoutError,
)

ANSWER_SECONDS = 30.0
"""What an answer may take on its way, beside the work itself."""


def devices_of(client: Any, here: Callable[[], list[Device]], model: str) -> dict[str, Device]:
    """Address -> device of the workers that take part: each the first that no other worker has.

    client: a Dask client. here: lists the devices of the process that calls it. Workers without a
    device, or with one of another model, are left out; `PhobosError` PH402 where that leaves none.
    """
    seen: Mapping[str, list[Device]] = client.run(here, on_error="ignore")
    if not seen:
        raise wrong("devices: no worker of the cluster has a device", "each needs a GPU and CuPy")
    wanted = of_one_model([d for found in seen.values() for d in found], model)
    free = {device.uuid for device in wanted}
    chosen: dict[str, Device] = {}
    for address, found in sorted(seen.items()):
        device = _first(found, free)
        if device is not None:
            free.discard(device.uuid)
            chosen[address] = device
    return chosen


def _first(devices: Iterable[Device], free: set[str]) -> Device | None:
    return next((device for device in devices if device.uuid in free), None)


class Host:
    """Lives on a Dask worker (an actor) and holds the process that measures, so that it may crash."""

    def __init__(self, factory: Callable[..., Any], task: Any) -> None:
        self._worker = Worker(factory, task)

    def begin(self) -> None:
        """Start the process in the background."""
        self._worker.begin()

    def call(self, method: str, arguments: tuple[Any, ...], timeout: float | None) -> Any:
        """The result, or the fault as plain data, with the process's number."""
        try:
            value = self._worker.call(method, *arguments, timeout=timeout)
            return "value", value, self._worker.generation
        except RemoteError as error:
            return "remote", (error.kind, error.text), self._worker.generation
        except WorkerTimeoutError as error:
            return "timeout", str(error), self._worker.generation
        except WorkerCrashError as error:
            return "crash", str(error), self._worker.generation

    def close(self) -> None:
        """End the process."""
        self._worker.close()


class RemoteBench:
    """A bench on a Dask worker, behind the interface of `Worker`."""

    def __init__(self, client: Any, address: str, factory: Callable[..., Any], task: Any) -> None:
        self._address = address
        there = client.scatter(task, workers=[address], hash=False)  # arrays, too big for a graph
        made = client.submit(Host, factory, there, workers=[address], actor=True, pure=False)
        self._host: Any = made.result(START_SECONDS)
        self.generation = 1

    def begin(self) -> None:
        """Start the process there, in the background."""
        self._ask(self._host.begin())

    def call(self, method: str, *arguments: Any, timeout: float | None = None) -> Any:
        """Call a method of the bench; raises what `Worker.call` raises."""
        limit = None if timeout is None else timeout + START_SECONDS + ANSWER_SECONDS
        kind, value, self.generation = self._ask(self._host.call(method, arguments, timeout), limit)
        if kind == "remote":
            raise RemoteError(*value)
        if kind == "timeout":
            raise WorkerTimeoutError(value)
        if kind == "crash":
            raise WorkerCrashError(value)
        return value

    def close(self) -> None:
        """End the process there."""
        self._ask(self._host.close())
        self.generation += 1

    def _ask(self, answer: Any, timeout: float | None = None) -> Any:
        try:
            return answer.result(timeout)
        except TimeoutError as error:
            raise WorkerTimeoutError(f"no answer from {self._address}") from error
        except (OSError, ValueError) as error:
            raise WorkerCrashError(f"the worker {self._address} is lost: {error}") from error
