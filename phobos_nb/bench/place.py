"""Where a benchmark runs: a GPU through CuPy, or NumPy on the CPU to try the command out."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from phobos_nb.arguments.make import random_arguments
from phobos_nb.bench.workload import Contenders, Extents, Values, Work, Workload
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.remembered import CPU
from phobos_nb.contract import ScalarParameter
from phobos_nb.dtypes import SCALARS, Kind


class Place(Protocol):
    """name: the device, as in tuning records."""

    name: str

    def values(self, workload: Workload, kernel: Kernel, extents: Extents, seed: int) -> dict[str, Any]:
        """Random arguments here."""
        ...

    def peers(self, workload: Workload, values: Values) -> Contenders:
        """The workload's own peers, as far as they run here."""
        ...

    def room(self, values: Values) -> int:
        """For how many more sets of such arguments there is memory to spare."""
        ...

    def sampler(self, work: Work, inner: int) -> Callable[[], float]:
        """A function that makes one sample, in milliseconds per call."""
        ...

    def conditions(self) -> dict[str, str]:
        """What times depend on beside the kernel: two runs that differ in it are not compared."""
        ...


class Gpu:
    """The current GPU."""

    def __init__(self) -> None:
        from phobos_nb.cuda.driver import cupy, current_device
        from phobos_nb.cuda.identity import device_name

        self.name = device_name(current_device())
        self._stream: Any = cupy().cuda.Stream(non_blocking=True)

    def values(self, workload: Workload, kernel: Kernel, extents: Extents, seed: int) -> dict[str, Any]:
        """Random arguments, made on the GPU."""
        from phobos_nb.cuda.driver import cupy

        random = cupy().random.RandomState(seed)
        found: dict[str, Any] = {}
        for p in kernel.parameters:
            if isinstance(p, ScalarParameter):
                found[p.name] = workload.scalars.get(p.name, 1)
            elif SCALARS[p.dtype].kind is not Kind.FLOAT or p.dtype == "bf16":
                return self._from_host(workload, kernel, extents, seed)
            else:
                shape = tuple(d if isinstance(d, int) else extents[d] for d in p.dims)
                normal = random.standard_normal(shape, dtype=np.float32)
                found[p.name] = normal.astype(SCALARS[p.dtype].numpy, copy=False)
        return found

    def _from_host(
        self, workload: Workload, kernel: Kernel, extents: Extents, seed: int
    ) -> dict[str, Any]:
        from phobos_nb.cuda.arrays import to_device

        made = Cpu().values(workload, kernel, extents, seed)
        return {n: to_device(v) if hasattr(v, "dtype") else v for n, v in made.items()}

    def peers(self, workload: Workload, values: Values) -> Contenders:
        """All of them."""
        return workload.peers(values)

    def room(self, values: Values) -> int:
        """Half of the free memory is to spare: peers need some of their own."""
        from phobos_nb.cuda.driver import cupy

        free, _ = cupy().cuda.runtime.memGetInfo()
        return int(free // 2 // max(1, sum(getattr(v, "nbytes", 0) for v in values.values())))

    def sampler(self, work: Work, inner: int) -> Callable[[], float]:
        """Timed by events, in a CUDA graph where it can be captured."""
        from phobos_nb.cuda.timing import sampler

        return sampler(work, self._stream, inner)

    def conditions(self) -> dict[str, str]:
        """Card, driver, NVRTC and CuPy."""
        from phobos_nb.cuda.driver import cupy, driver_release, driver_version
        from phobos_nb.cuda.identity import nvrtc_version

        version = driver_version()
        cuda = f"CUDA {version[0]}.{version[1]}" if version else ""
        driver = " ".join(x for x in (driver_release(), cuda) if x)
        return {
            "device": self.name,
            "driver": driver,
            "nvrtc": nvrtc_version(),
            "cupy": cupy().__version__,
        }


class Cpu:
    """NumPy: the kernel's meaning instead of compiled code. Only a caller's own peers run here."""

    name = CPU

    def values(self, workload: Workload, kernel: Kernel, extents: Extents, seed: int) -> dict[str, Any]:
        """Random NumPy arguments."""
        given: Mapping[str, Any] = {**extents, **workload.scalars}
        return random_arguments(kernel.name, kernel.parameters, given, np.random.default_rng(seed))

    def peers(self, workload: Workload, values: Values) -> Contenders:  # noqa: ARG002 - as on the GPU
        """None: they need the GPU."""
        return {}

    def room(self, values: Values) -> int:
        """A machine that can run the meaning has room for a few."""
        return 3 if sum(getattr(v, "nbytes", 0) for v in values.values()) < 2**30 else 0

    def sampler(self, work: Work, inner: int) -> Callable[[], float]:
        """Timed by the clock."""

        def sample() -> float:
            start = time.perf_counter()
            for _ in range(inner):
                work()
            return (time.perf_counter() - start) * 1e3 / inner

        work()
        return sample

    def conditions(self) -> dict[str, str]:
        """Machine, Python and NumPy."""
        machine = platform.processor() or platform.machine()
        return {
            "device": f"CPU {machine}",
            "python": platform.python_version(),
            "numpy": np.__version__,
        }
