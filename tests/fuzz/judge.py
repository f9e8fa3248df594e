"""One generated program through every path that runs without a GPU, and what went wrong if anything."""

from __future__ import annotations

import contextlib
import io
import re
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from phobos_nb import builtins
from phobos_nb.arguments.array import describe_numpy
from phobos_nb.arguments.variant import choose_variant
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.compilation.module import module_of
from phobos_nb.diagnostics import PhobosError
from phobos_nb.ir.text import custom, generic, parse
from phobos_nb.ir.upstream import UpstreamError, verify
from phobos_nb.language.frontend import parse as parse_text
from phobos_nb.language.meaning import run as run_meaning
from phobos_nb.language.unparse import unparse
from phobos_nb.options import CompileOptions
from phobos_nb.simulate.records import SimulationResult
from phobos_nb.source import Source
from tests.fuzz.generate import Program


@dataclass(frozen=True)
class Failure:
    """What went wrong: kind (diagnostic, crash, mismatch, fault, race, print, text, upstream, nvrtc)
    and where, which tells failures of one kind apart.
    """

    kind: str
    where: str
    detail: str = ""

    def like(self, other: Failure | None) -> bool:
        """Whether another failure is of the same kind at the same place."""
        return other is not None and (self.kind, self.where) == (other.kind, other.where)


@dataclass(frozen=True)
class Paths:
    """Which slow paths to take besides meaning and simulator."""

    upstream: bool = False
    targets: tuple[str, ...] = ()
    chip: str = "sm_80"


def judge(program: Program, paths: Paths = Paths()) -> Failure | None:
    """The first failure of a program, or None."""
    try:
        return _judge(program, paths)
    except PhobosError as error:
        first = error.diagnostics[0]
        return Failure("diagnostic", f"{first.code} {_anonymous(first.message)}", str(error))
    except UpstreamError as error:
        return Failure("upstream", _pattern(str(error)), str(error))
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        inside = [f for f in frames if "phobos_nb" in f.filename] or frames
        place = f"{inside[-1].filename.rpartition('phobos_nb')[2]}:{inside[-1].name}"
        return Failure("crash", f"{type(error).__name__} {place}", traceback.format_exc())


def kernel_of(program: Program, chip: str = "sm_80") -> Kernel:
    """The program's kernel, checked; its dtype parameters are open where they have no default."""
    options = CompileOptions(chip, constants=dict(program.constants))
    return module_of(Source(program.text, "fuzz.ph"), options)["k"]


def fixed_kernel(program: Program, chip: str = "sm_80") -> Kernel:
    """The kernel for the dtypes of the program's arrays."""
    kernel = kernel_of(program, chip)
    return kernel.specialize(**program.dtypes) if program.dtypes else kernel


def meaning_of(program: Program, kernel: Kernel) -> tuple[dict[str, Any], list[str]]:
    """What the NumPy meaning leaves in the written tensors, and what it prints."""
    values = program.arguments()
    typed = kernel.typed(kernel.options.constants)
    result = run_meaning(typed, values, program.grid, builtins=builtins.table())
    return {n: values[n] for n in program.tolerances}, [line.text for line in result.printed]


def compiled(program: Program, kernel: Kernel) -> Compilation:
    """The kernel compiled for the variant that the program's arrays ask for."""
    arrays = [describe_numpy(v) for v in program.arguments().values() if isinstance(v, np.ndarray)]
    return kernel.compile_variant(choose_variant(arrays, 64))


def _judge(program: Program, paths: Paths) -> Failure | None:
    failure = _round_trip(program)
    if failure is not None:
        return failure
    kernel = fixed_kernel(program, paths.chip)
    expected, said = meaning_of(program, kernel)
    compiled(program, kernel).tile_module.verify()
    with contextlib.redirect_stdout(io.StringIO()):
        result = kernel_of(program, paths.chip).simulate(
            *program.arguments().values(), grid=program.grid
        )
    failure = (
        _findings(result) or compare(program, expected, result.outputs) or _prints(said, result.printed)
    )
    if failure is not None:
        return failure
    if paths.upstream:
        _upstream(compiled(program, kernel))
    for target in paths.targets:
        _machine_code(program, target)
    return None


def _round_trip(program: Program) -> Failure | None:
    """`unparse(parse(x))` parses to a program with the same text again."""
    once = unparse(parse_text(Source(program.text, "fuzz.ph")))
    twice = unparse(parse_text(Source(once, "again.ph")))
    return None if once == twice else Failure("text", "unparse", once)


def _findings(result: SimulationResult) -> Failure | None:
    if result.faults:
        fault = result.faults[0]
        return Failure("fault", f"{fault.kind} {fault.place.op}", str(fault))
    if result.races:
        race = result.races[0]
        return Failure("race", f"{race.kind} {race.first.op} {race.second.op}", str(race))
    return None


def compare(program: Program, expected: Mapping[str, Any], found: Mapping[str, Any]) -> Failure | None:
    """Every written tensor within its tolerance; integers, bools, NaN and infinities exactly."""
    for name, tolerance in program.tolerances.items():
        result = found[name] if name in found else program.arrays[name].make()
        bad = differing(expected[name], result, 2 * tolerance)
        if bad.any():
            first = tuple(int(i) for i in np.argwhere(bad)[0])
            detail = (
                f"{name}{list(first)}: meaning {expected[name][first]!r}, found {result[first]!r}, "
                f"tolerance {tolerance:g}; {int(bad.sum())} of {bad.size} elements"
            )
            return Failure("mismatch", program.arrays[name].dtype, detail)
    return None


def differing(expected: Any, found: Any, tolerance: float) -> Any:
    """Where two arrays differ by more than a tolerance; NaN equals NaN."""
    if expected.dtype.kind in "iub":
        return np.asarray(expected != found)
    a, b = expected.astype(np.float64), found.astype(np.float64)
    with np.errstate(invalid="ignore"):
        close = np.abs(a - b) <= tolerance
    return ~(close | (a == b) | (np.isnan(a) & np.isnan(b)))


def _prints(said: list[str], shown: Iterable[str]) -> Failure | None:
    shown = list(shown)
    if sorted(said) == sorted(shown):
        return None
    wrong = next(
        (a, b) for a, b in zip([*sorted(said), ""], [*sorted(shown), ""], strict=False) if a != b
    )
    return Failure("print", "text", f"{len(said)} and {len(shown)} lines, first {wrong}")


def _upstream(compilation: Compilation) -> None:
    """Upstream's tools accept the thread-level module, and xDSL reads both forms back."""
    module = compilation.thread_module
    for form in (custom, generic):
        text = form(module)
        assert form(parse(text)) == text, f"{form.__name__} form does not read back"
    verify(module)


def _machine_code(program: Program, target: str) -> None:
    kernel = fixed_kernel(program, target)
    assert compiled(program, kernel).cubin, "empty machine code"


def with_text(program: Program, text: str) -> Program:
    """The same call of another text."""
    return replace(program, text=text)


def _anonymous(message: str) -> str:
    """A message without the names and numbers of one program."""
    return re.sub(r"\d+", "#", message)[:90]


def _pattern(message: str) -> str:
    lines = [line for line in message.splitlines() if "error" in line]
    return (lines or message.splitlines() or [""])[0].partition("error:")[2][:80]
