"""The GPU's tensor cores against the simulator, bit for bit.

    python -m tests.gpu.tensor_cores prepare build/tensor_cores              # anywhere: code, and sums
    python -m tests.gpu.tensor_cores run build/tensor_cores OUT.json         # on an H200
    python -m tests.gpu.tensor_cores compare build/tensor_cores OUT.json     # anywhere: the verdict anew

`prepare` compiles every kernel and simulates it; the GPU makes the same inputs again and compares. An
output that differs is written beside OUT.json. Then come two whole GEMMs on wgmma, one fed by
asynchronous copies and one by bulk copies of tensor boxes, and the fragments of WMMA.
"""

from __future__ import annotations

import hashlib
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit
from tests import async_text, wgmma_gemm, wgmma_tma_gemm
from tests.gpu import async_copies, wmma_fragments
from tests.gpu.tensor_core_jobs import Job, classes, jobs

CHIP = "sm_90a"


def digest(*arrays: np.ndarray) -> str:
    """A hash of the bytes."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:24]


def simulated(job: Job) -> np.ndarray:
    """What the simulator says the kernel writes; it must have nothing to report."""
    result = job.kernel.run(grid=job.blocks, banks=False, **job.tensors)
    if not result.clean:
        raise AssertionError(f"{job.name}: {result.races} {result.faults}")
    return result.outputs[job.output]


def code_of(text: str) -> str:
    """The file of a kernel's machine code, by its text."""
    return f"{digest(np.frombuffer(text.encode(), np.uint8))}.cubin"


def gemms() -> dict[str, async_text.Kernel]:
    """The two GEMMs with random arguments."""
    plain, depth = wgmma_gemm.gemm(512), 512
    rng = np.random.Generator(np.random.PCG64(5))
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((128, depth), (depth, 128)))
    arguments = {"a": a.reshape(-1), "b": b.reshape(-1), "c": np.zeros(128 * 128, np.float32)}
    copied = async_text.Kernel(plain.module, plain.contract, (1, 1, 1), arguments)
    return {"asynchronous copies": copied, "tensor boxes": wgmma_tma_gemm.gemm(1024)}


def prepare(folder: Path) -> None:
    """Write one cubin per kernel text and `manifest.json` with what each launch has to give."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: list[dict[str, Any]] = []
    texts = {wmma_fragments.source(m, way) for m in wmma_fragments.matrices() for way in (False, True)}
    texts |= {text_of(k) for k in gemms().values()}
    for job in jobs():
        source = emit(job.kernel.module, target.get(CHIP))
        texts.add(source.text)
        rows.append(
            {
                "kind": job.kind,
                "name": job.name,
                "code": code_of(source.text),
                "entry": source.entry,
                "threads": source.threads,
                "dynamic": source.dynamic_shared,
                "inputs": digest(*job.tensors.values()),
                "wanted": digest(simulated(job)),
            }
        )
    missing = [t for t in sorted(texts) if not (folder / code_of(t)).exists()]
    made = nvrtc.compile_all([nvrtc.Job(t, CHIP) for t in missing], workers=2)
    for text, result in zip(missing, made, strict=True):
        if not isinstance(result, nvrtc.NvrtcResult):
            raise RuntimeError(str(result))
        (folder / code_of(text)).write_bytes(result.cubin)
    manifest = {"nvrtc": list(nvrtc.version()), "launches": rows}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=0))
    print(f"{len(rows)} launches of {len(texts)} kernels")


def run(folder: Path, out: Path) -> None:
    """Launch everything and write how many sums of each kind were equal."""
    import cupy

    manifest = json.loads((folder / "manifest.json").read_text())
    rows = {r["name"]: r for r in manifest["launches"]}
    launches: dict[str, dict[str, str]] = {}
    totals: dict[str, dict[str, int]] = {}
    wrong: dict[str, np.ndarray] = {}
    for job in jobs():
        row = rows[job.name]
        if digest(*job.tensors.values()) != row["inputs"]:
            raise RuntimeError(f"{job.name}: this machine makes other inputs")
        found = launch(cupy, folder, row, job)
        total = totals.setdefault(job.kind, {"launches": 0, "values": 0, "launches_equal": 0})
        launches[job.name] = {"inputs": row["inputs"], "outputs": digest(found)}
        total["launches"] += 1
        total["values"] += found.size
        if digest(found) == row["wanted"]:
            total["launches_equal"] += 1
        else:
            wrong[job.name] = found.view(np.uint8)
            print("differs:", job.name, flush=True)
    whole = {
        name: async_copies.compare(k, (folder / code_of(text_of(k))).read_bytes(), repeats=20)
        for name, k in gemms().items()
    }
    fragments = wmma_fragments.measured(cupy, lambda text: str(folder / code_of(text)))
    report = {
        "gpu": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "driver": cupy.cuda.runtime.driverGetVersion(),
        "nvrtc": manifest["nvrtc"],
        "date": datetime.now(UTC).date().isoformat(),
        "command": "python -m tests.gpu.tensor_cores run",
        "classes": classes(),
        "kinds": totals,
        "different": sorted(wrong),
        "gemms": whole,
        "wmma_fragments_as_expected": fragments,
        "launches": launches,
    }
    out.write_text(json.dumps(report, indent=2) + "\n")
    if wrong:
        np.savez_compressed(out.with_suffix(".npz"), **wrong)
    print(json.dumps(report["kinds"]), json.dumps(whole), all(fragments.values()))


def text_of(kernel: async_text.Kernel) -> str:
    """The CUDA text of a kernel."""
    return emit(kernel.module, target.get(CHIP)).text


def compare(folder: Path, out: Path) -> None:
    """Hold a GPU's hashes against those of `prepare`, after the simulator has changed."""
    manifest = json.loads((folder / "manifest.json").read_text())
    report = json.loads(out.read_text())
    different: list[str] = []
    for total in report["kinds"].values():
        total["launches_equal"] = 0
    for row in manifest["launches"]:
        found = report["launches"][row["name"]]
        if found["inputs"] != row["inputs"]:
            raise RuntimeError(f"{row['name']}: the GPU had other inputs")
        equal = found["outputs"] == row["wanted"]
        report["kinds"][row["kind"]]["launches_equal"] += equal
        different += [] if equal else [row["name"]]
    report["different"] = different
    report["command"] += "; compared with the simulator afterwards: compare"
    out.write_text(json.dumps(report, indent=1) + "\n")
    print(report["kinds"], different)


def launch(cupy: Any, folder: Path, row: dict[str, Any], job: Job) -> np.ndarray:
    """One launch; the tensor that it wrote."""
    function = cupy.RawModule(path=str(folder / row["code"])).get_function(row["entry"])
    if row["dynamic"]:
        function.max_dynamic_shared_size_bytes = row["dynamic"]
    names = [t.name for t in job.kernel.contract.tensors]
    held = {n: cupy.asarray(job.tensors[n].reshape(-1).view(np.uint8)) for n in names}
    extents = [np.int64(job.tensors[n].size) for n in names]
    arguments = (*(held[n] for n in names), *extents)
    function((job.blocks,), (row["threads"],), arguments, shared_mem=row["dynamic"])
    return cupy.asnumpy(held[job.output]).view(job.tensors[job.output].dtype)


def main() -> None:
    """`prepare FOLDER`, `run FOLDER OUT` or `compare FOLDER OUT`."""
    what, folder, *rest = sys.argv[1:]
    if what == "prepare":
        prepare(Path(folder))
    elif what == "run":
        run(Path(folder), Path(rest[0]))
    else:
        compare(Path(folder), Path(rest[0]))


if __name__ == "__main__":
    main()
