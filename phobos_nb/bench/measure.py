"""Measuring from Python: a bundled benchmark or one's own, against its peers and any function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from phobos_nb.bench import arithmetic
from phobos_nb.bench.harness import Call, Ours, Plan, run_workload
from phobos_nb.bench.place import Gpu, Place
from phobos_nb.bench.row import Row
from phobos_nb.bench.table import ALIASES, WORKLOADS
from phobos_nb.bench.workload import Extents, Workload
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import load_with
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.options import CompileOptions


def measure(
    benchmark: str | Workload,
    *,
    examples: str | Path = "examples",
    sizes: Iterable[Extents | str | int] | None = None,
    constants: Mapping[str, int] | None = None,
    place: Place | None = None,
    plan: Plan | None = None,
    **settings: Any,
) -> list[Row]:
    """Verify and time one benchmark, and return a row per contender and size.

    benchmark: a name of `phobos-nb bench`, or a `Workload` of one's own. sizes: extents by symbol,
    or the command's text for them (`resize`); by default the benchmark's. constants: pinned tuning
    names. plan: or its fields by name, such as `peers={"mine": lambda values: ...}`, functions of the
    arguments that write the outputs, and `rounds=`. place: the current GPU by default.
    """
    workload = named(benchmark) if isinstance(benchmark, str) else benchmark
    plan = replace(plan or Plan(), **settings)
    kernel = load(workload, Path(examples), constants or {})
    found = workload.sizes if sizes is None else tuple(resize(workload, size) for size in sizes)
    return list(measure_kernel(workload, kernel, found, place or Gpu(), plan))


def named(name: str) -> Workload:
    """The bundled benchmark of that name, the original program's names too."""
    found = WORKLOADS.get(ALIASES.get(name, name))
    if found is None:
        raise _wrong(f"no benchmark {name!r}", f"there are: {', '.join([*WORKLOADS, *ALIASES])}")
    return found


def load(workload: Workload, examples: Path, constants: Mapping[str, int]) -> Kernel:
    """The benchmark's kernel, the first of its file, with pinned constants."""
    options = CompileOptions(constants={**workload.constants, **constants})
    return next(iter(load_with(examples / workload.file, options)))


def resize(workload: Workload, size: Extents | str | int) -> Extents:
    """Extents of a size: all of them ("4096x4096x1024"), or one number for the largest ones ("4096").

    "512" at attention's 16 heads of 4096 x 4096 is 16 heads of 512 x 512.
    """
    if isinstance(size, Mapping):
        return size
    usual = workload.sizes[0]
    try:
        numbers = [int(part) for part in str(size).split("x")]
    except ValueError:
        numbers = []
    if len(numbers) == 1:
        largest = max(usual.values())
        numbers = [numbers[0] if value == largest else value for value in usual.values()]
    if len(numbers) != len(usual) or min(numbers) < 1:
        wanted = "x".join(usual)
        raise _wrong(f"{workload.name}: {size!r} is no size", f"wanted one number, or {wanted}")
    return dict(zip(usual, numbers, strict=True))


def measure_kernel(
    workload: Workload, kernel: Kernel, sizes: Iterable[Extents], place: Place, plan: Plan
) -> Iterator[Row]:
    """The rows of a benchmark, size by size; after a search of each where the plan asks for it."""
    for extents in sizes:
        if plan.search:
            values = place.values(workload, kernel, extents, plan.seed)
            kernel.tune(**values, reference=workload.answer, rounds=plan.rounds, seed=plan.seed)

        def describe(call: Call, extents: Extents = extents) -> Ours:
            return _ours(workload, kernel, extents, place, plan, call)

        yield from run_workload(workload, kernel, extents, place, plan, describe)


def _ours(
    workload: Workload, kernel: Kernel, extents: Extents, place: Place, plan: Plan, call: Call
) -> Ours:
    chosen = _chosen(kernel, extents, place, plan)
    contract = getattr(call.work, "contract", None)
    if contract is None:
        target = resolve(kernel.options).target
        return Ours(kernel.constants_for(extents, target, place.name), chosen, "NumPy")
    words = arithmetic.of_ours(workload, kernel, contract.constants, contract.target)
    return Ours(contract.constants, chosen, words)


def _chosen(kernel: Kernel, extents: Extents, place: Place, plan: Plan) -> str:
    if plan.search:
        return "searched"
    identity = kernel.identity(extents, resolve(kernel.options).target, place.name)
    if kernel.remembered(identity).choose(identity) is not None:
        return "recorded"
    return "pinned" if kernel.options.constants else "default"


def _wrong(message: str, help: str) -> PhobosError:
    return PhobosError([Diagnostic("PH402", message, stage="bench", help=help)])
