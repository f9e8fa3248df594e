"""Where a call's arrays are, and what measuring there needs: the CPU with NumPy, or one GPU."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.arguments.make import numpy_dtype
from phobos_nb.compilation import remembered
from phobos_nb.compilation.call import describe_host
from phobos_nb.contract import Parameter, ScalarParameter
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.typed import TypedKernel
from phobos_nb.tune.bench import Bench, Task
from phobos_nb.tune.compile_job import Compiled, CompileJob, compile_job
from phobos_nb.tune.host_bench import HostBench, host_job
from phobos_nb.tune.outcome import Failed
from phobos_nb.tune.search import Peer

Work = Callable[[], object]


class Place(Protocol):
    """name: the device of records. ordinal: of the GPU. compiles: whether a job is worth a process."""

    compiles: bool
    name: str
    ordinal: int

    @property
    def job(self) -> Callable[[CompileJob], Compiled | Failed]:
        """What compiles, importable in any process."""
        ...

    @property
    def bench(self) -> Callable[[Task], Bench]:
        """What measures, importable in any process."""
        ...

    def describe(self, value: Any) -> ArrayDescription | None:
        """Describe one of the call's arrays; None for anything else."""
        ...

    def to_host(self, value: Any) -> Any:
        """A NumPy array of the values."""
        ...

    def peers(
        self, typed: TypedKernel, arrays: Mapping[str, Any], scalars: Mapping[str, Any], against: Any
    ) -> dict[str, Work]:
        """The contenders that `against` names, over copies of the arrays."""
        ...

    def peers_on(
        self, device: int, typed: TypedKernel, arrays: Mapping[str, Any], scalars: Mapping[str, Any],
        against: Any,
    ) -> dict[str, Work]:  # fmt: skip
        """The same on another device of this process; none where they are the caller's functions."""
        ...

    def timed(self, work: Work, cold: bool, device: int | None = None) -> Peer:
        """A contender that can be timed here, or on another device of this process."""
        ...

    def host_facts(self) -> dict[str, str]:
        """Versions and other circumstances of a measurement."""
        ...


class Host:
    """NumPy on the CPU."""

    compiles = False
    name = remembered.CPU
    ordinal = 0
    job = staticmethod(host_job)
    bench = staticmethod(HostBench)

    def describe(self, value: Any) -> ArrayDescription | None:
        """Describe a NumPy array."""
        return describe_host(value)

    def to_host(self, value: Any) -> Any:
        """The array itself."""
        return np.asarray(value)

    def peers(
        self,
        typed: TypedKernel,  # noqa: ARG002 - the signature of every place
        arrays: Mapping[str, Any],  # noqa: ARG002
        scalars: Mapping[str, Any],  # noqa: ARG002
        against: Any,
    ) -> dict[str, Work]:
        """Only functions that the caller gives."""
        if isinstance(against, str):
            raise _no_peer(f"against={against!r} needs arrays on a GPU")
        return dict(against)

    def peers_on(
        self,
        device: int,  # noqa: ARG002 - there is one CPU
        typed: TypedKernel,
        arrays: Mapping[str, Any],
        scalars: Mapping[str, Any],
        against: Any,
    ) -> dict[str, Work]:
        """As here."""
        return self.peers(typed, arrays, scalars, against)

    def timed(
        self,
        work: Work,
        cold: bool,  # noqa: ARG002 - there is no cache to flush here
        device: int | None = None,  # noqa: ARG002
    ) -> Peer:
        """Timed by the clock."""
        return HostPeer(work)

    def host_facts(self) -> dict[str, str]:
        """NumPy's version."""
        return {"numpy": np.__version__}


class HostPeer:
    """A function on the CPU."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def time(self) -> float:
        """Milliseconds of one call."""
        start = time.perf_counter()
        self._work()
        return (time.perf_counter() - start) * 1e3


class Gpu:
    """The GPU that holds the call's arrays."""

    compiles = True
    job = staticmethod(compile_job)

    def __init__(self, values: Mapping[str, Any], parameters: tuple[Parameter, ...]) -> None:
        from phobos_nb.cuda import arrays
        from phobos_nb.cuda.identity import device_name
        from phobos_nb.tune.device_bench import DeviceBench

        first = next(p.name for p in parameters if not isinstance(p, ScalarParameter))
        adopted = arrays.adopt(values[first])
        self.bench: Callable[[Task], Bench] = DeviceBench
        self.ordinal = arrays.library_of(adopted).device(adopted)
        self.name = device_name(self.ordinal)

    def describe(self, value: Any) -> ArrayDescription | None:
        """Describe an array on the GPU."""
        from phobos_nb.cuda import arrays

        if not arrays.on_gpu(value):
            return None
        adopted = arrays.adopt(value)
        return arrays.library_of(adopted).describe(adopted)

    def to_host(self, value: Any) -> Any:
        """A NumPy copy, after everything queued on the device."""
        from phobos_nb.cuda.arrays import on_gpu, to_host
        from phobos_nb.cuda.driver import cupy

        if str(getattr(value, "dtype", "")) == "torch.bfloat16":
            return self.to_host(_bits_of_torch(value)).view(numpy_dtype("bf16"))
        if not on_gpu(value):
            return np.asarray(value)
        module = cupy()
        module.cuda.Device(self.ordinal).synchronize()
        return to_host(value if isinstance(value, module.ndarray) else module.from_dlpack(value))

    def peers(
        self, typed: TypedKernel, arrays: Mapping[str, Any], scalars: Mapping[str, Any], against: Any
    ) -> dict[str, Work]:
        """CuBLAS for kernels with a GEMM's signature, or the caller's functions."""
        if not isinstance(against, str):
            return dict(against)
        if against != "cublas":
            raise _no_peer(f"against: wanted 'cublas' or functions by name, got {against!r}")
        from phobos_nb.tune.gemm_peers import cublas

        return cublas(typed, arrays, scalars)

    def peers_on(
        self, device: int, typed: TypedKernel, arrays: Mapping[str, Any], scalars: Mapping[str, Any],
        against: Any,
    ) -> dict[str, Work]:  # fmt: skip
        """The same over copies on another GPU; the caller's functions stay on the arrays' own."""
        from phobos_nb.cuda.driver import cupy

        if device != self.ordinal and not isinstance(against, str):
            return {}
        with cupy().cuda.Device(device):
            return self.peers(typed, arrays, scalars, against)

    def timed(self, work: Work, cold: bool, device: int | None = None) -> Peer:
        """Timed by events, like our kernels."""
        return GpuPeer(work, self.ordinal if device is None else device, cold)

    def host_facts(self) -> dict[str, str]:
        """Driver and package versions."""
        from phobos_nb.cuda.driver import package_versions

        return package_versions()


def _bits_of_torch(value: Any) -> Any:
    """A tensor of 16-bit integers over the same memory: DLPack has no bf16 that CuPy or NumPy takes."""
    torch: Any = sys.modules["torch"]
    return value.detach().view(torch.int16)


class GpuPeer:
    """A function that launches on the current stream."""

    def __init__(self, work: Work, device: int, cold: bool) -> None:
        from phobos_nb.cuda.driver import cupy
        from phobos_nb.tune.device_timer import DeviceTimer

        self._device: Any = cupy().cuda.Device(device)
        with self._device:
            self._timer = DeviceTimer(device, cold)
            self._timed = self._timer.prepare(work)

    def time(self) -> float:
        """Milliseconds of one call."""
        with self._device:
            return self._timer.sample(self._timed, lambda: None)


def _no_peer(message: str) -> PhobosError:
    return PhobosError([Diagnostic("PH402", message, stage="tune")])
