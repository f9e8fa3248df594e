"""One configuration compiled: plain data in, plain data out, so that any executor can do it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import module_of
from phobos_nb.contract import LaunchPlan, Variant
from phobos_nb.diagnostics import PhobosError
from phobos_nb.language.aliasing import in_place_pairs
from phobos_nb.options import CompileOptions
from phobos_nb.source import Source
from phobos_nb.target import get
from phobos_nb.tune.limits import refusal, refusal_of_code
from phobos_nb.tune.outcome import Constants, Failed, Kind


@dataclass(frozen=True)
class KernelText:
    """A kernel as text, from which any process makes it again. options: resolved, with a chip."""

    source: Source
    name: str
    options: CompileOptions

    def kernel(self) -> Kernel:
        """The kernel, checked."""
        plain = replace(self.options, constants={}, dtypes={})
        kernel = module_of(self.source, plain)[self.name]
        return kernel.specialize(**self.options.constants, **self.options.dtypes)


@dataclass(frozen=True)
class CompileJob:
    """Compile a kernel for one configuration and one variant of its arrays.

    by_extents: constants that follow from the configuration and the call's extents.
    """

    text: KernelText
    variant: Variant
    constants: Constants
    by_extents: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Compiled:
    """A configuration ready to load; for the CPU it has no plan and no code.

    facts: what a person or a model wants to know of it, numbers only. seconds: it took to compile.
    """

    constants: Constants
    plan: LaunchPlan | None = None
    cubins: tuple[bytes, ...] = ()
    in_place: frozenset[frozenset[str]] = frozenset()
    facts: Mapping[str, float] = field(default_factory=dict[str, float])
    seconds: float = 0.0


def compile_job(job: CompileJob) -> Compiled | Failed:
    """Check the limits, lower, check them again, and only then run NVRTC."""
    start = time.perf_counter()

    def failed(kind: Kind, reason: str) -> Failed:
        return Failed(job.constants, kind, reason, time.perf_counter() - start)

    try:
        kernel = job.text.kernel()
        typed = kernel.typed({**job.text.options.constants, **job.constants})
        target = get(str(job.text.options.chip))
        reason = refusal(typed, target)
        if reason:
            return failed(Kind.CONSTRAINT, reason)
        compilation = kernel.compile_variant(job.variant, **{**job.by_extents, **job.constants})
        contract = compilation.contract
        reason = refusal_of_code(contract, target)
        if reason:
            return failed(Kind.CONSTRAINT, reason)
        cubins = tuple(launch.cubin for launch in compilation.launches)
        taken = compilation.resources.registers * contract.threads
        if taken > target.registers_per_cta:
            product = f"{contract.threads} threads x {compilation.resources.registers} registers"
            text = f"{product} = {taken}, {target.name} allows {target.registers_per_cta} per CTA"
            return failed(Kind.CONSTRAINT, text)
    except PhobosError as error:
        return failed(_kind(error), reasons(error))
    seconds = time.perf_counter() - start
    pairs = in_place_pairs(compilation.typed)
    return Compiled(job.constants, compilation.plan, cubins, pairs, facts_of(compilation), seconds)


def facts_of(compilation: Compilation) -> dict[str, float]:
    """Registers, spilled bytes, shared bytes, threads, CTAs per SM, stages of loops, barriers."""
    resources, occupancy = compilation.resources, compilation.occupancy
    return {
        "threads": compilation.contract.threads,
        "registers": resources.registers,
        "spills": resources.spill_stores + resources.spill_loads,
        "shared_bytes": compilation.contract.shared_bytes,
        "ctas_per_sm": occupancy.ctas,
        "occupancy": occupancy.fraction,
        "stages": max((loop.stages for loop in compilation.loops), default=1),
        "barriers": sum(b.kept for b in compilation.barriers),
    }


REFUSED = ("PH208", "PH4", "PH510", "PH511", "PH513", "PH710")
"""Beginnings of codes that mean "this configuration cannot be", rather than "the compiler failed"."""


def _kind(error: PhobosError) -> Kind:
    codes = [d.code for d in error.diagnostics]
    if codes and all(code.startswith(REFUSED) for code in codes):
        return Kind.CONSTRAINT
    return Kind.COMPILE


def reasons(error: PhobosError) -> str:
    """What went wrong and what would help, without the excerpt of the source."""
    parts = [f"{d.message}{f' ({d.help})' if d.help else ''}" for d in error.diagnostics]
    return "; ".join(parts)
