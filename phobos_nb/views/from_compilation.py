"""The view model of a `Compilation`: the one place where views read compiler objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from phobos_nb.compilation.compilation import Compilation
from phobos_nb.contract import Parameter, ScalarParameter
from phobos_nb.counts import counted
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.language.walk import statements
from phobos_nb.source import Source
from phobos_nb.views.compilation import Barrier, CompilationView, Fact, Note
from phobos_nb.views.listing import Line, Listing, Mix, listing, missing, source_listing
from phobos_nb.views.shared_memory import Buffer, SharedMemory

if TYPE_CHECKING:
    from phobos_nb.cuda.called import Called
    from phobos_nb.language.typed import TypedKernel
    from phobos_nb.lower.loop_report import LoopReport
    from phobos_nb.lower.plan_shared_memory import PlacedBuffer, SharedPlan

ABSENT = {"PH601", "PH602"}
"""The codes for NVRTC and nvdisasm that are not installed."""

PADDING = {"NOP"}
"""Instructions that fill up the end of the code and belong to no line."""

BEGINNING = "what the kernel begins with: places of CTA and threads, the order of CTAs, what is promised"
"""The instructions of the line `kernel ...`: the compiler puts them there, whatever they are for."""

STAGES = (
    ("Tile MLIR", "mlir", "tile_mlir"),
    ("Thread MLIR", "mlir", "thread_mlir"),
    ("CUDA", "cuda", "cuda"),
    ("PTX", "ptx", "ptx"),
    ("SASS", "sass", "sass"),
)


def view_of(compilation: Compilation) -> CompilationView:
    """Everything a cell shows of it; runs every stage that can run here.

    Raises `PhobosError` where the kernel cannot be compiled; a back end that is not installed only
    leaves its panes empty, with the reason.
    """
    brief = brief_of(compilation)
    noted = replace(brief, listings=tuple(_listings(compilation)))
    return noted.with_notes(_absence_of("PH602", compilation.start_disassembly))


def brief_of(compilation: Compilation) -> CompilationView:
    """The same without listings, and so without the disassembler."""
    return CompilationView(
        name=compilation.name,
        parameters=tuple(map(_parameter, compilation.typed.parameters)),
        facts=facts_of(compilation),
        notes=(
            *remarks_of(compilation),
            *_absence_of("PH601", lambda: compilation.code),
        ),
        memory=memory_of(compilation),
        barriers=tuple(b for launch in compilation.launches for b in _barriers(compilation, launch)),
    ).with_notes(())


def _barriers(compilation: Compilation, launch: Compilation) -> Iterator[Barrier]:
    """Those of one launch; only the first one's have numbers, by which they are left out."""
    first = launch is compilation
    for found in launch.barriers:
        reason = found.reason if first else f"{launch.contract.entry}: {found.reason}"
        number = found.number or None if first else None
        yield Barrier(found.kept, reason, number, found.line or None, found.scope)


def notes_of(compilation: Compilation) -> tuple[Note, ...]:
    """What checking found, without the code generator."""
    return tuple(_note(d, compilation.source) for d in compilation.typed.findings)


def facts_of(compilation: Compilation) -> tuple[Fact, ...]:
    """The header's figures; those of the machine code are left out where there is no NVRTC."""
    return tuple(_facts(compilation))


def remarks_of(compilation: Compilation) -> tuple[Note, ...]:
    """What checking and lowering said, and every loop's pipelining; runs no compiler of machine code."""
    found = (_note(d, compilation.source) for d in compilation.notes)
    return (*found, *map(_loop_note, compilation.loops))


def memory_of(compilation: Compilation) -> SharedMemory:
    """The planned shared memory of a compilation."""
    target = compilation.configuration.target
    plan = memory_of_plan(compilation.shared_memory)
    return replace(plan, limit=target.shared_per_cta_optin, target=target.name)


def memory_of_plan(plan: SharedPlan) -> SharedMemory:
    """The planned shared memory without a target."""
    return SharedMemory(plan.total, tuple(b for placed in plan.buffers for b in _buffers(placed)))


