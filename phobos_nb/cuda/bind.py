"""Bound calls: checked once, then one driver call each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from phobos_nb.cuda.driver import cupy, explained, recent_launches
from phobos_nb.cuda.plan import Dispatcher, Ready
from phobos_nb.diagnostics import PhobosError

BoundCall = Callable[[], None]
"""A kernel with its arguments fixed. Calling it launches on the library's current stream."""


def bound_call(dispatcher: Dispatcher, arguments: Sequence[Any], grid: Any = None) -> BoundCall:
    """Check a call and return the function that makes it.

    The function keeps the arrays alive; their contents may change between calls. Nothing is checked
    again, so it costs a few microseconds and can be captured in a CUDA graph. Its attributes are
    `contract`, what was compiled, and `arrays`.
    """
    ready = dispatcher.ready(arguments, grid)
    plan = ready.plan
    values = ready.values if plan.takes_plainly(ready.values) else plan.convert(ready.values)
    if plan.empty:
        return _described(lambda: None, ready)
    program = plan.program()
    program.write_addresses(*ready.addresses)
    plan.write_scalars(program, values)
    return _described(_launcher(ready, program.start), ready)


def _described(call: BoundCall, ready: Ready) -> BoundCall:
    call.__qualname__ = f"{ready.plan.contract.kernel}.bind"
    call.__dict__.update(contract=ready.plan.contract, arrays=ready.arrays)
    return call


def _launcher(ready: Ready, start: Callable[[int], None]) -> BoundCall:
    """One closure without layers, since each would cost a tenth of a microsecond."""
    plan, stream_of, device = ready.plan, ready.library.stream, ready.plan.device
    contract, after, remember = plan.contract, plan.after, recent_launches.append
    runtime = cupy().cuda.runtime
    several, current = runtime.getDeviceCount() > 1, runtime.getDevice

    def launch() -> None:
        if several and current() != device:
            with cupy().cuda.Device(device):
                return launch()
        try:
            stream = stream_of(device)
            start(stream)
            remember(contract)
            if after:
                after(stream)
        except RuntimeError as error:
            if isinstance(error, PhobosError):
                raise
            with explained(contract, "start"):
                raise

    return launch
