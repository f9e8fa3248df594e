"""Texts to modules of kernels: what `phobos_nb.load` and `phobos_nb.compile` return."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from phobos_nb.compilation import stages
from phobos_nb.compilation.configuration import check_options
from phobos_nb.compilation.given_text import expect_text, no_path
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import Diagnostic, PhobosError, PhobosWarning, Severity
from phobos_nb.language.suggest import did_you_mean
from phobos_nb.language.tree import Program
from phobos_nb.options import CompileOptions, Setting, split_settings
from phobos_nb.source import Source, Span


class Module:
    """The kernels of one text, as attributes, by name in brackets, and in order when iterated.

    functions: the names of its functions. A kernel named like an attribute of the module, such as
    `source`, is reached by name in brackets alone.
    """

    def __init__(
        self, source: Source, kernels: dict[str, Kernel], functions: Sequence[str] = ()
    ) -> None:
        self.source = source
        self.kernels = kernels
        self.functions = tuple(functions)

    def __getattr__(self, name: str) -> Kernel:
        try:
            return self.__dict__["kernels"][name]
        except KeyError:
            known = ", ".join(self.__dict__.get("kernels", {}))
            raise AttributeError(f"no kernel {name!r}; there are: {known}") from None

    def __getitem__(self, name: str) -> Kernel:
        return self.kernels[name]

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels.values())

    def __len__(self) -> int:
        return len(self.kernels)

    def __dir__(self) -> list[str]:
        return [*{*super().__dir__(), *self.kernels}]

    def __repr__(self) -> str:
        return f"<Phobos module {self.source.name}: {', '.join(self.kernels) or 'no kernel'}>"


def load(
    path: str | os.PathLike[str],
    *,
    chip: str | None = None,
    index_bits: int | None = None,
    debug: bool = False,
    **constants: Setting,
) -> Module:
    """The kernels of a `.ph` file (UTF-8). Options are those of `compile`.

    Raises `SourceFileError`, which is a `FileNotFoundError` too, where there is no such file.
    """
    options = CompileOptions(chip, index_bits, debug, None, *split_settings(constants))
    return _told(load_with(path, options))


def load_with(path: str | os.PathLike[str], options: CompileOptions) -> Module:
    """The kernels of a `.ph` file, with the options as one object."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SourceFileError(Path(path)) from None
    return module_of(Source(text, str(path)), options)


class SourceFileError(PhobosError, FileNotFoundError):
    """There is no file at a path."""

    def __init__(self, path: Path) -> None:
        near = [p.name for p in path.parent.glob("*.ph")] if path.parent.is_dir() else []
        help = did_you_mean(path.name, near)
        super().__init__([Diagnostic("PH008", f"there is no file {path}", stage="load", help=help)])


NO_KERNEL = "no kernel in this text"
UNCALLED = "; its functions are checked where a kernel calls them"


def without_kernel(module: Module) -> str:
    """What to say of a text that has no kernel; empty where there is one."""
    if module.kernels:
        return ""
    return NO_KERNEL + (UNCALLED if module.functions else "")


def _told(module: Module) -> Module:
    """The module, with Python warnings to the caller's caller: its kernels', or that it has none."""
    found = [d for k in module.kernels.values() for d in k.typed(k.options.constants).findings]
    said = [d.render(module.source) for d in found if d.severity is Severity.WARNING]
    for name in _hidden(module):
        reach = f'the kernel `{name}` is reached by `module["{name}"]`'
        said.append(f"{module.source.shown_name}: {reach}: `module.{name}` is the module's own")
    if without := without_kernel(module):
        said.append(f"{module.source.shown_name}: {without}")
    for text in dict.fromkeys(said):
        warnings.warn(text, PhobosWarning, stacklevel=3)
    return module


def _hidden(module: Module) -> list[str]:
    """The names of kernels that are no attributes: the module has others of these names itself."""
    own = {*dir(Module), *vars(module)}
    return [name for name in module.kernels if name in own]


def compile(
    text: str,
    *,
    name: str = "<phobos>",
    chip: str | None = None,
    index_bits: int | None = None,
    debug: bool = False,
    **constants: Setting,
) -> Module:
    """The kernels of a text. `constants` set tuning names and generics of every kernel that has them.

    Raises `PhobosError` with every error of the text, and one that is a `TypeError` too for what is no
    text. Code is generated when it is asked for.
    """
    expect_text(text)
    no_path(text, name)
    options = CompileOptions(chip, index_bits, debug, None, *split_settings(constants))
    return _told(module_of(Source(text, name), options))


def module_of(source: Source, options: CompileOptions) -> Module:
    """The kernels of a source, checked. The same text and options give the same kernels again.

    Raises `PhobosError` for an unknown chip or index width, before the text is looked at.
    """
    check_options(options)
    constants = tuple(sorted(options.constants.items()))
    dtypes = tuple(sorted(options.dtypes.items()))
    return _module(source, options.chip, options.index_bits, options.debug, constants, dtypes)


@lru_cache(maxsize=64)
def _module(
    source: Source,
    chip: str | None,
    index_bits: int | None,
    debug: bool,
    constants: tuple[tuple[str, int], ...],
    dtypes: tuple[tuple[str, str], ...],
) -> Module:
    source.register()
    options = CompileOptions(chip, index_bits, debug, None, dict(constants), dict(dtypes))
    start = time.perf_counter()
    try:
        program = stages.parse(source)
    except PhobosError as error:
        raise _with_checks(source, options, error) from None
    kernels = kernels_of(program, options, time.perf_counter() - start)
    return Module(source, {k.name: k for k in kernels}, [f.name for f in program.functions])


def _with_checks(source: Source, options: CompileOptions, error: PhobosError) -> PhobosError:
    """The syntax errors of a text, and what is wrong with the kernels that have none."""
    found = list(error.diagnostics)
    try:
        kernels_of(stages.sound_part(source), replace(options, constants={}, dtypes={}))
    except PhobosError as more:
        found += more.diagnostics
    return PhobosError(sorted(found, key=lambda d: d.span or Span(0, 0)), source)


def kernels_of(
    program: Program, options: CompileOptions, parse_seconds: float = 0.0
) -> Sequence[Kernel]:
    """Every kernel of a program, checked with its first values.

    Each gets the constants it knows; one that no kernel knows is an error of the first. Raises one
    `PhobosError` with the errors of all kernels.
    """
    known = [stages.constant_names(node) for node in program.kernels]
    strays = {*options.constants, *options.dtypes}.difference(*known)
    kernels: list[Kernel] = []
    found: list[Diagnostic] = []
    for node, names in zip(program.kernels, known, strict=True):
        kept = names | strays
        constants = {n: v for n, v in options.constants.items() if n in kept}
        dtypes = {n: v for n, v in options.dtypes.items() if n in kept}
        mine = replace(options, constants=constants, dtypes=dtypes)
        try:
            kernels.append(Kernel(program, node.name, mine, parse_seconds))
        except PhobosError as error:
            found += error.diagnostics
    if found:
        raise PhobosError(dict.fromkeys(found), program.source)
    return kernels