def _buffers(placed: PlacedBuffer) -> Iterator[Buffer]:
    """A buffer of several stages is drawn as one for each."""
    shape = placed.shape[1:] if placed.stages > 1 else placed.shape
    what = f"{placed.dtype} {list(shape)}"
    if placed.pad:
        what += f", {placed.pad} of padding per row"
    if placed.swizzle:
        what += f", swizzled {placed.swizzle}"
    size = placed.bytes // placed.stages
    for stage in range(placed.stages):
        name = f"{placed.name}[{stage}]" if placed.stages > 1 else placed.name
        yield Buffer(name, placed.offset + stage * size, size, what, placed.line or None)


def _parameter(parameter: Parameter) -> str:
    if isinstance(parameter, ScalarParameter):
        return f"{parameter.name}: {parameter.dtype}"
    dims = ", ".join(map(str, parameter.dims))
    return f"{parameter.name}: tensor<{parameter.dtype}>[{dims}]"


def _note(diagnostic: Diagnostic, source: Source) -> Note:
    line = source.position(diagnostic.span.start).line if diagnostic.span else None
    text = f"{diagnostic.message} ({diagnostic.help})" if diagnostic.help else diagnostic.message
    return Note(diagnostic.severity.value, text, line)


def _loop_note(loop: LoopReport) -> Note:
    if loop.mode == "direct":
        text = f"the loop loads {loop.stages} k-slices an iteration into registers, without copies"
        return Note("note", text, loop.line or None)
    if loop.stages < 2:
        return Note("note", f"the loop is not pipelined: {loop.reason}", loop.line or None)
    how = {"async": "by cp.async", "registers": "through registers"}.get(loop.mode, loop.mode)
    text = f"the loop is pipelined in {loop.stages} stages: copies run ahead of the dots, {how}"
    return Note("note", text, loop.line or None)


WITHOUT = {
    "PH601": "NVRTC there is no PTX and no machine code",
    "PH602": "nvdisasm there is no SASS",
}
"""What is missing where a back end is not installed, by the code of its absence."""


def _absence_of(code: str, run: Callable[[], object]) -> Iterator[Note]:
    """One line for one back end if it is not installed, with what to install."""
    try:
        run()
    except PhobosError as error:
        _absence(error)
        found = error.diagnostics[0]
        if found.code == code:
            command = found.help.partition(", that is")[0]
            yield Note("note", f"without {WITHOUT[code]}: {command}")


def _listings(compilation: Compilation) -> Iterator[Listing]:
    """Disassemblers are started first and read last: they run while the others are made."""
    try:
        for launch in compilation.launches:
            launch.start_disassembly()
    except PhobosError as error:
        _absence(error)
    stages = [_stage_listing(compilation, *stage) for stage in STAGES]
    source = compilation.source
    mixes, behind = _machine_code(compilation)
    yield source_listing(source.text, source.first_line, mixes, _tips(compilation.typed), behind)
    yield from stages


def _stage_listing(compilation: Compilation, title: str, language: str, attribute: str) -> Listing:
    """One stage of every launch; tile MLIR is the same for all."""
    launches = compilation.launches if attribute != "tile_mlir" else (compilation,)
    whole = f"{compilation.name}.compile()"
    lines: list[Line] = []
    try:
        for number, launch in enumerate(launches):
            of = f"{whole}.launches[{number}]" if number else whole
            made = _launch_listing(launch, title, language, attribute, f"{of}.{attribute}")
            if len(launches) > 1:
                lines += [Line(f"{'' if not number else chr(10)}{heading(launches, number)}")]
            lines += made.lines
    except PhobosError as error:
        return missing(title, language, _absence(error))
    return Listing(title, language, tuple(lines), f"{whole}.{attribute}")


def heading(launches: Sequence[Compilation], number: int) -> str:
    """The comment above a launch's text, in every language of the panes."""
    return f"// launch {number + 1} of {len(launches)}: {launches[number].contract.entry}"


def _launch_listing(
    compilation: Compilation, title: str, language: str, attribute: str, whole: str
) -> Listing:
    text: str = getattr(compilation, attribute)
    if attribute == "cuda":
        return Listing(title, language, _kernel_first(_cuda_lines(compilation), whole), whole)
    source = compilation.source
    name = source.name if language == "mlir" else source.table_name
    return listing(title, language, text, name, whole=whole)


