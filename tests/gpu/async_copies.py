"""Kernels of bulk copies, memory barriers and clusters on a GPU: the simulator's bits.

    python -m tests.gpu.async_copies async.json                   # compile, run, compare
    python -m tests.gpu.async_copies planted async.json           # the same kernels with races in them
    compute-sanitizer --tool racecheck python -m tests.gpu.async_copies planted planted.json

Needs CuPy, NVRTC, xDSL and a GPU of compute capability 9.0.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb import target
from phobos_nb.arguments.array import ArrayDescription
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit
from phobos_nb.cuda.launch import Parameters, starter
from phobos_nb.cuda.loading import load_kernel
from phobos_nb.simulate.launch import symbols
from tests.async_kernels import KERNELS, PLANTED, Kernel

REPEATS = 20


def compiled(kernels: dict[str, Kernel]) -> dict[str, nvrtc.NvrtcResult]:
    """The cubin of each kernel."""
    chip = target.get("sm_90a")
    jobs = [nvrtc.Job(emit(k.module, chip).text, chip.nvrtc_arch) for k in kernels.values()]
    made = nvrtc.compile_all(jobs, workers=8)
    for name, result in zip(kernels, made, strict=True):
        if not isinstance(result, nvrtc.NvrtcResult):
            raise RuntimeError(f"{name}: {result}")
    return dict(zip(kernels, made, strict=True))


class Launcher:
    """One loaded kernel with its arrays on the GPU."""

    def __init__(self, kernel: Kernel, image: bytes) -> None:
        import cupy

        self.kernel, contract = kernel, kernel.contract
        self.arrays: dict[str, Any] = {n: cupy.asarray(a) for n, a in kernel.arguments.items()}
        described = {
            n: ArrayDescription(str(a.dtype), a.shape, a.strides, int(a.data.ptr), a.dtype.itemsize)
            for n, a in self.arrays.items()
        }
        parameters = Parameters(contract)
        parameters.write_layout(symbols(contract, dict(kernel.arguments)), described)
        parameters.write_addresses(*(int(self.arrays[t.name].data.ptr) for t in contract.tensors))
        loaded = load_kernel(image, contract)
        self.start = starter(loaded, contract, kernel.grid, parameters)

    def run(self) -> dict[str, np.ndarray]:
        """The outputs of one launch over fresh arguments."""
        import cupy

        for name, array in self.kernel.arguments.items():
            self.arrays[name].set(array)
        self.start(0)
        cupy.cuda.runtime.deviceSynchronize()
        return {t.name: self.arrays[t.name].get() for t in self.kernel.contract.tensors if t.writes}


def compare(kernel: Kernel, image: bytes, repeats: int) -> dict[str, Any]:
    """How often the GPU's bits were the simulator's."""
    result = kernel.run(banks=False)
    launcher = Launcher(kernel, image)
    same = 0
    different: dict[str, list[int]] = {}
    for _ in range(repeats):
        found = launcher.run()
        bad = [n for n in found if found[n].tobytes() != result.outputs[n].tobytes()]
        same += not bad
        for name in bad:
            a, b = (x.reshape(-1).view(np.uint8) for x in (found[name], result.outputs[name]))
            different.setdefault(name, np.flatnonzero(a != b)[:8].tolist())
    return {"clean": result.clean, "runs": repeats, "same": same, "first_different_bytes": different}


def check(output: Path) -> int:
    """Every kernel; the number that differ."""
    started = time.perf_counter()
    kernels = {name: make() for name, make in KERNELS.items()}
    images = compiled(kernels)
    found: dict[str, Any] = {}
    for name, kernel in kernels.items():
        found[name] = compare(kernel, images[name].cubin, REPEATS)
        print(name, found[name], flush=True)
    wrong = [n for n, f in found.items() if f["same"] != f["runs"] or not f["clean"]]
    report = {
        "gpu": gpu(),
        "nvrtc": list(nvrtc.version()),
        "seconds": round(time.perf_counter() - started, 1),
        "wrong": wrong,
        "kernels": found,
    }
    output.write_text(json.dumps(report, indent=1) + "\n")
    print("wrong:", wrong)
    return len(wrong)


def gpu() -> str:
    """The GPU's name."""
    import cupy

    return cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()


def plant(output: Path) -> int:
    """Run each kernel with a race once; a tool that watches the process reports what it sees."""
    kernels = {name: make() for name, make in PLANTED.items()}
    images = compiled(kernels)
    found: dict[str, Any] = {}
    for name, kernel in kernels.items():
        races = sorted({str(r.kind) for r in kernel.run(banks=False).races})
        Launcher(kernel, images[name].cubin).run()
        found[name] = {"entry": kernel.contract.entry, "simulator": races}
        print(name, kernel.contract.entry, races, flush=True)
    output.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "planted":
        sys.exit(plant(Path(sys.argv[2])))
    sys.exit(check(Path(sys.argv[1])))
