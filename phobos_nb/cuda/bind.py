"""Bound calls: checked once, then one driver call each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from phobos_nb.cuda.driver import cupy, current_device, explained, recent_launches
from phobos_nb.cuda.plan import Dispatcher, Ready


class BoundCall:
    """A kernel with its arguments fixed. Calling it launches on the current stream.

    The arrays are kept alive; their contents may change between calls. Nothing is allocated or
    checked again, so a call costs a few microseconds and can be captured in a CUDA graph.
    """

    def __init__(self, dispatcher: Dispatcher, arguments: Sequence[Any], grid: Any = None) -> None:
        ready = dispatcher.ready(arguments, grid)
        self.contract = ready.plan.contract
        self.arrays = ready.arrays
        self._parameters = ready.plan.new_parameters()
        ready.plan.write(self._parameters, ready.addresses, ready.values)
        self._launch = self._launcher(ready)

    def _launcher(self, ready: Ready) -> Callable[[], None]:
        plan, stream_of, device = ready.plan, ready.library.stream, ready.plan.device
        start, contract = plan.starter(self._parameters), plan.contract
        remember, wait = recent_launches.append, plan.synchronize
        runtime = cupy().cuda.runtime

        def launch() -> None:
            if current_device() != device:
                with cupy().cuda.Device(device):
                    return launch()
            stream = stream_of(device)
            try:
                start(stream)
                remember(contract)
                if wait:
                    runtime.streamSynchronize(stream)
            except RuntimeError:
                with explained(contract, "start"):
                    raise

        return launch

    def __call__(self) -> None:
        """Launch on the library's current stream."""
        self._launch()