def _machine_code(compilation: Compilation) -> tuple[dict[int, Mix], list[Line]]:
    """Source line -> the instructions it became, and what lines call; nothing without disassembler."""
    from phobos_nb.cuda.called import called
    from phobos_nb.cuda.sass import instructions, mix

    file = compilation.source.table_name
    try:
        launches = [instructions(launch.sass) for launch in compilation.launches]
    except PhobosError as error:
        _absence(error)
        return {}, []
    own = [i for code in launches for i in code if i.file == file and i.family not in PADDING]
    mixes = {line: tuple(counts.most_common()) for line, counts in mix(own).items()}
    return mixes, [_called(c) for code in launches for c in called(code, file, PADDING)]


def _tips(kernel: TypedKernel) -> dict[int, str]:
    """The line that a kernel begins at, unless a statement begins there too."""
    begins, *own = (
        kernel.source.position(part.span.start).line for part in (kernel, *statements(kernel.body))
    )
    return {} if begins in own else {begins: BEGINNING}


def _called(function: Called) -> Line:
    """A function that NVIDIA's compiler put behind the kernel, apart from the lines that call it."""
    lines = " and ".join(", ".join(map(str, function.lines)).rsplit(", ", 1))
    many = "s" if len(function.lines) > 1 else ""
    by = f", called by line{many} {lines}" if lines else ""
    return Line(
        f"// {function.what}{by}",
        mix=function.mix,
        tip=f"{function.name}, which NVIDIA's compiler adds once; it runs only where a line calls it",
    )


def _cuda_lines(compilation: Compilation) -> tuple[Line, ...]:
    name = compilation.source.name
    return tuple(
        Line(line.text, line.place.line if line.place and line.place.name == name else None)
        for line in compilation.cuda_source.lines
    )


def _kernel_first(lines: tuple[Line, ...], whole: str) -> tuple[Line, ...]:
    """The kernel, then the helpers that stand above it in the program."""
    start = next((n for n, x in enumerate(lines) if x.text.startswith('extern "C" __global__')), 0)
    if not start:
        return lines
    remark = Line(f"// {counted(start, 'line')} of helpers; they stand above the kernel in {whole}")
    return (*lines[start:], Line(""), remark, *lines[:start])


def _absence(error: PhobosError) -> str:
    """What to install for a back end that is not there; any other error is raised again."""
    if any(d.code not in ABSENT for d in error.diagnostics):
        raise error
    return " ".join(f"{d.message}. {d.help}" for d in error.diagnostics)


def _facts(compilation: Compilation) -> Iterator[Fact]:
    configuration, contract = compilation.configuration, compilation.contract
    target = configuration.target
    yield Fact("target", target.name, f"{configuration.variant.index_bits}-bit index")
    if contract.constants:
        yield Fact("configuration", " ".join(f"{k}={v}" for k, v in contract.constants.items()))
    yield Fact("threads", str(contract.threads), counted(contract.threads // target.warp_size, "warp"))
    for launch in compilation.launches:
        yield from _machine_facts(launch, launch is not compilation)
    limit = target.shared_per_cta_optin
    yield Fact("shared memory", f"{contract.shared_bytes:,} bytes", f"of {limit:,}")


def _machine_facts(compilation: Compilation, later: bool) -> Iterator[Fact]:
    """What only the machine code tells; nothing where there is no NVRTC (the PTX pane says why).

    later: of a launch behind the first, which the facts then name.
    """
    of = f" of {compilation.contract.entry}" if later else ""
    try:
        taken, fit = compilation.resources, compilation.occupancy
    except PhobosError as error:
        _absence(error)
        return
    yield Fact(
        f"registers{of}",
        str(taken.registers),
        f"of {compilation.configuration.target.registers_per_thread}",
    )
    spilled = max(taken.spill_stores, taken.spill_loads)
    yield Fact(f"spills{of}", f"{spilled:,} bytes" if spilled else "none")
    yield Fact(f"CTAs per SM{of}", str(fit.ctas), f"limited by {' and '.join(fit.limits)}")
